//! Puts the resolved graph together. Whatever could be wrong has been reported: here nothing is checked any more.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};

use petgraph::graph::{DiGraph, NodeIndex};

use super::super::diagnostic::Diagnostics;
use super::super::document::{Codes, Grid};
use super::super::expr::Expr;
use super::super::load::Loader;
use super::super::model::{
    Binding, Buffer, BufferId, Check, Count, DeclaredType, Edge, ElementType, Graph, GridExpr, Input, Node,
    NodeId, Origin, Output, Symbol, Value, ValueId,
};
use super::super::types::Types as Declared;
use super::order::Order;
use super::tree::LeafId;
use super::types::{Types, number_type};
use super::versions::{Found, Made, VersionId, Versions};
use super::wires::{Local, Source, Wire};

/// Puts the graph together, without its identity. None only if an earlier phase let an error pass.
pub fn assemble(
    found: &Found,
    types: &mut Types,
    versions: &Versions,
    order: &Order,
    loader: &mut Loader,
    declared: &Declared,
) -> Option<Graph> {
    let mut nodes_of = HashMap::new();
    for (index, leaf) in order.leaves.iter().enumerate() {
        nodes_of.insert(*leaf, NodeId(index as u32));
    }
    let mut assembler = Assembler {
        found,
        types,
        versions,
        order,
        nodes_of,
        values_of: BTreeMap::new(),
        ignored: Diagnostics::new(),
    };
    assembler.number_values();
    let values = assembler.values()?;
    let file = found.tree.file(0);
    let mut nodes = Vec::with_capacity(order.leaves.len());
    for leaf in &order.leaves {
        nodes.push(assembler.node(*leaf, loader)?);
    }
    let segments = nodes.iter().map(|node| node.segment + 1).max().unwrap_or(0);
    let mut graph = Graph {
        name: file.name.value.clone(),
        doc: file.doc.clone(),
        symbols: file
            .symbols
            .iter()
            .map(|(n, doc)| Symbol { name: n.value.clone(), doc: doc.clone() })
            .collect(),
        bounds: found.facts.bounds.clone(),
        types: Vec::new(),
        generics: file
            .generics
            .iter()
            .map(|(name, layout)| ElementType { name: name.value.clone(), layout: layout.value })
            .collect(),
        buffers: buffers(&values),
        inputs: assembler.inputs()?,
        counts: assembler.counts()?,
        checks: assembler.checks()?,
        outputs: assembler.outputs(&values)?,
        segments,
        dag: assembler.dag(),
        nodes,
        values,
        identity: String::new(),
    };
    graph.types = graph_types(found, declared, &graph);
    sort(&mut graph);
    Some(graph)
}

struct Assembler<'a, 'n> {
    found: &'a Found<'a>,
    types: &'a mut Types<'n>,
    versions: &'a Versions,
    order: &'a Order,
    nodes_of: HashMap<LeafId, NodeId>,
    values_of: BTreeMap<VersionId, ValueId>,
    /// Types were all looked up before, with their errors.
    ignored: Diagnostics,
}

impl Assembler<'_, '_> {
    /// Values in order: inputs and constants by name, then what nodes write, in the order of the nodes.
    fn number_values(&mut self) {
        let mut keys: Vec<((usize, usize, String), VersionId)> = Vec::new();
        for (version, all) in self.versions.all.iter().enumerate() {
            let name = self.versions.name(self.found, version);
            let used = !all.readers.is_empty() || !all.writers.is_empty();
            let key = match all.made {
                Made::By(Source::Input(_)) => (0, 0, name),
                Made::By(Source::Constant(_)) if used => (1, 0, name),
                _ if used => {
                    let node = |leaf| self.nodes_of.get(leaf).map_or(usize::MAX, |node| node.0 as usize);
                    let first = all.writers.iter().map(|w| node(&w.leaf)).min().unwrap_or(usize::MAX);
                    (2, first, name)
                }
                _ => continue,
            };
            keys.push((key, version));
        }
        keys.sort();
        self.values_of = keys.iter().enumerate().map(|(id, (_, v))| (*v, ValueId(id as u32))).collect();
    }

