//! Applies `extends`, `with` and a file's own sections: from several files to one that stands for itself.
//!
//! The result is again a [`GraphFile`], in which every span still points into the file that said the thing. Passes,
//! types and expressions are none of this module's business: whether a wire leads anywhere is for
//! [`resolve`](super::resolve).

use std::collections::BTreeMap;
use std::sync::Arc;

use super::diagnostic::{Diagnostic, Diagnostics};
use super::document::{GraphFile, Named, Span, Spanned};
use super::load::Loader;

/// How many files `extends` may chain.
const CHAIN_FILES_MAX: usize = 64;

/// A graph with everything it extends, and what got lost on the way.
#[derive(Debug)]
pub struct Composed {
    /// The graph; its `extends`, `with`, `remove`, `replace` and `rewire` are empty.
    pub file: GraphFile,
    /// Names that a file removed and none defined again, and where it says so: for messages about those who miss them.
    pub removed: BTreeMap<String, Span>,
    /// Whether a file it is made of could not be read, so that anything may be missing.
    pub incomplete: bool,
}

impl Composed {
    /// Whether `name` may be missing because of an error that was reported already.
    pub fn excuses(&self, name: &str) -> bool {
        self.incomplete || self.file.damaged.iter().any(|damaged| damaged == name)
    }

    /// Whether anything in its files was left out because of an error.
    pub fn is_damaged(&self) -> bool {
        self.incomplete || !self.file.damaged.is_empty()
    }
}

/// Puts together the graph that `file` describes.
pub fn compose(file: &GraphFile, loader: &mut Loader, diagnostics: &mut Diagnostics) -> Composed {
    compose_chain(file, loader, diagnostics, &mut Vec::new())
}

/// [`compose`], within the chain of files that extend one another, each given by its head.
fn compose_chain(
    file: &GraphFile,
    loader: &mut Loader,
    diagnostics: &mut Diagnostics,
    chain: &mut Vec<Spanned<String>>,
) -> Composed {
    chain.push(file.name.clone());
    let mut composed = match &file.extends {
        Some(name) => base(name, loader, diagnostics, chain),
        None => Composed { incomplete: false, ..nothing(&file.name) },
    };
    for name in &file.with {
        match overlay(name, loader, diagnostics) {
            Some(overlay) => Step::new(&overlay, &mut composed, diagnostics).apply(),
            None => composed.incomplete = true,
        }
    }
    Step::new(file, &mut composed, diagnostics).apply();
    composed.file.name = file.name.clone();
    composed.file.doc = file.doc.clone();
    chain.pop();
    composed
}

/// The graph that a file extends; an empty one if that cannot be had.
fn base(
    name: &Spanned<String>,
    loader: &mut Loader,
    diagnostics: &mut Diagnostics,
    chain: &mut Vec<Spanned<String>>,
) -> Composed {
    let Some(extended) = loader.graph(name, diagnostics) else { return nothing(name) };
    if extended.overlay {
        diagnostics.push(
            Diagnostic::at(name.span, format!("`{}` is an overlay, not a graph", name.value))
                .label("extended here")
                .also(extended.name.span, "declared as an overlay here")
                .help(format!("apply it with `with: [{}]`", name.value)),
        );
        return nothing(name);
    }
    if let Some(start) = chain.iter().position(|head| head.span.file == extended.name.span.file) {
        let mut names: Vec<&str> = chain[start..].iter().map(|head| head.value.as_str()).collect();
        names.push(&extended.name.value);
        diagnostics.push(
            Diagnostic::at(name.span, "a graph extends itself")
                .label(format!("this closes the circle {}", names.join(" -> "))),
        );
        return nothing(name);
    }
    if chain.len() >= CHAIN_FILES_MAX {
        diagnostics.push(
            Diagnostic::at(name.span, format!("more than {CHAIN_FILES_MAX} graphs extend one another"))
                .label("the chain goes on here"),
        );
        return nothing(name);
    }
    compose_chain(&extended, loader, diagnostics, chain)
}

