//! Resolving graphs: the text of every error, what the flat graph looks like, identity, `expand` and `explain`.
//!
//! The cases are in `tests/resolve/cases`: a heading `=== name`, files after `--- file.yaml` of which the first is
//! resolved, and after `--- expected` the whole text of the errors. With `UPDATE_EXPECT=1` in the environment the expected
//! texts are written instead of compared.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use weft::graph::diagnostic::Diagnostics;
use weft::graph::document::Access;
use weft::graph::expand::expand;
use weft::graph::explain::{Explanation, explain};
use weft::graph::load::{Loader, Shaders};
use weft::graph::model::{Graph, Origin, Reason};
use weft::graph::resolve::resolve_argument;
use weft::graph::source::{Kind, Library};

#[path = "resolve/mutations.rs"]
mod mutations;

const PASSES: &str = "tests/resolve/passes";

/// Resolves a graph, without shaders: the graph, or the text of the errors.
fn resolve(passes: &Path, graph: &str) -> Result<Graph, String> {
    let mut diagnostics = Diagnostics::new();
    let library = Library::new(vec![passes.to_path_buf()], Vec::new());
    let mut loader = Loader::new(library, Shaders::Ignore, &mut diagnostics);
    let graph = resolve_argument(&mut loader, graph, &mut diagnostics);
    let text = diagnostics.render(loader.sources(), false);
    assert_eq!(
        graph.is_some(),
        diagnostics.is_empty(),
        "a graph or errors, not both and not neither: {text}"
    );
    graph.ok_or_else(|| diagnostics.render(loader.sources(), false))
}

/// Writes files into a new folder and resolves the first of them.
fn resolve_files(files: &[(&str, &str)]) -> Result<Graph, String> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().join(files[0].0);
    let outcome = resolve(Path::new(PASSES), path.to_str().unwrap());
    outcome.map_err(|text| text.replace(&format!("{}/", folder.path().display()), ""))
}

/// A graph of the test passes, from the sections after its head.
fn graph(sections: &str) -> Graph {
    resolve_files(&[("graph.yaml", &format!("graph: test\ndoc: A test.\n{sections}"))])
        .unwrap_or_else(|text| panic!("{text}"))
}

struct Case {
    name: String,
    files: Vec<(String, String)>,
    expected: String,
}

fn cases(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut part: Option<&str> = None;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("=== ") {
            cases.push(Case { name: name.to_string(), files: Vec::new(), expected: String::new() });
            part = None;
            continue;
        }
        let case = cases.last_mut().expect("a heading comes first");
        if let Some(name) = line.strip_prefix("--- ") {
            part = Some(name);
            if name != "expected" {
                case.files.push((name.to_string(), String::new()));
            }
            continue;
        }
        let target = match part {
            Some("expected") => &mut case.expected,
            _ => &mut case.files.last_mut().expect("a file comes first").1,
        };
        let _ = writeln!(target, "{line}");
    }
    for case in &mut cases {
        case.expected = format!("{}\n", case.expected.trim_end());
    }
    cases
}

fn written(cases: &[Case]) -> String {
    let mut text = String::new();
    for case in cases {
        let _ = writeln!(text, "=== {}", case.name);
        for (name, file) in &case.files {
            let _ = write!(text, "--- {name}\n{file}");
        }
        let _ = write!(text, "--- expected\n{}\n", case.expected);
    }
    format!("{}\n", text.trim_end())
}

#[test]
fn every_error_has_its_text() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut files: Vec<PathBuf> =
        fs::read_dir("tests/resolve/cases").unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut wrong = String::new();
    for path in files {
        let mut cases = cases(&fs::read_to_string(&path).unwrap());
        for case in &mut cases {
            let files: Vec<(&str, &str)> = case.files.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
            let text = match resolve_files(&files) {
                Ok(_) => "no errors\n".to_string(),
                Err(text) => text,
            };
            if text != case.expected {
                let _ = writeln!(wrong, "{} in {}:\n{text}", case.name, path.display());
            }
            case.expected = text;
        }
        if update {
            fs::write(&path, written(&cases)).unwrap();
        }
    }
    assert!(update || wrong.is_empty(), "{wrong}");
}

// -------------------------------------------------------------------------------------------- the flat graph

