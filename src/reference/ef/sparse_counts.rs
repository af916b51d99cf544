//! `ef/sparse_counts`

use super::{Entries, GROUP, SPARSE_SPAN};
use crate::reference::{Call, Fault};

/// For each group the number of its entries if their positions span 4096 or more, else 0.
pub(in crate::reference) fn sparse_counts(call: &Call<'_>) -> Result<(), Fault> {
    let (entries, counts) = (Entries::of(call)?, call.port("counts")?);
    for group in 0..entries.groups() {
        let (first, end) = (GROUP * group, entries.count().min(GROUP * (group + 1)));
        let span = entries.position(end - 1)?.wrapping_sub(entries.position(first)?);
        counts.set(group, if span >= SPARSE_SPAN { (end - first) as u32 } else { 0 })?;
    }
    Ok(())
}
