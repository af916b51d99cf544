//! Finds every error of pass and graph files without running anything.

use super::decode::{self, Head};
use super::diagnostic::{Diagnostic, Diagnostics};
use super::document::FileId;
use super::load::Loader;
use super::resolve;
use super::source::{Kind, is_path_argument};

/// How many files were looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Linted {
    /// Pass files.
    pub passes: usize,
    /// Graph files.
    pub graphs: usize,
    /// Overlays, which are looked at by themselves here, and in context with each graph that uses them.
    pub overlays: usize,
}

/// Lints every pass and graph that can be found by name.
pub fn lint_all(loader: &mut Loader, diagnostics: &mut Diagnostics) -> Linted {
    let mut linted = Linted::default();
    for kind in [Kind::Pass, Kind::Graph] {
        for name in loader.library().names(kind) {
            match loader.library().open_argument(kind, &name) {
                Ok(file) => lint_file(loader, file, &mut linted, diagnostics),
                Err(error) => diagnostics.push(*error),
            }
        }
    }
    linted
}

/// Lints what the arguments name: files by path, passes and graphs by name.
pub fn lint_arguments(loader: &mut Loader, arguments: &[String], diagnostics: &mut Diagnostics) -> Linted {
    let mut linted = Linted::default();
    for argument in arguments {
        for file in open_argument(loader, argument, diagnostics) {
            lint_file(loader, file, &mut linted, diagnostics);
        }
    }
    linted
}

/// The files that an argument stands for: one for a path; a name may be that of a pass and of a graph.
fn open_argument(loader: &mut Loader, argument: &str, diagnostics: &mut Diagnostics) -> Vec<FileId> {
    let library = loader.library();
    let kinds: Vec<Kind> = match is_path_argument(argument) {
        true => vec![Kind::Graph],
        false => {
            let named = |kind: &Kind| library.names(*kind).iter().any(|name| name == argument);
            [Kind::Graph, Kind::Pass].into_iter().filter(named).collect()
        }
    };
    if kinds.is_empty() {
        let names = [library.names(Kind::Graph), library.names(Kind::Pass)].concat();
        let diagnostic = Diagnostic::nowhere(format!("there is no pass or graph `{argument}`"));
        diagnostics.push(diagnostic.suggest(argument, names.iter().map(String::as_str)));
    }
    let mut files = Vec::new();
    for kind in kinds {
        match library.open_argument(kind, argument) {
            Ok(file) => files.push(file),
            Err(error) => diagnostics.push(*error),
        }
    }
    files
}

fn lint_file(loader: &mut Loader, file: FileId, linted: &mut Linted, diagnostics: &mut Diagnostics) {
    match decode::head(loader.sources(), file) {
        Ok(Head::Pass) => {
            linted.passes += 1;
            loader.pass_file(file, diagnostics);
        }
        Ok(Head::Graph) => {
            linted.graphs += 1;
            resolve::lint(loader, file, diagnostics);
        }
        Ok(Head::Overlay) => {
            linted.overlays += 1;
            loader.graph_file(file, diagnostics);
        }
        Ok(Head::Types) => {
            let (_, errors) = decode::types_file(loader.sources(), file);
            diagnostics.append(errors);
        }
        Err(error) => diagnostics.push(*error),
    }
}
