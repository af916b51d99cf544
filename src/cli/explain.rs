//! `weft explain`: why one node waits for another.

use weft::graph::explain::explain;
use weft::graph::load::Shaders;

use super::library::GraphArgs;
use super::{Failure, text};

/// Say why one node of a graph waits for another, or that it does not
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    graph: GraphArgs,
    /// The node that runs first, by its flat name (`keep_scan/tiles`)
    #[arg(value_name = "A")]
    first: String,
    /// The node that waits
    #[arg(value_name = "B")]
    second: String,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    // Shaders do not change who waits for whom.
    let graph = args.graph.resolve(Shaders::Ignore)?;
    match explain(&graph, &args.first, &args.second) {
        Ok(explanation) => text::print(&explanation.text(&graph, &args.first, &args.second)),
        Err(unknown) => Err(Failure::Input(unknown.to_string())),
    }
}
