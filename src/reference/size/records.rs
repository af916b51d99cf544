//! `size/records`

use crate::format::bits::golomb_len;
use crate::reference::keys::Comparer;
use crate::reference::{Call, Fault};

/// Records in a block.
const BLOCK_RECORDS: u64 = 15;

/// For each surviving record the bits its key shares with the surviving key before it, and its length in the output.
///
/// The key before is at or above the predecessor that a record has in its own file, so what the record retains there is
/// known to be shared.
pub(in crate::reference) fn records(call: &Call<'_>) -> Result<(), Fault> {
    let keys = Comparer::new(call)?;
    let (refs, value_bits) = (call.port("refs")?, call.port("value_bits")?);
    let (shared_bits, lengths) = (call.port("shared_bits")?, call.port("lengths")?);
    for i in 0..call.carried("n_survivors")? {
        let record = refs.get(i)?;
        let (mut shared, mut previous_bits) = (0, 0);
        if i > 0 {
            let previous = refs.get(i - 1)?;
            let known = keys.inherited(record)?;
            shared = keys.compare(previous, record, known)?.shared_bits;
            previous_bits = keys.key_bits(previous)?;
        }
        let control = if i % BLOCK_RECORDS == 0 { shared.wrapping_add(1) } else { previous_bits - shared };
        let suffix = keys.key_bits(record)? - shared;
        let codes = golomb_len(u64::from(control)) + golomb_len(u64::from(suffix));
        let length = (codes as u32).wrapping_add(suffix).wrapping_add(value_bits.get(u64::from(record))?);
        shared_bits.set(i, shared)?;
        lengths.set(i, length)?;
    }
    Ok(())
}
