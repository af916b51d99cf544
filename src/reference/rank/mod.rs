//! Ranks in bitmaps: how many ones stand before a bit ("rank9" of Vigna, "Broadword implementation of rank/select
//! queries", 2008). Bit i is bit i mod 32 of word i / 32.

mod groups;
mod rank512;

pub(super) use groups::{checkpoints, classes_of_bits, classes_of_bytes, classes_of_origins};
pub(super) use rank512::rank512;

use super::{Fault, Port};

/// Bits in a block, and in each of its eight pairs of words.
const BLOCK_BITS: u64 = 512;
const PAIR_BITS: u64 = 64;

/// Bit `i` of a bitmap.
pub(super) fn is_set(bitmap: &Port<'_>, i: u64) -> Result<bool, Fault> {
    Ok(bitmap.get(i / 32)? >> (i % 32) & 1 == 1)
}

/// Ones before bit `i` of a bitmap, from the ones before each block, `outer`, and before each pair of it, `inner`.
pub(super) fn rank_before(
    bitmap: &Port<'_>,
    outer: &Port<'_>,
    inner: &Port<'_>,
    i: u64,
) -> Result<u32, Fault> {
    let [low, high] = inner.get_lanes::<2>(i / BLOCK_BITS)?;
    let fields = u64::from(high) << 32 | u64::from(low);
    let before_pair = match i / PAIR_BITS % 8 {
        0 => 0,
        pair => fields >> (9 * (pair - 1)) & 511,
    };
    let mut rank = outer.get(i / BLOCK_BITS)?.wrapping_add(before_pair as u32);
    for bit in i - i % PAIR_BITS..i {
        rank = rank.wrapping_add(u32::from(is_set(bitmap, bit)?));
    }
    Ok(rank)
}
