//! A resolved graph as a diagram.

use std::collections::{HashMap, HashSet};

use indicatif::{BinaryBytes, HumanCount};

use super::sizes::Sizes;
use crate::graph::document::Access;
use crate::graph::expr::Expr;
use crate::graph::model::{
    Binding, Check, Count, ElementType, Graph, GridExpr, NodeId, Origin, Reason, Value, ValueId,
};
use crate::report::diagram::{Diagram, Edge, EdgeKind, Node, NodeKind, Port, PortRef, Segment};

/// Expressions longer than this give way to their numbers.
const SHORT_CHARS: usize = 14;

/// Draws the graph. Lengths are expressions; bytes are added where `sizes` gives them, and then set the width of
/// arrows too.
pub fn diagram(graph: &Graph, sizes: &Sizes) -> Diagram {
    let mut painter = Painter::new(graph, sizes);
    painter.inputs();
    painter.passes();
    painter.joins();
    painter.counts();
    painter.checks();
    painter.outputs();
    painter.overwrites();
    painter.segments();
    painter.weigh();
    painter.diagram
}

struct Painter<'a> {
    graph: &'a Graph,
    sizes: &'a Sizes,
    diagram: Diagram,
    /// Where each value leaves a box.
    source: HashMap<ValueId, PortRef>,
    /// Where each part of a value that several nodes write leaves its writer.
    parts: HashMap<ValueId, Vec<PortRef>>,
    /// Which box each node became.
    boxes: Vec<usize>,
    /// The value of each edge.
    carried: Vec<Option<ValueId>>,
    /// Arrows to draw once every source is known: value, reader and meaning.
    pending: Vec<(ValueId, PortRef, EdgeKind)>,
}

