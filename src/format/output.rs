//! Where a file writer puts its bytes.

use std::fs::File;
use std::io;

use crate::threads;

/// A destination that takes bytes at offsets. Writers hand over large pieces, mostly in order; the header comes last.
pub trait Output {
    /// Writes all of `bytes` at `offset` (in bytes from the start of the file).
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;
}

impl<O: Output + ?Sized> Output for &mut O {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        (**self).write_at(offset, bytes)
    }
}

impl Output for Vec<u8> {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(io::Error::other)?;
        if self.len() < start {
            self.resize(start, 0);
        }
        // What goes past the end is written once, not filled with zeros before.
        let (inside, past) = bytes.split_at(bytes.len().min(self.len() - start));
        threads::copy(&mut self[start..start + inside.len()], inside);
        self.extend_from_slice(past);
        Ok(())
    }
}

impl Output for &File {
    #[cfg(unix)]
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(*self, bytes, offset)
    }

    #[cfg(not(unix))]
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        use std::io::{Seek, SeekFrom, Write};
        self.seek(SeekFrom::Start(offset))?;
        self.write_all(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_takes_pieces_anywhere() {
        let mut out = Vec::new();
        let pieces: [(u64, &[u8]); 5] = [(4, b"efgh"), (0, b"ab"), (6, b"GHIJ"), (12, b"m"), (3, b"")];
        for (offset, bytes) in pieces {
            out.write_at(offset, bytes).unwrap();
        }
        assert_eq!(out, b"ab\0\0efGHIJ\0\0m");
    }
}
