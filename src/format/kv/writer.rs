//! Writing the canonical file for a list of records, front to back in one pass.

use std::io;

use crate::format::bits::{BitBuffer, shared_bits};
use crate::format::checksum;
use crate::format::elias_fano::{Encoder, Section, Shape};
use crate::format::envelope::{BLOCK_RECORDS, HEADER_BYTES, Header};
use crate::format::output::Output;

use super::{Bits, Bytes, Grammar, Profile};

/// Bytes handed to the output at a time.
const PIECE_BYTES: usize = 64 << 10;

/// How the values of a file to be written are framed, which in the byte profile has to be known before the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// In the byte profile: each value has this many units, or any number if none is given.
    Kv02 {
        /// Bytes of every encoded value, tag included; 0 for a file without records.
        width: Option<u64>,
    },
    /// In the bit profile, where every value delimits itself: if they turn out to have one width, it is declared.
    Kv03,
}

impl Framing {
    /// The canonical framing of the values of ascending rows.
    pub fn of_rows<K, V: AsRef<[u8]>>(
        profile: Profile,
        rows: impl IntoIterator<Item = (K, Option<V>)>,
    ) -> Framing {
        let bytes = |value: &Option<V>| value.as_ref().map(|value| value.as_ref().len() as u64);
        let widths = rows.into_iter().map(|(_, value)| Bytes::value_bits(bytes(&value)));
        match profile {
            Profile::Kv02 => Framing::Kv02 { width: common(widths.map(|bits| bits / Bytes::UNIT)) },
            Profile::Kv03 => Framing::Kv03,
        }
    }

    /// Whose framing it is.
    pub fn profile(self) -> Profile {
        match self {
            Framing::Kv02 { .. } => Profile::Kv02,
            Framing::Kv03 => Profile::Kv03,
        }
    }
}

/// The number that all are, 0 if there are none; looks no further than the first that differs.
pub(crate) fn common(widths: impl IntoIterator<Item = u64>) -> Option<u64> {
    let mut widths = widths.into_iter();
    let first = widths.next().unwrap_or(0);
    widths.all(|width| width == first).then_some(first)
}

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// In which profile.
    pub profile: Profile,
    /// Number of records.
    pub records: u64,
    /// Extent of the payload in bits.
    pub payload_bits: u64,
    /// Bits of every encoded value, if that is declared; 0 for an empty file.
    pub value_width_bits: Option<u64>,
    /// Bytes of the file.
    pub file_bytes: u64,
}

/// A file being written to `O`, record by record in ascending order of keys.
///
/// Memory is constant but for one word a block of 15 records. Nothing of the header or directory is written before [`finish`](Self::finish):
/// until then the output is no Everett file.
#[derive(Debug)]
pub struct FileWriter<O> {
    framing: Framing,
    out: Stream<O>,
    bits: BitBuffer,
    /// Bits of the payload handed to `out`.
    flushed_bits: u64,
    records: u64,
    left_in_block: u64,
    block_starts: Vec<u64>,
    key_bits: u64,
    width: Width,
}

/// What is known of the values' common width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// No value yet.
    Open,
    /// All values so far take this many bits.
    Common(u64),
    /// Two values differ.
    Mixed,
}

impl<O: Output> FileWriter<O> {
    /// A file without records yet.
    pub fn new(framing: Framing, out: O) -> FileWriter<O> {
        FileWriter {
            framing,
            out: Stream { out, offset: framing.profile().payload_offset(), crc: 0 },
            bits: BitBuffer::with_capacity(PIECE_BYTES + 4096),
            flushed_bits: 0,
            records: 0,
            left_in_block: 0,
            block_starts: Vec::new(),
            key_bits: 0,
            width: Width::Open,
        }
    }

    /// Appends a record from the payload of another file of this grammar, which must be the framing's.
    ///
    /// * `shared`: bits that the key shares with the previous one of this file, exactly, in whole units.
    /// * `key_bits`: bits of the key.
    /// * `payload`, `at`: where the key's bits from `shared` on begin, in bits; the value, as it is encoded, follows them.
    /// * `value_bits`: bits of the encoded value.
    #[inline(always)]
    pub(crate) fn copy_record<G: Grammar>(
        &mut self,
        shared: u64,
        key_bits: u64,
        payload: &[u8],
        at: u64,
        value_bits: u64,
    ) -> io::Result<()> {
        self.put_counts::<G>(shared, key_bits, value_bits)?;
        let span = key_bits - shared + value_bits;
        if span <= 8 * PIECE_BYTES as u64 {
            self.bits.put_span(payload, at, span);
        } else {
            self.put_long_span(payload, at, span)?;
        }
        self.end_record(key_bits, value_bits);
        Ok(())
    }

