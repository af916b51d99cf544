//! Walking a file's records in order, checking everything on the way.
//!
//! Record i, with L the length of a key and s what it retains of its predecessor, both in bits:
//!
//! ```text
//! control   E(1 + s) at the start of a block of 15, else E(previous L - s)
//! suffix    E(L - s)
//! literal   the key's bits from s on
//! value     0                         absent
//!           1 E(bytes) bytes          present
//! ```
//!
//! where E is the exponential-Golomb code of order zero. A file may retain less than its keys share; the cursor then
//! finds the true number by comparing on.

use crate::format::FormatError;
use crate::format::bits::{PEEK_BITS, bit, copy_into, golomb_at, golomb_in, peek, shared_bits};
use crate::format::elias_fano::{Comparer, Mismatch};
use crate::format::envelope::BLOCK_RECORDS;

use super::{HEADER_BYTES, Kv03, PAYLOAD_OFFSET, corrupt, offset_word_at};

/// Bytes checksummed at a time, just before they are parsed, so that they are read from memory once.
const CHECKSUM_STEP: usize = 64 << 10;

/// A record's place in the payload. All positions and lengths are in bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Bits that the key shares with its predecessor: what the file retains, or more if it retains less than it could.
    pub shared_bits: u64,
    /// Bits of the key that the file retains.
    pub retained_bits: u64,
    /// Bits of the key.
    pub key_bits: u64,
    /// Where the literal begins: the key's bits from `retained_bits` on. The value follows it.
    pub literal_at: u64,
    /// Where the value begins, tag included.
    pub value_at: u64,
    /// Where the record ends.
    pub end: u64,
}

impl Record {
    /// Bits of the value, tag and count included.
    pub fn value_bits(&self) -> u64 {
        self.end - self.value_at
    }
}

/// A position in a file's records, with the current key.
///
/// [`Cursor::advance`] reads one record after the other; the last call, which finds no more, checks what is left: the
/// payload's end, the terminal key, all offset sections, the dictionary, gaps, and the body's checksum.
#[derive(Debug)]
pub struct Cursor<'a> {
    file: Kv03<'a>,
    payload: &'a [u8],
    /// Records read.
    index: u64,
    /// Records until the next block starts.
    left_in_block: u64,
    key: Vec<u8>,
    record: Record,
    offsets: Option<Comparer<'a>>,
    verify: bool,
    crc: u32,
    /// Bytes of the body that `crc` covers.
    crc_bytes: usize,
    conservative: u64,
    first_conservative: u64,
}

impl<'a> Cursor<'a> {
    /// A cursor before the first record. Without `verify` the body's checksum is not computed.
    pub fn new(file: Kv03<'a>, verify: bool) -> Cursor<'a> {
        Cursor {
            file,
            // Loads may reach past the payload's end, into the sections behind it, and stay in the body.
            payload: &file.file()[PAYLOAD_OFFSET as usize..],
            index: 0,
            left_in_block: 0,
            key: vec![0; 64],
            record: Record::default(),
            offsets: Some(Comparer::new(file.directory.offsets, file.offset_sections())),
            verify,
            crc: 0,
            crc_bytes: 0,
            conservative: 0,
            first_conservative: 0,
        }
    }

    /// The file.
    pub fn file(&self) -> &Kv03<'a> {
        &self.file
    }

    /// The current record, after an [`advance`](Self::advance) that found one.
    #[inline]
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The current key.
    #[inline]
    pub fn key(&self) -> &[u8] {
        &self.key[..(self.record.key_bits / 8) as usize]
    }

    /// The current key's storage: the key, then eight bytes or more of anything.
    #[inline]
    pub(crate) fn key_storage(&self) -> &[u8] {
        &self.key
    }

    /// What positions of a [`Record`] refer to: the payload and the sections behind it.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }

    /// Ordinal of the current record, from 0.
    pub fn ordinal(&self) -> u64 {
        self.index - 1
    }

    /// How many records so far retain less than they could, and the first such ordinal.
    pub fn conservative(&self) -> (u64, u64) {
        (self.conservative, self.first_conservative)
    }

    /// Reads the next record; `false`, once everything else of the file has been checked too, if there is none.
    ///
    /// An error that a damaged file could explain is replaced by that of the checksum, if the checksum says so.
    #[inline]
    pub fn advance(&mut self) -> Result<bool, FormatError> {
        if self.index == self.file.records() {
            return self.finish().map(|()| false).map_err(|error| self.blame_checksum(error));
        }
        self.read_record().map(|()| true).map_err(|error| self.blame_checksum(error))
    }

