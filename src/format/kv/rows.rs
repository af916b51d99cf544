//! Reading a file as rows: keys and values as bytes.

use crate::format::FormatError;

use super::{Cursor, File};

/// A key and its value; `None` for a tombstone.
pub type Row<'r> = (&'r [u8], Option<&'r [u8]>);

/// The rows of a file in key order, read as they are asked for. Memory is one key and one value.
#[derive(Debug)]
pub struct Rows<'a> {
    cursor: Cursor<'a>,
    value: Vec<u8>,
}

impl<'a> File<'a> {
    /// Reads the file's rows, checking everything on the way; see [`Cursor`].
    pub fn rows(&self) -> Rows<'a> {
        Rows { cursor: Cursor::new(*self, true), value: Vec::new() }
    }
}

impl Rows<'_> {
    /// The next row, valid until the one after it is asked for; `None` at the end, once the whole file has been checked.
    #[expect(
        clippy::should_implement_trait,
        reason = "a row borrows from the reader, which Iterator cannot say"
    )]
    pub fn next(&mut self) -> Result<Option<Row<'_>>, FormatError> {
        if !self.cursor.advance()? {
            return Ok(None);
        }
        Ok(Some((self.cursor.key(), self.cursor.value(&mut self.value))))
    }
}
