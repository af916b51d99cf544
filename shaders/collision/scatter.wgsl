// Puts every surviving record where it belongs: behind the records of its own input that come before it and those of the
// other one that do, less the older ones that are marked because a newer one replaces them.

const GROUP: u32 = 256u;

struct Params {
    records: u32,
    older_records: u32,
    rank_block: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> n_collisions: array<u32>;
@group(0) @binding(1) var<storage, read> key_bits: array<u32>;
@group(0) @binding(2) var<storage, read> prefix: array<u32>;
@group(0) @binding(3) var<storage, read> bitmap: array<u32>;
@group(0) @binding(4) var<storage, read> below: array<u32>;
@group(0) @binding(5) var<storage, read> directory: array<u32>;
@group(0) @binding(6) var<storage, read_write> refs: array<u32>;
@group(0) @binding(7) var<storage, read_write> total: array<u32>;

// Marked records among the first `i` older ones.
fn marked_before(i: u32) -> u32 {
    if i >= params.older_records {
        return n_collisions[0];
    }
    return rank_before(i);
}

@compute @workgroup_size(GROUP)
fn scatter(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let record = linear_invocation(group, groups, local, GROUP);
    let survivors = params.records - min(n_collisions[0], params.records);
    if record == 0u {
        total[0] = survivors;
    }
    let is_older = record < params.older_records;
    let survives = !is_older || !is_marked(record);
    let found = find(local, record, params.older_records, survives, params.older_records, params.records);
    if record >= params.records || !survives {
        return;
    }
    // Records of its own input before it, and those of the other one.
    var own = record;
    var other = found.at - params.older_records;
    if !is_older {
        own = record - params.older_records;
        other = below[own];
    }
    let place = own + other - marked_before(select(other, own, is_older));
    // Only inputs that do not ascend give a place past the end.
    if place < survivors {
        refs[place] = record;
    }
}
