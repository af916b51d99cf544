//! Order by a bitmap of the older records that newer ones replace.

mod compact_older;
mod mark;
mod scatter;
mod search;

pub(super) use compact_older::compact_older;
pub(super) use mark::{mark, mark_tiled};
pub(super) use scatter::{scatter, scatter_tiled};
