//! `weft show`: the picture of a graph.

use std::path::PathBuf;

use clap::ValueEnum;
use weft::graph::diagnostic::Diagnostics;
use weft::graph::load::{Loader, Shaders};
use weft::graph::resolve::resolve_argument;
use weft::report::dot::dot;
use weft::report::mermaid::mermaid;
use weft::report::show::{Sizes, diagram, json};
use weft::report::svg::{Theme, svg};

use super::files::{self, OutputHow};
use super::library::{self, LibraryArgs};
use super::symbols::assignment;
use super::{Failure, text};

/// Draw a graph: its passes, what flows between them, and where the host waits
#[derive(clap::Args)]
pub struct Args {
    /// The name of a graph, as `weft list` gives it, or the path of a graph file
    #[arg(value_name = "GRAPH")]
    graph: String,
    /// What to write
    #[arg(long, value_enum, default_value_t = Format::Svg)]
    format: Format,
    /// The number of a symbol or count, as `n=1000` or `n=2^20`, so that bytes are shown; once for each
    #[arg(long = "set", value_name = "NAME=N", value_parser = assignment)]
    set: Vec<(String, u64)>,
    /// Colours of an SVG; auto follows the reader's system
    #[arg(long, value_enum, default_value_t = Colours::Auto)]
    theme: Colours,
    /// The file to write; standard output if it is left out
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    how: OutputHow,
    /// Leave shaders alone: a pass may be written before its shader
    #[arg(long)]
    no_shaders: bool,
    #[command(flatten)]
    library: LibraryArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A picture for browsers, of one file
    Svg,
    /// Graphviz's language
    Dot,
    /// A flowchart for documents that draw Mermaid text
    Mermaid,
    /// Nodes, ports, values, edges with reasons, segments, counts and checks, for programs
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Colours {
    Auto,
    Light,
    Dark,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let mut diagnostics = Diagnostics::new();
    let shaders = if args.no_shaders { Shaders::Ignore } else { Shaders::Check };
    let mut loader = Loader::new(args.library.open()?, shaders, &mut diagnostics);
    let graph = resolve_argument(&mut loader, &args.graph, &mut diagnostics);
    library::report(&diagnostics, loader.sources())?;
    let graph = graph.ok_or_else(|| Failure::Input(format!("{} cannot be resolved", args.graph)))?;
    let sizes = Sizes::new(&graph, &args.set).map_err(|error| Failure::Input(error.to_string()))?;
    let theme = match args.theme {
        Colours::Auto => Theme::Auto,
        Colours::Light => Theme::Light,
        Colours::Dark => Theme::Dark,
    };
    let drawn = match args.format {
        Format::Svg => svg(&diagram(&graph, &sizes), theme),
        Format::Dot => dot(&diagram(&graph, &sizes)),
        Format::Mermaid => mermaid(&diagram(&graph, &sizes)),
        Format::Json => {
            let text = serde_json::to_string_pretty(&json(&graph, &sizes));
            Ok(text.map_err(|error| Failure::System(format!("cannot write JSON: {error}")))? + "\n")
        }
    };
    let drawn = drawn.map_err(|error| Failure::Input(format!("cannot draw {}: {error}", args.graph)))?;
    write(args, &drawn)
}

fn write(args: &Args, drawn: &str) -> Result<(), Failure> {
    let Some(path) = args.output.as_ref().filter(|path| path.as_os_str() != "-") else {
        return text::print(drawn);
    };
    files::write(path, args.how, drawn)
}