    #[inline(always)]
    fn read_record(&mut self) -> Result<(), FormatError> {
        let at = self.record.end;
        let block_start = self.left_in_block == 0;
        if block_start {
            self.start_block(at)?;
        }
        self.left_in_block -= 1;
        let previous_bits = self.record.key_bits;

        let word = peek(self.payload, at);
        let Some(control) = golomb_in(word, PEEK_BITS).or_else(|| golomb_at(self.payload, at)) else {
            return self.fail(at, "the control count is endless");
        };
        let after = PEEK_BITS.saturating_sub(control.len as u32);
        let suffix = golomb_in(word << (control.len & 63), after);
        let Some(suffix) = suffix.or_else(|| golomb_at(self.payload, at + control.len)) else {
            return self.fail(at + control.len, "the suffix count is endless");
        };
        let literal_at = at + control.len + suffix.len;
        let payload_bits = self.file.directory.payload_bits;
        if literal_at > payload_bits {
            return self.fail(at, "a count is cut off by the end of the payload");
        }
        let retained_bits = if block_start {
            self.retained_at_block_start(at, control.value)?
        } else if control.value <= previous_bits {
            previous_bits - control.value
        } else {
            return self
                .fail(at, &format!("it goes back {} bits in a key of {previous_bits} bits", control.value));
        };
        if suffix.value > payload_bits - literal_at {
            return self.fail(
                at + control.len,
                &format!("a suffix of {} bits passes the end of the payload", suffix.value),
            );
        }
        let key_bits = retained_bits + suffix.value;
        if key_bits % 8 != 0 {
            return self.fail(at + control.len, &format!("a key of {key_bits} bits is not whole bytes"));
        }
        let value_at = literal_at + suffix.value;
        let shared_bits = self.order(literal_at, retained_bits, suffix.value)?;
        self.append_literal(retained_bits, literal_at, suffix.value);
        let end = self.value_end(value_at, payload_bits)?;
        self.record = Record { shared_bits, retained_bits, key_bits, literal_at, value_at, end };
        self.index += 1;
        Ok(())
    }

    fn start_block(&mut self, at: u64) -> Result<(), FormatError> {
        self.left_in_block = BLOCK_RECORDS;
        let residual = at - self.index * self.file.offset_stride();
        if let Some(offsets) = &mut self.offsets
            && let Err(mismatch) = offsets.push(residual)
        {
            return self.fail_offset(mismatch);
        }
        while self.verify && self.crc_bytes < (super::DIRECTORY_BYTES + at / 8) as usize + 4096 {
            if !self.checksum_step() {
                break;
            }
        }
        Ok(())
    }

    /// Extends the checksum by one step; `false` at the end of the body.
    fn checksum_step(&mut self) -> bool {
        let body = self.file.body();
        let end = body.len().min(self.crc_bytes + CHECKSUM_STEP);
        self.crc = crc32c::crc32c_append(self.crc, &body[self.crc_bytes..end]);
        let moved = end > self.crc_bytes;
        self.crc_bytes = end;
        moved
    }

    fn retained_at_block_start(&self, at: u64, control: u64) -> Result<u64, FormatError> {
        let previous_bits = self.record.key_bits;
        match control.checked_sub(1) {
            None => self.fail(at, "a block starts with a retained position of 0, which drops the selector"),
            Some(retained) if retained > previous_bits && self.index == 0 => {
                self.fail(at, &format!("the first record retains {retained} bits of nothing"))
            }
            Some(retained) if retained > previous_bits => {
                self.fail(at, &format!("it retains {retained} bits of a key of {previous_bits} bits"))
            }
            Some(retained) => Ok(retained),
        }
    }

    /// Checks that the key with this literal is greater than the current one; gives the bits they share.
    #[inline(always)]
    fn order(&mut self, literal_at: u64, retained: u64, literal: u64) -> Result<u64, FormatError> {
        let previous = self.record.key_bits;
        if literal == 0 {
            // Nothing follows what is retained: only the empty key may, as the first.
            return if self.index == 0 { Ok(0) } else { self.fail_order(retained == previous) };
        }
        if retained == previous {
            return Ok(retained);
        }
        let new_bit = peek(self.payload, literal_at) >> 63 == 1;
        if new_bit != bit(&self.key, retained) {
            return if new_bit { Ok(retained) } else { self.fail_order(false) };
        }
        self.order_conservative(literal_at, retained, literal)
    }

    #[cold]
    fn order_conservative(
        &mut self,
        literal_at: u64,
        retained: u64,
        literal: u64,
    ) -> Result<u64, FormatError> {
        let previous = self.record.key_bits;
        let limit = literal.min(previous - retained);
        let more = shared_bits(&self.key, retained, self.payload, literal_at, limit);
        if self.conservative == 0 {
            self.first_conservative = self.index;
        }
        self.conservative += 1;
        let shared = retained + more;
        if more == limit {
            // One key is a prefix of the other; it must be the earlier one.
            let longer = retained + literal > previous;
            return if longer { Ok(shared) } else { self.fail_order(retained + literal == previous) };
        }
        if bit(self.payload, literal_at + more) { Ok(shared) } else { self.fail_order(false) }
    }

    #[inline(always)]
    fn append_literal(&mut self, retained: u64, literal_at: u64, literal: u64) {
        let byte = (retained >> 3) as usize;
        let needed = ((retained + literal) >> 3) as usize + 16;
        if needed > self.key.len() {
            self.grow_key(needed);
        }
        let held = (retained & 7) as u32;
        if literal + u64::from(held) <= u64::from(PEEK_BITS) {
            let kept = (u64::from(self.key[byte]) << 56) & !(u64::MAX >> held);
            let word = kept | (peek(self.payload, literal_at) >> held);
            self.key[byte..byte + 8].copy_from_slice(&word.to_be_bytes());
        } else {
            copy_into(&mut self.key, retained, self.payload, literal_at, literal);
        }
    }

