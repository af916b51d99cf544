//! `rank/finish`

use crate::reference::{Call, Fault};

/// Sets the first word of each block of a rank directory to the ones before the block.
pub(in crate::reference) fn finish(call: &Call<'_>) -> Result<(), Fault> {
    let (bases, directory) = (call.port("bases")?, call.port("directory")?);
    let block_words = call.number("block_words")?;
    for block in 0..call.number("blocks")? {
        directory.set(block_words * block, bases.get(block)?)?;
    }
    Ok(())
}
