//! Checking a whole file.

use std::fmt;

use crate::format::FormatError;
use crate::format::elias_fano::Shape;

use super::{Cursor, File};

/// A freedom that a valid file took and the canonical file for its rows does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deviation {
    /// Records retain less of their predecessor than they share with it.
    ShortRetention {
        /// How many.
        records: u64,
        /// The first one's ordinal.
        first: u64,
    },
    /// All values have one width and the header does not declare it.
    UndeclaredWidth {
        /// The width, in bits.
        width_bits: u64,
    },
    /// The header declares a width of the values that are not there.
    IdleWidth {
        /// The width, in bits.
        width_bits: u64,
    },
    /// The block offsets are split into low and high bits elsewhere than an encoder splits them.
    OffsetSplit {
        /// Low bits of each offset.
        low_bits: u32,
        /// Low bits that an encoder takes.
        canonical_bits: u32,
    },
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Deviation::ShortRetention { records: 1, first } => {
                write!(f, "record {first} retains less of its predecessor's key than it could")
            }
            Deviation::ShortRetention { records, first } => write!(
                f,
                "{records} records retain less of their predecessor's key than they could, record {first} first"
            ),
            Deviation::UndeclaredWidth { width_bits } => {
                write!(f, "every value takes {width_bits} bits and the header does not declare it")
            }
            Deviation::IdleWidth { width_bits } => {
                write!(f, "there are no values and the header declares {width_bits} bits for each")
            }
            Deviation::OffsetSplit { low_bits, canonical_bits } => write!(
                f,
                "the block offsets have {low_bits} low bits each where an encoder takes {canonical_bits}"
            ),
        }
    }
}

/// What a scan found in a valid file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScanReport {
    /// Number of records.
    pub records: u64,
    /// Number of records without a value.
    pub tombstones: u64,
    /// Length of the longest key, in bytes.
    pub longest_key_bytes: u64,
    /// Ways in which the file differs from the canonical one; none for a file that an encoder or a merge wrote.
    pub deviations: Vec<Deviation>,
}

impl File<'_> {
    /// Reads the whole file and checks everything: body checksum, every record, ascending keys, declared width,
    /// Elias-Fano sections (rebuilt and compared), constant sections, gaps.
    pub fn scan(&self) -> Result<ScanReport, FormatError> {
        let mut cursor = Cursor::new(*self, true);
        let mut report = ScanReport {
            records: self.records(),
            tombstones: 0,
            longest_key_bytes: 0,
            deviations: Vec::new(),
        };
        // What the canonical file would declare: zero without records, else the one width there is.
        let mut width = Some(0);
        while cursor.advance()? {
            let record = cursor.record();
            report.tombstones += u64::from(cursor.is_tombstone());
            report.longest_key_bytes = report.longest_key_bytes.max(record.key_bits / 8);
            if cursor.ordinal() == 0 {
                width = Some(record.value_bits());
            } else if width != Some(record.value_bits()) {
                width = None;
            }
        }
        if let (records @ 1.., first) = cursor.conservative() {
            report.deviations.push(Deviation::ShortRetention { records, first });
        }
        match (width, self.value_width_bits()) {
            (Some(width_bits), None) => report.deviations.push(Deviation::UndeclaredWidth { width_bits }),
            (Some(0), Some(width_bits @ 1..)) => report.deviations.push(Deviation::IdleWidth { width_bits }),
            _ => {}
        }
        let shape = self.directory.offsets;
        let (low_bits, canonical_bits) =
            (shape.low_width, Shape::canonical(shape.entries, shape.universe).low_width);
        if low_bits != canonical_bits {
            report.deviations.push(Deviation::OffsetSplit { low_bits, canonical_bits });
        }
        Ok(report)
    }
}
