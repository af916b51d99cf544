// The older records that are not marked, in their order.

const GROUP: u32 = 256u;

struct Params {
    older_records: u32,
    rank_block: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> bitmap: array<u32>;
@group(0) @binding(1) var<storage, read> directory: array<u32>;
@group(0) @binding(2) var<storage, read_write> live: array<u32>;

@compute @workgroup_size(GROUP)
fn compact_older(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let record = linear_invocation(group, groups, local, GROUP);
    if record < params.older_records && !is_marked(record) {
        live[record - rank_before(record)] = record;
    }
}
