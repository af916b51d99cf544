//! KV03, the bit profile: front-coded byte-string keys and optional byte-string values, addressed in bits.
//!
//! A body is a directory of 192 bytes and eight sections at multiples of 8: payload, the four Elias-Fano sections of block
//! offsets, the selector dictionary (one code, the bit 0), its offsets, and block seeds (none). The payload is one bit
//! string of records; see [`cursor`] for its grammar.

mod cursor;
mod rows;
mod scan;
mod writer;

use super::elias_fano::{Section, Sections, Shape};
use super::envelope::{BLOCK_RECORDS, HEADER_BYTES, Header, Unit, le, u64_at};
use super::{FormatError, FormatErrorKind};

pub use cursor::{Cursor, Record};
pub use rows::{Row, Rows};
pub use scan::{Deviation, ScanReport};
pub use writer::{Contents, EncodeError, FileWriter, Summary, assemble, encode};

/// Bytes of the directory.
pub const DIRECTORY_BYTES: u64 = 192;

/// File offset of the payload, which always comes first.
pub const PAYLOAD_OFFSET: u64 = HEADER_BYTES + DIRECTORY_BYTES;

/// Names of the eight sections, in file order.
pub const SECTION_NAMES: [&str; 8] = [
    "payload",
    "offset lows",
    "offset highs",
    "offset samples",
    "offset exceptions",
    "dictionary",
    "dictionary offsets",
    "block seeds",
];

/// A range of bytes relative to the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First byte.
    pub offset: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// A checked directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directory {
    /// Extent of the payload in bits, P.
    pub payload_bits: u64,
    /// Length of the last key in bits, with the selector bit; 0 without records.
    pub terminal_bits: u64,
    /// Shape of the offset sequence: one entry a block and one for the end.
    pub offsets: Shape,
    /// The sections.
    pub sections: [Extent; 8],
}

/// An opened KV03 file: header and directory checked, contents not yet read.
#[derive(Clone, Copy, Debug)]
pub struct Kv03<'a> {
    file: &'a [u8],
    /// The header.
    pub header: Header,
    /// The directory.
    pub directory: Directory,
}

impl<'a> Kv03<'a> {
    /// Opens a whole file in memory or a mapping. Reads header and directory only, and checks of them everything that the
    /// reference reader does, in its order.
    pub fn open(file: &'a [u8]) -> Result<Kv03<'a>, FormatError> {
        let header = Header::open(file, Unit::Bits)?;
        let directory = open_directory(&file[HEADER_BYTES as usize..], &header)?;
        Ok(Kv03 { file, header, directory })
    }

    /// Number of records.
    pub fn records(&self) -> u64 {
        self.header.records
    }

    /// The whole file.
    pub fn file(&self) -> &'a [u8] {
        self.file
    }

    /// The body.
    pub fn body(&self) -> &'a [u8] {
        &self.file[HEADER_BYTES as usize..]
    }

    /// The bytes of a section, by index.
    pub fn section(&self, index: usize) -> &'a [u8] {
        let Extent { offset, bytes } = self.directory.sections[index];
        &self.body()[offset as usize..(offset + bytes) as usize]
    }

    /// The four Elias-Fano sections.
    pub fn offset_sections(&self) -> Sections<'a> {
        Sections([1, 2, 3, 4].map(|index| self.section(index)))
    }

    /// The common width of values in bits where it is declared, else 0: what the offset sequence leaves out.
    pub fn offset_stride(&self) -> u64 {
        self.header.common_width.unwrap_or(0)
    }

    /// Checks everything that no record says: dictionary, zeros between sections and after the payload, and that the
    /// offset sections are exactly what an encoder writes for the sequence they hold, whatever that is.
    pub fn check_frame(&self) -> Result<(), FormatError> {
        self.check_constants()?;
        self.offset_sections().check(self.directory.offsets).map_err(|mismatch| {
            FormatError::corrupt(
                offset_word_at(&self.directory, mismatch.section, mismatch.word),
                format!("word {} of the {} is not what it must be", mismatch.word, mismatch.section.name()),
            )
        })
    }

    /// Dictionary, gaps between sections, and the payload's last bits.
    fn check_constants(&self) -> Result<(), FormatError> {
        let [dictionary, offsets] = [5, 6].map(|index| self.directory.sections[index].offset);
        if self.records() > 0 && self.section(5)[0] != 0 {
            return corrupt(dictionary, "the dictionary's selector is not the bit 0");
        }
        for (index, word) in self.section(6).chunks_exact(8).enumerate() {
            if word != (index as u64).to_le_bytes() {
                return corrupt(
                    offsets + 8 * index as u64,
                    format!("dictionary offset {index} is not {index}"),
                );
            }
        }
        let payload_bits = self.directory.payload_bits;
        if !payload_bits.is_multiple_of(8) {
            let last = self.section(0)[(payload_bits / 8) as usize];
            if last << (payload_bits % 8) != 0 {
                return corrupt(
                    DIRECTORY_BYTES + payload_bits / 8,
                    "bits after the payload's end are not zero",
                );
            }
        }
        for pair in self.directory.sections.windows(2) {
            let gap = (pair[0].offset + pair[0].bytes) as usize..pair[1].offset as usize;
            if let Some(index) = self.body()[gap.clone()].iter().position(|&byte| byte != 0) {
                return corrupt((gap.start + index) as u64, "a byte between two sections is not zero");
            }
        }
        Ok(())
    }

    /// Payload position of block `block`, in bits, by its entry in the offset sections; the payload's end for the entry
    /// past the last block. `None` if the sections break their rules there.
    pub fn block_start(&self, block: u64) -> Option<u64> {
        let records = block.checked_mul(BLOCK_RECORDS)?.min(self.records());
        let residual = self.offset_sections().select(self.directory.offsets, block)?;
        residual.checked_add(records.checked_mul(self.offset_stride())?)
    }
}

