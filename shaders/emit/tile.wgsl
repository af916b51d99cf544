// A tile of the payload, made by a workgroup, in either profile.
//
// A record of the output is a head, its counts, and a body: one stretch of bits that is copied. For a surviving record shares
// with the record before it at least the bits that it retained in its own input, so what is left of its key is the end of its
// own literal there, which the value follows.
//
// The workgroup finds the tile's first record by a search in which each round narrows to a 256th. Then one invocation a record
// stages it: puts its head into the tile's words, and notes where it begins and what it copies. Then every invocation copies
// bodies into a run of words, from what is staged. A tile of very short records takes several such rounds.
//
// Positions called `at` count bits from the beginning of the tile, offsets units from that of the payload. The pass declares
// output_layout, key_bits, refs, shared_bits, payload, and the ascending `offsets` of survivors() records, fewer than 2^24. Its
// profile declares LEAST_RECORD, the units of the shortest record, struct Head with its `len` in bits, below 128, head_of and
// head_window.

const GROUP: u32 = 256u;
const BLOCK_RECORDS: u32 = 15u;

// Words in a tile, at most 2^19. All takes 4 * TILE_WORDS + 12 * STAGED + 4 * GROUP + 4 bytes of workgroup memory.
override TILE_WORDS: u32 = 1024u;

// Words in a row that an invocation makes.
const RUN: u32 = 4u;

// Records that are staged at a time, the last of them only for where it begins: a power of two.
const STAGED: u32 = 512u;

const WORD_UNITS: u32 = 32u / UNIT;

// More pieces, the parts of one record in one word, than a run has.
const RUN_PIECES: u32 = RUN + RUN * WORD_UNITS / LEAST_RECORD + 2u;

var<workgroup> probe_begins: array<u32, GROUP>;
var<workgroup> tile_first: atomic<u32>;
var<workgroup> tile_words: array<atomic<u32>, TILE_WORDS>;

// For each staged record the bit where it begins, 0 if before the tile, and in the lowest bits how long its head is from there on.
const HEAD_WIDTH: u32 = 7u;
var<workgroup> begins_and_heads: array<u32, STAGED>;

// What follows its head; past the part before the tile, if that is more than the head.
var<workgroup> bodies: array<Source, STAGED>;

// The last record that begins at or before an offset. Control flow must be uniform.
fn find_record(local: u32, offset: u32) -> u32 {
    let records = survivors();
    var first = 0u;
    for (var step = select(GROUP, GROUP * GROUP, records > GROUP * GROUP); step > 0u; step /= GROUP) {
        let probe = first + step * local;
        let begins = probe < records && offsets[probe] <= offset;
        probe_begins[local] = select(0u, 1u, begins);
        workgroupBarrier();
        // Offsets ascend, so this is one invocation, and nobody queues for the atomic.
        if begins && (local == GROUP - 1u || probe_begins[local + 1u] == 0u) {
            atomicMax(&tile_first, probe);
        }
        workgroupBarrier();
        first = atomicLoad(&tile_first);
    }
    return first;
}

// Adds 32 bits to the tile; what lies past it is left out.
fn put_bits(at: u32, bits: u32) {
    let word = at / 32u;
    if word < TILE_WORDS {
        atomicOr(&tile_words[word], bits >> (at % 32u));
    }
    let rest = (bits << (31u - at % 32u)) << 1u;
    if rest != 0u && word + 1u < TILE_WORDS {
        atomicOr(&tile_words[word + 1u], rest);
    }
}

