// The parts of single records. Columns are bound four records at a time.

@group(0) @binding(0) var<storage, read> older: array<u32>;
@group(0) @binding(1) var<storage, read> newer: array<u32>;
@group(0) @binding(2) var<storage, read> literal_starts: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> key_bits: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> retained: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> prefix: array<u32>;

// The bit of keys with which windows begin.
fn window_bit() -> u32 {
    return 8u * prefix[0];
}

// The first `n` (at most 64) bits of two words, behind `skipped` (at most 64) zeros.
fn shifted(words: vec2<u32>, n: u32, skipped: u32) -> vec2<u32> {
    let held = window_start(words, n);
    if skipped == 0u {
        return held;
    }
    if skipped >= 32u {
        return vec2<u32>(0u, select(held.x >> (skipped & 31u), 0u, skipped >= WINDOW_BITS));
    }
    return vec2<u32>(held.x >> skipped, (held.y >> skipped) | (held.x << (32u - skipped)));
}

// How many bits of the window before them the four records from `record` on keep: all of them behind the last.
fn kept_bits(record: u32, start: u32) -> vec4<u32> {
    let takes_over = retained[record / 4u];
    let kept = min(takes_over - min(takes_over, vec4<u32>(start)), vec4<u32>(WINDOW_BITS));
    let counted = vec4<u32>(record) + vec4<u32>(0u, 1u, 2u, 3u) < vec4<u32>(params.records);
    return select(vec4<u32>(WINDOW_BITS), kept, counted);
}

// The bits of a record's part, by its columns. The window begins at bit `start` of keys.
fn record_bits(record: u32, literal_start: u32, key: u32, takes_over: u32, start: u32) -> vec2<u32> {
    let first = max(takes_over, start);
    let kept = min(first - start, WINDOW_BITS);
    let held = min(key - min(key, first), WINDOW_BITS - kept);
    let in_newer = record >= params.older_records;
    let words = payload_window64(in_newer, literal_start + (first - takes_over));
    return shifted(words, held, kept);
}
