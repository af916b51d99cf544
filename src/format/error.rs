//! What can be wrong with a file's contents.

use std::fmt;

/// The three ways in which bytes can fail to be a file that weft reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FormatErrorKind {
    /// Not an Everett file at all.
    NotEverett,
    /// An Everett file, as far as one can tell a sound one, of a kind that weft does not read.
    Unsupported,
    /// An Everett file that breaks its own rules.
    Corrupt,
}

/// Something wrong with a file's contents, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// Which of the three.
    pub kind: FormatErrorKind,
    /// File offset, in bytes, of what is wrong.
    pub offset: u64,
    /// What is wrong there.
    pub what: String,
}

impl FormatError {
    /// A file that is not Everett's.
    pub fn not_everett(offset: u64, what: impl Into<String>) -> Self {
        FormatError { kind: FormatErrorKind::NotEverett, offset, what: what.into() }
    }

    /// A file of a kind that weft does not read.
    pub fn unsupported(offset: u64, what: impl Into<String>) -> Self {
        FormatError { kind: FormatErrorKind::Unsupported, offset, what: what.into() }
    }

    /// A file that breaks the rules of its format.
    pub fn corrupt(offset: u64, what: impl Into<String>) -> Self {
        FormatError { kind: FormatErrorKind::Corrupt, offset, what: what.into() }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let class = match self.kind {
            FormatErrorKind::NotEverett => "not an Everett file",
            FormatErrorKind::Unsupported => "an Everett file of a kind weft does not support yet",
            FormatErrorKind::Corrupt => "corrupt",
        };
        write!(f, "{class}: at byte {}: {}", self.offset, self.what)
    }
}

impl std::error::Error for FormatError {}