/// File offset of a word of an offset section.
fn offset_word_at(directory: &Directory, section: Section, word: u64) -> u64 {
    HEADER_BYTES + directory.sections[1 + section as usize].offset + 8 * word
}

fn corrupt<T>(body_offset: u64, what: impl Into<String>) -> Result<T, FormatError> {
    Err(FormatError::corrupt(HEADER_BYTES + body_offset, what))
}

/// Number of offset entries for so many records: one a block and one for the end.
fn offset_entries(records: u64) -> u64 {
    records.div_ceil(BLOCK_RECORDS) + 1
}

fn open_directory(body: &[u8], header: &Header) -> Result<Directory, FormatError> {
    if header.body_bytes < DIRECTORY_BYTES || body.len() as u64 != header.body_bytes {
        return Err(FormatError::corrupt(
            48,
            format!("a body of {} bytes cannot hold a directory of 192", header.body_bytes),
        ));
    }
    check_head(body)?;
    let sections = read_sections(body, header.body_bytes)?;
    let directory = Directory {
        payload_bits: u64_at(body, 8),
        terminal_bits: u64_at(body, 16),
        offsets: Shape {
            entries: offset_entries(header.records),
            universe: u64_at(body, 24),
            low_width: u32::from(body[48]),
        },
        sections,
    };
    let dictionary_bits = u64_at(body, 32);
    let seed_bits = u64_at(body, 40);
    check_bit_extents(&directory, dictionary_bits, seed_bits)?;
    check_offset_shape(&directory)?;
    check_counts(&directory, header, dictionary_bits, seed_bits)?;
    Ok(directory)
}

fn check_head(body: &[u8]) -> Result<(), FormatError> {
    let tag: [u8; 4] = le(body, 0);
    if &tag != b"KV03" {
        let what = format!("the directory is tagged {:?}, not \"KV03\"", String::from_utf8_lossy(&tag));
        let kind =
            if tag.starts_with(b"KV") { FormatErrorKind::Unsupported } else { FormatErrorKind::Corrupt };
        return Err(FormatError { kind, offset: HEADER_BYTES, what });
    }
    let (revision, count) = (u16::from_le_bytes(le(body, 4)), u16::from_le_bytes(le(body, 6)));
    if (revision, count) != (3, 8) {
        return Err(FormatError::unsupported(
            HEADER_BYTES + 4,
            format!("revision {revision} with {count} sections; weft reads revision 3 with 8"),
        ));
    }
    match body[49..64].iter().position(|&byte| byte != 0) {
        Some(index) => corrupt(49 + index as u64, "a reserved byte of the directory is not zero"),
        None => Ok(()),
    }
}

