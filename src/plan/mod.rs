//! Memory plans: for one graph and one set of sizes, the order of nodes, and an arena, an offset and a lifetime for
//! every buffer.
//!
//! [`plan`] turns a resolved graph and the numbers of its symbols into a [`Plan`]. The work is done by a core that
//! knows nothing of graph files: [`problem`] states it, `order`, `arenas`, `widen` and [`place`] solve its parts,
//! [`arrange`](arrange::arrange) puts them together, and [`validate`] proves the result and computes the lower bound
//! by code of its own. Every plan is validated.
//!
//! Nothing here knows about devices, pipelines or Everett files.

mod arenas;
pub mod arrange;
mod order;
pub mod place;
pub mod problem;
pub mod random;
pub mod validate;
mod widen;

use std::collections::BTreeMap;
use std::ops::Range;

use petgraph::Direction;
use serde_json::{Value as Json, json};
use thiserror::Error;

use crate::graph::document::{Access, Relation};
use crate::graph::expr::EvalError;
use crate::graph::model::{BufferId, Graph, GridExpr, Node as GraphNode, NodeId, Origin, ValueId};

pub use arrange::{Effort, NodeOrder};
pub use problem::Limits;

use problem::{Arrangement, Buffer, Mode, Node, Problem, ProblemError, Use};
use validate::{Proof, Violation};

/// Sizes of buffers are multiples of this, so that a kernel may view scalars as `vec4`.
const SIZE_MULTIPLE_BYTES: u64 = 16;

/// What a plan is made for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The device's limits.
    pub limits: Limits,
    /// How long to search.
    pub effort: Effort,
    /// The order of nodes.
    pub order: NodeOrder,
    /// Whether the executor can bind read-write, in single dispatches, what a pass only reads. Where colouring alone costs
    /// memory, a few nodes are then widened, see [`Plan::widened`].
    pub may_widen: bool,
    /// Whether every input has an arena of its own, for devices that import the host's memory.
    pub dedicated_inputs: bool,
    /// Whether every output has an arena of its own, for devices whose memory the host maps.
    pub dedicated_outputs: bool,
}

/// A device buffer that holds buffers of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arena {
    /// Its bytes.
    pub size_bytes: u64,
    /// Whether it holds a dedicated buffer, and nothing else.
    pub dedicated: bool,
}

/// Where a buffer of the graph lives, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Index into [`Plan::arenas`].
    pub arena: usize,
    /// Offset in the arena, a multiple of the offset alignment.
    pub offset_bytes: u64,
    /// Bytes, a multiple of 16 and never 0. The largest size the buffer can have.
    pub size_bytes: u64,
    /// The first position in [`Plan::order`] at which it is live.
    pub first: usize,
    /// The last such position.
    pub last: usize,
}

/// The order of nodes and the layout of memory for one graph and one set of sizes.
///
/// What the executor may rely on: nodes run in [`order`](Self::order), each segment as one submission. Inputs are there
/// before the first node, constants before the first node of the segment that first reads them. Counts and checks are
/// intact when the segment that writes them has ended, outputs at the end of the run. No dispatch binds one arena both
/// read-only and read-write, once those in [`widened`](Self::widened) bind everything read-write.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The graph's identity.
    pub identity: String,
    /// The numbers it was planned for.
    pub symbols: BTreeMap<String, u64>,
    /// Nodes in the order in which they run.
    pub order: Vec<NodeId>,
    /// The positions of each segment in the order; empty for a segment without nodes.
    pub segments: Vec<Range<usize>>,
    /// Arenas.
    pub arenas: Vec<Arena>,
    /// One slot a buffer, by [`BufferId`].
    pub slots: Vec<Slot>,
    /// Nodes that must bind all of their buffers read-write, because some that they read and some that they write share
    /// an arena. Sorted; empty unless [`Options::may_widen`] is set.
    pub widened: Vec<NodeId>,
    /// The sum of all arenas.
    pub peak_bytes: u64,
    /// The largest sum of aligned sizes live at one node, computed by the validator: no plan with this order is smaller.
    pub bound_bytes: u64,
    /// The sum of all aligned sizes: what memory without reuse takes.
    pub naive_bytes: u64,
    /// The first position with the largest live sum.
    pub peak_position: usize,
    /// Buffers live there, largest first.
    pub live_at_peak: Vec<BufferId>,
}

