//! Which nodes run, and which versions of which bytes they read and write.
//!
//! A version is made by a `write` or `update` port, a join, an input or a constant, or by all accumulators of the one
//! before it together. What two nodes may not do to one version is checked here; in which order nodes run is for
//! [`order`](super::order).

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::diagnostic::{Diagnostic, Diagnostics};
use super::super::document::{Access, Span};
use super::super::expr::Expr;
use super::check::Measures;
use super::facts::Facts;
use super::numbers::Numbers;
use super::tree::{LeafId, Member, Scope, Tree};
use super::wires::{Source, Wires};

/// Index of a version.
pub type VersionId = usize;

/// How a version comes to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Made {
    /// By what it is named after.
    By(Source),
    /// By everything that accumulates into another version.
    Accumulated(VersionId),
}

/// A port of a leaf that takes part in a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortUse {
    /// The leaf.
    pub leaf: LeafId,
    /// The port of its pass.
    pub port: usize,
    /// How it uses it.
    pub access: Access,
}

/// One version.
#[derive(Debug)]
pub struct Version {
    /// How it comes to be.
    pub made: Made,
    /// The version whose bytes it takes over.
    pub previous: Option<VersionId>,
    /// The ports that write it, or parts of it.
    pub writers: Vec<PortUse>,
    /// The ports that read it; those that update it or accumulate into it are among them.
    pub readers: Vec<PortUse>,
}

/// The versions before and after a port.
#[derive(Clone, Copy, Debug, Default)]
pub struct Around {
    /// What the port takes.
    pub before: Option<VersionId>,
    /// What the port yields.
    pub after: Option<VersionId>,
}

/// All versions that live nodes touch.
pub struct Versions {
    /// The versions.
    pub all: Vec<Version>,
    /// By leaf: whether anything needs it.
    pub live: Vec<bool>,
    /// By leaf and port.
    pub ports: Vec<Vec<Around>>,
    /// The flat names of the counts that live nodes, outputs or the root mention.
    pub counted: BTreeSet<String>,
    ids: HashMap<Made, VersionId>,
    of_source: HashMap<Source, VersionId>,
}

/// What versions are made from: everything earlier phases found out.
pub struct Found<'a> {
    /// What is placed.
    pub tree: &'a Tree,
    /// What is wired.
    pub wires: &'a Wires,
    /// What it measures.
    pub measures: &'a Measures,
    /// What is counted.
    pub numbers: &'a Numbers<'a>,
    /// What is known about numbers.
    pub facts: &'a Facts,
}

impl Found<'_> {
    /// The name of a version's maker in the flat graph.
    pub fn source_name(&self, source: Source) -> String {
        match source {
            Source::Input(input) => self.tree.file(0).inputs[input].0.value.clone(),
            Source::Constant(constant) => match &self.measures.constants[constant] {
                Some(expr) => format!("{{value: {expr}}}"),
                None => "{value: ?}".to_string(),
            },
            Source::Port(leaf, port) => {
                format!("{}.{}", self.tree.leaves[leaf].name, self.tree.port(leaf, port).0)
            }
            Source::Join(scope, join) => {
                self.tree.flat_name(scope, &self.tree.file(scope).joins[join].0.value)
            }
        }
    }

    /// Where a leaf says what it wires to a port; its name if it does not.
    pub fn wire_place(&self, leaf: LeafId, port: usize) -> Span {
        match self.wires.leaf_inputs[leaf][port] {
            Some(wire) => wire.at,
            None => self.tree.leaf_node(leaf).0.span,
        }
    }

    /// The flat counts that a leaf's numbers mention, its constants' included; with the leaf's own.
    pub fn counts_of(&self, leaf: LeafId) -> BTreeSet<&str> {
        let bind = self.measures.leaves[leaf].bind.iter().flatten();
        let constants = self.measures.inputs[leaf].iter().filter_map(|source| match source {
            Some(Source::Constant(constant)) => self.measures.constants[*constant].as_ref(),
            _ => None,
        });
        let names = bind.chain(constants).flat_map(Expr::symbols);
        names.filter(|name| self.facts.maxima.contains_key(*name)).collect()
    }
}

impl Versions {
    /// Works out versions, and which leaves are needed.
    pub fn new(found: &Found) -> Versions {
        let mut versions = Versions {
            all: Vec::new(),
            live: vec![false; found.tree.leaves.len()],
            ports: Vec::new(),
            counted: BTreeSet::new(),
            ids: HashMap::new(),
            of_source: HashMap::new(),
        };
        for input in 0..found.tree.file(0).inputs.len() {
            versions.of(found, Source::Input(input));
        }
        versions.share_constants(found);
        for leaf in 0..found.tree.leaves.len() {
            let around = versions.around(found, leaf);
            versions.ports.push(around);
        }
        versions.mark_live(found);
        versions.collect_uses(found);
        versions
    }

