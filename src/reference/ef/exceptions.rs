//! `ef/exceptions`

use super::{Entries, GROUP};
use crate::reference::{Call, Fault};

/// The positions of all entries of sparse groups, in two words each.
pub(in crate::reference) fn exceptions(call: &Call<'_>) -> Result<(), Fault> {
    let entries = Entries::of(call)?;
    let (counts, begins, positions) = (call.port("counts")?, call.port("begins")?, call.port("positions")?);
    for j in 0..entries.count() {
        let group = j / GROUP;
        if counts.get(group)? > 0 {
            let at = u64::from(begins.get(group)?) + j % GROUP;
            positions.set(2 * at, entries.position(j)?)?;
            positions.set(2 * at + 1, 0)?;
        }
    }
    Ok(())
}
