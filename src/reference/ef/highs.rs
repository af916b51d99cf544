//! `ef/highs`

use super::{Entries, set_bit};
use crate::reference::{Call, Fault};

/// A one at the position of each entry.
pub(in crate::reference) fn highs(call: &Call<'_>) -> Result<(), Fault> {
    let (entries, highs) = (Entries::of(call)?, call.port("highs")?);
    (0..u64::from(entries.layout.high_words)).try_for_each(|word| highs.set(word, 0))?;
    (0..entries.count()).try_for_each(|j| set_bit(&highs, u64::from(entries.position(j)?)))
}
