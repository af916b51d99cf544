//! `weft bench`: the published suites over graphs and engines.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use indicatif::{ProgressBar, ProgressStyle};
use weft::bench::{
    CaseOutcome, Engine, Report, SUITES, Settings, Subject, Suite, markdown, run as run_suite,
};
use weft::graph::load::Shaders;
use weft::graph::model::Graph;
use weft::graph::source::Kind;
use weft::merge::graph::{Merger, default_graph, profile_of};
use weft::run::{Backend, Gpu, GpuBackend, ReferenceBackend};

use super::files::{self, OutputHow};
use super::job::DeviceArgs;
use super::library::LibraryArgs;
use super::{Failure, text};

/// Run a published suite of merges over graphs and engines, compare all outputs, and write a dated report
///
/// Every output is compared with that of the streaming engine; the exit code is 1 if one differs or a merge fails.
#[derive(clap::Args)]
pub struct Args {
    /// Which one
    #[arg(long, value_name = "SUITE", value_parser = clap::builder::PossibleValuesParser::new(SUITES.iter().map(|suite| clap::builder::PossibleValue::new(suite.name).help(suite.about))))]
    suite: String,
    /// A graph, by name or path; may be given several times. `all` for every shipped graph that merges the files of the suite.
    /// By default kv03/baseline-once, or kv02/baseline-once for the byte suite, and for the collision suite kv03/baseline and all kv03/collision graphs
    #[arg(long = "graph", value_name = "GRAPH")]
    graphs: Vec<String>,
    /// An engine; may be given several times. By default cpu and gpu
    #[arg(long = "engine", value_enum)]
    engines: Vec<EngineArg>,
    /// Trials of each engine, graph and case after the first merge; 0 only compares outputs
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=10_000))]
    trials: u32,
    /// Leave out cases with more records than this in both files together
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    most_records: u64,
    /// Seed of the order of trials
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Write the report into this file, and only a summary to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write everything as JSON into this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    how: OutputHow,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum EngineArg {
    /// The streaming engine, on one core
    Cpu,
    /// Graphs on a GPU
    Gpu,
    /// Graphs by the scalar references of their passes
    Reference,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let suite = SUITES.iter().find(|suite| suite.name == args.suite);
    let suite = suite.ok_or_else(|| Failure::Usage(format!("no suite is named {}", args.suite)))?;
    let create = |path: &PathBuf| args.how.create(path, []);
    let (output, json) =
        (args.output.as_ref().map(create).transpose()?, args.json.as_ref().map(create).transpose()?);
    let mut subjects = subjects(args, suite)?;
    let settings =
        Settings { trials: args.trials as usize, seed: args.seed, most_records: args.most_records };
    let began = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let bar = progress_bar();
    let report = run_suite(suite, &mut subjects, settings, began, &mut |case, done, all| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
        bar.set_message(case.to_owned());
    });
    bar.finish_and_clear();
    if report.cases.is_empty() {
        return Err(Failure::Usage(format!(
            "no case of the suite {} has so few records; give --most-records more",
            suite.name
        )));
    }
    let text = markdown::markdown(&report);
    let written = output.is_some();
    for (file, content) in [(output, &text), (json, &text::json(&report)?)] {
        if let Some(file) = file {
            files::put(file, content.as_bytes())?;
        }
    }
    text::print(&if written { summary(&report) } else { text })?;
    match report.tally()[2] {
        0 => Ok(()),
        wrong => Err(Failure::Input(format!("{} went wrong", text::counted(wrong as u64, "merge")))),
    }
}

fn subjects(args: &Args, suite: &Suite) -> Result<Vec<Subject>, Failure> {
    let engines = match args.engines.is_empty() {
        true => &[EngineArg::Cpu, EngineArg::Gpu][..],
        false => &args.engines,
    };
    let mut subjects = Vec::new();
    let mut gpu: Option<Arc<Gpu>> = None;
    let graphs = match engines.iter().all(|engine| *engine == EngineArg::Cpu) {
        true => Vec::new(),
        false => graphs(args, suite)?,
    };
    for engine in engines {
        if *engine == EngineArg::Cpu {
            subjects.push(Subject { label: "cpu".to_owned(), engine: Engine::Cpu });
            continue;
        }
        for (name, graph) in &graphs {
            let graph = Arc::clone(graph);
            let (label, engine) = if *engine == EngineArg::Gpu {
                let gpu = match &gpu {
                    Some(gpu) => Arc::clone(gpu),
                    None => Arc::clone(gpu.insert(Arc::clone(args.device.open()?.gpu()))),
                };
                let merger = Box::new(Merger::new(graph, gpu.plan_options(), gpu.is_cpu()));
                let backend = Box::new(GpuBackend::new(gpu));
                (format!("gpu {name}"), Engine::Graph { merger, backend })
            } else {
                let backend = Box::new(ReferenceBackend::new());
                let merger = Box::new(Merger::new(graph, backend.plan_options(), false));
                (format!("reference {name}"), Engine::Graph { merger, backend })
            };
            subjects.push(Subject { label, engine });
        }
    }
    Ok(subjects)
}

fn graphs(args: &Args, suite: &Suite) -> Result<Vec<(String, Arc<Graph>)>, Failure> {
    let shipped = args.library.open()?.names(Kind::Graph);
    let all = args.graphs.iter().any(|graph| graph == "all");
    let family = suite.profile.family();
    let wanted = |name: &&String| {
        name.starts_with(&format!("{family}/")) && (all || name.starts_with(&format!("{family}/collision")))
    };
    let mut names: Vec<String> = args.graphs.iter().filter(|graph| *graph != "all").cloned().collect();
    let by_default = args.graphs.is_empty() && suite.name == "collision";
    if args.graphs.is_empty() {
        // What the orderings change is the baseline; else what `weft merge` takes.
        names.push(if by_default { format!("{family}/baseline") } else { default_graph(suite.profile) });
    }
    if all || by_default {
        names.extend(
            shipped.iter().filter(wanted).filter(|name| !names.contains(name)).cloned().collect::<Vec<_>>(),
        );
    }
    let mut graphs = Vec::with_capacity(names.len());
    for name in names {
        let asked = args.graphs.contains(&name);
        if !asked && args.library.is_overlay(&name)? {
            continue;
        }
        let graph = args.library.resolve_with_shaders(&name, Shaders::Check)?;
        if profile_of(&graph) == Some(suite.profile) {
            graphs.push((name, Arc::new(graph)));
        } else if asked {
            return Err(Failure::Usage(format!(
                "--graph {name}: the suite {} merges {} files; name a graph of the family {family}",
                suite.name,
                suite.profile.name()
            )));
        }
    }
    Ok(graphs)
}

/// A bar that shows itself only on a terminal.
fn progress_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos} of {len} cases {msg}");
    let bar = ProgressBar::new(0);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn summary(report: &Report) -> String {
    let [equal, refused, wrong] = report.tally();
    let mut text = format!("{equal} equal to the streaming engine, {refused} refused, {wrong} wrong\n");
    for case in &report.cases {
        for result in &case.results {
            match &result.outcome {
                CaseOutcome::Equal => {}
                CaseOutcome::Differs(byte) => {
                    text.push_str(&format!("{}: {} differs from byte {byte} on\n", case.case, result.label));
                }
                CaseOutcome::Refused(why) => {
                    text.push_str(&format!("{}: {} refused: {why}\n", case.case, result.label));
                }
                CaseOutcome::Failed(why) => {
                    text.push_str(&format!("{}: {} failed: {why}\n", case.case, result.label));
                }
            }
        }
    }
    text
}
