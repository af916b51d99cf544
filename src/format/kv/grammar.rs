//! What differs between the records of the two profiles: counts, and what delimits a value.
//!
//! Record i, with L the length of a key and s what it retains of its predecessor, both in units:
//!
//! ```text
//!            bit profile                       byte profile
//! control    E(1 + s) at a block's start       B(s) at a block's start
//!            else E(previous L - s)            else B(previous L - s)
//! suffix     E(L - s)                          B(L - s)
//! length                                       B(units of the value), unless all have a declared width
//! literal    the key's units from s on         the same
//! value      0                                 00                            absent
//!            1 E(bytes) bytes                  01 bytes                      present
//! ```
//!
//! where E is the exponential-Golomb code of order zero and B is LEB128. A bit profile's absolute position counts the
//! selector bit before the key. Everything is read and written through [`Grammar`], whose positions are in bits.

use crate::format::bits::{
    BitBuffer, Count, PEEK_BITS, bit, golomb_at, golomb_in, golomb_len, leb_at, load, peek, window,
};

use super::Profile;

/// The counts that begin a record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// What is retained, in one of the two ways, in units.
    pub control: u64,
    /// Units of the literal.
    pub suffix: u64,
    /// Where the suffix count begins.
    pub suffix_at: u64,
    /// Units of the value, if the record says so before it.
    pub value: Option<u64>,
    /// Where the literal begins.
    pub literal_at: u64,
}

/// A part of a record that cannot be: where, and what is wrong.
pub(crate) type Broken = (u64, String);

/// How a profile writes records. One implementation a profile; hot loops are compiled once for each.
pub(crate) trait Grammar {
    /// Which it is.
    const PROFILE: Profile;
    /// Bits of a unit.
    const UNIT: u64 = Self::PROFILE.unit().bits();
    /// The unit's name, for messages.
    const UNITS: &'static str = Self::PROFILE.unit().name();
    /// Units that the control of a block's first record counts before the key.
    const SELECTOR: u64 = Self::PROFILE.selector_units();

    /// Reads the counts at `at`; a value's too, unless its width is `declared`. Reads zeros past the end; whoever calls compares
    /// `literal_at` with the payload's extent.
    fn head(payload: &[u8], at: u64, declared: bool) -> Result<Head, Broken>;

    /// The unit at `at`, as a number; zero past the end.
    fn unit(bytes: &[u8], at: u64) -> u64;

    /// Where a value at `at` ends, that has `units` if the record or the header says so. Checks that it is a value and ends
    /// within `payload_bits`.
    fn value_end(payload: &[u8], at: u64, units: Option<u64>, payload_bits: u64) -> Result<u64, Broken>;

    /// The bytes of a value from `at` to `end`, copied into `into` if need be; `None` for a tombstone.
    fn value<'b>(payload: &'b [u8], at: u64, end: u64, into: &'b mut Vec<u8>) -> Option<&'b [u8]>;

    /// Whether the value at `at` is a tombstone.
    fn is_tombstone(payload: &[u8], at: u64) -> bool;

    /// Appends a count.
    fn put_count(out: &mut BitBuffer, x: u64);

    /// Appends what precedes the bytes of a value of so many bytes, or all of an absent one.
    fn put_value_head(out: &mut BitBuffer, bytes: Option<u64>);

    /// Bits of an encoded value of so many bytes.
    fn value_bits(bytes: Option<u64>) -> u64;
}

/// The bit profile's records.
pub(crate) enum Bits {}

impl Grammar for Bits {
    const PROFILE: Profile = Profile::Kv03;

    #[inline(always)]
    fn head(payload: &[u8], at: u64, _declared: bool) -> Result<Head, Broken> {
        let word = peek(payload, at);
        let Some(control) = golomb_in(word, PEEK_BITS).or_else(|| golomb_at(payload, at)) else {
            return broken(at, "the control count is endless");
        };
        let after = PEEK_BITS.saturating_sub(control.len as u32);
        let suffix_at = at + control.len;
        let suffix = golomb_in(word << (control.len & 63), after);
        let Some(suffix) = suffix.or_else(|| golomb_at(payload, suffix_at)) else {
            return broken(suffix_at, "the suffix count is endless");
        };
        let literal_at = suffix_at + suffix.len;
        Ok(Head { control: control.value, suffix: suffix.value, suffix_at, value: None, literal_at })
    }

    #[inline(always)]
    fn unit(bytes: &[u8], at: u64) -> u64 {
        u64::from(bit(bytes, at))
    }

    #[inline(always)]
    fn value_end(payload: &[u8], at: u64, _units: Option<u64>, payload_bits: u64) -> Result<u64, Broken> {
        let word = peek(payload, at);
        let end = if word >> 63 == 0 {
            at + 1
        } else {
            let count = golomb_in(word << 1, PEEK_BITS - 1);
            let Some(count) = count.or_else(|| golomb_at(payload, at + 1)) else {
                return broken(at, "the value's count is endless");
            };
            let bytes_at = at + 1 + count.len;
            if bytes_at > payload_bits || count.value > (payload_bits - bytes_at) / 8 {
                return past_end(at, count.value);
            }
            bytes_at + 8 * count.value
        };
        if end > payload_bits {
            return broken(at, "the value's tag is cut off by the end of the payload");
        }
        Ok(end)
    }