    /// Appends a record. `shared` is the number of bits that the key shares with the previous one.
    pub fn put_record(&mut self, shared: u64, key: &[u8], value: Option<&[u8]>) -> io::Result<()> {
        match self.framing.profile() {
            Profile::Kv02 => self.put_record_as::<Bytes>(shared, key, value),
            Profile::Kv03 => self.put_record_as::<Bits>(shared, key, value),
        }
    }

    fn put_record_as<G: Grammar>(&mut self, shared: u64, key: &[u8], value: Option<&[u8]>) -> io::Result<()> {
        let key_bits = 8 * key.len() as u64;
        let shared = shared - shared % G::UNIT;
        let value_bytes = value.map(|value| value.len() as u64);
        let value_bits = G::value_bits(value_bytes);
        self.put_counts::<G>(shared, key_bits, value_bits)?;
        self.put_long_span(key, shared, key_bits - shared)?;
        G::put_value_head(&mut self.bits, value_bytes);
        if let Some(value) = value {
            self.put_long_span(value, 0, 8 * value.len() as u64)?;
        }
        self.end_record(key_bits, value_bits);
        Ok(())
    }

    #[inline(always)]
    fn put_counts<G: Grammar>(&mut self, shared: u64, key_bits: u64, value_bits: u64) -> io::Result<()> {
        debug_assert!(self.framing.profile() == G::PROFILE);
        debug_assert!(shared <= key_bits && shared <= self.key_bits && shared.is_multiple_of(G::UNIT));
        let control = if self.left_in_block == 0 {
            self.start_block()?;
            G::SELECTOR + shared / G::UNIT
        } else {
            (self.key_bits - shared) / G::UNIT
        };
        self.left_in_block -= 1;
        G::put_count(&mut self.bits, control);
        G::put_count(&mut self.bits, (key_bits - shared) / G::UNIT);
        // Known when this is compiled: the bit profile's loop has no trace of it.
        if let (Profile::Kv02, Framing::Kv02 { width }) = (G::PROFILE, self.framing) {
            let value_units = value_bits / G::UNIT;
            debug_assert!(width.is_none_or(|width| width == value_units));
            if width.is_none() {
                G::put_count(&mut self.bits, value_units);
            }
        }
        Ok(())
    }

    fn start_block(&mut self) -> io::Result<()> {
        self.flush_if_full()?;
        self.block_starts.push(self.payload_bits());
        self.left_in_block = BLOCK_RECORDS;
        Ok(())
    }

    #[inline(always)]
    fn end_record(&mut self, key_bits: u64, value_bits: u64) {
        self.key_bits = key_bits;
        self.records += 1;
        match self.width {
            Width::Common(width) if width == value_bits => {}
            Width::Mixed => {}
            Width::Open => self.width = Width::Common(value_bits),
            Width::Common(_) => self.width = Width::Mixed,
        }
    }

    fn put_long_span(&mut self, source: &[u8], at: u64, bits: u64) -> io::Result<()> {
        let mut done = 0;
        while done < bits {
            let step = (bits - done).min(8 * PIECE_BYTES as u64);
            self.bits.put_span(source, at + done, step);
            done += step;
            self.flush_if_full()?;
        }
        Ok(())
    }

    fn payload_bits(&self) -> u64 {
        self.flushed_bits + self.bits.len_bits()
    }

    #[inline]
    fn flush_if_full(&mut self) -> io::Result<()> {
        if self.bits.whole_bytes().len() >= PIECE_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        let whole = self.bits.whole_bytes();
        self.out.write(whole)?;
        self.flushed_bits += 8 * whole.len() as u64;
        self.bits.clear_whole_bytes();
        Ok(())
    }

