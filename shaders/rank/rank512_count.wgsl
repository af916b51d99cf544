// Counts of ones for rank queries: in each block of 512 bits, and before each of the block's seven later pairs of words
// ("rank9" of Vigna, "Broadword implementation of rank/select queries", 2008).
//
// The seven counts are at most 448 and take nine bits each. They follow one another from the lowest bit of a 64-bit field
// on, so the fourth lies across its two words.

const GROUP: u32 = 256u;
const BLOCK_WORDS: u32 = 16u;

struct Params {
    bits: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> bitmap: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> directory: array<u32>;

@compute @workgroup_size(GROUP)
fn rank512_count(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = linear_invocation(group, groups, local, GROUP);
    if block >= ceil_div(params.bits, 32u * BLOCK_WORDS) {
        return;
    }
    // The ones of the block in front of each pair. Four words hold two pairs.
    var before: array<u32, 8>;
    var count = 0u;
    for (var quad = 0u; quad < 4u; quad += 1u) {
        let four = ones_in_four(BLOCK_WORDS * block + 4u * quad);
        before[2u * quad] = count;
        before[2u * quad + 1u] = count + four.x + four.y;
        count += four.x + four.y + four.z + four.w;
    }
    counts[block] = count;
    directory[3u * block] = 0u;
    directory[3u * block + 1u] = before[1] | before[2] << 9u | before[3] << 18u | before[4] << 27u;
    directory[3u * block + 2u] = before[4] >> 5u | before[5] << 4u | before[6] << 13u | before[7] << 22u;
}
