// All records in the order of their keys, on equal keys the older one first: Merge Path (Odeh, Green, Mwassi, Shmueli and
// Birk, "Merge Path - parallel merging made simple", 2012). An invocation merges eight records from where its diagonal
// meets the path.

const GROUP: u32 = 128u;
const RUN_RECORDS: u32 = 8u;

@group(0) @binding(0) var<storage, read> key_bits: array<u32>;
@group(0) @binding(1) var<storage, read> prefix: array<u32>;
@group(0) @binding(2) var<storage, read_write> order: array<u32>;

// How older record `a` stands to newer record `b`, both counted in their inputs. It precedes unless it is above.
fn compare_inputs(a: u32, b: u32, known: u32) -> Comparison {
    return compare_order(a, params.older_records + b, known);
}

// How many older records are among the first `diagonal` of all.
//
// What lies between two pairs that were compared shares at least what both pairs share: the keys from the older to the newer
// one of the lower pair, and from the newer to the older one of the upper, overlap (after Manber and Myers, "Suffix
// arrays", 1993).
fn split(diagonal: u32) -> u32 {
    let newer_records = params.records - params.older_records;
    var low = diagonal - min(diagonal, newer_records);
    var high = min(diagonal, params.older_records);
    var low_shared = 0u;
    var high_shared = 0u;
    while low < high {
        let middle = low + (high - low) / 2u;
        let found = compare_inputs(middle, diagonal - 1u - middle, min(low_shared, high_shared));
        if found.order <= 0i {
            low = middle + 1u;
            low_shared = found.shared_bits;
        } else {
            high = middle;
            high_shared = found.shared_bits;
        }
    }
    return low;
}

// The bits that the key taken next from an input shares with one that its predecessor shares `bits` with.
fn known_of_next(record: u32, bits: u32) -> u32 {
    if bits == 0u {
        return 0u;
    }
    return min(bits, inherited(record));
}

@compute @workgroup_size(GROUP)
fn merge_path(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let run = linear_invocation(group, groups, local, GROUP);
    if run >= ceil_div(params.records, RUN_RECORDS) {
        return;
    }
    let begin = RUN_RECORDS * run;
    let end = min(begin + RUN_RECORDS, params.records);
    let newer_records = params.records - params.older_records;
    var a = split(begin);
    var b = begin - a;
    var known = 0u;
    for (var i = begin; i < end; i += 1u) {
        var takes_older = b >= newer_records;
        if !takes_older && a < params.older_records {
            let found = compare_inputs(a, b, known);
            takes_older = found.order <= 0i;
            known = found.shared_bits;
        }
        if takes_older {
            order[i] = a;
            a += 1u;
            known = known_of_next(a, known);
        } else {
            order[i] = params.older_records + b;
            b += 1u;
            known = known_of_next(params.older_records + b, known);
        }
    }
}
