//! The resolved graph: flat, typed, free of hazards. What planner, executor and reports work on.
//!
//! Contents of memory are **values**: each is one version of one **buffer**. A `write` port begins a buffer, `update` and
//! `accumulate` ports yield the next version of the same bytes, several `write` ports may fill disjoint parts of one
//! value (a join). All expressions here are over the root graph's symbols and counts only; `let` names and the symbols
//! of passes and subgraphs have been substituted. Everything that has a name is in an order that names and wires decide,
//! never the order in a file.

use std::sync::Arc;

use petgraph::graph::DiGraph;
use smallvec::SmallVec;

use super::document::{Access, Codes, Layout, Relation};
use super::expr::Expr;
use super::extreme::at_most;
use super::pass::Pass;

/// Index into [`Graph::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Index into [`Graph::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// Index into [`Graph::buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u32);

/// A number the caller gives.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Its meaning.
    pub doc: String,
}

/// A bound on symbols.
#[derive(Clone, Debug)]
pub struct Bound {
    /// As written, for messages.
    pub text: String,
    /// Left side.
    pub left: Expr,
    /// Relation.
    pub relation: Relation,
    /// Right side.
    pub right: Expr,
    /// Why.
    pub why: String,
}

/// An element type by name, and its layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementType {
    /// The name that wiring compares.
    pub name: String,
    /// The memory layout.
    pub layout: Layout,
}

/// A type that a graph file declares, which a flat graph file therefore has to declare again.
#[derive(Clone, Debug)]
pub struct DeclaredType {
    /// Name and layout.
    pub element: ElementType,
    /// What an element means.
    pub doc: String,
}

/// Where a value comes from.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A graph input, by index into [`Graph::inputs`].
    Input(usize),
    /// One element, computed by the host from symbols and awaited counts.
    Constant(Expr),
    /// Written by these nodes: one for a plain `write` or `update`; several for a join or for accumulators.
    Nodes(SmallVec<[NodeId; 2]>),
}

/// One version of one buffer's contents.
#[derive(Clone, Debug)]
pub struct Value {
    /// Stable name: `keep_scan/tiles.sums`, the input's or join's name, or `{value: EXPR}` of a constant. A version that
    /// several nodes accumulated has the name of the first of their ports.
    pub name: String,
    /// Element type.
    pub element: ElementType,
    /// Number of elements; may mention counts, so memory is planned for [`Graph::at_most`] of it.
    pub len: Expr,
    /// The bytes it lives in.
    pub buffer: BufferId,
    /// Where it comes from.
    pub origin: Origin,
    /// The version it replaces, for `update` and `accumulate`.
    pub previous: Option<ValueId>,
    /// Nodes that read it, `update` and `accumulate` included.
    pub readers: SmallVec<[NodeId; 4]>,
}

impl Value {
    /// The nodes that write it; none for an input or a constant.
    pub fn writers(&self) -> &[NodeId] {
        match &self.origin {
            Origin::Nodes(nodes) => nodes,
            Origin::Input(_) | Origin::Constant(_) => &[],
        }
    }

    /// Whether it is put together from parts, by a `join` of the graph file.
    pub fn is_join(&self) -> bool {
        matches!(self.origin, Origin::Nodes(_)) && !self.name.contains('.')
    }
}

/// Bytes that hold the versions of a value, one after another.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// The versions, oldest first.
    pub versions: SmallVec<[ValueId; 2]>,
}

/// A port of a node, bound.
#[derive(Clone, Debug)]
pub struct Binding {
    /// Index into the pass's ports.
    pub port: usize,
    /// Use.
    pub access: Access,
    /// The value that must be there before (`read`, `update`, `accumulate`).
    pub before: Option<ValueId>,
    /// The value that is there afterwards (`write`, `update`, `accumulate`).
    pub after: Option<ValueId>,
    /// First element defined, for a part of a join; 0 otherwise.
    pub at: Expr,
    /// Elements read or defined.
    pub len: Expr,
}

/// How large a dispatch is.
#[derive(Clone, Debug)]
pub enum GridExpr {
    /// Invocations.
    Threads(Expr),
    /// Workgroups.
    Groups(Expr),
    /// A host pass.
    Host,
}

