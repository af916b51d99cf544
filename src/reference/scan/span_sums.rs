//! `scan/span_sums`

use super::{span_tiles, tile_items};
use crate::reference::{Call, Fault};

/// The sum of each span of tiles but the last.
pub(in crate::reference) fn span_sums(call: &Call<'_>) -> Result<(), Fault> {
    let (tiles, spans) = (call.port("tiles")?, call.port("spans")?);
    let span_tiles = span_tiles(call)?;
    let tile_count = call.carried("n_items")?.div_ceil(tile_items(call)?);
    for span in 0..tile_count.div_ceil(span_tiles).max(1) - 1 {
        let mut sum = 0u32;
        for tile in span * span_tiles..(span + 1) * span_tiles {
            sum = sum.wrapping_add(tiles.get(tile)?);
        }
        spans.set(span, sum)?;
    }
    Ok(())
}
