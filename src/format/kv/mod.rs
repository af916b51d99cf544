//! Key-value files: front-coded byte-string keys and optional byte-string values, in one of two profiles.
//!
//! A body is a directory and sections at multiples of 8: the payload, the four Elias-Fano sections of block offsets, and in
//! the bit profile the selector dictionary (one code, the bit 0), its offsets, and block seeds (none). The payload is one
//! string of records; see [`cursor`] for its grammar. Positions and lengths are in bits here whatever the profile; offsets
//! and widths that a file states are in its profile's unit, and say so.

mod cursor;
mod grammar;
mod rows;
mod scan;
mod writer;

use super::elias_fano::{Section, Sections, Shape};
use super::envelope::{BLOCK_RECORDS, HEADER_BYTES, Header, Unit, le, u64_at};
use super::{FormatError, FormatErrorKind};

pub use cursor::{Cursor, Record};
pub(crate) use grammar::{Bits, Bytes, Grammar};
pub use rows::{Row, Rows};
pub use scan::{Deviation, ScanReport};
pub use writer::{Contents, EncodeError, FileWriter, Framing, Summary, assemble, encode};

/// What a file's addresses count, and with that how its records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// KV02, the byte profile: LEB128 counts, whole bytes retained, common widths left out of the records.
    Kv02,
    /// KV03, the bit profile: exponential-Golomb counts, prefixes retained to the bit.
    Kv03,
}

/// Where a profile's directory has its fields.
struct DirectoryLayout {
    tag: &'static [u8; 4],
    revision: u16,
    bytes: u64,
    /// Where the offsets' low width stands; the bytes from the next one to the sections' descriptors are reserved.
    low_width_at: usize,
    sections_at: usize,
}

impl Profile {
    /// Both.
    pub const ALL: [Profile; 2] = [Profile::Kv02, Profile::Kv03];

    /// The profile's name, as its directories spell it.
    pub fn name(self) -> &'static str {
        match self {
            Profile::Kv02 => "KV02",
            Profile::Kv03 => "KV03",
        }
    }

    /// The same in lower case, as graphs and reports spell it.
    pub fn family(self) -> &'static str {
        match self {
            Profile::Kv02 => "kv02",
            Profile::Kv03 => "kv03",
        }
    }

    /// What addresses, extents and widths count.
    pub const fn unit(self) -> Unit {
        match self {
            Profile::Kv02 => Unit::Bytes,
            Profile::Kv03 => Unit::Bits,
        }
    }

    /// Bytes of the directory.
    pub const fn directory_bytes(self) -> u64 {
        self.layout().bytes
    }

    /// File offset of the payload, which always comes first.
    pub const fn payload_offset(self) -> u64 {
        HEADER_BYTES + self.directory_bytes()
    }

    /// Names of the sections, in file order. The first five are the same in both profiles.
    pub fn section_names(self) -> &'static [&'static str] {
        match self {
            Profile::Kv02 => &SECTION_NAMES[..5],
            Profile::Kv03 => &SECTION_NAMES,
        }
    }

    /// Units that a stored key length counts beside the key: the bit profile's selector.
    pub const fn selector_units(self) -> u64 {
        match self {
            Profile::Kv02 => 0,
            Profile::Kv03 => 1,
        }
    }

    const fn layout(self) -> &'static DirectoryLayout {
        match self {
            Profile::Kv02 => {
                &DirectoryLayout { tag: b"KV02", revision: 2, bytes: 128, low_width_at: 32, sections_at: 48 }
            }
            Profile::Kv03 => {
                &DirectoryLayout { tag: b"KV03", revision: 3, bytes: 192, low_width_at: 48, sections_at: 64 }
            }
        }
    }

    fn of(unit: Unit) -> Profile {
        match unit {
            Unit::Bytes => Profile::Kv02,
            Unit::Bits => Profile::Kv03,
        }
    }
}

const SECTION_NAMES: [&str; 8] = [
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
    /// Extent of the payload in bits.
    pub payload_bits: u64,
    /// Length of the last key in units, with the selector where there is one; 0 without records.
    pub terminal: u64,
    /// Shape of the offset sequence, in units: one entry a block and one for the end.
    pub offsets: Shape,
    /// The sections; those that the profile does not have are empty.
    pub sections: [Extent; 8],
}

/// An opened key-value file: header and directory checked, contents not yet read.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    file: &'a [u8],
    /// The profile, as header and directory agree on it.
    pub profile: Profile,
    /// The header.
    pub header: Header,
    /// The directory.
    pub directory: Directory,
}

