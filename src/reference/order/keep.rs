//! `order/keep`

use std::cmp::Ordering;

use crate::reference::keys::Comparer;
use crate::reference::{Call, Fault};

/// Whether a record in key order survives: all do but an older one with a newer one of the same key behind it.
pub(in crate::reference) fn keep(call: &Call<'_>) -> Result<(), Fault> {
    let (keys, order, keep) = (Comparer::new(call)?, call.port("order")?, call.port("keep")?);
    let (records, older_records) = (call.number("records")?, call.number("older_records")? as u32);
    for i in 0..records {
        let record = order.get(i)?;
        let mut superseded = false;
        if record < older_records && i + 1 < records {
            let next = order.get(i + 1)?;
            superseded =
                next >= older_records && keys.compare_order(record, next, 0)?.order == Ordering::Equal;
        }
        keep.set(i, u32::from(!superseded))?;
    }
    Ok(())
}
