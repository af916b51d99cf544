//! The shipped passes, shaders and graphs: that they are well formed and belong together.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use weft::graph::diagnostic::Diagnostics;
use weft::graph::document::Kernel;
use weft::graph::lint::lint_all;
use weft::graph::load::{Loader, Shaders};
use weft::graph::resolve::resolve_argument;
use weft::graph::source::{Kind, Library};
use weft::reference;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Every file below a folder with this extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found
}

/// Loads every shipped pass, graph and overlay and gives what was wrong with them.
fn lint(shaders: Shaders) -> String {
    let mut diagnostics = Diagnostics::new();
    let mut loader = Loader::new(Library::new(Vec::new(), Vec::new()), shaders, &mut diagnostics);
    lint_all(&mut loader, &mut diagnostics);
    diagnostics.render(loader.sources(), false)
}

#[test]
fn every_file_is_well_formed() {
    assert_eq!(lint(Shaders::Ignore), "");
}

/// One submission of work is waited for at the end of each segment.
#[test]
fn merges_wait_as_often_as_published() {
    let mut diagnostics = Diagnostics::new();
    let mut loader = Loader::new(Library::new(Vec::new(), Vec::new()), Shaders::Ignore, &mut diagnostics);
    let waits = [
        ("kv03/baseline", 5),
        ("kv03/baseline-once", 1),
        ("kv03/baseline-plan", 4),
        ("kv03/baseline-tiles", 5),
        ("kv03/baseline-tiles-plan", 4),
        ("kv03/cached", 5),
        ("kv03/collision512", 6),
        ("kv03/collision512-tiled", 6),
        ("kv03/collision512-compact", 6),
        ("kv03/collision2048", 6),
        ("kv03/collision2048-tiled", 6),
        ("kv03/collision2048-compact", 6),
        ("kv03/complete", 5),
        ("kv03/compressed", 4),
        ("kv03/materialized", 5),
        // Published with Elias-Fano sections by the host, which saves one.
        ("kv03/staging", 4),
    ]
    .map(|(name, waits)| {
        let graph = resolve_argument(&mut loader, name, &mut diagnostics);
        (graph.map(|graph| graph.segments), Some(waits))
    });
    assert_eq!(diagnostics.render(loader.sources(), false), "");
    assert!(waits.iter().all(|(found, published)| found == published), "{waits:?}");
}

#[test]
fn every_shader_fits_its_pass() {
    assert_eq!(lint(Shaders::Check), "");
}

#[test]
fn every_pass_has_a_reference_and_none_is_left_over() {
    let mut diagnostics = Diagnostics::new();
    let names = Library::new(Vec::new(), Vec::new()).names(Kind::Pass);
    let mut loader = Loader::new(Library::new(Vec::new(), Vec::new()), Shaders::Ignore, &mut diagnostics);
    let mut expected = BTreeSet::new();
    for name in names {
        let file = loader.library().open_argument(Kind::Pass, &name).unwrap();
        let pass = loader.pass_file(file, &mut diagnostics).unwrap();
        // The host runs a function of its own name.
        expected.insert(match &pass.file.kernel {
            Kernel::Host(function) => function.value.clone(),
            Kernel::Shader { .. } => name,
        });
    }
    assert_eq!(reference::names().map(str::to_string).collect::<BTreeSet<_>>(), expected);
}

#[test]
fn every_shader_is_used() {
    let texts: Vec<String> =
        files(&folder("passes"), "yaml").iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    for path in files(&folder("shaders"), "wgsl") {
        let name = path.strip_prefix(folder("shaders")).unwrap().to_str().unwrap();
        assert!(texts.iter().any(|text| text.contains(name)), "no pass uses {name}");
    }
}

#[test]
fn every_file_tells_editors_its_schema() {
    for (root, schema) in [("passes", "pass.schema.json"), ("graphs", "graph.schema.json")] {
        for path in files(&folder(root), "yaml") {
            let depth = path.strip_prefix(folder(root)).unwrap().components().count() - 1;
            let schema = if path.ends_with("types.yaml") { "types.schema.json" } else { schema };
            let modeline = format!("# yaml-language-server: $schema={}{schema}\n", "../".repeat(depth));
            assert!(
                fs::read_to_string(&path).unwrap().starts_with(&modeline),
                "{}: {modeline}",
                path.display()
            );
        }
    }
}

/// A variant is read in a minute: what it changes is not more than this many lines. What it is called, what it is and what it
/// extends are not wiring.
const WIRING_MAX: usize = 25;

#[test]
fn variants_have_few_lines_of_wiring() {
    let mut variants = 0;
    for path in files(&folder("graphs"), "yaml") {
        let text = fs::read_to_string(&path).unwrap();
        let lines = || text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with('#'));
        // It is the base of its own family, whose parts count bytes instead of bits; its variants are held to the rule.
        if !lines().any(|line| line.starts_with("extends:")) || path.ends_with("kv02/baseline.yaml") {
            continue;
        }
        variants += 1;
        let head = ["graph:", "doc:", "extends:"];
        let wiring = lines().filter(|line| !head.iter().any(|key| line.starts_with(key))).count();
        assert!(wiring <= WIRING_MAX, "{}: {wiring} lines of wiring", path.display());
    }
    assert!(variants > 20, "{variants} variants");
}

/// The names in code that the first cells of a text's tables hold.
fn named_in_tables(text: &str) -> BTreeSet<String> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `")?.split(" |").next());
    let mut named = BTreeSet::new();
    for row in rows {
        named.extend(row.split('`').step_by(2).map(str::to_owned));
    }
    named
}

#[test]
fn the_readme_names_every_graph() {
    let readme = fs::read_to_string(folder("README.md")).unwrap();
    let named = named_in_tables(&readme);
    let shipped =
        Library::new(Vec::new(), Vec::new()).names(Kind::Graph).into_iter().collect::<BTreeSet<_>>();
    assert_eq!(
        named, shipped,
        "the table of graphs in README.md has each graph and overlay by its full name"
    );
}
