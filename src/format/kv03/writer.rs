//! Writing the canonical file for a list of records, front to back in one pass.

use std::io;

use crate::format::bits::{BitBuffer, golomb_len, shared_bits};
use crate::format::elias_fano::{Encoder, Section, Shape};
use crate::format::envelope::{BLOCK_RECORDS, HEADER_BYTES, Header, Unit};
use crate::format::output::Output;

use super::{DIRECTORY_BYTES, PAYLOAD_OFFSET};

/// Bytes handed to the output at a time.
const PIECE_BYTES: usize = 64 << 10;

/// What was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Number of records.
    pub records: u64,
    /// Extent of the payload in bits.
    pub payload_bits: u64,
    /// Bits of every value, if all have the same; 0 for an empty file.
    pub common_width: Option<u64>,
    /// Bytes of the file.
    pub file_bytes: u64,
}

/// A file being written to `O`, record by record in ascending order of keys.
///
/// Memory is constant but for one word a block of 15 records. Nothing of the header or directory is written before [`finish`](Self::finish):
/// until then the output is no Everett file.
#[derive(Debug)]
pub struct FileWriter<O> {
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
    pub fn new(out: O) -> FileWriter<O> {
        FileWriter {
            out: Stream { out, offset: PAYLOAD_OFFSET, crc: 0 },
            bits: BitBuffer::with_capacity(PIECE_BYTES + 4096),
            flushed_bits: 0,
            records: 0,
            left_in_block: 0,
            block_starts: Vec::new(),
            key_bits: 0,
            width: Width::Open,
        }
    }

    /// Appends a record from the payload of another file.
    ///
    /// * `shared`: bits that the key shares with the previous one of this file, exactly.
    /// * `key_bits`: bits of the key.
    /// * `payload`, `at`: where the key's bits from `shared` on begin, in bits; the value, as it is encoded, follows them.
    /// * `value_bits`: bits of the encoded value.
    #[inline(always)]
    pub fn copy_record(
        &mut self,
        shared: u64,
        key_bits: u64,
        payload: &[u8],
        at: u64,
        value_bits: u64,
    ) -> io::Result<()> {
        self.put_counts(shared, key_bits)?;
        let span = key_bits - shared + value_bits;
        if span <= 8 * PIECE_BYTES as u64 {
            self.bits.put_span(payload, at, span);
        } else {
            self.put_long_span(payload, at, span)?;
        }
        self.end_record(key_bits, value_bits);
        Ok(())
    }

    /// Appends a record. `shared` is the number of bits that the key shares with the previous one, exactly.
    pub fn put_record(&mut self, shared: u64, key: &[u8], value: Option<&[u8]>) -> io::Result<()> {
        let key_bits = 8 * key.len() as u64;
        self.put_counts(shared, key_bits)?;
        self.put_long_span(key, shared, key_bits - shared)?;
        let value_bits = match value {
            None => {
                self.bits.put(0, 1);
                1
            }
            Some(value) => {
                let bytes = value.len() as u64;
                self.bits.put(1, 1);
                self.bits.put_golomb(bytes);
                self.put_long_span(value, 0, 8 * bytes)?;
                1 + golomb_len(bytes) + 8 * bytes
            }
        };
        self.end_record(key_bits, value_bits);
        Ok(())
    }

    #[inline(always)]
    fn put_counts(&mut self, shared: u64, key_bits: u64) -> io::Result<()> {
        debug_assert!(shared <= key_bits && (shared <= self.key_bits));
        let control = if self.left_in_block == 0 {
            self.start_block()?;
            1 + shared
        } else {
            self.key_bits - shared
        };
        self.left_in_block -= 1;
        self.bits.put_golomb(control);
        self.bits.put_golomb(key_bits - shared);
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
        let common_width = match self.width {
            Width::Open => Some(0),
            Width::Common(width) => Some(width),
            Width::Mixed => None,
        };
        let stride = common_width.unwrap_or(0);
        let universe = payload_bits - self.records * stride;
        let contents = Contents {
            records: self.records,
            payload_bits,
            common_width,
            last_key_bits: self.key_bits,
            offsets: Shape::canonical(self.block_starts.len() as u64 + 1, universe),
        };
        let starts = &self.block_starts;
        finish(self.out, contents, |section, out| {
            write_offsets(out, starts, contents.offsets, stride, section)
        })
    }
}

