//! The payload of an output.

mod words;

pub(super) use words::words;
