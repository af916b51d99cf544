//! What the keys of both inputs have in common, and the bytes behind it.

mod common;
mod least_retained;
mod window_scan;
mod windows;

pub(super) use common::common;
pub(super) use least_retained::least_retained;
pub(super) use window_scan::{window_scan, window_tiles};
pub(super) use windows::windows;
