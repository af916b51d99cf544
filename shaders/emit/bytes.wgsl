// The payload of an output of the byte profile, a tile of 512 words a workgroup: an invocation makes two of them, and of each
// record in a word what the word covers of its counts and of the stretch that is copied.

const GROUP: u32 = 256u;
const TILE_WORDS: u32 = 512u;

// A record has three bytes or more: two counts and a tag. So at most 684 of them lie in the tile's 2,048 bytes.
const STAGED: u32 = 1024u;

@group(0) @binding(0) var<storage, read> output_layout: array<u32>;
@group(0) @binding(1) var<storage, read> key_bits: array<u32>;
@group(0) @binding(2) var<storage, read> value_bits: array<u32>;
@group(0) @binding(3) var<storage, read> refs: array<u32>;
@group(0) @binding(4) var<storage, read> shared_bits: array<u32>;
@group(0) @binding(5) var<storage, read> offsets: array<u32>;
@group(0) @binding(6) var<storage, read_write> payload: array<u32>;

// How a record of the output is made: counts, then what is left of the key, which is the end of the record's own literal in
// its input, and the value behind it there. Lengths are in bytes.
struct Record {
    control: u32,
    suffix: u32,
    value: u32,
    // Bytes of all counts; the value's is left out where all values are equally long.
    head: u32,
    counts_value: bool,
    source: Source,
}

fn record_at(i: u32) -> Record {
    let entry = refs[i];
    let shared_here = shared_bits[i];
    var record: Record;
    if i % 15u == 0u {
        record.control = shared_here / 8u;
    } else {
        record.control = (key_bits[refs[i - 1u]] - shared_here) / 8u;
    }
    record.suffix = (key_bits[entry] - shared_here) / 8u;
    record.value = value_bits[entry] / 8u;
    record.counts_value = common_width() == 0u;
    record.head = (count_len(record.control) + count_len(record.suffix)) / 8u;
    if record.counts_value {
        record.head += count_len(record.value) / 8u;
    }
    record.source = source_of(entry, shared_here);
    return record;
}

// The bytes of a count within the four from byte `at` on, the first of them highest, where it begins at byte `begin`.
fn count_window(x: u32, begin: u32, at: u32) -> u32 {
    let bytes = count_len(x) / 8u;
    var window = 0u;
    for (var k = max(at, begin); k < min(at + 4u, begin + bytes); k += 1u) {
        let place = k - begin;
        let followed = select(0u, 0x80u, place + 1u < bytes);
        window |= (((x >> (7u * place)) & 0x7fu) | followed) << (24u - 8u * (k - at));
    }
    return window;
}

// Four bytes of a record from byte `at` on; what follows its end has no meaning.
fn record_window(record: Record, at: u32) -> u32 {
    if at >= record.head {
        return source_window(record.source, 8u * (at - record.head));
    }
    let suffix_at = count_len(record.control) / 8u;
    var window = count_window(record.control, 0u, at) | count_window(record.suffix, suffix_at, at);
    if record.counts_value {
        window |= count_window(record.value, suffix_at + count_len(record.suffix) / 8u, at);
    }
    if at + 4u > record.head {
        window |= source_window(record.source, 0u) >> (8u * (record.head - at));
    }
    return window;
}

// The word of the payload that begins at byte `begin`, in a tile whose first record is `first`.
fn word_at(begin: u32, first: u32, all_bytes: u32) -> u32 {
    let wanted = min(all_bytes - begin, 4u);
    var staged = staged_with(begin);
    var word = 0u;
    var filled = 0u;
    // Each record gives at least one byte.
    for (var k = 0u; k < 4u && filled < wanted; k += 1u) {
        let start = tile_offsets[staged];
        let end = min(tile_offsets[min(staged + 1u, STAGED - 1u)], all_bytes);
        let bytes = min(end - (begin + filled), wanted - filled);
        let window = record_window(record_at(first + staged), begin + filled - start);
        word |= first_bits(window, 8u * bytes) >> (8u * filled);
        filled += bytes;
        staged += 1u;
    }
    return word;
}

@compute @workgroup_size(GROUP)
fn bytes(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let all_bytes = payload_extent();
    let tile = TILE_WORDS * linear_workgroup(group, groups);
    let words = ceil_div(all_bytes, 4u);
    let first = find_tile(local, 4u * tile, 4u * min(tile + TILE_WORDS, words));
    for (var word = tile + local; word < min(tile + TILE_WORDS, words); word += GROUP) {
        payload[word] = swap_bytes(word_at(4u * word, first, all_bytes));
    }
}
