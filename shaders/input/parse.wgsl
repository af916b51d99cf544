// Walks blocks of 15 records, an invocation each, and writes where keys and values lie. How one record is read is said by
// input/bit_records.wgsl or input/byte_records.wgsl, which also say what the unit of a file's addresses is.
//
// A block gets the code of the first thing that is wrong with it. Columns of the record at fault and of those behind it in
// the block are zero, so that no later pass reads outside of the payload or counts past 32 bits because of them.

const GROUP: u32 = 64u;
const BLOCK_RECORDS: u32 = 15u;
const NOTHING: u32 = 0xffffffffu;

const NO_OFFSET: u32 = 1u;
const NOT_INSIDE: u32 = 2u;
const BAD_CONTROL: u32 = 3u;
const RETAINS_TOO_MUCH: u32 = 4u;
const BAD_SUFFIX: u32 = 5u;
const BAD_VALUE: u32 = 6u;
const NOT_AT_NEXT: u32 = 7u;
const LAST_KEY: u32 = 8u;
const BAD_COUNT: u32 = 9u;
const BAD_TAG: u32 = 10u;

struct Params {
    records: u32,
    first: u32,
    payload_bits: u32,
    common_bits: u32,
    last_key_bits: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> file: array<u32>;
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read_write> literal_starts: array<u32>;
@group(0) @binding(3) var<storage, read_write> key_bits: array<u32>;
@group(0) @binding(4) var<storage, read_write> retained: array<u32>;
@group(0) @binding(5) var<storage, read_write> value_bits: array<u32>;
@group(0) @binding(6) var<storage, read_write> status: array<atomic<u32>>;

// 32 bits of the file from bit `at` on.
fn window(at: u32) -> u32 {
    let word = at / 32u;
    return window_of(file[word], file[word + 1u], at % 32u);
}

// A number, and the bits that its code takes: none where it is no code of the profile or passes the end of its block.
struct Count {
    value: u32,
    bits: u32,
}

// A record, and the code of what is wrong with it, 0 for nothing.
struct Parsed {
    failure: u32,
    retained: u32,
    key_bits: u32,
    literal_start: u32,
    value_bits: u32,
    end: u32,
}

fn failed(failure: u32) -> Parsed {
    return Parsed(failure, 0u, 0u, 0u, 0u, 0u);
}

// The code of what is wrong with where a block lies, 0 for nothing.
fn extent_failure(block: u32, start: u32, end: u32) -> u32 {
    if starts[block] == NOTHING || starts[block + 1u] == NOTHING {
        return NO_OFFSET;
    }
    let last = block + 1u == ceil_div(params.records, BLOCK_RECORDS);
    let payload_end = PAYLOAD_BIT + params.payload_bits;
    let inside = start < end && end <= payload_end;
    let covers = (block > 0u || start == PAYLOAD_BIT) && (!last || end == payload_end);
    return select(NOT_INSIDE, 0u, inside && covers);
}

@compute @workgroup_size(GROUP)
fn parse(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let block = linear_invocation(group, groups, local, GROUP);
    if block >= ceil_div(params.records, BLOCK_RECORDS) {
        return;
    }
    let first = BLOCK_RECORDS * block;
    let behind = min(first + BLOCK_RECORDS, params.records);
    let start = PAYLOAD_BIT + UNIT * starts[block] + first * params.common_bits;
    let end = PAYLOAD_BIT + UNIT * starts[block + 1u] + behind * params.common_bits;

    var failure = extent_failure(block, start, end);
    var parsed = failed(failure);
    parsed.end = start;
    for (var record = first; record < behind; record += 1u) {
        if failure == 0u {
            parsed = record_at(record, parsed.end, end, parsed.key_bits);
            failure = parsed.failure;
        }
        let at = params.first + record;
        literal_starts[at] = parsed.literal_start;
        key_bits[at] = parsed.key_bits;
        retained[at] = parsed.retained;
        value_bits[at] = parsed.value_bits;
    }
    if failure == 0u && parsed.end != end {
        failure = NOT_AT_NEXT;
    }
    if failure == 0u && behind == params.records && parsed.key_bits != params.last_key_bits {
        failure = LAST_KEY;
    }
    if failure != 0u {
        fail(block, failure);
    }
}
