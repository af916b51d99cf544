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
@group(0) @binding(1) var<storage, read> older: array<u32>;
@group(0) @binding(2) var<storage, read> newer: array<u32>;
@group(0) @binding(3) var<storage, read> literal_starts: array<u32>;
@group(0) @binding(4) var<storage, read> key_bits: array<u32>;
@group(0) @binding(5) var<storage, read> retained: array<u32>;
@group(0) @binding(6) var<storage, read> tree: array<u32>;
@group(0) @binding(7) var<storage, read> prefix: array<u32>;
@group(0) @binding(8) var<storage, read> bitmap: array<u32>;
@group(0) @binding(9) var<storage, read> below: array<u32>;
@group(0) @binding(10) var<storage, read> directory: array<u32>;
@group(0) @binding(11) var<storage, read_write> refs: array<u32>;
@group(0) @binding(12) var<storage, read_write> total: array<u32>;

// Marked records among the first `i` older ones.
fn marked_before(i: u32) -> u32 {
    if i >= params.older_records {
        return n_collisions[0];
    }
    return rank_before(i);
}

// How many newer keys are below that of an older record.
fn newer_below(record: u32) -> u32 {
    var low = params.older_records;
    var high = params.records;
    // Keys between two others share with them at least what both share with the one that is looked for.
    var low_shared = 0u;
    var high_shared = 0u;
    while low < high {
        let middle = low + (high - low) / 2u;
        let found = compare_order(middle, record, min(low_shared, high_shared));
        if found.order < 0i {
            low = middle + 1u;
            low_shared = found.shared_bits;
        } else {
            high = middle;
            high_shared = found.shared_bits;
        }
    }
    return low - params.older_records;
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
    if record >= params.records {
        return;
    }
    var place = 0u;
    if record < params.older_records {
        if (bitmap[record / 32u] >> (record % 32u) & 1u) != 0u {
            return;
        }
        place = record + newer_below(record) - marked_before(record);
    } else {
        let ordinal = record - params.older_records;
        let older_below = below[ordinal];
        place = ordinal + older_below - marked_before(older_below);
    }
    // Only inputs that do not ascend give a place past the end.
    if place < survivors {
        refs[place] = record;
    }
}
