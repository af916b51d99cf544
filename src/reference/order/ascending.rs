//! `order/ascending`

use std::cmp::Ordering;

use crate::reference::keys::Comparer;
use crate::reference::{Call, Fault};

/// Records in a block.
const BLOCK_RECORDS: u64 = 15;

/// Codes of the status word.
const RETAINS_TOO_MUCH: u32 = 4;
const NOT_ABOVE: u32 = 11;

/// Refuses an input whose keys do not strictly ascend or retain more than there is.
pub(in crate::reference) fn ascending(call: &Call<'_>) -> Result<(), Fault> {
    let (keys, status) = (Comparer::new(call)?, call.port("status")?);
    let first = call.number("first")? as u32;
    let mut worst = status.get(0)?;
    for ordinal in 0..call.number("n")? {
        let record = first + ordinal as u32;
        let known = keys.inherited(record)?;
        let most = if ordinal == 0 { 0 } else { keys.key_bits(record - 1)? };
        let code = if known > most {
            RETAINS_TOO_MUCH
        } else if ordinal > 0 && keys.compare_order(record - 1, record, known)?.order != Ordering::Less {
            NOT_ABOVE
        } else {
            continue;
        };
        worst = worst.min(((ordinal / BLOCK_RECORDS) as u32) << 7 | code);
    }
    status.set(0, worst)
}