fn read_sections(body: &[u8], body_bytes: u64) -> Result<[Extent; 8], FormatError> {
    let mut sections = [Extent { offset: 0, bytes: 0 }; 8];
    let mut end = DIRECTORY_BYTES;
    for (index, section) in sections.iter_mut().enumerate() {
        let at = 64 + 16 * index;
        let (offset, bytes) = (u64_at(body, at), u64_at(body, at + 8));
        let name = SECTION_NAMES[index];
        // `end` is inside the body, so that rounding up stays far from 2^64.
        let expected = end.next_multiple_of(8);
        if offset != expected {
            return corrupt(
                at as u64,
                format!("section {name} is said to start at {offset}, it must at {expected}"),
            );
        }
        end = match offset.checked_add(bytes) {
            Some(end) if end <= body_bytes => end,
            _ => {
                return corrupt(
                    at as u64 + 8,
                    format!(
                        "section {name} with {bytes} bytes at {offset} leaves the body of {body_bytes} bytes"
                    ),
                );
            }
        };
        *section = Extent { offset, bytes };
    }
    if end != body_bytes {
        return corrupt(64 + 16 * 7, format!("the last section ends at {end}, the body at {body_bytes}"));
    }
    Ok(sections)
}

fn check_bit_extents(directory: &Directory, dictionary_bits: u64, seed_bits: u64) -> Result<(), FormatError> {
    let extents = [(0, 8, directory.payload_bits), (5, 32, dictionary_bits), (7, 40, seed_bits)];
    for (section, field, bits) in extents {
        let bytes = directory.sections[section].bytes;
        if bits.div_ceil(8) != bytes {
            let name = SECTION_NAMES[section];
            return corrupt(field, format!("{bits} bits of {name} do not take the section's {bytes} bytes"));
        }
    }
    Ok(())
}

fn check_offset_shape(directory: &Directory) -> Result<(), FormatError> {
    for (section, multiple) in [(1, 8), (2, 8), (3, 16), (4, 8)] {
        let bytes = directory.sections[section].bytes;
        if !bytes.is_multiple_of(multiple) {
            let name = SECTION_NAMES[section];
            return corrupt(
                72 + 16 * section as u64,
                format!("section {name} has {bytes} bytes, not a multiple of {multiple}"),
            );
        }
    }
    let shape = directory.offsets;
    if shape.low_width > 63 {
        return corrupt(48, format!("a low width of {} bits", shape.low_width));
    }
    let Some(words) = shape.words() else {
        return corrupt(24, "the offset sections would pass 2^64 bits");
    };
    for (section, words) in [1, 2, 3].into_iter().zip(words) {
        let bytes = directory.sections[section].bytes;
        if bytes / 8 != words {
            let name = SECTION_NAMES[section];
            return corrupt(
                72 + 16 * section as u64,
                format!("section {name} has {} words, its shape needs {words}", bytes / 8),
            );
        }
    }
    Ok(())
}

fn check_counts(
    directory: &Directory,
    header: &Header,
    dictionary_bits: u64,
    seed_bits: u64,
) -> Result<(), FormatError> {
    let (records, payload) = (header.records, directory.payload_bits);
    let dictionary_offsets = directory.sections[6].bytes;
    if dictionary_offsets == 0 || !dictionary_offsets.is_multiple_of(8) {
        return corrupt(64 + 16 * 6 + 8, format!("dictionary offsets of {dictionary_offsets} bytes"));
    }
    let codes = dictionary_offsets / 8 - 1;
    if records == 0 && (payload != 0 || directory.terminal_bits != 0) {
        return corrupt(8, "no records, but a payload or a last key");
    }
    if let (0, Some(width @ 1..)) = (records, header.common_width) {
        return Err(FormatError::corrupt(
            40,
            format!("no records, but a common value width of {width} bits"),
        ));
    }
    if (records > 0) != (codes > 0) {
        return corrupt(64 + 16 * 6 + 8, format!("{records} records with {codes} dictionary codes"));
    }
    if codes > 1 {
        return Err(FormatError::unsupported(
            HEADER_BYTES + 64 + 16 * 6 + 8,
            format!("{codes} sorts in one file; weft reads one"),
        ));
    }
    // One sort has a code of one bit, and no record says which sort it is of.
    if dictionary_bits != codes || seed_bits != 0 {
        return corrupt(
            32,
            format!("a dictionary of {dictionary_bits} bits and seeds of {seed_bits} for one sort"),
        );
    }
    let stride = header.common_width.unwrap_or(0);
    let values = records.checked_mul(stride).filter(|&values| values <= payload);
    let Some(values) = values else {
        return corrupt(
            8,
            format!("{records} values of {stride} bits do not fit a payload of {payload} bits"),
        );
    };
    if directory.offsets.universe != payload - values {
        return corrupt(
            24,
            format!(
                "the offset universe is {}, payload and values make it {}",
                directory.offsets.universe,
                payload - values
            ),
        );
    }
    Ok(())
}
