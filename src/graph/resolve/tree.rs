//! Flattens subgraphs: every graph that is placed becomes a scope, every pass that is placed a leaf.
//!
//! Names of passes and graphs are looked up here. What is wired to what is none of this phase's business.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::diagnostic::{Diagnostic, Diagnostics};
use super::super::document::{FileId, GraphFile, NodeDecl, Placed, Span, Spanned};
use super::super::load::Loader;
use super::super::overlay::{Composed, compose};
use super::super::pass::Pass;

/// How many passes a graph may place in all, and how many graphs.
const PLACED_MAX: usize = 10_000;

/// How deeply graphs may use one another.
const DEPTH_MAX: usize = 64;

/// Index of a scope; 0 is the graph that is resolved.
pub type ScopeId = usize;

/// Index of a leaf.
pub type LeafId = usize;

/// A graph, placed.
pub struct Scope {
    /// The scope that uses it and the index of the node there; none for the root.
    pub parent: Option<(ScopeId, usize)>,
    /// What its nodes' names begin with: empty, or `keep_scan/`.
    pub prefix: String,
    /// The graph.
    pub graph: Arc<Composed>,
    /// What each of its nodes became.
    pub members: Vec<Member>,
}

/// What a node of a graph file became.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// A pass.
    Leaf(LeafId),
    /// A used graph.
    Scope(ScopeId),
    /// Something that could not be found or read.
    Broken,
}

/// A pass, placed.
pub struct Leaf {
    /// The graph it is a node of.
    pub scope: ScopeId,
    /// Which one.
    pub node: usize,
    /// Its flat name: `keep_scan/tiles`.
    pub name: String,
    /// The pass.
    pub pass: Arc<Pass>,
}

/// Everything that is placed.
pub struct Tree {
    /// The graphs, parents first.
    pub scopes: Vec<Scope>,
    /// The passes.
    pub leaves: Vec<Leaf>,
}

impl Tree {
    /// The sections of a scope's graph.
    pub fn file(&self, scope: ScopeId) -> &GraphFile {
        &self.scopes[scope].graph.file
    }

    /// A node by scope and index.
    pub fn node(&self, scope: ScopeId, node: usize) -> (&Spanned<String>, &NodeDecl) {
        let (name, decl) = &self.file(scope).nodes[node];
        (name, decl)
    }

    /// What a leaf's graph file says about it.
    pub fn leaf_node(&self, leaf: LeafId) -> (&Spanned<String>, &NodeDecl) {
        let leaf = &self.leaves[leaf];
        self.node(leaf.scope, leaf.node)
    }

    /// Where a scope is used; none for the root.
    pub fn used_at(&self, scope: ScopeId) -> Option<(ScopeId, &Spanned<String>, &NodeDecl)> {
        let (parent, node) = self.scopes[scope].parent?;
        let (name, decl) = self.node(parent, node);
        Some((parent, name, decl))
    }

    /// The label of the stage a leaf belongs to: its own, else that of the innermost graph around it that has one.
    pub fn stage(&self, leaf: LeafId) -> Option<&str> {
        let (_, decl) = self.leaf_node(leaf);
        let around = std::iter::successors(self.used_at(self.leaves[leaf].scope), |(scope, _, _)| {
            self.used_at(*scope)
        });
        let mut labels = std::iter::once(decl)
            .chain(around.map(|(_, _, decl)| decl))
            .filter_map(|decl| decl.stage.as_ref());
        labels.next().map(|label| label.value.as_str())
    }

    /// How many graphs lie around a scope.
    pub fn depth(&self, scope: ScopeId) -> usize {
        std::iter::successors(Some(scope), |s| self.scopes[*s].parent.map(|(parent, _)| parent)).count() - 1
    }

    /// `name` in `scope` as the flat graph calls it.
    pub fn flat_name(&self, scope: ScopeId, name: &str) -> String {
        format!("{}{name}", self.scopes[scope].prefix)
    }

    /// The output of a scope by name.
    pub fn output_index(&self, scope: ScopeId, name: &str) -> Option<usize> {
        self.file(scope).outputs.iter().position(|(output, _)| output.value == name)
    }

    /// A port of a leaf for messages: its name, and where the pass declares it.
    pub fn port(&self, leaf: LeafId, port: usize) -> (&str, Span) {
        let (name, _) = &self.leaves[leaf].pass.file.ports[port];
        (&name.value, name.span)
    }
}

