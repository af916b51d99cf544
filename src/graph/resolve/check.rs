//! Lengths, joins, counts, status words and what kernels may be told: everything about single wires and nodes that is
//! not a name or a type.

use std::collections::{BTreeSet, HashSet};

use super::super::diagnostic::{Diagnostic, Diagnostics};
use super::super::document::{Access, Grid, Span, Spanned};
use super::super::expr::{Comparison, Expr, Function, Operator};
use super::super::pass::Pass;
use super::Purpose;
use super::facts::Facts;
use super::numbers::{LeafNumbers, Numbers};
use super::tree::{LeafId, ScopeId, Tree};
use super::types::{NUMBER_LAYOUT, Types};
use super::wires::{Local, Source, Wire, Wires};

/// What the flat graph's nodes and values measure.
#[derive(Default)]
pub struct Measures {
    /// By leaf.
    pub leaves: Vec<LeafNumbers>,
    /// By leaf and port: where its value comes from, `carries` ports that are not wired included.
    pub inputs: Vec<Vec<Option<Source>>>,
    /// Constants over the flat names, those for `carries` ports after those of [`Wires::constants`].
    pub constants: Vec<Option<Expr>>,
    /// By scope and join.
    pub joins: Vec<Vec<Option<Expr>>>,
    /// By input of the root: its length.
    pub inputs_of_root: Vec<Option<Expr>>,
    /// By output of the root: elements handed out, if the file says so.
    pub outputs: Vec<Option<Expr>>,
}

/// Checks everything and works out what later phases need.
pub fn check<'n>(
    tree: &Tree,
    wires: &Wires,
    numbers: &mut Numbers<'n>,
    types: &mut Types<'n>,
    facts: &Facts,
    purpose: Purpose,
    diagnostics: &mut Diagnostics,
) -> Measures {
    let mut checker = Checker {
        purpose,
        tree,
        wires,
        numbers,
        types,
        facts,
        diagnostics,
        measures: Measures::default(),
        reported: HashSet::new(),
    };
    checker.measure();
    checker.lengths();
    for leaf in 0..tree.leaves.len() {
        checker.leaf(leaf);
    }
    for scope in 0..tree.scopes.len() {
        checker.counts(scope);
        checker.checks(scope);
    }
    checker.measures
}

struct Checker<'a, 'n> {
    purpose: Purpose,
    tree: &'a Tree,
    wires: &'a Wires,
    numbers: &'a mut Numbers<'n>,
    types: &'a mut Types<'n>,
    facts: &'a Facts,
    diagnostics: &'a mut Diagnostics,
    measures: Measures,
    /// Places where lengths were found to differ: a graph that is used twice is reported once.
    reported: HashSet<Span>,
}

impl Checker<'_, '_> {
    /// Works out every number that is not a port's.
    fn measure(&mut self) {
        let tree = self.tree;
        for leaf in 0..tree.leaves.len() {
            let numbers = self.numbers.leaf(leaf, self.diagnostics);
            self.measures.leaves.push(numbers);
        }
        for scope in 0..tree.scopes.len() {
            self.numbers.check_use(scope, self.diagnostics);
            let file = tree.file(scope);
            for (_, expr) in &file.lets {
                self.flatten(scope, expr);
            }
            let joins = file.joins.iter().map(|(_, join)| self.flatten(scope, &join.len)).collect();
            self.measures.joins.push(joins);
            let outputs: Vec<Option<Expr>> = file
                .outputs
                .iter()
                .map(|(_, output)| output.len.as_ref().and_then(|len| self.flatten(scope, len)))
                .collect();
            self.output_lengths(scope, &outputs);
            if scope == 0 {
                self.measures.outputs = outputs;
            }
        }
        for (scope, expr) in &self.wires.constants {
            let constant = self.flatten(*scope, expr);
            if let Some(unknown) = constant.as_ref().and_then(|constant| self.unawaited(constant)) {
                self.host_does_not_know(expr.span, "the host uploads this number", &unknown);
            }
            self.measures.constants.push(constant);
        }
    }