/// Why there is no plan.
#[derive(Clone, Debug, Error)]
pub enum PlanError {
    /// Symbols without a number.
    #[error("graph `{graph}` needs numbers for: {}", .missing.join(", "))]
    Missing {
        /// The graph.
        graph: String,
        /// Name and meaning of each.
        missing: Vec<String>,
    },
    /// A number for something that is not a symbol.
    #[error("graph `{graph}` has no symbol `{name}`; its symbols are: {}", .symbols.join(", "))]
    Unknown {
        /// The graph.
        graph: String,
        /// The name.
        name: String,
        /// What there is.
        symbols: Vec<String>,
    },
    /// The numbers break a bound of the graph.
    #[error("graph `{graph}` requires {bound}, and these sizes give {left} and {right}: {why}")]
    Bound {
        /// The graph.
        graph: String,
        /// As written.
        bound: String,
        /// Its left side.
        left: u64,
        /// Its right side.
        right: u64,
        /// What the graph says about it.
        why: String,
    },
    /// An expression has no number.
    #[error("{what}: {error}")]
    Expression {
        /// Whose.
        what: String,
        /// Why.
        error: EvalError,
    },
    /// A size past 64 bits.
    #[error("value `{value}` has {elements} elements, more bytes than 64 bits can count")]
    ValueTooLarge {
        /// The value.
        value: String,
        /// Its length.
        elements: u64,
    },
    /// The host reads a value when a later version has replaced it.
    #[error(
        "{reader} reads `{value}` at the end of segment {segment}, and `{newer}` has replaced it by then; read that"
    )]
    Replaced {
        /// "output `x`", "count `x`" or "check `x`".
        reader: String,
        /// What it reads.
        value: String,
        /// When.
        segment: u32,
        /// The later version.
        newer: String,
    },
    /// The problem has no solution.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The validator refused the plan.
    #[error("the planner made an unsound plan, which is a defect of weft: {}", join(.0))]
    Unsound(Vec<Violation>),
}

fn join(violations: &[Violation]) -> String {
    violations.iter().map(Violation::to_string).collect::<Vec<_>>().join("; ")
}

/// Plans a graph for the numbers of its symbols.
///
/// # Errors
/// A [`PlanError`] when numbers are missing, unknown or break a bound of the graph, when a size has no number, or when
/// one buffer alone passes a limit of the device.
pub fn plan(graph: &Graph, symbols: &BTreeMap<String, u64>, options: &Options) -> Result<Plan, PlanError> {
    plan_as(graph, symbols, options, None)
}

/// Plans a graph that has a plan for other numbers: with its order and arenas if they are good enough for these, which is found
/// out in a fraction of the time, else anew.
///
/// # Errors
///
/// As [`plan`].
pub fn plan_like(
    previous: &Plan,
    graph: &Graph,
    symbols: &BTreeMap<String, u64>,
    options: &Options,
) -> Result<Plan, PlanError> {
    let is_like = previous.identity == graph.identity
        && (options.effort, options.order) == (Effort::Fast, NodeOrder::LeastMemory);
    plan_as(graph, symbols, options, Some(previous).filter(|_| is_like))
}

fn plan_as(
    graph: &Graph,
    symbols: &BTreeMap<String, u64>,
    options: &Options,
    previous: Option<&Plan>,
) -> Result<Plan, PlanError> {
    let _span = tracing::info_span!("plan", graph = %graph.name).entered();
    check_symbols(graph, symbols)?;
    check_bounds(graph, symbols)?;
    let problem = problem_of(graph, symbols, options)?;
    let alike = previous.and_then(|previous| arrange::arrange_like(&problem, &arrangement_of(previous)));
    let arrangement = match alike {
        Some(arrangement) => arrangement,
        None => arrange::arrange(&problem, options.effort, options.order)?,
    };
    let proof = validate::validate(&problem, &arrangement).map_err(PlanError::Unsound)?;
    Ok(assemble(graph, symbols, &problem, arrangement, proof))
}

