//! Every shipped graph, with numbers for its symbols that a caller could give.

use std::collections::BTreeMap;

use weft::graph::diagnostic::Diagnostics;
use weft::graph::load::{Loader, Shaders};
use weft::graph::model::Graph;
use weft::graph::resolve::resolve_argument;
use weft::graph::source::{Kind, Library};

/// The names of all shipped graphs; overlays are none.
pub fn names() -> Vec<String> {
    let mut library = Library::new(Vec::new(), Vec::new());
    let mut names = library.names(Kind::Graph);
    names.retain(|name| {
        let file = library.open_argument(Kind::Graph, name).expect("it is in the list");
        library.sources().text(file).lines().any(|line| line.starts_with("graph:"))
    });
    names
}

/// A graph by its shipped name, resolved without its shaders, which planning does not need.
pub fn shipped(name: &str) -> Graph {
    let mut diagnostics = Diagnostics::new();
    let mut loader = Loader::new(Library::new(Vec::new(), Vec::new()), Shaders::Ignore, &mut diagnostics);
    let graph = resolve_argument(&mut loader, name, &mut diagnostics);
    graph.unwrap_or_else(|| panic!("{}", diagnostics.render(loader.sources(), false)))
}

/// Numbers for all symbols of a graph: `records` items, or two files of so many records in all.
pub fn sizes(graph: &Graph, records: u64) -> BTreeMap<String, u64> {
    let number = |name: &str| {
        let (records, what) = match name.split_once('_') {
            Some(("older", what)) => (records - records / 3, what),
            Some(("newer", what)) => (records / 3, what),
            _ => (records, name),
        };
        match what {
            "n" => records,
            "shift" => 8,
            "words" => 100 + 16 * records,
            "payload_bits" | "universe" => 100 * records,
            "payload_bytes" => 13 * records,
            "common_bits" | "common_bytes" | "exceptions" => 0,
            "last_key_bits" => 400,
            "last_key_bytes" => 50,
            "low_width" => 10,
            _ => records,
        }
    };
    graph.symbols.iter().map(|symbol| (symbol.name.clone(), number(&symbol.name))).collect()
}