    fn flatten(&mut self, scope: ScopeId, expr: &Spanned<Expr>) -> Option<Expr> {
        self.numbers.flatten(scope, &expr.value, expr.span, self.diagnostics)
    }

    /// A count in an expression that the host does not know when it encodes.
    fn unawaited(&self, expr: &Expr) -> Option<String> {
        expr.symbols().find(|name| self.facts.unawaited.contains(*name)).map(str::to_string)
    }

    fn host_does_not_know(&mut self, at: Span, what: &str, count: &str) {
        let error = Diagnostic::at(at, format!("{what}, but does not know the count `{count}`"));
        let error = match self.count_place(count) {
            Some(place) => error.also(place, "only the device knows it"),
            None => error,
        };
        self.diagnostics.push(
            error.help("await the count, or let the kernel read it from a port that `carries` the symbol"),
        );
    }

    fn count_place(&self, count: &str) -> Option<Span> {
        let count = self.numbers.count(count)?;
        Some(self.tree.file(count.scope).counts[count.index].0.span)
    }

    // -------------------------------------------------------------------------------------------- lengths

    /// The length of what a producer names, and where that is said.
    fn len_of(&mut self, mut local: Local) -> Option<(Expr, Option<Span>)> {
        let tree = self.tree;
        loop {
            local = match local {
                Local::Constant(_) => return Some((Expr::Num(1), None)),
                Local::Port(leaf, port) => {
                    let pass = &tree.leaves[leaf].pass;
                    let len = self.measures.leaves[leaf].in_pass(pass, &pass.port(port).len.value)?;
                    return Some((len, Some(pass.port(port).len.span)));
                }
                Local::Input(scope, input) => {
                    let len = &tree.file(scope).inputs[input].1.len;
                    return Some((self.flatten(scope, len)?, Some(len.span)));
                }
                Local::Join(scope, join) => {
                    let len = &tree.file(scope).joins[join].1.len;
                    return Some((self.flatten(scope, len)?, Some(len.span)));
                }
                Local::Output(used, output) => self.wires.outputs[used][output]?.local,
            };
        }
    }

    fn lengths(&mut self) {
        let tree = self.tree;
        for leaf in 0..tree.leaves.len() {
            let pass = &tree.leaves[leaf].pass;
            for (port, (name, decl)) in pass.file.ports.iter().enumerate() {
                let len = self.measures.leaves[leaf].in_pass(pass, &decl.len.value);
                let Some(len) = len else { continue };
                self.wire_length(self.wires.leaf_inputs[leaf][port], &name.value, &len, decl.len.span);
            }
        }
        for scope in 0..tree.scopes.len() {
            for (input, (name, decl)) in tree.file(scope).inputs.iter().enumerate() {
                let len = self.flatten(scope, &decl.len);
                if scope == 0 {
                    self.measures.inputs_of_root.push(len.clone());
                }
                let Some(len) = len else { continue };
                self.wire_length(self.wires.scope_inputs[scope][input], &name.value, &len, decl.len.span);
            }
            for join in 0..tree.file(scope).joins.len() {
                self.tiling(scope, join);
            }
        }
    }

    /// Both ends of a wire have the same length.
    fn wire_length(&mut self, wire: Option<Wire>, name: &str, expected: &Expr, declared: Span) {
        let Some(wire) = wire else { return };
        let Some((actual, from)) = self.len_of(wire.local) else { return };
        let note = match self.facts.compare(expected, &actual) {
            Comparison::Same => return,
            Comparison::Different { at, left, right } => {
                example(&at, &format!("`{name}` takes {left}, this has {right}"))
            }
            Comparison::Unknown => "for no numbers that were tried do both have a length".to_string(),
        };
        if !self.reported.insert(wire.at) {
            return;
        }
        let error = Diagnostic::at(wire.at, format!("`{name}` takes `{expected}` elements, not `{actual}`"))
            .label(format!("this has `{actual}`"))
            .also(declared, format!("`{expected}` here"));
        let error = match from {
            Some(from) => error.also(from, format!("`{actual}` here")),
            None => error,
        };
        self.diagnostics.push(error.note(note));
    }

