//! `weft lint`: every error of pass and graph files.

use weft::graph::diagnostic::Diagnostics;
use weft::graph::lint::{Linted, lint_all, lint_arguments};
use weft::graph::load::{Loader, Shaders};

use super::library::{self, LibraryArgs};
use super::{Failure, text};

/// Find every error of pass and graph files, without running anything
#[derive(clap::Args)]
pub struct Args {
    /// Files, or names of passes and graphs; by default all that can be found by name
    #[arg(value_name = "FILE")]
    files: Vec<String>,
    /// Leave shaders alone: a pass may be written before its shader
    #[arg(long)]
    no_shaders: bool,
    #[command(flatten)]
    library: LibraryArgs,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let mut diagnostics = Diagnostics::new();
    let shaders = if args.no_shaders { Shaders::Ignore } else { Shaders::Check };
    let mut loader = Loader::new(args.library.open()?, shaders, &mut diagnostics);
    let linted = match args.files.is_empty() {
        true => lint_all(&mut loader, &mut diagnostics),
        false => lint_arguments(&mut loader, &args.files, &mut diagnostics),
    };
    library::report(&diagnostics, loader.sources())?;
    text::print(&summary(linted))
}

fn summary(linted: Linted) -> String {
    let parts = [(linted.passes, "pass"), (linted.graphs, "graph"), (linted.overlays, "overlay")];
    let plural = |count: usize, noun: &str| match (count, noun) {
        (1, noun) => format!("1 {noun}"),
        (count, "pass") => format!("{count} passes"),
        (count, noun) => format!("{count} {noun}s"),
    };
    let parts: Vec<String> = parts.iter().map(|(count, noun)| plural(*count, noun)).collect();
    format!("{}: no errors\n", parts.join(", "))
}