    /// Constants of the same number are one value.
    fn share_constants(&mut self, found: &Found) {
        let mut first: BTreeMap<String, VersionId> = BTreeMap::new();
        for (constant, expr) in found.measures.constants.iter().enumerate() {
            let source = Source::Constant(constant);
            let id = match expr {
                Some(expr) => {
                    *first.entry(expr.to_string()).or_insert_with(|| self.intern(Made::By(source), None))
                }
                None => self.intern(Made::By(source), None),
            };
            self.of_source.insert(source, id);
        }
    }

    fn intern(&mut self, made: Made, previous: Option<VersionId>) -> VersionId {
        *self.ids.entry(made).or_insert_with(|| {
            self.all.push(Version { made, previous, writers: Vec::new(), readers: Vec::new() });
            self.all.len() - 1
        })
    }

    fn around(&mut self, found: &Found, leaf: LeafId) -> Vec<Around> {
        let pass = &found.tree.leaves[leaf].pass;
        (0..pass.file.ports.len())
            .map(|port| {
                let before = found.measures.inputs[leaf][port].map(|source| self.of(found, source));
                let after = match pass.port(port).access.value {
                    Access::Read => None,
                    Access::Write => match found.wires.part_of.get(&(leaf, port)) {
                        Some(&(scope, join, _)) => Some(self.of(found, Source::Join(scope, join))),
                        None => Some(self.of(found, Source::Port(leaf, port))),
                    },
                    Access::Update | Access::Accumulate => Some(self.of(found, Source::Port(leaf, port))),
                };
                Around { before, after }
            })
            .collect()
    }

    /// The version that a source names.
    pub fn of(&mut self, found: &Found, source: Source) -> VersionId {
        let mut chain: Vec<Source> = Vec::new();
        let mut current = source;
        let mut version = loop {
            if let Some(&known) = self.of_source.get(&current) {
                break Some(known);
            }
            if chain.contains(&current) {
                break None;
            }
            chain.push(current);
            match in_place(found, current) {
                Some(before) => current = before,
                None => break None,
            }
        };
        for source in chain.into_iter().rev() {
            let made = match (version, access(found, source)) {
                (Some(before), Some(Access::Accumulate)) => Made::Accumulated(before),
                _ => Made::By(source),
            };
            let previous = version
                .filter(|_| matches!(access(found, source), Some(Access::Update | Access::Accumulate)));
            let id = self.intern(made, previous);
            self.of_source.insert(source, id);
            version = Some(id);
        }
        version.unwrap_or_default()
    }

    /// Marks what outputs, checks and the root's counts need, and what that needs.
    fn mark_live(&mut self, found: &Found) {
        let mut writers: Vec<Vec<LeafId>> = vec![Vec::new(); self.all.len()];
        for (leaf, ports) in self.ports.iter().enumerate() {
            for after in ports.iter().filter_map(|around| around.after) {
                writers[after].push(leaf);
            }
        }
        let mut pending: Vec<LeafId> = Vec::new();
        let mut counts: Vec<&str> = Vec::new();
        let root_counts = found.numbers.counts.iter().filter(|count| count.scope == 0);
        counts.extend(root_counts.map(|count| count.name.as_str()));
        counts.extend(found.measures.outputs.iter().flatten().flat_map(Expr::symbols));
        let outputs = found.wires.outputs[0].iter().flatten().map(|wire| wire.source);
        let checks = found.wires.checks.iter().flatten().flatten().map(|wire| wire.source);
        for source in outputs.chain(checks) {
            pending.extend(self.of_source.get(&source).into_iter().flat_map(|version| &writers[*version]));
        }
        pending.extend(meant(found));
        loop {
            while let Some(name) = counts.pop() {
                let Some(count) = found.numbers.count(name).filter(|_| self.counted.insert(name.to_string()))
                else {
                    continue;
                };
                pending.extend(self.of_source.get(&count.source).into_iter().flat_map(|v| &writers[*v]));
                counts.extend(found.facts.maxima.get(name).into_iter().flat_map(Expr::symbols));
            }
            let Some(leaf) = pending.pop() else { return };
            if std::mem::replace(&mut self.live[leaf], true) {
                continue;
            }
            for before in self.ports[leaf].iter().filter_map(|around| around.before) {
                pending.extend(&writers[before]);
            }
            counts.extend(found.counts_of(leaf));
        }
    }

