//! Element types: what generics stand for, and whether both ends of every wire have the same type.
//!
//! A generic of a node is what the node's `as` says, else the type of the first of its inputs that mentions it. So each
//! is defined by one other type, and finding it is following a chain.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::super::decode::parse_layout;
use super::super::diagnostic::{Diagnostic, Diagnostics};
use super::super::document::{Access, Layout, Scalar, Span, Spanned};
use super::super::model::ElementType;
use super::super::pass::PortType;
use super::super::types::Types as Declared;
use super::numbers::Numbers;
use super::tree::{LeafId, ScopeId, Tree};
use super::wires::{Local, Source, Wire, Wires};

/// A generic of a placed pass or graph, by index into its `generics`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Variable {
    Leaf(LeafId, usize),
    Scope(ScopeId, usize),
}

/// A type, as far as one file tells.
#[derive(Clone, Debug)]
enum TypeRef {
    Known(ElementType),
    Variable(Variable),
}

/// Element types of everything that is placed.
pub struct Types<'a> {
    tree: &'a Tree,
    wires: &'a Wires,
    table: &'a Declared,
    found: HashMap<Variable, Option<ElementType>>,
}

impl<'a> Types<'a> {
    /// Nothing is worked out yet.
    pub fn new(tree: &'a Tree, wires: &'a Wires, table: &'a Declared) -> Types<'a> {
        Types { tree, wires, table, found: HashMap::new() }
    }

    /// The type of what a wire leads to, as the graph that says it sees it.
    pub fn of(&mut self, local: Local, diagnostics: &mut Diagnostics) -> Option<ElementType> {
        let found = self.refer(local, diagnostics)?;
        self.resolve(found, diagnostics)
    }

    /// What the generics of a leaf stand for, in the order of its pass.
    pub fn leaf_generics(&mut self, leaf: LeafId, diagnostics: &mut Diagnostics) -> Vec<Option<ElementType>> {
        let count = self.tree.leaves[leaf].pass.file.generics.len();
        (0..count).map(|g| self.resolve(TypeRef::Variable(Variable::Leaf(leaf, g)), diagnostics)).collect()
    }

    /// The element type of a port of a leaf.
    pub fn of_port(
        &mut self,
        leaf: LeafId,
        port: usize,
        diagnostics: &mut Diagnostics,
    ) -> Option<ElementType> {
        let found = self.refer_port(leaf, port)?;
        self.resolve(found, diagnostics)
    }

    /// The element type of an input of a scope, as its graph declares it.
    pub fn of_input(
        &mut self,
        scope: ScopeId,
        input: usize,
        diagnostics: &mut Diagnostics,
    ) -> Option<ElementType> {
        self.of(Local::Input(scope, input), diagnostics)
    }

    fn refer_port(&self, leaf: LeafId, port: usize) -> Option<TypeRef> {
        let pass = &self.tree.leaves[leaf].pass;
        match &pass.types[port] {
            PortType::Element(element) => Some(TypeRef::Known(element.clone())),
            PortType::Generic { name, .. } => {
                let generic = pass.file.generics.iter().position(|(n, _)| n.value == *name)?;
                Some(TypeRef::Variable(Variable::Leaf(leaf, generic)))
            }
        }
    }

    /// The type of what a producer names, without following generics.
    fn refer(&self, mut local: Local, diagnostics: &mut Diagnostics) -> Option<TypeRef> {
        loop {
            local = match local {
                Local::Port(leaf, port) => return self.refer_port(leaf, port),
                Local::Output(used, output) => self.wires.outputs[used][output]?.local,
                Local::Join(scope, join) => self.wires.joins[scope][join].iter().flatten().next()?.local,
                Local::Constant(_) => return Some(TypeRef::Known(number_type())),
                Local::Input(scope, input) => {
                    let element = &self.tree.file(scope).inputs[input].1.element;
                    return self.name(scope, element, diagnostics);
                }
            };
        }
    }

    /// A type by the name that a graph file gives it.
    fn name(&self, scope: ScopeId, name: &Spanned<String>, diagnostics: &mut Diagnostics) -> Option<TypeRef> {
        let file = self.tree.file(scope);
        if let Some(generic) = file.generics.iter().position(|(n, _)| n.value == name.value) {
            return Some(TypeRef::Variable(Variable::Scope(scope, generic)));
        }
        let declared = || self.table.get(&name.value).map(|declared| declared.layout);
        if let Some(layout) = parse_layout(&name.value).or_else(declared) {
            return Some(TypeRef::Known(ElementType { name: name.value.clone(), layout }));
        }
        if self.tree.scopes[scope].graph.excuses(&name.value) {
            return None;
        }
        let names = file.generics.iter().map(|(n, _)| n.value.as_str()).chain(self.table.names());
        diagnostics.push(
            Diagnostic::at(name.span, format!("there is no type `{}`", name.value))
                .suggest(&name.value, names),
        );
        None
    }

    /// Follows generics to the end of the chain.
    fn resolve(&mut self, start: TypeRef, diagnostics: &mut Diagnostics) -> Option<ElementType> {
        let mut passed: Vec<Variable> = Vec::new();
        let mut seen: HashSet<Variable> = HashSet::new();
        let mut current = start;
        let found = loop {
            match current {
                TypeRef::Known(element) => break Some(element),
                TypeRef::Variable(variable) => {
                    if let Some(found) = self.found.get(&variable) {
                        break found.clone();
                    }
                    if !seen.insert(variable) {
                        break None;
                    }
                    passed.push(variable);
                    match self.define(variable, diagnostics) {
                        Some(next) => current = next,
                        None => break None,
                    }
                }
            }
        };
        for variable in passed {
            self.found.insert(variable, found.clone());
        }
        found
    }

    /// What a generic is defined by.
    fn define(&self, variable: Variable, diagnostics: &mut Diagnostics) -> Option<TypeRef> {
        match variable {
            Variable::Leaf(leaf, generic) => self.define_in_leaf(leaf, generic, diagnostics),
            Variable::Scope(scope, generic) => self.define_in_scope(scope, generic, diagnostics),
        }
    }

    fn define_in_leaf(&self, leaf: LeafId, generic: usize, diagnostics: &mut Diagnostics) -> Option<TypeRef> {
        let pass = &self.tree.leaves[leaf].pass;
        let (node, decl) = self.tree.leaf_node(leaf);
        let (name, _) = &pass.file.generics[generic];
        if let Some((_, given)) = decl.generics.iter().find(|(n, _)| n.value == name.value) {
            return self.name(self.tree.leaves[leaf].scope, given, diagnostics);
        }
        let mentions =
            |port: &PortType| matches!(port, PortType::Generic { name: n, .. } if *n == name.value);
        let mut inputs = (0..pass.types.len()).filter(|port| mentions(&pass.types[*port]));
        let wires = &self.wires.leaf_inputs[leaf];
        if let Some(wire) = inputs.clone().find_map(|port| wires[port]) {
            return self.refer(wire.local, diagnostics);
        }
        let takes = |port: usize| pass.port(port).access.value != Access::Write;
        if !inputs.any(takes) {
            diagnostics.push(not_inferred(node, name, &format!("pass `{}`", pass.name())));
        }
        None
    }

    fn define_in_scope(
        &self,
        scope: ScopeId,
        generic: usize,
        diagnostics: &mut Diagnostics,
    ) -> Option<TypeRef> {
        let file = self.tree.file(scope);
        let (name, layout) = &file.generics[generic];
        let Some((parent, node, decl)) = self.tree.used_at(scope) else {
            return Some(TypeRef::Known(ElementType { name: name.value.clone(), layout: layout.value }));
        };
        if let Some((_, given)) = decl.generics.iter().find(|(n, _)| n.value == name.value) {
            return self.name(parent, given, diagnostics);
        }
        let mut inputs = (0..file.inputs.len()).filter(|i| file.inputs[*i].1.element.value == name.value);
        if let Some(wire) = inputs.clone().find_map(|input| self.wires.scope_inputs[scope][input]) {
            return self.refer(wire.local, diagnostics);
        }
        if inputs.next().is_none() {
            diagnostics.push(not_inferred(node, name, &format!("graph `{}`", file.name.value)));
        }
        None
    }

    /// Checks every wire, every `as` and every join.
    pub fn check(&mut self, numbers: &Numbers, diagnostics: &mut Diagnostics) {
        let counted: HashSet<Source> = numbers.counts.iter().map(|count| count.source).collect();
        for leaf in 0..self.tree.leaves.len() {
            self.check_leaf(leaf, &counted, diagnostics);
        }
        for scope in 0..self.tree.scopes.len() {
            self.check_scope(scope, diagnostics);
        }
    }

    fn check_leaf(&mut self, leaf: LeafId, counted: &HashSet<Source>, diagnostics: &mut Diagnostics) {
        let tree = self.tree;
        let pass = &tree.leaves[leaf].pass;
        let (_, decl) = tree.leaf_node(leaf);
        check_as_names(&decl.generics, &pass.file.generics, pass.name(), pass.file.name.span, diagnostics);
        let generics = self.leaf_generics(leaf, diagnostics);
        self.check_as_layouts(&decl.generics, &pass.file.generics, &generics, diagnostics);
        for port in 0..pass.types.len() {
            let Some(wire) = self.wires.leaf_inputs[leaf][port] else { continue };
            let number = matches!(wire.source, Source::Constant(_))
                || (pass.port(port).carries.is_some() && counted.contains(&wire.source));
            let end = End {
                name: &pass.file.ports[port].0.value,
                declared: &pass.port(port).element,
                layout: pass.types[port].layout(),
                generic: matches!(pass.types[port], PortType::Generic { .. }),
                number,
            };
            let expected = self.of_port(leaf, port, diagnostics);
            self.check_wire(wire, expected, &end, diagnostics);
        }
    }

    fn check_scope(&mut self, scope: ScopeId, diagnostics: &mut Diagnostics) {
        let tree = self.tree;
        let file = tree.file(scope);
        for (generic, _) in &file.generics {
            if let Some(declared) = self.table.get(&generic.value) {
                let message = format!("`{}` is both a generic and a declared type", generic.value);
                diagnostics.push(Diagnostic::at(generic.span, message).also(declared.span, "declared here"));
            }
        }
        for (_, input) in &file.inputs {
            self.name(scope, &input.element, diagnostics);
        }
        if let Some((_, _, decl)) = tree.used_at(scope) {
            check_as_names(&decl.generics, &file.generics, &file.name.value, file.name.span, diagnostics);
            let generics: Vec<_> = (0..file.generics.len())
                .map(|g| self.resolve(TypeRef::Variable(Variable::Scope(scope, g)), diagnostics))
                .collect();
            self.check_as_layouts(&decl.generics, &file.generics, &generics, diagnostics);
        }
        for (input, (name, decl)) in file.inputs.iter().enumerate() {
            let Some(wire) = self.wires.scope_inputs[scope][input] else { continue };
            let Some(expected) = self.of_input(scope, input, diagnostics) else { continue };
            let generic = file.generics.iter().find(|(n, _)| n.value == decl.element.value);
            let end = End {
                name: &name.value,
                declared: &decl.element,
                layout: generic.map_or(expected.layout, |(_, layout)| layout.value),
                generic: generic.is_some(),
                number: matches!(wire.source, Source::Constant(_)),
            };
            self.check_wire(wire, Some(expected), &end, diagnostics);
        }
        for (join, (name, _)) in file.joins.iter().enumerate() {
            self.check_join(scope, join, name, diagnostics);
        }
    }

    fn check_as_layouts(
        &self,
        given: &[(Spanned<String>, Spanned<String>)],
        declared: &[(Spanned<String>, Spanned<Layout>)],
        found: &[Option<ElementType>],
        diagnostics: &mut Diagnostics,
    ) {
        for ((name, layout), found) in declared.iter().zip(found) {
            let given = given.iter().find(|(n, _)| n.value == name.value);
            let (Some((_, given)), Some(found)) = (given, found) else { continue };
            if found.layout != layout.value {
                diagnostics.push(
                    Diagnostic::at(given.span, format!("`{}` cannot be `{}`", name.value, found.name))
                        .label(format!("`{}` is laid out as {}", found.name, found.layout))
                        .also(layout.span, format!("`{}` as {}", name.value, layout.value)),
                );
            }
        }
    }

    /// Checks one wire against the port or input at its end.
    fn check_wire(
        &mut self,
        wire: Wire,
        expected: Option<ElementType>,
        end: &End<'_>,
        diagnostics: &mut Diagnostics,
    ) {
        let Some(actual) = self.of(wire.local, diagnostics) else { return };
        if actual.layout != end.layout {
            let error = Diagnostic::at(wire.at, format!("`{}` takes elements of {}", end.name, end.layout))
                .label(format!("this has `{}`, laid out as {}", actual.name, actual.layout))
                .also(end.declared.span, format!("declared as `{}`", end.declared.value));
            diagnostics.push(self.add_place(error, wire.local, "made here"));
            return;
        }
        let Some(expected) = expected else { return };
        if end.number || actual.name == expected.name {
            return;
        }
        let error = Diagnostic::at(
            wire.at,
            format!("`{}` takes `{}`, not `{}`", end.name, expected.name, actual.name),
        )
        .label(format!("this has `{}`", actual.name));
        let error = self.add_place(error, wire.local, "made here");
        diagnostics.push(if end.generic {
            let stands = format!("`{}` stands for `{}` at this node", end.declared.value, expected.name);
            error.also(end.declared.span, stands)
        } else {
            error.also(end.declared.span, format!("this wants `{}`", expected.name))
        });
    }

    fn check_join(
        &mut self,
        scope: ScopeId,
        join: usize,
        name: &Spanned<String>,
        diagnostics: &mut Diagnostics,
    ) {
        let mut first: Option<(Wire, ElementType)> = None;
        for part in 0..self.wires.joins[scope][join].len() {
            let Some(wire) = self.wires.joins[scope][join][part] else { continue };
            let Some(element) = self.of(wire.local, diagnostics) else { continue };
            match &first {
                None => first = Some((wire, element)),
                Some((other, expected)) if expected.name != element.name => diagnostics.push(
                    Diagnostic::at(wire.at, format!("the parts of `{}` have different types", name.value))
                        .label(format!("this has `{}`", element.name))
                        .also(other.at, format!("this has `{}`", expected.name)),
                ),
                Some(_) => {}
            }
        }
    }

    /// Adds the place where the type of what a producer names is declared.
    fn add_place(&self, error: Diagnostic, mut local: Local, text: &str) -> Diagnostic {
        loop {
            local = match local {
                Local::Port(leaf, port) => {
                    return error.also(self.tree.leaves[leaf].pass.port(port).element.span, text);
                }
                Local::Input(scope, input) => {
                    return error.also(self.tree.file(scope).inputs[input].1.element.span, text);
                }
                Local::Constant(_) => return error,
                Local::Output(used, output) => match self.wires.outputs[used][output] {
                    Some(wire) => wire.local,
                    None => return error,
                },
                Local::Join(scope, join) => match self.wires.joins[scope][join].iter().flatten().next() {
                    Some(wire) => wire.local,
                    None => return error,
                },
            };
        }
    }
}

/// What a wire leads into, for messages.
struct End<'a> {
    name: &'a str,
    /// The type, as the file names it.
    declared: &'a Spanned<String>,
    layout: Layout,
    generic: bool,
    /// Whether a plain number is welcome, whatever it counts.
    number: bool,
}

