//! Rows in memory: collected in any order, sorted by key, each key once.

use super::{Reader, RowsError};
use std::io::BufRead;

/// What to do with a key that occurs twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnDuplicate {
    /// Refuse the rows.
    Error,
    /// Keep the last row of the key, in the order the rows were added.
    Last,
}

/// A key that occurs twice where it must not.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("lines {first_line} and {second_line} have the same key \"{}\"", key.escape_ascii())]
pub struct DuplicateKey {
    /// The key.
    pub key: Vec<u8>,
    /// Line of its first row, from 1.
    pub first_line: u64,
    /// Line of its second row, from 1.
    pub second_line: u64,
}

/// Rows in one byte arena: 32 bytes a row beside its key and value.
#[derive(Default)]
pub struct Table {
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

/// Where a row lies in the arena: the key, then the value.
struct Entry {
    start: usize,
    key_end: usize,
    /// `None` for a tombstone. Never zero, since the arena's first byte belongs to no row.
    value_end: Option<std::num::NonZeroUsize>,
    line: u64,
}

impl Table {
    /// Reads all rows of `reader`.
    pub fn read<R: BufRead>(reader: &mut Reader<R>) -> Result<Table, RowsError> {
        let mut table = Table::default();
        loop {
            let line = reader.line() + 1;
            match reader.read()? {
                Some((key, value)) => table.push(key, value, line),
                None => return Ok(table),
            }
        }
    }

    /// Adds a row that came from line `line`.
    pub fn push(&mut self, key: &[u8], value: Option<&[u8]>, line: u64) {
        if self.bytes.is_empty() {
            // The first byte is never part of a row, so that no end is zero.
            self.bytes.push(0);
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len();
        let value_end = value.and_then(|value| {
            self.bytes.extend_from_slice(value);
            std::num::NonZeroUsize::new(self.bytes.len())
        });
        self.entries.push(Entry { start, key_end, value_end, line });
    }

    /// Sorts the rows by key, as unsigned bytes, and settles keys that occur more than once.
    ///
    /// Of several duplicates the error names the one whose second row comes first in the input.
    pub fn sort(&mut self, on_duplicate: OnDuplicate) -> Result<(), DuplicateKey> {
        let Table { bytes, entries } = self;
        let key = |entry: &Entry| &bytes[entry.start..entry.key_end];
        // Stable, so rows of one key stay in the order of the input.
        entries.sort_by(|a, b| key(a).cmp(key(b)));
        if on_duplicate == OnDuplicate::Error {
            let twins = entries.windows(2).filter(|pair| key(&pair[0]) == key(&pair[1]));
            return match twins.min_by_key(|pair| pair[1].line) {
                Some(pair) => Err(DuplicateKey {
                    key: key(&pair[0]).to_vec(),
                    first_line: pair[0].line,
                    second_line: pair[1].line,
                }),
                None => Ok(()),
            };
        }
        entries.dedup_by(|later, kept| {
            let same = key(later) == key(kept);
            if same {
                std::mem::swap(later, kept);
            }
            same
        });
        Ok(())
    }

    /// The rows in their present order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], Option<&[u8]>)> {
        self.entries.iter().map(|entry| {
            let key = &self.bytes[entry.start..entry.key_end];
            (key, entry.value_end.map(|end| &self.bytes[entry.key_end..end.get()]))
        })
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn table(rows: &[(&str, Option<&str>)]) -> Table {
        let mut table = Table::default();
        for (line, (key, value)) in (1..).zip(rows) {
            table.push(key.as_bytes(), value.map(str::as_bytes), line);
        }
        table
    }

    #[test]
    fn a_duplicate_names_both_lines() {
        let mut rows = table(&[("b", None), ("a", Some("1")), ("b", Some("")), ("a", None), ("a", None)]);
        let error = rows.sort(OnDuplicate::Error).unwrap_err();
        assert_eq!(error.to_string(), "lines 1 and 3 have the same key \"b\"");
    }

    #[test]
    fn empty_keys_and_values_are_kept_apart_from_tombstones() {
        let mut rows = table(&[("", None), ("a", Some("")), ("b", None)]);
        rows.sort(OnDuplicate::Error).unwrap();
        let rows: Vec<_> = rows.iter().collect();
        assert_eq!(rows, [(&b""[..], None), (&b"a"[..], Some(&b""[..])), (&b"b"[..], None)]);
    }

    proptest! {
        #[test]
        fn sorting_keeps_the_last_row_of_each_key(rows in proptest::collection::vec(
            (proptest::collection::vec(0u8..3, 0..4), proptest::option::of(proptest::collection::vec(any::<u8>(), 0..3))),
            0..40,
        )) {
            let mut table = Table::default();
            let mut map = BTreeMap::new();
            let mut duplicate = None;
            for (line, (key, value)) in (1..).zip(&rows) {
                table.push(key, value.as_deref(), line);
                if map.insert(key.clone(), value.clone()).is_some() {
                    duplicate = duplicate.or(Some(line));
                }
            }
            let refused = table.sort(OnDuplicate::Error).err().map(|error| error.second_line);
            prop_assert_eq!(refused, duplicate);
            table.sort(OnDuplicate::Last).unwrap();
            let sorted: Vec<_> = table.iter().map(|(k, v)| (k.to_vec(), v.map(<[u8]>::to_vec))).collect();
            prop_assert_eq!(sorted, map.into_iter().collect::<Vec<_>>());
        }
    }
}
