//! Heaps of minima.

mod levels;

pub(super) use levels::levels;