    fn value<'b>(payload: &'b [u8], at: u64, end: u64, into: &'b mut Vec<u8>) -> Option<&'b [u8]> {
        if end - at == 1 {
            return None;
        }
        let count = golomb_at(payload, at + 1)?;
        let at = at + 1 + count.len;
        into.clear();
        into.reserve(count.value as usize + 8);
        let whole = count.value / 8;
        for word in 0..whole {
            into.extend_from_slice(&window(payload, at + 64 * word).to_be_bytes());
        }
        for byte in 8 * whole..count.value {
            into.push((peek(payload, at + 8 * byte) >> 56) as u8);
        }
        Some(into)
    }

    fn is_tombstone(payload: &[u8], at: u64) -> bool {
        !bit(payload, at)
    }

    #[inline(always)]
    fn put_count(out: &mut BitBuffer, x: u64) {
        out.put_golomb(x);
    }

    fn put_value_head(out: &mut BitBuffer, bytes: Option<u64>) {
        out.put(bytes.is_some().into(), 1);
        if let Some(bytes) = bytes {
            out.put_golomb(bytes);
        }
    }

    fn value_bits(bytes: Option<u64>) -> u64 {
        bytes.map_or(1, |bytes| 1 + golomb_len(bytes) + 8 * bytes)
    }
}

/// The byte profile's records.
pub(crate) enum Bytes {}

/// The first byte of an encoded value in the byte profile.
const ABSENT: u8 = 0;
const PRESENT: u8 = 1;

impl Grammar for Bytes {
    const PROFILE: Profile = Profile::Kv02;

    #[inline(always)]
    fn head(payload: &[u8], at: u64, declared: bool) -> Result<Head, Broken> {
        let count = |at: u64| -> Result<Count, Broken> {
            match leb_at(payload, (at / 8) as usize) {
                Some(count) => Ok(count),
                None => broken(at, "a count is not canonical LEB128"),
            }
        };
        let control = count(at)?;
        let suffix_at = at + control.len;
        let suffix = count(suffix_at)?;
        let mut literal_at = suffix_at + suffix.len;
        let mut value = None;
        if !declared {
            let length = count(literal_at)?;
            literal_at += length.len;
            value = Some(length.value);
        }
        Ok(Head { control: control.value, suffix: suffix.value, suffix_at, value, literal_at })
    }

    #[inline(always)]
    fn unit(bytes: &[u8], at: u64) -> u64 {
        load(bytes, (at / 8) as usize) >> 56
    }

    #[inline(always)]
    fn value_end(payload: &[u8], at: u64, units: Option<u64>, payload_bits: u64) -> Result<u64, Broken> {
        let units = units.unwrap_or(0);
        if units == 0 {
            return broken(at, "a value of 0 bytes has no tag");
        }
        if units > (payload_bits - at) / 8 {
            return past_end(at, units);
        }
        match payload.get((at / 8) as usize) {
            Some(&PRESENT) => {}
            Some(&ABSENT) if units == 1 => {}
            Some(&ABSENT) => return broken(at, "a tombstone is followed by bytes"),
            tag => {
                let tag = tag.copied().unwrap_or(0);
                return broken(
                    at,
                    format!("a value's tag is {tag:#04x}, neither absent (0) nor present (1)"),
                );
            }
        }
        Ok(at + 8 * units)
    }

    fn value<'b>(payload: &'b [u8], at: u64, end: u64, _into: &'b mut Vec<u8>) -> Option<&'b [u8]> {
        let (&tag, bytes) = payload.get((at / 8) as usize..(end / 8) as usize)?.split_first()?;
        (tag == PRESENT).then_some(bytes)
    }

    fn is_tombstone(payload: &[u8], at: u64) -> bool {
        Self::unit(payload, at) == u64::from(ABSENT)
    }

    #[inline(always)]
    fn put_count(out: &mut BitBuffer, x: u64) {
        out.put_leb(x);
    }

    fn put_value_head(out: &mut BitBuffer, bytes: Option<u64>) {
        out.put(if bytes.is_some() { PRESENT } else { ABSENT }.into(), 8);
    }

    fn value_bits(bytes: Option<u64>) -> u64 {
        8 + 8 * bytes.unwrap_or(0)
    }
}

#[cold]
fn broken<T>(at: u64, what: impl Into<String>) -> Result<T, Broken> {
    Err((at, what.into()))
}

#[cold]
fn past_end<T>(at: u64, bytes: u64) -> Result<T, Broken> {
    broken(at, format!("a value of {bytes} bytes passes the end of the payload"))
}
