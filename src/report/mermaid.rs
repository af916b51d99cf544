//! Writes a diagram as a Mermaid flowchart, for documents that draw such text by themselves.
//!
//! Nodes are called `n0`, `n1`, ... in the order of the diagram, since Mermaid reserves words and forbids characters in names; what is
//! shown are quoted labels in which everything that Mermaid, Markdown or HTML would read as its own is written as an entity.
//! Bands and frames become subgraphs; a frame that reaches over several bands becomes one in each. Mermaid has no ports: an arrow is
//! labelled by the output it leaves.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::diagram::{Diagram, DiagramError, Edge, EdgeKind, Node, NodeKind};

/// The diagram as Mermaid text.
pub fn mermaid(diagram: &Diagram) -> Result<String, DiagramError> {
    diagram.check()?;
    let mut out = String::new();
    let _ =
        writeln!(out, "---\ntitle: {}\n---\nflowchart TB", serde_json::Value::from(plain(&diagram.title)));
    let mut writer = Writer { diagram, out, subgraphs: 0 };
    let everything = (0..diagram.nodes.len()).collect::<Vec<_>>();
    let (free, cut): (Vec<_>, Vec<_>) =
        everything.into_iter().partition(|&node| diagram.nodes[node].segment.is_none());
    writer.frames(&free, 0, 1);
    for (index, segment) in diagram.segments.iter().enumerate() {
        let members =
            cut.iter().copied().filter(|&node| diagram.nodes[node].segment == u32::try_from(index).ok());
        let waits = segment.waits_for.join(" ");
        let title =
            if waits.is_empty() { segment.title.clone() } else { format!("{}: {waits}", segment.title) };
        writer.open(&title, 1);
        writer.frames(&members.collect::<Vec<_>>(), 0, 2);
        writer.close(1);
    }
    diagram.edges.iter().for_each(|edge| writer.edge(edge));
    Ok(writer.out)
}

struct Writer<'a> {
    diagram: &'a Diagram,
    out: String,
    /// How many subgraphs there are so far, which names the next.
    subgraphs: usize,
}

impl Writer<'_> {
    fn open(&mut self, title: &str, depth: usize) {
        let indent = "  ".repeat(depth);
        let _ = writeln!(self.out, "{indent}subgraph s{} [\"{}\"]", self.subgraphs, escape(title));
        self.subgraphs += 1;
    }

    fn close(&mut self, depth: usize) {
        let _ = writeln!(self.out, "{}end", "  ".repeat(depth));
    }

    /// The nodes, frame by frame from `level` on.
    fn frames(&mut self, members: &[usize], level: usize, depth: usize) {
        let mut frames: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for &member in members {
            match self.diagram.nodes[member].cluster.get(level) {
                Some(frame) => frames.entry(frame).or_default().push(member),
                None => self.node(member, depth),
            }
        }
        for (frame, members) in frames {
            self.open(frame, depth);
            self.frames(&members, level + 1, depth + 1);
            self.close(depth);
        }
    }

    fn node(&mut self, index: usize, depth: usize) {
        let node = &self.diagram.nodes[index];
        let (left, right) = brackets(node.kind);
        let indent = "  ".repeat(depth);
        let _ = writeln!(self.out, "{indent}n{index}{left}\"{}\"{right}", label(node));
    }

    fn edge(&mut self, edge: &Edge) {
        let output = &self.diagram.nodes[edge.from.node].outputs[edge.from.port];
        let name = Some(&output.name).filter(|name| !name.is_empty());
        // The last line about a value is its bytes, where they are known, else its length.
        let text = name.into_iter().chain(output.label.last()).map(|text| escape(text)).collect::<Vec<_>>();
        let label = if text.is_empty() { String::new() } else { format!("|\"{}\"|", text.join("<br/>")) };
        let arrow = match edge.kind {
            EdgeKind::Data => "-->",
            EdgeKind::Update => "==>",
            EdgeKind::Accumulate => "--o",
            EdgeKind::Await => "-.->",
        };
        let _ = writeln!(self.out, "  n{} {arrow}{label} n{}", edge.from.node, edge.to.node);
    }
}

/// What a node of a kind is written between; every kind has its own shape.
fn brackets(kind: NodeKind) -> (&'static str, &'static str) {
    match kind {
        NodeKind::DevicePass => ("[", "]"),
        NodeKind::HostPass => ("[[", "]]"),
        NodeKind::Input => ("([", "])"),
        NodeKind::Output => ("[(", ")]"),
        NodeKind::Count => ("{{", "}}"),
        NodeKind::Check => ("[/", "/]"),
        NodeKind::Join => ("[\\", "/]"),
    }
}

fn label(node: &Node) -> String {
    let fixed = node.inputs.iter().filter(|port| port.fixed.is_some()).map(|port| port.text());
    let subtitle = Some(&node.subtitle).filter(|line| !line.is_empty()).cloned();
    let lines = subtitle.into_iter().chain(fixed).chain(node.lines.iter().cloned());
    let lines = lines.map(|line| format!("<br/>{}", escape(&line)));
    format!("<b>{}</b>{}", escape(&node.title), lines.collect::<String>())
}

/// Text for a quoted label: letters, digits, blanks and harmless marks stay, other ASCII becomes entities.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            ' ' | '/' | '.' | ',' | '_' | '-' | '(' | ')' | '=' | ':' | '+' => escaped.push(c),
            c if c.is_ascii() && !c.is_ascii_alphanumeric() => {
                let _ = write!(escaped, "#{};", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// Text without line breaks and control characters.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
