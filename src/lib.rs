//! weft: a dataflow graph executor for GPU compute passes, and a merge for Everett key-value files.
//!
//! Two files become one, in memory; from [`format::MappedFile`] to [`output::OutputFile`] it is the same:
//!
//! ```
//! use weft::format::kv03::{self, Kv03};
//! use weft::merge::cpu::{self, Options};
//!
//! let (mut older, mut newer, mut merged) = (Vec::new(), Vec::new(), Vec::new());
//! kv03::encode([("apple", Some("1")), ("pear", Some("1"))], &mut older)?;
//! kv03::encode([("fig", Some("2")), ("pear", None)], &mut newer)?;
//!
//! let inputs = [Kv03::open(&older)?, Kv03::open(&newer)?];
//! cpu::merge(&inputs, Options { verify: true }, &mut merged)?;
//!
//! let mut rows = Kv03::open(&merged)?.rows();
//! assert_eq!(rows.next()?, Some((&b"apple"[..], Some(&b"1"[..]))));
//! assert_eq!(rows.next()?, Some((&b"fig"[..], Some(&b"2"[..]))));
//! // The newer file deletes it, and the merge keeps that as a record of its own.
//! assert_eq!(rows.next()?, Some((&b"pear"[..], None)));
//! assert_eq!(rows.next()?, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