fn check_symbols(graph: &Graph, symbols: &BTreeMap<String, u64>) -> Result<(), PlanError> {
    let known = |name: &str| graph.symbols.iter().any(|symbol| symbol.name == name);
    if let Some(name) = symbols.keys().find(|name| !known(name)) {
        let names = graph.symbols.iter().map(|symbol| format!("`{}`", symbol.name)).collect();
        return Err(PlanError::Unknown { graph: graph.name.clone(), name: name.clone(), symbols: names });
    }
    let missing: Vec<String> = graph
        .symbols
        .iter()
        .filter(|symbol| !symbols.contains_key(&symbol.name))
        .map(|symbol| format!("`{}` ({})", symbol.name, symbol.doc))
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(PlanError::Missing { graph: graph.name.clone(), missing }) }
}

fn check_bounds(graph: &Graph, symbols: &BTreeMap<String, u64>) -> Result<(), PlanError> {
    for bound in &graph.bounds {
        let number = |expr: &crate::graph::expr::Expr| {
            expr.eval(&|name| symbols.get(name).copied())
                .map_err(|error| PlanError::Expression { what: format!("requirement {}", bound.text), error })
        };
        let (left, right) = (number(&bound.left)?, number(&bound.right)?);
        let holds = match bound.relation {
            Relation::AtMost => left <= right,
            Relation::Below => left < right,
            Relation::Equal => left == right,
        };
        if !holds {
            let (graph, bound, why) = (graph.name.clone(), bound.text.clone(), bound.why.clone());
            return Err(PlanError::Bound { graph, bound, left, right, why });
        }
    }
    Ok(())
}

/// The planner's view of a graph.
fn problem_of(
    graph: &Graph,
    symbols: &BTreeMap<String, u64>,
    options: &Options,
) -> Result<Problem, PlanError> {
    let mut buffers = Vec::with_capacity(graph.buffers.len());
    for versions in graph.buffers.iter().map(|buffer| &buffer.versions) {
        let mut size_bytes = 0;
        for &version in versions {
            size_bytes = size_bytes.max(value_bytes(graph, symbols, version)?);
        }
        buffers.push(Buffer {
            name: versions.first().map(|&first| value(graph, first).name.clone()).unwrap_or_default(),
            size_bytes,
            filled_before: versions.first().and_then(|&first| filled_before(graph, first)),
            read_after: None,
            dedicated: false,
        });
    }
    for input in graph.inputs.iter().filter(|_| options.dedicated_inputs) {
        buffers[buffer_of(graph, input.value)].dedicated = true;
    }
    for output in graph.outputs.iter().filter(|_| options.dedicated_outputs) {
        buffers[buffer_of(graph, output.value)].dedicated = true;
    }
    for (reader, read, segment) in host_reads(graph) {
        check_not_replaced(graph, &reader, read, segment)?;
        let read_after = &mut buffers[buffer_of(graph, read)].read_after;
        *read_after = (*read_after).max(Some(segment));
    }
    let nodes = (0..graph.nodes.len()).map(|index| problem_node(graph, index)).collect();
    Ok(Problem { nodes, buffers, limits: options.limits, may_widen: options.may_widen })
}

fn value(graph: &Graph, id: ValueId) -> &crate::graph::model::Value {
    &graph.values[id.0 as usize]
}

fn buffer_of(graph: &Graph, id: ValueId) -> usize {
    value(graph, id).buffer.0 as usize
}

/// The most bytes a value can have. An empty value still takes one element, since nothing cannot be bound.
fn value_bytes(graph: &Graph, symbols: &BTreeMap<String, u64>, id: ValueId) -> Result<u64, PlanError> {
    let value = value(graph, id);
    let elements = graph
        .at_most(&value.len)
        .eval(&|name| symbols.get(name).copied())
        .map_err(|error| PlanError::Expression { what: format!("length of `{}`", value.name), error })?;
    elements
        .max(1)
        .checked_mul(value.element.layout.stride_bytes())
        .and_then(|bytes| bytes.checked_next_multiple_of(SIZE_MULTIPLE_BYTES))
        .ok_or_else(|| PlanError::ValueTooLarge { value: value.name.clone(), elements })
}

