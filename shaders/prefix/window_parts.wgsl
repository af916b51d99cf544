// Key windows without looking for owners: what a run of records makes of the window before it.
//
// A record takes over the first bits of its key from the key before it and holds the others, so its window is the one before
// with all but the first `kept` bits replaced. Two such steps are one again, which makes windows a prefix scan. The first
// record of an input keeps nothing, and with that the inputs do not mix.

const GROUP: u32 = 256u;
const TILE_RECORDS: u32 = 4u * GROUP;
const WINDOW_BITS: u32 = 64u;

// The step of a run of records: the window before keeps its first `kept` bits, and `bits` are the others.
struct Part {
    bits: vec2<u32>,
    kept: u32,
}

const NO_RECORDS: Part = Part(vec2<u32>(0u), WINDOW_BITS);

// The first `n` (at most 64) bits of a window, zeros after them.
fn window_start(window: vec2<u32>, n: u32) -> vec2<u32> {
    return vec2<u32>(first_bits(window.x, n), first_bits(window.y, n - min(n, 32u)));
}

// Two neighbouring runs as one.
fn joined(first: Part, second: Part) -> Part {
    return Part(window_start(first.bits, second.kept) | second.bits, min(first.kept, second.kept));
}

// A part as four words, and back.
fn packed(part: Part) -> vec4<u32> {
    return vec4<u32>(part.bits, part.kept, 0u);
}

fn unpacked(words: vec4<u32>) -> Part {
    return Part(words.xy, words.z);
}
