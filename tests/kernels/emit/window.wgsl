// Windows of codes, and of a file.

const GROUP: u32 = 64u;

struct Params {
    queries: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> file: array<u32>;
@group(0) @binding(1) var<storage, read> asked: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> windows: array<u32>;

@compute @workgroup_size(GROUP)
fn window(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = linear_invocation(group, groups, local, GROUP);
    if i >= params.queries {
        return;
    }
    let query = asked[i];
    var bits = 0u;
    if query.x == 0u {
        bits = golomb_window(query.y, query.z);
    } else {
        bits = window_of(file[query.z / 32u], file[query.z / 32u + 1u], query.z % 32u);
    }
    windows[i] = first_bits(bits, query.w);
}
