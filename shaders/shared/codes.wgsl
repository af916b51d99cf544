// The counts of the bit profile, in the exponential-Golomb code of order zero: x + 1 in binary, after one zero for each of its
// bits but the first. shared/byte_codes.wgsl declares for the byte profile what passes of both need: UNIT, SELECTOR, count_len.
//
// Numbers are below 2^32 - 1, which takes up to 63 bits.

// Bits of what the file's addresses count.
const UNIT: u32 = 1u;

// Units that an absolute retained position counts before the key.
const SELECTOR: u32 = 1u;

// Bits of a count.
fn count_len(x: u32) -> u32 {
    return golomb_len(x);
}

// Bits that a record of the output spends on how long its value is: the value says so itself.
fn value_count_len(value_bits: u32) -> u32 {
    return 0u;
}

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
