//! The errors of pass and graph files, whole texts. Each file of `language/` is one case: the files of a small project and
//! what `lint` says about them. `UPDATE_EXPECT=1` rewrites what is expected.

use std::fs;
use std::path::{Path, PathBuf};

use weft::graph::diagnostic::Diagnostics;
use weft::graph::lint::lint_arguments;
use weft::graph::load::{Loader, Shaders};
use weft::graph::source::{Kind, Library};

/// What separates the files of a case; the last one is what is expected.
const MARK: &str = "=== ";
const EXPECTED: &str = "errors";

/// A project to lint, and the errors it has.
struct Case {
    path: PathBuf,
    files: Vec<(String, String)>,
    expected: String,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/language");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "case"));
    paths.sort();
    paths.into_iter().map(read_case).collect()
}

fn read_case(path: PathBuf) -> Case {
    let text = fs::read_to_string(&path).unwrap();
    let mut files = Vec::new();
    for part in text.split(MARK).skip(1) {
        let (name, contents) = part.split_once('\n').unwrap();
        files.push((name.to_string(), contents.to_string()));
    }
    let expected = match files.pop() {
        Some((name, expected)) if name == EXPECTED => expected,
        Some(last) => {
            files.push(last);
            String::new()
        }
        None => panic!("{} has no files", path.display()),
    };
    Case { path, files, expected }
}

/// Writes a case's files below a folder of its own and lints them: what lies in `passes/` by name, the rest by path.
fn lint(case: &Case) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (name, contents) in &case.files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }
    let roots = |name: &str| {
        let root = folder.path().join(name);
        if root.is_dir() { vec![root] } else { Vec::new() }
    };
    let mut diagnostics = Diagnostics::new();
    let library = Library::new(roots("passes"), roots("shaders"));
    let shipped = Library::new(Vec::new(), Vec::new()).names(Kind::Pass);
    let own = library.names(Kind::Pass).into_iter().filter(|name| !shipped.contains(name));
    let by_path = case.files.iter().filter(|(name, _)| name.ends_with(".yaml") && !name.contains('/'));
    let by_path = by_path.map(|(name, _)| folder.path().join(name).display().to_string());
    let arguments: Vec<String> = own.chain(by_path).collect();
    let mut loader = Loader::new(library, Shaders::Check, &mut diagnostics);
    lint_arguments(&mut loader, &arguments, &mut diagnostics);
    let rendered = diagnostics.render(loader.sources(), false);
    rendered.replace(&format!("{}/", folder.path().display()), "")
}

#[test]
fn every_error_has_its_text() {
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut failed = Vec::new();
    let cases = cases();
    assert!(cases.len() > 10, "only {} cases were found", cases.len());
    for case in cases {
        let found = lint(&case);
        if found == case.expected {
            continue;
        }
        if update {
            let mut text: String = case.files.iter().map(|(n, c)| format!("{MARK}{n}\n{c}")).collect();
            text.push_str(&format!("{MARK}{EXPECTED}\n{found}"));
            fs::write(&case.path, text).unwrap();
        } else {
            failed.push(format!(
                "{}:\n--- found\n{found}\n--- expected\n{}",
                case.path.display(),
                case.expected
            ));
        }
    }
    assert!(failed.is_empty(), "{}\nUPDATE_EXPECT=1 rewrites what is expected", failed.join("\n"));
}
