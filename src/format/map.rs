//! Input files as mappings: never read whole into memory.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

/// Why a file could not be mapped.
#[derive(Debug, thiserror::Error)]
pub enum MapError {
    /// The system refused.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// Neither a folder nor a device nor a pipe can be merged.
    #[error("not a regular file but {0}")]
    NotRegular(&'static str),
}

/// A regular file mapped for reading.
///
/// The file must not change while it is mapped: a file that another process truncates ends this process with SIGBUS,
/// and one that is rewritten in place is read as whatever it holds at that moment. Everett's files are immutable.
#[derive(Debug)]
pub struct MappedFile {
    file: File,
    map: Option<memmap2::Mmap>,
}

impl MappedFile {
    /// Opens and maps a regular file. The type is checked on the open handle, and a pipe does not block.
    pub fn open(path: &Path) -> Result<MappedFile, MapError> {
        let file = open_without_blocking(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(MapError::NotRegular(kind_of(&metadata)));
        }
        if metadata.len() == 0 {
            return Ok(MappedFile { file, map: None });
        }
        // SAFETY: the mapping is private to this process and read-only; the type's documentation states what changing the
        // file underneath does, which no interface can prevent.
        let map = unsafe { memmap2::Mmap::map(&file)? };
        #[cfg(unix)]
        {
            // Only a hint, for read-ahead; it may fail without harm.
            let _ = map.advise(memmap2::Advice::Sequential);
        }
        Ok(MappedFile { file, map: Some(map) })
    }

    /// The open handle, to compare with an output's.
    pub fn file(&self) -> &File {
        &self.file
    }
}

impl Deref for MappedFile {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or(&[])
    }
}

#[cfg(unix)]
fn open_without_blocking(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
    File::options().read(true).custom_flags(flags.bits() as i32).open(path)
}

#[cfg(not(unix))]
fn open_without_blocking(path: &Path) -> io::Result<File> {
    File::open(path)
}

#[cfg(unix)]
fn kind_of(metadata: &std::fs::Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    let kind = metadata.file_type();
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn kind_of(metadata: &std::fs::Metadata) -> &'static str {
    if metadata.is_dir() { "a folder" } else { "a special file" }
}
