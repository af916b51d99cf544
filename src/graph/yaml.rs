//! YAML to a tree of nodes that know their places. Nothing here knows which keys a file may have.
//!
//! Serde stops at its first error, so nothing is deserialized into structs: everything becomes a [`Node`], duplicate
//! keys included, and the next phase reports what it does not like. Anchors and aliases work; merge keys do not.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_yaml::budget::BudgetBreach;
use serde_yaml::options::{DuplicateKeyPolicy, MergeKeyPolicy, NonFiniteFloatPolicy};
use serde_yaml::{DefaultMessageFormatter, MessageFormatter, Options};

use super::diagnostic::Diagnostic;
use super::document::{FileId, Span, Spanned};
use super::source::SourceMap;

/// How deeply the mappings and lists of a file may nest.
const DEPTH_MAX: usize = 16;

/// How many nodes a file may have once its aliases are replaced.
const NODES_MAX: usize = 50_000;

/// A value of a YAML file.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its place. For a collection its opening bracket, in block style its first key or entry.
    pub span: Span,
    /// What it is.
    pub data: Data,
}

/// What a node is.
#[derive(Clone, Debug)]
pub enum Data {
    /// Nothing, `null` or `~`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it is written.
    Number(String),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping in file order, duplicate keys included.
    Map(Vec<(Spanned<String>, Node)>),
}

impl Node {
    /// What it is, for messages.
    pub fn kind(&self) -> &'static str {
        match self.data {
            Data::Null => "nothing",
            Data::Bool(_) => "a truth value",
            Data::Number(_) => "a number",
            Data::Text(_) => "a text",
            Data::List(_) => "a list",
            Data::Map(_) => "a mapping",
        }
    }
}

/// Reads a file. The error is the first breach of YAML's syntax or of the limits.
pub fn parse(sources: &SourceMap, file: FileId) -> Result<Node, Box<Diagnostic>> {
    let text = sources.text(file);
    let parsed = serde_yaml::from_str_with_options::<Located>(text, options());
    let root = parsed.map_err(|error| Box::new(syntax_error(sources, file, &error)))?;
    TreeBuilder { sources, file }.node(root)
}

fn options() -> Options {
    serde_yaml::options! {
        budget: serde_yaml::budget! {
            max_depth: DEPTH_MAX,
            max_nodes: NODES_MAX,
            max_events: 4 * NODES_MAX,
            max_documents: 2,
        },
        alias_limits: serde_yaml::alias_limits! { max_total_replayed_events: NODES_MAX },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        merge_keys: MergeKeyPolicy::AsOrdinary,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        strict_booleans: true,
        reject_unsupported_tags: true,
        with_snippet: false,
    }
}

/// The parser gives syntax errors a line and a column, but no range.
fn syntax_error(sources: &SourceMap, file: FileId, error: &serde_yaml::Error) -> Diagnostic {
    let start = match error.location() {
        Some(at) => sources.byte_at(file, at.line() as usize, at.column() as usize),
        None => 0,
    };
    let error = error.without_snippet();
    let message = match error {
        serde_yaml::Error::MultipleDocuments { .. } => "a file holds one document".to_string(),
        serde_yaml::Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => {
            format!("mappings and lists nest more than {DEPTH_MAX} deep")
        }
        serde_yaml::Error::Budget { .. } | serde_yaml::Error::AliasReplayLimitExceeded { .. } => {
            format!(
                "the file has too many parts; it may have {NODES_MAX} values, what aliases stand for included"
            )
        }
        _ => format!("not valid YAML: {}", first_line(error)),
    };
    Diagnostic::at(Span { file, start, end: start }, message)
}

fn first_line(error: &serde_yaml::Error) -> String {
    let message = DefaultMessageFormatter.format_message(error);
    message.lines().next().unwrap_or_default().to_string()
}

type Located = serde_yaml::Spanned<Raw>;

