//! Resolves a graph: from documents to one flat graph, proved free of hazards.
//!
//! The phases, one file each: `tree` flattens subgraphs, `wires` follows wires, `numbers` binds symbols, `facts` collects
//! what is known about them, `types` finds element types, `check` compares lengths and checks counts, status words and
//! params, `versions` finds out who writes what and who is needed, `order` who waits for whom, and `assemble` puts the
//! [`Graph`] together. Each works with what the ones before it could make sense of, so that all errors are reported
//! together.

mod assemble;
mod check;
mod facts;
mod numbers;
mod order;
mod tree;
mod types;
mod versions;
mod wires;

use std::collections::HashMap;
use std::fmt;

use super::diagnostic::{Diagnostic, Diagnostics};
use super::document::{FileId, GraphFile, Span};
use super::identity::identity;
use super::load::{Loader, Shaders};
use super::model::Graph;
use super::overlay::compose;
use super::pass::STEP;
use super::source::{Kind, Library, SourceMap};
use super::types::Types as Declared;
use numbers::Numbers;
use tree::{Member, ScopeId, Tree};
use types::Types;
use versions::{Found, Versions};

/// Why a graph cannot be had: every error of every file, with the texts to show them in.
#[derive(Debug)]
pub struct Rejected {
    /// The errors.
    pub diagnostics: Diagnostics,
    /// The files.
    pub sources: SourceMap,
}

impl std::error::Error for Rejected {}

/// All errors with their places, for people.
impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.diagnostics.render(&self.sources, false).trim_end())
    }
}

impl Graph {
    /// Loads and resolves a graph: a shipped name (`sort/radix`) or the path of a graph file.
    pub fn load(library: Library, graph: &str) -> Result<Graph, Box<Rejected>> {
        let mut diagnostics = Diagnostics::new();
        let mut loader = Loader::new(library, Shaders::Check, &mut diagnostics);
        let resolved = resolve_argument(&mut loader, graph, &mut diagnostics);
        match resolved.filter(|_| diagnostics.is_empty()) {
            Some(graph) => Ok(graph),
            None => Err(Box::new(Rejected { diagnostics, sources: loader.sources().clone() })),
        }
    }
}

/// Resolves what the command line calls `graph`. None if anything is wrong, which is reported.
pub fn resolve_argument(loader: &mut Loader, graph: &str, diagnostics: &mut Diagnostics) -> Option<Graph> {
    let _span = tracing::info_span!("resolve", graph).entered();
    match loader.library().open_argument(Kind::Graph, graph) {
        Ok(file) => resolve(loader, file, diagnostics),
        Err(error) => {
            diagnostics.push(*error);
            None
        }
    }
}

/// Resolves the graph in a file. None if anything is wrong with it or with what it uses; each error is reported by the
/// first resolution that meets it.
pub fn resolve(loader: &mut Loader, file: FileId, diagnostics: &mut Diagnostics) -> Option<Graph> {
    resolve_as(Purpose::Run, loader, file, diagnostics)
}

/// Reports what is wrong with the graph in a file. A graph may be sound and yet not run by itself: one that hands out
/// parts, which the graph that uses it puts together.
pub fn lint(loader: &mut Loader, file: FileId, diagnostics: &mut Diagnostics) {
    resolve_as(Purpose::Lint, loader, file, diagnostics);
}

/// What a graph is resolved for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// To be run by itself.
    Run,
    /// To be run, or to be used by others.
    Lint,
}

