//! `roof/`

use super::{Call, Fault};

/// Every word of the source, and its last one by itself.
pub(super) fn copy(call: &Call<'_>) -> Result<(), Fault> {
    let (source, target) = (call.port("source")?, call.port("target_words")?);
    let words = 4 * call.number("n")?;
    for i in 0..words {
        target.set(i, source.get(i)?)?;
    }
    match words {
        0 => Ok(()),
        words => call.port("last")?.set(0, source.get(words - 1)?),
    }
}
