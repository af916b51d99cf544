//! Order by a bitmap of the older records that newer ones replace.

mod mark;
mod scatter;

pub(super) use mark::mark;
pub(super) use scatter::scatter;
