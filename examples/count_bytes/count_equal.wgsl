// Counts the bytes of a file that equal one byte. An invocation looks at one word.

struct Params {
    bytes: u32,
    wanted: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> content: array<u32>;
@group(0) @binding(1) var<storage, read_write> total: array<atomic<u32>>;

const GROUP: u32 = 256u;

@compute @workgroup_size(GROUP)
fn count_equal(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let word = linear_invocation(group, groups, local, GROUP);
    // The last word may hold fewer than four bytes of the file, and an invocation past it holds none.
    let bytes_here = min(4u, params.bytes - min(params.bytes, 4u * word));
    var found = 0u;
    for (var k = 0u; k < bytes_here; k += 1u) {
        if extractBits(content[word], 8u * k, 8u) == params.wanted {
            found += 1u;
        }
    }
    if found > 0u {
        atomicAdd(&total[0], found);
    }
}
