// Walks blocks of 15 records, an invocation each, and writes where keys and values lie.
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

// 32 bits of the payload from bit `at` on.
fn window(at: u32) -> u32 {
    let word = PAYLOAD_WORD + at / 32u;
    return window_of(file[word], file[word + 1u], at % 32u);
}

// A number in the exponential-Golomb code of order zero. Its code has no bits where it is cut off or longer than 63 bits.
struct Count {
    value: u32,
    bits: u32,
}

// The count at `at`, of which `bits_left` bits lie in the block.
fn count_at(at: u32, bits_left: u32) -> Count {
    let head = window(at);
    let zeros = countLeadingZeros(head);
    let bits = 2u * zeros + 1u;
    if zeros == 32u || bits > bits_left {
        return Count(0u, 0u);
    }
    var tail = head << zeros;
    if bits > 32u {
        tail = window(at + zeros);
    }
    return Count((tail >> (31u - zeros)) - 1u, bits);
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

// Bits of the value at `at`, 0 if it is wrong.
fn value_at(at: u32, end: u32) -> u32 {
    if at >= end {
        return 0u;
    }
    var bits = 1u;
    if window(at) >> 31u == 1u {
        let count = count_at(at + 1u, end - at - 1u);
        if count.bits == 0u || count.value > (end - at - 1u - count.bits) / 8u {
            return 0u;
        }
        bits += count.bits + 8u * count.value;
    }
    return select(0u, bits, params.common_bits == 0u || bits == params.common_bits);
}

// The record at `at` in a block that ends at `end`, behind a key of `previous` bits.
fn record_at(record: u32, at: u32, end: u32, previous: u32) -> Parsed {
    let control = count_at(at, end - at);
    if control.bits == 0u {
        return failed(BAD_CONTROL);
    }
    var kept = previous - min(control.value, previous);
    if record % BLOCK_RECORDS > 0u {
        if control.value > previous {
            return failed(BAD_CONTROL);
        }
    } else {
        // The position counts the selector bit. No key is longer than the payload, which holds all its bits.
        if control.value == 0u || control.value - 1u > params.payload_bits {
            return failed(BAD_CONTROL);
        }
        kept = control.value - 1u;
        if record == 0u && kept > 0u {
            return failed(RETAINS_TOO_MUCH);
        }
    }
    let suffix_at = at + control.bits;
    let suffix = count_at(suffix_at, end - suffix_at);
    let literal_start = suffix_at + suffix.bits;
    let key = kept + suffix.value;
    if suffix.bits == 0u || suffix.value > end - literal_start || key > params.payload_bits || key % 8u != 0u {
        return failed(BAD_SUFFIX);
    }
    let value_start = literal_start + suffix.value;
    let value = value_at(value_start, end);
    if value == 0u {
        return failed(BAD_VALUE);
    }
    return Parsed(0u, kept, key, literal_start, value, value_start + value);
}

// The code of what is wrong with where a block lies, 0 for nothing.
fn extent_failure(block: u32, start: u32, end: u32) -> u32 {
    if starts[block] == NOTHING || starts[block + 1u] == NOTHING {
        return NO_OFFSET;
    }
    let last = block + 1u == ceil_div(params.records, BLOCK_RECORDS);
    let inside = start < end && end <= params.payload_bits;
    let covers = (block > 0u || start == 0u) && (!last || end == params.payload_bits);
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
    let start = starts[block] + first * params.common_bits;
    let end = starts[block + 1u] + behind * params.common_bits;

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
