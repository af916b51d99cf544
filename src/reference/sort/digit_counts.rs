//! `sort/digit_counts`

use super::{DIGITS, digit_of, tile_keys};
use crate::reference::{Call, Fault};

/// How often each value of the digit occurs in each tile.
pub(in crate::reference) fn digit_counts(call: &Call<'_>) -> Result<(), Fault> {
    let (keys, counts) = (call.port("keys")?, call.port("counts")?);
    let (n, shift, tile_keys) = (call.carried("n_keys")?, call.number("shift")?, tile_keys(call)?);
    let tiles = n.div_ceil(tile_keys);
    for element in 0..DIGITS * tiles {
        counts.set(element, 0)?;
    }
    for i in 0..n {
        let element = digit_of(keys.get(i)?, shift) * tiles + i / tile_keys;
        counts.set(element, counts.get(element)?.wrapping_add(1))?;
    }
    Ok(())
}
