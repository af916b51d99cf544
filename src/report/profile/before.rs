//! What stands before a node: a wait of the host, a barrier on the device, or nothing; and the value that causes it.
//!
//! Wgpu orders dispatches by whole buffers, and arenas are buffers: between two dispatches there is a barrier unless all that
//! both touch is only read by both. Where the graph has no reason for it, the plan's sharing of memory is the reason. Knows
//! graph and plan, no times.

use petgraph::visit::EdgeRef;
use serde::Serialize;

use crate::graph::document::Access;
use crate::graph::model::{Binding, Graph, NodeId, Reason, ValueId};
use crate::plan::Plan;

/// What kind of thing a node waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BeforeKind {
    /// Nothing: it may overlap with what was dispatched before it.
    Nothing,
    /// A barrier on the device: all dispatches so far end first.
    Barrier,
    /// The host, which reads something first.
    HostWait,
}

/// What a node waits for, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Before {
    /// What kind of thing.
    pub kind: BeforeKind,
    /// The port of this node that causes it, if one does.
    pub port: Option<String>,
    /// The value that causes it.
    pub value: Option<String>,
    /// The node that is waited for.
    pub after: Option<String>,
    /// In a sentence.
    pub why: String,
}

impl Before {
    pub(super) fn nothing(why: &str) -> Before {
        Before { kind: BeforeKind::Nothing, port: None, value: None, after: None, why: why.to_owned() }
    }
}

/// How a dispatch uses an arena.
#[derive(Clone, Copy)]
struct Touch {
    writes: bool,
    /// The position of the node that did so last.
    position: usize,
}

/// What stands before every node, in the order of the plan. `idle` says of which nodes nothing is dispatched with the numbers
/// of a run.
pub fn before(graph: &Graph, plan: &Plan, idle: &dyn Fn(NodeId) -> bool) -> Vec<Before> {
    let walk = Walk { graph, plan, idle };
    let mut all = Vec::with_capacity(plan.order.len());
    for positions in &plan.segments {
        let mut touched: Vec<Option<Touch>> = vec![None; plan.arenas.len()];
        let first = positions
            .clone()
            .find(|&position| !walk.is_host(position) && !idle(walk.id(position)))
            .unwrap_or(positions.end);
        for position in positions.clone() {
            if walk.is_host(position) {
                all.push(walk.host_wait(position, "the host runs it"));
                continue;
            }
            if idle(walk.id(position)) {
                all.push(Before::nothing("nothing of it is dispatched"));
                continue;
            }
            all.push(match position == first && position > 0 {
                true => walk.host_wait(position, "the host submits it"),
                false => walk.barrier(position, first, &touched),
            });
            walk.touch(position, &mut touched);
        }
    }
    all
}

struct Walk<'g> {
    graph: &'g Graph,
    plan: &'g Plan,
    idle: &'g dyn Fn(NodeId) -> bool,
}