    fn output_lengths(&mut self, scope: ScopeId, lens: &[Option<Expr>]) {
        let tree = self.tree;
        for (output, (name, decl)) in tree.file(scope).outputs.iter().enumerate() {
            let (Some(len), Some(declared)) = (&lens[output], &decl.len) else { continue };
            let Some(wire) = self.wires.outputs[scope][output] else { continue };
            let Some((whole, from)) = self.len_of(wire.local) else { continue };
            let least = Expr::Call(Function::Min, vec![len.clone(), whole.clone()]);
            let Comparison::Different { at, left, .. } = self.facts.compare(&least, len) else { continue };
            if !self.reported.insert(declared.span) {
                continue;
            }
            let error =
                Diagnostic::at(declared.span, format!("output `{}` is longer than its value", name.value))
                    .label(format!("`{len}` elements"));
            let error = match from {
                Some(from) => error.also(from, format!("there are `{whole}`")),
                None => error,
            };
            self.diagnostics.push(error.note(example(&at, &format!("only {left} are there"))));
        }
    }

    /// The parts of a join follow one another from 0 to its end.
    fn tiling(&mut self, scope: ScopeId, join: usize) {
        let (name, decl) = &self.tree.file(scope).joins[join];
        let Some(whole) = self.measures.joins[scope][join].clone() else { return };
        let Some(parts) = self.parts(scope, join) else { return };
        let mut rest: Vec<&Part> = parts.iter().collect();
        let mut end = Expr::Num(0);
        while let Some(next) =
            rest.iter().position(|part| self.facts.compare(&part.from, &end) == Comparison::Same)
        {
            let part = rest.swap_remove(next);
            end = Expr::Binary(Operator::Add, Box::new(end), Box::new(part.len.clone()));
        }
        if rest.is_empty() && self.facts.compare(&end, &whole) == Comparison::Same {
            return;
        }
        if !self.reported.insert(name.span) {
            return;
        }
        let mut error = Diagnostic::at(name.span, format!("the parts of `{}` do not tile it", name.value))
            .also(decl.len.span, format!("`{whole}` elements in all"));
        for part in &parts {
            error = error.also(part.at, format!("`{}` elements from `{}`", part.len, part.from));
        }
        self.diagnostics.push(match (rest.as_slice(), &end) {
            ([], _) if parts.is_empty() => error.note("it has no parts"),
            ([], end) => error.note(format!("the parts end at `{}`", plain(end))),
            (_, end) => error.note(format!("no part begins at `{}`", plain(end))),
        });
    }

    /// The parts of a join; none if one of them is in error.
    fn parts(&self, scope: ScopeId, join: usize) -> Option<Vec<Part>> {
        let wires = self.wires.joins[scope][join].iter();
        wires
            .map(|wire| {
                let wire = (*wire)?;
                let Source::Port(leaf, port) = wire.source else { return None };
                let pass = &self.tree.leaves[leaf].pass;
                let numbers = &self.measures.leaves[leaf];
                let decl = pass.port(port);
                let from = match &decl.at {
                    Some(from) => numbers.in_pass(pass, &from.value)?,
                    None => Expr::Num(0),
                };
                Some(Part { at: wire.at, from, len: numbers.in_pass(pass, &decl.len.value)? })
            })
            .collect()
    }

    // --------------------------------------------------------------------------------------------- leaves

    fn leaf(&mut self, leaf: LeafId) {
        self.whole_values(leaf);
        self.params(leaf);
        self.own_counts(leaf);
        let pass = &self.tree.leaves[leaf].pass;
        let inputs = (0..pass.file.ports.len()).map(|port| self.input(leaf, port)).collect();
        self.measures.inputs.push(inputs);
    }