impl<'a> File<'a> {
    /// Opens a whole file in memory or a mapping. Reads header and directory only, and checks of them everything that the
    /// reference reader does, in its order.
    pub fn open(file: &'a [u8]) -> Result<File<'a>, FormatError> {
        let header = Header::open(file)?;
        let profile = Profile::of(header.unit);
        let directory = open_directory(&file[HEADER_BYTES as usize..], &header, profile)?;
        Ok(File { file, profile, header, directory })
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

    /// The common width of values in units where it is declared, else 0: what the offset sequence leaves out.
    pub fn offset_stride(&self) -> u64 {
        self.header.common_width.unwrap_or(0)
    }

    /// The declared common width of encoded values, in bits.
    pub fn value_width_bits(&self) -> Option<u64> {
        self.header.common_width.map(|width| width.saturating_mul(self.profile.unit().bits()))
    }

    /// Bits of the last key, as the directory states it; 0 without records.
    pub fn last_key_bits(&self) -> u64 {
        let key = self.directory.terminal.saturating_sub(self.profile.selector_units());
        key.saturating_mul(self.profile.unit().bits())
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

    /// Dictionary, gaps between sections, the payload's last bits, and how offsets are split in the byte profile, which unlike
    /// the bit profile knows only one way.
    fn check_constants(&self) -> Result<(), FormatError> {
        let (shape, layout) = (self.directory.offsets, self.profile.layout());
        let canonical = Shape::canonical(shape.entries, shape.universe).low_width;
        if self.profile == Profile::Kv02 && shape.low_width != canonical {
            return corrupt(
                layout.low_width_at as u64,
                format!("a low width of {} bits where these offsets take {canonical}", shape.low_width),
            );
        }
        if self.records() > 0 && self.header.common_width == Some(0) {
            return Err(FormatError::corrupt(40, "records, but a common value width of 0"));
        }
        let [dictionary, offsets] = [5, 6].map(|index| self.directory.sections[index].offset);
        if self.section(5).first().is_some_and(|&code| code != 0) {
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
                    self.profile.directory_bytes() + payload_bits / 8,
                    "bits after the payload's end are not zero",
                );
            }
        }
        let sections = &self.directory.sections[..self.profile.section_names().len()];
        for pair in sections.windows(2) {
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
        let start = residual.checked_add(records.checked_mul(self.offset_stride())?)?;
        start.checked_mul(self.profile.unit().bits())
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

fn open_directory(body: &[u8], header: &Header, profile: Profile) -> Result<Directory, FormatError> {
    let layout = profile.layout();
    if header.body_bytes < layout.bytes || body.len() as u64 != header.body_bytes {
        return Err(FormatError::corrupt(
            48,
            format!("a body of {} bytes cannot hold a directory of {}", header.body_bytes, layout.bytes),
        ));
    }
    check_head(body, profile)?;
    let sections = read_sections(body, header.body_bytes, profile)?;
    let payload = u64_at(body, 8);
    check_bit_extent(&sections, 0, 8, payload, profile.unit())?;
    let directory = Directory {
        // No overflow: the payload is a section of the file.
        payload_bits: payload * profile.unit().bits(),
        terminal: u64_at(body, 16),
        offsets: Shape {
            entries: offset_entries(header.records),
            universe: u64_at(body, 24),
            low_width: u32::from(body[layout.low_width_at]),
        },
        sections,
    };
    let selector = match profile {
        Profile::Kv02 => None,
        Profile::Kv03 => Some(Selector { dictionary_bits: u64_at(body, 32), seed_bits: u64_at(body, 40) }),
    };
    if let Some(Selector { dictionary_bits, seed_bits }) = selector {
        check_bit_extent(&sections, 5, 32, dictionary_bits, Unit::Bits)?;
        check_bit_extent(&sections, 7, 40, seed_bits, Unit::Bits)?;
    }
    check_offset_shape(&directory, layout)?;
    check_counts(&directory, header)?;
    if let Some(selector) = selector {
        check_selector(&directory, header, selector)?;
    }
    check_universe(&directory, header, payload)?;
    Ok(directory)
}

/// What the directory of the bit profile says of sorts.
#[derive(Clone, Copy)]
struct Selector {
    dictionary_bits: u64,
    seed_bits: u64,
}

fn check_head(body: &[u8], profile: Profile) -> Result<(), FormatError> {
    let layout = profile.layout();
    let tag: [u8; 4] = le(body, 0);
    if &tag != layout.tag {
        let what =
            format!("the directory is tagged {:?}, not {:?}", String::from_utf8_lossy(&tag), profile.name());
        let kind =
            if tag.starts_with(b"KV") { FormatErrorKind::Unsupported } else { FormatErrorKind::Corrupt };
        return Err(FormatError { kind, offset: HEADER_BYTES, what });
    }
    let (revision, count) = (u16::from_le_bytes(le(body, 4)), u16::from_le_bytes(le(body, 6)));
    let (known_revision, known_count) = (layout.revision, profile.section_names().len());
    if (revision, usize::from(count)) != (known_revision, known_count) {
        return Err(FormatError::unsupported(
            HEADER_BYTES + 4,
            format!(
                "revision {revision} with {count} sections; weft reads revision {known_revision} with {known_count}"
            ),
        ));
    }
    let reserved = layout.low_width_at + 1;
    match body[reserved..layout.sections_at].iter().position(|&byte| byte != 0) {
        Some(index) => corrupt((reserved + index) as u64, "a reserved byte of the directory is not zero"),
        None => Ok(()),
    }
}

fn read_sections(body: &[u8], body_bytes: u64, profile: Profile) -> Result<[Extent; 8], FormatError> {
    let layout = profile.layout();
    let names = profile.section_names();
    let mut sections = [Extent { offset: body_bytes, bytes: 0 }; 8];
    let mut end = layout.bytes;
    for (index, (section, name)) in sections.iter_mut().zip(names).enumerate() {
        let at = layout.sections_at + 16 * index;
        let (offset, bytes) = (u64_at(body, at), u64_at(body, at + 8));
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
        let last = layout.sections_at + 16 * (names.len() - 1);
        return corrupt(last as u64, format!("the last section ends at {end}, the body at {body_bytes}"));
    }
    Ok(sections)
}

/// Checks that a section has the bytes that its extent, stated at `field` of the directory, takes.
fn check_bit_extent(
    sections: &[Extent; 8],
    section: usize,
    field: u64,
    units: u64,
    unit: Unit,
) -> Result<(), FormatError> {
    let bytes = sections[section].bytes;
    let needed = match unit {
        Unit::Bytes => units,
        Unit::Bits => units.div_ceil(8),
    };
    if needed != bytes {
        let (unit, name) = (unit.name(), SECTION_NAMES[section]);
        return corrupt(field, format!("{units} {unit} of {name} do not take the section's {bytes} bytes"));
    }
    Ok(())
}

fn check_offset_shape(directory: &Directory, layout: &DirectoryLayout) -> Result<(), FormatError> {
    let length_at = |section: usize| (layout.sections_at + 16 * section + 8) as u64;
    for (section, multiple) in [(1, 8), (2, 8), (3, 16), (4, 8)] {
        let bytes = directory.sections[section].bytes;
        if !bytes.is_multiple_of(multiple) {
            let name = SECTION_NAMES[section];
            return corrupt(
                length_at(section),
                format!("section {name} has {bytes} bytes, not a multiple of {multiple}"),
            );
        }
    }
    let shape = directory.offsets;
    if shape.low_width > 63 {
        return corrupt(layout.low_width_at as u64, format!("a low width of {} bits", shape.low_width));
    }
    let Some(words) = shape.words() else {
        return corrupt(24, "the offset sections would pass 2^64 bits");
    };
    for (section, words) in [1, 2, 3].into_iter().zip(words) {
        let bytes = directory.sections[section].bytes;
        if bytes / 8 != words {
            let name = SECTION_NAMES[section];
            return corrupt(
                length_at(section),
                format!("section {name} has {} words, its shape needs {words}", bytes / 8),
            );
        }
    }
    Ok(())
}

fn check_counts(directory: &Directory, header: &Header) -> Result<(), FormatError> {
    if header.records == 0 && (directory.payload_bits != 0 || directory.terminal != 0) {
        return corrupt(8, "no records, but a payload or a last key");
    }
    Ok(())
}

/// Checks that the bit profile's dictionary, seeds and widths are those of one sort.
fn check_selector(directory: &Directory, header: &Header, selector: Selector) -> Result<(), FormatError> {
    let records = header.records;
    let length_at = 64 + 16 * 6 + 8;
    let dictionary_offsets = directory.sections[6].bytes;
    if dictionary_offsets == 0 || !dictionary_offsets.is_multiple_of(8) {
        return corrupt(length_at, format!("dictionary offsets of {dictionary_offsets} bytes"));
    }
    let codes = dictionary_offsets / 8 - 1;
    if let (0, Some(width @ 1..)) = (records, header.common_width) {
        return Err(FormatError::corrupt(
            40,
            format!("no records, but a common value width of {width} bits"),
        ));
    }
    if (records > 0) != (codes > 0) {
        return corrupt(length_at, format!("{records} records with {codes} dictionary codes"));
    }
    if codes > 1 {
        return Err(FormatError::unsupported(
            HEADER_BYTES + length_at,
            format!("{codes} sorts in one file; weft reads one"),
        ));
    }
    // One sort has a code of one bit, and no record says which sort it is of.
    let Selector { dictionary_bits, seed_bits } = selector;
    if dictionary_bits != codes || seed_bits != 0 {
        return corrupt(
            32,
            format!("a dictionary of {dictionary_bits} bits and seeds of {seed_bits} for one sort"),
        );
    }
    Ok(())
}

/// Checks that the last offset is the payload's extent less all values of a declared width; all in units.
fn check_universe(directory: &Directory, header: &Header, payload: u64) -> Result<(), FormatError> {
    let (records, unit) = (header.records, header.unit.name());
    let stride = header.common_width.unwrap_or(0);
    let values = records.checked_mul(stride).filter(|&values| values <= payload);
    let Some(values) = values else {
        return corrupt(
            8,
            format!("{records} values of {stride} {unit} do not fit a payload of {payload} {unit}"),
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
