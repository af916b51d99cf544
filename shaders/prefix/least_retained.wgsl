// The least retained length of all records but the first of each input: first of a workgroup, then of all.

const GROUP: u32 = 256u;

struct Params {
    records: u32,
    older_records: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> retained: array<u32>;
@group(0) @binding(1) var<storage, read_write> least: array<atomic<u32>>;

// The complement of the least length, so that it begins with zero as workgroup memory does.
var<workgroup> most_left: atomic<u32>;

@compute @workgroup_size(GROUP)
fn least_retained(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = linear_invocation(group, groups, local, GROUP);
    if i < params.records && i != 0u && i != params.older_records {
        atomicMax(&most_left, ~retained[i]);
    }
    workgroupBarrier();
    if local == 0u {
        atomicMin(&least[0], ~atomicLoad(&most_left));
    }
}
