// How many older keys are below each newer one, and a mark on those that have an equal.

const GROUP: u32 = 256u;

struct Params {
    records: u32,
    older_records: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> older: array<u32>;
@group(0) @binding(1) var<storage, read> newer: array<u32>;
@group(0) @binding(2) var<storage, read> literal_starts: array<u32>;
@group(0) @binding(3) var<storage, read> key_bits: array<u32>;
@group(0) @binding(4) var<storage, read> retained: array<u32>;
@group(0) @binding(5) var<storage, read> tree: array<u32>;
@group(0) @binding(6) var<storage, read> prefix: array<u32>;
@group(0) @binding(7) var<storage, read_write> bitmap: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> below: array<u32>;

@compute @workgroup_size(GROUP)
fn mark(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let ordinal = linear_invocation(group, groups, local, GROUP);
    if ordinal >= params.records - params.older_records {
        return;
    }
    // A key occurs once in an input, so the search ends where it meets an equal one.
    var low = 0u;
    var high = params.older_records;
    // Keys between two others share with them at least what both share with the one that is looked for.
    var low_shared = 0u;
    var high_shared = 0u;
    while low < high {
        let middle = low + (high - low) / 2u;
        let found = compare_order(middle, params.older_records + ordinal, min(low_shared, high_shared));
        if found.order == 0i {
            atomicOr(&bitmap[middle / 32u], 1u << (middle % 32u));
            low = middle;
            break;
        }
        if found.order < 0i {
            low = middle + 1u;
            low_shared = found.shared_bits;
        } else {
            high = middle;
            high_shared = found.shared_bits;
        }
    }
    below[ordinal] = low;
}
