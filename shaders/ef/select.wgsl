// The entries of an Elias-Fano sequence: a workgroup selects 256 of them, whose first position in the highs a sample holds.
//
// Of a dense group all positions lie within 4,096 bits of the first: each invocation takes one of at most 129 words and puts
// the positions of its bits where the prefix sum of set bits says. A sparse group lists its positions.

// Entries in a group, and bits that the positions of a dense group span at most.
const ENTRIES: u32 = 256u;
const SPAN: u32 = 4096u;
const SPAN_WORDS: u32 = 129u;

const NOTHING: u32 = 0xffffffffu;
const NO_SELECTION: u32 = 1u;

struct Params {
    entries: u32,
    universe: u32,
    low_width: u32,
    lows_at: u32,
    highs_at: u32,
    samples_at: u32,
    exceptions_at: u32,
    exceptions: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> file: array<u32>;
@group(0) @binding(1) var<storage, read_write> selected: array<u32>;
@group(0) @binding(2) var<storage, read_write> status: array<atomic<u32>>;

// Positions in the highs of the group's entries.
var<workgroup> positions: array<u32, ENTRIES>;

// Bits in the highs.
fn high_bits() -> u32 {
    return (params.universe >> params.low_width) + params.entries;
}

// The first n bits of a word, the lowest first.
fn lowest_bits(n: u32) -> u32 {
    return select((1u << (n & 31u)) - 1u, NOTHING, n >= 32u);
}

// A word of the highs without what lies before bit `first` or from bit `end` on.
fn high_word(word: u32, first: u32, end: u32) -> u32 {
    let at = 32u * word;
    if at >= end {
        return 0u;
    }
    return file[params.highs_at + word] & lowest_bits(end - at) & ~lowest_bits(first - min(first, at));
}

// Puts the positions of the group's entries, in a dense group that begins at `first`. Control flow must be uniform.
fn put_dense(place: Place, first: u32, end: u32) {
    let lane = lane_of(place);
    let word = first / 32u + lane;
    var left = 0u;
    if lane < SPAN_WORDS {
        left = high_word(word, first, end);
    }
    var entry = workgroup_prefix(place, vec4<u32>(countOneBits(left), 0u, 0u, 0u)).before.x;
    while left != 0u && entry < ENTRIES {
        positions[entry] = 32u * word + firstTrailingBit(left);
        left &= left - 1u;
        entry += 1u;
    }
}

// The position that a sparse group lists for its entry `within`.
fn exception(begin: u32, within: u32) -> u32 {
    if begin >= params.exceptions || within >= params.exceptions - begin {
        return NOTHING;
    }
    let word = params.exceptions_at + 2u * (begin + within);
    let position = file[word];
    if file[word + 1u] != 0u || position >= high_bits() {
        return NOTHING;
    }
    let holds = (file[params.highs_at + position / 32u] >> (position % 32u)) & 1u;
    return select(NOTHING, position, holds == 1u);
}

// The low bits of an entry.
fn low_bits(entry: u32) -> u32 {
    let at = entry * params.low_width;
    let word = params.lows_at + at / 32u;
    let shift = at % 32u;
    let low = file[word] >> shift;
    let next = select(file[word + 1u] << (32u - shift), 0u, shift == 0u);
    return (low | next) & lowest_bits(params.low_width);
}

// The entry with this position in the highs, NOTHING if there is no such entry.
fn entry_at(entry: u32, position: u32) -> u32 {
    if position == NOTHING || position < entry {
        return NOTHING;
    }
    let high = position - entry;
    if high > params.universe >> params.low_width {
        return NOTHING;
    }
    let value = (high << params.low_width) | low_bits(entry);
    return select(NOTHING, value, value <= params.universe);
}

@compute @workgroup_size(GROUP)
fn select_entries(place: Place) {
    let group = linear_workgroup(place.group, place.groups);
    if group >= ceil_div(params.entries, ENTRIES) {
        return;
    }
    let sample = params.samples_at + 4u * group;
    let first = file[sample];
    let begin = file[sample + 2u];
    let first_is_sound = file[sample + 1u] == 0u && first < high_bits();
    let dense = begin == NOTHING && file[sample + 3u] == NOTHING;

    for (var within = place.index; within < ENTRIES; within += GROUP) {
        positions[within] = NOTHING;
    }
    workgroupBarrier();
    if dense && first_is_sound {
        put_dense(place, first, min(first + SPAN, high_bits()));
    }
    workgroupBarrier();

    let listed = !dense && file[sample + 3u] == 0u;
    for (var within = place.index; within < min(ENTRIES, params.entries - ENTRIES * group); within += GROUP) {
        let entry = ENTRIES * group + within;
        var position = positions[within];
        if listed {
            position = exception(begin, within);
        }
        let value = entry_at(entry, position);
        selected[entry] = value;
        if value == NOTHING {
            // The last entry is where the last block ends.
            fail(min(entry, max(params.entries, 2u) - 2u), NO_SELECTION);
        }
    }
}
