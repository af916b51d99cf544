// For each surviving record the bits its key shares with the surviving key before it, in whole units, and its length in the
// output in units.

const GROUP: u32 = 256u;
const BLOCK_RECORDS: u32 = 15u;

@group(0) @binding(0) var<storage, read> n_survivors: array<u32>;
@group(0) @binding(1) var<storage, read> key_bits: array<u32>;
@group(0) @binding(2) var<storage, read> prefix: array<u32>;
@group(0) @binding(3) var<storage, read> value_bits: array<u32>;
@group(0) @binding(4) var<storage, read> refs: array<u32>;
@group(0) @binding(5) var<storage, read_write> shared_bits: array<u32>;
@group(0) @binding(6) var<storage, read_write> lengths: array<u32>;

// Bits that surviving record `i` shares with the one before it. That one is at or above the predecessor that the record has
// in its own file, so what the record retains there is shared here too, and the comparison begins behind it.
fn shared_with_previous(i: u32, record: u32) -> u32 {
    if i == 0u {
        return 0u;
    }
    return compare_keys(refs[i - 1u], record, inherited(record)).shared_bits;
}

// What the code in front of a suffix says, in units: an absolute position, the selector included, at the head of a block,
// else how much of the key before is dropped.
fn control_of(i: u32, agreed: u32) -> u32 {
    if i % BLOCK_RECORDS == 0u {
        return SELECTOR + agreed / UNIT;
    }
    return (key_bits[refs[i - 1u]] - agreed) / UNIT;
}

@compute @workgroup_size(GROUP)
fn records(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let i = linear_invocation(group, groups, local, GROUP);
    if i >= n_survivors[0] {
        return;
    }
    let record = refs[i];
    let all = shared_with_previous(i, record);
    let agreed = all - all % UNIT;
    let suffix = key_bits[record] - agreed;
    let value = value_bits[record];
    let counts = count_len(control_of(i, agreed)) + count_len(suffix / UNIT) + value_count_len(value);
    shared_bits[i] = agreed;
    lengths[i] = (counts + suffix + value) / UNIT;
}
