//! weft: a dataflow graph executor for GPU compute passes, and a merge for Everett key-value files.

pub mod report;
