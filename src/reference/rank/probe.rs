//! `rank/probe`

use super::rank_before;
use crate::reference::{Call, Fault};

/// The ones before each of a list of positions; all of them from the end on.
pub(in crate::reference) fn probe(call: &Call<'_>) -> Result<(), Fault> {
    let (bitmap, directory) = (call.port("bitmap")?, call.port("directory")?);
    let (positions, answers) = (call.port("positions")?, call.port("answers")?);
    let (bits, rank_block) = (call.number("bits")?, call.number("rank_block")?);
    for query in 0..call.number("queries")? {
        let position = u64::from(positions.get(query)?);
        let answer = if position < bits {
            rank_before(&bitmap, &directory, rank_block, position)?
        } else {
            call.port("total")?.get(0)?
        };
        answers.set(query, answer)?;
    }
    Ok(())
}
