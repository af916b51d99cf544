//! `weft compare`: whether one graph is faster than another, and where.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressStyle};
use weft::format::MappedFile;
use weft::graph::load::Shaders;
use weft::graph::model::Graph;
use weft::report::compare::measure::{CompareError, Contender, measure};
use weft::report::compare::{Comparison, Difference, Settings, Verdict, fewest_runs, judge};
use weft::report::html;
use weft::run::Program;

use super::files::{self, OutputHow};
use super::job::{self, BackendArgs, Chosen, named_file};
use super::library::LibraryArgs;
use super::symbols::{SymbolArgs, known_to, numbers_for};
use super::text::{Columns, count, counted, seconds as time};
use super::{Failure, text};

/// How many nodes are named of those that differ.
const NODES_TOLD: usize = 5;

/// Compare graphs that do the same job: interleaved runs, and a verdict for the whole and each stage
///
/// The first graph is the baseline. All outputs are checked to be equal. A verdict is FASTER or SLOWER only where the whole
/// interval of the ratio lies beyond the threshold; what is not shown to differ is SAME.
#[derive(clap::Args)]
pub struct Args {
    /// Two or more graphs, by name or path; GRAPH@DIR takes the WGSL files in the folder DIR first
    #[arg(required = true, num_args = 2.., value_name = "GRAPH")]
    graphs: Vec<String>,
    /// For graphs that merge key-value files: the older and the newer one, after `--`
    #[arg(last = true, num_args = 2, value_names = ["OLDER", "NEWER"], conflicts_with_all = ["set", "inputs"])]
    files: Vec<PathBuf>,
    #[command(flatten)]
    symbols: SymbolArgs,
    /// The bytes of a graph input; once for each input
    #[arg(long = "in", value_name = "NAME=FILE", value_parser = named_file)]
    inputs: Vec<(String, PathBuf)>,
    /// Measured runs of each graph for totals, and as many for nodes
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(2..=1000))]
    runs: u32,
    /// Differences up to this are not relevant, in percent of a row's time
    #[arg(long, value_name = "PERCENT", default_value_t = 3.0, value_parser = percent)]
    relevant: f64,
    /// Seed of the order of runs
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write everything as JSON into this file; - for standard output, in place of the table
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a report for browsers: one file that needs no network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    how: OutputHow,
    #[command(flatten)]
    backend: BackendArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

fn percent(argument: &str) -> Result<f64, String> {
    let percent: f64 = argument.parse().map_err(|_| "write a number".to_owned())?;
    if (0.0..=1000.0).contains(&percent) { Ok(percent) } else { Err("give 0 to 1000".to_owned()) }
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let json = args.json.as_deref().filter(|path| path.as_os_str() != "-");
    let output = json.map(|path| args.how.create(path, [])).transpose()?;
    let page = args.html.as_deref().map(|path| args.how.create(path, [])).transpose()?;
    let comparison = compare(args)?;
    if let Some(page) = page {
        files::put(page, html::compare(&comparison).as_bytes())?;
    }
    if let Some(output) = output {
        files::put(output, text::json(&comparison)?.as_bytes())?;
    }
    match (&args.json, json) {
        (Some(_), None) => text::print_json(&comparison),
        _ => text::print(&describe(&comparison)),
    }
}

fn compare(args: &Args) -> Result<Comparison, Failure> {
    let mut chosen = args.backend.open()?;
    let resolve = |graph: &String| args.library.resolve_with_shaders(graph, Shaders::Check);
    let graphs = args.graphs.iter().map(resolve).collect::<Result<Vec<Graph>, Failure>>()?;
    let inputs = inputs(args)?;
    let programs = programs(args, graphs, &inputs, &chosen)?;
    let labels = labels(&args.graphs);
    let contenders: Vec<Contender<'_>> = programs
        .iter()
        .zip(labels)
        .map(|(program, label)| {
            let known = |name: &str| program.graph.inputs.iter().any(|input| input.name == name);
            let inputs = inputs.iter().filter(|(name, _)| known(name));
            Contender {
                label,
                program,
                inputs: inputs.map(|(name, file)| (name.as_str(), &file[..])).collect(),
            }
        })
        .collect();
    let settings = Settings {
        runs: args.runs as usize,
        seed: args.seed,
        relevant: args.relevant / 100.0,
        ..Settings::default()
    };
    let bar = progress_bar();
    let measured = measure(chosen.backend(), &contenders, &settings, &mut |done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    });
    bar.finish_and_clear();
    Ok(judge(&measured.map_err(failure)?, settings))
}