    fn collect_uses(&mut self, found: &Found) {
        for leaf in (0..self.live.len()).filter(|leaf| self.live[*leaf]) {
            for (port, around) in self.ports[leaf].iter().enumerate() {
                let access = found.tree.leaves[leaf].pass.port(port).access.value;
                let port = PortUse { leaf, port, access };
                if let Some(before) = around.before {
                    self.all[before].readers.push(port);
                }
                if let Some(after) = around.after {
                    self.all[after].writers.push(port);
                }
            }
        }
        for version in &mut self.all {
            for uses in [&mut version.writers, &mut version.readers] {
                uses.sort_by_key(|u| (&found.tree.leaves[u.leaf].name, found.tree.port(u.leaf, u.port).0));
            }
        }
    }

    /// The version that a source names, if anything mentions it.
    pub fn known(&self, source: Source) -> Option<VersionId> {
        self.of_source.get(&source).copied()
    }

    /// The name of a version: that of its maker, or of the first port that accumulates into it.
    pub fn name(&self, found: &Found, version: VersionId) -> String {
        match (self.all[version].made, self.all[version].writers.first()) {
            (Made::By(source), _) => found.source_name(source),
            (Made::Accumulated(_), Some(first)) => found.source_name(Source::Port(first.leaf, first.port)),
            (Made::Accumulated(before), None) => self.name(found, before),
        }
    }

    /// The first version of the bytes a version lives in.
    pub fn buffer(&self, version: VersionId) -> VersionId {
        let mut first = version;
        for _ in 0..self.all.len() {
            match self.all[first].previous {
                Some(previous) => first = previous,
                None => break,
            }
        }
        first
    }

    /// Checks what is done to each version.
    pub fn check(&self, found: &Found, diagnostics: &mut Diagnostics) {
        self.check_unused(found, diagnostics);
        for version in 0..self.all.len() {
            self.check_conflicts(found, version, diagnostics);
        }
        for leaf in (0..self.live.len()).filter(|leaf| self.live[*leaf]) {
            self.check_bound_once(found, leaf, diagnostics);
        }
        self.check_overwritten(found, diagnostics);
    }

    /// Every node of the root is needed.
    fn check_unused(&self, found: &Found, diagnostics: &mut Diagnostics) {
        let tree = found.tree;
        let broken = |scope: &Scope| scope.parent.is_some() && scope.members.contains(&Member::Broken);
        if found.wires.lost || tree.scopes.iter().any(|scope| scope.graph.is_damaged() || broken(scope)) {
            return;
        }
        let mut used = vec![false; tree.scopes.len()];
        for leaf in (0..self.live.len()).filter(|leaf| self.live[*leaf]) {
            let mut scope = Some(tree.leaves[leaf].scope);
            while let Some(inner) = scope {
                used[inner] = true;
                scope = tree.scopes[inner].parent.map(|(parent, _)| parent);
            }
        }
        for (node, (name, _)) in tree.file(0).nodes.iter().enumerate() {
            let needed = match tree.scopes[0].members[node] {
                Member::Leaf(leaf) => self.live[leaf],
                Member::Scope(scope) => used[scope],
                Member::Broken => true,
            };
            if !needed && !found.wires.meant.contains(&(0, node)) {
                diagnostics.push(
                    Diagnostic::at(name.span, format!("nobody uses what `{}` makes", name.value))
                        .help("wire one of its outputs, or remove it"),
                );
            }
        }
    }

    /// One version is updated once, or accumulated into, and never both; a constant is only read.
    fn check_conflicts(&self, found: &Found, version: VersionId, diagnostics: &mut Diagnostics) {
        let writing: Vec<&PortUse> =
            self.all[version].readers.iter().filter(|r| r.access != Access::Read).collect();
        let name = self.name(found, version);
        if let Made::By(Source::Constant(_)) = self.all[version].made {
            for port in writing {
                diagnostics.push(
                    Diagnostic::at(found.wire_place(port.leaf, port.port), "a constant is only read")
                        .label(format!("`{}` writes it", found.tree.port(port.leaf, port.port).0))
                        .help("let a node make the first version, such as `shared/fill`"),
                );
            }
            return;
        }
        let Some(first) = writing.first() else { return };
        for port in &writing[1..] {
            if port.access == Access::Accumulate && first.access == Access::Accumulate {
                continue;
            }
            let (leaf, other) = (&found.tree.leaves[port.leaf], &found.tree.leaves[first.leaf]);
            let verb = |access| if access == Access::Update { "updated" } else { "accumulated into" };
            diagnostics.push(
                Diagnostic::at(
                    found.wire_place(port.leaf, port.port),
                    format!("`{name}` is taken over by two nodes"),
                )
                .label(format!("{} by `{}`", verb(port.access), leaf.name))
                .also(
                    found.wire_place(first.leaf, first.port),
                    format!("{} by `{}`", verb(first.access), other.name),
                )
                .help("let one of them take the version that the other yields"),
            );
        }
    }