    /// A port that begins in the middle of a value is part of a join.
    fn whole_values(&mut self, leaf: LeafId) {
        let pass = &self.tree.leaves[leaf].pass;
        for (port, (name, decl)) in pass.file.ports.iter().enumerate() {
            let Some(from) = &decl.at else { continue };
            if self.wires.part_of.contains_key(&(leaf, port)) {
                continue;
            }
            let Some(start) = self.measures.leaves[leaf].in_pass(pass, &from.value) else { continue };
            if self.facts.compare(&start, &Expr::Num(0)) == Comparison::Same {
                continue;
            }
            let source = Source::Port(leaf, port);
            let handed_out = self.wires.outputs[0].iter().flatten().any(|wire| wire.source == source);
            if handed_out && self.purpose == Purpose::Lint {
                continue;
            }
            let (node, _) = self.tree.leaf_node(leaf);
            self.diagnostics.push(
                Diagnostic::at(node.span, format!("`{}.{}` writes only a part", node.value, name.value))
                    .label(format!("nothing writes its elements below `{start}`"))
                    .also(from.span, "begins here")
                    .help(if handed_out {
                        "use this graph in another, which puts the whole together under `joins`"
                    } else {
                        "put the whole together under `joins`"
                    }),
            );
        }
    }

    /// Params are known to the host.
    fn params(&mut self, leaf: LeafId) {
        let pass = &self.tree.leaves[leaf].pass;
        for param in &pass.file.params {
            let Some((bound, at)) = self.bound(leaf, &param.value) else { continue };
            if let Some(count) = self.unawaited(&bound) {
                let what = format!("the host passes `{}` to the kernel", param.value);
                self.host_does_not_know(at, &what, &count);
            }
        }
    }

    /// What a symbol of a leaf's pass is bound to, and where.
    fn bound(&self, leaf: LeafId, symbol: &str) -> Option<(Expr, Span)> {
        let pass = &self.tree.leaves[leaf].pass;
        let index = pass.file.symbols.iter().position(|(n, _)| n.value == symbol)?;
        let (node, decl) = self.tree.leaf_node(leaf);
        let at = decl.bind.iter().find(|(n, _)| n.value == symbol).map_or(node.span, |(_, expr)| expr.span);
        Some((self.measures.leaves[leaf].bind[index].clone()?, at))
    }

    /// A count that a node computes itself may size what the node writes, and nothing else.
    fn own_counts(&mut self, leaf: LeafId) {
        let own: BTreeSet<String> = self
            .numbers
            .counts
            .iter()
            .filter(|c| self.is_made_by(c.source, leaf))
            .map(|c| c.name.clone())
            .collect();
        if own.is_empty() {
            return;
        }
        let pass = &self.tree.leaves[leaf].pass;
        for (symbol, _) in &pass.file.symbols {
            let Some((bound, at)) = self.bound(leaf, &symbol.value) else { continue };
            let Some(count) = bound.symbols().find(|name| own.contains(*name)) else { continue };
            if let Some((use_at, what)) = other_use(pass, &symbol.value) {
                self.diagnostics.push(
                    Diagnostic::at(at, format!("`{count}` is computed by the node that needs it"))
                        .label(format!("`{}` is bound to it", symbol.value))
                        .also(use_at, format!("{what} mentions `{}`", symbol.value))
                        .help("a count of the node itself may only size what the node writes"),
                );
            }
        }
    }

    /// Whether a leaf writes a value, or a part of it.
    fn is_made_by(&self, source: Source, leaf: LeafId) -> bool {
        match source {
            Source::Port(other, _) => other == leaf,
            Source::Join(scope, join) => {
                let parts = self.wires.joins[scope][join].iter().flatten();
                parts
                    .map(|wire| wire.source)
                    .any(|part| matches!(part, Source::Port(other, _) if other == leaf))
            }
            Source::Input(_) | Source::Constant(_) => false,
        }
    }

