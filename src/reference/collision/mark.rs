//! `collision/mark` and `collision/mark_tiled`

use super::search::Search;
use crate::reference::keys::Comparer;
use crate::reference::{Call, Fault};

/// How many older keys are below each newer one, and a mark on those that have an equal.
pub(in crate::reference) fn mark(call: &Call<'_>) -> Result<(), Fault> {
    mark_by(call, false)
}

/// The same, by a search in tiles.
pub(in crate::reference) fn mark_tiled(call: &Call<'_>) -> Result<(), Fault> {
    mark_by(call, true)
}

fn mark_by(call: &Call<'_>, in_tiles: bool) -> Result<(), Fault> {
    let (bitmap, below) = (call.port("bitmap")?, call.port("below")?);
    let (records, older_records) = (call.number("records")? as u32, call.number("older_records")? as u32);
    let search =
        Search { keys: Comparer::new(call)?, own: older_records..records, other: 0..older_records, in_tiles };
    for newer in older_records..records {
        let found = search.find(newer)?;
        if found.equal {
            let word = u64::from(found.at / 32);
            bitmap.set(word, bitmap.get(word)? | 1 << (found.at % 32))?;
        }
        below.set(u64::from(newer - older_records), found.at)?;
    }
    Ok(())
}
