// Classes of groups of bits.

struct Params {
    bits: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> bitmap: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> classes: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

const TILE_RUNS: u32 = 16u;
// The groups of a run are 4K words.
var<workgroup> tile: array<vec4<u32>, TILE_RUNS * K>;

fn tile_word(word: u32) -> u32 {
    return tile[word / 4u][word % 4u];
}

@compute @workgroup_size(GROUP)
fn classes_of_bits(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let first_run = TILE_RUNS * linear_workgroup(group, groups);
    if first_run >= runs_of(params.bits) {
        return;
    }
    for (var i = local; i < TILE_RUNS * K; i += GROUP) {
        tile[i] = four_words(4u * (first_run * K + i));
    }
    workgroupBarrier();
    write_classes(first_run, params.bits, local);
}
