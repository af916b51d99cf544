// The class of a group of a tile that is a string of bits: how many of the group's K are set. The kernel declares tile_word.

fn class_of(group: u32) -> u32 {
    let at = K * group;
    let shift = at % 32u;
    var items = tile_word(at / 32u) >> shift;
    if shift + K > 32u {
        items |= tile_word(at / 32u + 1u) << (32u - shift);
    }
    return countOneBits(items & ((1u << K) - 1u));
}
