//! Which records survive, in which order.

mod ascending;
mod compact;
mod keep;
mod merge_path;

pub(super) use ascending::ascending;
pub(super) use compact::compact;
pub(super) use keep::keep;
pub(super) use merge_path::{merge_live, merge_path};
