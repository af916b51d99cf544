//! Keys of both inputs, read from where their bits lie: in the payloads of two files, or whole in an arena.
//!
//! A record of a file holds the bits of its key from the length it retains on; those before it takes over from the key before it.
//! The owner of bit p of a key is the last record up to it that retains at most p bits. A heap of minima over retained
//! lengths finds it: up from the record to the first left neighbour that has such a record below it, then down to the last.

mod compare;
mod word_counts;
mod write_out;

pub(super) use compare::{Comparer, Comparison};
pub(super) use word_counts::word_counts;
pub(super) use write_out::write_out;

use super::payload::{arena_window, window};
use super::{Call, Fault, Port};

/// A run of bits of a key that lie next to each other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    /// What its position counts from.
    origin: Origin,
    /// Where the run begins, in bits.
    at: u32,
    /// Its length.
    pub(super) bits: u32,
}

/// What positions of bits count from.
#[derive(Clone, Copy, Debug, Default)]
enum Origin {
    /// The payload of the older file.
    #[default]
    Older,
    /// The payload of the newer file.
    Newer,
    /// A word of the arena.
    Arena(u32),
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
    key_bits: Port<'a>,
    retained: Option<Port<'a>>,
    place: Place<'a>,
}

/// Where keys lie.
#[derive(Clone, Copy, Debug)]
enum Place<'a> {
    Files(Files<'a>),
    Arena { arena: Port<'a>, key_starts: Port<'a> },
}

impl<'a> Keys<'a> {
    /// Keys of a call: in its arena if it has one, else in its files.
    pub(super) fn new(call: &Call<'a>) -> Result<Self, Fault> {
        let place = match call.port("arena") {
            Ok(arena) => Place::Arena { arena, key_starts: call.port("key_starts")? },
            Err(_) => Place::Files(Files::new(call)?),
        };
        Ok(Keys { key_bits: call.port("key_bits")?, retained: call.port("retained").ok(), place })
    }

    /// Keys of a call in its files.
    pub(super) fn in_files(call: &Call<'a>) -> Result<Self, Fault> {
        let place = Place::Files(Files::new(call)?);
        Ok(Keys { key_bits: call.port("key_bits")?, retained: call.port("retained").ok(), place })
    }

    /// Length of a record's key, in bits.
    pub(super) fn key_bits(&self, record: u32) -> Result<u32, Fault> {
        self.key_bits.get(u64::from(record))
    }

    /// Bits that a key is known to share with the one before it in its input, as far as the call says.
    pub(super) fn inherited(&self, record: u32) -> Result<u32, Fault> {
        self.retained.map_or(Ok(0), |retained| retained.get(u64::from(record)))
    }

    /// The bits of a record's key from `bit` on that lie next to each other. `bit` is inside the key.
    pub(super) fn run(&self, record: u32, bit: u32) -> Result<Run, Fault> {
        let key_bits = self.key_bits(record)?;
        match &self.place {
            Place::Files(files) => files.run(record, bit, key_bits),
            Place::Arena { key_starts, .. } => {
                let origin = Origin::Arena(key_starts.get(u64::from(record))?);
                Ok(Run { origin, at: bit, bits: key_bits - bit })
            }
        }
    }

    /// 32 bits from the beginning of a run on; those past its end are of no meaning.
    pub(super) fn word(&self, run: Run) -> Result<u32, Fault> {
        match (&self.place, run.origin) {
            (Place::Files(files), Origin::Older) => window(&files.older, run.at),
            (Place::Files(files), _) => window(&files.newer, run.at),
            (Place::Arena { arena, .. }, Origin::Arena(start)) => arena_window(arena, start, run.at),
            (Place::Arena { .. }, _) => Ok(0),
        }
    }
}

/// Keys in the payloads of two files.
#[derive(Clone, Copy, Debug)]
struct Files<'a> {
    older: Port<'a>,
    newer: Port<'a>,
    literal_starts: Port<'a>,
    retained: Port<'a>,
    tree: Port<'a>,
    older_records: u32,
    leaves: u32,
}

impl<'a> Files<'a> {
    fn new(call: &Call<'a>) -> Result<Self, Fault> {
        Ok(Files {
            older: call.port("older")?,
            newer: call.port("newer")?,
            literal_starts: call.port("literal_starts")?,
            retained: call.port("retained")?,
            tree: call.port("tree")?,
            older_records: call.number("older_records")? as u32,
            leaves: (call.number("records")? as u32).next_power_of_two(),
        })
    }

    /// The bits of a key of `key_bits` bits from `bit` on that have one owner.
    fn run(&self, record: u32, bit: u32, key_bits: u32) -> Result<Run, Fault> {
        let (owner, end) = self.owner(record, bit)?;
        let retained = self.retained.get(u64::from(owner))?;
        let start = self.literal_starts.get(u64::from(owner))?;
        Ok(Run {
            origin: if owner >= self.older_records { Origin::Newer } else { Origin::Older },
            at: start.wrapping_add(bit.wrapping_sub(retained)),
            bits: end.min(key_bits) - bit,
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
}