// Stages record `i`, which begins at `offset`, as number `k`, in a tile that begins at `begin`.
fn stage_record(i: u32, k: u32, offset: u32, begin: u32) {
    // What is read from afar is read first and without branches, so that it is waited for once.
    let entry = refs[i];
    let shared_here = shared_bits[i];
    let key = key_bits[entry];
    let key_before = key_bits[refs[max(i, 1u) - 1u]];
    var body = source_of(entry, shared_here);
    let is_block_start = i % BLOCK_RECORDS == 0u;
    let control = select((key_before - shared_here) / UNIT, SELECTOR + shared_here / UNIT, is_block_start);
    let head = head_of(entry, control, (key - shared_here) / UNIT);
    let at = UNIT * (max(offset, begin) - begin);
    let before = UNIT * (begin - min(offset, begin));
    let skipped = min(before, head.len);
    for (var done = skipped; done < head.len; done += 32u) {
        put_bits(at + done - skipped, head_window(head, done));
    }
    begins_and_heads[k] = (at << HEAD_WIDTH) | (head.len - skipped);
    body.at += before - skipped;
    bodies[k] = body;
}

// Stages the records from `base` on that begin before the tile's end; behind them stands where that is.
fn stage_records(local: u32, base: u32, begin: u32, end: u32) {
    let records = survivors();
    for (var k = local; k < STAGED; k += GROUP) {
        var offset = end;
        if base + k < records {
            offset = min(offsets[base + k], end);
        }
        if offset < end {
            stage_record(base + k, k, offset, begin);
        } else {
            begins_and_heads[k] = (UNIT * (end - begin)) << HEAD_WIDTH;
        }
    }
}

// The last staged record that begins at or before a bit.
fn staged_with(at: u32) -> u32 {
    let above = (at + 1u) << HEAD_WIDTH;
    var low = 0u;
    for (var step = STAGED / 2u; step > 0u; step /= 2u) {
        if begins_and_heads[low + step] < above {
            low += step;
        }
    }
    return low;
}

// Copies bodies into the bits from `first` to `end` of one run of words.
fn copy_bodies(first: u32, end: u32) {
    var at = first;
    var k = staged_with(first);
    var word = 0u;
    for (var piece = 0u; piece < RUN_PIECES && at < end; piece += 1u) {
        let here = begins_and_heads[k];
        let next = begins_and_heads[k + 1u] >> HEAD_WIDTH;
        let body = (here >> HEAD_WIDTH) + (here & ((1u << HEAD_WIDTH) - 1u));
        let to = clamp(next, at, min((at | 31u) + 1u, end));
        if to > body {
            let start = max(at, body);
            word |= first_bits(source_window(bodies[k], start - body), to - start) >> (start % 32u);
        }
        if to % 32u == 0u || to == end {
            atomicOr(&tile_words[at / 32u], word);
            word = 0u;
        }
        if to == next {
            k += 1u;
        }
        at = to;
    }
}

// Makes a tile. Control flow must be uniform.
fn emit_tile(local: u32, tile: u32) {
    let words = ceil_div(payload_extent(), WORD_UNITS);
    let first_word = TILE_WORDS * tile;
    if first_word >= words {
        return;
    }
    let begin = WORD_UNITS * first_word;
    let end = min(payload_extent(), begin + WORD_UNITS * TILE_WORDS);
    let bits = UNIT * (end - begin);
    // More than a tile of the shortest records takes.
    let rounds = WORD_UNITS * TILE_WORDS / LEAST_RECORD / (STAGED - 1u) + 2u;
    var base = find_record(local, begin);
    var made = 0u;
    for (var round = 0u; round < rounds && made < bits; round += 1u) {
        stage_records(local, base, begin, end);
        let staged = workgroupUniformLoad(&begins_and_heads[STAGED - 1u]) >> HEAD_WIDTH;
        for (var run = 32u * RUN * local; run < staged; run += 32u * RUN * GROUP) {
            copy_bodies(max(run, made), min(run + 32u * RUN, staged));
        }
        workgroupBarrier();
        made = staged;
        // The last that was staged is staged again, now with an end.
        base += STAGED - 1u;
    }
    for (var word = local; word < min(TILE_WORDS, words - first_word); word += GROUP) {
        payload[first_word + word] = swap_bytes(atomicLoad(&tile_words[word]));
    }
}
