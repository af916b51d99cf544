//! `scan/tile_bases`

use super::tile_items;
use crate::reference::{Call, Fault};

/// The sum of all tiles before each tile, and of all tiles.
pub(in crate::reference) fn tile_bases(call: &Call<'_>) -> Result<(), Fault> {
    let (sums, bases) = (call.port("sums")?, call.port("bases")?);
    let mut base = 0u32;
    for tile in 0..call.carried("n_items")?.div_ceil(tile_items(call)?) {
        bases.set(tile, base)?;
        base = base.wrapping_add(sums.get(tile)?);
    }
    call.port("total")?.set(0, base)
}
