// The first word of each block of a rank directory: the ones before the block.

const GROUP: u32 = 256u;

struct Params {
    blocks: u32,
    block_words: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> bases: array<u32>;
@group(0) @binding(1) var<storage, read_write> directory: array<u32>;

@compute @workgroup_size(GROUP)
fn finish(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = linear_invocation(group, groups, local, GROUP);
    if block < params.blocks {
        directory[params.block_words * block] = bases[block];
    }
}