/// The type of a constant.
pub fn number_type() -> ElementType {
    ElementType { name: "u32".to_string(), layout: NUMBER_LAYOUT }
}

/// The layout of counts, constants and status words.
pub const NUMBER_LAYOUT: Layout = Layout { scalar: Scalar::U32, lanes: 1 };

fn not_inferred(node: &Spanned<String>, generic: &Spanned<String>, of: &str) -> Diagnostic {
    Diagnostic::at(node.span, format!("it is not said what `{}` is", generic.value))
        .label(format!("no input of {of} has this type"))
        .also(generic.span, "declared here")
        .help(format!("add `as: {{{}: TYPE}}`", generic.value))
}

fn check_as_names(
    given: &[(Spanned<String>, Spanned<String>)],
    declared: &[(Spanned<String>, Spanned<Layout>)],
    of: &str,
    head: Span,
    diagnostics: &mut Diagnostics,
) {
    let names: BTreeMap<&str, ()> = declared.iter().map(|(n, _)| (n.value.as_str(), ())).collect();
    for (name, _) in given {
        if !names.contains_key(name.value.as_str()) {
            diagnostics.push(
                Diagnostic::at(name.span, format!("`{of}` has no generic `{}`", name.value))
                    .also(head, "declared here")
                    .suggest(&name.value, names.keys().copied()),
            );
        }
    }
}
