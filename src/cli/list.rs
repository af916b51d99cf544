//! `weft list`: the passes and graphs that can be named.

use clap::ValueEnum;
use weft::graph::decode;
use weft::graph::source::{Kind, Library};

use super::library::LibraryArgs;
use super::{Failure, text};

/// List passes, graphs and overlays, each with what it does
#[derive(clap::Args)]
pub struct Args {
    /// List only these, without a heading
    what: Option<What>,
    #[command(flatten)]
    library: LibraryArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    Passes,
    Graphs,
    Overlays,
}

/// What is said of a file that cannot be decoded.
const BROKEN: &str = "(has errors, see `weft lint`)";

pub fn run(args: &Args) -> Result<(), Failure> {
    let mut library = args.library.open()?;
    if let Some(what) = args.what {
        return text::print(&lines(&entries(&mut library, what), ""));
    }
    let mut listing = String::new();
    for (what, heading) in
        [(What::Graphs, "Graphs"), (What::Overlays, "Overlays, for `with:`"), (What::Passes, "Passes")]
    {
        let entries = entries(&mut library, what);
        if !entries.is_empty() {
            let gap = if listing.is_empty() { "" } else { "\n" };
            listing.push_str(&format!("{gap}{heading}\n{}", lines(&entries, "  ")));
        }
    }
    text::print(&listing)
}

/// Names and the first sentence of each doc.
fn entries(library: &mut Library, what: What) -> Vec<(String, String)> {
    let kind = if what == What::Passes { Kind::Pass } else { Kind::Graph };
    let names = library.names(kind);
    names.into_iter().filter_map(|name| doc(library, what, kind, &name).map(|doc| (name, doc))).collect()
}

/// None if the file is not of the wanted kind.
fn doc(library: &mut Library, what: What, kind: Kind, name: &str) -> Option<String> {
    let Ok(file) = library.open_argument(kind, name) else { return Some(BROKEN.to_string()) };
    let doc = match what {
        What::Passes => decode::pass_file(library.sources(), file).0.map(|pass| pass.doc),
        What::Graphs | What::Overlays => {
            let graph = decode::graph_file(library.sources(), file).0;
            if graph.as_ref().is_some_and(|graph| graph.overlay) != (what == What::Overlays) {
                return None;
            }
            graph.map(|graph| graph.doc)
        }
    };
    Some(doc.map_or(BROKEN.to_string(), |doc| first_sentence(&doc).to_string()))
}

fn first_sentence(doc: &str) -> &str {
    doc.split_once(". ").map_or(doc.trim_end_matches('.'), |(first, _)| first)
}

fn lines(entries: &[(String, String)], indent: &str) -> String {
    let width = entries.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    entries.iter().map(|(name, doc)| format!("{indent}{name:width$}  {doc}\n")).collect()
}