/// The overlay that `with` names.
fn overlay(
    name: &Spanned<String>,
    loader: &mut Loader,
    diagnostics: &mut Diagnostics,
) -> Option<Arc<GraphFile>> {
    let overlay = loader.graph(name, diagnostics)?;
    if !overlay.overlay {
        diagnostics.push(
            Diagnostic::at(name.span, format!("`{}` is a graph, not an overlay", name.value))
                .label("applied here")
                .also(overlay.name.span, "declared as a graph here")
                .help("only overlays are applied with `with`; start from a graph with `extends`"),
        );
        return None;
    }
    for (key, stray) in [("extends", overlay.extends.as_ref()), ("with", overlay.with.first())] {
        if let Some(stray) = stray {
            diagnostics.push(
                Diagnostic::at(stray.span, format!("an overlay has no `{key}`"))
                    .label("only a graph file puts others together"),
            );
        }
    }
    Some(overlay)
}

/// A graph with nothing in it but a name: what stands for one that cannot be had.
fn nothing(name: &Spanned<String>) -> Composed {
    let file = GraphFile {
        name: name.clone(),
        overlay: false,
        doc: String::new(),
        extends: None,
        with: Vec::new(),
        remove: Vec::new(),
        replace: Vec::new(),
        rewire: Vec::new(),
        symbols: Vec::new(),
        lets: Vec::new(),
        require: Vec::new(),
        types: Vec::new(),
        generics: Vec::new(),
        inputs: Vec::new(),
        nodes: Vec::new(),
        joins: Vec::new(),
        counts: Vec::new(),
        checks: Vec::new(),
        outputs: Vec::new(),
        damaged: Vec::new(),
    };
    Composed { file, removed: BTreeMap::new(), incomplete: true }
}

/// What a name in a graph file can stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Symbol,
    Let,
    Type,
    Generic,
    Input,
    Node,
    Join,
    Count,
    Check,
    Output,
}

impl Kind {
    /// With its article, for messages.
    fn text(self) -> &'static str {
        match self {
            Kind::Symbol => "a symbol",
            Kind::Let => "a `let`",
            Kind::Type => "a type",
            Kind::Generic => "a generic",
            Kind::Input => "an input",
            Kind::Node => "a node",
            Kind::Join => "a join",
            Kind::Count => "a count",
            Kind::Check => "a check",
            Kind::Output => "an output",
        }
    }

    /// Whether one name cannot stand for both: wires and numbers and types each have a namespace, and a count is in
    /// the first two.
    fn excludes(self, other: Kind) -> bool {
        use Kind::{Check, Count, Generic, Input, Join, Let, Node, Output, Symbol, Type};
        let both = |kinds: &[Kind]| kinds.contains(&self) && kinds.contains(&other);
        both(&[Input, Node, Join, Count, Check])
            || both(&[Symbol, Let, Count])
            || both(&[Type, Generic])
            || both(&[Output])
    }
}

/// Every name a file defines.
fn definitions(file: &GraphFile) -> Vec<(Kind, &Spanned<String>)> {
    fn of<T>(kind: Kind, named: &Named<T>) -> impl Iterator<Item = (Kind, &Spanned<String>)> {
        named.iter().map(move |(name, _)| (kind, name))
    }
    of(Kind::Symbol, &file.symbols)
        .chain(of(Kind::Let, &file.lets))
        .chain(of(Kind::Type, &file.types))
        .chain(of(Kind::Generic, &file.generics))
        .chain(of(Kind::Input, &file.inputs))
        .chain(of(Kind::Node, &file.nodes))
        .chain(of(Kind::Join, &file.joins))
        .chain(of(Kind::Count, &file.counts))
        .chain(of(Kind::Check, &file.checks))
        .chain(of(Kind::Output, &file.outputs))
        .collect()
}