fn node<'g>(graph: &'g Graph, name: &str) -> &'g weft::graph::model::Node {
    graph.nodes.iter().find(|node| node.name == name).unwrap_or_else(|| panic!("no node {name}"))
}

/// The value at a port of a node, before it if it takes one.
fn value<'g>(graph: &'g Graph, node_name: &str, port: &str) -> &'g weft::graph::model::Value {
    let node = node(graph, node_name);
    let port = node.pass.port_index(port).unwrap();
    let binding = &node.bindings[port];
    &graph.values[binding.before.or(binding.after).unwrap().0 as usize]
}

fn reasons(graph: &Graph, from: &str, to: &str) -> Vec<Reason> {
    match explain(graph, from, to).unwrap() {
        Explanation::Direct(steps) => steps.iter().map(|step| step.edge.reason).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn carried_numbers_are_wired_by_themselves() {
    let graph = graph(
        "symbols: {n: ordinals}
inputs: {given: {type: place, len: n}}
nodes:
  kept: {pass: make/kept, bind: {m: total}, in: {ordinals: given}}
  all: {pass: take/carried, in: {ordinals: given}}
  some: {pass: take/carried, bind: {n: total}, in: {ordinals: kept.kept}}
  same: {pass: take/carried, bind: {n: n}, in: {ordinals: given}}
counts: {total: {from: kept.total, max: n}}
outputs: {all: {from: all.made}, some: {from: some.made}, same: {from: same.made}}
",
    );
    assert!(matches!(&value(&graph, "all", "n_items").origin, Origin::Constant(n) if n.to_string() == "n"));
    assert_eq!(value(&graph, "some", "n_items").name, "kept.total");
    assert_eq!(value(&graph, "same", "n_items").name, value(&graph, "all", "n_items").name);
    assert_eq!(value(&graph, "some", "ordinals").len.to_string(), "total");
    assert_eq!(graph.at_most(&value(&graph, "some", "ordinals").len).to_string(), "n");
    assert_eq!(graph.segments, 1);
}

#[test]
fn awaited_counts_and_checks_and_host_passes_cut_segments() {
    let graph = graph(
        "symbols: {n: ordinals}
inputs: {given: {type: place, len: n}}
nodes:
  kept: {pass: make/kept, bind: {m: total}, in: {ordinals: given}}
  told: {pass: take/told, bind: {n: total}, in: {ordinals: kept.kept}}
  status: {pass: make/status, in: {ordinals: given}}
  after: {pass: make/offsets, in: {ordinals: status.same}}
  look: {pass: host/look, bind: {n: total}, in: {ordinals: kept.kept}}
  seen: {pass: make/offsets, bind: {n: total}, in: {ordinals: look.seen}}
  look_at_input: {pass: host/look, in: {ordinals: given}}
counts: {total: {from: kept.total, max: n, await: true}}
checks: {ascends: {from: status.status, await: true}}
outputs:
  told: {from: told.made}
  after: {from: after.made}
  seen: {from: seen.made}
  input: {from: look_at_input.seen}
",
    );
    let segments: BTreeMap<&str, u32> = graph.nodes.iter().map(|n| (n.name.as_str(), n.segment)).collect();
    let expected = [
        ("after", 1),
        ("kept", 0),
        ("look", 1),
        ("look_at_input", 0),
        ("seen", 1),
        ("status", 0),
        ("told", 1),
    ];
    assert_eq!(segments, BTreeMap::from(expected));
    assert_eq!(graph.segments, 2);
    assert_eq!(reasons(&graph, "kept", "told"), [Reason::ReadAfterWrite, Reason::Await]);
    assert_eq!(reasons(&graph, "status", "after"), [Reason::ReadAfterWrite, Reason::Await]);
    assert_eq!(graph.checks[0].codes.texts, [(1, "it does not ascend".to_string())]);
}

#[test]
fn versions_share_a_buffer_and_order_their_readers() {
    let graph = graph(
        "symbols: {n: ordinals}
nodes:
  numbers: {pass: make/ordinals}
  zeros: {pass: make/filled, as: {element: u32}}
  one: {pass: take/mark, bind: {all: n}, in: {ordinals: numbers.made, marks: zeros.filled}}
  two: {pass: take/mark, bind: {all: n}, in: {ordinals: numbers.made, marks: zeros.filled}}
  copy: {pass: take/copy, in: {items: two.marks}}
  before: {pass: make/offsets, in: {ordinals: numbers.made}}
  bumped: {pass: take/bump, in: {ordinals: numbers.made}}
outputs: {marks: {from: copy.copied}, before: {from: before.made}, after: {from: bumped.ordinals}}
",
    );
    let marks = value(&graph, "copy", "items");
    assert_eq!(marks.name, "one.marks");
    assert_eq!(marks.writers().len(), 2);
    assert_eq!(marks.buffer, value(&graph, "one", "marks").buffer);
    assert_eq!(graph.buffers[marks.buffer.0 as usize].versions.len(), 2);
    assert_eq!(reasons(&graph, "one", "copy"), [Reason::ReadAfterWrite]);
    assert_eq!(reasons(&graph, "two", "copy"), [Reason::ReadAfterWrite]);
    assert_eq!(reasons(&graph, "zeros", "two"), [Reason::Accumulate]);
    assert_eq!(reasons(&graph, "one", "two"), []);
    assert_eq!(reasons(&graph, "before", "bumped"), [Reason::WriteAfterRead]);
    assert_eq!(reasons(&graph, "one", "bumped"), [Reason::WriteAfterRead]);
    assert_eq!(reasons(&graph, "numbers", "bumped"), [Reason::Update]);
    let port = node(&graph, "bumped").bindings[0].clone();
    assert_eq!(port.access, Access::Update);
    assert_ne!(port.before, port.after);
}

#[test]
fn joins_are_one_value_with_several_writers() {
    let graph = graph(
        "symbols: {a: some, b: others}
let: {all: a + b}
nodes:
  right: {pass: make/part, bind: {n: b, first: a}}
  left: {pass: make/part, bind: {n: a, first: 0}}
  offsets: {pass: make/offsets, bind: {n: all}, in: {ordinals: whole}}
joins: {whole: {parts: [right.made, left.made], len: b + a}}
outputs: {offsets: {from: offsets.made}}
",
    );
    let whole = value(&graph, "offsets", "ordinals");
    assert!(whole.is_join());
    assert_eq!(whole.name, "whole");
    assert_eq!(value(&graph, "left", "made").name, "whole");
    assert_eq!(node(&graph, "right").bindings[0].at.to_string(), "a");
    assert_eq!(reasons(&graph, "left", "offsets"), [Reason::Join]);
}

const SUBGRAPHS: [(&str, &str); 2] = [
    (
        "graph.yaml",
        "graph: test
doc: A test.
symbols: {n: ordinals}
nodes:
  numbers: {pass: make/ordinals}
  first: {use: ./inner.yaml, bind: {k: n}, in: {items: numbers.made}}
  second: {use: ./inner.yaml, bind: {k: first/some}, in: {items: first.kept}}
counts: {last: {from: second.total, max: n}}
outputs: {kept: {from: second.kept, len: last}}
",
    ),
    (
        "inner.yaml",
        "graph: inner
doc: Keeps some.
symbols: {k: items}
types: {pair: {layout: vec2<u32>, doc: two words}, spare: {layout: u32, doc: not used}}
inputs: {items: {type: place, len: k}}
require: [{that: k <= 2^20, why: it is a test}]
nodes:
  kept: {pass: make/kept, bind: {n: k, m: some}, in: {ordinals: items}}
  unused: {pass: make/offsets, bind: {n: k}, in: {ordinals: items}}
  ascends: {pass: make/status, bind: {n: k}, in: {ordinals: items}}
counts: {some: {from: kept.total, max: k}}
checks: {sure: {from: ascends.status}}
outputs: {kept: {from: kept.kept}, total: {from: kept.total}, offsets: {from: unused.made}}
",
    ),
];

#[test]
fn subgraphs_are_flattened_with_names_and_numbers() {
    let graph = resolve_files(&SUBGRAPHS).unwrap();
    let names: Vec<&str> = graph.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["numbers", "first/ascends", "first/kept", "second/ascends", "second/kept"]);
    let counts: Vec<String> =
        graph.counts.iter().map(|count| format!("{} <= {}", count.name, count.max)).collect();
    assert_eq!(counts, ["first/some <= n", "last <= n"], "one number has one name, the outermost");
    let bounds: Vec<String> = graph
        .bounds
        .iter()
        .map(|bound| format!("{}: {} <= {}", bound.text, bound.left, bound.right))
        .collect();
    assert_eq!(bounds, ["first/some <= 2^20: n <= 2^20", "n <= 2^20: n <= 2^20"]);
    let checks: Vec<&str> = graph.checks.iter().map(|check| check.name.as_str()).collect();
    assert_eq!(checks, ["first/sure", "second/sure"]);
    assert_eq!(value(&graph, "second/kept", "kept").len.to_string(), "last");
}

// ----------------------------------------------------------------------------------- expand, identity, explain

/// Expands, resolves that and expands again: text and identity stay.
fn check_round_trip(passes: &Path, graph: &Graph) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flat.yaml");
    let text = expand(graph);
    fs::write(&path, &text).unwrap();
    let again = resolve(passes, path.to_str().unwrap()).unwrap_or_else(|errors| panic!("{text}\n{errors}"));
    assert_eq!(again.identity, graph.identity, "{text}");
    assert_eq!(expand(&again), text);
}