impl<'a> Painter<'a> {
    fn new(graph: &'a Graph, sizes: &'a Sizes) -> Painter<'a> {
        let numbers = graph.symbols.iter().map(|symbol| &symbol.name);
        let numbers = numbers.filter_map(|name| Some(format!("{name} = {}", sizes.get(name)?)));
        let numbers = numbers.collect::<Vec<_>>();
        let mut caption = wrap(graph.doc.split_whitespace(), " ", 110);
        caption.extend(wrap(numbers.iter().map(String::as_str), ", ", 110));
        caption.push(format!("identity {}", graph.identity));
        let diagram = Diagram { title: graph.name.clone(), caption, ..Diagram::default() };
        Painter {
            graph,
            sizes,
            diagram,
            source: HashMap::new(),
            parts: HashMap::new(),
            boxes: Vec::new(),
            carried: Vec::new(),
            pending: Vec::new(),
        }
    }

    fn value(&self, value: ValueId) -> &'a Value {
        &self.graph.values[value.0 as usize]
    }

    /// The segment in which a value is complete.
    fn segment_of(&self, value: ValueId) -> u32 {
        let writers = self.value(value).writers().iter();
        writers.map(|node| self.graph.nodes[node.0 as usize].segment).max().unwrap_or(0)
    }

    /// Adds a box; the path in its name becomes its frames.
    fn add(&mut self, id: String, name: &str, kind: NodeKind, segment: Option<u32>) -> usize {
        let (path, title) = name.rsplit_once('/').unwrap_or(("", name));
        let mut node = Node::new(id, title, kind);
        node.cluster = path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        node.segment = segment;
        self.diagram.nodes.push(node);
        self.diagram.nodes.len() - 1
    }

    fn inputs(&mut self) {
        for input in &self.graph.inputs {
            let at = self.add(input.name.clone(), &input.name, NodeKind::Input, None);
            let value = self.value(input.value);
            self.diagram.nodes[at].tooltip.push(input.doc.clone());
            let port = self.output_port("", &value.element, &value.len, "");
            self.diagram.nodes[at].outputs.push(port);
            self.source.insert(input.value, PortRef { node: at, port: 0 });
        }
    }

    fn output_port(&self, name: &str, element: &ElementType, len: &Expr, doc: &str) -> Port {
        let mut label = vec![element.name.clone()];
        if len.constant() != Some(1) {
            label.push(self.times(len));
        }
        label.extend(self.sizes.bytes(element, len).map(|bytes| self.bytes_text(bytes, len)));
        let mut tooltip = vec![format!("{} × {len}", element.name)];
        tooltip.extend(Some(doc).filter(|doc| !doc.is_empty()).map(str::to_owned));
        Port { name: name.to_owned(), label, tooltip, ..Port::default() }
    }

    /// An expression as it is, or its number if it is long and known.
    fn short(&self, expr: &Expr) -> String {
        let text = expr.to_string();
        match self.sizes.eval(expr) {
            Some(number) if text.chars().count() > SHORT_CHARS && self.is_counted(expr) => {
                format!("≤ {}", HumanCount(number))
            }
            Some(number) if text.chars().count() > SHORT_CHARS => HumanCount(number).to_string(),
            _ => text,
        }
    }

    /// How many elements: `× n`, or `≤ 100` where only the most is known.
    fn times(&self, len: &Expr) -> String {
        let short = self.short(len);
        if short.starts_with('≤') { short } else { format!("× {short}") }
    }

    /// Whether an expression mentions a count, so that its number is only known as a maximum.
    fn is_counted(&self, expr: &Expr) -> bool {
        expr.symbols().any(|name| self.graph.counts.iter().any(|count| count.name == name))
    }

    /// Bytes, with `≤` where they depend on a count.
    fn bytes_text(&self, bytes: u64, len: &Expr) -> String {
        let bytes = BinaryBytes(bytes);
        if self.is_counted(len) { format!("≤ {bytes}") } else { bytes.to_string() }
    }

    fn passes(&mut self) {
        for node in &self.graph.nodes {
            let kind = match node.grid {
                GridExpr::Host => NodeKind::HostPass,
                _ => NodeKind::DevicePass,
            };
            let at = self.add(node.name.clone(), &node.name, kind, Some(node.segment));
            self.boxes.push(at);
            self.diagram.nodes[at].subtitle = node.pass.name().to_owned();
            if node.steps.constant() != Some(1) {
                let steps = self.short(&node.steps);
                self.diagram.nodes[at].lines.push(format!("{steps} steps"));
            }
            self.diagram.nodes[at].tooltip = details(node);
            for binding in &node.bindings {
                self.bind(at, node, binding);
            }
        }
    }

    fn bind(&mut self, at: usize, node: &crate::graph::model::Node, binding: &Binding) {
        let (name, port) = &node.pass.file.ports[binding.port];
        if let Some(before) = binding.before {
            let value = self.value(before);
            let mut input = Port::named(&name.value);
            input.tooltip = vec![format!("{} × {}", value.element.name, binding.len), port.doc.clone()];
            input.tooltip.retain(|line| !line.is_empty());
            if let Origin::Constant(number) = &value.origin {
                input.fixed = Some(self.short(number));
                input.tooltip.push(format!("= {number}"));
            } else {
                let to = PortRef { node: at, port: self.diagram.nodes[at].inputs.len() };
                let kind = match binding.access {
                    Access::Update => EdgeKind::Update,
                    Access::Accumulate => EdgeKind::Accumulate,
                    Access::Read | Access::Write => EdgeKind::Data,
                };
                self.pending.push((before, to, kind));
            }
            self.diagram.nodes[at].inputs.push(input);
        }
        if let Some(after) = binding.after {
            let value = self.value(after);
            let output = self.output_port(&name.value, &value.element, &binding.len, &port.doc);
            let from = PortRef { node: at, port: self.diagram.nodes[at].outputs.len() };
            self.diagram.nodes[at].outputs.push(output);
            if is_put_together(value) {
                self.parts.entry(after).or_default().push(from);
            } else {
                self.source.insert(after, from);
            }
        }
    }

    /// A box for each value that several nodes write, then all arrows between what is there.
    fn joins(&mut self) {
        for (index, value) in self.graph.values.iter().enumerate().filter(|(_, value)| is_put_together(value))
        {
            let id = ValueId(index as u32);
            let at = self.add(value.name.clone(), &value.name, NodeKind::Join, Some(self.segment_of(id)));
            let what = if value.is_join() { "joined from parts" } else { "all that was accumulated" };
            self.diagram.nodes[at].tooltip.push(what.to_owned());
            for from in self.parts.remove(&id).unwrap_or_default() {
                let to = PortRef { node: at, port: self.diagram.nodes[at].inputs.len() };
                self.diagram.nodes[at].inputs.push(Port::default());
                self.connect(from, to, EdgeKind::Data, Some(id));
            }
            let port = self.output_port("", &value.element, &value.len, "");
            self.diagram.nodes[at].outputs.push(port);
            self.source.insert(id, PortRef { node: at, port: 0 });
        }
        for (value, to, kind) in std::mem::take(&mut self.pending) {
            self.connect_value(value, to, kind);
        }
    }

    fn connect_value(&mut self, value: ValueId, to: PortRef, kind: EdgeKind) {
        if let Some(&from) = self.source.get(&value) {
            self.connect(from, to, kind, Some(value));
        }
    }

    fn connect(&mut self, from: PortRef, to: PortRef, kind: EdgeKind, value: Option<ValueId>) {
        let tooltip = value.map(|value| {
            let value = self.value(value);
            let bytes = self.sizes.bytes(&value.element, &value.len);
            let bytes =
                bytes.map_or(String::new(), |bytes| format!(", {}", self.bytes_text(bytes, &value.len)));
            format!("{}: {} × {}{bytes}", value.name, value.element.name, value.len)
        });
        self.diagram.edges.push(Edge {
            from,
            to,
            kind,
            weight: None,
            tooltip: tooltip.into_iter().collect(),
        });
        self.carried.push(value);
    }

    /// A box that only reads.
    fn sink(&mut self, id: String, name: &str, kind: NodeKind, value: ValueId) -> usize {
        let at = self.add(id, name, kind, Some(self.segment_of(value)));
        if matches!(self.value(value).origin, Origin::Constant(_)) {
            return at;
        }
        self.diagram.nodes[at].inputs.push(Port::default());
        self.connect_value(value, PortRef { node: at, port: 0 }, EdgeKind::Data);
        at
    }

    fn counts(&mut self) {
        for Count { name, value, element, max, awaited } in &self.graph.counts {
            let at = self.sink(name.clone(), name, NodeKind::Count, *value);
            let most = format!("≤ {}", self.short(max).trim_start_matches("≤ "));
            let node = &mut self.diagram.nodes[at];
            node.subtitle = most;
            node.tooltip.push(format!("≤ {max}"));
            node.tooltip.push(format!("element {element} of {}", self.graph.values[value.0 as usize].name));
            node.tooltip
                .push(if *awaited { "the host waits for it" } else { "stays on the device" }.to_owned());
        }
    }

    fn checks(&mut self) {
        for Check { name, value, codes, awaited } in &self.graph.checks {
            let at = self.sink(name.clone(), name, NodeKind::Check, *value);
            let node = &mut self.diagram.nodes[at];
            node.tooltip.extend(codes.texts.iter().map(|(code, text)| format!("{code}: {text}")));
            let when = if *awaited { "the host waits for it" } else { "looked at with the next read-back" };
            node.tooltip.push(when.to_owned());
        }
    }

    fn outputs(&mut self) {
        for output in &self.graph.outputs {
            // Outputs may be called like nodes; no name of a node has a space in it.
            let at =
                self.sink(format!("output {}", output.name), &output.name, NodeKind::Output, output.value);
            let len = self.times(&output.len);
            let node = &mut self.diagram.nodes[at];
            if output.len != self.graph.values[output.value.0 as usize].len {
                node.subtitle = len;
            }
            node.tooltip.extend(Some(output.doc.clone()).filter(|doc| !doc.is_empty()));
        }
    }

    /// Dashed arrows where a node overwrites in place what another still reads, unless the other arrows say already
    /// that it waits.
    fn overwrites(&mut self) {
        let dag = &self.graph.dag;
        for edge in dag.edge_indices().filter(|&edge| dag[edge].reason == Reason::WriteAfterRead) {
            let Some((from, to)) = dag.edge_endpoints(edge) else { continue };
            if self.reaches(dag[from], dag[to]) {
                continue;
            }
            let (from, to) = (self.boxes[dag[from].0 as usize], self.boxes[dag[to].0 as usize]);
            let from = PortRef { node: from, port: self.unnamed_output(from) };
            let to_port = self.diagram.nodes[to].inputs.len();
            self.diagram.nodes[to].inputs.push(Port::default());
            self.connect(from, PortRef { node: to, port: to_port }, EdgeKind::Await, None);
            let value = self.value(dag[edge].value);
            let why = format!("reads {} before it is overwritten", value.name);
            self.diagram.edges.last_mut().into_iter().for_each(|edge| edge.tooltip = vec![why.clone()]);
        }
    }

    /// Whether data flows from one node to another, through others or not.
    fn reaches(&self, from: NodeId, to: NodeId) -> bool {
        let (mut seen, mut pending) = (HashSet::from([from]), vec![from]);
        while let Some(node) = pending.pop() {
            if node == to {
                return true;
            }
            let written =
                self.graph.nodes[node.0 as usize].bindings.iter().filter_map(|binding| binding.after);
            let readers = written.flat_map(|value| self.value(value).readers.iter().copied());
            pending.extend(readers.filter(|&reader| seen.insert(reader)));
        }
        false
    }

    fn unnamed_output(&mut self, node: usize) -> usize {
        let outputs = &mut self.diagram.nodes[node].outputs;
        let unnamed = |port: &Port| port.name.is_empty() && port.label.is_empty();
        outputs.iter().position(unnamed).unwrap_or_else(|| {
            outputs.push(Port::default());
            outputs.len() - 1
        })
    }

    fn segments(&mut self) {
        if self.graph.segments < 2 {
            self.diagram.nodes.iter_mut().for_each(|node| node.segment = None);
            return;
        }
        for segment in 0..self.graph.segments {
            let mut lines = Vec::new();
            if segment > 0 {
                let names = waits_for(self.graph, segment);
                lines = wrap(names.iter().map(String::as_str), ", ", 24);
                lines.insert(0, "host waits for".to_owned());
            }
            self.diagram.segments.push(Segment { title: format!("segment {segment}"), waits_for: lines });
        }
    }

    /// The width of an arrow: the square root of its share of the largest bytes, so that small ones differ too. Nothing
    /// unless all are known: a few widths would mislead.
    fn weigh(&mut self) {
        let bytes = |value: &Option<ValueId>| {
            let value = self.value((*value)?);
            self.sizes.bytes(&value.element, &value.len)
        };
        let unknown = |value: &&Option<ValueId>| value.is_some() && bytes(value).is_none();
        let most = self.carried.iter().filter_map(bytes).max().unwrap_or(0);
        if most == 0 || self.carried.iter().any(|value| unknown(&value)) {
            return;
        }
        let weights = self.carried.iter().map(|value| Some((bytes(value)? as f64 / most as f64).sqrt()));
        let weights = weights.collect::<Vec<_>>();
        self.diagram.edges.iter_mut().zip(weights).for_each(|(edge, weight)| edge.weight = weight);
    }
}

