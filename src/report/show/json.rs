//! A resolved graph as JSON, for programs. `docs/show-json.md` says what the fields mean.
//!
//! Things refer to one another by name. Lengths and the like are given as the graph's expressions and, where `sizes` has
//! them, as numbers: absent otherwise.

use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::diagram::waits_for;
use super::sizes::Sizes;
use crate::graph::document::{Access, Relation};
use crate::graph::expr::Expr;
use crate::graph::model::{self, ElementType, Graph, GridExpr, Origin, Reason, ValueId};

/// The version of the format: it grows when a field changes its meaning or goes, not when one is added.
pub const FORMAT_VERSION: u32 = 1;

/// The whole graph.
#[derive(Debug, Serialize)]
pub struct GraphJson {
    format: &'static str,
    version: u32,
    name: String,
    doc: String,
    identity: String,
    symbols: Vec<SymbolJson>,
    bounds: Vec<BoundJson>,
    inputs: Vec<InputJson>,
    nodes: Vec<NodeJson>,
    values: Vec<ValueJson>,
    edges: Vec<EdgeJson>,
    segments: Vec<SegmentJson>,
    counts: Vec<CountJson>,
    checks: Vec<CheckJson>,
    outputs: Vec<OutputJson>,
}

#[derive(Debug, Serialize)]
struct SymbolJson {
    name: String,
    doc: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
}

#[derive(Debug, Serialize)]
struct BoundJson {
    that: String,
    left: String,
    relation: &'static str,
    right: String,
    why: String,
}

#[derive(Debug, Serialize)]
struct InputJson {
    name: String,
    value: String,
    doc: String,
}

#[derive(Debug, Serialize)]
struct NodeJson {
    name: String,
    pass: String,
    doc: String,
    runs_on: &'static str,
    segment: u32,
    stage: String,
    bind: Map<String, Json>,
    overrides: Map<String, Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grid: Option<GridJson>,
    steps: SizeJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    traffic: Option<TrafficJson>,
    ports: Vec<PortJson>,
}

/// An expression, and its number if it is known.
#[derive(Debug, Serialize)]
struct SizeJson {
    expr: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
}

#[derive(Debug, Serialize)]
struct GridJson {
    unit: &'static str,
    #[serde(flatten)]
    size: SizeJson,
}

#[derive(Debug, Serialize)]
struct TrafficJson {
    read_bytes: SizeJson,
    write_bytes: SizeJson,
}

#[derive(Debug, Serialize)]
struct PortJson {
    name: String,
    access: &'static str,
    before: Option<String>,
    after: Option<String>,
    at: SizeJson,
    len: SizeJson,
}

#[derive(Debug, Serialize)]
struct ValueJson {
    name: String,
    r#type: String,
    element_bytes: u64,
    len: SizeJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    buffer: u32,
    previous: Option<String>,
    origin: OriginJson,
    readers: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum OriginJson {
    Input(String),
    Constant(SizeJson),
    Nodes(Vec<String>),
}

#[derive(Debug, Serialize)]
struct EdgeJson {
    from: String,
    to: String,
    reason: &'static str,
    value: String,
}

#[derive(Debug, Serialize)]
struct SegmentJson {
    nodes: Vec<String>,
    waits_for: Vec<String>,
}

#[derive(Debug, Serialize)]
struct CountJson {
    name: String,
    value: String,
    element: u32,
    max: SizeJson,
    awaited: bool,
}

#[derive(Debug, Serialize)]
struct CheckJson {
    name: String,
    value: String,
    unit: String,
    codes: Map<String, Json>,
    awaited: bool,
}

#[derive(Debug, Serialize)]
struct OutputJson {
    name: String,
    value: String,
    len: SizeJson,
    doc: String,
}

/// The graph for programs.
pub fn json(graph: &Graph, sizes: &Sizes) -> GraphJson {
    let printer = Printer { graph, sizes };
    GraphJson {
        format: "weft graph",
        version: FORMAT_VERSION,
        name: graph.name.clone(),
        doc: graph.doc.clone(),
        identity: graph.identity.clone(),
        symbols: printer.symbols(),
        bounds: graph.bounds.iter().map(bound).collect(),
        inputs: printer.inputs(),
        nodes: graph.nodes.iter().map(|node| printer.node(node)).collect(),
        values: graph.values.iter().map(|value| printer.value(value)).collect(),
        edges: printer.edges(),
        segments: printer.segments(),
        counts: printer.counts(),
        checks: printer.checks(),
        outputs: printer.outputs(),
    }
}

struct Printer<'a> {
    graph: &'a Graph,
    sizes: &'a Sizes,
}

