//! `emit/bytes`

use super::words::put;
use crate::format::envelope::BLOCK_RECORDS;
use crate::reference::layout::Layout;
use crate::reference::payload::window;
use crate::reference::{Call, Fault, Port};

/// Each surviving record of the byte profile from its offset on: its counts, and then what is left of its key and its value,
/// which follow one another in its input.
pub(in crate::reference) fn bytes(call: &Call<'_>) -> Result<(), Fault> {
    let layout = Layout::of(call)?;
    let files = [call.port("older")?, call.port("newer")?];
    let (literal_starts, retained) = (call.port("literal_starts")?, call.port("retained")?);
    let (key_bits, value_bits) = (call.port("key_bits")?, call.port("value_bits")?);
    let (refs, shared_bits) = (call.port("refs")?, call.port("shared_bits")?);
    let (offsets, payload) = (call.port("offsets")?, call.port("payload")?);
    let (survivors, older_records) = (u64::from(layout.survivors), call.number("older_records")?);
    for word in 0..u64::from(layout.payload_extent).div_ceil(4) {
        payload.set(word, 0)?;
    }
    let mut previous_key = 0u32;
    for i in 0..survivors {
        let record = u64::from(refs.get(i)?);
        let (key, value, shared) = (key_bits.get(record)?, value_bits.get(record)?, shared_bits.get(i)?);
        let block_start = i % BLOCK_RECORDS == 0;
        let control = if block_start { shared } else { previous_key.wrapping_sub(shared) };
        let suffix = key.wrapping_sub(shared);
        let end = if i + 1 < survivors { offsets.get(i + 1)? } else { layout.payload_extent };
        let mut out = Bytes { payload: &payload, at: offsets.get(i)?, end };
        out.put_count(control / 8)?;
        out.put_count(suffix / 8)?;
        if layout.common_width == 0 {
            out.put_count(value / 8)?;
        }
        let file = &files[usize::from(record >= older_records)];
        let mut source = literal_starts.get(record)?.wrapping_add(shared.wrapping_sub(retained.get(record)?));
        while out.at < out.end {
            out.put(window(file, source)? >> 24)?;
            source = source.wrapping_add(8);
        }
        previous_key = key;
    }
    Ok(())
}

/// A place in the payload and the end of the record it is in.
struct Bytes<'a> {
    payload: &'a Port<'a>,
    at: u32,
    end: u32,
}

impl Bytes<'_> {
    fn put(&mut self, byte: u32) -> Result<(), Fault> {
        if self.at < self.end {
            put(self.payload, 8 * u64::from(self.at), u64::from(byte), 8)?;
        }
        self.at += 1;
        Ok(())
    }

    /// LEB128: seven bits a byte, the lowest first.
    fn put_count(&mut self, count: u32) -> Result<(), Fault> {
        let mut left = count;
        while left >= 0x80 {
            self.put(left & 0x7f | 0x80)?;
            left >>= 7;
        }
        self.put(left)
    }
}
