//! `weft diff`: what differs between two graphs, and what that costs.

use std::sync::Arc;

use serde::Serialize;
use weft::graph::load::Shaders;
use weft::graph::model::Graph;
use weft::plan::Options;
use weft::report::diff::{Change, Changed, Costs, GraphDiff, SEGMENT, StageCosts, costs, diff};
use weft::run::Program;

use super::job;
use super::library::LibraryArgs;
use super::symbols::{PairArgs, SymbolArgs, known_to, numbers_for};
use super::text::{Columns, count};
use super::{Failure, text};

/// Show what differs between two graphs; with sizes, what that does to memory, work and waits
///
/// The exit code is 0 if both run the same and 1 if they differ.
#[derive(clap::Args)]
pub struct Args {
    /// A graph, by name or path; GRAPH@DIR takes the WGSL files in the folder DIR first
    #[arg(value_name = "GRAPH")]
    before: String,
    /// Another
    #[arg(value_name = "GRAPH")]
    after: String,
    #[command(flatten)]
    symbols: SymbolArgs,
    #[command(flatten)]
    pair: PairArgs,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    library: LibraryArgs,
}

#[derive(Serialize)]
struct Report {
    same: bool,
    #[serde(flatten)]
    diff: GraphDiff,
    #[serde(skip_serializing_if = "Option::is_none")]
    costs: Option<[Costs; 2]>,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let resolve = |graph: &str| args.library.resolve_with_shaders(graph, Shaders::Check);
    let graphs = [resolve(&args.before)?, resolve(&args.after)?];
    let diff = diff(&graphs[0], &graphs[1]);
    let report = Report { same: diff.is_same(), costs: costs_of(args, graphs)?, diff };
    if args.json {
        text::print_json(&report)?
    } else {
        text::print(&describe(&report))?
    }
    match report.same {
        true => Ok(()),
        false => Err(Failure::Input(format!("{} and {} differ", args.before, args.after))),
    }
}

fn costs_of(args: &Args, graphs: [Graph; 2]) -> Result<Option<[Costs; 2]>, Failure> {
    let symbols = match args.pair.files() {
        Some((older, newer)) => job::symbols_of_files(&graphs, older, newer)?,
        None => args.symbols.numbers()?,
    };
    if symbols.is_empty() {
        return Ok(None);
    }
    known_to(&symbols, graphs.iter())?;
    let options = Options { may_widen: true, ..Options::default() };
    let mut both = Vec::with_capacity(2);
    for graph in graphs {
        let numbers = numbers_for(&graph, &symbols);
        let program = Program::new(Arc::new(graph), &numbers, &options).map_err(job::failure)?;
        both.push(costs(&program).map_err(job::failure)?);
    }
    Ok(<[Costs; 2]>::try_from(both).ok())
}

fn describe(report: &Report) -> String {
    let diff = &report.diff;
    let mut text = String::new();
    for (sign, graph) in [("-", 0), ("+", 1)] {
        text.push_str(&format!("{sign} {}, identity {}\n", diff.graphs[graph], diff.identities[graph]));
    }
    if report.same {
        text.push_str("\nBoth run the same.\n");
    }
    for (title, sign, nodes) in [("Nodes removed", "-", &diff.removed), ("Nodes added", "+", &diff.added)] {
        if !nodes.is_empty() {
            text.push_str(&format!("\n{title}\n"));
            let width = nodes.iter().map(|node| node.name.chars().count()).max().unwrap_or(0);
            for node in nodes {
                text.push_str(&format!("  {sign} {:width$}  {}\n", node.name, node.pass));
            }
        }
    }
    for (title, things) in [
        ("Nodes changed", &diff.changed),
        ("Values changed", &diff.values),
        ("Other changes", &diff.interface),
    ] {
        if !things.is_empty() {
            text.push_str(&format!("\n{title}\n"));
        }
        for thing in things.iter().filter(|thing| !only_moved(thing)) {
            text.push_str(&format!("  {}\n", thing.name));
            thing.changes.iter().for_each(|change| text.push_str(&change_lines(change)));
        }
    }
    text.push_str(&moved(&diff.changed));
    if !diff.passes.is_empty() {
        text.push_str(&format!(
            "\nPasses of the same name with other contents\n  {}\n",
            diff.passes.join(", ")
        ));
    }
    if let Some(costs) = &report.costs {
        text.push_str("\nAt these sizes, counts at their maxima\n");
        text.push_str(&cost_lines(costs));
    }
    text
}