/// What header and directory say of a file's contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents {
    /// Number of records.
    pub records: u64,
    /// Extent of the payload in bits.
    pub payload_bits: u64,
    /// Bits of every value, if all have the same; 0 without records.
    pub common_width: Option<u64>,
    /// Bits of the last key, without the selector; not looked at without records.
    pub last_key_bits: u64,
    /// Shape of the block offsets.
    pub offsets: Shape,
}

/// Writes a file whose payload and offset sections were made elsewhere, each as its bytes in the file.
pub fn assemble(
    mut out: impl Output,
    contents: Contents,
    payload: &[u8],
    offsets: [&[u8]; 4],
) -> io::Result<Summary> {
    let mut stream = Stream { out: &mut out, offset: PAYLOAD_OFFSET, crc: 0 };
    stream.write(payload)?;
    finish(stream, contents, |section, out| out.write(offsets[section as usize]))
}

/// Writes what follows the payload: the offset sections, each by `write_section`, the constant ones, directory and header.
fn finish<O: Output>(
    mut out: Stream<O>,
    contents: Contents,
    mut write_section: impl FnMut(Section, &mut Stream<O>) -> io::Result<()>,
) -> io::Result<Summary> {
    let Contents { records, payload_bits, common_width, last_key_bits, offsets } = contents;
    let mut ends = [0; 8];
    ends[0] = out.offset;
    for (end, section) in ends[1..5].iter_mut().zip(Section::ALL) {
        out.align()?;
        write_section(section, &mut out)?;
        *end = out.offset;
    }
    let codes = u64::from(records > 0);
    out.align()?;
    out.write(&[0; 1][..codes as usize])?;
    ends[5] = out.offset;
    out.align()?;
    for code in 0..=codes {
        out.write(&code.to_le_bytes())?;
    }
    ends[6] = out.offset;
    out.align()?;
    ends[7] = out.offset;

    let terminal_bits = if records > 0 { 1 + last_key_bits } else { 0 };
    let directory = directory_bytes(payload_bits, terminal_bits, offsets, codes, &ends);
    let file_bytes = ends[7];
    let rest_bytes = file_bytes - PAYLOAD_OFFSET;
    let body_crc = crc32c::crc32c_combine(crc32c::crc32c(&directory), out.crc, rest_bytes as usize);
    let body_bytes = DIRECTORY_BYTES + rest_bytes;
    let header = Header { unit: Unit::Bits, common_width, body_bytes, records, body_crc };
    let head = [&header.to_bytes()[..], &directory[..]].concat();
    out.out.write_at(0, &head)?;
    Ok(Summary { records, payload_bits, common_width, file_bytes })
}

/// Writes one of the four offset sections, by a walk over the block starts that keeps only that section's words.
fn write_offsets<O: Output>(
    out: &mut Stream<O>,
    block_starts: &[u64],
    shape: Shape,
    stride: u64,
    wanted: Section,
) -> io::Result<()> {
    let mut encoder = Encoder::new(shape);
    let mut piece = Vec::with_capacity(PIECE_BYTES + 4096);
    for (block, &start) in block_starts.iter().enumerate() {
        let residual = start - block as u64 * BLOCK_RECORDS * stride;
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

fn directory_bytes(
    payload_bits: u64,
    terminal_bits: u64,
    shape: Shape,
    codes: u64,
    ends: &[u64; 8],
) -> [u8; DIRECTORY_BYTES as usize] {
    let mut out = [0; DIRECTORY_BYTES as usize];
    let mut put = |at: usize, field: &[u8]| out[at..at + field.len()].copy_from_slice(field);
    put(0, b"KV03");
    put(4, &3_u16.to_le_bytes());
    put(6, &8_u16.to_le_bytes());
    put(8, &payload_bits.to_le_bytes());
    put(16, &terminal_bits.to_le_bytes());
    put(24, &shape.universe.to_le_bytes());
    put(32, &codes.to_le_bytes());
    put(48, &[shape.low_width as u8]);
    let mut start = PAYLOAD_OFFSET;
    for (index, &end) in ends.iter().enumerate() {
        put(64 + 16 * index, &(start - HEADER_BYTES).to_le_bytes());
        put(72 + 16 * index, &(end - start).to_le_bytes());
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
        self.crc = crc32c::crc32c_append(self.crc, bytes);
        self.out.write_at(self.offset, bytes)?;
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

/// Encodes rows, strictly ascending by key, into `out`.
pub fn encode<K, V>(
    rows: impl IntoIterator<Item = (K, Option<V>)>,
    out: impl Output,
) -> Result<Summary, EncodeError>
where
    K: AsRef<[u8]>,
    V: AsRef<[u8]>,
{
    let mut writer = FileWriter::new(out);
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
