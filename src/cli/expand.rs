//! `weft expand`: the flat graph that really runs.

use weft::graph::expand::expand;
use weft::graph::load::Shaders;

use super::library::GraphArgs;
use super::{Failure, text};

/// Print the flat graph that really runs, as a graph file, and its identity
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    graph: GraphArgs,
    /// Leave shaders alone: a pass may be written before its shader. The identity is then another
    #[arg(long)]
    no_shaders: bool,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let shaders = if args.no_shaders { Shaders::Ignore } else { Shaders::Check };
    text::print(&expand(&args.graph.resolve(shaders)?))
}
