//! A drawing before it has places: boxes with ports, arrows between ports, frames around boxes, and the bands that
//! host round trips cut.
//!
//! It knows nothing of passes and values; whoever draws a graph, a plan or a profile fills one in. [`layout`](super::layout)
//! places it, [`svg`](super::svg) and [`dot`](super::dot) write it.

use std::collections::HashMap;

/// A drawing: what is connected to what, and what is written where.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Diagram {
    /// What stands above it.
    pub title: String,
    /// Smaller lines below the title.
    pub caption: Vec<String>,
    /// The boxes. Their order is the tie breaker wherever the layout has a choice.
    pub nodes: Vec<Node>,
    /// The arrows.
    pub edges: Vec<Edge>,
    /// The bands, from the top. Empty if the drawing has none.
    pub segments: Vec<Segment>,
}

/// What a box stands for; decides its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NodeKind {
    /// A pass that runs on the device.
    DevicePass,
    /// A pass that runs on the host.
    HostPass,
    /// What is given to the graph.
    Input,
    /// What the graph gives back.
    Output,
    /// A number the device computes.
    Count,
    /// A status word that stops the run.
    Check,
    /// Several parts or contributions that become one value.
    Join,
}

/// A box.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique among the nodes; never shown but in tooltips.
    pub id: String,
    /// The name in the box.
    pub title: String,
    /// A smaller line below it, such as the name of the pass; may be empty.
    pub subtitle: String,
    /// What it stands for.
    pub kind: NodeKind,
    /// Where arrows end, in reading order; the layout may permute them.
    pub inputs: Vec<Port>,
    /// Where arrows begin.
    pub outputs: Vec<Port>,
    /// The band it lies in; `None` lets the layout choose.
    pub segment: Option<u32>,
    /// Names of the frames it lies in, outermost first.
    pub cluster: Vec<String>,
    /// A share between 0 and 1 that colours the box, for instance of the run time.
    pub tint: Option<f64>,
    /// Further lines in the box, for instance measurements.
    pub lines: Vec<String>,
    /// Details, shown on hovering.
    pub tooltip: Vec<String>,
}

/// A place of a box where arrows begin or end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Port {
    /// Its name; may be empty.
    pub name: String,
    /// For an input: what it is fed with when that is no arrow, for instance a constant. Name and constant are then
    /// written in the box instead of on its edge.
    pub fixed: Option<String>,
    /// For an output: lines about the value that leaves it, such as its type, length and bytes. They are written once,
    /// where the arrows begin, however many readers the value has.
    pub label: Vec<String>,
    /// Details, shown on hovering.
    pub tooltip: Vec<String>,
}

/// An input or output of a box, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PortRef {
    /// Index into [`Diagram::nodes`].
    pub node: usize,
    /// Index into that node's inputs or outputs.
    pub port: usize,
}

/// What an arrow means; decides its head and stroke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeKind {
    /// The value is read.
    Data,
    /// The value is changed in place.
    Update,
    /// The value is added to in place, by several at a time.
    Accumulate,
    /// No value flows: the one end waits for the other.
    Await,
}

/// An arrow from an output to an input. Arrows from one output share their trunk.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// The output.
    pub from: PortRef,
    /// The input; no other arrow ends there.
    pub to: PortRef,
    /// What it means.
    pub kind: EdgeKind,
    /// A share between 0 and 1 that sets the width of the line, for instance of the bytes moved.
    pub weight: Option<f64>,
    /// Details, shown on hovering.
    pub tooltip: Vec<String>,
}

/// A band of the drawing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segment {
    /// Its name, such as `segment 2`.
    pub title: String,
    /// Lines beside the line above it, such as `host waits for` and `survivors`. Unused for the first.
    pub waits_for: Vec<String>,
}

/// Why a diagram cannot be drawn. Whoever filled it in made a mistake.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiagramError {
    /// Two nodes have one id.
    #[error("two nodes of the diagram have the id `{0}`")]
    DuplicateId(String),
    /// An edge names a node or port that is not there, or ends at one that is fed with a constant.
    #[error("edge {0} of the diagram ends at a port that does not exist or is fed with a constant")]
    NoSuchPort(usize),
    /// Two edges end at one input.
    #[error("two edges of the diagram end at input {port} of `{id}`")]
    SharedInput {
        /// The node.
        id: String,
        /// The input's index.
        port: usize,
    },
    /// Edges run in a circle, or from a later segment to an earlier one.
    #[error("the diagram's edges run in a circle, or back to an earlier segment")]
    Cycle,
    /// A node's segment is not in the list.
    #[error("node `{0}` of the diagram lies in a segment that does not exist")]
    NoSuchSegment(String),
}

impl Diagram {
    /// Looks for what would make it impossible to draw, circles excepted: the layout finds those.
    pub fn check(&self) -> Result<(), DiagramError> {
        let mut ids = HashMap::new();
        for node in &self.nodes {
            if ids.insert(node.id.as_str(), ()).is_some() {
                return Err(DiagramError::DuplicateId(node.id.clone()));
            }
            let known = |segment: u32| (segment as usize) < self.segments.len();
            if !node.segment.is_none_or(known) {
                return Err(DiagramError::NoSuchSegment(node.id.clone()));
            }
        }
        let mut taken = HashMap::new();
        for (index, edge) in self.edges.iter().enumerate() {
            let from = self.nodes.get(edge.from.node).and_then(|node| node.outputs.get(edge.from.port));
            let to = self.nodes.get(edge.to.node).and_then(|node| node.inputs.get(edge.to.port));
            if from.is_none() || to.is_none_or(|port| port.fixed.is_some()) {
                return Err(DiagramError::NoSuchPort(index));
            }
            if taken.insert(edge.to, ()).is_some() {
                let id = self.nodes[edge.to.node].id.clone();
                return Err(DiagramError::SharedInput { id, port: edge.to.port });
            }
        }
        Ok(())
    }
}

impl Node {
    /// A box without ports, frames or details.
    pub fn new(id: impl Into<String>, title: impl Into<String>, kind: NodeKind) -> Node {
        Node {
            id: id.into(),
            title: title.into(),
            subtitle: String::new(),
            kind,
            inputs: Vec::new(),
            outputs: Vec::new(),
            segment: None,
            cluster: Vec::new(),
            tint: None,
            lines: Vec::new(),
            tooltip: Vec::new(),
        }
    }
}

impl Port {
    /// A port with a name and nothing else.
    pub fn named(name: impl Into<String>) -> Port {
        Port { name: name.into(), ..Port::default() }
    }

    /// Its name, and what it is fed with.
    pub fn text(&self) -> String {
        match &self.fixed {
            Some(fixed) if self.name.is_empty() => fixed.clone(),
            // What is only known as a bound.
            Some(fixed) if fixed.starts_with('≤') => format!("{} {fixed}", self.name),
            Some(fixed) => format!("{} = {fixed}", self.name),
            None => self.name.clone(),
        }
    }
}
