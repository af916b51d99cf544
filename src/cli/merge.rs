//! `weft merge`: many files into one.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use weft::format::kv::{File, Summary};
use weft::format::{MappedFile, Output};
use weft::graph::load::Shaders;
use weft::merge::cpu::{self, MergeError, Options};
use weft::merge::graph::{GraphMerge, GraphMergeError, default_graph};
use weft::merge::{self, choice};
use weft::output::OutputFile;
use weft::run::ReferenceBackend;

use super::files::{self, OutputArgs};
use super::job::{self, Chosen, DeviceArgs};
use super::library::LibraryArgs;
use super::progress::{Progress, Total};
use super::{Failure, text};

/// Merge key-value files of one profile, oldest first; on equal keys the newest value wins
///
/// Deletions stay records: a tombstone in a newer file replaces an older value and is kept. One file alone is
/// rewritten in its canonical form.
#[derive(clap::Args)]
pub struct Args {
    /// The files to merge, oldest first
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
    /// What does the work
    #[arg(long, value_enum, default_value_t = EngineArg::Auto)]
    engine: EngineArg,
    /// The graph of the gpu and reference engines: its name, as `weft list` gives it, or the path of a graph file
    /// [default: kv02/baseline-once or kv03/baseline-once, as the files are]
    #[arg(long, value_name = "GRAPH")]
    graph: Option<String>,
    /// Do not verify the inputs' body checksums; all other checks are made
    #[arg(long)]
    no_verify: bool,
    /// Write JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    library: LibraryArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum EngineArg {
    /// The best engine for the job
    Auto,
    /// The streaming engine, on one core
    Cpu,
    /// A graph of passes, on a GPU
    Gpu,
    /// The same graph by the scalar references of its passes: slow, and needs no driver
    Reference,
}

/// What `--json` writes. Fields are added, never renamed or removed.
#[derive(Serialize)]
struct Report {
    output: FileReport,
    /// Oldest first.
    inputs: Vec<FileReport>,
    /// Input records that gave way to newer ones of their keys.
    replaced_records: u64,
    /// `cpu`, `gpu` or `reference`.
    engine: &'static str,
    /// Why it was that, if the choice was left open.
    engine_reason: Option<String>,
    /// The graph that ran, and on what.
    graph: Option<GraphReport>,
    /// Whether the inputs' body checksums were verified.
    verified: bool,
    /// Whether the output is on stable storage.
    synchronised: bool,
    /// From opening the inputs to the output's having its name.
    seconds: f64,
}

#[derive(Serialize)]
struct GraphReport {
    name: String,
    identity: String,
    backend: String,
    peak_bytes: u64,
    open_seconds: f64,
    verify_seconds: f64,
    plan_seconds: f64,
    prepare_seconds: f64,
    upload_seconds: f64,
    download_seconds: f64,
    run_seconds: f64,
    finish_seconds: f64,
    write_seconds: f64,
}

#[derive(Serialize)]
struct FileReport {
    path: String,
    records: u64,
    file_bytes: u64,
    payload_bits: u64,
    /// The declared common encoded value width; null if none is declared.
    value_width_bits: Option<u64>,
}

/// What did the work.
struct Work {
    engine: &'static str,
    reason: Option<String>,
    graph: Option<GraphReport>,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let started = Instant::now();
    let mapped = args.inputs.iter().map(|path| files::map(path)).collect::<Result<Vec<_>, _>>()?;
    let opened = args.inputs.iter().zip(&mapped).map(|(path, file)| files::open(path, file));
    let inputs = opened.collect::<Result<Vec<_>, _>>()?;
    merge::common_profile(&inputs)
        .map_err(|mixed| Failure::Input(format!("{}: {mixed}", args.inputs[mixed.input].display())))?;
    // What no graph can do is refused before an output is begun.
    let engine = choose(args, &inputs)?;
    let output = args.output.create(mapped.iter().map(MappedFile::file))?;
    let total_bytes = inputs.iter().map(|input| input.file().len() as u64).sum();
    let out =
        WithProgress { out: output.file(), progress: Progress::start("merging", Total::Bytes(total_bytes)) };
    let (summary, work) = match engine {
        Engine::Cpu(reason) => {
            let summary =
                cpu::merge(&inputs, Options { verify: !args.no_verify }, out).map_err(
                    |error| match error {
                        MergeError::Input { input, error } => Failure::format(&args.inputs[input], &error),
                        MergeError::Profiles(mixed) => Failure::Input(mixed.to_string()),
                        MergeError::Output(error) => Failure::output(output.write_error(error)),
                    },
                )?;
            (summary, Work { engine: "cpu", reason, graph: None })
        }
        Engine::Graph(job) => job.merge(args, out, &output)?,
    };
    output.commit().map_err(Failure::output)?;
    let report = describe(args, &inputs, summary, work, started.elapsed());
    if args.json { text::print_json(&report) } else { text::print(&report.for_people()) }
}

