//! `order/merge_path`

use std::cmp::Ordering;

use crate::reference::keys::{Comparer, Comparison};
use crate::reference::{Call, Fault, Port};

/// Records merged from one diagonal on.
const RUN_RECORDS: u32 = 8;

/// All records in the order of their keys, on equal keys the older one first.
pub(in crate::reference) fn merge_path(call: &Call<'_>) -> Result<(), Fault> {
    Inputs::new(call, call.number("older_records")? as u32, None)?.merge(&call.port("order")?)
}

/// The older records of a list and all newer ones in the order of their keys, and how many they are.
pub(in crate::reference) fn merge_live(call: &Call<'_>) -> Result<(), Fault> {
    let older = call.number("older_records")?.saturating_sub(call.carried("n_collisions")?) as u32;
    let inputs = Inputs::new(call, older, Some(call.port("live")?))?;
    inputs.merge(&call.port("refs")?)?;
    call.port("total")?.set(0, inputs.older_records + inputs.newer_records)
}

/// Both inputs, whose records are counted apart.
///
/// How the order is found shows only where inputs do not ascend: each run of records starts where the search along its
/// diagonal ends, and what keys are known to share is not compared again.
struct Inputs<'a> {
    keys: Comparer<'a>,
    /// The older records that are merged, where they are not all.
    live: Option<Port<'a>>,
    /// How many they are.
    older_records: u32,
    newer_records: u32,
    first_newer: u32,
}

impl<'a> Inputs<'a> {
    fn new(call: &Call<'a>, older_records: u32, live: Option<Port<'a>>) -> Result<Self, Fault> {
        let (records, first_newer) = (call.number("records")? as u32, call.number("older_records")? as u32);
        let newer_records = records.saturating_sub(first_newer);
        Ok(Inputs { keys: Comparer::new(call)?, live, older_records, newer_records, first_newer })
    }

    fn merge(&self, order: &Port<'_>) -> Result<(), Fault> {
        let records = self.older_records + self.newer_records;
        for begin in (0..records).step_by(RUN_RECORDS as usize) {
            let mut a = self.split(begin)?;
            let mut b = begin - a;
            let mut known = 0;
            for i in begin..records.min(begin + RUN_RECORDS) {
                let mut takes_older = b >= self.newer_records;
                if !takes_older && a < self.older_records {
                    let found = self.compare(a, b, known)?;
                    (takes_older, known) = (found.order != Ordering::Greater, found.shared_bits);
                }
                let record = if takes_older { self.older(a)? } else { self.first_newer + b };
                order.set(u64::from(i), record)?;
                (a, b) = (a + u32::from(takes_older), b + u32::from(!takes_older));
                if known > 0 {
                    known = known.min(if takes_older {
                        self.older_inherited(a)?
                    } else {
                        self.inherited(self.first_newer + b)?
                    });
                }
            }
        }
        Ok(())
    }

    /// The older record at `a` of those that are merged.
    fn older(&self, a: u32) -> Result<u32, Fault> {
        self.live.map_or(Ok(a), |live| live.get(u64::from(a)))
    }

    /// Bits that the older record at `a`, if there is one, is known to share with the one before it of those that are merged.
    fn older_inherited(&self, a: u32) -> Result<u32, Fault> {
        if a >= self.older_records || self.older(a - 1)?.wrapping_add(1) != self.older(a)? {
            return Ok(0);
        }
        self.inherited(self.older(a)?)
    }

    /// Bits that a record, if there is one, is known to share with the one before it in its input.
    fn inherited(&self, record: u32) -> Result<u32, Fault> {
        match record < self.first_newer + self.newer_records {
            true => self.keys.inherited(record),
            false => Ok(0),
        }
    }

    fn compare(&self, a: u32, b: u32, known: u32) -> Result<Comparison, Fault> {
        self.keys.compare_order(self.older(a)?, self.first_newer + b, known)
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
