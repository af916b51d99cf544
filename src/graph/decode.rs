//! Trees of nodes to documents. Every file is decoded to its end: what is wrong is reported and left out.
//!
//! Nothing here looks into other files; whether a name means anything is decided later.

use super::diagnostic::{Diagnostic, Diagnostics};
use super::document::*;
use super::expr::{Expr, ParseError};
use super::grammar::{self, Object};
use super::source::{SourceMap, is_relative_path};
use super::yaml::{self, Data, Node};

/// The largest code of a status word: seven bits, of which all ones are part of "no failure".
const CODE_MAX: u32 = 126;

/// Decodes a pass file. No document is given if it is not a mapping or says neither what it is called nor what it runs.
pub fn pass_file(sources: &SourceMap, file: FileId) -> (Option<PassFile>, Diagnostics) {
    Decoder::run(sources, file, &grammar::PASS, Decoder::pass)
}

/// Decodes a graph file or an overlay. No document is given if it is not a mapping or has no name.
pub fn graph_file(sources: &SourceMap, file: FileId) -> (Option<GraphFile>, Diagnostics) {
    Decoder::run(sources, file, &grammar::GRAPH, Decoder::graph)
}

/// Decodes a `types.yaml` file.
pub fn types_file(sources: &SourceMap, file: FileId) -> (Option<Named<TypeDecl>>, Diagnostics) {
    Decoder::run(sources, file, &grammar::TYPES_FILE, |decoder, fields| Some(decoder.types(fields)))
}

/// What a file says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// A pass.
    Pass,
    /// A graph.
    Graph,
    /// An overlay.
    Overlay,
    /// Types only.
    Types,
}

/// What a file says it is, by its keys.
pub fn head(sources: &SourceMap, file: FileId) -> Result<Head, Box<Diagnostic>> {
    let root = yaml::parse(sources, file)?;
    let heads =
        [("pass", Head::Pass), ("graph", Head::Graph), ("overlay", Head::Overlay), ("types", Head::Types)];
    if let Data::Map(entries) = &root.data {
        let has = |key: &str| entries.iter().any(|(k, _)| k.value == key);
        if let Some((_, head)) = heads.into_iter().find(|(key, _)| has(key)) {
            return Ok(head);
        }
    }
    let diagnostic = Diagnostic::at(root.span, "this is neither a pass, nor a graph, nor types");
    Err(Box::new(diagnostic.help("a file says what it is with `pass`, `graph`, `overlay` or `types`")))
}

/// A layout by its spelling.
pub fn parse_layout(text: &str) -> Option<Layout> {
    let (lanes, scalar) = match text.strip_suffix('>') {
        None => (1, text),
        Some(vector) => match vector.split_once('<') {
            Some(("vec2", scalar)) => (2, scalar),
            Some(("vec4", scalar)) => (4, scalar),
            _ => return None,
        },
    };
    let scalar = match scalar {
        "u32" => Scalar::U32,
        "i32" => Scalar::I32,
        "f32" => Scalar::F32,
        _ => return None,
    };
    Some(Layout { scalar, lanes })
}

/// Whether a text is a lowercase identifier.
fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Whether a text can name a number.
fn is_symbol(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_path(text: &str) -> bool {
    text.split('/').all(is_symbol)
}

/// The kinds of names.
#[derive(Clone, Copy)]
enum NameKind {
    /// Ports, types, outputs.
    Identifier,
    /// Numbers and pipeline constants, which may have capitals.
    Symbol,
    /// What a flat graph defines: `keep_scan/tiles`.
    Path,
}

impl NameKind {
    fn admits(self, text: &str) -> bool {
        match self {
            NameKind::Identifier => is_identifier(text),
            NameKind::Symbol => is_symbol(text),
            NameKind::Path => is_path(text),
        }
    }

    fn rule(self) -> &'static str {
        match self {
            NameKind::Identifier => "a name has lowercase letters, digits and `_`, and begins with a letter",
            NameKind::Symbol => "the name of a number has letters, digits and `_`, and begins with a letter",
            NameKind::Path => {
                "a name has letters, digits and `_`, and begins with a letter; `/` stands between such names"
            }
        }
    }
}

