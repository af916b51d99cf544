//! `collision/compact_older`

use crate::reference::rank::is_set;
use crate::reference::{Call, Fault};

/// The older records that are not marked, in their order.
pub(in crate::reference) fn compact_older(call: &Call<'_>) -> Result<(), Fault> {
    let (bitmap, live) = (call.port("bitmap")?, call.port("live")?);
    let mut place = 0;
    for record in 0..call.number("older_records")? {
        if !is_set(&bitmap, record)? {
            live.set(place, record as u32)?;
            place += 1;
        }
    }
    Ok(())
}
