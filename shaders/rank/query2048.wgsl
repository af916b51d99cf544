// Ranks in a bitmap by a Rank2048 directory: two words for each block of 2,048 bits, see rank2048_count.wgsl. The pass
// declares `bitmap` and `directory`: array<u32>.

// Ones before bit `i`, which is not past the last bit.
fn rank2048_before(i: u32) -> u32 {
    let block = 2u * (i / 2048u);
    let runs = directory[block + 1u];
    let run = i / 512u % 4u;
    var count = directory[block];
    count += select(0u, runs & 1023u, run > 0u);
    count += select(0u, runs >> 11u & 1023u, run > 1u);
    count += select(0u, runs >> 22u & 1023u, run > 2u);
    let word = i / 32u;
    for (var before = word / 16u * 16u; before < word; before += 1u) {
        count += countOneBits(bitmap[before]);
    }
    return count + countOneBits(bitmap[word] & ((1u << (i % 32u)) - 1u));
}