/// The entries of a mapping with fixed keys.
struct Fields<'n> {
    /// What errors about the whole point to.
    owner: Span,
    entries: Vec<(&'n Spanned<String>, &'n Node)>,
}

impl<'n> Fields<'n> {
    fn entry(&self, key: &str) -> Option<(&'n Spanned<String>, &'n Node)> {
        self.entries.iter().find(|(k, _)| k.value == key).copied()
    }

    fn get(&self, key: &str) -> Option<&'n Node> {
        self.entry(key).map(|(_, node)| node)
    }
}

struct Decoder<'a> {
    sources: &'a SourceMap,
    diagnostics: Diagnostics,
    damaged: Vec<String>,
}

impl<'a> Decoder<'a> {
    fn run<T>(
        sources: &'a SourceMap,
        file: FileId,
        object: &'static Object,
        decode: impl FnOnce(&mut Self, &Fields<'_>) -> Option<T>,
    ) -> (Option<T>, Diagnostics) {
        let mut decoder = Decoder { sources, diagnostics: Diagnostics::new(), damaged: Vec::new() };
        let root = match yaml::parse(sources, file) {
            Ok(root) => root,
            Err(error) => {
                decoder.diagnostics.push(*error);
                return (None, decoder.diagnostics);
            }
        };
        let fields = decoder.object(&root, root.span, object);
        let document = fields.and_then(|fields| decode(&mut decoder, &fields));
        (document, decoder.diagnostics)
    }

    fn error(&mut self, span: Span, message: impl Into<String>) -> &mut Diagnostic {
        self.diagnostics.push_mut(Diagnostic::at(span, message))
    }

    fn unexpected<T>(&mut self, node: &Node, expected: &str) -> Option<T> {
        self.error(node.span, format!("expected {expected}, found {}", node.kind()));
        None
    }

    // ------------------------------------------------------------------------------------ collections

    /// A mapping with fixed keys, each at most once.
    fn object<'n>(&mut self, node: &'n Node, owner: Span, object: &'static Object) -> Option<Fields<'n>> {
        let Data::Map(entries) = &node.data else {
            return self.unexpected(node, &format!("{}, a mapping", object.noun));
        };
        let mut fields = Fields { owner, entries: Vec::new() };
        for (key, value) in entries {
            if !object.keys().any(|k| k == key.value) {
                self.unknown_key(key, object);
            } else if let Some((first, _)) = fields.entry(&key.value) {
                self.duplicate(key, first.span);
            } else {
                fields.entries.push((key, value));
            }
        }
        for field in object.fields.iter().filter(|field| field.required) {
            if fields.get(field.key).is_none() {
                self.error(owner, format!("{} needs `{}`", object.noun, field.key)).help =
                    Some(field.doc.into());
            }
        }
        self.choice(&fields, object);
        Some(fields)
    }

    fn unknown_key(&mut self, key: &Spanned<String>, object: &'static Object) {
        let message = format!("`{}` is not a key of {}", key.value, object.noun);
        let diagnostic = Diagnostic::at(key.span, message).suggest(&key.value, object.keys());
        let keys: Vec<&str> = object.keys().collect();
        let diagnostic = match diagnostic.help {
            Some(_) => diagnostic,
            None => diagnostic.help(format!("its keys are {}", keys.join(", "))),
        };
        self.diagnostics.push(diagnostic);
    }

    fn duplicate(&mut self, key: &Spanned<String>, first: Span) {
        let diagnostic = Diagnostic::at(key.span, format!("`{}` is there twice", key.value));
        self.diagnostics.push(diagnostic.label("again here").also(first, "first defined here"));
    }

    /// Exactly one of the object's groups of keys, complete.
    fn choice(&mut self, fields: &Fields<'_>, object: &'static Object) {
        let quoted =
            |group: &[&str]| group.iter().map(|k| format!("`{k}`")).collect::<Vec<_>>().join(" and ");
        let first_key = |group: &[&str]| group.iter().find_map(|key| fields.entry(key)).map(|(key, _)| key);
        let present: Vec<_> =
            object.choice.iter().filter_map(|group| first_key(group).map(|key| (*group, key))).collect();
        match present.as_slice() {
            [] if object.choice.is_empty() => {}
            [] => {
                let groups: Vec<String> = object.choice.iter().map(|group| quoted(group)).collect();
                self.error(fields.owner, format!("{} needs {}", object.noun, groups.join(", or ")));
            }
            [(group, key)] => {
                for missing in group.iter().filter(|k| fields.get(k).is_none()) {
                    self.error(key.span, format!("{} with `{}` needs `{missing}`", object.noun, key.value));
                }
            }
            [(_, one), (_, two), ..] => {
                let (first, second) = if one.span < two.span { (one, two) } else { (two, one) };
                let message =
                    format!("{} has either `{}` or `{}`, not both", object.noun, first.value, second.value);
                let diagnostic = Diagnostic::at(second.span, message).also(first.span, "the other one");
                self.diagnostics.push(diagnostic);
            }
        }
    }

    /// A mapping with free keys, each at most once. Entries with errors are noted as damaged.
    fn map<'n, T>(
        &mut self,
        entry: Option<(&'n Spanned<String>, &'n Node)>,
        kind: NameKind,
        mut decode: impl FnMut(&mut Self, &'n Spanned<String>, &'n Node) -> Option<T>,
    ) -> Named<T> {
        let Some((key, node)) = entry else { return Vec::new() };
        let Data::Map(entries) = &node.data else {
            self.error(node.span, format!("`{}` is a mapping, not {}", key.value, node.kind()));
            return Vec::new();
        };
        let mut named: Named<T> = Vec::new();
        let mut seen: Vec<&Spanned<String>> = Vec::new();
        for (key, value) in entries {
            if let Some(first) = seen.iter().find(|first| first.value == key.value) {
                self.duplicate(key, first.span);
                self.damaged.push(key.value.clone());
                continue;
            }
            seen.push(key);
            let errors_before = self.diagnostics.len();
            self.check_name(key, kind);
            if let Some(entry) = decode(self, key, value) {
                named.push((key.clone(), entry));
            }
            if self.diagnostics.len() > errors_before {
                self.damaged.push(key.value.clone());
            }
        }
        named
    }