/// Drops what `gone` says from every section.
fn drop_definitions(file: &mut GraphFile, gone: &dyn Fn(Kind, &str) -> bool) {
    fn from<T>(named: &mut Named<T>, kind: Kind, gone: &dyn Fn(Kind, &str) -> bool) {
        named.retain(|(name, _)| !gone(kind, &name.value));
    }
    from(&mut file.symbols, Kind::Symbol, gone);
    from(&mut file.lets, Kind::Let, gone);
    from(&mut file.types, Kind::Type, gone);
    from(&mut file.generics, Kind::Generic, gone);
    from(&mut file.inputs, Kind::Input, gone);
    from(&mut file.nodes, Kind::Node, gone);
    from(&mut file.joins, Kind::Join, gone);
    from(&mut file.counts, Kind::Count, gone);
    from(&mut file.checks, Kind::Check, gone);
    from(&mut file.outputs, Kind::Output, gone);
}

/// One file's sections, on their way into what came before.
struct Step<'a> {
    section: &'a GraphFile,
    base: &'a mut Composed,
    diagnostics: &'a mut Diagnostics,
    /// Stages of the nodes that it replaces: what takes a node's place stays in its stage.
    stages: BTreeMap<&'a str, Spanned<String>>,
}

impl<'a> Step<'a> {
    fn new(section: &'a GraphFile, base: &'a mut Composed, diagnostics: &'a mut Diagnostics) -> Self {
        Step { section, base, diagnostics, stages: BTreeMap::new() }
    }

    fn apply(mut self) {
        self.check_own_names();
        self.remove();
        self.replace();
        self.rewire();
        self.define();
    }

    /// Within one file a name stands for one thing of a namespace.
    fn check_own_names(&mut self) {
        let own = definitions(self.section);
        for (index, (kind, name)) in own.iter().enumerate() {
            let clash =
                own[..index].iter().find(|(k, n)| k != kind && k.excludes(*kind) && n.value == name.value);
            if let Some((other, first)) = clash {
                self.diagnostics.push(
                    Diagnostic::at(
                        name.span,
                        format!("`{}` is {} and {}", name.value, other.text(), kind.text()),
                    )
                    .label(format!("{} here", kind.text()))
                    .also(first.span, format!("{} here", other.text())),
                );
            }
        }
    }

    fn remove(&mut self) {
        for name in &self.section.remove {
            let known = definitions(&self.base.file);
            if !known.iter().any(|(_, n)| n.value == name.value) {
                self.missing(name, "remove");
                continue;
            }
            drop_definitions(&mut self.base.file, &|_, n| n == name.value);
            self.base.removed.insert(name.value.clone(), name.span);
        }
    }

    fn replace(&mut self) {
        for name in &self.section.replace {
            let kinds: Vec<Kind> = definitions(self.section)
                .iter()
                .filter(|(_, n)| n.value == name.value)
                .map(|(k, _)| *k)
                .collect();
            if kinds.is_empty() && self.section.damaged.contains(&name.value) {
                continue;
            }
            if kinds.is_empty() {
                self.diagnostics.push(
                    Diagnostic::at(
                        name.span,
                        format!("`{}` is to be replaced, but this file does not define it", name.value),
                    )
                    .help("define it anew below, or list it under `remove`"),
                );
                continue;
            }
            let replaced = |kind: Kind, n: &str| n == name.value && kinds.iter().any(|k| k.excludes(kind));
            if !definitions(&self.base.file).iter().any(|(kind, n)| replaced(*kind, &n.value)) {
                self.missing(name, "replace");
                continue;
            }
            let node = self.base.file.nodes.iter().find(|(n, _)| replaced(Kind::Node, &n.value));
            if let Some(stage) = node.and_then(|(_, decl)| decl.stage.clone()) {
                self.stages.insert(&name.value, stage);
            }
            drop_definitions(&mut self.base.file, &replaced);
        }
    }

