//! `size/records`, and `size/records_bytes` in the byte profile

use crate::format::bits::{golomb_len, leb_len};
use crate::format::kv::Profile;
use crate::reference::keys::Comparer;
use crate::reference::{Call, Fault};

/// Records in a block.
const BLOCK_RECORDS: u64 = 15;

/// For each surviving record the bits its key shares with the surviving key before it, and its length in the output.
///
/// The key before is at or above the predecessor that a record has in its own file, so what the record retains there is
/// known to be shared.
pub(in crate::reference) fn records(call: &Call<'_>) -> Result<(), Fault> {
    records_as(call, Profile::Kv03, |_| 0)
}

/// The same in bytes: what is shared is rounded down, and a value's length is counted unless all are equal.
pub(in crate::reference) fn records_bytes(call: &Call<'_>) -> Result<(), Fault> {
    let extremes = call.port("extremes")?;
    let equal = extremes.get(0)? == !extremes.get(1)?;
    records_as(call, Profile::Kv02, |value_bits| if equal { 0 } else { leb_len(u64::from(value_bits / 8)) })
}

fn records_as(call: &Call<'_>, profile: Profile, value_count_len: impl Fn(u32) -> u64) -> Result<(), Fault> {
    let (unit, selector) = (profile.unit().bits() as u32, profile.selector_units() as u32);
    let count_len = match profile {
        Profile::Kv02 => leb_len,
        Profile::Kv03 => golomb_len,
    };
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
        shared -= shared % unit;
        let control = if i % BLOCK_RECORDS == 0 {
            (shared / unit).wrapping_add(selector)
        } else {
            previous_bits.wrapping_sub(shared) / unit
        };
        let suffix = keys.key_bits(record)? - shared;
        let value = value_bits.get(u64::from(record))?;
        let counts =
            count_len(u64::from(control)) + count_len(u64::from(suffix / unit)) + value_count_len(value);
        let length = (counts as u32).wrapping_add(suffix).wrapping_add(value) / unit;
        shared_bits.set(i, shared)?;
        lengths.set(i, length)?;
    }
    Ok(())
}