    fn values(&mut self) -> Option<Vec<Value>> {
        let mut numbered: Vec<(ValueId, VersionId)> =
            self.values_of.iter().map(|(v, id)| (*id, *v)).collect();
        numbered.sort();
        let mut values: Vec<Value> = Vec::with_capacity(numbered.len());
        let mut buffers = 0;
        for (_, version) in numbered {
            let all = &self.versions.all[version];
            let previous = all.previous.and_then(|previous| self.values_of.get(&previous).copied());
            let buffer = match previous {
                Some(previous) => values.get(previous.0 as usize)?.buffer,
                None => {
                    buffers += 1;
                    BufferId(buffers - 1)
                }
            };
            let nodes = |leaves: BTreeSet<LeafId>| {
                let mut nodes: Vec<NodeId> =
                    leaves.iter().filter_map(|l| self.nodes_of.get(l).copied()).collect();
                nodes.sort();
                nodes
            };
            let writers = nodes(all.writers.iter().map(|port| port.leaf).collect());
            let readers = nodes(all.readers.iter().map(|port| port.leaf).collect());
            let (element, len) = self.shape(version)?;
            let origin = match all.made {
                Made::By(Source::Input(_)) => Origin::Input(0),
                Made::By(Source::Constant(constant)) => {
                    Origin::Constant(self.found.measures.constants[constant].clone()?)
                }
                _ => Origin::Nodes(writers.into()),
            };
            let name = self.versions.name(self.found, version);
            values.push(Value { name, element, len, buffer, origin, previous, readers: readers.into() });
        }
        Some(values)
    }

    /// The element type and length of a version.
    fn shape(&mut self, version: VersionId) -> Option<(ElementType, Expr)> {
        let all = &self.versions.all[version];
        let source = match all.made {
            Made::By(source) => source,
            Made::Accumulated(_) => all.writers.first().map(|port| Source::Port(port.leaf, port.port))?,
        };
        let measures = self.found.measures;
        Some(match source {
            Source::Constant(_) => (number_type(), Expr::Num(1)),
            Source::Input(input) => {
                let element = self.types.of(Local::Input(0, input), &mut self.ignored)?;
                (element, measures.inputs_of_root[input].clone()?)
            }
            Source::Join(scope, join) => {
                let element = self.types.of(Local::Join(scope, join), &mut self.ignored)?;
                (element, measures.joins[scope][join].clone()?)
            }
            Source::Port(leaf, port) => {
                let pass = &self.found.tree.leaves[leaf].pass;
                let len = measures.leaves[leaf].in_pass(pass, &pass.port(port).len.value)?;
                (self.types.of_port(leaf, port, &mut self.ignored)?, len)
            }
        })
    }

    fn node(&mut self, leaf: LeafId, loader: &mut Loader) -> Option<Node> {
        let placed = &self.found.tree.leaves[leaf];
        let pass = &placed.pass;
        let numbers = &self.found.measures.leaves[leaf];
        let in_pass = |expr: &Expr| numbers.in_pass(pass, expr);
        let bind = pass.file.symbols.iter().zip(&numbers.bind);
        let bind =
            bind.map(|((name, _), expr)| Some((name.value.clone(), expr.clone()?))).collect::<Option<_>>()?;
        let generics = self.types.leaf_generics(leaf, &mut self.ignored);
        let generics = pass.file.generics.iter().zip(generics);
        let generics = generics
            .map(|((name, _), element)| Some((name.value.clone(), element?)))
            .collect::<Option<_>>()?;
        let grid = match &pass.file.grid {
            Some(Grid::Threads(expr)) => GridExpr::Threads(in_pass(&expr.value)?),
            Some(Grid::Groups(expr)) => GridExpr::Groups(in_pass(&expr.value)?),
            None => GridExpr::Host,
        };
        let traffic = match &pass.file.traffic {
            Some(traffic) => Some((in_pass(&traffic.read.value)?, in_pass(&traffic.write.value)?)),
            None => None,
        };
        let steps = pass.file.steps.as_ref();
        Some(Node {
            name: placed.name.clone(),
            pass: pass.clone(),
            pass_reference: self.pass_reference(leaf, loader),
            overrides: numbers.overrides.clone(),
            group_size: numbers.group_size,
            bind,
            generics,
            bindings: self.bindings(leaf)?,
            grid,
            steps: steps.map_or(Some(Expr::Num(1)), |steps| in_pass(&steps.value))?,
            traffic,
            stage_label: self.found.tree.stage(leaf).map(str::to_owned),
            segment: self.order.segment[leaf],
        })
    }

