//! weft: a dataflow graph executor for GPU compute passes, and a merge for Everett key-value files.

pub mod fixture;
pub mod format;
pub mod graph;
pub mod merge;
pub mod output;
pub mod plan;
pub mod reference;
pub mod report;
pub mod rows;