/// What serde sees.
enum Raw {
    Null,
    Bool(bool),
    Number,
    Text(String),
    List(Vec<Located>),
    Map(Vec<(Located, Located)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Raw, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        Raw::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Bool(value))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Raw, E> {
        Ok(Raw::Number)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Raw, E> {
        Ok(Raw::Number)
    }

    fn visit_i128<E>(self, _: i128) -> Result<Raw, E> {
        Ok(Raw::Number)
    }

    fn visit_u128<E>(self, _: u128) -> Result<Raw, E> {
        Ok(Raw::Number)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Raw, E> {
        Ok(Raw::Number)
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Text(value.to_string()))
    }

    fn visit_string<E>(self, value: String) -> Result<Raw, E> {
        Ok(Raw::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(entry) = entries.next_element()? {
            list.push(entry);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut map = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            map.push(entry);
        }
        Ok(Raw::Map(map))
    }
}

struct TreeBuilder<'a> {
    sources: &'a SourceMap,
    file: FileId,
}

impl TreeBuilder<'_> {
    fn node(&self, located: Located) -> Result<Node, Box<Diagnostic>> {
        let own_span = self.span(located.referenced);
        let (span, data) = match located.value {
            Raw::Null => (own_span, Data::Null),
            Raw::Bool(value) => (own_span, Data::Bool(value)),
            // The number is read from where it is defined, which differs from its place for an alias.
            Raw::Number => {
                let text = self.sources.slice(self.span(located.defined));
                (own_span, Data::Number(text.trim().to_string()))
            }
            Raw::Text(text) => (own_span, Data::Text(text)),
            Raw::List(entries) => {
                let entries = entries.into_iter().map(|e| self.node(e)).collect::<Result<Vec<_>, _>>()?;
                let first = entries.first().map(|entry| entry.span);
                (collection_span(own_span, first), Data::List(entries))
            }
            Raw::Map(entries) => {
                let entry = |(key, value)| Ok((self.key(key)?, self.node(value)?));
                let entries = entries.into_iter().map(entry).collect::<Result<Vec<_>, Box<Diagnostic>>>()?;
                let first = entries.first().map(|(key, _)| key.span);
                (collection_span(own_span, first), Data::Map(entries))
            }
        };
        Ok(Node { span, data })
    }

    fn key(&self, located: Located) -> Result<Spanned<String>, Box<Diagnostic>> {
        let node = self.node(located)?;
        let value = match node.data {
            Data::Text(text) | Data::Number(text) => text,
            Data::Null | Data::Bool(_) => self.sources.slice(node.span).to_string(),
            Data::List(_) | Data::Map(_) => {
                return Err(Box::new(Diagnostic::at(node.span, format!("a key cannot be {}", node.kind()))));
            }
        };
        Ok(Spanned { value, span: node.span })
    }

    fn span(&self, location: serde_yaml::Location) -> Span {
        let span = location.span();
        let start = span.byte_offset().unwrap_or(0);
        let end = start.saturating_add(span.byte_len().unwrap_or(0));
        let byte = |at: u64| u32::try_from(at).unwrap_or(u32::MAX);
        let whole = Span { file: self.file, start: byte(start), end: byte(end) };
        let range = self.sources.clamp(whole);
        let trimmed = self.sources.slice(whole).trim_end().len();
        Span { file: self.file, start: range.start as u32, end: (range.start + trimmed) as u32 }
    }
}

