//! What an input file says about its records.

mod parse;

pub(super) use parse::{parse, parse_bytes};
