//! `order/merge_path`

use std::cmp::Ordering;

use crate::reference::keys::{Comparer, Comparison};
use crate::reference::{Call, Fault};

/// Records merged from one diagonal on.
const RUN_RECORDS: u32 = 8;

/// All records in the order of their keys, on equal keys the older one first.
///
/// How it is found shows only where inputs do not ascend: each run of records starts where the search along its diagonal
/// ends, and what keys are known to share is not compared again.
pub(in crate::reference) fn merge_path(call: &Call<'_>) -> Result<(), Fault> {
    let inputs = Inputs::new(call)?;
    let order = call.port("order")?;
    let records = call.number("records")? as u32;
    for begin in (0..records).step_by(RUN_RECORDS as usize) {
        let mut a = inputs.split(begin)?;
        let mut b = begin - a;
        let mut known = 0;
        for i in begin..records.min(begin + RUN_RECORDS) {
            let mut takes_older = b >= inputs.newer_records;
            if !takes_older && a < inputs.older_records {
                let found = inputs.compare(a, b, known)?;
                (takes_older, known) = (found.order != Ordering::Greater, found.shared_bits);
            }
            let record = if takes_older { a } else { inputs.older_records + b };
            order.set(u64::from(i), record)?;
            (a, b) = (a + u32::from(takes_older), b + u32::from(!takes_older));
            if known > 0 && record + 1 < records {
                known = known.min(inputs.keys.inherited(record + 1)?);
            }
        }
    }
    Ok(())
}

/// Both inputs, whose records are counted apart.
struct Inputs<'a> {
    keys: Comparer<'a>,
    older_records: u32,
    newer_records: u32,
}

impl<'a> Inputs<'a> {
    fn new(call: &Call<'a>) -> Result<Self, Fault> {
        let (records, older_records) = (call.number("records")? as u32, call.number("older_records")? as u32);
        let newer_records = records.saturating_sub(older_records);
        Ok(Inputs { keys: Comparer::new(call)?, older_records, newer_records })
    }

    fn compare(&self, a: u32, b: u32, known: u32) -> Result<Comparison, Fault> {
        self.keys.compare_order(a, self.older_records + b, known)
    }

    /// How many older records are among the first `diagonal` of all.
    fn split(&self, diagonal: u32) -> Result<u32, Fault> {
        let mut low = diagonal.saturating_sub(self.newer_records);
        let mut high = diagonal.min(self.older_records);
        let (mut low_shared, mut high_shared) = (0, 0);
        while low < high {
            let middle = low + (high - low) / 2;
            let found = self.compare(middle, diagonal - 1 - middle, low_shared.min(high_shared))?;
            if found.order == Ordering::Greater {
                (high, high_shared) = (middle, found.shared_bits);
            } else {
                (low, low_shared) = (middle + 1, found.shared_bits);
            }
        }
        Ok(low)
    }
}
