//! `prefix/windows`

use crate::reference::keys::{Keys, Run};
use crate::reference::{Call, Fault};

/// Bits in a window.
const WINDOW_BITS: u32 = 64;

/// The eight bytes of each key after the common prefix, zeros past its end.
pub(in crate::reference) fn windows(call: &Call<'_>) -> Result<(), Fault> {
    let (keys, windows) = (Keys::new(call)?, call.port("windows")?);
    let start = call.port("prefix")?.get(0)?.wrapping_mul(8);
    for record in 0..call.number("records")? {
        let window = window_at(&keys, record as u32, start)?;
        windows.set_lanes(record, [(window >> 32) as u32, window as u32])?;
    }
    Ok(())
}

fn window_at(keys: &Keys<'_>, record: u32, start: u32) -> Result<u64, Fault> {
    let held = keys.key_bits(record)?.saturating_sub(start).min(WINDOW_BITS);
    let (mut window, mut at, mut run) = (0, 0, Run::default());
    while at < held {
        if run.bits == 0 {
            run = keys.run(record, start + at)?;
        }
        let bits = run.bits.min(held - at).min(32);
        let top = u64::from(keys.word(run)?) >> (32 - bits);
        window |= top << (WINDOW_BITS - at - bits);
        (run, at) = (run.after(bits), at + bits);
    }
    Ok(window)
}
