//! What commands that run a graph share: the graph, its numbers and inputs, and what to run it on.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use weft::format::MappedFile;
use weft::graph::load::Shaders;
use weft::graph::model::Graph;
use weft::merge::graph::{GraphMerge, GraphMergeError, Merger, check_profile, symbols};
use weft::output::OutputFile;
use weft::plan::{self, PlanError};
use weft::report::profile::Records;
use weft::run::{Backend, Gpu, GpuBackend, GpuOptions, Program, ReferenceBackend, RunError};

use super::library::GraphArgs;
use super::symbols::{PairArgs, SymbolArgs};
use super::{Failure, files};

/// A graph with numbers and inputs.
#[derive(clap::Args)]
pub struct JobArgs {
    #[command(flatten)]
    graph: GraphArgs,
    #[command(flatten)]
    symbols: SymbolArgs,
    /// The bytes of a graph input; once for each input
    #[arg(long = "in", value_name = "NAME=FILE", value_parser = named_file, conflicts_with = "older")]
    inputs: Vec<(String, PathBuf)>,
    #[command(flatten)]
    pair: PairArgs,
}

/// What to run on.
#[derive(clap::Args)]
pub struct BackendArgs {
    /// What runs the graph; by default the first device, or the references where there is none
    #[arg(long, value_enum)]
    backend: Option<BackendArg>,
    #[command(flatten)]
    device: DeviceArgs,
}

/// Which device.
#[derive(clap::Args)]
pub struct DeviceArgs {
    /// The device of this number in the list of `weft devices`; the first by default
    #[arg(long, value_name = "N")]
    device: Option<usize>,
    /// Pass params in a uniform buffer even where the device takes immediates, in case its driver gets those wrong
    #[arg(long)]
    no_immediates: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum BackendArg {
    /// A device
    Gpu,
    /// The scalar references of the passes, on the CPU
    Reference,
}

/// Reads `NAME=FILE`.
pub fn named_file(argument: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = argument.split_once('=').ok_or("write NAME=FILE")?;
    if name.is_empty() || path.is_empty() {
        return Err("write NAME=FILE".to_owned());
    }
    Ok((name.to_owned(), PathBuf::from(path)))
}

/// A program and its mapped inputs.
pub struct Job {
    pub program: Program,
    inputs: Vec<(String, MappedFile)>,
    /// The paths of the older and the newer file, if the graph merges those.
    pair: Option<[PathBuf; 2]>,
    /// What times may be divided by.
    pub records: Option<Records>,
    /// Reading and checking the graph's files.
    pub resolve_seconds: f64,
    /// Planning memory.
    pub plan_seconds: f64,
}

impl Job {
    /// Names and bytes of the inputs.
    pub fn inputs(&self) -> Vec<(&str, &[u8])> {
        self.inputs.iter().map(|(name, file)| (name.as_str(), &file[..])).collect()
    }

    /// The open files of the inputs.
    pub fn files(&self) -> impl Iterator<Item = &File> {
        self.inputs.iter().map(|(_, file)| file.file())
    }

    /// The same once more as a merge, if it is one.
    pub fn merge(&self, chosen: &Chosen) -> Result<Option<GraphMerge<'_>>, Failure> {
        let Some([older, newer]) = &self.pair else { return Ok(None) };
        bind(Arc::clone(&self.program.graph), [older, newer], &self.inputs, chosen).map(Some)
    }
}

impl JobArgs {
    /// Resolves and plans the graph for a backend, and maps the inputs.
    pub fn open(&self, chosen: &Chosen) -> Result<Job, Failure> {
        let begin = Instant::now();
        let graph = self.graph.resolve(Shaders::Check)?;
        let resolve_seconds = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        if let Some((older, newer)) = self.pair.files() {
            let job = bind_files(graph, older, newer, chosen)?;
            return Ok(Job { resolve_seconds, plan_seconds: begin.elapsed().as_secs_f64(), ..job });
        }
        let numbers = self.symbols.numbers()?;
        let program = Program::new(Arc::new(graph), &numbers, &chosen.plan_options()).map_err(failure)?;
        let plan_seconds = begin.elapsed().as_secs_f64();
        let map = |(name, path): &(String, PathBuf)| {
            let file = MappedFile::open(path).map_err(|error| Failure::map_as(path, error, "a file"))?;
            Ok((name.clone(), file))
        };
        let inputs = self.inputs.iter().map(map).collect::<Result<_, Failure>>()?;
        // By custom a graph's `n` is the number of its items.
        let items = |&records: &u64| Records { records, of: "items (n)".to_owned() };
        let records = numbers.get("n").map(items);
        Ok(Job { program, inputs, pair: None, records, resolve_seconds, plan_seconds })
    }
}

/// A merge of two files as a job.
fn bind_files(graph: Graph, older: &Path, newer: &Path, chosen: &Chosen) -> Result<Job, Failure> {
    let inputs = vec![("older".to_owned(), files::map(older)?), ("newer".to_owned(), files::map(newer)?)];
    let merge = bind(Arc::new(graph), [older, newer], &inputs, chosen)?;
    let records = merge.records();
    let program = program_of(merge)?;
    Ok(Job {
        program,
        inputs,
        pair: Some([older.to_owned(), newer.to_owned()]),
        records: Some(Records { records, of: "records of both files".to_owned() }),
        resolve_seconds: 0.0,
        plan_seconds: 0.0,
    })
}

