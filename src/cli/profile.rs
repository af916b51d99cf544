//! `weft profile`: what a graph takes, in all and node by node.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use weft::graph::model::Graph;
use weft::graph::source::Library;
use weft::output::OutputFile;
use weft::report::html;
use weft::report::profile::csv::csv;
use weft::report::profile::trace::trace;
use weft::report::profile::{self, Options, Profile, Roof, roof, table};
use weft::report::stats::Stats;
use weft::run::{Backend, GpuBackend, PortOf, dump};

use super::files::{OutputHow, put};
use super::job::{self, BackendArgs, Chosen, Job, JobArgs};
use super::progress::{Progress, Total};
use super::{Failure, text};

/// Whole merges that are made to time what is around the runs.
const MERGES_MAX: usize = 5;

/// Measure a graph: timed runs for the totals, profiled runs for each node
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    job: JobArgs,
    /// Runs for totals, as many for segments and as many for nodes, after one that makes everything ready
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    /// Write JSON, to a file or, without one, in place of the table
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    json: Option<Option<PathBuf>>,
    /// Write every measurement of every node as comma-separated values
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write one of the profiled runs as a trace for Perfetto or Chrome
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Write a report for browsers: one file that needs no network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write what a port holds right after its node ran; may be given several times [default file: NODE.PORT.bin, / as .]
    #[arg(long, value_name = "NODE.PORT[=FILE]")]
    dump: Vec<String>,
    /// Do not measure what copying reaches on the device; nodes then have no class
    #[arg(long)]
    no_roof: bool,
    #[command(flatten)]
    how: OutputHow,
    #[command(flatten)]
    backend: BackendArgs,
}

impl Args {
    /// The file that JSON goes into; none for standard output.
    fn json_file(&self) -> Option<&PathBuf> {
        self.json.as_ref()?.as_ref().filter(|path| path.as_os_str() != "-")
    }
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let begin = Instant::now();
    let mut chosen = args.backend.open()?;
    let device_seconds = begin.elapsed().as_secs_f64();
    let job = args.job.open(&chosen)?;
    let outputs = Outputs::create(args, &job)?;
    let mut profile = measure(args, &mut chosen, &job)?;
    profile.job = whole_job(args, &mut chosen, &job)?;
    profile.job.open_seconds = Some(device_seconds + job.resolve_seconds);
    profile.job.plan_seconds = Some(job.plan_seconds);
    let ports: Vec<PortOf> = outputs.dumps.iter().map(|(port, _)| *port).collect();
    let dumped = match ports.is_empty() {
        true => Vec::new(),
        false => dump(&job.program, chosen.backend(), &job.inputs(), &ports).map_err(job::failure)?,
    };
    outputs.write(&profile, &job, &dumped)?;
    match (&args.json, args.json_file()) {
        (Some(_), None) => text::print_json(&profile),
        _ => text::print(&table::text(&profile, text::width())),
    }
}

fn measure(args: &Args, chosen: &mut Chosen, job: &Job) -> Result<Profile, Failure> {
    let (roof, no_roof) = match measure_roof(args, chosen)? {
        Ok(roof) => (Some(roof), None),
        Err(why) => (None, Some(why)),
    };
    let runs = args.runs as usize;
    let options = Options { runs, roof, no_roof, records: job.records.clone() };
    let progress =
        Progress::start(&format!("profiling {}", job.program.graph.name), Total::Steps(runs as u64));
    let mut done = |done: usize, _: usize| progress.at(done as u64);
    let measured = profile::profile(&job.program, chosen.backend(), &job.inputs(), options, &mut done);
    measured.map_err(job::failure)
}

