// All records in the order of their keys, on equal keys the older one first: Merge Path (Odeh, Green, Mwassi, Shmueli and
// Birk, "Merge Path - parallel merging made simple", 2012). An invocation merges eight records from where its diagonal
// meets the path.

const GROUP: u32 = 128u;
const RUN_RECORDS: u32 = 8u;

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
@group(0) @binding(7) var<storage, read_write> order: array<u32>;

// Whether older record `a` precedes newer record `b`, both counted in their inputs.
fn older_first(a: u32, b: u32) -> bool {
    return compare_keys(a, params.older_records + b, 0u).order <= 0i;
}

// How many older records are among the first `diagonal` of all.
fn split(diagonal: u32) -> u32 {
    let newer_records = params.records - params.older_records;
    var low = diagonal - min(diagonal, newer_records);
    var high = min(diagonal, params.older_records);
    while low < high {
        let middle = low + (high - low) / 2u;
        if older_first(middle, diagonal - 1u - middle) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
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
    for (var i = begin; i < end; i += 1u) {
        let takes_older = b >= newer_records || (a < params.older_records && older_first(a, b));
        if takes_older {
            order[i] = a;
            a += 1u;
        } else {
            order[i] = params.older_records + b;
            b += 1u;
        }
    }
}
