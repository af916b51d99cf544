//! `order/compact`

use crate::reference::{Call, Fault};

/// The surviving records in key order.
pub(in crate::reference) fn compact(call: &Call<'_>) -> Result<(), Fault> {
    let (order, positions, refs) = (call.port("order")?, call.port("positions")?, call.port("refs")?);
    let (records, survivors) = (call.number("records")?, call.carried("n_survivors")? as u32);
    for i in 0..records {
        let position = positions.get(i)?;
        let next = if i + 1 < records { positions.get(i + 1)? } else { survivors };
        if position != next && position < survivors {
            refs.set(u64::from(position), order.get(i)?)?;
        }
    }
    Ok(())
}
