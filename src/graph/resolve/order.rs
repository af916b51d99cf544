//! Which node waits for which and why; whether they can run at all; in which segment each runs.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::super::diagnostic::{Diagnostic, Diagnostics};
use super::super::document::{Access, Kernel, Span};
use super::super::explain::sentence;
use super::super::model::Reason;
use super::tree::LeafId;
use super::versions::{Found, PortUse, VersionId, Versions};

/// Why one leaf waits for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Wait {
    /// The one that runs first.
    pub from: LeafId,
    /// The one that waits.
    pub to: LeafId,
    /// Why.
    pub reason: Reason,
    /// Over which version.
    pub version: VersionId,
}

/// The order of the live leaves.
pub struct Order {
    /// Edges, sorted by what they mean and not by files.
    pub waits: Vec<Wait>,
    /// Leaves by segment, then depth, then name: a topological order.
    pub leaves: Vec<LeafId>,
    /// By leaf.
    pub segment: Vec<u32>,
}

/// Orders the live leaves; none if some wait for one another, which is reported.
pub fn order(found: &Found, versions: &Versions, diagnostics: &mut Diagnostics) -> Option<Order> {
    let (waits, places) = waits(found, versions);
    let mut graph: DiGraph<LeafId, (Reason, VersionId)> = DiGraph::new();
    let leaves: Vec<LeafId> = (0..versions.live.len()).filter(|leaf| versions.live[*leaf]).collect();
    let index: HashMap<LeafId, NodeIndex> =
        leaves.iter().map(|leaf| (*leaf, graph.add_node(*leaf))).collect();
    for wait in &waits {
        graph.add_edge(index[&wait.from], index[&wait.to], (wait.reason, wait.version));
    }
    let circles: Vec<Vec<NodeIndex>> = tarjan_scc(&graph)
        .into_iter()
        .filter(|nodes| nodes.len() > 1 || graph.contains_edge(nodes[0], nodes[0]))
        .collect();
    for nodes in &circles {
        let leaves: BTreeSet<LeafId> = nodes.iter().map(|node| graph[*node]).collect();
        report_circle(found, versions, &leaves, &waits, &places, diagnostics);
    }
    if !circles.is_empty() {
        return None;
    }
    let depth = longest(found, &waits, &leaves, &|_| 1);
    let segment = longest(found, &waits, &leaves, &|wait| u32::from(is_cut(found, wait)));
    let mut leaves = leaves;
    leaves.sort_by(|a, b| {
        let key = |leaf: &LeafId| (segment[*leaf], depth[*leaf], &found.tree.leaves[*leaf].name);
        key(a).cmp(&key(b))
    });
    Some(Order { waits, leaves, segment })
}

fn is_host(found: &Found, leaf: LeafId) -> bool {
    matches!(found.tree.leaves[leaf].pass.file.kernel, Kernel::Host(_))
}

/// Whether the host has to wait for the device between the two.
fn is_cut(found: &Found, wait: &Wait) -> bool {
    !is_host(found, wait.from) && (wait.reason == Reason::Await || is_host(found, wait.to))
}

/// The largest sum of weights on the way to each leaf. The waits are free of circles.
fn longest(found: &Found, waits: &[Wait], leaves: &[LeafId], weight: &dyn Fn(&Wait) -> u32) -> Vec<u32> {
    let count = found.tree.leaves.len();
    let mut waiting = vec![0usize; count];
    let mut followers: Vec<Vec<&Wait>> = vec![Vec::new(); count];
    for wait in waits {
        waiting[wait.to] += 1;
        followers[wait.from].push(wait);
    }
    let mut longest = vec![0u32; count];
    let mut ready: Vec<LeafId> = leaves.iter().copied().filter(|leaf| waiting[*leaf] == 0).collect();
    while let Some(leaf) = ready.pop() {
        for wait in &followers[leaf] {
            longest[wait.to] = longest[wait.to].max(longest[leaf] + weight(wait));
            waiting[wait.to] -= 1;
            if waiting[wait.to] == 0 {
                ready.push(wait.to);
            }
        }
    }
    longest
}

/// Where the wire is that makes a leaf wait.
type Places = BTreeMap<Wait, Span>;

/// All edges, each once.
fn waits(found: &Found, versions: &Versions) -> (Vec<Wait>, Places) {
    let mut places = Places::new();
    for version in 0..versions.all.len() {
        data_waits(found, versions, version, &mut places);
        overwrite_waits(found, versions, version, &mut places);
    }
    await_counts(found, versions, &mut places);
    await_checks(found, versions, &mut places);
    let mut waits: Vec<Wait> = places.keys().copied().collect();
    let name = |leaf: LeafId| &found.tree.leaves[leaf].name;
    let version_names: Vec<String> = (0..versions.all.len()).map(|v| versions.name(found, v)).collect();
    waits.sort_by(|a, b| {
        let key = |wait: &Wait| (name(wait.from), name(wait.to), wait.reason, &version_names[wait.version]);
        key(a).cmp(&key(b))
    });
    (waits, places)
}