/// Whether nothing about a node changed but its segment.
fn only_moved(node: &Changed) -> bool {
    node.changes.iter().all(|change| change.what == SEGMENT)
}

/// Nodes that only moved to another segment, together.
fn moved(nodes: &[Changed]) -> String {
    let mut moves: Vec<(String, Vec<&str>)> = Vec::new();
    for node in nodes.iter().filter(|node| only_moved(node)) {
        let line: String = node.changes.iter().map(change_lines).collect();
        match moves.iter_mut().find(|(known, _)| *known == line) {
            Some((_, names)) => names.push(&node.name),
            None => moves.push((line, vec![&node.name])),
        }
    }
    moves.iter().map(|(line, names)| format!("  {}\n{line}", names.join(", "))).collect()
}

fn change_lines(change: &Change) -> String {
    let fact = |text: &str| if text.is_empty() { String::new() } else { format!(": {text}") };
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => format!("    {}: {before} -> {after}\n", change.what),
        (Some(before), None) => format!("    - {}{}\n", change.what, fact(before)),
        (None, after) => format!("    + {}{}\n", change.what, fact(after.as_deref().unwrap_or_default())),
    }
}

fn cost_lines([before, after]: &[Costs; 2]) -> String {
    let mut columns = Columns::default();
    let mut row = |what: &str, before: Option<u64>, after: Option<u64>| {
        let number = |number: Option<u64>| number.map_or("none".to_owned(), count);
        let change = match (before, after) {
            (Some(before), Some(after)) if before == after => "same".to_owned(),
            (Some(before), Some(after)) if before > 0 => {
                // Rounded first, and 0 added: no negative zero.
                format!("{:+.2} %", ((after as f64 / before as f64 - 1.0) * 1e4).round() / 100.0 + 0.0)
            }
            _ => String::new(),
        };
        columns.row([format!("  {what}"), number(before), number(after), change]);
    };
    let mut fact = |what: &str, of: fn(&Costs) -> u64| row(what, Some(of(before)), Some(of(after)));
    fact("planned peak, bytes", |costs| costs.peak_bytes);
    fact("lower bound, bytes", |costs| costs.bound_bytes);
    fact("without reuse, bytes", |costs| costs.naive_bytes);
    fact("bytes read", |costs| costs.read_bytes);
    fact("bytes written", |costs| costs.write_bytes);
    fact("dispatches", |costs| costs.dispatches);
    fact("host nodes", |costs| costs.host_nodes);
    fact("waits of the host", |costs| costs.waits);
    let mut stages: Vec<&str> = before.stages.iter().map(|stage| stage.stage.as_str()).collect();
    let more = after.stages.iter().map(|stage| stage.stage.as_str()).filter(|name| !stages.contains(name));
    let more: Vec<&str> = more.collect();
    stages.extend(more);
    for name in stages {
        let of = |costs: &Costs| costs.stages.iter().find(|stage| stage.stage == name).cloned();
        let (before, after) = (of(before), of(after));
        let made = |stage: &Option<StageCosts>| stage.as_ref().map(|stage| stage.made_bytes);
        row(&format!("stage {name} makes, bytes"), made(&before), made(&after));
        let live = |stage: &Option<StageCosts>| stage.as_ref().map(|stage| stage.live_peak_bytes);
        row("  most live in it", live(&before), live(&after));
    }
    columns.lines()
}
