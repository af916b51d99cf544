//! `scan/apply`

use super::tile_items;
use crate::reference::{Call, Fault};

/// The sum of all items before each item.
pub(in crate::reference) fn apply(call: &Call<'_>) -> Result<(), Fault> {
    let (items, bases, sums) = (call.port("items")?, call.port("bases")?, call.port("sums")?);
    let tile_items = tile_items(call)?;
    let mut sum = 0u32;
    for i in 0..call.carried("n_items")? {
        if i % tile_items == 0 {
            sum = bases.get(i / tile_items)?;
        }
        sums.set(i, sum)?;
        sum = sum.wrapping_add(items.get(i)?);
    }
    Ok(())
}
