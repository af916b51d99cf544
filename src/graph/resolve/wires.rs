//! Follows every wire to the value it leads to: through used graphs, to a port of a pass, an input of the whole graph,
//! a join or a constant.
//!
//! Names of nodes, ports, inputs and joins are checked here, once for every place that mentions one. Types, lengths
//! and versions are for later phases.

use std::collections::{BTreeMap, BTreeSet};

use super::super::diagnostic::{Diagnostic, Diagnostics, nearest};
use super::super::document::{Access, Producer, Span, Spanned};
use super::super::expr::Expr;
use super::super::source::SourceMap;
use super::tree::{LeafId, Member, ScopeId, Tree};

/// What a producer names, within the graph that says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Local {
    /// A port of a pass.
    Port(LeafId, usize),
    /// An output of a used graph, by the used scope.
    Output(ScopeId, usize),
    /// An input of the graph itself.
    Input(ScopeId, usize),
    /// A join of the graph itself.
    Join(ScopeId, usize),
    /// `{value: EXPR}`, an index into [`Wires::constants`].
    Constant(usize),
}

/// Where a value comes from in the flat graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// An input of the root.
    Input(usize),
    /// A constant.
    Constant(usize),
    /// A port of a pass that yields a value.
    Port(LeafId, usize),
    /// A join, by scope and index.
    Join(ScopeId, usize),
}

/// A wire that leads somewhere.
#[derive(Clone, Copy, Debug)]
pub struct Wire {
    /// The producer, as written.
    pub at: Span,
    /// What it names where it stands.
    pub local: Local,
    /// What that is in the flat graph.
    pub source: Source,
}

/// All wires. A wire that leads nowhere has been reported and is `None`, as is one that is not there.
#[derive(Default)]
pub struct Wires {
    /// By leaf and port of its pass.
    pub leaf_inputs: Vec<Vec<Option<Wire>>>,
    /// By scope and input of its graph; nothing for the root.
    pub scope_inputs: Vec<Vec<Option<Wire>>>,
    /// By scope, join and part.
    pub joins: Vec<Vec<Vec<Option<Wire>>>>,
    /// By scope and count.
    pub counts: Vec<Vec<Option<Wire>>>,
    /// By scope and check.
    pub checks: Vec<Vec<Option<Wire>>>,
    /// By scope and output.
    pub outputs: Vec<Vec<Option<Wire>>>,
    /// The constants that wires mention, with the scope whose numbers they are over.
    pub constants: Vec<(ScopeId, Spanned<Expr>)>,
    /// The join that a port writes a part of, and which part.
    pub part_of: BTreeMap<(LeafId, usize), (ScopeId, usize, usize)>,
    /// Nodes, by scope and index, that a wire with an error in it seems to mean: they do not count as unused.
    pub meant: BTreeSet<(ScopeId, usize)>,
    /// Whether a wire led nowhere and it could not be told what it means.
    pub lost: bool,
}

/// Follows all wires of all scopes.
pub fn follow(tree: &Tree, sources: &SourceMap, diagnostics: &mut Diagnostics) -> Wires {
    let mut follower =
        Follower { tree, sources, diagnostics, wires: Wires::default(), circles: BTreeSet::new() };
    follower.locals();
    follower.trace();
    follower.parts();
    follower.whole_parts_only();
    follower.wires
}

struct Follower<'a> {
    tree: &'a Tree,
    sources: &'a SourceMap,
    diagnostics: &'a mut Diagnostics,
    wires: Wires,
    /// What lies on circles that were reported.
    circles: BTreeSet<Local>,
}