#[test]
fn expanding_what_was_expanded_changes_nothing() {
    let graph = resolve_files(&SUBGRAPHS).unwrap();
    let text = expand(&graph);
    assert!(!text.contains("spare") && !text.contains("unused"), "{text}");
    check_round_trip(Path::new(PASSES), &graph);
    let library = Library::new(Vec::new(), Vec::new());
    let names = library.names(Kind::Graph);
    let mut whole = 0;
    for name in names {
        if let Ok(graph) = resolve(Path::new("passes"), &name) {
            check_round_trip(Path::new("passes"), &graph);
            whole += 1;
        }
    }
    assert!(whole >= 8, "only {whole} shipped graphs resolve");
}

fn identity_of(files: &[(&str, &str)]) -> String {
    resolve_files(files).unwrap_or_else(|text| panic!("{text}")).identity
}

#[test]
fn identity_does_not_depend_on_what_people_read() {
    let [outer, inner] = SUBGRAPHS;
    let plain = identity_of(&SUBGRAPHS);
    let commented = outer.1.replace("nodes:\n", "nodes: # all of them\n");
    assert_eq!(identity_of(&[("graph.yaml", &commented), inner]), plain);
    let documented = inner.1.replace("Keeps some.", "Another text.").replace("k: items", "k: other words");
    assert_eq!(identity_of(&[outer, ("inner.yaml", &documented)]), plain);
    let mut lines: Vec<&str> = inner.1.lines().collect();
    lines[2..].reverse();
    let nodes = lines.iter().position(|line| *line == "nodes:").unwrap();
    let reordered = lines.remove(nodes);
    let first = lines.iter().position(|line| line.starts_with("  ")).unwrap();
    lines.insert(first, reordered);
    assert_eq!(identity_of(&[outer, ("inner.yaml", &lines.join("\n"))]), plain);
}

