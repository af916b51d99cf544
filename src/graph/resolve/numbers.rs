//! Binds symbols: every expression of every file becomes one over the root's symbols and the flat counts.
//!
//! Knows names of numbers and nothing of what they measure.

use std::collections::{BTreeMap, HashMap};

use super::super::diagnostic::{Diagnostic, Diagnostics};
use super::super::document::{Span, Spanned};
use super::super::expr::Expr;
use super::super::source::SourceMap;
use super::tree::{LeafId, Member, ScopeId, Tree};
use super::wires::{Source, Wires};

/// How large an expression may grow by substitution, in literals, names and operations.
const SIZE_MAX: usize = 4096;

/// Through how many other names a name may be defined.
const DEPTH_MAX: usize = 200;

/// A count of the flat graph.
pub struct FlatCount {
    /// Its flat name.
    pub name: String,
    /// The graph that declares it, and which of its counts it is.
    pub scope: ScopeId,
    /// See `scope`.
    pub index: usize,
    /// Where its number comes from.
    pub source: Source,
    /// Whether this graph or one inside it, which counts the same number, awaits it.
    pub awaited: bool,
}

/// The numbers of a leaf.
#[derive(Clone, Debug, Default)]
pub struct LeafNumbers {
    /// What each symbol of the pass stands for; none where that is an error.
    pub bind: Vec<Option<Expr>>,
    /// The pipeline constants.
    pub overrides: Vec<(String, u32)>,
    /// Invocations of a workgroup with those; 0 for a pass without a shader.
    pub group_size: u64,
}

/// Every number of every scope, worked out when it is first asked for.
pub struct Numbers<'a> {
    tree: &'a Tree,
    sources: &'a SourceMap,
    /// The counts of the flat graph; several that count the same element of the same value are one.
    pub counts: Vec<FlatCount>,
    /// By scope and index of a count: the flat count.
    flat_count: BTreeMap<(ScopeId, usize), usize>,
    known: HashMap<(ScopeId, String), Known>,
    /// How many names are being worked out.
    depth: usize,
}

#[derive(Clone)]
enum Known {
    /// Being worked out: asking again means a circle.
    Pending,
    Done(Option<Expr>),
}