    #[cold]
    fn grow_key(&mut self, needed: usize) {
        let size = needed.max(2 * self.key.len());
        self.key.resize(size, 0);
    }

    #[inline(always)]
    fn value_end(&self, value_at: u64, payload_bits: u64) -> Result<u64, FormatError> {
        let word = peek(self.payload, value_at);
        let end = if word >> 63 == 0 {
            value_at + 1
        } else {
            let count = golomb_in(word << 1, PEEK_BITS - 1);
            let Some(count) = count.or_else(|| golomb_at(self.payload, value_at + 1)) else {
                return self.fail(value_at, "the value's count is endless");
            };
            let bytes_at = value_at + 1 + count.len;
            if bytes_at > payload_bits || count.value > (payload_bits - bytes_at) / 8 {
                return self.fail(
                    value_at,
                    &format!("a value of {} bytes passes the end of the payload", count.value),
                );
            }
            bytes_at + 8 * count.value
        };
        if end > payload_bits {
            return self.fail(value_at, "the value's tag is cut off by the end of the payload");
        }
        match self.file.header.common_width {
            Some(width) if width != end - value_at => self.fail(
                value_at,
                &format!("a value of {} bits where the header declares {width} for all", end - value_at),
            ),
            _ => Ok(end),
        }
    }

    /// Everything that only the end shows.
    fn finish(&mut self) -> Result<(), FormatError> {
        let Some(mut offsets) = self.offsets.take() else { return Ok(()) };
        let Kv03 { header, directory, .. } = self.file;
        let end = self.record.end;
        if end != directory.payload_bits {
            let what = format!("the records end at bit {end}, the payload at bit {}", directory.payload_bits);
            return self.fail(end, &what);
        }
        let terminal = if header.records == 0 { 0 } else { 1 + self.record.key_bits };
        if terminal != directory.terminal_bits {
            return corrupt(
                16,
                format!("the last key has {terminal} bits, the directory says {}", directory.terminal_bits),
            );
        }
        let last = offsets.push(directory.offsets.universe).and_then(|()| offsets.finish());
        if let Err(mismatch) = last {
            return self.fail_offset(mismatch);
        }
        self.file.check_constants()?;
        if self.verify {
            while self.checksum_step() {}
            header.check_body_crc(self.crc)?;
        }
        Ok(())
    }

    /// If the body's checksum is wrong too, that is the better explanation.
    #[cold]
    fn blame_checksum(&mut self, error: FormatError) -> FormatError {
        if !self.verify {
            return error;
        }
        while self.checksum_step() {}
        match self.file.header.check_body_crc(self.crc) {
            Ok(()) => error,
            Err(mut checksum) => {
                if checksum != error {
                    checksum.what =
                        format!("{}; it shows at byte {}: {}", checksum.what, error.offset, error.what);
                }
                checksum
            }
        }
    }

    #[cold]
    fn fail<T>(&self, payload_bit: u64, what: &str) -> Result<T, FormatError> {
        let place = if self.index < self.file.records() {
            format!("record {} (block {}): ", self.index, self.index / BLOCK_RECORDS)
        } else {
            String::new()
        };
        Err(FormatError::corrupt(PAYLOAD_OFFSET + payload_bit / 8, format!("{place}{what}")))
    }

    #[cold]
    fn fail_order<T>(&self, same: bool) -> Result<T, FormatError> {
        let what =
            if same { "its key is the previous one again" } else { "its key is below the previous one" };
        self.fail(self.record.end, what)
    }

    #[cold]
    fn fail_offset<T>(&self, mismatch: Mismatch) -> Result<T, FormatError> {
        Err(FormatError::corrupt(
            offset_word_at(&self.file.directory, mismatch.section, mismatch.word),
            format!(
                "the block offsets are not those of the records: word {} of the {}, noticed at record {}",
                mismatch.word,
                mismatch.section.name(),
                self.index
            ),
        ))
    }
}

/// The value of a record as bytes, copied out of the bit string into `into`; `None` if it is absent.
pub(super) fn value_bytes<'b>(payload: &[u8], record: &Record, into: &'b mut Vec<u8>) -> Option<&'b [u8]> {
    if record.value_bits() == 1 {
        return None;
    }
    let count = golomb_at(payload, record.value_at + 1)?;
    let at = record.value_at + 1 + count.len;
    into.clear();
    into.reserve(count.value as usize + 8);
    let whole = count.value / 8;
    for word in 0..whole {
        into.extend_from_slice(&crate::format::bits::window(payload, at + 64 * word).to_be_bytes());
    }
    for byte in 8 * whole..count.value {
        into.push((peek(payload, at + 8 * byte) >> 56) as u8);
    }
    Some(into)
}

const _: () = assert!(HEADER_BYTES.is_multiple_of(8) && PAYLOAD_OFFSET.is_multiple_of(8));