/// Readers wait for writers.
fn data_waits(found: &Found, versions: &Versions, version: VersionId, places: &mut Places) {
    let all = &versions.all[version];
    let part = |writer: &PortUse| found.wires.part_of.contains_key(&(writer.leaf, writer.port));
    for writer in &all.writers {
        for reader in &all.readers {
            let reason = match reader.access {
                Access::Update => Reason::Update,
                Access::Accumulate => Reason::Accumulate,
                Access::Read | Access::Write if part(writer) => Reason::Join,
                Access::Read | Access::Write => Reason::ReadAfterWrite,
            };
            let wait = Wait { from: writer.leaf, to: reader.leaf, reason, version };
            places.entry(wait).or_insert_with(|| found.wire_place(reader.leaf, reader.port));
        }
    }
}

/// Who overwrites a version waits for those who only read it.
fn overwrite_waits(found: &Found, versions: &Versions, version: VersionId, places: &mut Places) {
    let all = &versions.all[version];
    for reader in all.readers.iter().filter(|reader| reader.access == Access::Read) {
        for next in all.readers.iter().filter(|next| next.access != Access::Read) {
            // A node that reads what it overwrites is reported as such.
            if reader.leaf != next.leaf {
                let wait = Wait { from: reader.leaf, to: next.leaf, reason: Reason::WriteAfterRead, version };
                places.entry(wait).or_insert_with(|| found.wire_place(next.leaf, next.port));
            }
        }
    }
}

/// Whose numbers mention an awaited count waits for those who compute it.
fn await_counts(found: &Found, versions: &Versions, places: &mut Places) {
    for leaf in (0..versions.live.len()).filter(|leaf| versions.live[*leaf]) {
        for name in found.counts_of(leaf) {
            let Some(count) = found.numbers.count(name).filter(|count| count.awaited) else { continue };
            let Some(version) = versions.known(count.source) else { continue };
            let writers = versions.all[version].writers.iter();
            // Its own count sizes only what the node itself writes.
            for writer in writers.filter(|writer| writer.leaf != leaf) {
                let wait = Wait { from: writer.leaf, to: leaf, reason: Reason::Await, version };
                places.entry(wait).or_insert_with(|| found.tree.leaf_node(leaf).0.span);
            }
        }
    }
}

/// Whoever uses anything of a node whose status word is awaited waits for the verdict.
fn await_checks(found: &Found, versions: &Versions, places: &mut Places) {
    let mut stopped: BTreeSet<(VersionId, LeafId)> = BTreeSet::new();
    for (scope, placed) in found.tree.scopes.iter().enumerate() {
        for (index, (_, decl)) in placed.graph.file.checks.iter().enumerate() {
            let Some(wire) = found.wires.checks[scope][index].filter(|_| decl.awaited) else { continue };
            let Some(version) = versions.known(wire.source) else { continue };
            stopped.extend(versions.all[version].writers.iter().map(|writer| (version, writer.leaf)));
        }
    }
    for (version, leaf) in stopped {
        let writers = &versions.all[version].writers;
        let after = versions.ports[leaf].iter().filter_map(|around| around.after);
        for reader in after.flat_map(|after| &versions.all[after].readers) {
            if !writers.iter().any(|writer| writer.leaf == reader.leaf) {
                let wait = Wait { from: leaf, to: reader.leaf, reason: Reason::Await, version };
                places.entry(wait).or_insert_with(|| found.wire_place(reader.leaf, reader.port));
            }
        }
    }
}

/// Reports the shortest circle among leaves that wait for one another.
fn report_circle(
    found: &Found,
    versions: &Versions,
    leaves: &BTreeSet<LeafId>,
    waits: &[Wait],
    places: &Places,
    diagnostics: &mut Diagnostics,
) {
    let inner: Vec<&Wait> =
        waits.iter().filter(|w| leaves.contains(&w.from) && leaves.contains(&w.to)).collect();
    let circles = leaves.iter().filter_map(|leaf| shortest_circle(*leaf, &inner));
    let name = |leaf: LeafId| found.tree.leaves[leaf].name.as_str();
    let Some(circle) = circles.min_by_key(|circle| (circle.len(), name(circle[0].from).to_string())) else {
        return;
    };
    let mut names: Vec<&str> = circle.iter().map(|wait| name(wait.from)).collect();
    names.push(names[0]);
    let mut labels: Vec<(Span, String)> = circle
        .iter()
        .map(|wait| {
            let value = versions.name(found, wait.version);
            (places[*wait], sentence(wait.reason, name(wait.from), name(wait.to), &value))
        })
        .collect();
    labels.sort();
    let (first, text) = labels.remove(0);
    let mut error =
        Diagnostic::at(first, format!("nodes wait for one another: {}", names.join(" -> "))).label(text);
    for (place, text) in labels {
        error = error.also(place, text);
    }
    diagnostics.push(error);
}

/// The shortest way from a leaf back to itself.
fn shortest_circle<'w>(start: LeafId, waits: &[&'w Wait]) -> Option<Vec<&'w Wait>> {
    let mut reached: HashMap<LeafId, &'w Wait> = HashMap::new();
    let mut pending = VecDeque::from([start]);
    while let Some(leaf) = pending.pop_front() {
        for wait in waits.iter().copied().filter(|wait| wait.from == leaf) {
            if wait.to == start {
                let mut circle = vec![wait];
                let mut at = leaf;
                while at != start {
                    circle.push(reached[&at]);
                    at = reached[&at].from;
                }
                circle.reverse();
                return Some(circle);
            }
            if let std::collections::hash_map::Entry::Vacant(entry) = reached.entry(wait.to) {
                entry.insert(wait);
                pending.push_back(wait.to);
            }
        }
    }
    None
}