impl Walk<'_> {
    fn id(&self, position: usize) -> NodeId {
        self.plan.order[position]
    }

    fn name(&self, position: usize) -> String {
        self.graph.nodes[self.id(position).0 as usize].name.clone()
    }

    fn is_host(&self, position: usize) -> bool {
        self.graph.nodes[self.id(position).0 as usize].pass.kernel.is_none()
    }

    fn bindings(&self, position: usize) -> &[Binding] {
        &self.graph.nodes[self.id(position).0 as usize].bindings
    }

    fn port(&self, position: usize, binding: &Binding) -> String {
        self.graph.nodes[self.id(position).0 as usize].pass.file.ports[binding.port].0.value.clone()
    }

    fn arena(&self, binding: &Binding) -> usize {
        let value = binding.after.or(binding.before).expect("a binding reads or writes a value");
        self.plan.slot(self.graph.values[value.0 as usize].buffer).arena
    }

    /// Whether a dispatch binds this read-write.
    fn writes(&self, position: usize, binding: &Binding) -> bool {
        binding.access != Access::Read || self.plan.widened.contains(&self.id(position))
    }

    fn touch(&self, position: usize, touched: &mut [Option<Touch>]) {
        let mut now: Vec<(usize, bool)> = Vec::new();
        for binding in self.bindings(position) {
            now.push((self.arena(binding), self.writes(position, binding)));
        }
        for (arena, writes) in now {
            let same_node = touched[arena].filter(|touch| touch.position == position);
            let writes = writes || same_node.is_some_and(|touch| touch.writes);
            touched[arena] = Some(Touch { writes, position });
        }
    }

    /// What the host reads or writes before this node: the first of a segment, or one that the host runs.
    fn host_wait(&self, position: usize, what: &str) -> Before {
        let id = self.id(position);
        let segment = self.graph.nodes[id.0 as usize].segment;
        let in_segment = |node: NodeId| self.graph.nodes[node.0 as usize].segment == segment;
        // Where nothing holds up the node itself, what holds up its segment does.
        let cause =
            self.latest_cause(segment, |to| to == id).or_else(|| self.latest_cause(segment, in_segment));
        let Some((from, value)) = cause else {
            return Before { kind: BeforeKind::HostWait, ..Before::nothing(what) };
        };
        let after = self.graph.nodes[from.0 as usize].name.clone();
        let name = self.graph.values[value.0 as usize].name.clone();
        let port = self.bindings(position).iter().find(|binding| binding.before == Some(value));
        let port = port.map(|binding| self.port(position, binding));
        let host_made = self.graph.nodes[from.0 as usize].pass.kernel.is_none();
        let why = match self.awaited(value) {
            _ if host_made => format!("{what} after making {name}"),
            Some(awaited) => format!("{what} after reading {awaited} from {name}"),
            None => format!("{what} after reading {name}"),
        };
        Before { kind: BeforeKind::HostWait, port, value: Some(name), after: Some(after), why }
    }

    /// Of the edges into some nodes that come from an earlier segment, or from the host, one from the latest segment: that of
    /// an awaited count or check, if there is one, else that of the latest node.
    fn latest_cause(&self, segment: u32, to: impl Fn(NodeId) -> bool) -> Option<(NodeId, ValueId)> {
        let place = |node: NodeId| self.plan.order.iter().position(|&id| id == node);
        let edges = self.graph.dag.edge_references().filter(|edge| to(self.graph.dag[edge.target()]));
        let causes = edges.filter_map(|edge| {
            let from = self.graph.dag[edge.source()];
            let node = &self.graph.nodes[from.0 as usize];
            let awaited = edge.weight().reason == Reason::Await;
            let earlier = node.segment < segment || node.pass.kernel.is_none();
            earlier.then_some(((node.segment, awaited, place(from)), (from, edge.weight().value)))
        });
        causes.max_by_key(|&(lateness, _)| lateness).map(|(_, cause)| cause)
    }

    /// The count or check that a value holds.
    fn awaited(&self, value: ValueId) -> Option<String> {
        let count = self.graph.counts.iter().find(|count| count.awaited && count.value == value);
        let check = self.graph.checks.iter().find(|check| check.awaited && check.value == value);
        let check = check.map(|check| format!("the check {}", check.name));
        count.map(|count| format!("the count {}", count.name)).or(check)
    }

    fn barrier(&self, position: usize, start: usize, touched: &[Option<Touch>]) -> Before {
        let conflict = |binding: &&Binding| {
            let touch = touched[self.arena(binding)]?;
            (touch.writes || self.writes(position, binding)).then_some(touch.position)
        };
        let conflicts: Vec<(&Binding, usize)> =
            self.bindings(position).iter().filter_map(|b| conflict(&b).map(|at| (b, at))).collect();
        if conflicts.is_empty() {
            return Before::nothing(if position == start {
                "it is the first of its segment"
            } else {
                "it writes nothing that earlier nodes of its segment touch, and reads nothing they write"
            });
        }
        if let Some(hazard) = self.hazard(position, start) {
            return hazard;
        }
        let (binding, other) = conflicts[0];
        let (port, after) = (self.port(position, binding), self.name(other));
        let why = format!(
            "{port} lies in arena {}, which {after} uses too: memory that is shared, not the graph, is the reason",
            self.arena(binding)
        );
        Before { kind: BeforeKind::Barrier, port: Some(port), value: None, after: Some(after), why }
    }

    /// The latest node of the segment that this one has to wait for by the graph, and the port that says so.
    fn hazard(&self, position: usize, start: usize) -> Option<Before> {
        let mut latest: Option<(usize, &Binding, ValueId, &'static str)> = None;
        let mut consider = |other: NodeId, binding, value, what| {
            let at = (start..position).find(|&at| self.id(at) == other && !(self.idle)(other));
            if let Some(at) = at.filter(|&at| latest.is_none_or(|(known, ..)| at > known)) {
                latest = Some((at, binding, value, what));
            }
        };
        for binding in self.bindings(position) {
            let Some(value) = binding.before else { continue };
            for &writer in self.graph.values[value.0 as usize].writers() {
                consider(writer, binding, value, "reads what it wrote");
            }
            if binding.after.is_some() {
                for &reader in &self.graph.values[value.0 as usize].readers {
                    consider(reader, binding, value, "overwrites what it reads");
                }
            }
        }
        let (at, binding, value, what) = latest?;
        let (port, after) = (self.port(position, binding), self.name(at));
        let why = format!("waits for {after}: {port} {what}");
        let value = self.graph.values[value.0 as usize].name.clone();
        Some(Before {
            kind: BeforeKind::Barrier,
            port: Some(port),
            value: Some(value),
            after: Some(after),
            why,
        })
    }
}
