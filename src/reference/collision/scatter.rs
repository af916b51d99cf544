//! `collision/scatter`

use std::cmp::Ordering;

use crate::reference::keys::Comparer;
use crate::reference::rank::{is_set, rank_before};
use crate::reference::{Call, Fault};

/// Puts every surviving record where it belongs, and counts them.
pub(in crate::reference) fn scatter(call: &Call<'_>) -> Result<(), Fault> {
    let (keys, bitmap, below) = (Comparer::new(call)?, call.port("bitmap")?, call.port("below")?);
    let (directory, refs, rank_block) =
        (call.port("directory")?, call.port("refs")?, call.number("rank_block")?);
    let (records, older_records) = (call.number("records")? as u32, call.number("older_records")? as u32);
    let collisions = call.carried("n_collisions")? as u32;
    let survivors = records.saturating_sub(collisions);
    let marked_before = |i| match i < older_records {
        true => rank_before(&bitmap, &directory, rank_block, u64::from(i)),
        false => Ok(collisions),
    };
    for record in 0..records {
        let (own, other) = if record < older_records {
            if is_set(&bitmap, u64::from(record))? {
                continue;
            }
            (record, newer_below(&keys, record, older_records, records)?)
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

/// How many newer keys are below that of an older record.
fn newer_below(keys: &Comparer<'_>, record: u32, older_records: u32, records: u32) -> Result<u32, Fault> {
    let (mut low, mut high) = (older_records, records);
    let (mut low_shared, mut high_shared) = (0, 0);
    while low < high {
        let middle = low + (high - low) / 2;
        let found = keys.compare_order(middle, record, low_shared.min(high_shared))?;
        if found.order == Ordering::Less {
            (low, low_shared) = (middle + 1, found.shared_bits);
        } else {
            (high, high_shared) = (middle, found.shared_bits);
        }
    }
    Ok(low - older_records)
}
