// How many entries of each group are listed among the exceptions: all or none.

@group(0) @binding(0) var<storage, read> output_layout: array<u32>;
@group(0) @binding(1) var<storage, read> offsets: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(GROUP)
fn count(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let g = linear_invocation(group, groups, local, GROUP);
    let entries = entry_count();
    if g >= ceil_div(entries, SAMPLED) {
        return;
    }
    let first = SAMPLED * g;
    let size = min(entries - first, SAMPLED);
    let span = position(first + size - 1u) - position(first);
    counts[g] = select(0u, size, span >= SPARSE_SPAN);
}
