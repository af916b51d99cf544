// Ranks in a bitmap by a directory of either layout: query512.wgsl and query2048.wgsl come before this file. The pass
// declares params with `rank_block`, the bits in a block, which says which layout it is.

// Ones before bit `i`, which is not past the last bit.
fn rank_before(i: u32) -> u32 {
    if params.rank_block == 512u {
        return rank512_before(i);
    }
    return rank2048_before(i);
}
