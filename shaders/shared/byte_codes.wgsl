// The counts of the byte profile, in LEB128: seven bits a byte, the lowest first, the high bit set in all bytes but the last.
// shared/codes.wgsl declares the same names for the bit profile.

// Bits of what the file's addresses count.
const UNIT: u32 = 8u;

// Units that an absolute retained position counts before the key.
const SELECTOR: u32 = 0u;

// Bits of a count.
fn count_len(x: u32) -> u32 {
    return 8u * ((38u - min(countLeadingZeros(x), 31u)) / 7u);
}
