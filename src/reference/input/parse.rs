//! `input/parse` and `input/parse_bytes`

use crate::format::envelope::BLOCK_RECORDS;
use crate::format::kv::Profile;
use crate::reference::payload::window;
use crate::reference::{Call, Fault, Port};

/// Codes of the status word.
const NO_OFFSET: u32 = 1;
const NOT_INSIDE: u32 = 2;
const BAD_CONTROL: u32 = 3;
const RETAINS_TOO_MUCH: u32 = 4;
const BAD_SUFFIX: u32 = 5;
const BAD_VALUE: u32 = 6;
const NOT_AT_NEXT: u32 = 7;
const LAST_KEY: u32 = 8;
const BAD_COUNT: u32 = 9;
const BAD_TAG: u32 = 10;

/// Walks each block of 15 records of the bit profile and writes where their keys and values lie. A block gets the code of the
/// first thing that is wrong with it; columns of the record at fault and of those behind it in the block are zero.
pub(in crate::reference) fn parse(call: &Call<'_>) -> Result<(), Fault> {
    parse_as(call, Profile::Kv03)
}

/// The same for the byte profile.
pub(in crate::reference) fn parse_bytes(call: &Call<'_>) -> Result<(), Fault> {
    parse_as(call, Profile::Kv02)
}

fn parse_as(call: &Call<'_>, profile: Profile) -> Result<(), Fault> {
    let columns = ["literal_starts", "key_bits", "retained", "value_bits"].map(|name| call.port(name));
    let [literal_starts, key_bits, retained, value_bits] = columns;
    let columns = [literal_starts?, key_bits?, retained?, value_bits?];
    let (status, walk, first) = (call.port("status")?, Walk::new(call, profile)?, call.number("first")?);
    for block in 0..walk.records.div_ceil(BLOCK_RECORDS) {
        let (records, failure) = walk.block(block)?;
        if let Some(code) = failure {
            status.set(0, status.get(0)?.min((block as u32) << 7 | code))?;
        }
        for (record, index) in records.iter().zip(first + BLOCK_RECORDS * block..) {
            let numbers = [record.literal_start, record.key_bits, record.retained, record.value_bits];
            for (column, number) in columns.iter().zip(numbers) {
                column.set(index, number)?;
            }
        }
    }
    Ok(())
}

/// Where a record lies. All positions and lengths are in bits, positions from the beginning of the file.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    literal_start: u32,
    key_bits: u32,
    retained: u32,
    value_bits: u32,
    end: u32,
}

/// Why a walk ends early.
enum Stop {
    /// Something is wrong: its code.
    Failure(u32),
    Fault(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(fault)
    }
}

struct Walk<'a> {
    profile: Profile,
    file: Port<'a>,
    starts: Port<'a>,
    records: u64,
    payload_bits: u32,
    common_bits: u32,
    last_key_bits: u32,
}

impl<'a> Walk<'a> {
    fn new(call: &Call<'a>, profile: Profile) -> Result<Self, Fault> {
        Ok(Walk {
            profile,
            file: call.port("file")?,
            starts: call.port("starts")?,
            records: call.number("records")?,
            payload_bits: call.number("payload_bits")? as u32,
            common_bits: call.number("common_bits")? as u32,
            last_key_bits: call.number("last_key_bits")? as u32,
        })
    }

    /// The records of a block, and the code of what is wrong with it.
    fn block(&self, block: u64) -> Result<(Vec<Record>, Option<u32>), Fault> {
        let first = BLOCK_RECORDS * block;
        let behind = self.records.min(first + BLOCK_RECORDS);
        let mut records = Vec::new();
        let failure = match self.walk(first..behind, &mut records) {
            Ok(()) => None,
            Err(Stop::Failure(code)) => Some(code),
            Err(Stop::Fault(fault)) => return Err(fault),
        };
        records.resize((behind - first) as usize, Record::default());
        Ok((records, failure))
    }

    fn walk(&self, block: std::ops::Range<u64>, records: &mut Vec<Record>) -> Result<(), Stop> {
        let [start, end] = self.extent(&block)?;
        let mut before = Record { end: start, ..Record::default() };
        for record in block.clone() {
            before = match self.profile {
                Profile::Kv02 => self.byte_record(record, before, end)?,
                Profile::Kv03 => self.bit_record(record, before, end)?,
            };
            records.push(before);
        }
        if before.end != end {
            return Err(Stop::Failure(NOT_AT_NEXT));
        }
        if block.end == self.records && before.key_bits != self.last_key_bits {
            return Err(Stop::Failure(LAST_KEY));
        }
        Ok(())
    }

    /// Where a block begins and ends.
    fn extent(&self, block: &std::ops::Range<u64>) -> Result<[u32; 2], Stop> {
        let entry = block.start / BLOCK_RECORDS;
        let entries = [self.starts.get(entry)?, self.starts.get(entry + 1)?];
        if entries.contains(&u32::MAX) {
            return Err(Stop::Failure(NO_OFFSET));
        }
        let begin = 8 * self.profile.payload_offset() as u32;
        let payload_end = begin + self.payload_bits;
        let unit = self.profile.unit().bits() as u32;
        let place = |entry: u32, records: u64| {
            let common = (records as u32).wrapping_mul(self.common_bits);
            begin.wrapping_add(entry.wrapping_mul(unit)).wrapping_add(common)
        };
        let (start, end) = (place(entries[0], block.start), place(entries[1], block.end));
        let inside = start < end && end <= payload_end;
        let first_is_first = block.start > 0 || start == begin;
        let last_is_last = block.end < self.records || end == payload_end;
        if inside && first_is_first && last_is_last {
            Ok([start, end])
        } else {
            Err(Stop::Failure(NOT_INSIDE))
        }
    }