/// The segment before which the host fills a value: inputs at once, constants when they are first read.
pub fn filled_before(graph: &Graph, id: ValueId) -> Option<u32> {
    let value = value(graph, id);
    match value.origin {
        Origin::Input(_) => Some(0),
        Origin::Constant(_) => value.readers.iter().map(|&node| segment_of(graph, node)).min().or(Some(0)),
        Origin::Nodes(_) => None,
    }
}

fn segment_of(graph: &Graph, node: NodeId) -> u32 {
    graph.nodes[node.0 as usize].segment
}

/// The last segment in which a value is written.
fn written_in(graph: &Graph, id: ValueId) -> u32 {
    value(graph, id).writers().iter().map(|&node| segment_of(graph, node)).max().unwrap_or(0)
}

/// What the host reads: who, which value, at the end of which segment.
fn host_reads(graph: &Graph) -> Vec<(String, ValueId, u32)> {
    let counts = graph.counts.iter().map(|count| (format!("count `{}`", count.name), count.value));
    let checks = graph.checks.iter().map(|check| (format!("check `{}`", check.name), check.value));
    let words = counts.chain(checks).map(|(reader, read)| (reader, read, written_in(graph, read)));
    let last_segment = graph.segments.saturating_sub(1);
    let outputs =
        graph.outputs.iter().map(|output| (format!("output `{}`", output.name), output.value, last_segment));
    words.chain(outputs).collect()
}

fn check_not_replaced(graph: &Graph, reader: &str, read: ValueId, segment: u32) -> Result<(), PlanError> {
    let versions = &graph.buffers[buffer_of(graph, read)].versions;
    let newer = versions.iter().skip_while(|&&version| version != read).skip(1);
    for &newer in newer {
        if value(graph, newer).writers().iter().any(|&node| segment_of(graph, node) <= segment) {
            return Err(PlanError::Replaced {
                reader: reader.to_owned(),
                value: value(graph, read).name.clone(),
                segment,
                newer: value(graph, newer).name.clone(),
            });
        }
    }
    Ok(())
}

fn problem_node(graph: &Graph, index: usize) -> Node {
    let node = &graph.nodes[index];
    let mut after: Vec<usize> = graph
        .dag
        .node_indices()
        .filter(|&at| graph.dag[at].0 as usize == index)
        .flat_map(|at| graph.dag.neighbors_directed(at, Direction::Incoming))
        .map(|before| graph.dag[before].0 as usize)
        .collect();
    after.sort_unstable();
    after.dedup();
    Node {
        name: node.name.clone(),
        segment: node.segment,
        after,
        uses: uses(graph, node),
        dispatch: !matches!(node.grid, GridExpr::Host),
    }
}

fn uses(graph: &Graph, node: &GraphNode) -> Vec<Use> {
    let mut uses = Vec::with_capacity(node.bindings.len());
    for binding in &node.bindings {
        let mode = if binding.access == Access::Read { Mode::Read } else { Mode::Write };
        if let Some(bound) = binding.after.or(binding.before) {
            uses.push(Use { buffer: buffer_of(graph, bound), mode });
        }
    }
    uses
}

fn assemble(
    graph: &Graph,
    symbols: &BTreeMap<String, u64>,
    problem: &Problem,
    arrangement: Arrangement,
    proof: Proof,
) -> Plan {
    let order = &arrangement.order;
    let position = |segment: u32| order.partition_point(|&node| problem.nodes[node].segment < segment);
    let slots = arrangement.slots.iter().zip(&problem.buffers).map(|(slot, buffer)| Slot {
        arena: slot.arena,
        offset_bytes: slot.offset_bytes,
        size_bytes: buffer.size_bytes,
        first: slot.first,
        last: slot.last,
    });
    let holds_dedicated = |arena: usize| {
        arrangement
            .slots
            .iter()
            .zip(&problem.buffers)
            .any(|(slot, buffer)| slot.arena == arena && buffer.dedicated)
    };
    let arenas = arrangement.arena_bytes.iter().enumerate();
    Plan {
        identity: graph.identity.clone(),
        symbols: symbols.clone(),
        segments: (0..graph.segments).map(|segment| position(segment)..position(segment + 1)).collect(),
        arenas: arenas
            .map(|(arena, &size_bytes)| Arena { size_bytes, dedicated: holds_dedicated(arena) })
            .collect(),
        slots: slots.collect(),
        peak_bytes: proof.peak_bytes,
        bound_bytes: proof.bound_bytes,
        naive_bytes: proof.naive_bytes,
        peak_position: proof.peak_position,
        live_at_peak: proof.live_at_peak.iter().map(|&buffer| BufferId(buffer as u32)).collect(),
        widened: arrangement.widened.iter().map(|&node| NodeId(node as u32)).collect(),
        order: order.iter().map(|&node| NodeId(node as u32)).collect(),
    }
}