    /// Writes what follows the payload, then directory and header. The file is complete afterwards, though not synced.
    pub fn finish(mut self) -> io::Result<Summary> {
        let payload_bits = self.payload_bits();
        self.bits.pad_to_byte();
        self.flush()?;
        let profile = self.framing.profile();
        let unit = profile.unit().bits();
        let common_width = match (self.framing, self.width) {
            (Framing::Kv02 { width }, _) => width,
            (Framing::Kv03, Width::Open) => Some(0),
            (Framing::Kv03, Width::Common(width)) => Some(width),
            (Framing::Kv03, Width::Mixed) => None,
        };
        let stride = common_width.unwrap_or(0);
        let universe = payload_bits / unit - self.records * stride;
        let contents = Contents {
            profile,
            records: self.records,
            payload_bits,
            common_width,
            last_key_bits: self.key_bits,
            offsets: Shape::canonical(self.block_starts.len() as u64 + 1, universe),
        };
        let residuals = (0_u64..).zip(&self.block_starts);
        let residuals = residuals.map(|(block, start)| start / unit - block * BLOCK_RECORDS * stride);
        let ends = write_rest(&mut self.out, contents, |section, out| {
            write_offsets(out, residuals.clone(), contents.offsets, section)
        })?;
        let directory = directory_bytes(contents, &ends);
        let rest_bytes = self.out.offset - profile.payload_offset();
        self.out.crc = crc32c::crc32c_combine(crc32c::crc32c(&directory), self.out.crc, rest_bytes as usize);
        write_head(self.out, contents, &directory)
    }
}

/// What header and directory say of a file's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents {
    /// In which profile.
    pub profile: Profile,
    /// Number of records.
    pub records: u64,
    /// Extent of the payload in bits.
    pub payload_bits: u64,
    /// Units of every encoded value, if that is declared; 0 without records.
    pub common_width: Option<u64>,
    /// Bits of the last key, without the selector; not looked at without records.
    pub last_key_bits: u64,
    /// Shape of the block offsets, in units.
    pub offsets: Shape,
}

/// Writes a file whose payload and offset sections were made elsewhere, each as its bytes in the file.
pub fn assemble(
    mut out: impl Output,
    contents: Contents,
    payload: &[u8],
    offsets: [&[u8]; 4],
) -> io::Result<Summary> {
    let start = contents.profile.payload_offset();
    // Lengths alone say where the sections will end, so the checksum can begin with the directory.
    let mut measure = Stream { out: Nowhere, offset: start + payload.len() as u64, crc: 0 };
    let ends = write_rest(&mut measure, contents, |section, out| {
        out.offset += offsets[section as usize].len() as u64;
        Ok(())
    })?;
    let directory = directory_bytes(contents, &ends);
    let mut out = Stream { out: &mut out, offset: start, crc: crc32c::crc32c(&directory) };
    out.write(payload)?;
    write_rest(&mut out, contents, |section, out| out.write(offsets[section as usize]))?;
    write_head(out, contents, &directory)
}

/// Takes bytes and keeps none.
struct Nowhere;

