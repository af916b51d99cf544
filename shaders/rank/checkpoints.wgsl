// Numbers of 64 bits, the low half first, from numbers of 32.

const GROUP: u32 = 256u;

struct Params {
    n: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> before: array<u32>;
@group(0) @binding(1) var<storage, read_write> checkpoints: array<vec2<u32>>;

@compute @workgroup_size(GROUP)
fn widen(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = linear_invocation(group, groups, local, GROUP);
    if i < params.n {
        checkpoints[i] = vec2<u32>(before[i], 0u);
    }
}
