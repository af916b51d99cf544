//! Everett's files, byte for byte: the envelope, bit codes, Elias-Fano offsets and key-value files of both profiles.
//!
//! A leaf: nothing here knows about graphs, devices or the command line. Readers assume hostile input; every offset and
//! length is checked before it is used, and nothing is allocated beyond a small multiple of the file.
//! Writers produce the one canonical file for a list of records.

pub mod bits;
mod checksum;
pub mod elias_fano;
pub mod envelope;
mod error;
pub mod kv;
mod map;
mod output;

pub use error::{FormatError, FormatErrorKind};
pub(crate) use map::kind_of;
pub use map::{MapError, MappedFile};
pub use output::Output;
