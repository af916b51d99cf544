//! `emit/words`, `emit/words_arena` and `emit/bits`

use crate::format::bits::golomb_len;
use crate::format::envelope::BLOCK_RECORDS;
use crate::reference::layout::Layout;
use crate::reference::payload::{arena_window, window};
use crate::reference::{Call, Fault, Port};

/// Each surviving record from its offset on: the code of its control count, that of its suffix, and then what is left of
/// its key and its value, which follow one another in its input or in the arena.
pub(in crate::reference) fn words(call: &Call<'_>) -> Result<(), Fault> {
    let layout = Layout::of(call)?;
    let (copied, key_bits, refs) = (Copied::new(call)?, call.port("key_bits")?, call.port("refs")?);
    let (shared_bits, offsets, payload) =
        (call.port("shared_bits")?, call.port("offsets")?, call.port("payload")?);
    let survivors = u64::from(layout.survivors);
    for word in 0..u64::from(layout.payload_extent).div_ceil(32) {
        payload.set(word, 0)?;
    }
    let mut previous_key = 0u32;
    for i in 0..survivors {
        let record = u64::from(refs.get(i)?);
        let (key, shared) = (key_bits.get(record)?, shared_bits.get(i)?);
        let block_start = i % BLOCK_RECORDS == 0;
        let control = if block_start { shared.wrapping_add(1) } else { previous_key.wrapping_sub(shared) };
        let mut at = u64::from(offsets.get(i)?);
        for count in [control, key.wrapping_sub(shared)] {
            let len = golomb_len(u64::from(count));
            put(&payload, at, u64::from(count) + 1, len)?;
            at += len;
        }
        let end = if i + 1 < survivors { offsets.get(i + 1)? } else { layout.payload_extent };
        let mut from = shared;
        while at < u64::from(end) {
            let len = (u64::from(end) - at).min(32);
            let bits = copied.window(record, from)?;
            put(&payload, at, u64::from(bits) >> (32 - len), len)?;
            from = from.wrapping_add(32);
            at += len;
        }
        previous_key = key;
    }
    Ok(())
}

/// Where keys lie with their values behind them.
enum Copied<'a> {
    Files {
        older: Port<'a>,
        newer: Port<'a>,
        literal_starts: Port<'a>,
        retained: Port<'a>,
        older_records: u64,
    },
    Arena {
        arena: Port<'a>,
        key_starts: Port<'a>,
    },
}

impl<'a> Copied<'a> {
    fn new(call: &Call<'a>) -> Result<Self, Fault> {
        if let Ok(arena) = call.port("arena") {
            return Ok(Copied::Arena { arena, key_starts: call.port("key_starts")? });
        }
        Ok(Copied::Files {
            older: call.port("older")?,
            newer: call.port("newer")?,
            literal_starts: call.port("literal_starts")?,
            retained: call.port("retained")?,
            older_records: call.number("older_records")?,
        })
    }

    /// 32 bits from bit `at` of a record's key on, its value following.
    fn window(&self, record: u64, at: u32) -> Result<u32, Fault> {
        match self {
            Copied::Arena { arena, key_starts } => arena_window(arena, key_starts.get(record)?, at),
            Copied::Files { older, newer, literal_starts, retained, older_records } => {
                let file = if record < *older_records { older } else { newer };
                let literal = literal_starts.get(record)?.wrapping_sub(retained.get(record)?);
                window(file, literal.wrapping_add(at))
            }
        }
    }
}

/// Puts the lowest `len` bits of `bits` (at most 64) at bit `at` of a payload that has zeros there.
pub(super) fn put(payload: &Port<'_>, at: u64, bits: u64, len: u64) -> Result<(), Fault> {
    for k in (0..len).filter(|k| bits >> (len - 1 - k) & 1 == 1) {
        let (word, bit) = ((at + k) / 32, (at + k) % 32);
        payload.set(word, payload.get(word)? | (1u32 << (31 - bit)).swap_bytes())?;
    }
    Ok(())
}
