//! `scan/apply`

use super::{span_tiles, tile_items};
use crate::reference::{Call, Fault};

/// The sum of all items before each item, and of all items.
pub(in crate::reference) fn apply(call: &Call<'_>) -> Result<(), Fault> {
    let (items, sums) = (call.port("items")?, call.port("sums")?);
    let (tiles, spans) = (call.port("tiles")?, call.port("spans")?);
    let (tile_items, span_tiles) = (tile_items(call)?, span_tiles(call)?);
    let (mut spans_before, mut base, mut sum) = (0u32, 0u32, 0u32);
    for i in 0..call.carried("n_items")? {
        let tile = i / tile_items;
        if i % tile_items == 0 {
            if tile % span_tiles == 0 {
                if tile > 0 {
                    spans_before = spans_before.wrapping_add(spans.get(tile / span_tiles - 1)?);
                }
                base = spans_before;
            } else {
                base = base.wrapping_add(tiles.get(tile - 1)?);
            }
            sum = base;
        }
        sums.set(i, sum)?;
        sum = sum.wrapping_add(items.get(i)?);
    }
    call.port("total")?.set(0, sum)
}
