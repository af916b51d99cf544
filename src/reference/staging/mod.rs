//! Files decoded by the host: what the device begins with where it does not read them itself.

mod decode;
mod measure;
mod refusal;

pub(super) use decode::decode;
pub(super) use measure::measure;

use super::{Call, Fault, Port};
use crate::format::kv::{File, Record};

/// The ports of both files, the older one first.
const FILES: [&str; 2] = ["older", "newer"];

/// The bytes of a port that holds a file.
fn bytes_of(port: &Port<'_>) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::with_capacity(4 * port.len() as usize);
    for word in 0..port.len() {
        bytes.extend(port.get(word)?.to_le_bytes());
    }
    Ok(bytes)
}

/// The file that a port holds.
fn open<'b>(name: &str, bytes: &'b [u8]) -> Result<File<'b>, Fault> {
    File::open(bytes).map_err(|error| Fault::content(name, error.to_string()))
}

/// How many records of each file there are by the call's numbers.
fn counts(call: &Call<'_>) -> Result<[u64; 2], Fault> {
    let (records, older) = (call.number("records")?, call.number("older_records")?);
    Ok([older, records.saturating_sub(older)])
}

/// Words that a record's key and value take in an arena.
fn arena_words(record: &Record) -> u64 {
    (record.key_bits + record.value_bits()).div_ceil(32)
}
