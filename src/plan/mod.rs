//! plan (being written)
pub mod arenas;
pub mod arrange;
pub mod order;
pub mod place;
pub mod problem;
pub mod random;
pub mod validate;
