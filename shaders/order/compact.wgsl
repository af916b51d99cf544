// The surviving records in key order. A record survives where the number of survivors grows behind it.

const GROUP: u32 = 256u;

struct Params {
    records: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> n_survivors: array<u32>;
@group(0) @binding(1) var<storage, read> order: array<u32>;
@group(0) @binding(2) var<storage, read> positions: array<u32>;
@group(0) @binding(3) var<storage, read_write> refs: array<u32>;

@compute @workgroup_size(GROUP)
fn compact(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = linear_invocation(group, groups, local, GROUP);
    if i >= params.records {
        return;
    }
    let survivors = n_survivors[0];
    let position = positions[i];
    var next = survivors;
    if i + 1u < params.records {
        next = positions[i + 1u];
    }
    if position != next && position < survivors {
        refs[position] = order[i];
    }
}
