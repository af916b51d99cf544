//! `order/merge_path`

use std::cmp::Ordering;

use crate::reference::keys::Comparer;
use crate::reference::{Call, Fault};

/// Records merged from one diagonal on.
const RUN_RECORDS: u32 = 8;

/// All records in the order of their keys, on equal keys the older one first.
///
/// The search along diagonals shows only where inputs do not ascend: each run of records starts where its search ends.
pub(in crate::reference) fn merge_path(call: &Call<'_>) -> Result<(), Fault> {
    let (keys, order) = (Comparer::new(call)?, call.port("order")?);
    let (records, older_records) = (call.number("records")? as u32, call.number("older_records")? as u32);
    let newer_records = records - older_records.min(records);
    let older_first = |a, b| Ok(keys.compare(a, older_records + b, 0)?.order != Ordering::Greater);
    for begin in (0..records).step_by(RUN_RECORDS as usize) {
        let mut a = split(begin, older_records, newer_records, older_first)?;
        let mut b = begin - a;
        for i in begin..records.min(begin + RUN_RECORDS) {
            let takes_older = b >= newer_records || (a < older_records && older_first(a, b)?);
            order.set(u64::from(i), if takes_older { a } else { older_records + b })?;
            a += u32::from(takes_older);
            b += u32::from(!takes_older);
        }
    }
    Ok(())
}

/// How many older records are among the first `diagonal` of all.
fn split(
    diagonal: u32,
    older_records: u32,
    newer_records: u32,
    older_first: impl Fn(u32, u32) -> Result<bool, Fault>,
) -> Result<u32, Fault> {
    let (mut low, mut high) = (diagonal.saturating_sub(newer_records), diagonal.min(older_records));
    while low < high {
        let middle = low + (high - low) / 2;
        if older_first(middle, diagonal - 1 - middle)? {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Ok(low)
}
