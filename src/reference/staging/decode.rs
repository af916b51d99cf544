//! `staging/decode`

use super::{FILES, bytes_of, open};
use crate::format::bits::window;
use crate::format::kv::Cursor;
use crate::reference::{Call, Fault, Port};

/// All keys of both files in full, each from the word on that `key_starts` says, with its value's bits behind it.
pub(in crate::reference) fn decode(call: &Call<'_>) -> Result<(), Fault> {
    let (key_starts, arena) = (call.port("key_starts")?, call.port("arena")?);
    let mut record = 0;
    for name in FILES {
        let bytes = bytes_of(&call.port(name)?)?;
        let mut cursor = Cursor::new(open(name, &bytes)?, false);
        while cursor.advance().map_err(|error| Fault::content(name, error.to_string()))? {
            put(&arena, key_starts.get(record)?, &cursor)?;
            record += 1;
        }
    }
    Ok(())
}

/// The current record from word `start` on.
fn put(arena: &Port<'_>, start: u32, cursor: &Cursor<'_>) -> Result<(), Fault> {
    let (record, mut at) = (cursor.record(), u64::from(start));
    let (mut bits, mut have) = (0u64, 0u32);
    // At most 31 bits wait for a word to be full.
    let mut push = |word: u64, count: u32| {
        bits |= (word >> (64 - count)) << (64 - have - count);
        have += count;
        if have < 32 {
            return Ok(());
        }
        let full = (bits >> 32) as u32;
        (bits, have, at) = (bits << 32, have - 32, at + 1);
        arena.set(at - 1, full)
    };
    for &byte in cursor.key() {
        push(u64::from(byte) << 56, 8)?;
    }
    let mut from = record.value_at;
    while from < record.end {
        let count = (record.end - from).min(32);
        push(window(cursor.payload(), from), count as u32)?;
        from += count;
    }
    if have > 0 {
        arena.set(at, (bits >> 32) as u32)?;
    }
    Ok(())
}
