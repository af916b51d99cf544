//! Running a graph: on a GPU, or by the scalar references of its passes.
//!
//! A [`Program`] is a graph with the caller's numbers and a memory plan. [`run`] drives it segment by segment on a
//! [`Backend`]: fill in what the host knows, dispatch the nodes in the plan's order, read back once what the graph awaits,
//! go on. [`verify`] runs a program on two backends side by side and compares every output of every node.
//!
//! Nothing here knows about files or about what passes compute.

mod backend;
mod cells;
mod driver;
mod dump;
mod error;
mod exact;
mod gpu;
mod numbers;
mod program;
mod times;
mod verify;

pub use backend::{Backend, Dispatch, Readback, Region, Step};
pub use cells::ReferenceBackend;
pub use driver::{Options, Outcome, Output, run};
pub use dump::{PortOf, dump};
pub use error::RunError;
pub use gpu::{AdapterReport, Gpu, GpuBackend, GpuOptions, adapters};
pub use program::{Program, Work};
pub use times::{Interval, NodeTime, SegmentTime, Times, Timing};
pub use verify::{Agreement, Difference, InputElement, VerifyError, verify};