impl Follower<'_> {
    /// Looks up what each producer names where it stands.
    fn locals(&mut self) {
        let tree = self.tree;
        self.wires.leaf_inputs =
            tree.leaves.iter().map(|leaf| vec![None; leaf.pass.file.ports.len()]).collect();
        self.wires.scope_inputs =
            (0..tree.scopes.len()).map(|scope| vec![None; tree.file(scope).inputs.len()]).collect();
        for scope in 0..tree.scopes.len() {
            for (node, member) in tree.scopes[scope].members.iter().enumerate() {
                match *member {
                    Member::Leaf(leaf) => self.leaf_inputs(scope, leaf),
                    Member::Scope(used) => self.used_inputs(scope, used),
                    Member::Broken => self.broken_inputs(scope, node),
                }
            }
            let file = tree.file(scope);
            let joins = file
                .joins
                .iter()
                .map(|(_, join)| join.parts.iter().map(|part| self.wire(scope, part)).collect())
                .collect();
            self.wires.joins.push(joins);
            let counts = file.counts.iter().map(|(_, count)| self.wire(scope, &count.from)).collect();
            self.wires.counts.push(counts);
            let checks = file.checks.iter().map(|(_, check)| self.wire(scope, &check.from)).collect();
            self.wires.checks.push(checks);
            let outputs = file.outputs.iter().map(|(_, output)| self.wire(scope, &output.from)).collect();
            self.wires.outputs.push(outputs);
        }
    }

    fn leaf_inputs(&mut self, scope: ScopeId, leaf: LeafId) {
        let tree = self.tree;
        let pass = &tree.leaves[leaf].pass;
        let (node, decl) = tree.leaf_node(leaf);
        let mut wired = vec![false; pass.file.ports.len()];
        for (key, producer) in &decl.inputs {
            let wire = self.wire(scope, producer);
            let Some(port) = pass.port_index(&key.value) else {
                wired.fill(true);
                if pass.file.damaged.contains(&key.value) {
                    continue;
                }
                let error =
                    Diagnostic::at(key.span, format!("pass `{}` has no port `{}`", pass.name(), key.value))
                        .also(pass.file.name.span, "the pass");
                let inputs = pass.file.ports.iter().filter(|(_, port)| port.access.value != Access::Write);
                self.diagnostics.push(error.suggest(&key.value, inputs.map(|(name, _)| name.value.as_str())));
                continue;
            };
            wired[port] = true;
            if pass.port(port).access.value == Access::Write {
                self.diagnostics.push(
                    Diagnostic::at(
                        key.span,
                        format!("port `{}` of `{}` takes no value", key.value, pass.name()),
                    )
                    .label("wired here")
                    .also(pass.port(port).access.span, "the pass writes it")
                    .help(format!("others read it as `{}.{}`", node.value, key.value)),
                );
                continue;
            }
            self.wires.leaf_inputs[leaf][port] = wire;
        }
        for (port, _) in wired.iter().enumerate().filter(|(_, wired)| !**wired) {
            let (name, decl) = &pass.file.ports[port];
            if decl.access.value != Access::Write && decl.carries.is_none() {
                self.unwired(scope, node, &format!("pass `{}`", pass.name()), name);
            }
        }
    }

    fn used_inputs(&mut self, scope: ScopeId, used: ScopeId) {
        let tree = self.tree;
        let file = tree.file(used);
        let Some((_, node, decl)) = tree.used_at(used) else { return };
        let mut wired = vec![false; file.inputs.len()];
        for (key, producer) in &decl.inputs {
            let wire = self.wire(scope, producer);
            let Some(input) = file.inputs.iter().position(|(name, _)| name.value == key.value) else {
                wired.fill(true);
                if tree.scopes[used].graph.excuses(&key.value) {
                    continue;
                }
                self.diagnostics.push(
                    Diagnostic::at(
                        key.span,
                        format!("graph `{}` has no input `{}`", file.name.value, key.value),
                    )
                    .also(file.name.span, "the graph")
                    .suggest(&key.value, file.inputs.iter().map(|(name, _)| name.value.as_str())),
                );
                continue;
            };
            wired[input] = true;
            self.wires.scope_inputs[used][input] = wire;
        }
        for (input, _) in wired.iter().enumerate().filter(|(_, wired)| !**wired) {
            self.unwired(scope, node, &format!("graph `{}`", file.name.value), &file.inputs[input].0);
        }
    }

    /// What a node takes whose pass or graph is not known: nothing to check but the producers.
    fn broken_inputs(&mut self, scope: ScopeId, node: usize) {
        let tree = self.tree;
        for (_, producer) in &tree.node(scope, node).1.inputs {
            if let Some(wire) = self.wire(scope, producer) {
                self.mean(wire.local);
            }
        }
    }

    /// Takes what a wire in error leads to for used.
    fn mean(&mut self, local: Local) {
        match local {
            Local::Port(leaf, _) => {
                let leaf = &self.tree.leaves[leaf];
                self.wires.meant.insert((leaf.scope, leaf.node));
            }
            Local::Output(used, _) => self.wires.meant.extend(self.tree.scopes[used].parent),
            Local::Join(..) => self.wires.lost = true,
            Local::Input(..) | Local::Constant(_) => {}
        }
    }

    fn unwired(&mut self, scope: ScopeId, node: &Spanned<String>, of: &str, port: &Spanned<String>) {
        if self.tree.scopes[scope].graph.excuses(&node.value) {
            return;
        }
        self.diagnostics.push(
            Diagnostic::at(node.span, format!("node `{}` does not wire `{}`", node.value, port.value))
                .label(format!("{of} takes it"))
                .also(port.span, "declared here")
                .help(format!("add `{}` under `in`", port.value)),
        );
    }

    /// Looks up one producer. The source is filled in by [`Follower::trace`].
    fn wire(&mut self, scope: ScopeId, producer: &Spanned<Producer>) -> Option<Wire> {
        let (at, local) = match &producer.value {
            Producer::Port { node, port } => (producer.span, self.port(scope, producer.span, node, port)?),
            Producer::Name(name) => (producer.span, self.named(scope, name)?),
            Producer::Value(expr) => {
                self.wires.constants.push((scope, expr.clone()));
                (expr.span, Local::Constant(self.wires.constants.len() - 1))
            }
        };
        Some(Wire { at, local, source: Source::Input(usize::MAX) })
    }

    /// `node.port`.
    fn port(
        &mut self,
        scope: ScopeId,
        at: Span,
        node: &Spanned<String>,
        port: &Spanned<String>,
    ) -> Option<Local> {
        let tree = self.tree;
        let nodes = &tree.file(scope).nodes;
        let Some(index) = nodes.iter().position(|(name, _)| name.value == node.value) else {
            self.unknown_node(scope, node);
            return None;
        };
        let found = match tree.scopes[scope].members[index] {
            Member::Leaf(leaf) => self.leaf_port(leaf, at, node, port),
            Member::Scope(used) => self.used_output(used, node, port),
            Member::Broken => None,
        };
        if found.is_none() {
            self.wires.meant.insert((scope, index));
        }
        found
    }

    fn unknown_node(&mut self, scope: ScopeId, node: &Spanned<String>) {
        if self.tree.scopes[scope].graph.excuses(&node.value) {
            self.wires.lost = true;
            return;
        }
        let tree = self.tree;
        let file = tree.file(scope);
        let error = Diagnostic::at(node.span, format!("there is no node `{}`", node.value));
        let plain = file.inputs.iter().map(|(name, _)| name).chain(file.joins.iter().map(|(name, _)| name));
        let error = if let Some(&removed) = self.tree.scopes[scope].graph.removed.get(&node.value) {
            error.also(removed, "removed here")
        } else if let Some(other) = plain.into_iter().find(|name| name.value == node.value) {
            error.also(other.span, "not a node, but a value").help(format!("write just `{}`", node.value))
        } else {
            error.suggest(&node.value, file.nodes.iter().map(|(name, _)| name.value.as_str()))
        };
        let names = file.nodes.iter().map(|(name, _)| name.value.as_str());
        match nearest(&node.value, names.clone()) {
            Some(near) => {
                let index = names.clone().position(|name| name == near);
                self.wires.meant.extend(index.map(|index| (scope, index)));
            }
            None => self.wires.lost = true,
        }
        self.diagnostics.push(error);
    }

    fn leaf_port(
        &mut self,
        leaf: LeafId,
        at: Span,
        node: &Spanned<String>,
        port: &Spanned<String>,
    ) -> Option<Local> {
        let tree = self.tree;
        let pass = &tree.leaves[leaf].pass;
        let yields = pass.file.ports.iter().filter(|(_, port)| port.access.value != Access::Read);
        let Some(index) = pass.port_index(&port.value) else {
            if pass.file.damaged.contains(&port.value) {
                return None;
            }
            self.diagnostics.push(
                Diagnostic::at(port.span, format!("pass `{}` has no port `{}`", pass.name(), port.value))
                    .also(pass.file.name.span, "the pass")
                    .suggest(&port.value, yields.map(|(name, _)| name.value.as_str())),
            );
            return None;
        };
        if pass.port(index).access.value == Access::Read {
            let error = Diagnostic::at(at, format!("`{}.{}` yields no value", node.value, port.value))
                .also(pass.port(index).access.span, format!("pass `{}` only reads it", pass.name()));
            let names: Vec<String> = yields.map(|(name, _)| format!("`{}`", name.value)).collect();
            self.diagnostics.push(if names.is_empty() {
                error
            } else {
                error.help(format!("it yields {}", names.join(", ")))
            });
            return None;
        }
        Some(Local::Port(leaf, index))
    }

    fn used_output(
        &mut self,
        used: ScopeId,
        node: &Spanned<String>,
        port: &Spanned<String>,
    ) -> Option<Local> {
        if let Some(index) = self.tree.output_index(used, &port.value) {
            return Some(Local::Output(used, index));
        }
        let tree = self.tree;
        if tree.scopes[used].graph.excuses(&port.value) {
            return None;
        }
        let file = tree.file(used);
        self.diagnostics.push(
            Diagnostic::at(port.span, format!("graph `{}` has no output `{}`", file.name.value, port.value))
                .label(format!("`{}` uses that graph", node.value))
                .also(file.name.span, "the graph")
                .suggest(&port.value, file.outputs.iter().map(|(name, _)| name.value.as_str())),
        );
        None
    }

    /// The name of an input or a join.
    fn named(&mut self, scope: ScopeId, name: &Spanned<String>) -> Option<Local> {
        let tree = self.tree;
        let file = tree.file(scope);
        if let Some(input) = file.inputs.iter().position(|(n, _)| n.value == name.value) {
            return Some(Local::Input(scope, input));
        }
        if let Some(join) = file.joins.iter().position(|(n, _)| n.value == name.value) {
            return Some(Local::Join(scope, join));
        }
        if self.tree.scopes[scope].graph.excuses(&name.value) {
            self.wires.lost = true;
            return None;
        }
        let error = Diagnostic::at(name.span, format!("there is no input or join `{}`", name.value));
        let error = if let Some(node) = file.nodes.iter().position(|(n, _)| n.value == name.value) {
            self.wires.meant.insert((scope, node));
            self.which_port(scope, node, error)
        } else {
            self.wires.lost = true;
            if let Some(&removed) = self.tree.scopes[scope].graph.removed.get(&name.value) {
                error.also(removed, "removed here")
            } else if let Some((count, decl)) = file.counts.iter().find(|(n, _)| n.value == name.value) {
                let from = self.sources.slice(decl.from.span);
                error
                    .also(count.span, "not a value, but a count")
                    .help(format!("wire where it comes from: `{from}`"))
            } else {
                let names = file.inputs.iter().map(|(n, _)| n).chain(file.joins.iter().map(|(n, _)| n));
                error.suggest(&name.value, names.map(|n| n.value.as_str()))
            }
        };
        self.diagnostics.push(error);
        None
    }

    /// The error for a node that is wired without its port.
    fn which_port(&self, scope: ScopeId, node: usize, error: Diagnostic) -> Diagnostic {
        let (name, _) = self.tree.node(scope, node);
        let ports: Vec<String> = match self.tree.scopes[scope].members[node] {
            Member::Leaf(leaf) => {
                let ports = &self.tree.leaves[leaf].pass.file.ports;
                let yields = ports.iter().filter(|(_, port)| port.access.value != Access::Read);
                yields.map(|(port, _)| format!("`{}.{}`", name.value, port.value)).collect()
            }
            Member::Scope(used) => {
                let outputs = &self.tree.file(used).outputs;
                outputs.iter().map(|(output, _)| format!("`{}.{}`", name.value, output.value)).collect()
            }
            Member::Broken => Vec::new(),
        };
        let error = error.also(name.span, "not a value, but a node");
        if ports.is_empty() { error } else { error.help(format!("name its port: {}", ports.join(" or "))) }
    }

    /// Fills in the source of every wire.
    fn trace(&mut self) {
        let mut wires = std::mem::take(&mut self.wires);
        let plain = [&wires.leaf_inputs, &wires.scope_inputs, &wires.counts, &wires.checks, &wires.outputs]
            .map(|lists| lists.iter().map(|list| self.trace_all(&wires, list)).collect());
        let joins = wires
            .joins
            .iter()
            .map(|joins| joins.iter().map(|parts| self.trace_all(&wires, parts)).collect())
            .collect();
        [wires.leaf_inputs, wires.scope_inputs, wires.counts, wires.checks, wires.outputs] = plain;
        wires.lost |= !self.circles.is_empty();
        wires.joins = joins;
        self.wires = wires;
    }

    fn trace_all(&mut self, wires: &Wires, list: &[Option<Wire>]) -> Vec<Option<Wire>> {
        list.iter().map(|wire| wire.and_then(|wire| self.trace_one(wires, wire))).collect()
    }

    fn trace_one(&mut self, wires: &Wires, wire: Wire) -> Option<Wire> {
        let mut passed = BTreeSet::new();
        let mut local = wire.local;
        loop {
            if self.circles.contains(&local) {
                return None;
            }
            if !passed.insert(local) {
                self.circles.extend(passed);
                self.diagnostics.push(
                    Diagnostic::at(wire.at, "this wire goes round in a circle")
                        .label("the graphs it passes through only hand it on; no node makes the value"),
                );
                return None;
            }
            let source = match local {
                Local::Port(leaf, port) => Source::Port(leaf, port),
                Local::Join(scope, join) => Source::Join(scope, join),
                Local::Constant(constant) => Source::Constant(constant),
                Local::Input(scope, input) if self.tree.scopes[scope].parent.is_none() => {
                    Source::Input(input)
                }
                Local::Input(scope, input) => {
                    local = wires.scope_inputs[scope][input]?.local;
                    continue;
                }
                Local::Output(scope, output) => {
                    local = wires.outputs[scope][output]?.local;
                    continue;
                }
            };
            return Some(Wire { source, ..wire });
        }
    }

    /// Notes which ports write parts of joins; a part is a port that writes, and of one join.
    fn parts(&mut self) {
        for scope in 0..self.tree.scopes.len() {
            for join in 0..self.wires.joins[scope].len() {
                for part in 0..self.wires.joins[scope][join].len() {
                    self.part(scope, join, part);
                }
            }
        }
    }

    fn part(&mut self, scope: ScopeId, join: usize, part: usize) {
        let Some(wire) = self.wires.joins[scope][join][part] else { return };
        let tree = self.tree;
        let name = &tree.file(scope).joins[join].0.value;
        let Source::Port(leaf, port) = wire.source else {
            self.mean(wire.local);
            self.diagnostics.push(
                Diagnostic::at(wire.at, format!("a part of `{name}` is not written by a node"))
                    .help("the parts of a join are ports of nodes"),
            );
            return;
        };
        let access = &tree.leaves[leaf].pass.port(port).access;
        if access.value != Access::Write {
            self.mean(wire.local);
            self.diagnostics.push(
                Diagnostic::at(wire.at, format!("a part of `{name}` is not a `write` port"))
                    .also(access.span, "declared here"),
            );
            return;
        }
        if let Some(&(other_scope, other_join, other_part)) = self.wires.part_of.get(&(leaf, port)) {
            let text = self.sources.slice(wire.at);
            let error = Diagnostic::at(wire.at, format!("`{text}` is a part twice"));
            let first = self.wires.joins[other_scope][other_join][other_part];
            self.diagnostics.push(match first {
                Some(first) => error.label("a port writes into one place").also(first.at, "first here"),
                None => error,
            });
            return;
        }
        self.wires.part_of.insert((leaf, port), (scope, join, part));
    }

    /// A port that writes a part of a join yields no value of its own.
    fn whole_parts_only(&mut self) {
        let wires = &self.wires;
        let lists = [&wires.leaf_inputs, &wires.counts, &wires.checks].map(|lists| lists.iter().flatten());
        // What a used graph hands out may be put together by whoever uses it.
        for wire in lists.into_iter().flatten().chain(wires.outputs.iter().take(1).flatten()).flatten() {
            let Source::Port(leaf, port) = wire.source else { continue };
            let Some(&(scope, join, part)) = wires.part_of.get(&(leaf, port)) else { continue };
            let name = &self.tree.file(scope).joins[join].0;
            let error = Diagnostic::at(wire.at, format!("`{}` is only a part", self.sources.slice(wire.at)));
            let error = match wires.joins[scope][join][part] {
                Some(part) => error.also(part.at, format!("of the join `{}`", name.value)),
                None => error,
            };
            self.diagnostics.push(error.help(format!("the value is the whole join: `{}`", name.value)));
        }
    }
}
