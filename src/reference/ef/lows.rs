//! `ef/lows`

use super::{Entries, set_bit};
use crate::reference::{Call, Fault};

/// Bit `w * j + k` of the lows is bit k of entry j, for k below the low width w.
pub(in crate::reference) fn lows(call: &Call<'_>) -> Result<(), Fault> {
    let (entries, lows) = (Entries::of(call)?, call.port("lows")?);
    (0..u64::from(entries.layout.low_words)).try_for_each(|word| lows.set(word, 0))?;
    let width = u64::from(entries.layout.low_width);
    for j in 0..entries.count() {
        let entry = u64::from(entries.get(j)?);
        for k in (0..width).filter(|k| entry >> k & 1 == 1) {
            set_bit(&lows, width * j + k)?;
        }
    }
    Ok(())
}