/// What the host waits for before a segment: awaited counts and checks of the one before, and what host passes read.
pub(super) fn waits_for(graph: &Graph, segment: u32) -> Vec<String> {
    let on_device = |node: &NodeId| !matches!(graph.nodes[node.0 as usize].grid, GridExpr::Host);
    let before = |value: ValueId| {
        let mut writers = graph.values[value.0 as usize].writers().iter().filter(|node| on_device(node));
        writers.any(|node| graph.nodes[node.0 as usize].segment + 1 == segment)
    };
    let counts = graph.counts.iter().filter(|count| count.awaited && before(count.value));
    let checks = graph.checks.iter().filter(|check| check.awaited && before(check.value));
    let mut names = counts.map(|count| count.name.clone()).collect::<Vec<_>>();
    names.extend(checks.map(|check| check.name.clone()));
    let hosts =
        graph.nodes.iter().filter(|node| matches!(node.grid, GridExpr::Host) && node.segment == segment);
    for host in hosts {
        if host.bindings.iter().filter_map(|binding| binding.before).any(before) {
            names.push(format!("inputs of {}", host.name));
        }
    }
    names
}

/// Whether several nodes write it: parts of a join, or several accumulators.
fn is_put_together(value: &Value) -> bool {
    value.is_join() || value.writers().len() > 1
}

/// What hovering over a pass shows.
fn details(node: &crate::graph::model::Node) -> Vec<String> {
    let mut lines = wrap(node.pass.file.doc.split_whitespace(), " ", 80);
    lines.push(match &node.grid {
        GridExpr::Threads(threads) => format!("{threads} invocations"),
        GridExpr::Groups(groups) => format!("{groups} workgroups"),
        GridExpr::Host => "runs on the host".to_owned(),
    });
    lines.extend(node.bind.iter().map(|(name, expr)| format!("{name} = {expr}")));
    lines.extend(node.overrides.iter().map(|(name, number)| format!("override {name} = {number}")));
    if let Some((read, write)) = &node.traffic {
        lines.push(format!("reads {read} bytes, writes {write} bytes"));
    }
    lines
}

/// Words in lines of at most `width` characters, longer words excepted.
fn wrap<'a>(words: impl Iterator<Item = &'a str>, between: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() + between.len() <= width => {
                line.push_str(between);
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
