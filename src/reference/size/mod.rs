//! How long records become in the output.

mod records;
mod widths;

pub(super) use records::{records, records_bytes};
pub(super) use widths::{widths, widths_bytes};
