//! The name of what runs: SHA-256 over the flat graph, its pass files, its shaders and weft's version.
//!
//! Names and texts that only people read, comments, and the order of keys do not count; every wire, override, length,
//! type and token of a shader does.

use std::collections::BTreeMap;
use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::document::{Access, Grid, Kernel, Port};
use super::expr::Expr;
use super::model::{Binding, Graph, Node, Origin, Value, ValueId};
use super::pass::Pass;
use super::wgsl;

/// The identity of a graph, as lowercase hexadecimal.
pub fn identity(graph: &Graph) -> String {
    let mut form = Form { hasher: Sha256::new() };
    form.fields(["weft", env!("CARGO_PKG_VERSION")]);
    form.numbers(graph);
    form.values(graph);
    for node in by_name(&graph.nodes, |node| &node.name) {
        form.node(graph, node);
    }
    form.ends(graph);
    let passes: BTreeMap<&str, &Pass> =
        graph.nodes.iter().map(|n| (n.pass.name(), n.pass.as_ref())).collect();
    for pass in passes.values() {
        form.pass(pass);
    }
    form.finish()
}

/// The identity of a pass by itself: its file and the tokens of its shader.
pub fn pass_identity(pass: &Pass) -> String {
    let mut form = Form { hasher: Sha256::new() };
    form.pass(pass);
    form.finish()
}

/// The canonical form, on its way into the hash.
struct Form {
    hasher: Sha256,
}

impl Form {
    fn finish(self) -> String {
        self.hasher.finalize().iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// A record: how many fields, and each with its length before it, so that no two forms can be confused.
    fn fields<'t>(&mut self, fields: impl IntoIterator<Item = &'t str, IntoIter: ExactSizeIterator>) {
        let fields = fields.into_iter();
        self.hasher.update((fields.len() as u64).to_le_bytes());
        for field in fields {
            self.hasher.update((field.len() as u64).to_le_bytes());
            self.hasher.update(field.as_bytes());
        }
    }

    fn numbers(&mut self, graph: &Graph) {
        for symbol in by_name(&graph.symbols, |symbol| &symbol.name) {
            self.fields(["symbol", &symbol.name]);
        }
        for bound in by_name(&graph.bounds, |bound| &bound.text) {
            let relation = format!("{:?}", bound.relation);
            self.fields(["bound", &canonical(&bound.left), &relation, &canonical(&bound.right)]);
        }
        for generic in by_name(&graph.generics, |generic| &generic.name) {
            self.fields(["generic", &generic.name, &generic.layout.to_string()]);
        }
        for count in by_name(&graph.counts, |count| &count.name) {
            let element = count.element.to_string();
            let awaited = count.awaited.to_string();
            let value = value_name(graph, count.value);
            self.fields(["count", &count.name, &value, &element, &canonical(&count.max), &awaited]);
        }
    }

    fn values(&mut self, graph: &Graph) {
        for value in by_name(&graph.values, |value| &value.name) {
            let kind = match value.origin {
                Origin::Input(_) => "input",
                Origin::Constant(_) => continue,
                Origin::Nodes(_) if value.is_join() => "join",
                Origin::Nodes(_) => "value",
            };
            let layout = value.element.layout.to_string();
            self.fields([kind, &value.name, &value.element.name, &layout, &canonical(&value.len)]);
        }
    }

    fn node(&mut self, graph: &Graph, node: &Node) {
        self.fields(["node", &node.name, node.pass.name()]);
        for (name, number) in by_name(&node.overrides, |(name, _)| name) {
            self.fields(["override", name, &number.to_string()]);
        }
        for (name, expr) in by_name(&node.bind, |(name, _)| name) {
            self.fields(["bind", name, &canonical(expr)]);
        }
        for (name, element) in by_name(&node.generics, |(name, _)| name) {
            self.fields(["as", name, &element.name, &element.layout.to_string()]);
        }
        let mut bindings: Vec<&Binding> = node.bindings.iter().collect();
        bindings.sort_by_key(|binding| port_name(node, binding));
        for binding in bindings {
            let (before, after) =
                (binding.before.map_or(String::new(), |v| value_name(graph, v)), binding.after);
            let after = after.map_or(String::new(), |v| value_name(graph, v));
            self.fields(["port", port_name(node, binding), &before, &after]);
        }
    }

