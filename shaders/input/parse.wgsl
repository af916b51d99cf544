// Walks blocks of 15 records, an invocation each, and writes where keys and values lie. How one record is read is said by
// input/bit_records.wgsl or input/byte_records.wgsl, which also say what the unit of a file's addresses is.
//
// A block gets the code of the first thing that is wrong with it. Columns of the record at fault and of those behind it in
// the block are zero, so that no later pass reads outside of the payload or counts past 32 bits because of them.
//
// Blocks of neighbouring invocations lie far apart for a load or store. Where the bytes of a workgroup's blocks fit, they are
// first brought to workgroup memory in one piece. Where they do not, values are large, and reading just what lies between
// them is better. Columns go through workgroup memory too.

const GROUP: u32 = 32u;
const BLOCK_RECORDS: u32 = 15u;
// Records of each block whose columns are stored at a time: a divisor of 15. It is odd, so that lanes write to all banks.
const ROUND_RECORDS: u32 = 5u;
// Vectors of four words for the bytes of blocks: 18 bytes a record. The less memory, the more workgroups run at once.
const STAGE_VECTORS: u32 = 540u;
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

@group(0) @binding(0) var<storage, read> file: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read_write> literal_starts: array<u32>;
@group(0) @binding(3) var<storage, read_write> key_bits: array<u32>;
@group(0) @binding(4) var<storage, read_write> retained: array<u32>;
@group(0) @binding(5) var<storage, read_write> value_bits: array<u32>;
@group(0) @binding(6) var<storage, read_write> status: array<atomic<u32>>;

// Words of the file from a multiple of four on, with their first bit highest.
var<workgroup> stage: array<vec4<u32>, STAGE_VECTORS>;
// The columns of a round, block by block.
var<workgroup> literal_starts_of: array<u32, GROUP * ROUND_RECORDS>;
var<workgroup> key_bits_of: array<u32, GROUP * ROUND_RECORDS>;
var<workgroup> retained_of: array<u32, GROUP * ROUND_RECORDS>;
var<workgroup> value_bits_of: array<u32, GROUP * ROUND_RECORDS>;

// The first word of the stage, and how many words of it two others follow there.
var<private> stage_begin: u32;
var<private> stage_words: u32;
// Three words as the stage has them, and where they are: first behind any file.
var<private> held: vec3<u32>;
var<private> held_at: u32 = 0x80000000u;

fn staged_word(at: u32) -> u32 {
    return stage[at / 4u][at % 4u];
}

fn file_word(word: u32) -> u32 {
    return swap_bytes(file[word / 4u][word % 4u]);
}

fn hold(word: u32) {
    let at = word - stage_begin;
    if at < stage_words {
        held = vec3<u32>(staged_word(at), staged_word(at + 1u), staged_word(at + 2u));
    } else {
        held = vec3<u32>(file_word(word), file_word(word + 1u), file_word(word + 2u));
    }
    held_at = word;
}