/// What copying reaches on the device of this backend, or why that is not known.
fn measure_roof(args: &Args, chosen: &Chosen) -> Result<Result<Roof, String>, Failure> {
    let Chosen::Gpu(backend) = chosen else { return Ok(Err("no device runs the nodes".to_owned())) };
    if args.no_roof {
        return Ok(Err("it was not asked for".to_owned()));
    }
    if !backend.gpu().has_timestamps() {
        return Ok(Err("the device has no timestamps".to_owned()));
    }
    let _progress = Progress::start("measuring what copying reaches", Total::Unknown);
    let graph = Graph::load(Library::default(), roof::GRAPH);
    let graph = graph.map_err(|error| Failure::Input(error.to_string()))?;
    // A backend of its own, whose memory is given back.
    let mut own = GpuBackend::new(Arc::clone(backend.gpu()));
    let measured = roof::measure(&mut own, Arc::new(graph));
    own.trim();
    Ok(measured.map_err(|error| error.to_string()))
}

/// Merges the files as `weft merge` does, if it is files that the graph ran on, and times what is around the runs.
fn whole_job(args: &Args, chosen: &mut Chosen, job: &Job) -> Result<profile::Job, Failure> {
    let Some(merge) = job.merge(chosen)? else { return Ok(profile::Job::default()) };
    let _progress = Progress::start("merging", Total::Unknown);
    let mut stages = Vec::new();
    // The first merge makes memory and pipelines.
    for _ in 0..=MERGES_MAX.min(args.runs as usize) {
        let path = std::env::temp_dir().join(format!("weft-profile-{}", std::process::id()));
        let how = OutputHow { force: true, sync: false };
        let output = how.create(&path, [])?;
        let merged = merge.merge(chosen.backend(), true, output.file());
        stages.push(merged.map_err(|error| job::merge_failure(error, &output))?.1);
    }
    let stats = |of: fn(&weft::merge::graph::Stages) -> f64| {
        Stats::of(&stages.iter().skip(1).map(of).collect::<Vec<f64>>())
    };
    Ok(profile::Job {
        verify_seconds: stats(|stages| stages.verify_seconds),
        finish_seconds: stats(|stages| stages.finish_seconds),
        write_seconds: stats(|stages| stages.write_seconds),
        ..profile::Job::default()
    })
}

/// The files to be written; they are begun before anything is measured, so that one that is refused costs nothing.
struct Outputs {
    json: Option<OutputFile>,
    csv: Option<OutputFile>,
    trace: Option<OutputFile>,
    html: Option<OutputFile>,
    dumps: Vec<(PortOf, OutputFile)>,
}

impl Outputs {
    fn create(args: &Args, job: &Job) -> Result<Outputs, Failure> {
        let create = |path: &Path| args.how.create(path, job.files());
        let maybe = |path: Option<&PathBuf>| path.map(|path| create(path)).transpose();
        let mut dumps = Vec::with_capacity(args.dump.len());
        for asked in &args.dump {
            let (name, path) = match asked.split_once('=') {
                Some((name, path)) => (name, PathBuf::from(path)),
                None => (asked.as_str(), PathBuf::from(format!("{}.bin", asked.replace('/', ".")))),
            };
            let port = PortOf::find(&job.program, name).map_err(Failure::Usage)?;
            dumps.push((port, create(&path)?));
        }
        Ok(Outputs {
            json: maybe(args.json_file())?,
            csv: maybe(args.csv.as_ref())?,
            trace: maybe(args.trace.as_ref())?,
            html: maybe(args.html.as_ref())?,
            dumps,
        })
    }

    fn write(self, profile: &Profile, job: &Job, dumped: &[Vec<u8>]) -> Result<(), Failure> {
        if let Some(output) = self.json {
            put(output, text::json(profile)?.as_bytes())?;
        }
        if let Some(output) = self.csv {
            put(output, csv(profile).as_bytes())?;
        }
        if let Some(output) = self.trace {
            put(output, text::json(&trace(profile, &job.program))?.as_bytes())?;
        }
        if let Some(output) = self.html {
            let page = html::profile(profile, &job.program.graph, &job.program.plan);
            let page =
                page.map_err(|error| Failure::Input(format!("cannot draw {}: {error}", profile.graph)))?;
            put(output, page.as_bytes())?;
        }
        for ((_, output), bytes) in self.dumps.into_iter().zip(dumped) {
            put(output, bytes)?;
        }
        Ok(())
    }
}
