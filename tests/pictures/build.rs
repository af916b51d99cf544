//! Diagrams from a short notation (see `baseline.txt`).

use std::collections::HashMap;

use weft::report::diagram::{Diagram, Edge, EdgeKind, Node, NodeKind, Port, PortRef, Segment};

/// Reads the notation. Panics on what it does not understand: it is test data.
pub fn parse(title: &str, text: &str, waits: &[&[&str]]) -> Diagram {
    let mut diagram = Diagram {
        title: title.into(),
        caption: vec!["a diagram written by hand".into()],
        ..Diagram::default()
    };
    let mut wires: Vec<(usize, usize, EdgeKind, String)> = Vec::new();
    let mut sources: HashMap<String, PortRef> = HashMap::new();
    let lines = text.replace("\n  ", " ");
    for line in lines.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
        let mut parts = line.split(" :");
        let head = parts.next().unwrap().split_whitespace().collect::<Vec<_>>();
        let (inputs, outputs) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
        let mut node = node(&head);
        let index = diagram.nodes.len();
        for word in inputs.split_whitespace() {
            let at = word.find(['<', '=']).unwrap();
            let name = word[..at].trim_matches('_').to_owned();
            let fixed = word.strip_prefix(&word[..at]).unwrap().strip_prefix('=').map(str::to_owned);
            if fixed.is_none() {
                let kind = match &word[at..at + 2] {
                    "<-" => EdgeKind::Data,
                    "<~" => EdgeKind::Update,
                    "<+" => EdgeKind::Accumulate,
                    "<!" => EdgeKind::Await,
                    other => panic!("{other}"),
                };
                wires.push((index, node.inputs.len(), kind, word[at + 2..].to_owned()));
            }
            node.inputs.push(Port { name, fixed, ..Port::default() });
        }
        for word in outputs.split(']').map(str::trim).filter(|word| !word.is_empty()) {
            let (name, labels) = word.split_once('[').unwrap();
            let name = name.trim_matches('_');
            let key = if name.is_empty() { node.id.clone() } else { format!("{}.{name}", node.id) };
            sources.insert(key, PortRef { node: index, port: node.outputs.len() });
            let label = labels.split('|').map(str::to_owned).collect();
            node.outputs.push(Port { name: name.into(), label, ..Port::default() });
        }
        diagram.nodes.push(node);
    }
    for (node, port, kind, source) in wires {
        let from = *sources.get(&source).unwrap_or_else(|| panic!("no {source}"));
        let to = PortRef { node, port };
        diagram.edges.push(Edge { from, to, kind, weight: None, tooltip: Vec::new() });
    }
    for segment in 0..=waits.len() {
        let waits_for = segment.checked_sub(1).map_or(&[] as &[&str], |before| waits[before]);
        diagram.segments.push(Segment {
            title: format!("segment {segment}"),
            waits_for: waits_for.iter().map(|&line| line.to_owned()).collect(),
        });
    }
    diagram
}

fn node(head: &[&str]) -> Node {
    let kind = match head[0] {
        "device" => NodeKind::DevicePass,
        "host" => NodeKind::HostPass,
        "input" => NodeKind::Input,
        "output" => NodeKind::Output,
        "count" => NodeKind::Count,
        "check" => NodeKind::Check,
        "join" => NodeKind::Join,
        other => panic!("{other}"),
    };
    let id = head[1];
    let mut path = id.split('/').map(str::to_owned).collect::<Vec<_>>();
    let title = path.pop().unwrap();
    let title = title.strip_prefix("out:").unwrap_or(&title);
    let mut node = Node::new(id, title, kind);
    node.cluster = path;
    node.subtitle = if head[2] == "-" { String::new() } else { head[2].replace('_', " ") };
    if matches!(kind, NodeKind::DevicePass | NodeKind::HostPass) {
        node.subtitle = head[2].to_owned();
    }
    node.segment = if head[3] == "-" { None } else { Some(head[3].parse().unwrap()) };
    node
}