impl Output for Nowhere {
    fn write_at(&mut self, _offset: u64, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

/// Writes what follows the payload: the offset sections, each by `write_section`, and the constant ones. Gives where the payload
/// and each section end in the file.
fn write_rest<O: Output>(
    out: &mut Stream<O>,
    contents: Contents,
    mut write_section: impl FnMut(Section, &mut Stream<O>) -> io::Result<()>,
) -> io::Result<Vec<u64>> {
    let mut ends = Vec::with_capacity(8);
    ends.push(out.offset);
    for section in Section::ALL {
        out.align()?;
        write_section(section, out)?;
        ends.push(out.offset);
    }
    if contents.profile == Profile::Kv03 {
        write_selector(out, dictionary_codes(contents.records), &mut ends)?;
    }
    Ok(ends)
}

/// Writes header and directory, when all else is written and the stream's checksum is that of the body, directory included.
fn write_head<O: Output>(mut out: Stream<O>, contents: Contents, directory: &[u8]) -> io::Result<Summary> {
    let Contents { profile, records, payload_bits, common_width, .. } = contents;
    let file_bytes = out.offset;
    let body_bytes = file_bytes - HEADER_BYTES;
    let header = Header { unit: profile.unit(), common_width, body_bytes, records, body_crc: out.crc };
    let head = [&header.to_bytes()[..], directory].concat();
    out.out.write_at(0, &head)?;
    let value_width_bits = common_width.map(|width| width * profile.unit().bits());
    Ok(Summary { profile, records, payload_bits, value_width_bits, file_bytes })
}

/// Codes in the bit profile's dictionary: one if there is anything to have a selector.
fn dictionary_codes(records: u64) -> u64 {
    u64::from(records > 0)
}

/// Writes the bit profile's dictionary, dictionary offsets and, empty, block seeds.
fn write_selector<O: Output>(out: &mut Stream<O>, codes: u64, ends: &mut Vec<u64>) -> io::Result<()> {
    out.align()?;
    out.write(&[0; 1][..codes as usize])?;
    ends.push(out.offset);
    out.align()?;
    for code in 0..=codes {
        out.write(&code.to_le_bytes())?;
    }
    ends.push(out.offset);
    out.align()?;
    ends.push(out.offset);
    Ok(())
}

/// Writes one of the four offset sections, by a walk over the block's residual offsets that keeps only that section's words.
fn write_offsets<O: Output>(
    out: &mut Stream<O>,
    residuals: impl Iterator<Item = u64>,
    shape: Shape,
    wanted: Section,
) -> io::Result<()> {
    let mut encoder = Encoder::new(shape);
    let mut piece = Vec::with_capacity(PIECE_BYTES + 4096);
    for residual in residuals {
        let admitted = encoder.push(residual, |section, word| keep(&mut piece, section == wanted, word));
        debug_assert!(admitted);
        if piece.len() >= PIECE_BYTES {
            out.write(&piece)?;
            piece.clear();
        }
    }
    let admitted = encoder.push(shape.universe, |section, word| keep(&mut piece, section == wanted, word));
    let complete = encoder.finish(|section, word| keep(&mut piece, section == wanted, word));
    debug_assert!(admitted && complete);
    out.write(&piece)
}

fn keep(piece: &mut Vec<u8>, wanted: bool, word: u64) {
    if wanted {
        piece.extend_from_slice(&word.to_le_bytes());
    }
}

/// The directory, given where each section ends in the file.
fn directory_bytes(contents: Contents, ends: &[u64]) -> Vec<u8> {
    let Contents { profile, records, payload_bits, last_key_bits, offsets, .. } = contents;
    let (layout, unit) = (profile.layout(), profile.unit().bits());
    let terminal = if records > 0 { profile.selector_units() + last_key_bits / unit } else { 0 };
    let mut out = vec![0; layout.bytes as usize];
    let mut put = |at: usize, field: &[u8]| out[at..at + field.len()].copy_from_slice(field);
    put(0, layout.tag);
    put(4, &layout.revision.to_le_bytes());
    put(6, &(ends.len() as u16).to_le_bytes());
    put(8, &(payload_bits / unit).to_le_bytes());
    put(16, &terminal.to_le_bytes());
    put(24, &offsets.universe.to_le_bytes());
    if profile == Profile::Kv03 {
        put(32, &dictionary_codes(records).to_le_bytes());
    }
    put(layout.low_width_at, &[offsets.low_width as u8]);
    let mut start = profile.payload_offset();
    for (index, &end) in ends.iter().enumerate() {
        let at = layout.sections_at + 16 * index;
        put(at, &(start - HEADER_BYTES).to_le_bytes());
        put(at + 8, &(end - start).to_le_bytes());
        start = end.next_multiple_of(8);
    }
    out
}

/// Bytes written in order, with their checksum.
#[derive(Debug)]
struct Stream<O> {
    out: O,
    offset: u64,
    crc: u32,
}

impl<O: Output> Stream<O> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let (crc, written) =
            checksum::append_beside(self.crc, bytes, || self.out.write_at(self.offset, bytes));
        written?;
        self.crc = crc;
        self.offset += bytes.len() as u64;
        Ok(())
    }

    /// Zeros up to the next multiple of 8.
    fn align(&mut self) -> io::Result<()> {
        let gap = (self.offset.next_multiple_of(8) - self.offset) as usize;
        self.write(&[0; 8][..gap])
    }
}

/// Why rows could not be encoded.
#[derive(Debug, thiserror::Error)]
pub enum EncodeError {
    /// A key is not greater than the one before it.
    #[error("row {row}: its key is not above the previous row's")]
    NotAscending {
        /// Which row, from 0.
        row: u64,
    },
    /// The output refused.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Encodes rows, strictly ascending by key, into `out`. [`Framing::of_rows`] gives the framing of the canonical file.
pub fn encode<K, V>(
    framing: Framing,
    rows: impl IntoIterator<Item = (K, Option<V>)>,
    out: impl Output,
) -> Result<Summary, EncodeError>
where
    K: AsRef<[u8]>,
    V: AsRef<[u8]>,
{
    let mut writer = FileWriter::new(framing, out);
    let mut previous: Option<K> = None;
    for (row, (key, value)) in (0_u64..).zip(rows) {
        let bytes = key.as_ref();
        let shared = match &previous {
            None => 0,
            Some(previous) if previous.as_ref() < bytes => {
                let previous = previous.as_ref();
                let limit = 8 * previous.len().min(bytes.len()) as u64;
                shared_bits(previous, 0, bytes, 0, limit)
            }
            Some(_) => return Err(EncodeError::NotAscending { row }),
        };
        writer.put_record(shared, bytes, value.as_ref().map(V::as_ref))?;
        previous = Some(key);
    }
    Ok(writer.finish()?)
}
