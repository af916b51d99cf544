//! Rows as text: key-value rows read from and written to TSV and JSON lines, any bytes exactly.
//!
//! A row is a key and either a value or nothing (a tombstone: the key is deleted). A line is a row; a [`Reader`]
//! turns lines into rows one at a time, a [`Writer`] is its inverse, and a [`Table`] collects rows, sorts them
//! by key and settles keys that occur twice. Nothing here knows how Everett files are laid out.

mod jsonl;
mod table;
mod tsv;

use std::io::{self, BufRead, Write};
use std::path::Path;

pub use table::{DuplicateKey, OnDuplicate, Table};

/// A key and its value; `None` is a tombstone.
pub type Row = (Vec<u8>, Option<Vec<u8>>);

/// How rows are written as lines of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// `key TAB value`; a line without TAB is a tombstone; escapes `\t \n \r \\ \xNN`; `\e` is the empty key.
    Tsv,
    /// `{"key": "...", "value": "..." | null}`, or `key_hex` and `value_hex` for bytes that are not UTF-8.
    Jsonl,
}

impl RowFormat {
    /// The format a path's extension names: `.jsonl`, `.ndjson` and `.json` mean JSON lines, all else TSV.
    pub fn of_path(path: &Path) -> RowFormat {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("jsonl" | "ndjson" | "json") => RowFormat::Jsonl,
            _ => RowFormat::Tsv,
        }
    }
}

/// Why rows could not be read.
#[derive(Debug, thiserror::Error)]
pub enum RowsError {
    /// A line that is not a row.
    #[error("line {line}, column {column}: {problem}")]
    Malformed {
        /// Line number, from 1.
        line: u64,
        /// Byte column, from 1.
        column: usize,
        /// What is wrong and what to write instead.
        problem: String,
    },
    /// The source could not be read.
    #[error("cannot read: {0}")]
    Read(#[from] io::Error),
}

/// What is wrong with one line, and at which byte of it (from 0).
struct LineError {
    at: usize,
    problem: String,
}

/// Reads rows line by line from any bytes. After an error it must not be read further.
pub struct Reader<R> {
    source: R,
    format: RowFormat,
    line: u64,
    text: Vec<u8>,
    key: Vec<u8>,
    value: Vec<u8>,
}

impl<R: BufRead> Reader<R> {
    /// A reader of `source`, whose lines are in `format`.
    pub fn new(source: R, format: RowFormat) -> Self {
        Reader { source, format, line: 0, text: Vec::new(), key: Vec::new(), value: Vec::new() }
    }

    /// Reads the next row as borrowed key and value; `None` at the end of the source.
    ///
    /// A last line without a line feed is a row like any other.
    #[expect(clippy::type_complexity, reason = "the borrowed form of Row, spelled out once")]
    pub fn read(&mut self) -> Result<Option<(&[u8], Option<&[u8]>)>, RowsError> {
        self.text.clear();
        if self.source.read_until(b'\n', &mut self.text)? == 0 {
            return Ok(None);
        }
        self.line += 1;
        let text = self.text.strip_suffix(b"\n").unwrap_or(&self.text);
        let parsed = match self.format {
            RowFormat::Tsv => tsv::parse_line(text, &mut self.key, &mut self.value),
            RowFormat::Jsonl => jsonl::parse_line(text, &mut self.key, &mut self.value),
        };
        match parsed {
            Ok(present) => Ok(Some((&self.key, present.then_some(&self.value)))),
            Err(LineError { at, problem }) => {
                Err(RowsError::Malformed { line: self.line, column: at + 1, problem })
            }
        }
    }

    /// The number of the line last read, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }
}

/// Writes rows as lines that a [`Reader`] of the same format reads back exactly.
pub struct Writer<W> {
    sink: W,
    format: RowFormat,
    text: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// A writer of lines in `format`. It writes once a row: give it a buffered sink.
    pub fn new(sink: W, format: RowFormat) -> Self {
        Writer { sink, format, text: Vec::new() }
    }