/// An engine that was chosen, ready to work.
enum Engine<'a> {
    /// The streaming engine, and why.
    Cpu(Option<String>),
    /// A graph.
    Graph(Box<GraphJob<'a>>),
}

struct GraphJob<'a> {
    engine: &'static str,
    reason: Option<String>,
    name: String,
    identity: String,
    merge: GraphMerge<'a>,
    chosen: Chosen,
    open_seconds: f64,
}

fn choose<'a>(args: &Args, inputs: &[File<'a>]) -> Result<Engine<'a>, Failure> {
    match args.engine {
        EngineArg::Cpu if args.graph.is_some() => {
            Err(Failure::Usage("--graph goes with --engine gpu or reference".to_owned()))
        }
        EngineArg::Cpu => Ok(Engine::Cpu(None)),
        EngineArg::Gpu => {
            graph_job(args, inputs, None, || args.device.open().map(|gpu| Chosen::Gpu(Box::new(gpu))))
        }
        EngineArg::Reference => {
            graph_job(args, inputs, None, || Ok(Chosen::Reference(ReferenceBackend::new())))
        }
        EngineArg::Auto => match (choose_for(args, inputs)?, &args.graph) {
            (Engine::Cpu(reason), Some(graph)) => {
                let reason = reason.unwrap_or_default();
                Ok(Engine::Cpu(Some(format!("{reason}; --engine gpu would have run {graph}"))))
            }
            (engine, _) => Ok(engine),
        },
    }
}

fn choose_for<'a>(args: &Args, inputs: &[File<'a>]) -> Result<Engine<'a>, Failure> {
    if let Some(reason) = choice::not_for_graphs(inputs).or_else(|| choice::too_small_for_device(inputs)) {
        return Ok(Engine::Cpu(Some(reason)));
    }
    let gpu = match args.device.open() {
        Ok(gpu) if gpu.gpu().is_cpu() => {
            return Ok(Engine::Cpu(Some(format!("there is no hardware device, only {}", gpu.gpu().name()))));
        }
        Ok(gpu) => gpu,
        Err(error) => return Ok(Engine::Cpu(Some(error.to_string()))),
    };
    let reason = format!("the cpu engine would take about {:.0} ms", choice::cpu_seconds(inputs) * 1e3);
    match graph_job(args, inputs, Some(reason), || Ok(Chosen::Gpu(Box::new(gpu)))) {
        Err(Failure::Input(refused)) => Ok(Engine::Cpu(Some(refused))),
        engine => engine,
    }
}

fn graph_job<'a>(
    args: &Args,
    inputs: &[File<'a>],
    reason: Option<String>,
    open: impl FnOnce() -> Result<Chosen, Failure>,
) -> Result<Engine<'a>, Failure> {
    let &[older, newer] = inputs else {
        let problem = choice::not_for_graphs(inputs).unwrap_or_default();
        return Err(Failure::Usage(format!("{problem}; use --engine cpu")));
    };
    let begin = Instant::now();
    let name = args.graph.clone().unwrap_or_else(|| default_graph(older.profile));
    let graph = Arc::new(args.library.resolve(&name, Shaders::Check)?);
    let chosen = open()?;
    let open_seconds = begin.elapsed().as_secs_f64();
    let (name, identity) = (graph.name.clone(), graph.identity.clone());
    let merge = chosen.merger(graph).bind(older, newer);
    let merge = merge.map_err(|error| failure(args, error, None))?;
    let engine = chosen.engine();
    Ok(Engine::Graph(Box::new(GraphJob { engine, reason, name, identity, merge, chosen, open_seconds })))
}

