//! The options of every command that reads passes and graphs.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use weft::graph::decode;
use weft::graph::diagnostic::Diagnostics;
use weft::graph::load::{Loader, Shaders};
use weft::graph::model::Graph;
use weft::graph::resolve::resolve_argument;
use weft::graph::source::{Kind, Library, SourceMap};

use super::Failure;

/// Over these options in the help of every command that has them.
const HEADING: &str = "Where passes and shaders come from";

/// Where passes and shaders are looked for before the shipped ones.
#[derive(clap::Args)]
pub struct LibraryArgs {
    /// Look for passes in this folder first, then among the shipped ones; may be given several times
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    passes: Vec<PathBuf>,
    /// Look for WGSL files in this folder first, likewise; may be given several times
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    shaders: Vec<PathBuf>,
}

impl LibraryArgs {
    /// The library they describe.
    pub fn open(&self) -> Result<Library, Failure> {
        let missing = |folder: &&PathBuf| !Path::is_dir(folder);
        match self.passes.iter().chain(&self.shaders).find(missing) {
            Some(folder) => Err(Failure::Input(format!("{} is not a folder", folder.display()))),
            None => Ok(Library::new(self.passes.clone(), self.shaders.clone())),
        }
    }

    /// Whether a graph file is an overlay; not if it cannot be read, which resolving it will say.
    pub fn is_overlay(&self, graph: &str) -> Result<bool, Failure> {
        let mut library = self.open()?;
        let Ok(file) = library.open_argument(Kind::Graph, graph) else { return Ok(false) };
        Ok(decode::graph_file(library.sources(), file).0.is_some_and(|file| file.overlay))
    }

    /// [`resolve`](Self::resolve), where `GRAPH@DIR` stands for the graph with the WGSL files in the folder DIR first.
    pub fn resolve_with_shaders(&self, argument: &str, shaders: Shaders) -> Result<Graph, Failure> {
        match argument.rsplit_once('@') {
            Some((graph, folder)) if !Path::new(argument).exists() => {
                let mut folders = vec![PathBuf::from(folder)];
                folders.extend_from_slice(&self.shaders);
                LibraryArgs { passes: self.passes.clone(), shaders: folders }.resolve(graph, shaders)
            }
            _ => self.resolve(argument, shaders),
        }
    }

    /// Resolves a graph, given by name or path; if that fails, prints all errors to standard error.
    pub fn resolve(&self, graph: &str, shaders: Shaders) -> Result<Graph, Failure> {
        let mut diagnostics = Diagnostics::new();
        let mut loader = Loader::new(self.open()?, shaders, &mut diagnostics);
        let resolved = resolve_argument(&mut loader, graph, &mut diagnostics);
        report(&diagnostics, loader.sources())?;
        resolved.ok_or_else(|| Failure::Input(format!("cannot resolve {graph}")))
    }
}

/// The graph of a command that works on one.
#[derive(clap::Args)]
pub struct GraphArgs {
    /// The name of a graph, as `weft list` gives it, or the path of a graph file
    pub graph: String,
    #[command(flatten)]
    library: LibraryArgs,
}

impl GraphArgs {
    /// Resolves the graph; if that fails, prints all errors to standard error.
    pub fn resolve(&self, shaders: Shaders) -> Result<Graph, Failure> {
        self.library.resolve(&self.graph, shaders)
    }
}

/// Prints all errors to standard error and fails if there are any.
pub fn report(diagnostics: &Diagnostics, sources: &SourceMap) -> Result<(), Failure> {
    let errors = diagnostics.sorted().len();
    if errors == 0 {
        return Ok(());
    }
    let color = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    eprintln!("{}", diagnostics.render(sources, color));
    Err(Failure::Input(super::text::counted(errors as u64, "error")))
}
