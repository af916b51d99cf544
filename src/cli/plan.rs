//! `weft plan`: the order of nodes and the layout of memory for given sizes.

use std::path::PathBuf;

use serde_json::json;
use weft::graph::load::Shaders;
use weft::graph::model::Graph;
use weft::plan::{self, Effort, Options, Plan};
use weft::report::memory::{Memory, chart, svg};
use weft::report::stages::{Stage, stages};
use weft::report::svg::Theme;

use super::files::{self, OutputHow};
use super::job;
use super::library::GraphArgs;
use super::symbols::{PairArgs, SymbolArgs};
use super::text::{Columns, count, counted};
use super::{Failure, text};

/// Plan a graph for given sizes: order, segments, arenas, peak and lower bound
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    graph: GraphArgs,
    #[command(flatten)]
    symbols: SymbolArgs,
    #[command(flatten)]
    pair: PairArgs,
    /// Search longer for a smaller peak
    #[arg(long)]
    best: bool,
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// Draw lifetimes and the memory map, time by offset, as an SVG
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    #[command(flatten)]
    how: OutputHow,
    /// Leave shaders alone: a pass may be written before its shader. The identity is then another
    #[arg(long)]
    no_shaders: bool,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let shaders = if args.no_shaders { Shaders::Ignore } else { Shaders::Check };
    let graph = args.graph.resolve(shaders)?;
    let symbols = match args.pair.files() {
        Some((older, newer)) => job::symbols_of_files([&graph], older, newer)?,
        None => args.symbols.numbers()?,
    };
    let effort = if args.best { Effort::Best } else { Effort::Fast };
    let plan = plan::plan(&graph, &symbols, &Options { effort, may_widen: true, ..Options::default() })
        .map_err(|error| job::failure(error.into()))?;
    if let Some(path) = &args.svg {
        files::write(path, args.how, &svg(&Memory::new(&graph, &plan), Theme::Auto))?;
    }
    let stages = stages(&graph, &plan).map_err(|error| Failure::Input(error.to_string()))?;
    if !args.json {
        return text::print(&describe(&graph, &plan, &stages));
    }
    let mut json = plan.to_json(&graph);
    json["stages"] = json!(stages);
    text::print_json(&json)
}

fn describe(graph: &Graph, plan: &Plan, stages: &[Stage]) -> String {
    let nodes = counted(plan.order.len() as u64, "node");
    let segments = counted(plan.segments.len() as u64, "segment");
    let mut text = format!("{}: {nodes}, {segments}, identity {}\n\n", graph.name, graph.identity);
    text.push_str(&totals(plan));
    text.push_str("\nStages: what each makes, the most of that live at once, and the most live in it, whoever made it\n");
    text.push_str(&stage_lines(stages));
    text.push_str("\nArenas\n");
    text.push_str(&arenas(plan));
    text.push_str("\nOrder, with the bytes live at each node\n");
    text.push_str(&order(graph, plan));
    text.push_str("\nLifetimes, with bytes and arena, by the numbers of the nodes\n");
    text.push_str(&chart(&Memory::new(graph, plan), text::width()));
    if let Some(&node) = plan.order.get(plan.peak_position) {
        text.push_str(&format!("\nLive at the peak, {}\n", graph.nodes[node.0 as usize].name));
        text.push_str(&live_at_peak(graph, plan));
    }
    text
}

fn bytes(number: u64) -> String {
    format!("{} B", count(number))
}

fn totals(plan: &Plan) -> String {
    let mut columns = Columns::default();
    let mut row =
        |what: &str, number: String, note: String| columns.row(["  ".to_owned() + what, number, note]);
    row("peak", bytes(plan.peak_bytes), format!("{:.4} of the bound", plan.ratio()));
    row("lower bound", bytes(plan.bound_bytes), String::new());
    let reuse = if plan.peak_bytes == 0 { 1.0 } else { plan.naive_bytes as f64 / plan.peak_bytes as f64 };
    row("without reuse", bytes(plan.naive_bytes), format!("{reuse:.4} of the peak"));
    columns.lines()
}

fn arenas(plan: &Plan) -> String {
    let mut columns = Columns::default();
    for (index, arena) in plan.arenas.iter().enumerate() {
        let buffers = plan.slots.iter().filter(|slot| slot.arena == index).count() as u64;
        let note = if arena.dedicated { "dedicated".to_owned() } else { counted(buffers, "buffer") };
        columns.row([format!("  {index}"), bytes(arena.size_bytes), note]);
    }
    columns.lines()
}

fn stage_lines(stages: &[Stage]) -> String {
    let mut columns = Columns::default();
    let titles = ["  stage", "nodes", "makes", "of it live", "live in all", "most live at"];
    columns.row(titles.map(str::to_owned));
    for stage in stages {
        let numbers = [stage.made_bytes, stage.own_peak_bytes, stage.live_peak_bytes].map(bytes);
        let [made, own, live] = numbers;
        let name = format!("  {}", stage.name);
        columns.row([name, count(stage.nodes.len() as u64), made, own, live, stage.peak_node.clone()]);
    }
    columns.lines()
}

fn order(graph: &Graph, plan: &Plan) -> String {
    let mut columns = Columns::default();
    let digits = (plan.order.len().saturating_sub(1).to_string().len()).max(3);
    for (segment, range) in plan.segments.iter().enumerate() {
        columns.row([format!("  segment {segment}")]);
        for position in range.clone() {
            let name = &graph.nodes[plan.order[position].0 as usize].name;
            let note = if plan.widened.contains(&plan.order[position]) { "widened" } else { "" };
            columns.row([
                format!("  {position:>digits$} {name}"),
                bytes(plan.live_bytes(position)),
                note.to_owned(),
            ]);
        }
    }
    columns.lines()
}

fn live_at_peak(graph: &Graph, plan: &Plan) -> String {
    let mut columns = Columns::default();
    for &buffer in &plan.live_at_peak {
        let slot = plan.slot(buffer);
        let name = graph.buffers[buffer.0 as usize]
            .versions
            .first()
            .map_or("", |value| graph.values[value.0 as usize].name.as_str());
        columns.row([format!("  {name}"), bytes(slot.size_bytes), format!("arena {}", slot.arena)]);
    }
    columns.lines()
}