fn resolve_as(
    purpose: Purpose,
    loader: &mut Loader,
    file: FileId,
    diagnostics: &mut Diagnostics,
) -> Option<Graph> {
    let document = loader.graph_file(file, diagnostics)?;
    if document.overlay {
        diagnostics.push(
            Diagnostic::at(
                document.name.span,
                format!("`{}` is an overlay, not a graph", document.name.value),
            )
            .help("resolve a graph that names it under `with`"),
        );
        return None;
    }
    let errors_before = diagnostics.len();
    let root = compose(&document, loader, diagnostics);
    let tree = tree::build(root, loader, diagnostics);
    reserve_step(&tree, diagnostics);
    check_flat_names(&tree, diagnostics);
    let declared = visible_types(&tree, loader);
    let wires = wires::follow(&tree, loader.sources(), diagnostics);
    let sources = loader.sources().clone();
    let mut numbers = Numbers::new(&tree, &sources, &wires);
    let facts = facts::Facts::collect(&tree, &mut numbers, diagnostics);
    let mut types = Types::new(&tree, &wires, &declared);
    types.check(&numbers, diagnostics);
    let measures = check::check(&tree, &wires, &mut numbers, &mut types, &facts, purpose, diagnostics);
    let found = Found { tree: &tree, wires: &wires, measures: &measures, numbers: &numbers, facts: &facts };
    let versions = Versions::new(&found);
    versions.check(&found, diagnostics);
    let order = order::order(&found, &versions, diagnostics)?;
    if diagnostics.len() > errors_before || !is_whole(&tree) || purpose == Purpose::Lint {
        return None;
    }
    let Some(mut graph) = assemble::assemble(&found, &mut types, &versions, &order, loader, &declared) else {
        diagnostics.push(
            Diagnostic::at(
                document.name.span,
                "this graph cannot be put together, though nothing was found wrong",
            )
            .note("this is an error in weft"),
        );
        return None;
    };
    graph.identity = identity(&graph);
    Some(graph)
}

/// Whether nothing was left out of the tree because of an error, now or in an earlier resolution.
fn is_whole(tree: &Tree) -> bool {
    tree.scopes.iter().all(|scope| !scope.graph.is_damaged() && !scope.members.contains(&Member::Broken))
}

/// A name with `/` may be written where it is also the name of something inside a used graph.
fn check_flat_names(tree: &Tree, diagnostics: &mut Diagnostics) {
    let mut seen: HashMap<String, (ScopeId, Span)> = HashMap::new();
    for scope in 0..tree.scopes.len() {
        let file = tree.file(scope);
        let nodes = file.nodes.iter().zip(&tree.scopes[scope].members);
        let leaves = nodes.filter(|(_, member)| matches!(member, Member::Leaf(_))).map(|((name, _), _)| name);
        let joins = file.joins.iter().map(|(name, _)| name);
        let counts = file.counts.iter().map(|(name, _)| name);
        let checks = file.checks.iter().map(|(name, _)| name);
        for name in leaves.chain(joins).chain(counts).chain(checks) {
            let flat = tree.flat_name(scope, &name.value);
            // Within one scope this is an error of its file, and reported as such.
            let first = *seen.entry(flat.clone()).or_insert((scope, name.span));
            if first.0 != scope {
                diagnostics.push(
                    Diagnostic::at(name.span, format!("`{flat}` stands for two things in the flat graph"))
                        .also(first.1, "the other one"),
                );
            }
        }
    }
}

/// `step` is what a pass with steps calls the number of its dispatch.
fn reserve_step(tree: &Tree, diagnostics: &mut Diagnostics) {
    let names = |file: &GraphFile| {
        let symbols = file.symbols.iter().map(|(name, _)| name.clone());
        let counts = file.counts.iter().map(|(name, _)| name.clone());
        symbols.chain(file.lets.iter().map(|(name, _)| name.clone())).chain(counts).collect::<Vec<_>>()
    };
    for scope in 0..tree.scopes.len() {
        for name in names(tree.file(scope)).iter().filter(|name| name.value == STEP) {
            diagnostics.push(
                Diagnostic::at(name.span, format!("a number of a graph cannot be called `{STEP}`"))
                    .label("a pass with `steps` counts its dispatches by this name"),
            );
        }
    }
}

/// The types that a graph sees: those that all files see, and those of its own files and passes.
fn visible_types(tree: &Tree, loader: &Loader) -> Declared {
    let mut declared = loader.common_types().clone();
    // Names that are declared twice were reported when their files were loaded.
    let mut reported = Diagnostics::new();
    for leaf in &tree.leaves {
        declared.declare(&leaf.pass.file.types, &mut reported);
    }
    for scope in 0..tree.scopes.len() {
        declared.declare(&tree.file(scope).types, &mut reported);
    }
    declared
}
