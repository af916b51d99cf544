// Counts of ones for rank queries: in each block of 2,048 bits, and in each of the block's first three runs of 512 (after
// Zhou, Andersen and Kaminsky, "Space-efficient, high-performance rank and select structures on uncompressed bit
// sequences", 2013).
//
// A run has at most 512 ones. Its count takes ten bits and has a zero behind it.

const GROUP: u32 = 256u;
const BLOCK_RUNS: u32 = 4u;
const RUN_WORDS: u32 = 16u;

struct Params {
    bits: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> bitmap: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> directory: array<u32>;

// Ones in the runs of this workgroup.
var<workgroup> in_runs: array<u32, GROUP>;

// One invocation counts a run; the first of a block then puts its four together.
@compute @workgroup_size(GROUP)
fn rank2048_count(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let run = linear_invocation(group, groups, local, GROUP);
    let blocks = ceil_div(params.bits, 32u * RUN_WORDS * BLOCK_RUNS);
    var ones = vec4<u32>(0u);
    if run < BLOCK_RUNS * blocks {
        let first = RUN_WORDS * run;
        ones = ones_in_four(first) + ones_in_four(first + 4u) + ones_in_four(first + 8u) + ones_in_four(first + 12u);
    }
    in_runs[local] = ones.x + ones.y + ones.z + ones.w;
    workgroupBarrier();

    let block = run / BLOCK_RUNS;
    if local % BLOCK_RUNS != 0u || block >= blocks {
        return;
    }
    let a = in_runs[local];
    let b = in_runs[local + 1u];
    let c = in_runs[local + 2u];
    counts[block] = a + b + c + in_runs[local + 3u];
    directory[2u * block] = 0u;
    directory[2u * block + 1u] = a | b << 11u | c << 22u;
}
