// A plain copy: each invocation moves one vector.

const GROUP: u32 = 256u;

struct Params {
    n: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> target_words: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> last: array<u32>;

@compute @workgroup_size(GROUP)
fn copy(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = linear_invocation(group, groups, local, GROUP);
    if i < params.n {
        let vector = source[i];
        target_words[i] = vector;
        if i == params.n - 1u {
            last[0] = vector.w;
        }
    }
}
