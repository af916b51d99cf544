//! The payload of an output.

mod bytes;
mod words;

pub(super) use bytes::bytes;
pub(super) use words::words;
