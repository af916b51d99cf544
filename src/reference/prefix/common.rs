//! `prefix/common`

use crate::reference::payload::window;
use crate::reference::{Call, Fault};

/// The most bytes that are looked for.
const BYTES_MAX: u32 = 1 << 17;

/// How many whole bytes all keys are sure to share.
pub(in crate::reference) fn common(call: &Call<'_>) -> Result<(), Fault> {
    let (starts, key_bits) = (call.port("literal_starts")?, call.port("key_bits")?);
    let (records, older_records) = (call.number("records")?, call.number("older_records")?);
    let mut bits = call.port("least")?.get(0)?.min(8 * BYTES_MAX);
    for first in [0, older_records].into_iter().filter(|&first| first < records) {
        bits = bits.min(key_bits.get(first)?);
    }
    if records == 0 {
        bits = 0;
    } else if (1..records).contains(&older_records) {
        bits = shared_bits(call, [starts.get(0)?, starts.get(older_records)?], bits)?;
    }
    call.port("prefix")?.set(0, bits / 8)
}

/// How many of `most` bits are the same from one position of the older payload on and another of the newer one.
fn shared_bits(call: &Call<'_>, starts: [u32; 2], most: u32) -> Result<u32, Fault> {
    let files = [call.port("older")?, call.port("newer")?];
    for at in (0..most).step_by(32) {
        let [older, newer] = [0, 1].map(|side| window(&files[side], starts[side].wrapping_add(at)));
        let same = (older? ^ newer?).leading_zeros();
        if same < 32 {
            return Ok(most.min(at + same));
        }
    }
    Ok(most)
}
