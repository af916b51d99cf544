//! What an output holds besides its payload and offsets.

mod layout;

pub(super) use layout::layout;
