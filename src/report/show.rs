//! A resolved graph as a [`Diagram`] and as JSON.
//!
//! Both show the graph as it would run: passes with their ports, values with types and lengths, who waits for whom and
//! why, the segments between two waits of the host. With the symbols' numbers given, lengths and bytes are shown too;
//! what depends on a count is then the most it can be, unless the count is given as well.
//!
//! It knows nothing of memory plans, devices and times.

mod diagram;
mod json;
mod sizes;

pub use diagram::diagram;
pub use json::{FORMAT_VERSION, GraphJson, json};
pub use sizes::{Sizes, SizesError};
