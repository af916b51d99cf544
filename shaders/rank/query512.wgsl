// Ranks in a bitmap by a Rank512 directory: three words for each block of 512 bits, see rank512_count.wgsl. The pass
// declares `bitmap` and `directory`: array<u32>.

// Ones before bit `i`, which is not past the last bit.
fn rank512_before(i: u32) -> u32 {
    let block = 3u * (i / 512u);
    let pair = i / 64u % 8u;
    var count = directory[block];
    if pair > 0u {
        // Nine bits at `at` of the 64: from the low word, from both, or from the high word.
        let at = 9u * (pair - 1u);
        var field = directory[block + 1u + at / 32u] >> (at % 32u);
        if pair == 4u {
            field |= directory[block + 2u] << (32u - at);
        }
        count += field & 511u;
    }
    let word = i / 32u;
    if word % 2u == 1u {
        count += countOneBits(bitmap[word - 1u]);
    }
    return count + countOneBits(bitmap[word] & ((1u << (i % 32u)) - 1u));
}
