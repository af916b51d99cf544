//! Keys of both inputs, read from where their bits lie.
//!
//! A record holds the bits of its key from the length it retains on; those before it takes over from the key before it.
//! The owner of bit p of a key is the last record up to it that retains at most p bits. A heap of minima over retained
//! lengths finds it: up from the record to the first left neighbour that has such a record below it, then down to the last.

mod compare;

pub(super) use compare::{Comparer, Comparison};

use super::payload::window;
use super::{Call, Fault, Port};

/// A run of bits of a key that one record holds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    /// Whether the record is one of the newer input.
    newer: bool,
    /// Where the run begins in the payload, in bits.
    at: u32,
    /// Its length.
    pub(super) bits: u32,
}

impl Run {
    /// What is left behind the first `bits` bits.
    pub(super) fn after(self, bits: u32) -> Run {
        Run { at: self.at.wrapping_add(bits), bits: self.bits - bits, ..self }
    }
}

/// The keys of both inputs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keys<'a> {
    older: Port<'a>,
    newer: Port<'a>,
    literal_starts: Port<'a>,
    key_bits: Port<'a>,
    retained: Port<'a>,
    tree: Port<'a>,
    older_records: u32,
    leaves: u32,
}

impl<'a> Keys<'a> {
    /// Keys of a call.
    pub(super) fn new(call: &Call<'a>) -> Result<Self, Fault> {
        Ok(Keys {
            older: call.port("older")?,
            newer: call.port("newer")?,
            literal_starts: call.port("literal_starts")?,
            key_bits: call.port("key_bits")?,
            retained: call.port("retained")?,
            tree: call.port("tree")?,
            older_records: call.number("older_records")? as u32,
            leaves: (call.number("records")? as u32).next_power_of_two(),
        })
    }

    /// Length of a record's key, in bits.
    pub(super) fn key_bits(&self, record: u32) -> Result<u32, Fault> {
        self.key_bits.get(u64::from(record))
    }

    /// The bits of a record's key from `bit` on that have one owner. `bit` is inside the key.
    pub(super) fn run(&self, record: u32, bit: u32) -> Result<Run, Fault> {
        let (owner, end) = self.owner(record, bit)?;
        let retained = self.retained.get(u64::from(owner))?;
        let start = self.literal_starts.get(u64::from(owner))?;
        Ok(Run {
            newer: owner >= self.older_records,
            at: start.wrapping_add(bit.wrapping_sub(retained)),
            bits: end.min(self.key_bits(record)?) - bit,
        })
    }

    /// The owner of a bit, and the first bit after it that has another one.
    fn owner(&self, record: u32, bit: u32) -> Result<(u32, u32), Fault> {
        let mut end = u32::MAX;
        let mut node = self.leaves + record;
        // Up and to the left until a node has the owner below it.
        loop {
            let least = self.tree.get(u64::from(node))?;
            if least <= bit {
                break;
            }
            end = end.min(least);
            while node.is_multiple_of(2) && node > 1 {
                node /= 2;
            }
            if node <= 1 {
                // No input begins with a record that retains nothing.
                return Ok((record, end));
            }
            node -= 1;
        }
        while node < self.leaves {
            node = 2 * node + 1;
            let least = self.tree.get(u64::from(node))?;
            if least > bit {
                end = end.min(least);
                node -= 1;
            }
        }
        Ok((node - self.leaves, end))
    }

    /// 32 bits from the beginning of a run on; those past its end are of no meaning.
    pub(super) fn word(&self, run: Run) -> Result<u32, Fault> {
        let file = if run.newer { &self.newer } else { &self.older };
        window(file, run.at)
    }
}