impl GraphJob<'_> {
    fn merge(
        mut self,
        args: &Args,
        out: impl Output,
        output: &OutputFile,
    ) -> Result<(Summary, Work), Failure> {
        let backend = self.chosen.backend();
        let merged = self.merge.merge(backend, !args.no_verify, out);
        let (summary, stages) = merged.map_err(|error| failure(args, error, Some(output)))?;
        let graph = GraphReport {
            name: self.name,
            identity: self.identity,
            backend: backend.name(),
            peak_bytes: self.merge.program().map_or(0, |program| program.plan.peak_bytes),
            open_seconds: self.open_seconds,
            verify_seconds: stages.verify_seconds,
            plan_seconds: stages.plan_seconds,
            prepare_seconds: stages.run.prepare_seconds,
            upload_seconds: stages.run.upload_seconds,
            download_seconds: stages.run.download_seconds,
            run_seconds: stages.run.total_seconds,
            finish_seconds: stages.finish_seconds,
            write_seconds: stages.write_seconds,
        };
        Ok((summary, Work { engine: self.engine, reason: self.reason, graph: Some(graph) }))
    }
}

fn failure(args: &Args, error: GraphMergeError, output: Option<&OutputFile>) -> Failure {
    match (error, output) {
        (GraphMergeError::Input { input, error }, _) => Failure::format(&args.inputs[input], &error),
        (GraphMergeError::Run(error), _) => job::failure(error),
        (GraphMergeError::Write(error), Some(output)) => Failure::output(output.write_error(error)),
        (error, _) => Failure::Input(error.to_string()),
    }
}

fn describe(args: &Args, inputs: &[File<'_>], summary: Summary, work: Work, elapsed: Duration) -> Report {
    let inputs: Vec<FileReport> = args
        .inputs
        .iter()
        .zip(inputs)
        .map(|(path, input)| FileReport {
            path: path.display().to_string(),
            records: input.records(),
            file_bytes: input.file().len() as u64,
            payload_bits: input.directory.payload_bits,
            value_width_bits: input.value_width_bits(),
        })
        .collect();
    Report {
        replaced_records: inputs.iter().map(|input| input.records).sum::<u64>() - summary.records,
        output: FileReport {
            path: args.output.output.display().to_string(),
            records: summary.records,
            file_bytes: summary.file_bytes,
            payload_bits: summary.payload_bits,
            value_width_bits: summary.value_width_bits,
        },
        inputs,
        engine: work.engine,
        engine_reason: work.reason,
        graph: work.graph,
        verified: !args.no_verify,
        synchronised: args.output.how.sync,
        seconds: elapsed.as_secs_f64(),
    }
}

impl Report {
    fn for_people(&self) -> String {
        let mut table = text::Columns::default();
        for file in self.inputs.iter().chain([&self.output]) {
            table.row([
                file.path.clone(),
                text::counted(file.records, "record"),
                text::counted(file.file_bytes, "byte"),
            ]);
        }
        let read: u64 = self.inputs.iter().map(|input| input.records).sum();
        let mut notes = vec![format!("{} replaced", text::counted(self.replaced_records, "older record"))];
        notes.push(if self.verified { "checksums verified" } else { "checksums not verified" }.to_owned());
        if self.synchronised {
            notes.push("on stable storage".to_owned());
        }
        let time = text::duration(Duration::from_secs_f64(self.seconds));
        let pace = match read {
            0 => String::new(),
            read => format!(", {:.0} ns per input record", self.seconds * 1e9 / read as f64),
        };
        let mut text = format!("{}{}\n", table.lines(), notes.join(", "));
        text.push_str(&format!("merged in {time} by the {} engine{pace}\n", self.engine));
        if let Some(reason) = &self.engine_reason {
            text.push_str(&format!("{} because {reason}\n", self.engine));
        }
        if let Some(graph) = &self.graph {
            text.push_str(&graph.for_people());
        }
        text
    }
}

impl GraphReport {
    fn for_people(&self) -> String {
        let time = text::seconds;
        format!(
            "{} on {}, {} B of arenas\nopening {}, checksums {}, planning {}, pipelines {}, running {} (upload {}), finishing {}, writing {}\nidentity {}\n",
            self.name,
            self.backend,
            text::count(self.peak_bytes),
            time(self.open_seconds),
            time(self.verify_seconds),
            time(self.plan_seconds),
            time(self.prepare_seconds),
            time(self.run_seconds),
            time(self.upload_seconds),
            time(self.finish_seconds),
            time(self.write_seconds),
            self.identity
        )
    }
}

/// An output that says how far the work is; all of it should come to about the bytes of the inputs.
struct WithProgress<O> {
    out: O,
    progress: Progress,
}

impl<O: Output> Output for WithProgress<O> {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.progress.at(offset + bytes.len() as u64);
        self.out.write_at(offset, bytes)
    }
}
