// How many whole bytes all keys are sure to share. The keys of an input share with its first key what all of them retain;
// the first keys of both inputs, which lie there whole, are compared here: each invocation takes every GROUPth word.

const GROUP: u32 = 256u;
// A bound on the work of an invocation. Sharing more would be true too, but nothing needs it.
const BYTES_MAX: u32 = 131072u;

struct Params {
    records: u32,
    older_records: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> older: array<u32>;
@group(0) @binding(1) var<storage, read> newer: array<u32>;
@group(0) @binding(2) var<storage, read> literal_starts: array<u32>;
@group(0) @binding(3) var<storage, read> key_bits: array<u32>;
@group(0) @binding(4) var<storage, read> least: array<u32>;
@group(0) @binding(5) var<storage, read_write> prefix: array<u32>;

// The complement of the bits that the first keys share, so that it begins with zero as workgroup memory does.
var<workgroup> not_shared: atomic<u32>;

// Bits that all keys share as far as lengths tell.
fn bits_at_most() -> u32 {
    if params.records == 0u {
        return 0u;
    }
    var bits = min(min(least[0], key_bits[0]), 8u * BYTES_MAX);
    if params.older_records < params.records {
        bits = min(bits, key_bits[params.older_records]);
    }
    return bits;
}

@compute @workgroup_size(GROUP)
fn common_prefix(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let most = bits_at_most();
    let both = params.older_records > 0u && params.older_records < params.records;
    if both {
        let a = literal_starts[0];
        let b = literal_starts[params.older_records];
        for (var at = 32u * local; at < most; at += 32u * GROUP) {
            let differing = payload_window(false, a + at) ^ payload_window(true, b + at);
            if differing != 0u {
                atomicMax(&not_shared, ~(at + countLeadingZeros(differing)));
                break;
            }
        }
    }
    workgroupBarrier();
    if linear_workgroup(group, groups) == 0u && local == 0u {
        prefix[0] = min(most, ~atomicLoad(&not_shared)) / 8u;
    }
}
