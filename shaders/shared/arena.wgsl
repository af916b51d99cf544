// An arena in which keys, and perhaps values behind them, lie whole: each key begins at a word of its own, whose first bit
// is the highest.

// The bindings are past those of any pass.
@group(0) @binding(8) var<storage, read> arena: array<u32>;
@group(0) @binding(9) var<storage, read> key_starts: array<u32>;

fn arena_word(word: u32) -> u32 {
    return select(0u, arena[word], word < arrayLength(&arena));
}

// 32 bits from bit `at` behind the beginning of word `start` on; zeros follow the end of the arena.
fn arena_window(start: u32, at: u32) -> u32 {
    let word = start + at / 32u;
    let shift = at % 32u;
    let first = arena_word(word) << shift;
    return select(first | (arena_word(word + 1u) >> (32u - shift)), first, shift == 0u);
}
