// The exponential-Golomb code of order zero: x + 1 in binary, after one zero for each of its bits but the first.
//
// Numbers are below 2^32 - 1, which takes up to 63 bits.

// Bits of the code of x.
fn golomb_len(x: u32) -> u32 {
    return 63u - 2u * min(countLeadingZeros(x + 1u), 31u);
}

// 32 bits of the code of x from bit `at` on, the first of them the highest; zeros follow its end. `at` is below 64.
fn golomb_window(x: u32, at: u32) -> u32 {
    let m = x + 1u;
    // A window that begins here ends with the lowest bit of m.
    let level = i32(golomb_len(x)) - 32;
    let shift = i32(at) - level;
    if shift >= 0 {
        // Here shift can only reach 32 past the end.
        return select(0u, m << u32(shift), shift < 32);
    }
    return select(0u, m >> u32(-shift), shift > -32);
}
