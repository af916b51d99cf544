// For each group the position of its first entry, and where its exceptions begin or all ones. Both take 64 bits.

const GROUP: u32 = 256u;

@group(0) @binding(0) var<storage, read> output_layout: array<u32>;
@group(0) @binding(1) var<storage, read> offsets: array<u32>;
@group(0) @binding(2) var<storage, read> counts: array<u32>;
@group(0) @binding(3) var<storage, read> begins: array<u32>;
@group(0) @binding(4) var<storage, read_write> samples: array<vec4<u32>>;

const DENSE: vec2<u32> = vec2<u32>(0xffffffffu);

@compute @workgroup_size(GROUP)
fn sample(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let g = linear_invocation(group, groups, local, GROUP);
    if g >= ceil_div(entry_count(), SAMPLED) {
        return;
    }
    let exceptions = select(DENSE, vec2<u32>(begins[g], 0u), counts[g] > 0u);
    samples[g] = vec4<u32>(position(SAMPLED * g), 0u, exceptions);
}
