//! `weft run`: any graph, on raw buffers.

use std::path::PathBuf;

use serde_json::json;
use weft::run::{Options, Outcome, run as run_program};

use super::files::OutputHow;
use super::job::{self, BackendArgs, Job, JobArgs, named_file};
use super::text::{Columns, count, duration};
use super::{Failure, text};

/// Run a graph on files of raw elements
#[derive(clap::Args)]
#[command(
    after_help = "Example: weft run sort/radix --set n=1000000 --in keys=keys.bin --out sorted=sorted.bin\n\
                        Elements lie in files as in device memory: 32-bit words, the lowest byte first."
)]
pub struct Args {
    #[command(flatten)]
    job: JobArgs,
    /// Where the elements of a graph output go; the others are only counted
    #[arg(long = "out", value_name = "NAME=FILE", value_parser = named_file)]
    outputs: Vec<(String, PathBuf)>,
    #[command(flatten)]
    how: OutputHow,
    #[command(flatten)]
    backend: BackendArgs,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let mut chosen = args.backend.open()?;
    let job = args.job.open(&chosen)?;
    check_outputs(args, &job)?;
    let backend = chosen.backend();
    let outcome =
        run_program(&job.program, backend, &job.inputs(), Options::default()).map_err(job::failure)?;
    write_outputs(args, &outcome)?;
    let name = backend.name();
    if args.json {
        text::print_json(&as_json(&job, &outcome, &name))
    } else {
        text::print(&describe(&job, &outcome, &name))
    }
}

fn check_outputs(args: &Args, job: &Job) -> Result<(), Failure> {
    let known = &job.program.graph.outputs;
    for (index, (name, _)) in args.outputs.iter().enumerate() {
        if known.iter().all(|output| output.name != *name) {
            let names: Vec<_> = known.iter().map(|output| format!("`{}`", output.name)).collect();
            return Err(Failure::Usage(format!(
                "the graph has no output `{name}`; it has {}",
                names.join(", ")
            )));
        }
        if args.outputs[..index].iter().any(|(earlier, _)| earlier == name) {
            return Err(Failure::Usage(format!("--out gives `{name}` twice")));
        }
    }
    Ok(())
}

/// Writes all files, then makes all of them appear: what can fail fails before the first is there.
fn write_outputs(args: &Args, outcome: &Outcome) -> Result<(), Failure> {
    let mut files = Vec::with_capacity(args.outputs.len());
    for (name, path) in &args.outputs {
        let bytes = outcome.output(name).unwrap_or(&[]);
        let file = args.how.create(path, [])?;
        let mut target = file.file();
        let written = weft::format::Output::write_at(&mut target, 0, bytes);
        if let Err(error) = written {
            return Err(Failure::output(file.write_error(error)));
        }
        files.push(file);
    }
    files.into_iter().try_for_each(|file| file.commit().map_err(Failure::output))
}

fn describe(job: &Job, outcome: &Outcome, backend: &str) -> String {
    let graph = &job.program.graph;
    let mut columns = Columns::default();
    for output in outcome.outputs() {
        let bytes = format!("{} B", count(output.bytes.len() as u64));
        columns.row([output.name.to_owned(), bytes, first_words(output.bytes)]);
    }
    for (name, number) in &outcome.counts {
        columns.row([name.clone(), count(*number), "count".to_owned()]);
    }
    let total = duration(std::time::Duration::from_secs_f64(outcome.times.total_seconds));
    format!("{}ran {} in {total} on {backend}\nidentity {}\n", columns.lines(), graph.name, graph.identity)
}

/// A short output is shown whole.
fn first_words(bytes: &[u8]) -> String {
    let words: Vec<String> = bytes
        .chunks_exact(4)
        .take(4)
        .map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")).to_string())
        .collect();
    if bytes.len() > 16 { format!("{} …", words.join(" ")) } else { words.join(" ") }
}

fn as_json(job: &Job, outcome: &Outcome, backend: &str) -> serde_json::Value {
    let outputs = outcome.outputs().map(|output| json!({"name": output.name, "bytes": output.bytes.len()}));
    let counts: serde_json::Map<_, _> =
        outcome.counts.iter().map(|(name, number)| (name.clone(), json!(number))).collect();
    json!({
        "graph": job.program.graph.name,
        "identity": job.program.graph.identity,
        "backend": backend,
        "symbols": job.program.plan.symbols,
        "counts": counts,
        "outputs": outputs.collect::<Vec<_>>(),
        "prepare_seconds": outcome.times.prepare_seconds,
        "upload_seconds": outcome.times.upload_seconds,
        "download_seconds": outcome.times.download_seconds,
        "total_seconds": outcome.times.total_seconds,
    })
}
