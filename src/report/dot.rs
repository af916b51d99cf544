//! Writes a diagram in Graphviz's language, for those who have it installed and want its layouts or formats.
//!
//! Nodes keep their ids as names; ports are cells of HTML-like labels, called `i0`, `i1`, ... and `o0`, `o1`, ... A frame that reaches
//! over several segments becomes a cluster in each of them, since clusters cannot overlap.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::diagram::{Diagram, DiagramError, Edge, EdgeKind, Node, NodeKind, Port};
use super::svg::escape;

/// The diagram as a DOT digraph.
pub fn dot(diagram: &Diagram) -> Result<String, DiagramError> {
    diagram.check()?;
    let mut out = String::new();
    let title = quote(&diagram.title);
    let _ = writeln!(out, "digraph {title} {{");
    let caption = std::iter::once(&diagram.title).chain(&diagram.caption).map(|line| escape(line));
    let caption = caption.collect::<Vec<_>>().join("<br/>");
    let _ = writeln!(
        out,
        "  graph [label=<{caption}>, labelloc=t, fontname=monospace, fontsize=12, newrank=true];"
    );
    out.push_str("  node [shape=plain, fontname=monospace, fontsize=10];\n");
    out.push_str("  edge [fontname=monospace, fontsize=8, arrowsize=0.6];\n");
    let everything = (0..diagram.nodes.len()).collect::<Vec<_>>();
    let (free, cut): (Vec<_>, Vec<_>) =
        everything.into_iter().partition(|&node| diagram.nodes[node].segment.is_none());
    cluster(&mut out, diagram, &free, 0, "cluster");
    for (index, segment) in diagram.segments.iter().enumerate() {
        let members =
            cut.iter().copied().filter(|&node| diagram.nodes[node].segment == u32::try_from(index).ok());
        let _ = writeln!(out, "  subgraph cluster_{index} {{");
        let lines = std::iter::once(&segment.title).chain(&segment.waits_for).map(|line| escape(line));
        let label = lines.collect::<Vec<_>>().join("<br align=\"left\"/>");
        let _ = writeln!(
            out,
            "    graph [label=<{label}<br align=\"left\"/>>, labeljust=l, style=dashed, color=\"#c2410c\", fontsize=10];"
        );
        cluster(&mut out, diagram, &members.collect::<Vec<_>>(), 0, &format!("cluster_{index}"));
        out.push_str("  }\n");
    }
    let mut labelled = std::collections::HashSet::new();
    for edge in &diagram.edges {
        // One value has one label, however many readers.
        let first = labelled.insert(edge.from);
        write_edge(&mut out, diagram, edge, first);
    }
    out.push_str("}\n");
    Ok(out)
}

/// Text as a quoted DOT string; characters that no output format of Graphviz allows become U+FFFD.
fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            c if c.is_control() => quoted.push('\u{fffd}'),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The nodes, frame by frame from `depth` on. `name` is the prefix of names of subgraphs.
fn cluster(out: &mut String, diagram: &Diagram, members: &[usize], depth: usize, name: &str) {
    let indent = "  ".repeat(depth + 1);
    let mut frames: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for &member in members {
        match diagram.nodes[member].cluster.get(depth) {
            Some(frame) => frames.entry(frame).or_default().push(member),
            None => write_node(out, &diagram.nodes[member], &indent),
        }
    }
    for (index, (frame, members)) in frames.into_iter().enumerate() {
        let name = format!("{name}_{}{index}", char::from(b'a' + (depth % 26) as u8));
        let _ = writeln!(out, "{indent}subgraph {name} {{");
        let _ = writeln!(
            out,
            "{indent}  graph [label=<{}>, style=\"rounded,filled\", color=\"#8c9bb5\", fillcolor=\"#e9eef7\"];",
            escape(frame)
        );
        cluster(out, diagram, &members, depth + 1, &name);
        let _ = writeln!(out, "{indent}}}");
    }
}

