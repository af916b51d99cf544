//! What differs between two graphs: nodes, wires, numbers, values; and what that does to memory, work and waits.
//!
//! Things are matched by name. Texts for people, stages included, are no differences. Knows no devices and no times.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::graph::identity::pass_identity;
use crate::graph::model::{Graph, GridExpr, Node, ValueId};
use crate::run::{Program, RunError};

use super::stages::stages;

/// A fact that two graphs state differently; absent on the side that does not state it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// `pass`, `in items`, `bind n`, ...
    pub what: String,
    /// In the first graph.
    pub before: Option<String>,
    /// In the second graph.
    pub after: Option<String>,
}

/// A thing that both graphs have, and its changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// Its name.
    pub name: String,
    /// What changed about it.
    pub changes: Vec<Change>,
}

/// A node that only one graph has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OnlyNode {
    /// Its name.
    pub name: String,
    /// Its pass.
    pub pass: String,
}

/// What differs between two graphs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GraphDiff {
    /// Names of both.
    pub graphs: [String; 2],
    /// Identities of both.
    pub identities: [String; 2],
    /// Nodes of the first graph alone.
    pub removed: Vec<OnlyNode>,
    /// Nodes of the second graph alone.
    pub added: Vec<OnlyNode>,
    /// Nodes of both that are not the same.
    pub changed: Vec<Changed>,
    /// Values of both whose type or length is not the same.
    pub values: Vec<Changed>,
    /// Symbols, bounds, inputs, counts, checks and outputs, each under its kind.
    pub interface: Vec<Changed>,
    /// Passes of the same name that are not the same.
    pub passes: Vec<String>,
}

impl GraphDiff {
    /// Whether both graphs run the same.
    pub fn is_same(&self) -> bool {
        self.identities[0] == self.identities[1]
    }
}

/// What a node's segment is told under.
pub const SEGMENT: &str = "segment";

/// Facts by what they are about.
type Facts = BTreeMap<String, String>;

/// Compares two graphs.
pub fn diff(before: &Graph, after: &Graph) -> GraphDiff {
    let only = |graph: &Graph, other: &Graph| {
        let gone = graph.nodes.iter().filter(|node| !other.nodes.iter().any(|one| one.name == node.name));
        gone.map(|node| OnlyNode { name: node.name.clone(), pass: node.pass.name().to_owned() }).collect()
    };
    GraphDiff {
        graphs: [before, after].map(|graph| graph.name.clone()),
        identities: [before, after].map(|graph| graph.identity.clone()),
        removed: only(before, after),
        added: only(after, before),
        changed: in_both(&nodes(before), &nodes(after)),
        values: in_both(&values(before), &values(after)),
        interface: interface_changes(before, after),
        passes: changed_passes(before, after),
    }
}

/// What both have, in the order of the second, where facts differ.
fn in_both(before: &[(String, Facts)], after: &[(String, Facts)]) -> Vec<Changed> {
    let changed = |(name, facts): &(String, Facts)| {
        let (_, old) = before.iter().find(|(other, _)| other == name)?;
        let changes = changes(old, facts);
        (!changes.is_empty()).then(|| Changed { name: name.clone(), changes })
    };
    after.iter().filter_map(changed).collect()
}

fn changes(before: &Facts, after: &Facts) -> Vec<Change> {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let change = |what: &String| {
        let (before, after) = (before.get(what), after.get(what));
        (before != after).then(|| Change {
            what: what.clone(),
            before: before.cloned(),
            after: after.cloned(),
        })
    };
    names.into_iter().filter_map(change).collect()
}

fn nodes(graph: &Graph) -> Vec<(String, Facts)> {
    graph.nodes.iter().map(|node| (node.name.clone(), node_facts(graph, node))).collect()
}

fn node_facts(graph: &Graph, node: &Node) -> Facts {
    let mut facts = Facts::from([("pass".to_owned(), node.pass.name().to_owned())]);
    facts
        .extend(node.overrides.iter().map(|(name, number)| (format!("override {name}"), number.to_string())));
    facts.extend(node.bind.iter().map(|(name, expr)| (format!("bind {name}"), expr.to_string())));
    facts.extend(node.generics.iter().map(|(name, element)| (format!("as {name}"), element.name.clone())));
    facts.insert(SEGMENT.to_owned(), node.segment.to_string());
    for binding in &node.bindings {
        let (port, declared) = &node.pass.file.ports[binding.port];
        // A port that carries a symbol follows from what the symbol is bound to.
        if let (Some(value), None) = (binding.before, &declared.carries) {
            facts.insert(format!("in {}", port.value), value_name(graph, value));
        }
    }
    facts
}

fn value_name(graph: &Graph, value: ValueId) -> String {
    graph.values[value.0 as usize].name.clone()
}

fn values(graph: &Graph) -> Vec<(String, Facts)> {
    let facts = |value: &crate::graph::model::Value| {
        let element = format!("{} ({})", value.element.name, value.element.layout);
        let facts = [("type".to_owned(), element), ("len".to_owned(), value.len.to_string())];
        (value.name.clone(), Facts::from(facts))
    };
    graph.values.iter().map(facts).collect()
}