/// A pass placed in the graph.
#[derive(Clone, Debug)]
pub struct Node {
    /// Stable name: `keep_scan/tiles`.
    pub name: String,
    /// The pass, reflected.
    pub pass: Arc<Pass>,
    /// What a file beside the graph file calls it: a name, or a relative path.
    pub pass_reference: String,
    /// Pipeline constants, defaults included, in the pass's order.
    pub overrides: Vec<(String, u32)>,
    /// Invocations of one workgroup with these overrides; 0 for a host node or a pass without its shader.
    pub group_size: u64,
    /// Every symbol of the pass, in its order.
    pub bind: Vec<(String, Expr)>,
    /// What the pass's generics stand for, in its order.
    pub generics: Vec<(String, ElementType)>,
    /// Every port, in the pass's order.
    pub bindings: Vec<Binding>,
    /// Dispatch size; may mention `step`.
    pub grid: GridExpr,
    /// Dispatches.
    pub steps: Expr,
    /// Declared bytes read and written, if the pass declares them.
    pub traffic: Option<(Expr, Expr)>,
    /// What graph files call the stage it belongs to; see [`Node::stage`].
    pub stage_label: Option<String>,
    /// Which host round trips lie before it: 0 for nodes that wait for none.
    pub segment: u32,
}

impl Node {
    /// The stage that reports count the node in: its label, else its own name without those of the nodes inside it.
    pub fn stage(&self) -> &str {
        let outermost = self.name.split('/').next().unwrap_or(&self.name);
        self.stage_label.as_deref().unwrap_or(outermost)
    }
}

/// A number the device computes.
#[derive(Clone, Debug)]
pub struct Count {
    /// Its name, usable like a symbol in expressions.
    pub name: String,
    /// The value that holds it.
    pub value: ValueId,
    /// Which element.
    pub element: u32,
    /// Its largest possible number.
    pub max: Expr,
    /// Whether the host waits for it.
    pub awaited: bool,
}

/// A status word.
#[derive(Clone, Debug)]
pub struct Check {
    /// Its name.
    pub name: String,
    /// The value that holds it.
    pub value: ValueId,
    /// Meanings.
    pub codes: Codes,
    /// Whether the host waits for it.
    pub awaited: bool,
}

/// A graph input.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// The value.
    pub value: ValueId,
    /// Its meaning.
    pub doc: String,
}

/// A result.
#[derive(Clone, Debug)]
pub struct Output {
    /// Its name.
    pub name: String,
    /// The value.
    pub value: ValueId,
    /// Elements handed out.
    pub len: Expr,
    /// Its meaning.
    pub doc: String,
}

/// Why one node waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// Reads a value the other wrote.
    ReadAfterWrite,
    /// Updates a version the other wrote.
    Update,
    /// Overwrites, in place, a version the other still reads.
    WriteAfterRead,
    /// Accumulates into a version the other wrote.
    Accumulate,
    /// Reads a value of which the other wrote a part.
    Join,
    /// Is sized by a count, or stopped by a check, of the other that the host reads first.
    Await,
}

/// An edge of the DAG: the node at its head waits for the node at its tail.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Why.
    pub reason: Reason,
    /// Over which value.
    pub value: ValueId,
}

impl Graph {
    /// How large an expression over symbols and counts can be, as one over symbols alone: what memory is planned for.
    pub fn at_most(&self, expr: &Expr) -> Expr {
        let count = |name: &str| self.counts.iter().find(|count| count.name == name);
        at_most(expr, &|name| count(name).map(|count| &count.max))
    }
}

/// A flat, checked graph.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Its name.
    pub name: String,
    /// What it is.
    pub doc: String,
    /// Numbers the caller gives.
    pub symbols: Vec<Symbol>,
    /// Bounds on them. They mention symbols only: counts have been replaced by their maxima.
    pub bounds: Vec<Bound>,
    /// Types that graph files declare and this graph mentions.
    pub types: Vec<DeclaredType>,
    /// Element types the graph is generic in. Resolved by itself, it takes each for a type of its own.
    pub generics: Vec<ElementType>,
    /// Nodes, in a deterministic topological order that does not depend on the order in the files.
    pub nodes: Vec<Node>,
    /// Values.
    pub values: Vec<Value>,
    /// Buffers.
    pub buffers: Vec<Buffer>,
    /// Inputs.
    pub inputs: Vec<Input>,
    /// Counts, in an order in which maxima mention earlier ones only.
    pub counts: Vec<Count>,
    /// Checks.
    pub checks: Vec<Check>,
    /// Outputs.
    pub outputs: Vec<Output>,
    /// Number of segments.
    pub segments: u32,
    /// The DAG; node weights are [`NodeId`]s, several edges may join two nodes.
    pub dag: DiGraph<NodeId, Edge>,
    /// SHA-256 over everything that decides what runs, as lowercase hex.
    pub identity: String,
}