    /// The record of the byte profile behind another one, in a block that ends at `end`.
    fn byte_record(&self, record: u64, before: Record, end: u32) -> Result<Record, Stop> {
        let (control, suffix_at) = self.leb(before.end, end)?.ok_or(Stop::Failure(BAD_COUNT))?;
        let block_start = record.is_multiple_of(BLOCK_RECORDS);
        // No key is longer than the payload, which holds all its bits.
        let most = if block_start { self.payload_bits } else { before.key_bits };
        if control > most / 8 {
            return Err(Stop::Failure(BAD_CONTROL));
        }
        let retained = if block_start { 8 * control } else { before.key_bits - 8 * control };
        if record == 0 && retained > 0 {
            return Err(Stop::Failure(RETAINS_TOO_MUCH));
        }
        let (suffix, mut literal_start) = self.leb(suffix_at, end)?.ok_or(Stop::Failure(BAD_COUNT))?;
        let mut value = self.common_bits / 8;
        if self.common_bits == 0 {
            (value, literal_start) = self.leb(literal_start, end)?.ok_or(Stop::Failure(BAD_COUNT))?;
        }
        if suffix > (end - literal_start) / 8 || retained + 8 * suffix > self.payload_bits {
            return Err(Stop::Failure(BAD_SUFFIX));
        }
        let value_start = literal_start + 8 * suffix;
        if value == 0 || value > (end - value_start) / 8 {
            return Err(Stop::Failure(BAD_VALUE));
        }
        match window(&self.file, value_start)? >> 24 {
            0 if value == 1 => {}
            1 => {}
            _ => return Err(Stop::Failure(BAD_TAG)),
        }
        let (key_bits, value_bits) = (retained + 8 * suffix, 8 * value);
        Ok(Record { literal_start, key_bits, retained, value_bits, end: value_start + value_bits })
    }

    /// The LEB128 count at `at`, and where its code ends; `None` if that is behind `end`, if it is not the shortest code of its
    /// number, or if that does not fit 32 bits.
    fn leb(&self, at: u32, end: u32) -> Result<Option<(u32, u32)>, Fault> {
        let mut number = 0_u64;
        for place in 0..5 {
            let byte = window(&self.file, at + 8 * place)? >> 24;
            number |= u64::from(byte & 0x7f) << (7 * place);
            if byte < 0x80 {
                let behind = at + 8 * (place + 1);
                let shortest = byte > 0 || place == 0;
                return Ok(u32::try_from(number)
                    .ok()
                    .filter(|_| shortest && behind <= end)
                    .map(|n| (n, behind)));
            }
        }
        Ok(None)
    }

    /// The record of the bit profile behind another one, in a block that ends at `end`.
    fn bit_record(&self, record: u64, before: Record, end: u32) -> Result<Record, Stop> {
        let (control, suffix_at) = self.count(before.end, end)?.ok_or(Stop::Failure(BAD_CONTROL))?;
        let retained = if record.is_multiple_of(BLOCK_RECORDS) {
            // The position counts the selector bit. No key is longer than the payload, which holds all its bits.
            control.checked_sub(1).filter(|&retained| retained <= self.payload_bits)
        } else {
            before.key_bits.checked_sub(control)
        };
        let retained = retained.ok_or(Stop::Failure(BAD_CONTROL))?;
        if record == 0 && retained > 0 {
            return Err(Stop::Failure(RETAINS_TOO_MUCH));
        }
        let (suffix, literal_start) = self.count(suffix_at, end)?.ok_or(Stop::Failure(BAD_SUFFIX))?;
        if suffix > end - literal_start {
            return Err(Stop::Failure(BAD_SUFFIX));
        }
        let key_bits = retained + suffix;
        if key_bits > self.payload_bits || !key_bits.is_multiple_of(8) {
            return Err(Stop::Failure(BAD_SUFFIX));
        }
        let value_start = literal_start + suffix;
        let value_end = self.value_end(value_start, end)?.ok_or(Stop::Failure(BAD_VALUE))?;
        let value_bits = value_end - value_start;
        if self.common_bits != 0 && value_bits != self.common_bits {
            return Err(Stop::Failure(BAD_VALUE));
        }
        Ok(Record { literal_start, key_bits, retained, value_bits, end: value_end })
    }

    /// Where the value at `at` ends, if it does before `end`.
    fn value_end(&self, at: u32, end: u32) -> Result<Option<u32>, Fault> {
        if at >= end {
            return Ok(None);
        }
        if window(&self.file, at)? >> 31 == 0 {
            return Ok(Some(at + 1));
        }
        let Some((bytes, start)) = self.count(at + 1, end)? else { return Ok(None) };
        Ok((bytes <= (end - start) / 8).then(|| start + 8 * bytes))
    }

    /// The count at `at` in the exponential-Golomb code of order zero, and where its code ends; `None` if that is behind
    /// `end`, or if the code begins with more than 31 zeros.
    fn count(&self, at: u32, end: u32) -> Result<Option<(u32, u32)>, Fault> {
        let zeros = window(&self.file, at)?.leading_zeros();
        if zeros == 32 || 2 * zeros + 1 > end - at {
            return Ok(None);
        }
        let number = window(&self.file, at + zeros)? >> (31 - zeros);
        Ok(Some((number - 1, at + 2 * zeros + 1)))
    }
}
