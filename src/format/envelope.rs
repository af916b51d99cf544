//! The envelope that every Everett object shares: a header of 96 bytes, then the body.
//!
//! Integers are little-endian. The header's checksum covers the header with its own field as zero, and so the body's
//! checksum too. Knows nothing of what a body holds.

use super::FormatError;

/// Bytes of the header, and file offset of the body.
pub const HEADER_BYTES: u64 = 96;

/// Records in a physical block, and the sampling stride of indexes, in every file of the string policy.
pub const BLOCK_RECORDS: u64 = 15;

const SIGNATURE: [u8; 8] = *b"EVRT.KV\0";
const INDEX_SIGNATURE: [u8; 8] = *b"EVRT.IX\0";
const EARLY_SIGNATURE: [u8; 8] = *b"DIET.KV\0";

const FLAG_POLICY_WIDTH: u32 = 1;
const FLAG_COMMON_WIDTH: u32 = 2;

/// What a body's extent, offsets and widths count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes: the KV02 family.
    Bytes,
    /// Bits: the KV03 family.
    Bits,
}

impl Unit {
    /// Bits of one.
    pub const fn bits(self) -> u64 {
        match self {
            Unit::Bytes => 8,
            Unit::Bits => 1,
        }
    }

    /// The plural, for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Bytes => "bytes",
            Unit::Bits => "bits",
        }
    }
}

/// A checked header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What extents and widths count.
    pub unit: Unit,
    /// The size of every record's encoded value, in units, if it is declared.
    pub common_width: Option<u64>,
    /// Bytes of the body.
    pub body_bytes: u64,
    /// Number of records.
    pub records: u64,
    /// CRC-32C of the body.
    pub body_crc: u32,
}

/// A little-endian integer field, for readers that have checked the length.
pub(super) fn le<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    *bytes[at..].first_chunk().expect("the caller checked the length")
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(le(bytes, at))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(le(bytes, at))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(le(bytes, at))
}

/// CRC-32C of a header, its own field taken as zero.
fn header_crc(header: &[u8; 96]) -> u32 {
    let mut zeroed = *header;
    zeroed[68..72].fill(0);
    crc32c::crc32c(&zeroed)
}

impl Header {
    /// Checks the header of `file`, whole, against the string policy, in the order in which the reference reader does.
    /// Only the first 96 bytes and the length are looked at.
    pub fn open(file: &[u8]) -> Result<Header, FormatError> {
        let header = signed_header(file)?;
        check_version_and_crc(header)?;
        let flags = u32_at(header, 12);
        let unit = check_policy(header, flags)?;
        let common_width = check_widths(header, flags)?;
        let extent = u64_at(header, 48);
        let records = u64_at(header, 56);
        if let Some(width) = common_width
            && width != 0
            && records > extent / width
        {
            return Err(FormatError::corrupt(
                56,
                format!("{records} records with values of {width} units do not fit a body of {extent} units"),
            ));
        }
        let body_bytes = check_extent(header, extent, unit, file.len() as u64)?;
        Ok(Header { unit, common_width, body_bytes, records, body_crc: u32_at(header, 64) })
    }

    /// The header's bytes.
    pub fn to_bytes(self) -> [u8; 96] {
        let mut out = [0; 96];
        let mut put = |at: usize, field: &[u8]| out[at..at + field.len()].copy_from_slice(field);
        put(0, &SIGNATURE);
        put(8, &1_u16.to_le_bytes());
        put(10, &(HEADER_BYTES as u16).to_le_bytes());
        put(12, &(if self.common_width.is_some() { FLAG_COMMON_WIDTH } else { 0 }).to_le_bytes());
        put(16, &[if self.unit == Unit::Bits { 1 } else { 0 }, 1]);
        put(20, &(BLOCK_RECORDS as u32).to_le_bytes());
        put(24, &BLOCK_RECORDS.to_le_bytes());
        put(40, &self.common_width.unwrap_or(0).to_le_bytes());
        put(48, &(self.body_bytes * 8 / self.unit.bits()).to_le_bytes());
        put(56, &self.records.to_le_bytes());
        put(64, &self.body_crc.to_le_bytes());
        put(72, &HEADER_BYTES.to_le_bytes());
        put(80, &(HEADER_BYTES + self.body_bytes).to_le_bytes());
        let crc = header_crc(&out);
        out[68..72].copy_from_slice(&crc.to_le_bytes());
        out
    }

    /// Checks the body's checksum, given what was computed over the body.
    pub fn check_body_crc(&self, computed: u32) -> Result<(), FormatError> {
        if computed == self.body_crc {
            return Ok(());
        }
        Err(FormatError::corrupt(
            64,
            format!("the body's checksum is {computed:08x}, the header says {:08x}", self.body_crc),
        ))
    }
}

fn signed_header(file: &[u8]) -> Result<&[u8; 96], FormatError> {
    let signature = &file[..file.len().min(8)];
    let known = [SIGNATURE, INDEX_SIGNATURE, EARLY_SIGNATURE];
    let Some(header) = file.first_chunk::<96>() else {
        // A cut signature still says whose file it was, unless nothing is left of it.
        let ours = !signature.is_empty() && known.iter().any(|known| known.starts_with(signature));
        let what = format!("{} bytes, fewer than a header's 96", file.len());
        return Err(if ours { FormatError::corrupt(0, what) } else { FormatError::not_everett(0, what) });
    };
    match header.first_chunk() {
        Some(&SIGNATURE) => Ok(header),
        Some(&INDEX_SIGNATURE) => Err(FormatError::unsupported(0, "an index file, not a key-value file")),
        Some(&EARLY_SIGNATURE) => {
            Err(FormatError::unsupported(0, "a key-value file with the signature of early releases, DIET.KV"))
        }
        _ => Err(FormatError::not_everett(0, "the signature is not EVRT.KV")),
    }
}