impl Printer<'_> {
    fn size(&self, expr: &Expr) -> SizeJson {
        SizeJson { expr: expr.to_string(), number: self.sizes.eval(expr) }
    }

    fn value_name(&self, value: ValueId) -> String {
        self.graph.values[value.0 as usize].name.clone()
    }

    fn node_names<'n>(&self, nodes: impl IntoIterator<Item = &'n model::NodeId>) -> Vec<String> {
        nodes.into_iter().map(|node| self.graph.nodes[node.0 as usize].name.clone()).collect()
    }

    fn symbols(&self) -> Vec<SymbolJson> {
        let symbol = |symbol: &model::Symbol| SymbolJson {
            name: symbol.name.clone(),
            doc: symbol.doc.clone(),
            number: self.sizes.get(&symbol.name),
        };
        self.graph.symbols.iter().map(symbol).collect()
    }

    fn inputs(&self) -> Vec<InputJson> {
        let input = |input: &model::Input| InputJson {
            name: input.name.clone(),
            value: self.value_name(input.value),
            doc: input.doc.clone(),
        };
        self.graph.inputs.iter().map(input).collect()
    }

    fn node(&self, node: &model::Node) -> NodeJson {
        let grid = match &node.grid {
            GridExpr::Threads(size) => Some(GridJson { unit: "threads", size: self.size(size) }),
            GridExpr::Groups(size) => Some(GridJson { unit: "groups", size: self.size(size) }),
            GridExpr::Host => None,
        };
        let traffic = node
            .traffic
            .as_ref()
            .map(|(read, write)| TrafficJson { read_bytes: self.size(read), write_bytes: self.size(write) });
        let port = |binding: &model::Binding| PortJson {
            name: node.pass.file.ports[binding.port].0.value.clone(),
            access: access(binding.access),
            before: binding.before.map(|value| self.value_name(value)),
            after: binding.after.map(|value| self.value_name(value)),
            at: self.size(&binding.at),
            len: self.size(&binding.len),
        };
        NodeJson {
            name: node.name.clone(),
            pass: node.pass.name().to_owned(),
            doc: node.pass.file.doc.clone(),
            runs_on: if grid.is_some() { "device" } else { "host" },
            segment: node.segment,
            stage: node.stage().to_owned(),
            bind: node.bind.iter().map(|(name, expr)| (name.clone(), Json::from(expr.to_string()))).collect(),
            overrides: node
                .overrides
                .iter()
                .map(|(name, number)| (name.clone(), Json::from(*number)))
                .collect(),
            grid,
            steps: self.size(&node.steps),
            traffic,
            ports: node.bindings.iter().map(port).collect(),
        }
    }

    fn value(&self, value: &model::Value) -> ValueJson {
        let ElementType { name, layout } = &value.element;
        let origin = match &value.origin {
            Origin::Input(input) => OriginJson::Input(self.graph.inputs[*input].name.clone()),
            Origin::Constant(expr) => OriginJson::Constant(self.size(expr)),
            Origin::Nodes(nodes) => OriginJson::Nodes(self.node_names(nodes)),
        };
        ValueJson {
            name: value.name.clone(),
            r#type: name.clone(),
            element_bytes: layout.stride_bytes(),
            len: self.size(&value.len),
            bytes: self.sizes.bytes(&value.element, &value.len),
            buffer: value.buffer.0,
            previous: value.previous.map(|value| self.value_name(value)),
            origin,
            readers: self.node_names(&value.readers),
        }
    }

    fn edges(&self) -> Vec<EdgeJson> {
        let dag = &self.graph.dag;
        let edge = |edge| {
            let (from, to) = dag.edge_endpoints(edge)?;
            let name = |node: model::NodeId| self.graph.nodes[node.0 as usize].name.clone();
            let (reason, value) = (reason(dag[edge].reason), self.value_name(dag[edge].value));
            Some(EdgeJson { from: name(dag[from]), to: name(dag[to]), reason, value })
        };
        dag.edge_indices().filter_map(edge).collect()
    }

    fn segments(&self) -> Vec<SegmentJson> {
        let segment = |segment| SegmentJson {
            nodes: self
                .graph
                .nodes
                .iter()
                .filter(|node| node.segment == segment)
                .map(|node| node.name.clone())
                .collect(),
            waits_for: waits_for(self.graph, segment),
        };
        (0..self.graph.segments).map(segment).collect()
    }

    fn counts(&self) -> Vec<CountJson> {
        let count = |count: &model::Count| CountJson {
            name: count.name.clone(),
            value: self.value_name(count.value),
            element: count.element,
            max: self.size(&count.max),
            awaited: count.awaited,
        };
        self.graph.counts.iter().map(count).collect()
    }

    fn checks(&self) -> Vec<CheckJson> {
        let check = |check: &model::Check| CheckJson {
            name: check.name.clone(),
            value: self.value_name(check.value),
            unit: check.codes.unit.clone(),
            codes: check
                .codes
                .texts
                .iter()
                .map(|(code, text)| (code.to_string(), Json::from(text.as_str())))
                .collect(),
            awaited: check.awaited,
        };
        self.graph.checks.iter().map(check).collect()
    }

    fn outputs(&self) -> Vec<OutputJson> {
        let output = |output: &model::Output| OutputJson {
            name: output.name.clone(),
            value: self.value_name(output.value),
            len: self.size(&output.len),
            doc: output.doc.clone(),
        };
        self.graph.outputs.iter().map(output).collect()
    }
}

fn bound(bound: &model::Bound) -> BoundJson {
    let relation = match bound.relation {
        Relation::AtMost => "<=",
        Relation::Below => "<",
        Relation::Equal => "==",
    };
    BoundJson {
        that: bound.text.clone(),
        left: bound.left.to_string(),
        relation,
        right: bound.right.to_string(),
        why: bound.why.clone(),
    }
}

fn access(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Write => "write",
        Access::Update => "update",
        Access::Accumulate => "accumulate",
    }
}

fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::ReadAfterWrite => "read_after_write",
        Reason::Update => "update",
        Reason::WriteAfterRead => "write_after_read",
        Reason::Accumulate => "accumulate",
        Reason::Join => "join",
        Reason::Await => "await",
    }
}
