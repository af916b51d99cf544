//! `weft merge`: many files into one.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use weft::format::kv03::{Kv03, Summary};
use weft::format::{MappedFile, Output};
use weft::merge::cpu::{self, MergeError, Options};

use super::files::{self, OutputArgs};
use super::{Failure, text};

/// Merge KV03 files, oldest first; on equal keys the newest value wins
///
/// Deletions stay records: a tombstone in a newer file replaces an older value and is kept. One file alone is
/// rewritten in its canonical form.
#[derive(clap::Args)]
pub struct Args {
    /// The files to merge, oldest first
    #[arg(required = true, value_name = "OLDEST ... NEWEST")]
    inputs: Vec<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
    /// What does the work
    #[arg(long, value_enum, default_value_t = Engine::Auto)]
    engine: Engine,
    /// Do not verify the inputs' body checksums; all other checks are made
    #[arg(long)]
    no_verify: bool,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Engine {
    /// The best engine for the job
    Auto,
    /// The streaming engine, on one core
    Cpu,
}

/// What `--json` writes. Fields are added, never renamed or removed.
#[derive(Serialize)]
struct Report {
    output: FileReport,
    /// Oldest first.
    inputs: Vec<FileReport>,
    /// Input records that gave way to newer ones of their keys.
    replaced_records: u64,
    /// Always `cpu` so far.
    engine: &'static str,
    /// Whether the inputs' body checksums were verified.
    verified: bool,
    /// Whether the output is on stable storage.
    synchronised: bool,
    /// From opening the inputs to the output's having its name.
    seconds: f64,
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

pub fn run(args: &Args) -> Result<(), Failure> {
    let started = Instant::now();
    let mapped = args.inputs.iter().map(|path| files::map(path)).collect::<Result<Vec<_>, _>>()?;
    let opened = args.inputs.iter().zip(&mapped).map(|(path, file)| files::open(path, file));
    let inputs = opened.collect::<Result<Vec<_>, _>>()?;
    let output = args.output.create(mapped.iter().map(MappedFile::file))?;
    let options = Options { verify: !args.no_verify };
    let total_bytes = inputs.iter().map(|input| input.file().len() as u64).sum();
    let out = WithProgress { out: output.file(), total_bytes, started, bar: None };
    let summary = cpu::merge(&inputs, options, out).map_err(|error| match error {
        MergeError::Input { input, error } => Failure::format(&args.inputs[input], &error),
        MergeError::Output(error) => Failure::output(output.write_error(error)),
    })?;
    output.commit().map_err(Failure::output)?;
    let report = describe(args, &inputs, summary, started.elapsed());
    if args.json { text::print_json(&report) } else { text::print(&report.for_people()) }
}

fn describe(args: &Args, inputs: &[Kv03<'_>], summary: Summary, elapsed: Duration) -> Report {
    let inputs: Vec<FileReport> = args
        .inputs
        .iter()
        .zip(inputs)
        .map(|(path, input)| FileReport {
            path: path.display().to_string(),
            records: input.records(),
            file_bytes: input.file().len() as u64,
            payload_bits: input.directory.payload_bits,
            value_width_bits: input.header.common_width,
        })
        .collect();
    Report {
        replaced_records: inputs.iter().map(|input| input.records).sum::<u64>() - summary.records,
        output: FileReport {
            path: args.output.output.display().to_string(),
            records: summary.records,
            file_bytes: summary.file_bytes,
            payload_bits: summary.payload_bits,
            value_width_bits: summary.common_width,
        },
        inputs,
        engine: "cpu",
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
        format!(
            "{}{}\nmerged in {time} by the {} engine{pace}\n",
            table.lines(),
            notes.join(", "),
            self.engine
        )
    }
}

/// An output that draws a bar on a terminal once the work has taken a while.
struct WithProgress<O> {
    out: O,
    /// About what will be written: the bytes of all inputs.
    total_bytes: u64,
    started: Instant,
    bar: Option<ProgressBar>,
}

impl<O> WithProgress<O> {
    const PATIENCE: Duration = Duration::from_millis(500);

    fn show(&mut self, position: u64) {
        if self.bar.is_none() && self.started.elapsed() > Self::PATIENCE {
            // Hidden by itself where standard error is no terminal.
            let style = ProgressStyle::with_template("merging {bar:40} {bytes} of about {total_bytes} {eta}");
            let bar = ProgressBar::new(self.total_bytes);
            self.bar = Some(match style {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            });
        }
        if let Some(bar) = &self.bar {
            bar.set_position(position);
        }
    }
}

impl<O: Output> Output for WithProgress<O> {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.show(offset + bytes.len() as u64);
        self.out.write_at(offset, bytes)
    }
}

impl<O> Drop for WithProgress<O> {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
