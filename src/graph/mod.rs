//! Pass and graph files: from YAML and WGSL to one resolved graph.
//!
//! The phases, one file each: [`source`] finds files, [`yaml`] turns one into a tree of nodes with spans,
//! [`decode`] turns that into a [`document`], [`shader`] reflects a pass's WGSL and compares, [`overlay`] applies
//! `extends` and `with`, [`resolve`] flattens subgraphs into a [`model::Graph`] and proves it free of hazards, and
//! [`identity`] names the result. No phase stops at its first error.
//!
//! Nothing here knows about devices, memory plans or Everett files.

pub mod decode;
pub mod diagnostic;
pub mod document;
pub mod expand;
pub mod explain;
pub mod expr;
pub mod extreme;
pub mod grammar;
pub mod identity;
pub mod lint;
pub mod load;
pub mod model;
pub mod overlay;
pub mod pass;
pub mod resolve;
pub mod schema;
pub mod shader;
pub mod source;
pub mod types;
mod wgsl;
pub mod yaml;