// 32 bits of the file from bit `at` on. What a record says about itself lies close together, so few windows need a load.
fn window(at: u32) -> u32 {
    let word = at / 32u;
    if word - held_at > 1u {
        hold(word);
    }
    let words = select(held.xy, held.yz, word != held_at);
    let shift = at % 32u;
    return select((words.x << shift) | (words.y >> (32u - shift)), words.x, shift == 0u);
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

// The bit with which a block begins, and the one before it ends.
fn block_begin(block: u32) -> u32 {
    let records_before = min(BLOCK_RECORDS * block, params.records);
    return PAYLOAD_BIT + UNIT * starts[block] + records_before * params.common_bits;
}

fn swapped(words: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(swap_bytes(words.x), swap_bytes(words.y), swap_bytes(words.z), swap_bytes(words.w));
}

// Brings the words of blocks from `first` to `behind` to the stage if it has room for them. Damaged files may have any of these
// blocks outside of what then lies there.
fn fill_stage(first: u32, behind: u32, lane: u32) {
    let begin = block_begin(first);
    let end = block_begin(behind);
    let vector = begin / 128u;
    // Windows begin up to one word behind the end, and three words are held.
    let n = (end / 32u + 3u) / 4u + 1u - vector;
    if begin >= end || end > PAYLOAD_BIT + params.payload_bits || n > STAGE_VECTORS {
        return;
    }
    stage_begin = 4u * vector;
    stage_words = 4u * n - 2u;
    // Four loads at a time, without a branch between them.
    let last = n - 1u;
    for (var i = lane; i < n; i += 4u * GROUP) {
        let at = min(vec4<u32>(i, i + GROUP, i + 2u * GROUP, i + 3u * GROUP), vec4<u32>(last));
        let a = file[vector + at.x];
        let b = file[vector + at.y];
        let c = file[vector + at.z];
        let d = file[vector + at.w];
        stage[at.x] = swapped(a);
        stage[at.y] = swapped(b);
        stage[at.z] = swapped(c);
        stage[at.w] = swapped(d);
    }
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

// A walk through one block: the next record and the one behind the last, what the record before was, and what is wrong.
struct Walk {
    record: u32,
    behind: u32,
    end: u32,
    parsed: Parsed,
    failure: u32,
}

fn walk_begin(block: u32, blocks: u32) -> Walk {
    if block >= blocks {
        return Walk();
    }
    let record = BLOCK_RECORDS * block;
    let start = block_begin(block);
    let end = block_begin(block + 1u);
    let failure = extent_failure(block, start, end);
    var parsed = failed(failure);
    parsed.end = start;
    return Walk(record, min(record + BLOCK_RECORDS, params.records), end, parsed, failure);
}

fn walk_on(walk: Walk) -> Walk {
    var next = walk;
    if walk.record < walk.behind {
        if walk.failure == 0u {
            next.parsed = record_at(walk.record, walk.parsed.end, walk.end, walk.parsed.key_bits);
            next.failure = next.parsed.failure;
        }
        next.record += 1u;
    }
    return next;
}

// The code of what is wrong with a block that was walked.
fn walk_failure(walk: Walk) -> u32 {
    if walk.failure == 0u && walk.parsed.end != walk.end {
        return NOT_AT_NEXT;
    }
    if walk.failure == 0u && walk.behind == params.records && walk.parsed.key_bits != params.last_key_bits {
        return LAST_KEY;
    }
    return walk.failure;
}

// Stores the columns of a round that begins with record `record` of the workgroup's first block.
fn store_columns(record: u32, lane: u32) {
    for (var i = lane; i < GROUP * ROUND_RECORDS; i += GROUP) {
        let in_file = record + i / ROUND_RECORDS * BLOCK_RECORDS + i % ROUND_RECORDS;
        if in_file < params.records {
            let at = params.first + in_file;
            literal_starts[at] = literal_starts_of[i];
            key_bits[at] = key_bits_of[i];
            retained[at] = retained_of[i];
            value_bits[at] = value_bits_of[i];
        }
    }
}

@compute @workgroup_size(GROUP)
fn parse(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let blocks = ceil_div(params.records, BLOCK_RECORDS);
    let first = GROUP * linear_workgroup(group, groups);
    if first >= blocks {
        return;
    }
    fill_stage(first, min(first + GROUP, blocks), lane);
    workgroupBarrier();

    let block = first + lane;
    var walk = walk_begin(block, blocks);
    for (var done = 0u; done < BLOCK_RECORDS; done += ROUND_RECORDS) {
        for (var i = 0u; i < ROUND_RECORDS; i += 1u) {
            walk = walk_on(walk);
            let at = ROUND_RECORDS * lane + i;
            literal_starts_of[at] = walk.parsed.literal_start;
            key_bits_of[at] = walk.parsed.key_bits;
            retained_of[at] = walk.parsed.retained;
            value_bits_of[at] = walk.parsed.value_bits;
        }
        workgroupBarrier();
        store_columns(BLOCK_RECORDS * first + done, lane);
        workgroupBarrier();
    }
    if block < blocks {
        let failure = walk_failure(walk);
        if failure != 0u {
            fail(block, failure);
        }
    }
}