    /// The name of a leaf's pass, or a path from the folder of the root's file.
    fn pass_reference(&self, leaf: LeafId, loader: &mut Loader) -> String {
        let pass = self.found.tree.leaves[leaf].pass.source;
        if let Some(name) = loader.library().name_in_root(pass) {
            return name.to_string();
        }
        let root = self.found.tree.file(0).name.span.file;
        let sources = loader.sources();
        relative(Path::new(sources.name(root)), Path::new(sources.name(pass)))
    }

    fn bindings(&self, leaf: LeafId) -> Option<Vec<Binding>> {
        let pass = &self.found.tree.leaves[leaf].pass;
        let numbers = &self.found.measures.leaves[leaf];
        let value =
            |version: Option<VersionId>| version.and_then(|version| self.values_of.get(&version).copied());
        let ports = pass.file.ports.iter().zip(&self.versions.ports[leaf]).enumerate();
        ports
            .map(|(port, ((_, decl), around))| {
                let start = match &decl.at {
                    Some(start) => numbers.in_pass(pass, &start.value)?,
                    None => Expr::Num(0),
                };
                Some(Binding {
                    port,
                    access: decl.access.value,
                    before: value(around.before),
                    after: value(around.after),
                    at: start,
                    len: numbers.in_pass(pass, &decl.len.value)?,
                })
            })
            .collect()
    }

    fn value_of(&self, source: Source) -> Option<ValueId> {
        self.values_of.get(&self.versions.known(source)?).copied()
    }

    fn inputs(&self) -> Option<Vec<Input>> {
        let inputs = self.found.tree.file(0).inputs.iter().enumerate();
        inputs
            .map(|(index, (name, decl))| {
                let value = self.value_of(Source::Input(index))?;
                Some(Input { name: name.value.clone(), value, doc: decl.doc.clone() })
            })
            .collect()
    }

    /// Live counts, each after those that its maximum mentions.
    fn counts(&self) -> Option<Vec<Count>> {
        let mut left: BTreeMap<&str, &Expr> = BTreeMap::new();
        for name in &self.versions.counted {
            left.insert(name, self.found.facts.maxima.get(name)?);
        }
        let mut counts = Vec::new();
        while !left.is_empty() {
            let free = |max: &Expr| !max.symbols().any(|name| left.contains_key(name));
            let next = left.iter().find(|(_, max)| free(max)).map(|(name, max)| (*name, *max));
            let (name, max) = next?;
            left.remove(name);
            let count = self.found.numbers.count(name)?;
            counts.push(Count {
                name: name.to_string(),
                value: self.value_of(count.source)?,
                element: self.found.tree.file(count.scope).counts[count.index].1.element,
                max: max.clone(),
                awaited: count.awaited,
            });
        }
        Some(counts)
    }

    fn checks(&self) -> Option<Vec<Check>> {
        let mut checks = Vec::new();
        for (scope, placed) in self.found.tree.scopes.iter().enumerate() {
            for (index, (name, decl)) in placed.graph.file.checks.iter().enumerate() {
                let wire: Wire = self.found.wires.checks[scope][index]?;
                checks.push(Check {
                    name: self.found.tree.flat_name(scope, &name.value),
                    value: self.value_of(wire.source)?,
                    codes: self.codes(self.versions.known(wire.source)?),
                    awaited: decl.awaited,
                });
            }
        }
        Some(checks)
    }

    /// The codes of everyone who wrote into a status word. Where two say different things with one code, both are said.
    fn codes(&self, version: VersionId) -> Codes {
        let mut unit = String::new();
        let mut texts: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
        let mut current = Some(version);
        while let Some(version) = current {
            let all = &self.versions.all[version];
            for port in &all.writers {
                let Some(codes) = &self.found.tree.leaves[port.leaf].pass.port(port.port).codes else {
                    continue;
                };
                if unit.is_empty() {
                    unit.clone_from(&codes.unit);
                }
                for (code, text) in &codes.texts {
                    let said = texts.entry(*code).or_default();
                    if !said.contains(&text.as_str()) {
                        said.push(text);
                    }
                }
            }
            current = all.previous;
        }
        Codes { unit, texts: texts.into_iter().map(|(code, said)| (code, said.join("; or "))).collect() }
    }