/// Flattens `root` and everything it uses.
pub fn build(root: Composed, loader: &mut Loader, diagnostics: &mut Diagnostics) -> Tree {
    let mut builder = Builder {
        loader,
        diagnostics,
        composed: HashMap::new(),
        within: Vec::new(),
        tree: Tree { scopes: Vec::new(), leaves: Vec::new() },
        full: false,
    };
    builder.place_graph(None, String::new(), Arc::new(root));
    builder.tree
}

struct Builder<'a> {
    loader: &'a mut Loader,
    diagnostics: &'a mut Diagnostics,
    /// Used graphs with what they extend, by file: each is composed once.
    composed: HashMap<FileId, Arc<Composed>>,
    /// The heads of the graphs around the one that is being placed, itself included.
    within: Vec<Spanned<String>>,
    tree: Tree,
    /// Whether the limit was reported.
    full: bool,
}

impl Builder<'_> {
    fn place_graph(
        &mut self,
        parent: Option<(ScopeId, usize)>,
        prefix: String,
        graph: Arc<Composed>,
    ) -> ScopeId {
        let scope = self.tree.scopes.len();
        self.within.push(graph.file.name.clone());
        self.tree.scopes.push(Scope { parent, prefix, graph: Arc::clone(&graph), members: Vec::new() });
        for (node, (name, decl)) in graph.file.nodes.iter().enumerate() {
            let member = match &decl.placed {
                Placed::Pass(pass) => self.place_pass(scope, node, name, pass),
                Placed::Use(used) => self.place_used(scope, node, name, used),
            };
            self.tree.scopes[scope].members.push(member);
        }
        self.within.pop();
        scope
    }

    fn place_pass(
        &mut self,
        scope: ScopeId,
        node: usize,
        name: &Spanned<String>,
        pass: &Spanned<String>,
    ) -> Member {
        let Some(pass) = self.loader.pass(pass, self.diagnostics) else { return Member::Broken };
        if !self.has_room(name) {
            return Member::Broken;
        }
        let name = self.tree.flat_name(scope, &name.value);
        self.tree.leaves.push(Leaf { scope, node, name, pass });
        Member::Leaf(self.tree.leaves.len() - 1)
    }

    fn place_used(
        &mut self,
        scope: ScopeId,
        node: usize,
        name: &Spanned<String>,
        used: &Spanned<String>,
    ) -> Member {
        let Some(graph) = self.loader.graph(used, self.diagnostics) else { return Member::Broken };
        if graph.overlay {
            self.diagnostics.push(
                Diagnostic::at(used.span, format!("`{}` is an overlay, not a graph", used.value))
                    .label("used here")
                    .also(graph.name.span, "declared as an overlay here")
                    .help("an overlay changes a graph that names it under `with`"),
            );
            return Member::Broken;
        }
        let file = graph.name.span.file;
        if let Some(start) = self.within.iter().position(|head| head.span.file == file) {
            let mut names: Vec<&str> = self.within[start..].iter().map(|head| head.value.as_str()).collect();
            names.push(&graph.name.value);
            self.diagnostics.push(
                Diagnostic::at(used.span, "a graph uses itself")
                    .label(format!("this closes the circle {}", names.join(" -> "))),
            );
            return Member::Broken;
        }
        if self.within.len() >= DEPTH_MAX {
            self.diagnostics.push(
                Diagnostic::at(used.span, format!("more than {DEPTH_MAX} graphs use one another"))
                    .label("the next one is used here"),
            );
            return Member::Broken;
        }
        if !self.has_room(name) {
            return Member::Broken;
        }
        let composed = match self.composed.get(&file) {
            Some(composed) => Arc::clone(composed),
            None => {
                let composed = Arc::new(compose(&graph, self.loader, self.diagnostics));
                self.composed.insert(file, Arc::clone(&composed));
                composed
            }
        };
        let prefix = format!("{}/", self.tree.flat_name(scope, &name.value));
        Member::Scope(self.place_graph(Some((scope, node)), prefix, composed))
    }

    fn has_room(&mut self, name: &Spanned<String>) -> bool {
        let room = self.tree.leaves.len() < PLACED_MAX && self.tree.scopes.len() < PLACED_MAX;
        if !room && !self.full {
            self.full = true;
            self.diagnostics.push(
                Diagnostic::at(name.span, format!("the graph has more than {PLACED_MAX} nodes"))
                    .label("the first one too many"),
            );
        }
        room
    }
}