/// Shape, outline and fill of a kind of box.
fn style(kind: NodeKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        NodeKind::DevicePass => ("rounded", "#4a5b7c", "#ffffff"),
        NodeKind::HostPass => ("", "#a86a00", "#fff3d6"),
        NodeKind::Input => ("rounded", "#2b7a4b", "#e2f4e8"),
        NodeKind::Output => ("rounded", "#2b7a4b", "#d5eedd"),
        NodeKind::Count => ("dashed", "#6d4bc4", "#ece5fb"),
        NodeKind::Check => ("", "#b93630", "#fde3e1"),
        NodeKind::Join => ("", "#707d90", "#edf0f4"),
    }
}

/// How thick the outline is, so that kinds differ without colour too.
fn border(kind: NodeKind) -> u32 {
    match kind {
        NodeKind::HostPass | NodeKind::Output => 3,
        _ => 1,
    }
}

fn write_node(out: &mut String, node: &Node, indent: &str) {
    let (style, color, fill) = style(node.kind);
    let fill = match node.tint {
        Some(share) => format!("#f97316{:02x}", (24.0 + 180.0 * share.clamp(0.0, 1.0)) as u8),
        None => fill.to_owned(),
    };
    let mut label = format!(
        "<table border=\"{}\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"3\" style=\"{style}\" color=\"{color}\" bgcolor=\"{fill}\">",
        border(node.kind)
    );
    ports(&mut label, &node.inputs, 'i');
    let _ = write!(label, "<tr><td><b>{}</b></td></tr>", escape(&node.title));
    let fixed = node.inputs.iter().filter(|port| port.fixed.is_some()).map(Port::text);
    let subtitle = Some(&node.subtitle).filter(|line| !line.is_empty()).cloned();
    for line in subtitle.into_iter().chain(fixed).chain(node.lines.iter().cloned()) {
        let _ = write!(label, "<tr><td>{}</td></tr>", escape(&line));
    }
    ports(&mut label, &node.outputs, 'o');
    label.push_str("</table>");
    let tooltip = std::iter::once(&node.id).chain(&node.tooltip).cloned().collect::<Vec<_>>().join("\n");
    let _ = writeln!(out, "{indent}{} [tooltip={}, label=<{label}>];", quote(&node.id), quote(&tooltip));
}

fn ports(label: &mut String, ports: &[Port], side: char) {
    let shown = ports.iter().enumerate().filter(|(_, port)| port.fixed.is_none()).collect::<Vec<_>>();
    if shown.is_empty() {
        return;
    }
    label.push_str("<tr><td cellpadding=\"0\"><table border=\"0\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"3\"><tr>");
    for (index, port) in shown {
        let _ = write!(label, "<td port=\"{side}{index}\">{}</td>", escape(&port.name));
    }
    label.push_str("</tr></table></td></tr>");
}

fn write_edge(out: &mut String, diagram: &Diagram, edge: &Edge, label: bool) {
    let (from, to) = (&diagram.nodes[edge.from.node], &diagram.nodes[edge.to.node]);
    let kind = match edge.kind {
        EdgeKind::Data => "",
        EdgeKind::Update => ", arrowhead=diamond",
        EdgeKind::Accumulate => ", arrowhead=odot",
        EdgeKind::Await => ", arrowhead=empty, style=dashed",
    };
    let lines = &from.outputs[edge.from.port].label;
    let text = if label && !lines.is_empty() {
        let lines = lines.iter().map(|line| escape(line)).collect::<Vec<_>>().join("<br/>");
        format!(", label=<{lines}>")
    } else {
        String::new()
    };
    let width = edge.weight.map_or(1.0, |weight| 1.0 + 5.0 * weight.clamp(0.0, 1.0));
    let _ = writeln!(
        out,
        "  {}:o{}:s -> {}:i{}:n [penwidth={width:.1}{kind}, tooltip={}{text}];",
        quote(&from.id),
        edge.from.port,
        quote(&to.id),
        edge.to.port,
        quote(&edge.tooltip.join("\n")),
    );
}
