//! Prints a flat graph as a graph file that resolves to the same graph.

use std::fmt::Write;

use super::model::{Binding, Graph, Node, Origin, Value, ValueId};

/// The graph file, with the graph's identity in a comment. Expanding what it resolves to gives the same text.
pub fn expand(graph: &Graph) -> String {
    let mut file = Writer { text: String::new() };
    file.line(0, &format!("# identity: {}", graph.identity));
    file.line(0, &format!("graph: {}", scalar(&graph.name)));
    file.line(0, &format!("doc: {}", quoted(&graph.doc)));
    file.section("symbols", &graph.symbols, |s| (scalar(&s.name), quoted(&s.doc)));
    file.section("types", &graph.types, |t| {
        let layout = scalar(&t.element.layout.to_string());
        (scalar(&t.element.name), flow(&[("layout", Some(layout)), ("doc", text(&t.doc))]))
    });
    file.section("generics", &graph.generics, |g| (scalar(&g.name), scalar(&g.layout.to_string())));
    file.requirements(graph);
    file.section("inputs", &graph.inputs, |input| {
        let value = &graph.values[input.value.0 as usize];
        let element = Some(scalar(&value.element.name));
        let len = Some(scalar(&value.len.to_string()));
        (scalar(&input.name), flow(&[("type", element), ("len", len), ("doc", text(&input.doc))]))
    });
    file.nodes(graph);
    let joins: Vec<(ValueId, &Value)> = values(graph).filter(|(_, value)| value.is_join()).collect();
    file.section("joins", &joins, |(id, value)| {
        let parts = format!("[{}]", parts(graph, *id).join(", "));
        let len = Some(scalar(&value.len.to_string()));
        (scalar(&value.name), flow(&[("parts", Some(parts)), ("len", len)]))
    });
    file.section("counts", &graph.counts, |count| {
        let from = match count.element {
            0 => scalar(&port_of(graph, count.value)),
            element => quoted(&format!("{}[{element}]", port_of(graph, count.value))),
        };
        let max = Some(scalar(&count.max.to_string()));
        (scalar(&count.name), flow(&[("from", Some(from)), ("max", max), ("await", awaited(count.awaited))]))
    });
    file.section("checks", &graph.checks, |check| {
        let from = Some(scalar(&port_of(graph, check.value)));
        (scalar(&check.name), flow(&[("from", from), ("await", awaited(check.awaited))]))
    });
    file.section("outputs", &graph.outputs, |output| {
        let value = &graph.values[output.value.0 as usize];
        let len = (value.len != output.len).then(|| scalar(&output.len.to_string()));
        (
            scalar(&output.name),
            flow(&[("from", Some(scalar(&value.name))), ("len", len), ("doc", text(&output.doc))]),
        )
    });
    file.text
}

struct Writer {
    text: String,
}

impl Writer {
    fn line(&mut self, indent: usize, line: &str) {
        let _ = writeln!(self.text, "{:indent$}{line}", "");
    }

    fn section<T>(&mut self, key: &str, items: &[T], entry: impl Fn(&T) -> (String, String)) {
        if !items.is_empty() {
            self.line(0, &format!("{key}:"));
        }
        for item in items {
            let (name, value) = entry(item);
            self.line(2, &format!("{name}: {value}"));
        }
    }

    fn requirements(&mut self, graph: &Graph) {
        if !graph.bounds.is_empty() {
            self.line(0, "require:");
        }
        for bound in &graph.bounds {
            let entry = flow(&[("that", Some(quoted(&bound.text))), ("why", text(&bound.why))]);
            self.line(2, &format!("- {entry}"));
        }
    }

    fn nodes(&mut self, graph: &Graph) {
        self.line(0, "nodes:");
        for node in &graph.nodes {
            self.line(2, &format!("{}:", scalar(&node.name)));
            self.line(4, &format!("pass: {}", scalar(&node.pass_reference)));
            if let Some(stage) = &node.stage_label {
                self.line(4, &format!("stage: {}", scalar(stage)));
            }
            let overrides = node.overrides.iter().map(|(name, number)| (name, number.to_string()));
            self.map("overrides", overrides);
            self.map("bind", node.bind.iter().map(|(name, expr)| (name, scalar(&expr.to_string()))));
            self.map("as", node.generics.iter().map(|(name, element)| (name, scalar(&element.name))));
            let inputs = node.bindings.iter().filter_map(|binding| input(graph, node, binding));
            self.map("in", inputs);
        }
    }

    fn map<'n>(&mut self, key: &str, entries: impl Iterator<Item = (&'n String, String)>) {
        let entries: Vec<String> =
            entries.map(|(name, value)| format!("{}: {value}", scalar(name))).collect();
        if !entries.is_empty() {
            self.line(4, &format!("{key}: {{{}}}", entries.join(", ")));
        }
    }
}

/// A mapping on one line, without the entries that have nothing to say.
fn flow(entries: &[(&str, Option<String>)]) -> String {
    let present =
        entries.iter().filter_map(|(key, value)| value.as_ref().map(|value| format!("{key}: {value}")));
    format!("{{{}}}", present.collect::<Vec<_>>().join(", "))
}

fn text(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| quoted(text))
}

fn awaited(awaited: bool) -> Option<String> {
    awaited.then(|| "true".to_string())
}

fn values(graph: &Graph) -> impl Iterator<Item = (ValueId, &Value)> {
    graph.values.iter().enumerate().map(|(id, value)| (ValueId(id as u32), value))
}

/// The ports that write into a value, sorted.
fn parts(graph: &Graph, id: ValueId) -> Vec<String> {
    let mut parts: Vec<String> = graph
        .nodes
        .iter()
        .flat_map(|node| node.bindings.iter().map(move |binding| (node, binding)))
        .filter(|(_, binding)| binding.after == Some(id))
        .map(|(node, binding)| format!("{}.{}", node.name, node.pass.file.ports[binding.port].0.value))
        .collect();
    parts.sort();
    parts
}

/// What the wire to a port says.
fn input<'n>(graph: &Graph, node: &'n Node, binding: &Binding) -> Option<(&'n String, String)> {
    let value = &graph.values[binding.before?.0 as usize];
    let producer = match &value.origin {
        Origin::Constant(expr) => flow(&[("value", Some(scalar(&expr.to_string())))]),
        Origin::Input(_) | Origin::Nodes(_) => scalar(&value.name),
    };
    Some((&node.pass.file.ports[binding.port].0.value, producer))
}

/// The name of a value that a count or check reads.
fn port_of(graph: &Graph, id: ValueId) -> String {
    graph.values[id.0 as usize].name.clone()
}

/// A text as a YAML scalar, in quotes where it could be taken for something else.
fn scalar(text: &str) -> String {
    let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '/' | '.' | '-');
    let number = text.parse::<u64>().is_ok_and(|number| number.to_string() == text);
    let plain = text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(word);
    const OTHERWISE: [&str; 7] = ["true", "false", "yes", "no", "on", "off", "null"];
    let taken = OTHERWISE.iter().any(|other| text.eq_ignore_ascii_case(other));
    if number || (plain && !taken) { text.to_string() } else { quoted(text) }
}

/// A text in double quotes.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