    /// What stands under a key; the key is noted as damaged if that cannot be decoded.
    fn noting_damage<T>(
        &mut self,
        fields: &Fields<'_>,
        key: &str,
        decode: impl FnOnce(&mut Self, &Spanned<String>, &Node) -> Option<T>,
    ) -> Option<T> {
        let (key, node) = fields.entry(key)?;
        let decoded = decode(self, key, node);
        if decoded.is_none() {
            self.damaged.push(key.value.clone());
        }
        decoded
    }

    fn list<T>(
        &mut self,
        entry: Option<(&Spanned<String>, &Node)>,
        mut decode: impl FnMut(&mut Self, &Node) -> Option<T>,
    ) -> Vec<T> {
        let Some((key, node)) = entry else { return Vec::new() };
        let Data::List(entries) = &node.data else {
            self.error(node.span, format!("`{}` is a list, not {}", key.value, node.kind()));
            return Vec::new();
        };
        entries.iter().filter_map(|entry| decode(self, entry)).collect()
    }

    // ---------------------------------------------------------------------------------------- scalars

    fn check_name(&mut self, name: &Spanned<String>, kind: NameKind) -> bool {
        let good = kind.admits(&name.value);
        if !good {
            self.error(name.span, format!("`{}` is not a name", name.value)).help = Some(kind.rule().into());
        }
        good
    }

