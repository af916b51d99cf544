//! `ef/sparse`

use super::{Entries, GROUP, SPARSE_SPAN};
use crate::reference::{Call, Fault};

/// For each group the number of its entries if their positions span 4096 or more, else 0, and the sums before each group and in
/// all.
pub(in crate::reference) fn sparse(call: &Call<'_>) -> Result<(), Fault> {
    let entries = Entries::of(call)?;
    let (counts, begins) = (call.port("counts")?, call.port("begins")?);
    let mut before = 0_u32;
    for group in 0..entries.groups() {
        let (first, end) = (GROUP * group, entries.count().min(GROUP * (group + 1)));
        let span = entries.position(end - 1)?.wrapping_sub(entries.position(first)?);
        let count = if span >= SPARSE_SPAN { (end - first) as u32 } else { 0 };
        counts.set(group, count)?;
        begins.set(group, before)?;
        before = before.wrapping_add(count);
    }
    call.port("total")?.set(0, before)
}
