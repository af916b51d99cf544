//! What runs nodes: memory in arenas, and dispatches on it.

use std::ops::{Deref, Range};

use crate::graph::model::NodeId;
use crate::plan;

use super::error::RunError;
use super::gpu::AdapterReport;
use super::program::Program;
use super::times::{Times, Timing};

/// Bytes of one arena. Offset and length are multiples of 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Which arena of the plan.
    pub arena: usize,
    /// First byte.
    pub offset_bytes: u64,
    /// Number of bytes.
    pub size_bytes: u64,
}

/// A port of a dispatch.
#[derive(Clone, Copy, Debug)]
pub struct BoundPort {
    /// Index into the pass's ports.
    pub port: usize,
    /// The whole value, exactly: its number of elements times their size.
    pub region: Region,
    /// Words of an element.
    pub lanes: usize,
    /// Whether the pass may write to it.
    pub writable: bool,
}

/// One of the dispatches of a node.
#[derive(Clone, Debug)]
pub struct Step {
    /// Number of workgroups; 0 for nothing to do.
    pub groups: u64,
    /// The values of the pass's params, in their order.
    pub params: Vec<u32>,
}

/// A node, with every number it needs.
#[derive(Clone, Debug)]
pub struct Dispatch<'g> {
    /// The node.
    pub node: NodeId,
    /// Its ports, in the order of the pass.
    pub ports: Vec<BoundPort>,
    /// Its dispatches, one after the other.
    pub steps: Vec<Step>,
    /// Symbols and overrides that the host knows, for references.
    pub numbers: Vec<(&'g str, u64)>,
}

/// Words that came back from a backend, one range of bytes for each region asked for.
pub struct Readback {
    pub(super) bytes: Box<dyn Deref<Target = [u8]> + Send + Sync>,
    pub(super) ranges: Vec<Range<usize>>,
}

impl Readback {
    /// The bytes of a region, by its index in what was asked for.
    pub fn bytes(&self, index: usize) -> &[u8] {
        &self.bytes[self.ranges[index].clone()]
    }

    /// The first word of a region.
    pub fn word(&self, index: usize) -> u32 {
        let word = self.bytes(index).first_chunk().expect("regions hold whole words");
        u32::from_le_bytes(*word)
    }
}

impl std::fmt::Debug for Readback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Readback").field("ranges", &self.ranges).finish_non_exhaustive()
    }
}

/// What runs nodes. Everything happens in the order of the calls.
pub trait Backend {
    /// Its name, for reports.
    fn name(&self) -> String;

    /// The device, where there is one.
    fn device(&self) -> Option<AdapterReport> {
        None
    }

    /// Seconds of one tick of the device's clock; none where it has no timestamps.
    fn tick_seconds(&self) -> Option<f64> {
        None
    }

    /// What plans of programs that it is to run may do and have to keep.
    fn plan_options(&self) -> plan::Options {
        plan::Options::default()
    }

    /// Makes memory and kernels ready for a program, reusing what is there. Contents of memory are undefined afterwards. The run
    /// begins when this returns.
    fn prepare(&mut self, program: &Program) -> Result<(), RunError>;

    /// Gives memory back that only speeds up the next run.
    fn trim(&mut self);

    /// Bytes of the arenas that it holds.
    fn arena_bytes(&self) -> u64;

    /// Puts bytes at the start of a region; up to three bytes after them, up to a whole word, become zero.
    fn write(&mut self, region: Region, bytes: &[u8]) -> Result<(), RunError>;

    /// Sets every word of a region.
    fn fill(&mut self, region: Region, word: u32) -> Result<(), RunError>;

    /// Runs a node that is not a host node.
    fn dispatch(&mut self, program: &Program, dispatch: &Dispatch<'_>) -> Result<(), RunError>;

    /// Waits for everything so far, and reads.
    fn read(&mut self, program: &Program, regions: &[Region]) -> Result<Readback, RunError>;

    /// What is to be timed, and whether each node is to be submitted by itself, which finds the node of an error.
    fn observe(&mut self, timing: Timing, alone: bool);

    /// Gives what was measured since [`prepare`](Self::prepare): device time of nodes, and encode, submit and wait of segments.
    fn times(&mut self) -> Times;
}