fn failure(error: CompareError) -> Failure {
    match error {
        CompareError::Run { label, error } => match job::failure(*error) {
            Failure::Device(text) => Failure::Device(format!("{label}: {text}")),
            Failure::Input(text) => Failure::Input(format!("{label}: {text}")),
            other => other,
        },
        differs @ CompareError::Differs { .. } => Failure::Input(differs.to_string()),
    }
}

/// What the graphs are called: as they were given, numbered where one is given again.
fn labels(graphs: &[String]) -> Vec<String> {
    let label = |(index, graph): (usize, &String)| {
        let before = graphs[..index].iter().filter(|other| *other == graph).count();
        if before == 0 { graph.clone() } else { format!("{graph} ({})", before + 1) }
    };
    graphs.iter().enumerate().map(label).collect()
}

fn inputs(args: &Args) -> Result<Vec<(String, MappedFile)>, Failure> {
    if let [older, newer] = &args.files[..] {
        return Ok(vec![("older".to_owned(), files::map(older)?), ("newer".to_owned(), files::map(newer)?)]);
    }
    let map = |(name, path): &(String, PathBuf)| {
        let file = MappedFile::open(path).map_err(|error| Failure::map_as(path, error, "a file"))?;
        Ok((name.clone(), file))
    };
    args.inputs.iter().map(map).collect()
}

fn programs(
    args: &Args,
    graphs: Vec<Graph>,
    inputs: &[(String, MappedFile)],
    chosen: &Chosen,
) -> Result<Vec<Program>, Failure> {
    if let [older, newer] = &args.files[..] {
        let paths: [&Path; 2] = [older, newer];
        return graphs.into_iter().map(|graph| job::merge_program(graph, paths, inputs, chosen)).collect();
    }
    let numbers = args.symbols.numbers()?;
    known_to(&numbers, graphs.iter())?;
    let known = |name: &str| graphs.iter().any(|graph| graph.inputs.iter().any(|input| input.name == name));
    if let Some((name, _)) = inputs.iter().find(|(name, _)| !known(name)) {
        return Err(Failure::Usage(format!("--in {name}: none of the graphs has this input")));
    }
    let program = |graph: Graph| {
        let numbers = numbers_for(&graph, &numbers);
        Program::new(Arc::new(graph), &numbers, &chosen.plan_options()).map_err(job::failure)
    };
    graphs.into_iter().map(program).collect()
}

/// A bar that shows itself only on a terminal.
fn progress_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("comparing {bar:40} {pos} of {len} turns {eta}");
    let bar = ProgressBar::new(0);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn describe(comparison: &Comparison) -> String {
    let mut text = format!("on {}\n\n", comparison.backend);
    text.push_str(&graph_lines(comparison));
    let baseline = &comparison.graphs[0];
    for against in &comparison.against_baseline {
        text.push_str(&format!("\n{} against {}\n", against.label, baseline.facts.label));
        let mut columns = Columns::default();
        let titles = ["  stage", "baseline", "graph", "ratio", "interval", "threshold", "verdict"];
        columns.row(titles.map(str::to_owned));
        for row in std::iter::once(&against.whole).chain(&against.stages) {
            columns.row(cells(row));
        }
        text.push_str(&columns.lines());
        // Elsewhere their differences are noise.
        let same = |row: &Difference| row.verdict == Some(Verdict::Same);
        let differs = |stage: &str| against.stages.iter().any(|row| row.what == stage && !same(row));
        let everywhere = !same(&against.whole) && against.stages.iter().all(same);
        let mut nodes = Columns::default();
        let told = against.nodes.iter().filter(|node| everywhere || differs(&node.stage));
        for node in told.take(NODES_TOLD) {
            let side = |seconds: f64| if seconds > 0.0 { time(seconds) } else { "none".to_owned() };
            let sign = if node.more_seconds() > 0.0 { "+" } else { "-" };
            let name = format!("  {} ({})", node.node, node.pass);
            nodes.row([
                name,
                side(node.baseline_seconds),
                side(node.seconds),
                format!("{sign}{}", time(node.more_seconds().abs())),
            ]);
        }
        let nodes = nodes.lines();
        if !nodes.is_empty() {
            text.push_str(&format!("nodes that differ most, medians\n{nodes}"));
        }
    }
    text.push_str(&notes(comparison));
    text
}

