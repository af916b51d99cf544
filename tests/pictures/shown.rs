//! Pictures and JSON of real graphs: those that are shipped.

use std::collections::HashSet;
use std::process::Command;

use serde_json::Value as Json;
use weft::graph::diagnostic::Diagnostics;
use weft::graph::load::{Loader, Shaders};
use weft::graph::model::Graph;
use weft::graph::resolve::resolve_argument;
use weft::graph::source::{Kind, Library};
use weft::report::layout::layout;
use weft::report::show::{Sizes, diagram, json};
use weft::report::svg::{Theme, svg};

use super::{leave, random, xml};

/// Every shipped graph; shaders do not matter here.
fn shipped() -> Vec<(String, Graph)> {
    let mut diagnostics = Diagnostics::new();
    let mut loader = Loader::new(Library::new(Vec::new(), Vec::new()), Shaders::Ignore, &mut diagnostics);
    let names = loader.library().names(Kind::Graph);
    // Overlays do not resolve; that all graphs do is another test's business.
    let graphs = names.into_iter().filter_map(|name| {
        let graph = resolve_argument(&mut loader, &name, &mut Diagnostics::new())?;
        Some((name, graph))
    });
    graphs.collect()
}

#[test]
fn every_shipped_graph_has_a_picture() {
    let graphs = shipped();
    assert!(graphs.iter().any(|(name, _)| name == "sort/radix"));
    for (name, graph) in graphs {
        let diagram = diagram(&graph, &Sizes::default());
        random::check(&diagram, &layout(&diagram).expect("a consistent diagram")).expect("the promises");
        let text = svg(&diagram, Theme::Auto).expect("a consistent diagram");
        assert_eq!(xml::check(&text), Ok(()));
        leave(&format!("{}.svg", name.replace('/', "-")), &text);
    }
}

fn names<'a>(list: &'a Json, what: &str) -> HashSet<&'a str> {
    let all = list.as_array().unwrap();
    let names = all.iter().map(|entry| entry["name"].as_str().unwrap()).collect::<HashSet<_>>();
    assert_eq!(names.len(), all.len(), "names of {what} are unique");
    names
}

#[test]
fn json_refers_to_what_is_there() {
    for (name, graph) in shipped() {
        let json = serde_json::to_value(json(&graph, &Sizes::default())).unwrap();
        let (nodes, values) = (names(&json["nodes"], "nodes"), names(&json["values"], "values"));
        let value = |json: &Json| json.is_null() || values.contains(json.as_str().unwrap());
        let node = |json: &Json| nodes.contains(json.as_str().unwrap());
        for list in ["inputs", "counts", "checks", "outputs"] {
            names(&json[list], list);
            assert!(json[list].as_array().unwrap().iter().all(|entry| value(&entry["value"])), "{name}");
        }
        for entry in json["values"].as_array().unwrap() {
            assert!(value(&entry["previous"]) && entry["readers"].as_array().unwrap().iter().all(node));
        }
        let order = json["nodes"].as_array().unwrap();
        for entry in order {
            let ports = entry["ports"].as_array().unwrap();
            assert!(ports.iter().all(|port| value(&port["before"]) && value(&port["after"])));
        }
        let place = |name: &Json| order.iter().position(|node| node["name"] == *name).unwrap();
        for edge in json["edges"].as_array().unwrap() {
            assert!(place(&edge["from"]) < place(&edge["to"]) && value(&edge["value"]));
        }
        let listed = json["segments"].as_array().unwrap().iter().flat_map(|s| s["nodes"].as_array().unwrap());
        assert_eq!(listed.collect::<Vec<_>>(), order.iter().map(|node| &node["name"]).collect::<Vec<_>>());
    }
}

fn show(arguments: &[&str]) -> (i32, String, String) {
    let weft = Command::new(env!("CARGO_BIN_EXE_weft")).arg("show").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (weft.status.code().unwrap(), text(weft.stdout), text(weft.stderr))
}

#[test]
fn the_command_gives_numbers() {
    let (code, out, _) = show(&["scan/exclusive", "--format", "json", "--set", "n=10000"]);
    assert_eq!(code, 0);
    let json: Json = serde_json::from_str(&out).unwrap();
    assert_eq!(json["symbols"][0]["number"], 10000);
    let sums = json["values"].as_array().unwrap().iter().find(|value| value["name"] == "apply.sums").unwrap();
    assert_eq!((&sums["len"]["number"], &sums["bytes"]), (&Json::from(10000), &Json::from(40000)));
    let (code, out, _) = show(&["scan/exclusive", "--set", "n=2^20"]);
    assert!(code == 0 && xml::check(&out) == Ok(()) && out.contains("4.00 MiB"));
    let (code, out, _) = show(&["scan/exclusive", "--format", "dot"]);
    assert!(code == 0 && out.starts_with("digraph \"scan/exclusive\" {"));
}

#[test]
fn the_command_refuses_numbers_that_do_not_fit() {
    for (set, message) in [
        ("items=1", "weft: the graph has no symbol or count `items`; it has n\n"),
        (
            "n=2^31+1",
            "weft: `n <= 2^31` does not hold: 2147483649 against 2147483648 (item indices, rounded up to whole tiles, are \
             32-bit numbers)\n",
        ),
    ] {
        let (code, out, error) = show(&["scan/exclusive", "--set", set]);
        assert_eq!((code, out.as_str(), error.as_str()), (1, "", message));
    }
    let (code, _, error) = show(&["scan/exclusive", "--set", "n=1", "--set", "n=2"]);
    assert_eq!((code, error.as_str()), (1, "weft: `n` is given twice\n"));
    assert_eq!(show(&["scan/exclusive", "--set", "n"]).0, 2);
}

#[test]
fn a_picture_is_not_overwritten_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scan.svg");
    let path = path.to_str().unwrap();
    assert_eq!(show(&["scan/exclusive", "-o", path]).0, 0);
    let first = std::fs::read_to_string(path).unwrap();
    assert_eq!(xml::check(&first), Ok(()));
    assert_eq!(show(&["sort/radix", "-o", path]).0, 1);
    assert_eq!(std::fs::read_to_string(path).unwrap(), first);
    assert_eq!(show(&["sort/radix", "-o", path, "--force"]).0, 0);
    assert_ne!(std::fs::read_to_string(path).unwrap(), first);
}
