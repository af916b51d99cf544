//! How long records become in the output.

mod records;
mod widths;

pub(super) use records::records;
pub(super) use widths::widths;
