//! `weft schema`: JSON Schemas for editors.

use clap::ValueEnum;
use weft::graph::schema::{FileKind, schema_text};

use super::{Failure, text};

/// Print the JSON Schema of pass, graph or types files
#[derive(clap::Args)]
pub struct Args {
    /// The kind of file
    kind: What,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    Pass,
    Graph,
    Types,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    text::print(&schema_text(match args.kind {
        What::Pass => FileKind::Pass,
        What::Graph => FileKind::Graph,
        What::Types => FileKind::Types,
    }))
}