    /// A node binds bytes that it writes through one port only.
    fn check_bound_once(&self, found: &Found, leaf: LeafId, diagnostics: &mut Diagnostics) {
        let mut bound: BTreeMap<VersionId, (usize, bool)> = BTreeMap::new();
        for (port, around) in self.ports[leaf].iter().enumerate() {
            let Some(version) = around.before.or(around.after) else { continue };
            let writes = around.after.is_some();
            match bound.entry(self.buffer(version)) {
                Entry::Vacant(entry) => drop(entry.insert((port, writes))),
                Entry::Occupied(entry) => {
                    let (other, other_writes) = *entry.get();
                    let other_around = self.ports[leaf][other];
                    // A node that takes what it makes is a circle, and reported as one.
                    let own = |a: Around, b: Around| a.before.is_some() && a.before == b.after;
                    if (writes || other_writes) && !own(*around, other_around) && !own(other_around, *around)
                    {
                        let (node, _) = found.tree.leaf_node(leaf);
                        let (name, other_name) =
                            (found.tree.port(leaf, port).0, found.tree.port(leaf, other).0);
                        diagnostics.push(
                            Diagnostic::at(
                                found.wire_place(leaf, port),
                                format!("node `{}` reaches the same bytes through two ports", node.value),
                            )
                            .label(format!("`{name}` and `{other_name}`, of which one is written"))
                            .note("a device does not bind a buffer twice in a dispatch that writes it"),
                        );
                    }
                }
            }
        }
    }

    /// What the host reads is not overwritten before it does.
    fn check_overwritten(&self, found: &Found, diagnostics: &mut Diagnostics) {
        let file = found.tree.file(0);
        let outputs = file.outputs.iter().zip(&found.wires.outputs[0]);
        let outputs = outputs.map(|((name, _), wire)| ("output", &name.value, *wire));
        let counts = found.tree.scopes.iter().enumerate().flat_map(|(scope, placed)| {
            let counts = placed.graph.file.counts.iter().zip(&found.wires.counts[scope]);
            counts.map(|((name, _), wire)| ("count", &name.value, *wire))
        });
        let checks = found.tree.scopes.iter().enumerate().flat_map(|(scope, placed)| {
            let checks = placed.graph.file.checks.iter().zip(&found.wires.checks[scope]);
            checks
                .filter(|((_, decl), _)| !decl.awaited)
                .map(|((name, _), wire)| ("check", &name.value, *wire))
        });
        for (kind, name, wire) in outputs.chain(counts).chain(checks) {
            let Some(wire) = wire else { continue };
            let Some(&version) = self.of_source.get(&wire.source) else { continue };
            let next = self.all[version].readers.iter().find(|reader| reader.access != Access::Read);
            if let Some(next) = next {
                let leaf = &found.tree.leaves[next.leaf].name;
                diagnostics.push(
                    Diagnostic::at(wire.at, format!("the {kind} `{name}` is overwritten before it is read"))
                        .label("this version")
                        .also(found.wire_place(next.leaf, next.port), format!("overwritten by `{leaf}`"))
                        .help(format!("take the version that `{leaf}` yields")),
                );
            }
        }
    }
}

/// The leaves that wires with errors seem to mean: those of a node, or of the graph that it uses.
fn meant(found: &Found) -> Vec<LeafId> {
    let tree = found.tree;
    let is_meant = |leaf: &LeafId| {
        let mut node = (tree.leaves[*leaf].scope, tree.leaves[*leaf].node);
        loop {
            if found.wires.meant.contains(&node) {
                return true;
            }
            match tree.scopes[node.0].parent {
                Some(parent) => node = parent,
                None => return false,
            }
        }
    };
    (0..tree.leaves.len()).filter(is_meant).collect()
}

fn access(found: &Found, source: Source) -> Option<Access> {
    match source {
        Source::Port(leaf, port) => Some(found.tree.leaves[leaf].pass.port(port).access.value),
        Source::Input(_) | Source::Constant(_) | Source::Join(..) => None,
    }
}

/// The source whose bytes the port behind another takes over.
fn in_place(found: &Found, source: Source) -> Option<Source> {
    match (source, access(found, source)) {
        (Source::Port(leaf, port), Some(Access::Update | Access::Accumulate)) => {
            found.measures.inputs[leaf][port]
        }
        _ => None,
    }
}
