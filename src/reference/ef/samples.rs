//! `ef/samples`

use super::{Entries, GROUP};
use crate::reference::{Call, Fault};

/// For each group the position of its first entry, then where its exceptions begin or all ones, in two words each.
pub(in crate::reference) fn samples(call: &Call<'_>) -> Result<(), Fault> {
    let entries = Entries::of(call)?;
    let (counts, begins, samples) = (call.port("counts")?, call.port("begins")?, call.port("samples")?);
    for group in 0..entries.groups() {
        let exceptions = if counts.get(group)? > 0 { [begins.get(group)?, 0] } else { [u32::MAX; 2] };
        let sample = [entries.position(GROUP * group)?, 0, exceptions[0], exceptions[1]];
        for (element, word) in (4 * group..).zip(sample) {
            samples.set(element, word)?;
        }
    }
    Ok(())
}