impl<'a> Numbers<'a> {
    /// Names the counts.
    pub fn new(tree: &'a Tree, sources: &'a SourceMap, wires: &Wires) -> Numbers<'a> {
        let mut same: BTreeMap<(Source, u32), Vec<(ScopeId, usize)>> = BTreeMap::new();
        for (scope, counts) in wires.counts.iter().enumerate() {
            for (index, wire) in counts.iter().enumerate() {
                if let Some(wire) = wire {
                    let element = tree.file(scope).counts[index].1.element;
                    same.entry((wire.source, element)).or_default().push((scope, index));
                }
            }
        }
        let mut numbers = Numbers {
            tree,
            sources,
            counts: Vec::new(),
            flat_count: BTreeMap::new(),
            known: HashMap::new(),
            depth: 0,
        };
        for ((source, _), declared) in same {
            numbers.name_count(source, &declared);
        }
        numbers
    }

    /// Makes one flat count of several declarations of the same number: the outermost names it and says its maximum.
    fn name_count(&mut self, source: Source, declared: &[(ScopeId, usize)]) {
        let rank = |&(scope, index): &(ScopeId, usize)| {
            let name = &self.tree.file(scope).counts[index].0.value;
            (self.tree.depth(scope), self.tree.flat_name(scope, name))
        };
        let Some(&(scope, index)) = declared.iter().min_by_key(|count| rank(count)) else { return };
        let (_, name) = rank(&(scope, index));
        let awaited = declared.iter().any(|&(scope, index)| self.tree.file(scope).counts[index].1.awaited);
        for count in declared {
            self.flat_count.insert(*count, self.counts.len());
        }
        self.counts.push(FlatCount { name, scope, index, source, awaited });
    }

    /// A flat count by its flat name.
    pub fn count(&self, name: &str) -> Option<&FlatCount> {
        self.counts.iter().find(|count| count.name == name)
    }

    /// An expression of a graph file over the flat names. Names that stand for nothing are reported.
    pub fn flatten(
        &mut self,
        scope: ScopeId,
        expr: &Expr,
        at: Span,
        diagnostics: &mut Diagnostics,
    ) -> Option<Expr> {
        let mut replaced: HashMap<String, Expr> = HashMap::new();
        let mut complete = true;
        for name in expr.symbols() {
            if replaced.contains_key(name) {
                continue;
            }
            match self.number(scope, name, at, diagnostics) {
                Some(number) => drop(replaced.insert(name.to_string(), number)),
                None => complete = false,
            }
        }
        if !complete {
            return None;
        }
        substitute(expr, &replaced).or_else(|| {
            diagnostics.push(
                Diagnostic::at(at, "this expression grows too large")
                    .label(format!("more than {SIZE_MAX} parts, with the names in it written out")),
            );
            None
        })
    }

    /// What `name`, mentioned at `at` in a scope's file, stands for.
    fn number(
        &mut self,
        scope: ScopeId,
        name: &str,
        at: Span,
        diagnostics: &mut Diagnostics,
    ) -> Option<Expr> {
        let file = self.tree.file(scope);
        let key = (scope, name.to_string());
        match self.known.get(&key) {
            Some(Known::Done(number)) => return number.clone(),
            Some(Known::Pending) => {
                let place = file.lets.iter().find(|(n, _)| n.value == name).map_or(at, |(n, _)| n.span);
                diagnostics.push(
                    Diagnostic::at(place, format!("`{name}` is defined by itself"))
                        .also(self.sources.find_word(at, name), "needed here"),
                );
                return None;
            }
            None => {}
        }
        if self.depth >= DEPTH_MAX {
            diagnostics.push(
                Diagnostic::at(at, "this number is defined through too many others")
                    .label(format!("more than {DEPTH_MAX} names deep")),
            );
            return None;
        }
        self.depth += 1;
        let number = if let Some(count) = file.counts.iter().position(|(n, _)| n.value == name) {
            self.flat_count.get(&(scope, count)).map(|flat| Expr::Symbol(self.counts[*flat].name.clone()))
        } else if let Some((_, expr)) = file.lets.iter().find(|(n, _)| n.value == name) {
            self.known.insert(key.clone(), Known::Pending);
            self.flatten(scope, &expr.value, expr.span, diagnostics)
        } else if file.symbols.iter().any(|(n, _)| n.value == name) {
            self.symbol(scope, name, diagnostics)
        } else if let Some(inner) = self.inner_count(scope, name) {
            Some(Expr::Symbol(inner))
        } else {
            self.unknown(scope, name, at, diagnostics);
            self.depth -= 1;
            return None;
        };
        self.depth -= 1;
        self.known.insert(key, Known::Done(number.clone()));
        number
    }

    /// A symbol of a graph: itself at the root, else what the node that uses the graph binds it to.
    fn symbol(&mut self, scope: ScopeId, name: &str, diagnostics: &mut Diagnostics) -> Option<Expr> {
        let tree = self.tree;
        let Some((parent, node, decl)) = tree.used_at(scope) else {
            return Some(Expr::Symbol(name.to_string()));
        };
        if let Some((_, expr)) = decl.bind.iter().find(|(n, _)| n.value == name) {
            return self.flatten(parent, &expr.value, expr.span, diagnostics);
        }
        if self.has_number(parent, name) {
            return self.number(parent, name, node.span, diagnostics);
        }
        if tree.scopes[parent].graph.excuses(name) || tree.scopes[parent].graph.excuses(&node.value) {
            return None;
        }
        let file = tree.file(scope);
        let declared = file.symbols.iter().find(|(n, _)| n.value == name).map(|(n, _)| n.span);
        diagnostics.push(unbound(node, name, &format!("graph `{}`", file.name.value), declared));
        None
    }

    /// `keep/total`: a count of a graph that a node of this scope uses.
    fn inner_count(&self, scope: ScopeId, name: &str) -> Option<String> {
        let (node, rest) = name.split_once('/')?;
        let index = self.tree.file(scope).nodes.iter().position(|(n, _)| n.value == node)?;
        let Member::Scope(used) = self.tree.scopes[scope].members[index] else { return None };
        match self.tree.file(used).counts.iter().position(|(n, _)| n.value == rest) {
            Some(count) => self.flat_count.get(&(used, count)).map(|flat| self.counts[*flat].name.clone()),
            None => self.inner_count(used, rest),
        }
    }

    /// Whether a scope's file gives a number this name.
    fn has_number(&self, scope: ScopeId, name: &str) -> bool {
        let file = self.tree.file(scope);
        file.symbols.iter().any(|(n, _)| n.value == name)
            || file.lets.iter().any(|(n, _)| n.value == name)
            || file.counts.iter().any(|(n, _)| n.value == name)
    }

    fn unknown(&self, scope: ScopeId, name: &str, at: Span, diagnostics: &mut Diagnostics) {
        if self.tree.scopes[scope].graph.excuses(name) {
            return;
        }
        let file = self.tree.file(scope);
        let error = Diagnostic::at(self.sources.find_word(at, name), format!("there is no number `{name}`"));
        if let Some(&removed) = self.tree.scopes[scope].graph.removed.get(name) {
            diagnostics.push(error.also(removed, "removed here"));
            return;
        }
        let names = file.symbols.iter().map(|(n, _)| n).chain(file.lets.iter().map(|(n, _)| n));
        let names = names.chain(file.counts.iter().map(|(n, _)| n)).map(|n| n.value.as_str());
        diagnostics.push(error.label("neither a symbol, a `let` nor a count").suggest(name, names));
    }

    /// What the symbols and overrides of a leaf's pass stand for.
    pub fn leaf(&mut self, leaf: LeafId, diagnostics: &mut Diagnostics) -> LeafNumbers {
        let tree = self.tree;
        let scope = tree.leaves[leaf].scope;
        let pass = &tree.leaves[leaf].pass;
        let (node, decl) = tree.leaf_node(leaf);
        for (name, _) in &decl.bind {
            let symbols = || pass.file.symbols.iter().map(|(n, _)| n.value.as_str());
            if !symbols().any(|n| n == name.value) && !pass.file.damaged.contains(&name.value) {
                diagnostics.push(
                    Diagnostic::at(
                        name.span,
                        format!("pass `{}` has no symbol `{}`", pass.name(), name.value),
                    )
                    .also(pass.file.name.span, "the pass")
                    .suggest(&name.value, symbols()),
                );
            }
        }
        let mut bind = Vec::with_capacity(pass.file.symbols.len());
        for (symbol, _) in &pass.file.symbols {
            let given = decl.bind.iter().find(|(n, _)| n.value == symbol.value);
            bind.push(if let Some((_, expr)) = given {
                self.flatten(scope, &expr.value, expr.span, diagnostics)
            } else if self.has_number(scope, &symbol.value) {
                self.number(scope, &symbol.value, node.span, diagnostics)
            } else {
                let graph = &tree.scopes[scope].graph;
                if !graph.excuses(&symbol.value) && !graph.excuses(&node.value) {
                    let of = format!("pass `{}`", pass.name());
                    diagnostics.push(unbound(node, &symbol.value, &of, Some(symbol.span)));
                }
                None
            });
        }
        let overrides = self.overrides(leaf, diagnostics);
        let group_size = self.group_size(leaf, &overrides, diagnostics);
        LeafNumbers { bind, overrides, group_size }
    }

    fn overrides(&self, leaf: LeafId, diagnostics: &mut Diagnostics) -> Vec<(String, u32)> {
        let pass = &self.tree.leaves[leaf].pass;
        let (_, decl) = self.tree.leaf_node(leaf);
        let names = || pass.file.overrides.iter().map(|(n, _)| n.value.as_str());
        for (name, _) in &decl.overrides {
            if !names().any(|n| n == name.value) && !pass.file.damaged.contains(&name.value) {
                diagnostics.push(
                    Diagnostic::at(
                        name.span,
                        format!("pass `{}` has no override `{}`", pass.name(), name.value),
                    )
                    .also(pass.file.name.span, "the pass")
                    .suggest(&name.value, names()),
                );
            }
        }
        let own = |name: &str| decl.overrides.iter().find(|(n, _)| n.value == name).map(|(_, v)| v.value);
        let all = pass.file.overrides.iter();
        all.map(|(n, default)| (n.value.clone(), own(&n.value).unwrap_or(default.value))).collect()
    }

    /// Invocations of a workgroup. Overrides of a node may leave its shader none.
    fn group_size(&self, leaf: LeafId, overrides: &[(String, u32)], diagnostics: &mut Diagnostics) -> u64 {
        let pass = &self.tree.leaves[leaf].pass;
        let (_, decl) = self.tree.leaf_node(leaf);
        let Some(kernel) = &pass.kernel else { return 0 };
        let Some((first, _)) = decl.overrides.first() else { return kernel.group_size };
        let overrides = overrides.iter().map(|(name, number)| (name.as_str(), *number));
        match kernel.shader.workgroup_invocations(overrides) {
            Ok(invocations) => invocations,
            Err(reason) => {
                let message = format!(
                    "with these overrides the shader of pass `{}` cannot be used: {reason}",
                    pass.name()
                );
                diagnostics.push(Diagnostic::at(first.span, message).also(pass.file.name.span, "the pass"));
                0
            }
        }
    }

    /// Reports symbols bound and overrides given at a node that its graph does not have.
    pub fn check_use(&self, used: ScopeId, diagnostics: &mut Diagnostics) {
        let Some((_, _, decl)) = self.tree.used_at(used) else { return };
        let file = self.tree.file(used);
        for (name, _) in &decl.bind {
            let symbols = || file.symbols.iter().map(|(n, _)| n.value.as_str());
            if !symbols().any(|n| n == name.value) && !self.tree.scopes[used].graph.excuses(&name.value) {
                diagnostics.push(
                    Diagnostic::at(
                        name.span,
                        format!("graph `{}` has no symbol `{}`", file.name.value, name.value),
                    )
                    .also(file.name.span, "the graph")
                    .suggest(&name.value, symbols()),
                );
            }
        }
        if let Some((name, _)) = decl.overrides.first() {
            diagnostics.push(
                Diagnostic::at(name.span, "a graph has no overrides")
                    .also(file.name.span, "the graph")
                    .help("give overrides to the nodes of a graph of your own that extends it"),
            );
        }
    }
}

