//! `collision/mark`

use std::cmp::Ordering;

use crate::reference::keys::Comparer;
use crate::reference::{Call, Fault};

/// How many older keys are below each newer one, and a mark on those that have an equal.
pub(in crate::reference) fn mark(call: &Call<'_>) -> Result<(), Fault> {
    let (keys, bitmap, below) = (Comparer::new(call)?, call.port("bitmap")?, call.port("below")?);
    let (records, older_records) = (call.number("records")? as u32, call.number("older_records")? as u32);
    for newer in older_records..records {
        // Where inputs do not ascend, what is found depends on the search: the kernel's, which halves.
        let (mut low, mut high) = (0, older_records);
        let (mut low_shared, mut high_shared) = (0, 0);
        while low < high {
            let middle = low + (high - low) / 2;
            let found = keys.compare_order(middle, newer, low_shared.min(high_shared))?;
            match found.order {
                Ordering::Less => (low, low_shared) = (middle + 1, found.shared_bits),
                Ordering::Greater => (high, high_shared) = (middle, found.shared_bits),
                Ordering::Equal => {
                    let word = u64::from(middle / 32);
                    bitmap.set(word, bitmap.get(word)? | 1 << (middle % 32))?;
                    (low, high) = (middle, middle);
                }
            }
        }
        below.set(u64::from(newer - older_records), low)?;
    }
    Ok(())
}
