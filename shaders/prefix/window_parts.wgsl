// Key windows without looking for owners: what a run of records makes of the window before it.
//
// A record takes over the first bits of its key from the key before it and holds the others, so its window is the one before
// with all but the first `kept` bits replaced. Two such steps are one again, which makes windows a prefix scan. The first
// record of an input keeps nothing, and with that the inputs do not mix.
//
// A lane has four records, so that columns are read four at a time.

const GROUP: u32 = 256u;
const TILE_RECORDS: u32 = 4u * GROUP;
const WINDOW_BITS: u32 = 64u;

struct Params {
    records: u32,
    older_records: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> older: array<u32>;
@group(0) @binding(1) var<storage, read> newer: array<u32>;
@group(0) @binding(2) var<storage, read> literal_starts: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> key_bits: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> retained: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> prefix: array<u32>;

// The step of a run of records: the window before keeps its first `kept` bits, and `bits` are the others.
struct Part {
    bits: vec2<u32>,
    kept: u32,
}

const NO_RECORDS: Part = Part(vec2<u32>(0u), WINDOW_BITS);

// Two neighbouring runs as one.
fn joined(first: Part, second: Part) -> Part {
    let kept = vec2<u32>(
        first_bits(first.bits.x, second.kept),
        first_bits(first.bits.y, second.kept - min(second.kept, 32u)),
    );
    return Part(kept | second.bits, min(first.kept, second.kept));
}

// The first `n` (at most 64) bits of two words, behind `skipped` (at most 64) zeros.
fn shifted(words: vec2<u32>, n: u32, skipped: u32) -> vec2<u32> {
    let held = vec2<u32>(first_bits(words.x, n), first_bits(words.y, n - min(n, 32u)));
    if skipped == 0u {
        return held;
    }
    if skipped >= 32u {
        return vec2<u32>(0u, select(held.x >> (skipped & 31u), 0u, skipped >= WINDOW_BITS));
    }
    return vec2<u32>(held.x >> skipped, (held.y >> skipped) | (held.x << (32u - skipped)));
}

// One record, by its columns. The window begins at bit `start` of keys.
fn part_of(record: u32, literal_start: u32, key: u32, takes_over: u32, start: u32) -> Part {
    if record >= params.records {
        return NO_RECORDS;
    }
    let kept = min(takes_over - min(takes_over, start), WINDOW_BITS);
    let first = max(takes_over, start);
    let held = min(key - min(key, first), WINDOW_BITS - kept);
    let in_newer = record >= params.older_records;
    let at = literal_start + (first - takes_over);
    let words = vec2<u32>(payload_window(in_newer, at), payload_window(in_newer, at + 32u));
    return Part(shifted(words, held, kept), kept);
}

// The four records of lane `lane` of a tile.
fn lane_parts(tile: u32, lane: u32) -> array<Part, 4> {
    let at = tile * GROUP + lane;
    let record = 4u * at;
    let start = 8u * prefix[0];
    let literal = literal_starts[at];
    let key = key_bits[at];
    let takes_over = retained[at];
    return array<Part, 4>(
        part_of(record, literal.x, key.x, takes_over.x, start),
        part_of(record + 1u, literal.y, key.y, takes_over.y, start),
        part_of(record + 2u, literal.z, key.z, takes_over.z, start),
        part_of(record + 3u, literal.w, key.w, takes_over.w, start),
    );
}

// Lanes are joined in rows, then rows.
const ROW: u32 = 16u;
var<workgroup> lane_runs: array<Part, GROUP>;
var<workgroup> row_runs: array<Part, ROW>;

// All lanes before one, and all lanes. Control flow must be uniform.
struct Scanned {
    before: Part,
    all: Part,
}

fn workgroup_joined(lane: u32, own: Part) -> Scanned {
    let row = lane / ROW;
    workgroupBarrier();
    lane_runs[lane] = own;
    workgroupBarrier();

    var before = NO_RECORDS;
    for (var i = row * ROW; i < lane; i += 1u) {
        before = joined(before, lane_runs[i]);
    }
    if lane % ROW == ROW - 1u {
        row_runs[row] = joined(before, own);
    }
    workgroupBarrier();

    var all = NO_RECORDS;
    var rows_before = NO_RECORDS;
    for (var r = 0u; r < GROUP / ROW; r += 1u) {
        if r == row {
            rows_before = all;
        }
        all = joined(all, row_runs[r]);
    }
    return Scanned(joined(rows_before, before), all);
}