    fn text(&mut self, node: &Node) -> Option<Spanned<String>> {
        match &node.data {
            Data::Text(text) => Some(Spanned { value: text.clone(), span: node.span }),
            Data::Number(_) | Data::Bool(_) => {
                let message = format!("expected a text, found {}", node.kind());
                self.error(node.span, message).help = Some("put it in quotes".into());
                None
            }
            _ => self.unexpected(node, "a text"),
        }
    }

    /// A text for people, on one line; empty if there is none.
    fn doc(&mut self, node: Option<&Node>) -> String {
        let text = node.and_then(|node| self.text(node));
        text.map_or(String::new(), |text| text.value.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn name(&mut self, node: &Node, kind: NameKind) -> Option<Spanned<String>> {
        let text = self.text(node)?;
        self.check_name(&text, kind).then_some(text)
    }

    /// The name of a pass, graph or shader file, or a relative path.
    fn file_name(&mut self, node: &Node) -> Option<Spanned<String>> {
        let text = self.text(node)?;
        let word = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_alphanumeric())
                && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
        };
        if is_relative_path(&text.value) || text.value.split('/').all(word) {
            return Some(text);
        }
        let help = "write a name such as `scan/tile_sums`, or a path that starts with `./` or `../`";
        self.error(text.span, format!("`{}` is not the name of a file", text.value)).help = Some(help.into());
        None
    }

    fn flag(&mut self, node: Option<&Node>) -> bool {
        match node.map(|node| (node, &node.data)) {
            None => false,
            Some((_, Data::Bool(flag))) => *flag,
            Some((node, _)) => {
                self.unexpected::<()>(node, "`true` or `false`");
                false
            }
        }
    }

