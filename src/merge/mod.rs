//! Merging files, oldest first, into the one canonical file that holds every key of any of them with its newest value.
//!
//! Replacement merge: on equal keys the newer record wins, tombstones are records like any other, nothing is dropped.

pub mod choice;
pub mod cpu;
pub mod graph;
