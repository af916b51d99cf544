//! Passes that several families use.

mod fill;

pub(super) use fill::fill;
