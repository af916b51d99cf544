//! weft: a dataflow graph executor for GPU compute passes, and a merge for Everett key-value files.
//!
//! Two files become one, in memory; from [`format::MappedFile`] to [`output::OutputFile`] it is the same:
//!
//! ```
//! use weft::format::kv::{File, Framing, encode};
//! use weft::merge::cpu::{self, Options};
//!
//! let (mut older, mut newer, mut merged) = (Vec::new(), Vec::new(), Vec::new());
//! encode(Framing::Kv03, [("apple", Some("1")), ("pear", Some("1"))], &mut older)?;
//! encode(Framing::Kv03, [("fig", Some("2")), ("pear", None)], &mut newer)?;
//!
//! let inputs = [File::open(&older)?, File::open(&newer)?];
//! cpu::merge(&inputs, Options { verify: true }, &mut merged)?;
//!
//! let mut rows = File::open(&merged)?.rows();
//! assert_eq!(rows.next()?, Some((&b"apple"[..], Some(&b"1"[..]))));
//! assert_eq!(rows.next()?, Some((&b"fig"[..], Some(&b"2"[..]))));
//! // The newer file deletes it, and the merge keeps that as a record of its own.
//! assert_eq!(rows.next()?, Some((&b"pear"[..], None)));
//! assert_eq!(rows.next()?, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A graph runs in four steps: load and resolve it, plan it for the numbers of its symbols, run it on a backend, read what
//! came out. The reference backend needs no device; [`run::GpuBackend`] takes its place:
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::Arc;
//!
//! use weft::graph::model::Graph;
//! use weft::graph::source::Library;
//! use weft::run::{Backend, Options, Program, ReferenceBackend, run};
//!
//! // A shipped graph by name, or the path of a graph file; `Library::new` takes folders of your own passes.
//! let graph = Arc::new(Graph::load(Library::default(), "sort/radix")?);
//!
//! let mut backend = ReferenceBackend::new();
//! let symbols = BTreeMap::from([("n".to_owned(), 4)]);
//! let program = Program::new(graph, &symbols, &backend.plan_options())?;
//!
//! let keys = [30_u32, 10, 40, 20].map(u32::to_le_bytes);
//! let outcome = run(&program, &mut backend, &[("keys", keys.as_flattened())], Options::default())?;
//!
//! let sorted = outcome.output("sorted").expect("the graph has this output");
//! assert_eq!(sorted, [10_u32, 20, 30, 40].map(u32::to_le_bytes).as_flattened());
//! assert!(outcome.times.total_seconds > 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/sort.rs` does this on the best device and reads the time of every node; `examples/count_bytes.rs` runs a pass
//! that weft does not know.

pub mod bench;
pub mod fixture;
pub mod format;
pub mod graph;
pub mod merge;
pub mod output;
pub mod plan;
pub mod reference;
pub mod report;
pub mod rows;
pub mod run;
mod threads;
