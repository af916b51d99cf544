//! `collision/scatter` and `collision/scatter_tiled`

use super::search::Search;
use crate::reference::keys::Comparer;
use crate::reference::rank::{is_set, rank_before};
use crate::reference::{Call, Fault};

/// Puts every surviving record where it belongs, and counts them.
pub(in crate::reference) fn scatter(call: &Call<'_>) -> Result<(), Fault> {
    scatter_by(call, false)
}

/// The same, by a search in tiles.
pub(in crate::reference) fn scatter_tiled(call: &Call<'_>) -> Result<(), Fault> {
    scatter_by(call, true)
}

fn scatter_by(call: &Call<'_>, in_tiles: bool) -> Result<(), Fault> {
    let (bitmap, below) = (call.port("bitmap")?, call.port("below")?);
    let (directory, refs, rank_block) =
        (call.port("directory")?, call.port("refs")?, call.number("rank_block")?);
    let (records, older_records) = (call.number("records")? as u32, call.number("older_records")? as u32);
    let collisions = call.carried("n_collisions")? as u32;
    let survivors = records.saturating_sub(collisions);
    let search =
        Search { keys: Comparer::new(call)?, own: 0..older_records, other: older_records..records, in_tiles };
    let marked_before = |i| match i < older_records {
        true => rank_before(&bitmap, &directory, rank_block, u64::from(i)),
        false => Ok(collisions),
    };
    for record in 0..records {
        let (own, other) = if record < older_records {
            if is_set(&bitmap, u64::from(record))? {
                continue;
            }
            (record, search.find(record)?.at - older_records)
        } else {
            let ordinal = record - older_records;
            (ordinal, below.get(u64::from(ordinal))?)
        };
        let marked = marked_before(if record < older_records { own } else { other })?;
        // Only inputs that do not ascend give a place past the end.
        let place = own.wrapping_add(other).wrapping_sub(marked);
        if place < survivors {
            refs.set(u64::from(place), record)?;
        }
    }
    call.port("total")?.set(0, survivors)
}