fn graph_lines(comparison: &Comparison) -> String {
    let mut columns = Columns::default();
    let titles = ["graph", "total", "±", "first run", "planned peak", "measured peak"];
    columns.row(titles.map(str::to_owned));
    for graph in &comparison.graphs {
        columns.row([
            graph.facts.label.clone(),
            time(graph.total_seconds.median),
            time(graph.total_seconds.mad),
            time(graph.facts.first_seconds),
            format!("{} B", count(graph.facts.planned_peak_bytes)),
            format!("{} B", count(graph.facts.measured_peak_bytes)),
        ]);
    }
    let mut text = columns.lines();
    for graph in &comparison.graphs {
        text.push_str(&format!(
            "{} is {}, identity {}\n",
            graph.facts.label, graph.facts.graph, graph.facts.identity
        ));
    }
    text
}

fn cells(row: &Difference) -> [String; 7] {
    let side = |seconds: Option<f64>| seconds.map_or("none".to_owned(), time);
    let (ratio, interval) = row.ratio.map_or((String::new(), String::new()), |ratio| {
        (format!("{:.3}", ratio.estimate), format!("{:.3} to {:.3}", ratio.low, ratio.high))
    });
    let mark = if row.resolved { "" } else { " ~" };
    let verdict = row.verdict.map_or("none".to_owned(), |verdict| format!("{}{mark}", verdict.text()));
    [
        format!("  {}", row.what),
        side(row.baseline_seconds),
        side(row.seconds),
        ratio,
        interval,
        format!("{:.1} %", (row.threshold - 1.0) * 100.0),
        verdict,
    ]
}

fn notes(comparison: &Comparison) -> String {
    let settings = &comparison.settings;
    let blocks = counted(comparison.blocks as u64, "block");
    let mut text = format!(
        "\n{blocks} of two runs of each graph, of which the faster counts, seed {}; stages from runs of their own, in which nodes are timed.\n\
         All intervals hold at once with {:.0} % ({:.2} % for a whole, {:.2} % for a stage). A verdict needs the whole\n\
         interval of the ratio beyond the threshold: {:.1} % of the row and {:.1} % of all stages together.\n",
        settings.seed,
        (1.0 - settings.error) * 100.0,
        (1.0 - comparison.whole_error) * 100.0,
        (1.0 - comparison.stage_error) * 100.0,
        settings.relevant * 100.0,
        settings.relevant_of_whole * 100.0,
    );
    let rows = || comparison.against_baseline.iter().flat_map(|a| std::iter::once(&a.whole).chain(&a.stages));
    if rows().any(|row| row.verdict.is_some() && !row.resolved) {
        text.push_str(
            "~ too much noise to exclude a relevant difference; more --runs make the interval shorter.\n",
        );
    }
    let fewest = fewest_runs(comparison);
    if 2 * comparison.blocks < fewest {
        text.push_str(&format!("Too few runs for verdicts: give --runs {fewest} or more.\n"));
    }
    if let Some(why) = &comparison.untimed {
        text.push_str(&format!("No times of stages and nodes: {why}.\n"));
    }
    text
}
