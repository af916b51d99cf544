// Every element becomes one word.

const GROUP: u32 = 256u;

struct Params {
    n: u32,
    word: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read_write> filled: array<vec4<u32>>;

@compute @workgroup_size(GROUP)
fn fill(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = linear_invocation(group, groups, local, GROUP);
    if i < ceil_div(params.n, 4u) {
        filled[i] = vec4<u32>(params.word);
    }
}