#[test]
fn stages_are_for_reports() {
    let [outer, inner] = SUBGRAPHS;
    let labelled = outer.1.replace("inner.yaml, bind: {k: n}", "inner.yaml, stage: whole, bind: {k: n}");
    let inside = inner.1.replace("pass: make/status,", "pass: make/status, stage: proof,");
    let files = [("graph.yaml", labelled.as_str()), ("inner.yaml", inside.as_str())];
    let graph = resolve_files(&files).unwrap();
    let stages: Vec<&str> = graph.nodes.iter().map(weft::graph::model::Node::stage).collect();
    assert_eq!(stages, ["numbers", "proof", "whole", "proof", "second"]);
    assert_eq!(graph.identity, identity_of(&SUBGRAPHS));
    check_round_trip(Path::new(PASSES), &graph);

    let variant = "graph: variant\ndoc: A test.\nextends: ./graph.yaml\nreplace: [first]\nnodes:
  first: {use: ./inner.yaml, bind: {k: n}, in: {items: numbers.made}}\n";
    let variant = resolve_files(&[("variant.yaml", variant), files[0], files[1]]).unwrap();
    assert_eq!(node(&variant, "first/kept").stage(), "whole", "it stays where the other was");
}

#[test]
fn identity_depends_on_all_that_runs() {
    let [outer, inner] = SUBGRAPHS;
    let mut seen = vec![identity_of(&SUBGRAPHS)];
    for (from, to) in [
        ("numbers: {pass: make/ordinals}", "numbers: {pass: make/ordinals, overrides: {GROUP: 32}}"),
        ("max: n}", "max: n + 1}"),
        ("max: n}", "max: n, await: true}"),
        ("first/some}, in: {items: first.kept}", "n}, in: {items: numbers.made}"),
        ("kept: {from: second.kept, len: last}", "kept: {from: second.kept}, more: {from: second.offsets}"),
    ] {
        let changed = outer.1.replace(from, to);
        assert_ne!(changed, outer.1, "{from}");
        let identity = identity_of(&[("graph.yaml", &changed), inner]);
        assert!(!seen.contains(&identity), "{from}");
        seen.push(identity);
    }
}

