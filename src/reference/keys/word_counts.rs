//! `keys/word_counts`

use crate::reference::{Call, Fault};

/// How many words each key takes in full, and the most that any takes.
pub(in crate::reference) fn word_counts(call: &Call<'_>) -> Result<(), Fault> {
    let (key_bits, words, longest) = (call.port("key_bits")?, call.port("words")?, call.port("longest")?);
    for record in 0..call.number("records")? {
        let count = key_bits.get(record)?.div_ceil(32);
        words.set(record, count)?;
        longest.set(0, longest.get(0)?.max(count))?;
    }
    Ok(())
}
