// Refuses an input whose keys do not strictly ascend or retain more than there is.

const GROUP: u32 = 256u;
const BLOCK_RECORDS: u32 = 15u;

const RETAINS_TOO_MUCH: u32 = 4u;
// Above all codes of the parser, whose failures leave keys of no bits behind them in a block.
const NOT_ABOVE: u32 = 11u;

struct Params {
    records: u32,
    older_records: u32,
    first: u32,
    n: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> key_bits: array<u32>;
@group(0) @binding(1) var<storage, read> prefix: array<u32>;
@group(0) @binding(2) var<storage, read_write> status: array<atomic<u32>>;

// The code of what is wrong with a record, 0 for nothing. A key takes what it retains from the key before it, so the
// comparison begins behind that: in most files it ends with the first bit.
fn failure_of(ordinal: u32) -> u32 {
    let record = params.first + ordinal;
    let known = inherited(record);
    if ordinal == 0u {
        return select(0u, RETAINS_TOO_MUCH, known > 0u);
    }
    if known > key_bits[record - 1u] {
        return RETAINS_TOO_MUCH;
    }
    let above = compare_order(record - 1u, record, known).order < 0i;
    return select(NOT_ABOVE, 0u, above);
}

@compute @workgroup_size(GROUP)
fn ascending(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let ordinal = linear_invocation(group, groups, local, GROUP);
    if ordinal >= params.n {
        return;
    }
    let code = failure_of(ordinal);
    if code != 0u {
        fail(ordinal / BLOCK_RECORDS, code);
    }
}
