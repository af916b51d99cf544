//! `size/widths`, and `size/widths_bytes` in the byte profile

use crate::reference::{Call, Fault};

/// The least and the greatest length of the surviving values, and the length of the last key.
pub(in crate::reference) fn widths(call: &Call<'_>) -> Result<(), Fault> {
    widths_in(call, 1)
}

/// The same in bytes.
pub(in crate::reference) fn widths_bytes(call: &Call<'_>) -> Result<(), Fault> {
    widths_in(call, 8)
}

fn widths_in(call: &Call<'_>, unit: u32) -> Result<(), Fault> {
    let (refs, key_bits, value_bits) = (call.port("refs")?, call.port("key_bits")?, call.port("value_bits")?);
    let extremes = call.port("extremes")?;
    let (mut least, mut least_complement) = (extremes.get(0)?, extremes.get(1)?);
    let mut last_key_bits = 0;
    for i in 0..call.carried("n_survivors")? {
        let record = u64::from(refs.get(i)?);
        let width = value_bits.get(record)? / unit;
        least = least.min(width);
        least_complement = least_complement.min(!width);
        last_key_bits = key_bits.get(record)?;
    }
    extremes.set(0, least)?;
    extremes.set(1, least_complement)?;
    call.port("last_key_bits")?.set(0, last_key_bits)
}