#[test]
fn identity_depends_on_shaders_but_not_on_their_comments() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "twice.yaml",
        "pass: twice\ndoc: Twice each word.\nshader: [shared/grid.wgsl, twice.wgsl]\nentry: twice\nsymbols: {n: words}
ports:\n  words: {type: u32, len: n, access: read}\n  doubled: {type: u32, len: n, access: write}
grid: {threads: n}\n",
    );
    write(
        "graph.yaml",
        "graph: test\ndoc: A test.\nsymbols: {n: words}\ninputs: {words: {type: u32, len: n}}
nodes:\n  twice: {pass: twice, in: {words: words}}\noutputs: {doubled: {from: twice.doubled}}\n",
    );
    let shader = "@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> doubled: array<u32>;
@compute @workgroup_size(64)
fn twice(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
    let i = (group.y * groups.x + group.x) * 64u + lane;
    if i >= arrayLength(&doubled) { return; }
    doubled[i] = words[i] * 2u;
}
";
    let identity = |shader: &str| {
        write("twice.wgsl", shader);
        let library = Library::new(vec![folder.path().to_path_buf()], Vec::new());
        let graph = Graph::load(library, folder.path().join("graph.yaml").to_str().unwrap());
        graph.unwrap_or_else(|rejected| panic!("{rejected}")).identity
    };
    let plain = identity(shader);
    assert_eq!(identity(&shader.replace("    let i", "    // where\n\tlet  /* /* */ */ i")), plain);
    assert_ne!(identity(&shader.replace("* 2u", "* 3u")), plain);
}

#[test]
fn explanations() {
    let graph = resolve_files(&SUBGRAPHS).unwrap();
    let text = |a: &str, b: &str| explain(&graph, a, b).map(|e| e.text(&graph, a, b));
    let expected = "\
`first/kept` waits for `numbers`:
  `first/kept` reads `numbers.made`, which `numbers` writes (`n` elements of `place`)
";
    assert_eq!(text("numbers", "first/kept").unwrap(), expected);
    let expected = "\
`second/ascends` waits for `numbers` through others:
  `first/kept` reads `numbers.made`, which `numbers` writes (`n` elements of `place`)
  `second/ascends` reads `first/kept.kept`, which `first/kept` writes (`first/some` elements of `place`)
";
    assert_eq!(text("numbers", "second/ascends").unwrap(), expected);
    let expected = "`first/ascends` and `second/kept` are independent: either may run first\n";
    assert_eq!(text("first/ascends", "second/kept").unwrap(), expected);
    let expected = "`numbers` does not wait for `first/kept`: it is `first/kept` that waits for `numbers`\n";
    assert_eq!(text("first/kept", "numbers").unwrap(), expected);
    let error = text("first/kpet", "numbers").unwrap_err().to_string();
    assert_eq!(error, "there is no node `first/kpet`; did you mean `first/kept`?");
}

