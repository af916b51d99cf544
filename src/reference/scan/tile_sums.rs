//! `scan/tile_sums`

use super::tile_items;
use crate::reference::{Call, Fault};

/// The sum of each tile.
pub(in crate::reference) fn tile_sums(call: &Call<'_>) -> Result<(), Fault> {
    let (items, sums) = (call.port("items")?, call.port("sums")?);
    let n = call.carried("n_items")?;
    let tile_items = tile_items(call)?;
    for tile in 0..n.div_ceil(tile_items) {
        let mut sum = 0u32;
        for i in tile * tile_items..n.min((tile + 1) * tile_items) {
            sum = sum.wrapping_add(items.get(i)?);
        }
        sums.set(tile, sum)?;
    }
    Ok(())
}
