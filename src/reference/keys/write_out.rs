//! `keys/write_out`

use super::{Keys, Run};
use crate::reference::{Call, Fault};

/// All keys in full, each from a word of its own on, zeros behind its end.
pub(in crate::reference) fn write_out(call: &Call<'_>) -> Result<(), Fault> {
    let (keys, key_starts, arena) = (Keys::in_files(call)?, call.port("key_starts")?, call.port("arena")?);
    for record in 0..call.number("records")? {
        let start = u64::from(key_starts.get(record)?);
        let (record, mut run) = (record as u32, Run::default());
        let key_bits = keys.key_bits(record)?;
        for (word, at) in (start..).zip((0..key_bits).step_by(32)) {
            let held = (key_bits - at).min(32);
            let (mut bits, mut have) = (0, 0);
            while have < held {
                if run.bits == 0 {
                    run = keys.run(record, at + have)?;
                }
                let taken = run.bits.min(held - have);
                let mask = !(u64::from(u32::MAX) >> taken) as u32;
                bits |= (keys.word(run)? & mask) >> have;
                (run, have) = (run.after(taken), have + taken);
            }
            arena.set(word, bits)?;
        }
    }
    Ok(())
}
