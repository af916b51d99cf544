//! `scan/direct_bases` and `scan/apply_direct`

use super::tile_items;
use crate::reference::{Call, Fault};

/// The sum of all tiles before each tile, in place of its own, where there are more than DIRECT.
pub(in crate::reference) fn direct_bases(call: &Call<'_>) -> Result<(), Fault> {
    let sums = call.port("sums")?;
    let tiles = call.carried("n_items")?.div_ceil(tile_items(call)?);
    if tiles <= call.number("DIRECT")? {
        return Ok(());
    }
    let mut base = 0u32;
    for tile in 0..tiles {
        let sum = sums.get(tile)?;
        sums.set(tile, base)?;
        base = base.wrapping_add(sum);
    }
    Ok(())
}

/// The sum of all items before each item, and of all items.
pub(in crate::reference) fn apply_direct(call: &Call<'_>) -> Result<(), Fault> {
    let (items, tile_sums, sums) = (call.port("items")?, call.port("tile_sums")?, call.port("sums")?);
    let (n, tile_items, direct) = (call.carried("n_items")?, tile_items(call)?, call.number("DIRECT")?);
    let is_direct = n.div_ceil(tile_items) <= direct;
    let (mut sum, mut before_tile) = (0u32, 0u32);
    for i in 0..n {
        if i % tile_items == 0 {
            let of_tile = tile_sums.get(i / tile_items)?;
            sum = if is_direct { before_tile } else { of_tile };
            before_tile = before_tile.wrapping_add(of_tile);
        }
        sums.set(i, sum)?;
        sum = sum.wrapping_add(items.get(i)?);
    }
    call.port("total")?.set(0, sum)
}