fn unbound(node: &Spanned<String>, symbol: &str, of: &str, declared: Option<Span>) -> Diagnostic {
    let error = Diagnostic::at(node.span, format!("node `{}` does not bind `{symbol}`", node.value))
        .label(format!("{of} needs it, and no number here has that name"))
        .help(format!("add `bind: {{{symbol}: ...}}`"));
    match declared {
        Some(span) => error.also(span, "declared here"),
        None => error,
    }
}

impl LeafNumbers {
    /// An expression of the leaf's pass over the flat names; `step` stays. None if a symbol in it is not known.
    pub fn in_pass(&self, pass: &super::super::pass::Pass, expr: &Expr) -> Option<Expr> {
        let mut replaced = HashMap::new();
        for name in expr.symbols() {
            if let Some(index) = pass.file.symbols.iter().position(|(n, _)| n.value == name) {
                replaced.insert(name.to_string(), self.bind[index].clone()?);
            } else if let Some((_, value)) = self.overrides.iter().find(|(n, _)| n == name) {
                replaced.insert(name.to_string(), Expr::Num(u64::from(*value)));
            }
        }
        substitute(expr, &replaced)
    }
}

/// The expression with names replaced; none if it would grow past [`SIZE_MAX`].
fn substitute(expr: &Expr, replaced: &HashMap<String, Expr>) -> Option<Expr> {
    let grown: usize = expr.symbols().map(|name| replaced.get(name).map_or(1, Expr::size)).sum();
    (expr.size().saturating_add(grown) <= SIZE_MAX)
        .then(|| expr.substitute(&|name| replaced.get(name).cloned()))
}