/// The program of a graph bound to an older and a newer file, mapped as its first two inputs.
pub fn merge_program(
    graph: Graph,
    paths: [&Path; 2],
    inputs: &[(String, MappedFile)],
    chosen: &Chosen,
) -> Result<Program, Failure> {
    program_of(bind(Arc::new(graph), paths, inputs, chosen)?)
}

/// A graph bound to an older and a newer file, mapped as its first two inputs.
fn bind<'f>(
    graph: Arc<Graph>,
    [older, newer]: [&Path; 2],
    inputs: &'f [(String, MappedFile)],
    chosen: &Chosen,
) -> Result<GraphMerge<'f>, Failure> {
    let opened = (files::open(older, &inputs[0].1)?, files::open(newer, &inputs[1].1)?);
    let merge = chosen.merger(graph).bind(opened.0, opened.1);
    merge.map_err(|error| Failure::Input(error.to_string()))
}

fn program_of(merge: GraphMerge<'_>) -> Result<Program, Failure> {
    merge.into_program().ok_or_else(|| {
        Failure::Input(
            "both files are empty, and merging them runs no graph; give one with records".to_owned(),
        )
    })
}

/// The numbers that graphs which merge such files need of two of them.
pub fn symbols_of_files<'g>(
    graphs: impl IntoIterator<Item = &'g Graph>,
    older: &Path,
    newer: &Path,
) -> Result<BTreeMap<String, u64>, Failure> {
    let (older_file, newer_file) = (files::map(older)?, files::map(newer)?);
    let inputs = [files::open(older, &older_file)?, files::open(newer, &newer_file)?];
    for graph in graphs {
        check_profile(graph, &inputs).map_err(|error| Failure::Input(error.to_string()))?;
    }
    Ok(symbols(&inputs[0], &inputs[1]))
}

/// A backend that was chosen.
pub enum Chosen {
    Gpu(Box<GpuBackend>),
    Reference(ReferenceBackend),
}

impl Chosen {
    /// The backend.
    pub fn backend(&mut self) -> &mut dyn Backend {
        match self {
            Chosen::Gpu(backend) => backend.as_mut(),
            Chosen::Reference(backend) => backend,
        }
    }

    /// What plans for it may do and have to keep.
    pub fn plan_options(&self) -> plan::Options {
        match self {
            Chosen::Gpu(backend) => backend.plan_options(),
            Chosen::Reference(backend) => backend.plan_options(),
        }
    }

    /// What the merge command calls it.
    pub fn engine(&self) -> &'static str {
        match self {
            Chosen::Gpu(_) => "gpu",
            Chosen::Reference(_) => "reference",
        }
    }

    /// A graph made ready to merge files on it.
    pub fn merger(&self, graph: Arc<Graph>) -> Merger {
        let cpu_adapter = matches!(self, Chosen::Gpu(backend) if backend.gpu().is_cpu());
        Merger::new(graph, self.plan_options(), cpu_adapter)
    }
}

impl BackendArgs {
    /// Opens the backend; says so where the references stand in for a device that is not there.
    pub fn open(&self) -> Result<Chosen, Failure> {
        match (self.backend, self.device.device) {
            (Some(BackendArg::Reference), None) if self.device.no_immediates => {
                Err(Failure::Usage("--no-immediates goes with --backend gpu".to_owned()))
            }
            (Some(BackendArg::Reference), None) => Ok(Chosen::Reference(ReferenceBackend::new())),
            (Some(BackendArg::Reference), Some(_)) => {
                Err(Failure::Usage("--device goes with --backend gpu".to_owned()))
            }
            (None, None) => match self.device.open() {
                Ok(gpu) => Ok(Chosen::Gpu(Box::new(gpu))),
                Err(error) => {
                    eprintln!("weft: running by the scalar references: {error}");
                    Ok(Chosen::Reference(ReferenceBackend::new()))
                }
            },
            _ => Ok(Chosen::Gpu(Box::new(self.device.open()?))),
        }
    }
}

impl DeviceArgs {
    /// Opens the device.
    pub fn open(&self) -> Result<GpuBackend, Failure> {
        let options = GpuOptions { device: self.device, immediates: !self.no_immediates };
        let gpu = Gpu::open_with(options).map_err(failure)?;
        Ok(GpuBackend::new(Arc::new(gpu)))
    }
}

/// A failed merge by a graph as a failed command, where it is known that the files suit it.
pub fn merge_failure(error: GraphMergeError, output: &OutputFile) -> Failure {
    match error {
        GraphMergeError::Run(error) => failure(error),
        GraphMergeError::Write(error) => Failure::output(output.write_error(error)),
        error => Failure::Input(error.to_string()),
    }
}

/// A failed run as a failed command.
pub fn failure(error: RunError) -> Failure {
    match error {
        RunError::Plan(PlanError::Missing { ref missing, .. }) => {
            let merges = missing.iter().any(|symbol| symbol.starts_with("`older_payload_"));
            let files = if merges { ", or name the older and the newer file in place of all" } else { "" };
            Failure::Usage(format!("{error}; give each with --set NAME=N{files}"))
        }
        RunError::Plan(PlanError::Unknown { .. }) => {
            Failure::Usage(format!("{error}; give each with --set NAME=N"))
        }
        RunError::Input { ref what, .. } if what == "is missing" => {
            Failure::Usage(format!("{error}; give it with --in NAME=FILE"))
        }
        RunError::Input { .. } => Failure::Usage(error.to_string()),
        error if error.is_device() => Failure::Device(error.to_string()),
        error => Failure::Input(error.to_string()),
    }
}