    /// Where the value of a port comes from. A `carries` port that is not wired gets what its symbol is bound to.
    fn input(&mut self, leaf: LeafId, port: usize) -> Option<Source> {
        if let Some(wire) = self.wires.leaf_inputs[leaf][port] {
            return Some(wire.source);
        }
        let pass = &self.tree.leaves[leaf].pass;
        let (name, decl) = &pass.file.ports[port];
        let carried = decl.carries.as_ref()?;
        let (node, node_decl) = self.tree.leaf_node(leaf);
        if decl.access.value == Access::Write || node_decl.inputs.iter().any(|(n, _)| n.value == name.value) {
            return None;
        }
        let (bound, at) = self.bound(leaf, &carried.value)?;
        if let Expr::Symbol(count) = &bound
            && let Some(flat) = self.numbers.count(count)
        {
            let (source, awaited) = (flat.source, flat.awaited);
            let element = self.tree.file(flat.scope).counts[flat.index].1.element;
            if self.is_single(source) {
                return Some(source);
            }
            if !awaited {
                let error = Diagnostic::at(at, format!("`{count}` is one of several elements of its value"))
                    .label(format!("`{}` of `{}` carries it and reads one element", name.value, node.value));
                let error = match self.count_place(count) {
                    Some(place) => error.also(place, format!("element {element} of its value")),
                    None => error,
                };
                self.diagnostics
                    .push(error.help("await the count, or let a pass write it into a value of its own"));
                return None;
            }
        }
        if let Some(count) = self.unawaited(&bound) {
            let what = format!("the host uploads what `{}` of `{}` carries", name.value, node.value);
            self.host_does_not_know(at, &what, &count);
            return None;
        }
        self.measures.constants.push(Some(bound));
        Some(Source::Constant(self.measures.constants.len() - 1))
    }

    /// Whether a value has one element.
    fn is_single(&mut self, source: Source) -> bool {
        let local = match source {
            Source::Port(leaf, port) => Local::Port(leaf, port),
            Source::Join(scope, join) => Local::Join(scope, join),
            Source::Input(input) => Local::Input(0, input),
            Source::Constant(_) => return true,
        };
        let len = self.len_of(local);
        len.is_some_and(|(len, _)| self.facts.compare(&len, &Expr::Num(1)) == Comparison::Same)
    }

    // ---------------------------------------------------------------------------------- counts and checks

    fn counts(&mut self, scope: ScopeId) {
        let tree = self.tree;
        for (index, (name, decl)) in tree.file(scope).counts.iter().enumerate() {
            let Some(wire) = self.wires.counts[scope][index] else { continue };
            if !matches!(wire.source, Source::Port(..)) {
                self.diagnostics.push(
                    Diagnostic::at(wire.at, format!("the count `{}` is not computed by one node", name.value))
                        .help("a count is an element of what one port writes; a number the caller knows is a symbol"),
                );
                continue;
            }
            self.word(wire, &format!("the count `{}`", name.value));
            let Some((len, declared)) = self.len_of(wire.local) else { continue };
            let least = Expr::Num(u64::from(decl.element) + 1);
            let shorter = Expr::Call(Function::Min, vec![len.clone(), least.clone()]);
            if let Comparison::Different { at, .. } = self.facts.compare(&shorter, &least) {
                let error = Diagnostic::at(
                    wire.at,
                    format!("`{}` has no element {}", text_of(wire.local, tree), decl.element),
                )
                .label(format!("it has `{len}` elements"));
                let error = match declared {
                    Some(declared) => error.also(declared, "declared here"),
                    None => error,
                };
                self.diagnostics.push(match at.is_empty() {
                    true => error,
                    false => error.note(example(&at, "it is too short")),
                });
            }
        }
    }

    /// What the host reads as a number is a `u32`.
    fn word(&mut self, wire: Wire, what: &str) {
        let Some(element) = self.types.of(wire.local, self.diagnostics) else { return };
        if element.layout != NUMBER_LAYOUT {
            self.diagnostics.push(
                Diagnostic::at(wire.at, format!("{what} is a `u32`"))
                    .label(format!("this has `{}`, laid out as {}", element.name, element.layout)),
            );
        }
    }

