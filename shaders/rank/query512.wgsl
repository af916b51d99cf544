// How many ones a bitmap has before one of its bits, from the counts of rank512.wgsl. The pass declares `bitmap`, `inner` and
// `outer`, the ones before each block.

// Ones before bit `i`, which is not past the last bit.
fn rank_before(i: u32) -> u32 {
    let block = i / 512u;
    let fields = inner[block];
    let pair = i / 64u % 8u;
    var count = outer[block];
    if pair > 0u {
        let at = 9u * (pair - 1u);
        // Nine bits at `at` of the 64: from the low word, from both, or from the high word.
        var field = fields.x >> (at & 31u);
        if at >= 32u {
            field = fields.y >> (at - 32u);
        } else if at > 23u {
            field |= fields.y << (32u - at);
        }
        count += field & 511u;
    }
    let word = i / 32u;
    if word % 2u == 1u {
        count += countOneBits(bitmap[word - 1u]);
    }
    return count + countOneBits(bitmap[word] & ((1u << (i % 32u)) - 1u));
}
