//! `rank/rank512_count` and `rank/rank2048_count`

use super::is_set;
use crate::reference::{Call, Fault, Port};

/// For each block of 512 bits the ones in it, and the ones before each of its seven later pairs of words.
pub(in crate::reference) fn rank512_count(call: &Call<'_>) -> Result<(), Fault> {
    let (bitmap, counts, directory) = (call.port("bitmap")?, call.port("counts")?, call.port("directory")?);
    let bits = call.number("bits")?;
    for block in 0..bits.div_ceil(512) {
        let (mut count, mut fields) = (0, 0);
        for pair in 0..8 {
            if pair > 0 {
                fields |= u64::from(count) << (9 * (pair - 1));
            }
            count += ones(&bitmap, bits, 512 * block + 64 * pair, 64)?;
        }
        counts.set(block, count)?;
        for (word, content) in (3 * block..).zip([0, fields as u32, (fields >> 32) as u32]) {
            directory.set(word, content)?;
        }
    }
    Ok(())
}

/// For each block of 2,048 bits the ones in it, and the ones in each of its first three runs of 512.
pub(in crate::reference) fn rank2048_count(call: &Call<'_>) -> Result<(), Fault> {
    let (bitmap, counts, directory) = (call.port("bitmap")?, call.port("counts")?, call.port("directory")?);
    let bits = call.number("bits")?;
    for block in 0..bits.div_ceil(2048) {
        let mut runs = [0; 4];
        for (first, ones_in_run) in (2048 * block..).step_by(512).zip(&mut runs) {
            *ones_in_run = ones(&bitmap, bits, first, 512)?;
        }
        counts.set(block, runs.iter().sum())?;
        directory.set(2 * block, 0)?;
        directory.set(2 * block + 1, runs[0] | runs[1] << 11 | runs[2] << 22)?;
    }
    Ok(())
}

/// Ones among `n` bits from bit `first` on. Bits past the last do not count.
fn ones(bitmap: &Port<'_>, bits: u64, first: u64, n: u64) -> Result<u32, Fault> {
    let mut ones = 0;
    for i in first..bits.min(first + n) {
        ones += u32::from(is_set(bitmap, i)?);
    }
    Ok(ones)
}
