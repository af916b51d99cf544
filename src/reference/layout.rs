//! The numbers that lay an output out, as passes hand them on.

use super::{Call, Fault};
use crate::format::envelope::BLOCK_RECORDS;

/// The elements of a port called `output_layout`, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Surviving records.
    pub survivors: u32,
    /// Units in the payload: bits or bytes, as the profile counts.
    pub payload_extent: u32,
    /// Units of every encoded value; 0 when they differ or there is none.
    pub common_width: u32,
    /// The last Elias-Fano entry.
    pub universe: u32,
    /// Bits of an entry that the lows hold.
    pub low_width: u32,
    /// Bits of the last key.
    pub last_key_bits: u32,
    /// 32-bit words of the lows.
    pub low_words: u32,
    /// 32-bit words of the highs.
    pub high_words: u32,
}

impl Layout {
    /// Reads a call's port `output_layout`.
    pub fn of(call: &Call<'_>) -> Result<Layout, Fault> {
        let port = call.port("output_layout")?;
        let mut numbers = [0; 8];
        for (element, number) in (0..).zip(&mut numbers) {
            *number = port.get(element)?;
        }
        let [
            survivors,
            payload_extent,
            common_width,
            universe,
            low_width,
            last_key_bits,
            low_words,
            high_words,
        ] = numbers;
        Ok(Layout {
            survivors,
            payload_extent,
            common_width,
            universe,
            low_width,
            last_key_bits,
            low_words,
            high_words,
        })
    }

    /// Writes a call's port `output_layout`.
    pub fn put(&self, call: &Call<'_>) -> Result<(), Fault> {
        let port = call.port("output_layout")?;
        let numbers = [
            self.survivors,
            self.payload_extent,
            self.common_width,
            self.universe,
            self.low_width,
            self.last_key_bits,
            self.low_words,
            self.high_words,
        ];
        (0..).zip(numbers).try_for_each(|(element, number)| port.set(element, number))
    }

    /// Number of Elias-Fano entries: one a block of records, and the end.
    pub fn entries(&self) -> u64 {
        u64::from(self.survivors).div_ceil(BLOCK_RECORDS) + 1
    }
}
