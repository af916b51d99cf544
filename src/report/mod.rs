//! What people and programs read about a graph: pictures, tables and their machine-readable forms.
//!
//! [`diagram`] describes a drawing, [`layout`] places and routes it, [`svg`] and [`dot`] write it down; none of them
//! knows what a pass or a value is. [`show`] draws resolved graphs with them, and prints them as JSON.

pub mod compare;
pub mod diagram;
pub mod diff;
pub mod dot;
pub mod layout;
pub mod profile;
pub mod show;
pub mod stages;
pub mod stats;
pub mod svg;
pub mod text;