    /// The text of an expression, which YAML may take for a number.
    fn expression_text<'n>(&mut self, node: &'n Node) -> Option<&'n str> {
        match &node.data {
            Data::Text(text) | Data::Number(text) => Some(text),
            _ => self.unexpected(node, "an expression"),
        }
    }

    fn expression(&mut self, node: &Node) -> Option<Spanned<Expr>> {
        let text = self.expression_text(node)?;
        match Expr::parse(text) {
            Ok(value) => Some(Spanned { value, span: node.span }),
            Err(error) => self.bad_expression(node.span, text, error),
        }
    }

    fn bad_expression<T>(&mut self, span: Span, text: &str, error: ParseError) -> Option<T> {
        let place = self.inside(span, text, error.at);
        let diagnostic = self.error(place, error.message);
        diagnostic.help = error.help;
        None
    }

    /// The place of a part of a scalar's text; the whole scalar if it is not written as it is read.
    fn inside(&self, span: Span, text: &str, part: std::ops::Range<usize>) -> Span {
        match self.sources.slice(span).find(text) {
            Some(offset) => {
                let start = span.start + offset as u32;
                Span { file: span.file, start: start + part.start as u32, end: start + part.end as u32 }
            }
            None => span,
        }
    }

    fn word(&mut self, node: &Node) -> Option<Spanned<u32>> {
        let number = match &node.data {
            Data::Number(text) | Data::Text(text) => Expr::parse(text).ok(),
            _ => None,
        };
        match number {
            Some(Expr::Num(number)) if number <= u64::from(u32::MAX) => {
                Some(Spanned { value: number as u32, span: node.span })
            }
            _ => {
                self.error(node.span, "expected a number from 0 to 2^32 - 1");
                None
            }
        }
    }

    fn layout(&mut self, node: &Node) -> Option<Spanned<Layout>> {
        let text = self.text(node)?;
        let layout = parse_layout(&text.value);
        if layout.is_none() {
            let message = format!("`{}` is not a layout", text.value);
            self.error(text.span, message).help = Some(format!("there are {}", grammar::LAYOUTS.join(", ")));
        }
        layout.map(|value| Spanned { value, span: text.span })
    }

    fn element_type(&mut self, node: &Node) -> Option<Spanned<String>> {
        let text = self.text(node)?;
        if parse_layout(&text.value).is_some() || is_identifier(&text.value) {
            return Some(text);
        }
        let help = format!("write the name of a type, or one of {}", grammar::LAYOUTS.join(", "));
        self.error(text.span, format!("`{}` is not an element type", text.value)).help = Some(help);
        None
    }

    // -------------------------------------------------------------------------------------- producers

    fn producer(&mut self, node: &Node) -> Option<Spanned<Producer>> {
        if let Data::Map(_) = &node.data {
            let fields = self.object(node, node.span, &grammar::VALUE)?;
            let value = fields.get("value").and_then(|value| self.expression(value))?;
            return Some(Spanned { value: Producer::Value(value), span: node.span });
        }
        let help = "write `node.port`, the name of an input or join, or `{value: EXPR}`";
        self.reference(node, help)
    }

    /// `node.port` or a name.
    fn reference(&mut self, node: &Node, help: &str) -> Option<Spanned<Producer>> {
        let text = self.text(node)?;
        let producer = match text.value.split_once('.') {
            None if is_path(&text.value) => Some(Producer::Name(text.clone())),
            Some((name, port)) if is_path(name) && is_identifier(port) => {
                let dot = name.len();
                let part = |range: std::ops::Range<usize>| Spanned {
                    value: text.value[range.clone()].to_string(),
                    span: self.inside(text.span, &text.value, range),
                };
                Some(Producer::Port { node: part(0..dot), port: part(dot + 1..text.value.len()) })
            }
            _ => None,
        };
        if producer.is_none() {
            self.error(text.span, format!("`{}` is not a producer", text.value)).help = Some(help.into());
        }
        producer.map(|value| Spanned { value, span: text.span })
    }

    fn port_reference(&mut self, node: &Node) -> Option<Spanned<Producer>> {
        let help = "write `node.port`";
        let producer = self.reference(node, help)?;
        if let Producer::Name(name) = &producer.value {
            self.error(name.span, format!("`{}` names no port", name.value)).help = Some(help.into());
            return None;
        }
        Some(producer)
    }

    /// `node.port` or `node.port[k]`.
    fn port_element(&mut self, node: &Node) -> Option<(Spanned<Producer>, u32)> {
        let text = self.text(node)?;
        let Some((port, index)) = text.value.split_once('[') else {
            return self.port_reference(node).map(|producer| (producer, 0));
        };
        let Some(element) = index.strip_suffix(']').and_then(|index| index.parse().ok()) else {
            let message = format!("`{}` is not an element of a port", text.value);
            self.error(text.span, message).help = Some("write `node.port` or `node.port[3]`".into());
            return None;
        };
        let span = self.inside(text.span, &text.value, 0..port.len());
        let port = Node { span, data: Data::Text(port.to_string()) };
        self.port_reference(&port).map(|producer| (producer, element))
    }

    // ------------------------------------------------------------------------------------------- types

    fn types(&mut self, fields: &Fields<'_>) -> Named<TypeDecl> {
        self.map(fields.entry("types"), NameKind::Identifier, |this, key, node| {
            let fields = this.object(node, key.span, &grammar::TYPE)?;
            if parse_layout(&key.value).is_some() {
                this.error(key.span, format!("`{}` is a layout and cannot be declared", key.value));
            }
            let doc = this.doc(fields.get("doc"));
            let layout = fields.get("layout").and_then(|node| this.layout(node))?;
            Some(TypeDecl { layout, doc })
        })
    }

    fn generics(&mut self, fields: &Fields<'_>) -> Named<Spanned<Layout>> {
        self.map(fields.entry("generics"), NameKind::Identifier, |this, key, node| {
            if parse_layout(&key.value).is_some() {
                this.error(key.span, format!("`{}` is a layout and cannot be a generic", key.value));
            }
            this.layout(node)
        })
    }

    fn symbols(&mut self, fields: &Fields<'_>) -> Named<String> {
        self.map(fields.entry("symbols"), NameKind::Symbol, |this, _, node| Some(this.doc(Some(node))))
    }

    fn overrides(&mut self, fields: &Fields<'_>) -> Named<Spanned<u32>> {
        self.map(fields.entry("overrides"), NameKind::Symbol, |this, _, node| this.word(node))
    }

    fn optional_expression(&mut self, fields: &Fields<'_>, key: &str) -> Option<Spanned<Expr>> {
        fields.get(key).and_then(|node| self.expression(node))
    }

    // -------------------------------------------------------------------------------------------- pass

    fn pass(&mut self, fields: &Fields<'_>) -> Option<PassFile> {
        let name = fields.get("pass").and_then(|node| self.file_name(node));
        let kernel = self.kernel(fields);
        let mut pass = PassFile {
            name: name.unwrap_or(Spanned { value: String::new(), span: fields.owner }),
            doc: self.doc(fields.get("doc")),
            types: self.types(fields),
            symbols: self.symbols(fields),
            generics: self.generics(fields),
            params: self.list(fields.entry("params"), |this, node| this.name(node, NameKind::Symbol)),
            overrides: self.overrides(fields),
            ports: self.map(fields.entry("ports"), NameKind::Identifier, Self::port),
            grid: self.noting_damage(fields, "grid", Self::grid),
            steps: self.noting_damage(fields, "steps", |this, _, node| this.expression(node)),
            traffic: fields.entry("traffic").and_then(|(key, node)| self.traffic(key, node)),
            kernel: kernel?,
            damaged: Vec::new(),
        };
        pass.damaged = std::mem::take(&mut self.damaged);
        (!pass.name.value.is_empty()).then_some(pass)
    }

    fn kernel(&mut self, fields: &Fields<'_>) -> Option<Kernel> {
        if let Some(host) = fields.get("host") {
            return self.name(host, NameKind::Identifier).map(Kernel::Host);
        }
        let files = self.list(fields.entry("shader"), Self::file_name);
        let entry = self.name(fields.get("entry")?, NameKind::Identifier)?;
        if files.is_empty() {
            if let Some((key, _)) = fields.entry("shader") {
                self.error(key.span, "a pass needs at least one shader file");
            }
            return None;
        }
        Some(Kernel::Shader { files, entry })
    }

    fn port(&mut self, key: &Spanned<String>, node: &Node) -> Option<Port> {
        let fields = self.object(node, key.span, &grammar::PORT)?;
        let element = fields.get("type").and_then(|node| self.element_type(node));
        let len = self.optional_expression(&fields, "len");
        let access = fields.get("access").and_then(|node| self.access(node));
        let port = Port {
            at: self.optional_expression(&fields, "at"),
            carries: fields.get("carries").and_then(|node| self.name(node, NameKind::Symbol)),
            codes: fields.entry("codes").and_then(|(key, node)| self.codes(key, node)),
            doc: self.doc(fields.get("doc")),
            element: element?,
            len: len?,
            access: access?,
        };
        Some(port)
    }

    fn access(&mut self, node: &Node) -> Option<Spanned<Access>> {
        let text = self.text(node)?;
        let value = match text.value.as_str() {
            "read" => Access::Read,
            "write" => Access::Write,
            "update" => Access::Update,
            "accumulate" => Access::Accumulate,
            other => {
                let message = format!("`{other}` is not an access");
                let diagnostic = Diagnostic::at(text.span, message);
                let diagnostic = diagnostic.help(format!("there are {}", grammar::ACCESS.join(", ")));
                self.diagnostics.push(diagnostic.suggest(other, grammar::ACCESS.iter().copied()));
                return None;
            }
        };
        Some(Spanned { value, span: text.span })
    }

    fn codes(&mut self, owner: &Spanned<String>, node: &Node) -> Option<Codes> {
        let Data::Map(entries) = &node.data else {
            return self.unexpected(node, "a mapping of codes");
        };
        let mut codes = Codes { unit: String::new(), texts: Vec::new() };
        let mut seen: Vec<&Spanned<String>> = Vec::new();
        for (key, value) in entries {
            if let Some(first) = seen.iter().find(|first| first.value == key.value) {
                self.duplicate(key, first.span);
                continue;
            }
            seen.push(key);
            let text = self.doc(Some(value));
            match key.value.parse::<u32>() {
                Ok(code @ 1..=CODE_MAX) => codes.texts.push((code, text)),
                _ if key.value == "unit" => codes.unit = text,
                _ => {
                    let message = format!("`{}` is not a code", key.value);
                    let help = format!("write `unit`, or a number from 1 to {CODE_MAX}");
                    self.error(key.span, message).help = Some(help);
                }
            }
        }
        if !seen.iter().any(|key| key.value == "unit") {
            let help = "name what the position in the status word counts, such as `block`";
            self.error(owner.span, "`codes` needs `unit`").help = Some(help.into());
        }
        codes.texts.sort();
        Some(codes)
    }

    fn grid(&mut self, key: &Spanned<String>, node: &Node) -> Option<Grid> {
        let fields = self.object(node, key.span, &grammar::GRID)?;
        let threads = self.optional_expression(&fields, "threads").map(Grid::Threads);
        let groups = self.optional_expression(&fields, "groups").map(Grid::Groups);
        threads.or(groups)
    }

    fn traffic(&mut self, key: &Spanned<String>, node: &Node) -> Option<Traffic> {
        let fields = self.object(node, key.span, &grammar::TRAFFIC)?;
        let read = self.optional_expression(&fields, "read");
        let write = self.optional_expression(&fields, "write");
        Some(Traffic { read: read?, write: write? })
    }

    // ------------------------------------------------------------------------------------------- graph

    fn graph(&mut self, fields: &Fields<'_>) -> Option<GraphFile> {
        let head = fields.entry("graph").or_else(|| fields.entry("overlay"));
        let name = head.and_then(|(_, node)| self.file_name(node));
        let names = |this: &mut Self, key: &str| {
            this.list(fields.entry(key), |this: &mut Self, node: &Node| this.name(node, NameKind::Path))
        };
        let mut graph = GraphFile {
            name: name.unwrap_or(Spanned { value: String::new(), span: fields.owner }),
            overlay: head.is_some_and(|(key, _)| key.value == "overlay"),
            doc: self.doc(fields.get("doc")),
            extends: fields.get("extends").and_then(|node| self.file_name(node)),
            with: self.list(fields.entry("with"), Self::file_name),
            remove: names(self, "remove"),
            replace: names(self, "replace"),
            rewire: self.map(fields.entry("rewire"), NameKind::Path, |this, key, node| {
                Some(this.map(Some((key, node)), NameKind::Identifier, |this, _, node| this.producer(node)))
            }),
            symbols: self.symbols(fields),
            lets: self.map(fields.entry("let"), NameKind::Symbol, |this, _, node| this.expression(node)),
            require: self.list(fields.entry("require"), Self::requirement),
            types: self.types(fields),
            generics: self.generics(fields),
            inputs: self.map(fields.entry("inputs"), NameKind::Path, Self::input),
            nodes: self.map(fields.entry("nodes"), NameKind::Path, Self::node),
            joins: self.map(fields.entry("joins"), NameKind::Path, Self::join),
            counts: self.map(fields.entry("counts"), NameKind::Path, Self::count),
            checks: self.map(fields.entry("checks"), NameKind::Path, Self::check),
            outputs: self.map(fields.entry("outputs"), NameKind::Identifier, Self::output),
            damaged: Vec::new(),
        };
        graph.damaged = std::mem::take(&mut self.damaged);
        (!graph.name.value.is_empty()).then_some(graph)
    }

    fn requirement(&mut self, node: &Node) -> Option<Requirement> {
        let fields = self.object(node, node.span, &grammar::REQUIREMENT)?;
        let why = self.doc(fields.get("why"));
        let that = fields.get("that")?;
        let text = self.expression_text(that)?;
        match Expr::parse_relation(text) {
            Ok((left, relation, right)) => {
                let text = Spanned { value: text.to_string(), span: that.span };
                Some(Requirement { text, left, relation, right, why })
            }
            Err(error) => self.bad_expression(that.span, text, error),
        }
    }

    fn input(&mut self, key: &Spanned<String>, node: &Node) -> Option<InputDecl> {
        let fields = self.object(node, key.span, &grammar::INPUT)?;
        let element = fields.get("type").and_then(|node| self.element_type(node));
        let len = self.optional_expression(&fields, "len");
        let doc = self.doc(fields.get("doc"));
        Some(InputDecl { element: element?, len: len?, doc })
    }

    fn node(&mut self, key: &Spanned<String>, node: &Node) -> Option<NodeDecl> {
        let fields = self.object(node, key.span, &grammar::NODE)?;
        let pass = fields.get("pass").and_then(|node| self.file_name(node)).map(Placed::Pass);
        let used = fields.get("use").and_then(|node| self.file_name(node)).map(Placed::Use);
        let declared = NodeDecl {
            bind: self.map(fields.entry("bind"), NameKind::Symbol, |this, _, node| this.expression(node)),
            inputs: self.map(fields.entry("in"), NameKind::Identifier, |this, _, node| this.producer(node)),
            generics: self
                .map(fields.entry("as"), NameKind::Identifier, |this, _, node| this.element_type(node)),
            overrides: self.overrides(&fields),
            stage: fields.get("stage").and_then(|node| self.name(node, NameKind::Identifier)),
            doc: self.doc(fields.get("doc")),
            placed: pass.or(used)?,
        };
        Some(declared)
    }

    fn join(&mut self, key: &Spanned<String>, node: &Node) -> Option<JoinDecl> {
        let fields = self.object(node, key.span, &grammar::JOIN)?;
        let parts = self.list(fields.entry("parts"), Self::port_reference);
        let len = self.optional_expression(&fields, "len");
        Some(JoinDecl { parts, len: len? })
    }

    fn count(&mut self, key: &Spanned<String>, node: &Node) -> Option<CountDecl> {
        let fields = self.object(node, key.span, &grammar::COUNT)?;
        let from = fields.get("from").and_then(|node| self.port_element(node));
        let max = self.optional_expression(&fields, "max");
        let awaited = self.flag(fields.get("await"));
        let (from, element) = from?;
        Some(CountDecl { from, element, max: max?, awaited })
    }

    fn check(&mut self, key: &Spanned<String>, node: &Node) -> Option<CheckDecl> {
        let fields = self.object(node, key.span, &grammar::CHECK)?;
        let from = fields.get("from").and_then(|node| self.port_reference(node));
        let awaited = self.flag(fields.get("await"));
        Some(CheckDecl { from: from?, awaited })
    }

    fn output(&mut self, key: &Spanned<String>, node: &Node) -> Option<OutputDecl> {
        let fields = self.object(node, key.span, &grammar::OUTPUT)?;
        let help = "write `node.port`, or the name of a join";
        let from = fields.get("from").and_then(|node| self.reference(node, help));
        let len = self.optional_expression(&fields, "len");
        let doc = self.doc(fields.get("doc"));
        Some(OutputDecl { from: from?, len, doc })
    }
}
