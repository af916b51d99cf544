//! `staging/measure`

use super::refusal::{Refusal, refusal};
use super::{FILES, arena_words, bytes_of, counts, open};
use crate::format::kv::{Cursor, File};
use crate::reference::{Call, Fault, Port};

/// A status word without a failure.
const NO_FAILURE: u32 = u32::MAX;

/// How long all keys and values are, where they are to lie in an arena, and what all keys share. A file that is refused has
/// zeros for all its records, and in its status word what the passes on the device would have left there.
pub(in crate::reference) fn measure(call: &Call<'_>) -> Result<(), Fault> {
    let ports = ["key_starts", "key_bits", "value_bits"].map(|name| call.port(name));
    let [key_starts, key_bits, value_bits] = ports;
    let mut columns = Columns {
        key_starts: key_starts?,
        key_bits: key_bits?,
        value_bits: value_bits?,
        filled: 0,
        words: 0,
    };
    let mut ends: Vec<Vec<u8>> = Vec::new();
    let mut refusals = FILES.map(|_| Refusal { blocks: NO_FAILURE, keys: NO_FAILURE });
    for ((name, records), refused) in FILES.into_iter().zip(counts(call)?).zip(&mut refusals) {
        let port = call.port(name)?;
        let bytes = bytes_of(&port)?;
        let file = open(name, &bytes)?;
        if file.records() != records {
            let what = format!("it has {} records where {records} were announced", file.records());
            return Err(Fault::content(name, what));
        }
        let begin = columns.filled;
        match columns.walk(file) {
            Ok(keys) => ends.extend(keys),
            Err(Stop::Refused(what)) => {
                *refused = refusal(&port, &file)?;
                if refused.keys == NO_FAILURE {
                    return Err(Fault::content(name, what));
                }
                columns.clear(begin, records)?;
            }
            Err(Stop::Fault(fault)) => return Err(fault),
        }
    }
    // The device looks at the blocks of both files before it compares keys.
    let in_blocks = refusals.iter().any(|refused| refused.blocks != NO_FAILURE);
    for (name, refused) in FILES.into_iter().zip(&refusals) {
        let status = if in_blocks { refused.blocks } else { refused.keys };
        call.port(&format!("{name}_status"))?.set(0, status)?;
    }
    call.port("prefix")?.set(0, common_bytes(&ends))?;
    call.port("total")?.set(0, u32::try_from(columns.words).unwrap_or(u32::MAX))
}

/// Why a walk over a file ends early.
enum Stop {
    /// The file is corrupt.
    Refused(String),
    Fault(Fault),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(fault)
    }
}

/// The columns, as far as they are filled.
struct Columns<'a> {
    key_starts: Port<'a>,
    key_bits: Port<'a>,
    value_bits: Port<'a>,
    filled: u64,
    /// Words of the arena so far.
    words: u64,
}

impl Columns<'_> {
    fn push(&mut self, key_bits: u64, value_bits: u64, words: u64) -> Result<(), Fault> {
        // Where numbers pass 32 bits, so does the total, and the run ends there.
        self.key_starts.set(self.filled, self.words as u32)?;
        self.key_bits.set(self.filled, key_bits as u32)?;
        self.value_bits.set(self.filled, value_bits as u32)?;
        self.filled += 1;
        self.words += words;
        Ok(())
    }

    /// The records of a file; gives its first and last key.
    fn walk(&mut self, file: File<'_>) -> Result<Vec<Vec<u8>>, Stop> {
        let mut cursor = Cursor::new(file, false);
        let mut keys: Vec<Vec<u8>> = Vec::new();
        while cursor.advance().map_err(|error| Stop::Refused(error.to_string()))? {
            let record = *cursor.record();
            self.push(record.key_bits, record.value_bits(), arena_words(&record))?;
            if keys.is_empty() {
                keys.push(cursor.key().to_vec());
            }
        }
        if file.records() > 0 {
            keys.push(cursor.key().to_vec());
        }
        Ok(keys)
    }

    /// Zeros for `records` records from `begin` on.
    fn clear(&mut self, begin: u64, records: u64) -> Result<(), Fault> {
        self.filled = begin;
        (0..records).try_for_each(|_| self.push(0, 0, 0))
    }
}

/// Bytes that all keys share if these are the first and last ones of ascending lists.
fn common_bytes(ends: &[Vec<u8>]) -> u32 {
    let Some((first, rest)) = ends.split_first() else { return 0 };
    let shared = |key: &Vec<u8>| first.iter().zip(key).take_while(|(a, b)| a == b).count();
    rest.iter().map(shared).min().unwrap_or(first.len()) as u32
}
