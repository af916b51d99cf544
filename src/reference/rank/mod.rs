//! Ranks in bitmaps: how many ones stand before a bit. Bit i is bit i mod 32 of word i / 32.
//!
//! Rank512 ("rank9" of Vigna, "Broadword implementation of rank/select queries", 2008) has three words for a block of
//! 512 bits: the ones before it, then seven 9-bit counts of the ones before its later pairs of words. Rank2048 has two for
//! a block of 2,048: the ones before it, then three 11-bit counts of the ones in its first three runs of 512.

mod count;
mod finish;
mod groups;
mod probe;

pub(super) use count::{rank512_count, rank2048_count};
pub(super) use finish::finish;
pub(super) use groups::{checkpoints, classes_of_bits, classes_of_bytes, classes_of_origins};
pub(super) use probe::probe;

use super::{Fault, Port};

/// Bit `i` of a bitmap.
pub(super) fn is_set(bitmap: &Port<'_>, i: u64) -> Result<bool, Fault> {
    Ok(bitmap.get(i / 32)? >> (i % 32) & 1 == 1)
}

/// Ones before bit `i` of a bitmap, by its directory with blocks of `rank_block` bits: 512 or 2048.
pub(super) fn rank_before(
    bitmap: &Port<'_>,
    directory: &Port<'_>,
    rank_block: u64,
    i: u64,
) -> Result<u32, Fault> {
    let (mut rank, counted_bits) = match rank_block {
        512 => before_pair(directory, i)?,
        _ => before_run(directory, i)?,
    };
    for bit in i - i % counted_bits..i {
        rank = rank.wrapping_add(u32::from(is_set(bitmap, bit)?));
    }
    Ok(rank)
}

/// Ones before the pair of words that holds bit `i`, by a Rank512 directory, and the bits in a pair.
fn before_pair(directory: &Port<'_>, i: u64) -> Result<(u32, u64), Fault> {
    let at = 3 * (i / 512);
    let fields = u64::from(directory.get(at + 2)?) << 32 | u64::from(directory.get(at + 1)?);
    let in_block = match i / 64 % 8 {
        0 => 0,
        pair => fields >> (9 * (pair - 1)) & 511,
    };
    Ok((directory.get(at)?.wrapping_add(in_block as u32), 64))
}

/// Ones before the run that holds bit `i`, by a Rank2048 directory, and the bits in a run.
fn before_run(directory: &Port<'_>, i: u64) -> Result<(u32, u64), Fault> {
    let at = 2 * (i / 2048);
    let runs = directory.get(at + 1)?;
    let in_block: u32 = (0..i / 512 % 4).map(|run| runs >> (11 * run) & 1023).sum();
    Ok((directory.get(at)?.wrapping_add(in_block), 512))
}
