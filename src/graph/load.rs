//! Loads passes and graphs by name, each file once, and reports what is wrong with it once.

use std::collections::HashMap;
use std::sync::Arc;

use super::decode;
use super::diagnostic::{Diagnostic, Diagnostics};
use super::document::{FileId, GraphFile, Kernel, PassFile, Spanned};
use super::pass::{self, Pass};
use super::shader::Shader;
use super::source::{Kind, Library, SourceMap};
use super::types::Types;

/// Whether shaders are compiled and compared with their pass files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shaders {
    /// They are.
    Check,
    /// They are left alone, so that a pass may be written before its shader. Such passes cannot run.
    Ignore,
}

/// Everything that was loaded so far.
#[derive(Debug)]
pub struct Loader {
    library: Library,
    shaders: Shaders,
    /// The types of all `types.yaml`, which every file sees.
    common_types: Types,
    /// All types of all files.
    types: Types,
    passes: HashMap<FileId, Option<Arc<Pass>>>,
    graphs: HashMap<FileId, Option<Arc<GraphFile>>>,
}

impl Loader {
    /// Starts with the types that all files share.
    pub fn new(mut library: Library, shaders: Shaders, diagnostics: &mut Diagnostics) -> Loader {
        let mut types = Types::default();
        match library.open_types() {
            Ok(files) => {
                for file in files {
                    let (declarations, errors) = decode::types_file(library.sources(), file);
                    diagnostics.append(errors);
                    // A folder that began as a copy of another repeats its types.
                    let mut declarations = declarations.unwrap_or_default();
                    declarations.retain(|(name, declaration)| {
                        let first = types.get(&name.value);
                        first.is_none_or(|f| f.span.file == file || f.layout != declaration.layout.value)
                    });
                    types.declare(&declarations, diagnostics);
                }
            }
            Err(error) => diagnostics.push(*error),
        }
        let common_types = types.clone();
        Loader { library, shaders, common_types, types, passes: HashMap::new(), graphs: HashMap::new() }
    }

    /// The texts of all files, to render diagnostics with.
    pub fn sources(&self) -> &SourceMap {
        self.library.sources()
    }

    /// Finds files by name.
    pub fn library(&mut self) -> &mut Library {
        &mut self.library
    }

    /// The types that every file sees.
    pub fn common_types(&self) -> &Types {
        &self.common_types
    }

    /// The types that any file loaded so far declares.
    pub fn types(&self) -> &Types {
        &self.types
    }

    /// The pass that a file calls `name`. None if it has errors, which are reported when it is first asked for.
    pub fn pass(&mut self, name: &Spanned<String>, diagnostics: &mut Diagnostics) -> Option<Arc<Pass>> {
        match self.library.open(Kind::Pass, &name.value, name.span) {
            Ok(file) => self.pass_file(file, diagnostics),
            Err(error) => {
                diagnostics.push(*error);
                None
            }
        }
    }

    /// The graph or overlay that a file calls `name`. None if it cannot be read at all; one with errors is given, with the
    /// names that are affected in `damaged`.
    pub fn graph(&mut self, name: &Spanned<String>, diagnostics: &mut Diagnostics) -> Option<Arc<GraphFile>> {
        match self.library.open(Kind::Graph, &name.value, name.span) {
            Ok(file) => self.graph_file(file, diagnostics),
            Err(error) => {
                diagnostics.push(*error);
                None
            }
        }
    }

    /// The pass in a file.
    pub fn pass_file(&mut self, file: FileId, diagnostics: &mut Diagnostics) -> Option<Arc<Pass>> {
        if let Some(pass) = self.passes.get(&file) {
            return pass.clone();
        }
        let (document, errors) = decode::pass_file(self.library.sources(), file);
        let decoded = errors.is_empty();
        diagnostics.append(errors);
        let pass = document.and_then(|document| self.checked_pass(file, document, diagnostics));
        let pass = pass.filter(|_| decoded).map(Arc::new);
        self.passes.insert(file, pass.clone());
        pass
    }

    fn checked_pass(
        &mut self,
        file: FileId,
        document: PassFile,
        diagnostics: &mut Diagnostics,
    ) -> Option<Pass> {
        self.check_name(file, &document.name, diagnostics);
        let mut visible = self.common_types.clone();
        visible.declare(&document.types, &mut Diagnostics::new());
        self.types.declare(&document.types, diagnostics);
        let shader = match (&document.kernel, self.shaders) {
            (Kernel::Shader { files, entry }, Shaders::Check) => Some(self.shader(files, entry, diagnostics)),
            _ => None,
        };
        // A shader that does not compile is an error, but no reason not to check the file by itself.
        let missing = matches!(shader, Some(None));
        let checked = pass::check(document, shader.flatten(), &visible, self.library.sources(), diagnostics);
        checked.filter(|_| !missing)
    }

    fn shader(
        &mut self,
        files: &[Spanned<String>],
        entry: &Spanned<String>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Shader> {
        let mut opened = Vec::new();
        for name in files {
            match self.library.open(Kind::Shader, &name.value, name.span) {
                Ok(file) => opened.push(file),
                Err(error) => diagnostics.push(*error),
            }
        }
        if opened.len() < files.len() {
            return None;
        }
        let is_shipped = opened.iter().all(|&file| self.library.is_shipped(file));
        let shader = Shader::compile(self.library.sources(), &opened, entry, diagnostics)?;
        Some(Shader { is_shipped, ..shader })
    }

    /// The graph or overlay in a file.
    pub fn graph_file(&mut self, file: FileId, diagnostics: &mut Diagnostics) -> Option<Arc<GraphFile>> {
        if let Some(graph) = self.graphs.get(&file) {
            return graph.clone();
        }
        let (document, errors) = decode::graph_file(self.library.sources(), file);
        diagnostics.append(errors);
        let graph = document.map(Arc::new);
        if let Some(graph) = &graph {
            self.check_name(file, &graph.name, diagnostics);
            self.types.declare(&graph.types, diagnostics);
        }
        self.graphs.insert(file, graph.clone());
        graph
    }

    /// A file found by name says that name in its head.
    fn check_name(&self, file: FileId, name: &Spanned<String>, diagnostics: &mut Diagnostics) {
        if let Some(expected) = self.library.name_in_root(file)
            && expected != name.value
        {
            let message = format!("the file of `{expected}` calls itself `{}`", name.value);
            diagnostics.push(Diagnostic::at(name.span, message).help(format!("write `{expected}`")));
        }
    }
}
