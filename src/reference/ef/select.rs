//! `ef/select`

use super::GROUP;
use crate::reference::{Call, Fault, Port};

/// Code of the status word.
const NO_SELECTION: u32 = 1;

/// Distance from its group's first position that a position of a dense group does not reach.
const SPARSE_SPAN: u64 = 4096;

/// The entries of an Elias-Fano sequence that a file holds; all ones for one that cannot be selected.
pub(in crate::reference) fn select(call: &Call<'_>) -> Result<(), Fault> {
    let (selected, status, sequence) = (call.port("selected")?, call.port("status")?, Sequence::new(call)?);
    // The last entry is where the last block ends.
    let last_block = sequence.entries.saturating_sub(2);
    for entry in 0..sequence.entries {
        let value = sequence.entry(entry)?;
        selected.set(entry, value.unwrap_or(u32::MAX))?;
        if value.is_none() {
            let failure = (entry.min(last_block) as u32) << 7 | NO_SELECTION;
            status.set(0, status.get(0)?.min(failure))?;
        }
    }
    Ok(())
}

/// A sequence in a file. Its sections begin at 32-bit words.
struct Sequence<'a> {
    file: Port<'a>,
    entries: u64,
    universe: u64,
    low_width: u64,
    lows_at: u64,
    highs_at: u64,
    samples_at: u64,
    exceptions_at: u64,
    exceptions: u64,
}

impl<'a> Sequence<'a> {
    fn new(call: &Call<'a>) -> Result<Self, Fault> {
        Ok(Sequence {
            file: call.port("file")?,
            entries: call.number("entries")?,
            universe: call.number("universe")?,
            low_width: call.number("low_width")?.min(31),
            lows_at: call.number("lows_at")?,
            highs_at: call.number("highs_at")?,
            samples_at: call.number("samples_at")?,
            exceptions_at: call.number("exceptions_at")?,
            exceptions: call.number("exceptions")?,
        })
    }

    /// An entry, if the sections hold it.
    fn entry(&self, entry: u64) -> Result<Option<u32>, Fault> {
        let Some(high) = self.position(entry)?.and_then(|position| position.checked_sub(entry)) else {
            return Ok(None);
        };
        if high > self.universe >> self.low_width {
            return Ok(None);
        }
        let mut value = high << self.low_width;
        for bit in 0..self.low_width {
            value |= self.bit(self.lows_at, entry * self.low_width + bit)? << bit;
        }
        Ok((value <= self.universe).then_some(value as u32))
    }

    /// The position in the highs of an entry.
    fn position(&self, entry: u64) -> Result<Option<u64>, Fault> {
        let (sample, within) = (entry / GROUP, entry % GROUP);
        let (first, begin) =
            (self.double(self.samples_at, 2 * sample)?, self.double(self.samples_at, 2 * sample + 1)?);
        let high_bits = (self.universe >> self.low_width) + self.entries;
        if begin == u64::MAX {
            return self.dense_position(first, within, high_bits);
        }
        let Some(index) = begin.checked_add(within).filter(|&index| index < self.exceptions) else {
            return Ok(None);
        };
        let position = self.double(self.exceptions_at, index)?;
        let is_set = position < high_bits && self.bit(self.highs_at, position)? == 1;
        Ok(is_set.then_some(position))
    }

    /// The bit of the highs before which, from `first` on, `within` bits are set.
    fn dense_position(&self, first: u64, within: u64, high_bits: u64) -> Result<Option<u64>, Fault> {
        let mut left = within;
        for position in first..first.saturating_add(SPARSE_SPAN).min(high_bits) {
            if self.bit(self.highs_at, position)? == 1 {
                if left == 0 {
                    return Ok(Some(position));
                }
                left -= 1;
            }
        }
        Ok(None)
    }

    /// Bit `at` of a section, which has the first bit of each word lowest.
    fn bit(&self, section: u64, at: u64) -> Result<u64, Fault> {
        Ok(u64::from(self.file.get(section + at / 32)? >> (at % 32) & 1))
    }

    /// 64-bit word `index` of a section.
    fn double(&self, section: u64, index: u64) -> Result<u64, Fault> {
        let at = section + 2 * index;
        Ok(u64::from(self.file.get(at + 1)?) << 32 | u64::from(self.file.get(at)?))
    }
}
