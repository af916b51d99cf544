// Bit strings in files: the first bit is the highest of the first byte.

// The bytes of a word in opposite order: a word of a file with its first bit highest, and back.
fn swap_bytes(word: u32) -> u32 {
    let pairs = ((word & 0x00ff00ffu) << 8u) | ((word >> 8u) & 0x00ff00ffu);
    return (pairs << 16u) | (pairs >> 16u);
}

// 32 bits from bit `shift` (below 32) of two words of a file on.
fn window_of(first: u32, second: u32, shift: u32) -> u32 {
    let a = swap_bytes(first) << shift;
    return select(a | (swap_bytes(second) >> (32u - shift)), a, shift == 0u);
}

// The first `n` bits of a word, zeros after them.
fn first_bits(word: u32, n: u32) -> u32 {
    return select(word & ~(0xffffffffu >> (n & 31u)), word, n >= 32u);
}