    /// Reports a name under `remove` or `replace` that is not there.
    fn missing(&mut self, name: &Spanned<String>, verb: &str) {
        if self.base.excuses(&name.value) {
            return;
        }
        let known = definitions(&self.base.file);
        let error = Diagnostic::at(name.span, format!("there is no `{}` to {verb}", name.value))
            .label("not in what came before");
        let error = if let Some(&span) = self.base.removed.get(&name.value) {
            error.also(span, "already removed here")
        } else if known.is_empty() && !self.section.overlay {
            error.help("this graph starts from nothing: it has no `extends`")
        } else {
            error.suggest(&name.value, known.iter().map(|(_, n)| n.value.as_str()))
        };
        self.diagnostics.push(error);
    }

    fn rewire(&mut self) {
        for (node, wires) in &self.section.rewire {
            if let Some((own, _)) = self.section.nodes.iter().find(|(name, _)| name.value == node.value) {
                self.diagnostics.push(
                    Diagnostic::at(
                        node.span,
                        format!("`{}` is rewired by the file that defines it", node.value),
                    )
                    .label("`rewire` changes nodes that stay")
                    .also(own.span, "defined here")
                    .help("put these wires under its `in`"),
                );
                continue;
            }
            let nodes = &self.base.file.nodes;
            let Some(at) = nodes.iter().position(|(name, _)| name.value == node.value) else {
                if self.base.excuses(&node.value) {
                    continue;
                }
                let error = Diagnostic::at(node.span, format!("there is no node `{}` to rewire", node.value))
                    .label("not in what came before");
                self.diagnostics.push(match self.base.removed.get(&node.value) {
                    Some(&span) => error.also(span, "removed here"),
                    None => error.suggest(&node.value, nodes.iter().map(|(n, _)| n.value.as_str())),
                });
                continue;
            };
            let inputs = &mut self.base.file.nodes[at].1.inputs;
            for (port, producer) in wires {
                inputs.retain(|(name, _)| name.value != port.value);
                inputs.push((port.clone(), producer.clone()));
            }
        }
    }

    /// Adds what the file defines. A name that is taken is reported, and stands for the newer thing from here on.
    fn define(&mut self) {
        let known = definitions(&self.base.file);
        let mut taken: Vec<(Kind, String)> = Vec::new();
        for (kind, name) in definitions(self.section) {
            self.base.removed.remove(&name.value);
            for (other, first) in known.iter().filter(|(k, n)| k.excludes(kind) && n.value == name.value) {
                taken.push((*other, name.value.clone()));
                self.diagnostics.push(
                    Diagnostic::at(name.span, format!("`{}` is already {}", name.value, other.text()))
                        .label("defined again here")
                        .also(first.span, "first defined here")
                        .help(format!(
                            "if it is meant to take that one's place, list `{}` under `replace`",
                            name.value
                        )),
                );
            }
        }
        let base = &mut self.base.file;
        drop_definitions(base, &|kind, name| taken.iter().any(|(k, n)| *k == kind && n == name));
        let section = self.section;
        base.symbols.extend_from_slice(&section.symbols);
        base.lets.extend_from_slice(&section.lets);
        base.require.extend_from_slice(&section.require);
        base.types.extend_from_slice(&section.types);
        base.generics.extend_from_slice(&section.generics);
        base.inputs.extend_from_slice(&section.inputs);
        for (name, decl) in &section.nodes {
            let mut decl = decl.clone();
            decl.stage = decl.stage.or_else(|| self.stages.remove(name.value.as_str()));
            base.nodes.push((name.clone(), decl));
        }
        base.joins.extend_from_slice(&section.joins);
        base.counts.extend_from_slice(&section.counts);
        base.checks.extend_from_slice(&section.checks);
        base.outputs.extend_from_slice(&section.outputs);
        base.damaged.extend_from_slice(&section.damaged);
    }
}