    fn checks(&mut self, scope: ScopeId) {
        let tree = self.tree;
        for (index, (name, _)) in tree.file(scope).checks.iter().enumerate() {
            let Some(wire) = self.wires.checks[scope][index] else { continue };
            let Source::Port(leaf, port) = wire.source else {
                self.diagnostics.push(
                    Diagnostic::at(wire.at, format!("`{}` is not the status word of a node", name.value))
                        .help("a check looks at a port that has `codes`"),
                );
                continue;
            };
            let pass = &tree.leaves[leaf].pass;
            if pass.port(port).codes.is_none() {
                let (port, declared) = tree.port(leaf, port);
                self.diagnostics.push(
                    Diagnostic::at(wire.at, format!("`{port}` of pass `{}` has no `codes`", pass.name()))
                        .label("so nobody could say what it means")
                        .also(declared, "declared here"),
                );
            }
            self.word(wire, &format!("the check `{}`", name.value));
            let Some((len, declared)) = self.len_of(wire.local) else { continue };
            if self.facts.compare(&len, &Expr::Num(1)) != Comparison::Same {
                let error = Diagnostic::at(wire.at, format!("the check `{}` looks at one word", name.value))
                    .label(format!("this has `{len}` elements"));
                self.diagnostics.push(match declared {
                    Some(declared) => error.also(declared, "declared here"),
                    None => error,
                });
            }
        }
    }
}

/// A part of a join.
struct Part {
    at: Span,
    from: Expr,
    len: Expr,
}

/// What a wire names, for messages.
fn text_of(mut local: Local, tree: &Tree) -> String {
    if let Local::Output(used, output) = local {
        let (name, _) = &tree.file(used).outputs[output];
        return match tree.used_at(used) {
            Some((_, node, _)) => format!("{}.{}", node.value, name.value),
            None => name.value.clone(),
        };
    }
    match &mut local {
        Local::Port(leaf, port) => format!("{}.{}", tree.leaf_node(*leaf).0.value, tree.port(*leaf, *port).0),
        Local::Join(scope, join) => tree.file(*scope).joins[*join].0.value.clone(),
        Local::Input(scope, input) => tree.file(*scope).inputs[*input].0.value.clone(),
        Local::Output(..) | Local::Constant(_) => "the value".to_string(),
    }
}

/// Where a pass uses a symbol for anything but the lengths of what it writes.
fn other_use<'p>(pass: &'p Pass, symbol: &str) -> Option<(Span, &'p str)> {
    let mentions = |expr: &Spanned<Expr>| expr.value.symbols().any(|name| name == symbol);
    let grid = pass.file.grid.as_ref().map(|grid| match grid {
        Grid::Threads(expr) | Grid::Groups(expr) => (expr, "the grid"),
    });
    let steps = pass.file.steps.as_ref().map(|steps| (steps, "the number of steps"));
    let ports = pass.file.ports.iter().flat_map(|(_, port)| {
        let len = (port.access.value != Access::Write).then_some((&port.len, "the length of an input"));
        len.into_iter().chain(port.at.as_ref().map(|at| (at, "the start of a part")))
    });
    if let Some((expr, what)) = grid.into_iter().chain(steps).chain(ports).find(|(expr, _)| mentions(expr)) {
        return Some((expr.span, what));
    }
    if let Some(param) = pass.file.params.iter().find(|param| param.value == symbol) {
        return Some((param.span, "a param"));
    }
    let carries = pass.file.ports.iter().filter_map(|(_, port)| port.carries.as_ref());
    carries
        .filter(|carried| carried.value == symbol)
        .map(|carried| (carried.span, "a port that carries it"))
        .next()
}

/// A counterexample in words: `with n = 5: ...`.
fn example(at: &[(String, u64)], what: &str) -> String {
    let names: Vec<String> = at.iter().map(|(name, number)| format!("{name} = {number}")).collect();
    match names.is_empty() {
        true => what.to_string(),
        false => format!("with {}: {what}", names.join(", ")),
    }
}

/// A sum without the zero it began with.
fn plain(sum: &Expr) -> Expr {
    match sum {
        Expr::Binary(Operator::Add, left, right) => match plain(left) {
            Expr::Num(0) => (**right).clone(),
            left => Expr::Binary(Operator::Add, Box::new(left), right.clone()),
        },
        other => other.clone(),
    }
}
