//! `rank/rank512`

use super::{BLOCK_BITS, PAIR_BITS, is_set};
use crate::reference::{Call, Fault};

/// For each block of 512 bits the ones in it, and the ones before each of its seven later pairs of words.
pub(in crate::reference) fn rank512(call: &Call<'_>) -> Result<(), Fault> {
    let (bitmap, counts, inner) = (call.port("bitmap")?, call.port("counts")?, call.port("inner")?);
    let bits = call.number("bits")?;
    for block in 0..bits.div_ceil(BLOCK_BITS) {
        let (mut count, mut fields) = (0u64, 0u64);
        for bit in 0..BLOCK_BITS {
            if bit % PAIR_BITS == 0 && bit > 0 {
                fields |= count << (9 * (bit / PAIR_BITS - 1));
            }
            let i = BLOCK_BITS * block + bit;
            count += u64::from(i < bits && is_set(&bitmap, i)?);
        }
        counts.set(block, count as u32)?;
        inner.set_lanes(block, [fields as u32, (fields >> 32) as u32])?;
    }
    Ok(())
}