fn check_version_and_crc(header: &[u8; 96]) -> Result<(), FormatError> {
    let version = u16_at(header, 8);
    if version != 1 {
        return Err(FormatError::unsupported(8, format!("envelope version {version}; weft reads version 1")));
    }
    let length = u16_at(header, 10);
    if u64::from(length) != HEADER_BYTES {
        return Err(FormatError::unsupported(10, format!("a header of {length} bytes; weft reads 96")));
    }
    let (stored, computed) = (u32_at(header, 68), header_crc(header));
    if stored != computed {
        return Err(FormatError::corrupt(
            68,
            format!("the header's checksum is {computed:08x}, the file says {stored:08x}"),
        ));
    }
    Ok(())
}

/// Gives the unit.
fn check_policy(header: &[u8; 96], flags: u32) -> Result<Unit, FormatError> {
    if flags & !(FLAG_POLICY_WIDTH | FLAG_COMMON_WIDTH) != 0 {
        return Err(FormatError::unsupported(12, format!("unknown flags {flags:#x}")));
    }
    let unit = match header[16] {
        0 => Unit::Bytes,
        1 => Unit::Bits,
        other => {
            return Err(FormatError::corrupt(16, format!("address unit {other} is neither bytes nor bits")));
        }
    };
    if header[17] != 1 {
        return Err(FormatError::unsupported(
            17,
            format!("checksum kind {}; weft reads CRC-32C", header[17]),
        ));
    }
    if header[19] != 0 {
        return Err(FormatError::corrupt(19, "a reserved byte is not zero"));
    }
    check_backspace_code(header)?;
    let block = u32_at(header, 20);
    if u64::from(block) != BLOCK_RECORDS {
        return Err(FormatError::unsupported(
            20,
            format!("blocks of {block} records; weft reads blocks of 15"),
        ));
    }
    let stride = u64_at(header, 24);
    if stride != BLOCK_RECORDS {
        return Err(FormatError::unsupported(24, format!("sampling stride {stride}; weft reads stride 15")));
    }
    if header[18] != 0 || u64_at(header, 88) != 0 {
        return Err(FormatError::unsupported(
            18,
            "a backspace code other than exponential-Golomb of order 0",
        ));
    }
    Ok(unit)
}

fn check_backspace_code(header: &[u8; 96]) -> Result<(), FormatError> {
    let parameter = u64_at(header, 88);
    match header[18] {
        0 if parameter > 63 => {
            Err(FormatError::corrupt(88, format!("an exponential-Golomb code of order {parameter}")))
        }
        1 if parameter == 0 => Err(FormatError::corrupt(88, "a Golomb code of modulus 0")),
        code if code > 1 => Err(FormatError::corrupt(18, format!("unknown backspace code {code}"))),
        _ => Ok(()),
    }
}

fn check_widths(header: &[u8; 96], flags: u32) -> Result<Option<u64>, FormatError> {
    let policy = u64_at(header, 32);
    if flags & FLAG_POLICY_WIDTH == 0 && policy != 0 {
        return Err(FormatError::corrupt(32, "a policy value width without its flag"));
    }
    let common = u64_at(header, 40);
    if flags & FLAG_COMMON_WIDTH == 0 && common != 0 {
        return Err(FormatError::corrupt(40, "a common value width without its flag"));
    }
    if flags & FLAG_POLICY_WIDTH != 0 {
        return Err(FormatError::unsupported(12, "a value width fixed by policy"));
    }
    Ok((flags & FLAG_COMMON_WIDTH != 0).then_some(common))
}

fn check_extent(header: &[u8; 96], extent: u64, unit: Unit, file_bytes: u64) -> Result<u64, FormatError> {
    let extent_bits = extent.checked_mul(unit.bits()).filter(|&bits| bits <= u64::MAX - 7);
    let Some(extent_bits) = extent_bits else {
        return Err(FormatError::corrupt(48, format!("a body of {extent} units is too large to be one")));
    };
    let body_offset = u64_at(header, 72);
    if body_offset != HEADER_BYTES {
        return Err(FormatError::corrupt(72, format!("the body starts at {body_offset}, not at 96")));
    }
    let body_bytes = extent_bits.div_ceil(8);
    let total = u64_at(header, 80);
    if total != HEADER_BYTES + body_bytes {
        return Err(FormatError::corrupt(
            80,
            format!("a file length of {total} bytes, but header and body take {}", HEADER_BYTES + body_bytes),
        ));
    }
    if total != file_bytes {
        return Err(FormatError::corrupt(
            80,
            format!("a file length of {total} bytes, but the file has {file_bytes}"),
        ));
    }
    // Last, as in the reference: some bodies of the bit family might end inside a byte, none that weft reads.
    if !extent_bits.is_multiple_of(8) {
        return Err(FormatError::corrupt(48, format!("a body of {extent_bits} bits is not whole bytes")));
    }
    Ok(body_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_round_trips() {
        for unit in [Unit::Bits, Unit::Bytes] {
            for common_width in [None, Some(12)] {
                let header = Header { unit, common_width, body_bytes: 256, records: 3, body_crc: 7 };
                let mut file = header.to_bytes().to_vec();
                file.resize(96 + 256, 0);
                assert_eq!(Header::open(&file), Ok(header));
            }
        }
    }

    #[test]
    fn the_checksum_is_castagnolis() {
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(crc32c::crc32c(b""), 0);
    }
}
