//! Walking a file's records in order, checking everything on the way.
//!
//! A file may retain less than its keys share; the cursor then finds the true number by comparing on. What the records
//! of the two profiles do not have in common is in [`super::grammar`].

use crate::format::FormatError;
use crate::format::bits::{PEEK_BITS, bit, copy_into, peek, shared_bits};
use crate::format::elias_fano::{Comparer, Mismatch};
use crate::format::envelope::BLOCK_RECORDS;

use super::grammar::{Broken, Head};
use super::{Bits, Bytes, File, Grammar, Profile, corrupt, offset_word_at};

/// Bytes checksummed at a time, just before they are parsed, so that they are read from memory once.
const CHECKSUM_STEP: usize = 64 << 10;

/// A record's place in the payload. All positions and lengths are in bits, and in the byte profile multiples of 8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Bits that the key shares with its predecessor, in whole units: what the file retains, or more if it retains less than
    /// it could.
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
    /// Bits of the encoded value: with its tag, and what follows the tag.
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
    file: File<'a>,
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
    pub fn new(file: File<'a>, verify: bool) -> Cursor<'a> {
        Cursor {
            file,
            // Loads may reach past the payload's end, into the sections behind it, and stay in the body.
            payload: &file.file()[file.profile.payload_offset() as usize..],
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
    pub fn file(&self) -> &File<'a> {
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
        match self.file.profile {
            Profile::Kv02 => self.advance_as::<Bytes>(),
            Profile::Kv03 => self.advance_as::<Bits>(),
        }
    }

    /// [`advance`](Self::advance) in a file of this grammar.
    #[inline(always)]
    pub(crate) fn advance_as<G: Grammar>(&mut self) -> Result<bool, FormatError> {
        if self.index == self.file.records() {
            return self.finish().map(|()| false).map_err(|error| self.blame_checksum(error));
        }
        self.read_record::<G>().map(|()| true).map_err(|error| self.blame_checksum(error))
    }

    /// Whether the current record is a tombstone.
    pub fn is_tombstone(&self) -> bool {
        match self.file.profile {
            Profile::Kv02 => Bytes::is_tombstone(self.payload, self.record.value_at),
            Profile::Kv03 => Bits::is_tombstone(self.payload, self.record.value_at),
        }
    }

    /// The current record's value, copied into `into` where it does not lie in the file as it is; `None` for a tombstone.
    pub fn value<'b>(&'b self, into: &'b mut Vec<u8>) -> Option<&'b [u8]> {
        let Record { value_at, end, .. } = self.record;
        match self.file.profile {
            Profile::Kv02 => Bytes::value(self.payload, value_at, end, into),
            Profile::Kv03 => Bits::value(self.payload, value_at, end, into),
        }
    }

    #[inline(always)]
    fn read_record<G: Grammar>(&mut self) -> Result<(), FormatError> {
        let at = self.record.end;
        let block_start = self.left_in_block == 0;
        if block_start {
            self.start_block::<G>(at)?;
        }
        self.left_in_block -= 1;
        let previous_bits = self.record.key_bits;
        let payload_bits = self.file.directory.payload_bits;
        let declared = self.file.header.common_width;

        let head = G::head(self.payload, at, declared.is_some());
        let Head { control, suffix, suffix_at, value, literal_at } =
            head.map_err(|broken| self.broken(broken))?;
        if literal_at > payload_bits {
            return self.fail(at, "a count is cut off by the end of the payload");
        }
        let retained_bits = if block_start {
            self.retained_at_block_start::<G>(at, control)?
        } else if control <= previous_bits / G::UNIT {
            previous_bits - control * G::UNIT
        } else {
            return self.fail(
                at,
                &format!("it goes back {control} {1} in a key of {0} {1}", previous_bits / G::UNIT, G::UNITS),
            );
        };
        if suffix > (payload_bits - literal_at) / G::UNIT {
            return self.fail(
                suffix_at,
                &format!("a suffix of {suffix} {} passes the end of the payload", G::UNITS),
            );
        }
        let suffix_bits = suffix * G::UNIT;
        let key_bits = retained_bits + suffix_bits;
        if key_bits % 8 != 0 {
            return self.fail(suffix_at, &format!("a key of {key_bits} bits is not whole bytes"));
        }
        let value_at = literal_at + suffix_bits;
        let shared_bits = self.order::<G>(literal_at, retained_bits, suffix_bits)?;
        self.append_literal(retained_bits, literal_at, suffix_bits);
        let end = G::value_end(self.payload, value_at, value.or(declared), payload_bits);
        let end = end.map_err(|broken| self.broken(broken))?;
        if let Some(width) = declared
            && width != (end - value_at) / G::UNIT
        {
            return self.fail(
                value_at,
                &format!(
                    "a value of {} {} where the header declares {width} for all",
                    (end - value_at) / G::UNIT,
                    G::UNITS
                ),
            );
        }
        self.record = Record { shared_bits, retained_bits, key_bits, literal_at, value_at, end };
        self.index += 1;
        Ok(())
    }

    fn start_block<G: Grammar>(&mut self, at: u64) -> Result<(), FormatError> {
        self.left_in_block = BLOCK_RECORDS;
        let residual = at / G::UNIT - self.index * self.file.offset_stride();
        if let Some(offsets) = &mut self.offsets
            && let Err(mismatch) = offsets.push(residual)
        {
            return self.fail_offset(mismatch);
        }
        while self.verify && self.crc_bytes < (G::PROFILE.directory_bytes() + at / 8) as usize + 4096 {
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

    fn retained_at_block_start<G: Grammar>(&self, at: u64, control: u64) -> Result<u64, FormatError> {
        let (previous, units) = (self.record.key_bits / G::UNIT, G::UNITS);
        match control.checked_sub(G::SELECTOR) {
            None => self.fail(at, "a block starts with a retained position of 0, which drops the selector"),
            Some(retained) if retained > previous && self.index == 0 => {
                self.fail(at, &format!("the first record retains {retained} {units} of nothing"))
            }
            Some(retained) if retained > previous => {
                self.fail(at, &format!("it retains {retained} {units} of a key of {previous} {units}"))
            }
            Some(retained) => Ok(retained * G::UNIT),
        }
    }

    /// Checks that the key with this literal is greater than the current one; gives the bits they share, in whole units.
    #[inline(always)]
    fn order<G: Grammar>(
        &mut self,
        literal_at: u64,
        retained: u64,
        literal: u64,
    ) -> Result<u64, FormatError> {
        let previous = self.record.key_bits;
        if literal == 0 {
            // Nothing follows what is retained: only the empty key may, as the first.
            return if self.index == 0 { Ok(0) } else { self.fail_order(retained == previous) };
        }
        if retained == previous {
            return Ok(retained);
        }
        let (old, new) = (G::unit(&self.key, retained), G::unit(self.payload, literal_at));
        if new != old {
            return if new > old { Ok(retained) } else { self.fail_order(false) };
        }
        self.order_conservative(literal_at, retained, literal).map(|shared| shared - shared % G::UNIT)
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

    /// Everything that only the end shows.
    fn finish(&mut self) -> Result<(), FormatError> {
        let Some(mut offsets) = self.offsets.take() else { return Ok(()) };
        let File { header, directory, profile, .. } = self.file;
        let end = self.record.end;
        if end != directory.payload_bits {
            let what = format!("the records end at bit {end}, the payload at bit {}", directory.payload_bits);
            return self.fail(end, &what);
        }
        let (unit, stated) = (profile.unit(), directory.terminal);
        let terminal = if header.records == 0 {
            0
        } else {
            profile.selector_units() + self.record.key_bits / unit.bits()
        };
        if terminal != stated {
            return corrupt(
                16,
                format!("the last key has {terminal} {}, the directory says {stated}", unit.name()),
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
    fn broken(&self, (at, what): Broken) -> FormatError {
        self.error(at, &what)
    }

    #[cold]
    fn fail<T>(&self, payload_bit: u64, what: &str) -> Result<T, FormatError> {
        Err(self.error(payload_bit, what))
    }

    fn error(&self, payload_bit: u64, what: &str) -> FormatError {
        let place = if self.index < self.file.records() {
            format!("record {} (block {}): ", self.index, self.index / BLOCK_RECORDS)
        } else {
            String::new()
        };
        let offset = self.file.profile.payload_offset() + payload_bit / 8;
        FormatError::corrupt(offset, format!("{place}{what}"))
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