    fn ends(&mut self, graph: &Graph) {
        for check in by_name(&graph.checks, |check| &check.name) {
            self.fields(["check", &check.name, &value_name(graph, check.value), &check.awaited.to_string()]);
        }
        for output in by_name(&graph.outputs, |output| &output.name) {
            let value = value_name(graph, output.value);
            self.fields(["output", &output.name, &value, &canonical(&output.len)]);
        }
    }

    fn pass(&mut self, pass: &Pass) {
        let file = &pass.file;
        match &file.kernel {
            Kernel::Host(name) => self.fields(["host pass", pass.name(), &name.value]),
            Kernel::Shader { entry, .. } => {
                let text = pass.kernel.as_ref().map(|kernel| wgsl::strip(kernel.shader.source.text()));
                self.fields(["pass", pass.name(), &entry.value, &text.unwrap_or_default()]);
            }
        }
        for (name, _) in by_name(&file.symbols, |(name, _)| &name.value) {
            self.fields(["symbol", &name.value]);
        }
        for (name, layout) in by_name(&file.generics, |(name, _)| &name.value) {
            self.fields(["generic", &name.value, &layout.value.to_string()]);
        }
        for param in &file.params {
            self.fields(["param", &param.value]);
        }
        for (index, (name, port)) in file.ports.iter().enumerate() {
            self.port(&name.value, port, &pass.types[index].layout().to_string());
        }
        self.dispatch(pass);
    }

    fn port(&mut self, name: &str, port: &Port, layout: &str) {
        let access = match port.access.value {
            Access::Read => "read",
            Access::Write => "write",
            Access::Update => "update",
            Access::Accumulate => "accumulate",
        };
        let start = port.at.as_ref().map_or(String::new(), |at| canonical(&at.value));
        let carries = port.carries.as_ref().map_or("", |carries| &carries.value);
        let len = canonical(&port.len.value);
        self.fields(["port", name, &port.element.value, layout, &len, access, &start, carries]);
        if let Some(codes) = &port.codes {
            self.fields(["codes", name, &codes.unit]);
            for (code, text) in &codes.texts {
                self.fields(["code", &code.to_string(), text]);
            }
        }
    }

    fn dispatch(&mut self, pass: &Pass) {
        match &pass.file.grid {
            Some(Grid::Threads(expr)) => self.fields(["threads", &canonical(&expr.value)]),
            Some(Grid::Groups(expr)) => self.fields(["groups", &canonical(&expr.value)]),
            None => {}
        }
        if let Some(steps) = &pass.file.steps {
            self.fields(["steps", &canonical(&steps.value)]);
        }
        if let Some(traffic) = &pass.file.traffic {
            self.fields(["traffic", &canonical(&traffic.read.value), &canonical(&traffic.write.value)]);
        }
    }
}

/// An expression in a form that equal ones share as far as that can be told cheaply.
fn canonical(expr: &Expr) -> String {
    expr.normal_form().unwrap_or_else(|| expr.to_string())
}

fn by_name<'t, T>(items: &'t [T], name: impl Fn(&'t T) -> &'t str) -> Vec<&'t T> {
    let mut items: Vec<&T> = items.iter().collect();
    items.sort_by_key(|item| name(item));
    items
}

fn port_name<'n>(node: &'n Node, binding: &Binding) -> &'n str {
    &node.pass.file.ports[binding.port].0.value
}

/// What a wire to a value says; for a constant its number, in canonical form.
fn value_name(graph: &Graph, id: ValueId) -> String {
    let value: &Value = &graph.values[id.0 as usize];
    match &value.origin {
        Origin::Constant(expr) => format!("value {}", canonical(expr)),
        Origin::Input(_) | Origin::Nodes(_) => value.name.clone(),
    }
}