    fn outputs(&self, values: &[Value]) -> Option<Vec<Output>> {
        let outputs = self.found.tree.file(0).outputs.iter().enumerate();
        outputs
            .map(|(index, (name, decl))| {
                let value = self.value_of(self.found.wires.outputs[0][index]?.source)?;
                let len = match &self.found.measures.outputs[index] {
                    Some(len) => len.clone(),
                    None => values[value.0 as usize].len.clone(),
                };
                Some(Output { name: name.value.clone(), value, len, doc: decl.doc.clone() })
            })
            .collect()
    }

    fn dag(&self) -> DiGraph<NodeId, Edge> {
        let mut dag = DiGraph::new();
        for node in 0..self.order.leaves.len() {
            dag.add_node(NodeId(node as u32));
        }
        let index = |leaf: LeafId| self.nodes_of.get(&leaf).map(|node| NodeIndex::new(node.0 as usize));
        let mut edges: Vec<_> = self
            .order
            .waits
            .iter()
            .filter_map(|wait| {
                let value = *self.values_of.get(&wait.version)?;
                Some((index(wait.from)?, index(wait.to)?, wait.reason, value))
            })
            .collect();
        edges.sort();
        for (from, to, reason, value) in edges {
            dag.add_edge(from, to, Edge { reason, value });
        }
        dag
    }
}

/// The versions of each buffer, oldest first. A value comes after the one it replaces.
fn buffers(values: &[Value]) -> Vec<Buffer> {
    let count = values.iter().map(|value| value.buffer.0 + 1).max().unwrap_or(0);
    let mut buffers: Vec<Buffer> = (0..count).map(|_| Buffer { versions: Default::default() }).collect();
    for (id, value) in values.iter().enumerate() {
        buffers[value.buffer.0 as usize].versions.push(ValueId(id as u32));
    }
    buffers
}

/// The types that the graph's own files declare and the flat graph mentions.
fn graph_types(found: &Found, declared: &Declared, graph: &Graph) -> Vec<DeclaredType> {
    let own = found.tree.scopes.iter().flat_map(|scope| &scope.graph.file.types);
    let own: BTreeSet<&str> = own.map(|(name, _)| name.value.as_str()).collect();
    let of_values = graph.values.iter().map(|value| &value.element);
    let of_nodes = graph.nodes.iter().flat_map(|node| node.generics.iter().map(|(_, element)| element));
    let mentioned: BTreeMap<&str, &ElementType> =
        of_values.chain(of_nodes).map(|e| (e.name.as_str(), e)).collect();
    let kept = mentioned.into_iter().filter(|(name, _)| own.contains(name));
    kept.map(|(name, element)| DeclaredType {
        element: element.clone(),
        doc: declared.get(name).map_or(String::new(), |declared| declared.doc.clone()),
    })
    .collect()
}

/// Brings everything with a name into an order that files do not decide.
fn sort(graph: &mut Graph) {
    graph.symbols.sort_by(|a, b| a.name.cmp(&b.name));
    graph.generics.sort_by(|a, b| a.name.cmp(&b.name));
    graph.inputs.sort_by(|a, b| a.name.cmp(&b.name));
    for (index, input) in graph.inputs.iter().enumerate() {
        graph.values[input.value.0 as usize].origin = Origin::Input(index);
    }
    graph.checks.sort_by(|a, b| a.name.cmp(&b.name));
    graph.outputs.sort_by(|a, b| a.name.cmp(&b.name));
}

/// The path `to` as a file beside `from` names it.
fn relative(from: &Path, to: &Path) -> String {
    let plain = |path: &Path| -> Vec<String> {
        let parts = path.components().filter(|part| *part != Component::CurDir);
        parts.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let (from, to) = (plain(from.parent().unwrap_or(Path::new(""))), plain(&to.with_extension("yaml")));
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let mut path: PathBuf = from[common..].iter().map(|_| "..").collect();
    path.extend(&to[common..]);
    let path = path.to_string_lossy().into_owned();
    if path.starts_with("../") { path } else { format!("./{path}") }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::relative;

    #[test]
    fn relative_paths() {
        for (from, to, expected) in [
            ("g.yaml", "p.yaml", "./p.yaml"),
            ("graphs/g.yaml", "passes/p.yaml", "../passes/p.yaml"),
            ("graphs/g.yaml", "./graphs/own/p.yaml", "./own/p.yaml"),
            ("/a/b/g.yaml", "/a/c/p.yaml", "../c/p.yaml"),
        ] {
            assert_eq!(relative(Path::new(from), Path::new(to)), expected);
        }
    }
}