/// Files that are made to take for ever are refused, each with one error.
#[test]
fn hostile_files_are_refused_quickly() {
    let first_line = |files: &[(&str, &str)]| {
        let text = resolve_files(files).unwrap_err();
        text.lines().next().unwrap().to_string()
    };
    let head = "graph: test\ndoc: A test.\nsymbols: {n: ordinals}\n";
    let chain: String = (0..9_000).map(|i| format!("  a{i}: a{}\n", i + 1)).collect();
    let lets =
        format!("{head}let:\n{chain}  a9000: n\nnodes:\n  m: {{pass: make/ordinals, bind: {{n: a0}}}}\n");
    let lets = format!("{lets}outputs: {{made: {{from: m.made}}}}\n");
    assert_eq!(first_line(&[("graph.yaml", &lets)]), "error: this number is defined through too many others");

    let names: Vec<String> = (0..8).map(|level| format!("g{level}.yaml")).collect();
    let uses = |level: usize| -> String {
        let nodes: String = (0..10).map(|i| format!("  n{i}: {{use: ./g{}.yaml}}\n", level + 1)).collect();
        format!("{head}nodes:\n{nodes}outputs: {{made: {{from: n0.made}}}}\n")
    };
    let leaf = format!("{head}nodes:\n  n0: {{pass: make/ordinals}}\noutputs: {{made: {{from: n0.made}}}}\n");
    let texts: Vec<String> = (0..7).map(uses).chain([leaf]).collect();
    let files: Vec<(&str, &str)> = names.iter().zip(&texts).map(|(n, t)| (n.as_str(), t.as_str())).collect();
    assert_eq!(first_line(&files), "error: the graph has more than 10000 nodes");

    let names: Vec<String> = (0..80).map(|level| format!("g{level}.yaml")).collect();
    for (key, message) in [
        ("extends: ./gN.yaml", "error: more than 64 graphs extend one another"),
        ("nodes: {n: {use: ./gN.yaml}}", "error: more than 64 graphs use one another"),
    ] {
        let text = |level: usize| key.replace('N', &(level + 1).to_string());
        let texts: Vec<String> =
            (0..80).map(|l| format!("graph: test\ndoc: A test.\n{}\n", text(l))).collect();
        let files: Vec<(&str, &str)> =
            names.iter().zip(&texts).map(|(n, t)| (n.as_str(), t.as_str())).collect();
        assert_eq!(first_line(&files), message);
    }

    // A long chain of nodes is fine.
    let nodes: String = (1..4_000)
        .map(|i| format!("  n{i}: {{pass: take/copy, in: {{items: n{}.copied}}}}\n", i - 1))
        .collect();
    let long = format!(
        "{head}inputs: {{given: {{type: place, len: n}}}}\nnodes:\n  n0: {{pass: take/copy, in: {{items: given}}}}\n{nodes}outputs: {{last: {{from: n3999.copied}}}}\n"
    );
    let graph = resolve_files(&[("graph.yaml", &long)]).unwrap_or_else(|text| panic!("{text}"));
    assert_eq!(graph.nodes.len(), 4_000);
}

#[test]
fn every_shipped_graph_is_sound() {
    let mut diagnostics = Diagnostics::new();
    let mut loader = Loader::new(Library::new(Vec::new(), Vec::new()), Shaders::Ignore, &mut diagnostics);
    let linted = weft::graph::lint::lint_all(&mut loader, &mut diagnostics);
    assert_eq!(diagnostics.render(loader.sources(), false), "");
    assert!(linted.graphs >= 8);
}

// ------------------------------------------------------------------------------------------------- commands

fn weft(arguments: &[&str]) -> (i32, String, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_weft")).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn commands() {
    let (code, flat, errors) = weft(&["expand", "sort/radix"]);
    assert_eq!((code, errors.as_str()), (0, ""));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flat.yaml");
    fs::write(&path, &flat).unwrap();
    assert_eq!(weft(&["expand", path.to_str().unwrap()]), (0, flat, String::new()));

    let (code, text, _) = weft(&["explain", "sort/radix", "digit_0/scan/tiles", "digit_0/scatter"]);
    assert_eq!(code, 0);
    assert!(text.starts_with("`digit_0/scatter` waits for `digit_0/scan/tiles` through others:\n"), "{text}");

    let (code, text, errors) = weft(&["explain", "sort/radix", "digit_0/scater", "digit_0/counts"]);
    assert_eq!((code, text.as_str()), (1, ""));
    assert!(errors.contains("did you mean `digit_0/scatter`?"), "{errors}");

    let (code, text, errors) = weft(&["expand", "sort/raddix"]);
    assert_eq!((code, text.as_str()), (1, ""));
    assert!(errors.contains("there is no graph `sort/raddix`"), "{errors}");
}
