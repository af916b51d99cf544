// The positions of all entries of sparse groups, in 64 bits each.

const GROUP: u32 = 256u;

@group(0) @binding(0) var<storage, read> output_layout: array<u32>;
@group(0) @binding(1) var<storage, read> offsets: array<u32>;
@group(0) @binding(2) var<storage, read> counts: array<u32>;
@group(0) @binding(3) var<storage, read> begins: array<u32>;
@group(0) @binding(4) var<storage, read_write> positions: array<u32>;

@compute @workgroup_size(GROUP)
fn list(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let j = linear_invocation(group, groups, local, GROUP);
    let g = j / SAMPLED;
    if j >= entry_count() || counts[g] == 0u {
        return;
    }
    let at = 2u * (begins[g] + j % SAMPLED);
    positions[at] = position(j);
    positions[at + 1u] = 0u;
}
