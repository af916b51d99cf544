//! Elias-Fano sections of an output, and of an input.
//!
//! The entries of an output are where its blocks of 15 records start, without the common bits of the values before, and
//! at last where its payload ends, likewise. Words are 32 bits wide here and 64 in the file.

mod build_on_host;
mod exceptions;
mod highs;
mod lows;
mod samples;
mod select;
mod sparse;

pub(super) use build_on_host::build_on_host;
pub(super) use exceptions::exceptions;
pub(super) use highs::highs;
pub(super) use lows::lows;
pub(super) use samples::samples;
pub(super) use select::select;
pub(super) use sparse::sparse;

use super::layout::Layout;
use super::{Call, Fault, Port};
use crate::format::envelope::BLOCK_RECORDS;

/// Entries in a group that has a sample.
const GROUP: u64 = 256;

/// A group whose positions span this much has all of them listed.
const SPARSE_SPAN: u32 = 4096;

/// The entries of an output.
struct Entries<'a> {
    layout: Layout,
    offsets: Port<'a>,
}

impl<'a> Entries<'a> {
    fn of(call: &Call<'a>) -> Result<Self, Fault> {
        Ok(Entries { layout: Layout::of(call)?, offsets: call.port("offsets")? })
    }

    /// How many there are.
    fn count(&self) -> u64 {
        self.layout.entries()
    }

    /// Number of groups.
    fn groups(&self) -> u64 {
        self.count().div_ceil(GROUP)
    }

    /// An entry.
    fn get(&self, j: u64) -> Result<u32, Fault> {
        let records = (BLOCK_RECORDS * j).min(u64::from(self.layout.survivors));
        let at_end = records == u64::from(self.layout.survivors);
        let start = if at_end { self.layout.payload_extent } else { self.offsets.get(records)? };
        Ok(start.wrapping_sub((records as u32).wrapping_mul(self.layout.common_width)))
    }

    /// The bit of the highs that stands for an entry.
    fn position(&self, j: u64) -> Result<u32, Fault> {
        let high = self.get(j)?.checked_shr(self.layout.low_width).unwrap_or(0);
        Ok(high.wrapping_add(j as u32))
    }
}

/// Sets bit `at` of a bit vector whose words have their first bit lowest.
fn set_bit(words: &Port<'_>, at: u64) -> Result<(), Fault> {
    words.set(at / 32, words.get(at / 32)? | 1 << (at % 32))
}