    /// Writes one row.
    pub fn write(&mut self, key: &[u8], value: Option<&[u8]>) -> io::Result<()> {
        self.text.clear();
        match self.format {
            RowFormat::Tsv => tsv::write_line(key, value, &mut self.text),
            RowFormat::Jsonl => jsonl::write_line(key, value, &mut self.text)?,
        }
        self.text.push(b'\n');
        self.sink.write_all(&self.text)
    }

    /// Flushes the sink and gives it back.
    pub fn finish(mut self) -> io::Result<W> {
        self.sink.flush()?;
        Ok(self.sink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read_all(text: &[u8], format: RowFormat) -> Result<Vec<Row>, RowsError> {
        let mut reader = Reader::new(text, format);
        let mut rows = Vec::new();
        while let Some((key, value)) = reader.read()? {
            rows.push((key.to_vec(), value.map(<[u8]>::to_vec)));
        }
        Ok(rows)
    }

    fn write_all(rows: &[Row], format: RowFormat) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), format);
        for (key, value) in rows {
            writer.write(key, value.as_deref()).unwrap();
        }
        writer.finish().unwrap()
    }

    fn arbitrary_rows() -> impl Strategy<Value = Vec<Row>> {
        let bytes = || {
            prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..12),
                "[\\\\xe\t\n\r\"a\u{e9}\u{1f600}]{0,6}".prop_map(String::into_bytes),
            ]
        };
        proptest::collection::vec((bytes(), proptest::option::of(bytes())), 0..12)
    }

    proptest! {
        #[test]
        fn any_rows_survive_a_round_trip(rows in arbitrary_rows()) {
            for format in [RowFormat::Tsv, RowFormat::Jsonl] {
                let text = write_all(&rows, format);
                prop_assert_eq!(text.iter().filter(|&&byte| byte == b'\n').count(), rows.len());
                prop_assert!(std::str::from_utf8(&text).is_ok(), "lines are UTF-8 whatever the bytes");
                prop_assert_eq!(read_all(&text, format).unwrap(), rows.clone());
            }
        }

        #[test]
        fn any_text_is_read_or_refused(text in proptest::collection::vec(any::<u8>(), 0..80)) {
            for format in [RowFormat::Tsv, RowFormat::Jsonl] {
                if let Ok(rows) = read_all(&text, format) {
                    prop_assert_eq!(read_all(&write_all(&rows, format), format).unwrap(), rows);
                }
            }
        }
    }

    #[test]
    fn tsv_lines_mean_what_they_say() {
        let rows = read_all(b"\\e\na\t\nb\tx y\n\\x00\\xfF\\t\\\\\t\\n\\r\nc\r\nd\xff\t\xfe", RowFormat::Tsv)
            .unwrap();
        let expected: Vec<Row> = vec![
            (b"".to_vec(), None),
            (b"a".to_vec(), Some(b"".to_vec())),
            (b"b".to_vec(), Some(b"x y".to_vec())),
            (b"\x00\xff\t\\".to_vec(), Some(b"\n\r".to_vec())),
            (b"c\r".to_vec(), None),
            (b"d\xff".to_vec(), Some(b"\xfe".to_vec())),
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn jsonl_lines_mean_what_they_say() {
        let text = "{\"key\": \"a\", \"value\": null}\n \
                    {\"value\": \"\\u00e9\\n\", \"key\": \"\"} \r\n\
                    {\"key_hex\": \"00fF\", \"value_hex\": \"\"}\n\
                    {\"key_hex\":\"61\",\"value_hex\":null}";
        let expected: Vec<Row> = vec![
            (b"a".to_vec(), None),
            (b"".to_vec(), Some("é\n".into())),
            (vec![0, 255], Some(vec![])),
            (b"a".to_vec(), None),
        ];
        assert_eq!(read_all(text.as_bytes(), RowFormat::Jsonl).unwrap(), expected);
    }

    #[test]
    fn lines_that_are_not_rows_say_where_and_what_to_do() {
        let cases: &[(RowFormat, &[u8], &str)] = &[
            (
                RowFormat::Tsv,
                b"a\n\nb\n",
                "line 2, column 1: empty line; remove it, or write \\e for the tombstone of the empty key",
            ),
            (
                RowFormat::Tsv,
                b"\tx\n",
                "line 1, column 1: no key before the TAB; write \\e for the empty key",
            ),
            (
                RowFormat::Tsv,
                b"a\tb\tc\n",
                "line 1, column 4: second TAB; a row is key TAB value, and a TAB inside either is written \\t",
            ),
            (
                RowFormat::Tsv,
                b"a\\q\n",
                "line 1, column 2: unknown escape \\q; known are \\t \\n \\r \\\\ \\xNN, and \\e alone for the empty key",
            ),
            (
                RowFormat::Tsv,
                b"a\\",
                "line 1, column 2: backslash at the end of a field; a backslash is written \\\\",
            ),
            (RowFormat::Tsv, b"a\\x4\tb", "line 1, column 2: \\x needs two hexadecimal digits, as in \\x0a"),
            (
                RowFormat::Tsv,
                b"a\t\\e",
                "line 1, column 3: \\e stands for an empty key and only alone; an empty value is nothing after the TAB",
            ),
            (
                RowFormat::Tsv,
                b"a\\e\n",
                "line 1, column 2: \\e stands for an empty key and only alone; an empty value is nothing after the TAB",
            ),
            (RowFormat::Jsonl, b"\n", "line 1, column 1: empty line; remove it"),
            (
                RowFormat::Jsonl,
                b"{\"value\":null}",
                "line 1, column 1: no key; give \"key\" (text) or \"key_hex\" (any bytes)",
            ),
            (
                RowFormat::Jsonl,
                b"{\"key\":\"a\",\"key_hex\":\"\",\"value\":null}",
                "line 1, column 1: both \"key\" and \"key_hex\"; give one of them",
            ),
            (
                RowFormat::Jsonl,
                b"{\"key\":\"a\"}",
                "line 1, column 1: no value; give \"value\" (text), \"value_hex\" (any bytes), or \"value\": null for a tombstone",
            ),
            (
                RowFormat::Jsonl,
                b"{\"key_hex\":\"0\",\"value\":null}",
                "line 1, column 1: \"key_hex\" holds an odd number of digits; two hexadecimal digits make a byte",
            ),
            (
                RowFormat::Jsonl,
                b"{\"key_hex\":\"0g\",\"value\":null}",
                "line 1, column 1: \"key_hex\" holds 'g', which is not a hexadecimal digit",
            ),
        ];
        for (format, text, message) in cases {
            let error = read_all(text, *format).unwrap_err();
            assert_eq!(error.to_string(), *message);
        }
    }

    #[test]
    fn json_syntax_errors_keep_their_column() {
        for (text, start) in [
            ("{\"key\":\"a\",\"value\":\"b\"\n", "line 1, column "),
            (
                "{\"key\":\"a\",\"value\":null}\n{\"key\":\"a\",\"extra\":1}",
                "line 2, column 18: unknown field `extra`",
            ),
            ("{\"key\":\"a\",\"key\":\"b\"}", "line 1, column 16: duplicate field `key`"),
            ("[\"a\",null,null,null]", "line 1, column 1: not a JSON object; a row is {\"key\""),
        ] {
            let error = read_all(text.as_bytes(), RowFormat::Jsonl).unwrap_err().to_string();
            assert!(error.starts_with(start), "{error:?} does not start with {start:?}");
            assert!(!error.contains("at line"), "{error:?} gives its place twice");
        }
    }
}