/// The other way round: the arrangement that a plan was made of.
fn arrangement_of(plan: &Plan) -> Arrangement {
    let slot = |&Slot { arena, offset_bytes, first, last, .. }: &Slot| problem::Slot {
        arena,
        offset_bytes,
        first,
        last,
    };
    let index = |node: &NodeId| node.0 as usize;
    Arrangement {
        order: plan.order.iter().map(index).collect(),
        slots: plan.slots.iter().map(slot).collect(),
        arena_bytes: plan.arenas.iter().map(|arena| arena.size_bytes).collect(),
        widened: plan.widened.iter().map(index).collect(),
    }
}

impl Plan {
    /// Where a buffer lives.
    pub fn slot(&self, buffer: BufferId) -> &Slot {
        &self.slots[buffer.0 as usize]
    }

    /// Peak over bound; 1 for a graph without memory.
    pub fn ratio(&self) -> f64 {
        if self.bound_bytes == 0 { 1.0 } else { self.peak_bytes as f64 / self.bound_bytes as f64 }
    }

    /// The sum of the sizes of buffers live at a position of the order, without the padding between them.
    pub fn live_bytes(&self, position: usize) -> u64 {
        let live = |slot: &&Slot| (slot.first..=slot.last).contains(&position);
        self.slots.iter().filter(live).map(|slot| slot.size_bytes).sum()
    }

    /// The plan as JSON, with the names of `graph`, which is the graph it was made for.
    pub fn to_json(&self, graph: &Graph) -> Json {
        let node_at =
            |position: usize| self.order.get(position).map(|node| &graph.nodes[node.0 as usize].name);
        let segments = self.segments.iter().map(|range| json!({"first": range.start, "nodes": range.len()}));
        let arenas =
            self.arenas.iter().map(|a| json!({"size_bytes": a.size_bytes, "dedicated": a.dedicated}));
        let values = graph.buffers.iter().zip(&self.slots).map(|(buffer, slot)| {
            let versions: Vec<&str> =
                buffer.versions.iter().map(|&id| value(graph, id).name.as_str()).collect();
            json!({
                "name": versions.first(),
                "versions": versions,
                "arena": slot.arena,
                "offset_bytes": slot.offset_bytes,
                "size_bytes": slot.size_bytes,
                "first_node": node_at(slot.first),
                "last_node": node_at(slot.last),
            })
        });
        json!({
            "graph": graph.name,
            "identity": self.identity,
            "symbols": self.symbols,
            "peak_bytes": self.peak_bytes,
            "bound_bytes": self.bound_bytes,
            "naive_bytes": self.naive_bytes,
            "ratio": self.ratio(),
            "peak_node": node_at(self.peak_position),
            "live_at_peak": self.live_at_peak.iter().map(|&id| self.buffer_name(graph, id)).collect::<Vec<_>>(),
            "order": (0..self.order.len()).map(node_at).collect::<Vec<_>>(),
            "widened": self.widened.iter().map(|node| &graph.nodes[node.0 as usize].name).collect::<Vec<_>>(),
            "segments": segments.collect::<Vec<_>>(),
            "arenas": arenas.collect::<Vec<_>>(),
            "values": values.collect::<Vec<_>>(),
        })
    }

    fn buffer_name<'g>(&self, graph: &'g Graph, id: BufferId) -> &'g str {
        let versions = &graph.buffers[id.0 as usize].versions;
        versions.first().map_or("", |&first| value(graph, first).name.as_str())
    }
}
