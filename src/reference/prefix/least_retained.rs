//! `prefix/least_retained`

use crate::reference::{Call, Fault};

/// The least retained length of all records but the first of each input.
pub(in crate::reference) fn least_retained(call: &Call<'_>) -> Result<(), Fault> {
    let (retained, least) = (call.port("retained")?, call.port("least")?);
    let older_records = call.number("older_records")?;
    for record in (1..call.number("records")?).filter(|&record| record != older_records) {
        least.set(0, least.get(0)?.min(retained.get(record)?))?;
    }
    Ok(())
}
