// Whether a record in key order survives. Each input has a key once, and of two equal keys the older one comes first: only
// an older record in front of a newer one can be superseded.

const GROUP: u32 = 256u;

@group(0) @binding(0) var<storage, read> key_bits: array<u32>;
@group(0) @binding(1) var<storage, read> prefix: array<u32>;
@group(0) @binding(2) var<storage, read> order: array<u32>;
@group(0) @binding(3) var<storage, read_write> keep: array<u32>;

fn superseded(record: u32, next: u32) -> bool {
    if record >= params.older_records || next < params.older_records || key_bits[record] != key_bits[next] {
        return false;
    }
    return compare_order(record, next, 0u).order == 0i;
}

@compute @workgroup_size(GROUP)
fn flag_survivors(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = linear_invocation(group, groups, local, GROUP);
    if i >= params.records {
        return;
    }
    var survives = 1u;
    if i + 1u < params.records && superseded(order[i], order[i + 1u]) {
        survives = 0u;
    }
    keep[i] = survives;
}
