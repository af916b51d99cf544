//! What a memory plan does, by name: the one model behind the chart in the terminal, the SVG and the HTML report.
//!
//! [`Memory::new`] joins a graph and its plan: nodes in the order in which they run, and for each buffer of the graph where it
//! lies, from when to when, and which nodes touch it. [`chart`] and [`svg`] draw it.
//!
//! It knows nothing of devices and times, and does not check plans; the planner's validator does.

mod chart;
mod svg;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::graph::model::{Graph, Origin, ValueId};
use crate::plan::{Arena, Plan};

pub use chart::chart;
pub use svg::svg;
pub(super) use svg::{figure, style};

/// A node at its place in the order.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Its name.
    pub name: String,
    /// Bytes of buffers live while it runs, without padding.
    pub live_bytes: u64,
}

/// How a node touches a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Touch {
    /// It reads it.
    Read,
    /// It defines contents that were not there before.
    Write,
    /// It changes what is there, in place.
    Update,
}

/// What a buffer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The host fills it: an input or a constant.
    Given,
    /// Nodes write and read it.
    Scratch,
    /// Its last version is handed out.
    Output,
}

/// A buffer of the graph in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Lifetime {
    /// The name of its first version.
    pub name: String,
    /// The names of all versions, oldest first.
    pub versions: Vec<String>,
    /// What it is for.
    pub role: Role,
    /// Index into [`Memory::arenas`].
    pub arena: usize,
    /// Where it begins in the arena.
    pub offset_bytes: u64,
    /// The largest size that it can have.
    pub size_bytes: u64,
    /// The first position at which it is live.
    pub first: usize,
    /// The last such position.
    pub last: usize,
    /// Positions of the nodes that touch it, and how.
    pub touches: BTreeMap<usize, Touch>,
}

/// What a plan does with memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// The graph's name.
    pub graph: String,
    /// The graph's identity.
    pub identity: String,
    /// The numbers it was planned for.
    pub symbols: BTreeMap<String, u64>,
    /// Nodes in the order in which they run; positions are indices into it.
    pub steps: Vec<Step>,
    /// Positions of each segment.
    pub segments: Vec<Range<usize>>,
    /// Arenas.
    pub arenas: Vec<Arena>,
    /// Buffers, those that begin first in front.
    pub lifetimes: Vec<Lifetime>,
    /// The sum of all arenas.
    pub peak_bytes: u64,
    /// What no plan with this order can go below.
    pub bound_bytes: u64,
    /// What memory without reuse takes.
    pub naive_bytes: u64,
    /// The first position with the most live bytes.
    pub peak_position: usize,
}

impl Memory {
    /// Joins a graph and a plan made for it.
    pub fn new(graph: &Graph, plan: &Plan) -> Memory {
        let steps = plan.order.iter().enumerate().map(|(position, node)| Step {
            name: graph.nodes[node.0 as usize].name.clone(),
            live_bytes: plan.live_bytes(position),
        });
        let mut lifetimes: Vec<Lifetime> =
            (0..graph.buffers.len()).map(|b| lifetime(graph, plan, b)).collect();
        for (position, node) in plan.order.iter().enumerate() {
            for binding in &graph.nodes[node.0 as usize].bindings {
                let touch = match (binding.before, binding.after) {
                    (Some(_), Some(_)) => Touch::Update,
                    (None, Some(_)) => Touch::Write,
                    _ => Touch::Read,
                };
                if let Some(value) = binding.after.or(binding.before) {
                    let buffer = graph.values[value.0 as usize].buffer.0 as usize;
                    let known = lifetimes[buffer].touches.entry(position).or_insert(touch);
                    *known = touch.max(*known);
                }
            }
        }
        lifetimes.sort_by_key(|life| (life.first, life.last, life.arena, life.offset_bytes));
        Memory {
            graph: graph.name.clone(),
            identity: plan.identity.clone(),
            symbols: plan.symbols.clone(),
            steps: steps.collect(),
            segments: plan.segments.clone(),
            arenas: plan.arenas.clone(),
            lifetimes,
            peak_bytes: plan.peak_bytes,
            bound_bytes: plan.bound_bytes,
            naive_bytes: plan.naive_bytes,
            peak_position: plan.peak_position,
        }
    }

    /// The segment of a position.
    pub fn segment_of(&self, position: usize) -> usize {
        self.segments.iter().position(|range| range.contains(&position)).unwrap_or(0)
    }
}

fn lifetime(graph: &Graph, plan: &Plan, buffer: usize) -> Lifetime {
    let slot = &plan.slots[buffer];
    let versions = &graph.buffers[buffer].versions;
    let value = |id: ValueId| &graph.values[id.0 as usize];
    let given = versions.first().is_some_and(|&first| !matches!(value(first).origin, Origin::Nodes(_)));
    let handed_out = graph.outputs.iter().any(|output| versions.contains(&output.value));
    let role = if handed_out {
        Role::Output
    } else if given {
        Role::Given
    } else {
        Role::Scratch
    };
    let versions: Vec<String> = versions.iter().map(|&id| value(id).name.clone()).collect();
    Lifetime {
        name: versions.first().cloned().unwrap_or_default(),
        versions,
        role,
        arena: slot.arena,
        offset_bytes: slot.offset_bytes,
        size_bytes: slot.size_bytes,
        first: slot.first,
        last: slot.last,
        touches: BTreeMap::new(),
    }
}