/// What a caller sees of a graph, and what the host reads; each kind with its changes.
fn interface_changes(before: &Graph, after: &Graph) -> Vec<Changed> {
    let (before, after) = (interface(before), interface(after));
    let changed = |((kind, old), (_, new)): (&(&str, Facts), &(&str, Facts))| {
        let changes = changes(old, new);
        (!changes.is_empty()).then(|| Changed { name: (*kind).to_owned(), changes })
    };
    before.iter().zip(&after).filter_map(changed).collect()
}

fn interface(graph: &Graph) -> [(&'static str, Facts); 6] {
    let awaited = |awaited: bool| if awaited { ", awaited" } else { "" };
    let value = |id: ValueId| value_name(graph, id);
    let inputs = graph.inputs.iter().map(|input| {
        let value = &graph.values[input.value.0 as usize];
        (input.name.clone(), format!("{} elements of {}", value.len, value.element.name))
    });
    let counts = graph.counts.iter().map(|count| {
        let text =
            format!("{}[{}] <= {}{}", value(count.value), count.element, count.max, awaited(count.awaited));
        (count.name.clone(), text)
    });
    let checks = graph
        .checks
        .iter()
        .map(|check| (check.name.clone(), format!("{}{}", value(check.value), awaited(check.awaited))));
    let outputs = graph
        .outputs
        .iter()
        .map(|output| (output.name.clone(), format!("{} elements of {}", output.len, value(output.value))));
    [
        ("symbols", graph.symbols.iter().map(|symbol| (symbol.name.clone(), String::new())).collect()),
        ("bounds", graph.bounds.iter().map(|bound| (bound.text.clone(), String::new())).collect()),
        ("inputs", inputs.collect()),
        ("counts", counts.collect()),
        ("checks", checks.collect()),
        ("outputs", outputs.collect()),
    ]
}

fn changed_passes(before: &Graph, after: &Graph) -> Vec<String> {
    let identities = |graph: &Graph| -> BTreeMap<String, String> {
        let passes = graph.nodes.iter().map(|node| (node.pass.name().to_owned(), &node.pass));
        let passes: BTreeMap<_, _> = passes.collect();
        passes.into_iter().map(|(name, pass)| (name, pass_identity(pass))).collect()
    };
    let (before, after) = (identities(before), identities(after));
    let differs =
        |(name, identity): (&String, &String)| after.get(name).is_some_and(|other| other != identity);
    before
        .iter()
        .filter(|&(name, identity)| differs((name, identity)))
        .map(|(name, _)| name.clone())
        .collect()
}

/// What a graph takes at given sizes, before anything has run: counts are taken for their maxima.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Costs {
    /// Planned bytes of all arenas.
    pub peak_bytes: u64,
    /// The lower bound of that.
    pub bound_bytes: u64,
    /// What memory without reuse takes.
    pub naive_bytes: u64,
    /// Dispatches.
    pub dispatches: u64,
    /// Nodes on the host.
    pub host_nodes: u64,
    /// Waits of the host for the device.
    pub waits: u64,
    /// Bytes that the nodes read, by the models of their passes.
    pub read_bytes: u64,
    /// Bytes that they write.
    pub write_bytes: u64,
    /// Bytes that each stage makes, the most of it live at once, and the most live in it.
    pub stages: Vec<StageCosts>,
}

/// What a stage takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StageCosts {
    /// Its name.
    pub stage: String,
    /// Bytes of all that its nodes make.
    pub made_bytes: u64,
    /// The most of these live at one of its nodes.
    pub own_peak_bytes: u64,
    /// The most bytes live at one of its nodes.
    pub live_peak_bytes: u64,
}

/// What a planned graph takes.
///
/// # Errors
///
/// When an expression has no number at these sizes.
pub fn costs(program: &Program) -> Result<Costs, RunError> {
    let (graph, plan) = (&program.graph, &program.plan);
    let mut costs = Costs {
        peak_bytes: plan.peak_bytes,
        bound_bytes: plan.bound_bytes,
        naive_bytes: plan.naive_bytes,
        dispatches: 0,
        host_nodes: 0,
        waits: u64::from(graph.segments),
        read_bytes: 0,
        write_bytes: 0,
        stages: Vec::new(),
    };
    for &id in &plan.order {
        let work = program.work(id, &[])?;
        match program.node(id).grid {
            GridExpr::Host => costs.host_nodes += 1,
            _ => costs.dispatches += work.steps,
        }
        costs.read_bytes = costs.read_bytes.saturating_add(work.read_bytes);
        costs.write_bytes = costs.write_bytes.saturating_add(work.write_bytes);
    }
    let stages =
        stages(graph, plan).map_err(|error| RunError::Number { what: "a length".to_owned(), error })?;
    let stage = |stage: super::stages::Stage| StageCosts {
        stage: stage.name,
        made_bytes: stage.made_bytes,
        own_peak_bytes: stage.own_peak_bytes,
        live_peak_bytes: stage.live_peak_bytes,
    };
    costs.stages = stages.into_iter().map(stage).collect();
    Ok(costs)
}