/// The span of a flow collection is its opening bracket, that of a block collection is empty.
fn collection_span(own: Span, first: Option<Span>) -> Span {
    if own.start == own.end { first.unwrap_or(own) } else { own }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(text: &str) -> Result<String, String> {
        let mut sources = SourceMap::default();
        let file = sources.add("f", text);
        match parse(&sources, file) {
            Ok(node) => Ok(shown(&node)),
            Err(error) => {
                let at = error.primary.as_ref().unwrap().span;
                let (line, column) = sources.line_column(file, at.start);
                Err(format!("{line}:{column}: {}", error.message))
            }
        }
    }

    fn shown(node: &Node) -> String {
        let place = |span: Span| format!("{}..{}", span.start, span.end);
        let inner = match &node.data {
            Data::Null => "null".to_string(),
            Data::Bool(value) => value.to_string(),
            Data::Number(text) => text.clone(),
            Data::Text(text) => format!("{text:?}"),
            Data::List(entries) => {
                format!("[{}]", entries.iter().map(shown).collect::<Vec<_>>().join(", "))
            }
            Data::Map(entries) => {
                let entry =
                    |(k, v): &(Spanned<String>, Node)| format!("{} {}: {}", place(k.span), k.value, shown(v));
                format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
            }
        };
        format!("{} {inner}", place(node.span))
    }

    #[test]
    fn places() {
        for (text, expected) in [
            (
                "a: 1\nb:\n  c: [x, \"y\"]\n",
                "0..1 {0..1 a: 3..4 1, 5..6 b: 10..11 {10..11 c: 13..14 [14..15 \"x\", 17..20 \"y\"]}}",
            ),
            ("a: é + b  # why\n", "0..1 {0..1 a: 3..9 \"é + b\"}"),
            ("a: {b: 1,\n  c: 2}", "0..1 {0..1 a: 3..4 {4..5 b: 7..8 1, 12..13 c: 15..16 2}}"),
            ("- a\n- b\n", "2..3 [2..3 \"a\", 6..7 \"b\"]"),
            ("a:\n", "0..1 {0..1 a: 1..1 null}"),
            ("a: &x 7\nb: *x\n", "0..1 {0..1 a: 6..7 7, 8..9 b: 11..13 7}"),
            ("a: 1\na: 2\n", "0..1 {0..1 a: 3..4 1, 5..6 a: 8..9 2}"),
            ("", "0..0 null"),
        ] {
            assert_eq!(tree(text), Ok(expected.to_string()), "{text:?}");
        }
    }

    #[test]
    fn scalars_are_not_reinterpreted() {
        for (text, expected) in [
            ("[on, no, yes, y, true]", r#"["on", "no", "yes", "y", true]"#),
            ("[010, 0x1F, 1_000, -3, 1.5, 1e3]", r#"["010", 0x1F, "1_000", -3, 1.5, 1e3]"#),
            ("[.nan, '7', 18446744073709551616]", r#"[".nan", "7", 18446744073709551616]"#),
            ("{0xB: a, 11: b, <<: c}", r#"{0xB: "a", 11: "b", <<: "c"}"#),
        ] {
            let tree = tree(text).unwrap();
            let places = |word: &&str| !word.contains("..");
            let bare = tree.replace("{", "{ ").replace("[", "[ ");
            let bare = bare.split(' ').filter(places).collect::<Vec<_>>().join(" ");
            assert_eq!(bare.replace("{ ", "{").replace("[ ", "["), expected);
        }
    }

    #[test]
    fn hostile_files_are_refused_quickly() {
        let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
        let deep_blocks: String = (0..2000).map(|d| format!("{}a:\n", " ".repeat(d))).collect();
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_string();
        for k in 1..9 {
            let alias = format!("*a{}", k - 1);
            bomb.push_str(&format!("a{k}: &a{k} [{}]\n", vec![alias; 9].join(", ")));
        }
        let wide = format!("[{}]", "1,".repeat(NODES_MAX + 1));
        for text in [deep, deep_blocks, bomb, wide, "a: &a [*a]".to_string(), "? [a, b]\n: 1".to_string()] {
            assert!(tree(&text).is_err(), "{}", &text[..40.min(text.len())]);
        }
    }

    #[test]
    fn syntax_errors_have_a_place() {
        for (text, expected) in [
            ("a: [1, 2\nb: 3\n", "2:2: not valid YAML: illegal placement of ':' indicator"),
            ("a: \"x\n", "1:4: not valid YAML: unclosed quote"),
            ("a: 1\n b: 2\n", "2:3: not valid YAML: mapping values are not allowed in this context"),
            ("a: 1\n---\nb: 2\n", "3:1: a file holds one document"),
            ("a: !custom 1\n", "1:12: not valid YAML: unsupported tag `!custom`"),
            ("a: *nothing\n", "1:4: not valid YAML: alias references unknown anchor"),
        ] {
            assert_eq!(tree(text), Err(expected.to_string()), "{text:?}");
        }
    }
}
