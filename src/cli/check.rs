//! `weft check`: a full scan of key-value files.

use std::path::{Path, PathBuf};
use std::time::Instant;

use weft::format::kv::ScanReport;

use super::progress::{Progress, Total};
use super::{Failure, files, text};

/// Read key-value files whole and check every rule of the format
///
/// All files are checked, also after one that fails.
#[derive(clap::Args)]
pub struct Args {
    /// The files, KV02 or KV03
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Refuse valid files that are not byte for byte what an encoder writes for their rows
    #[arg(long)]
    canonical: bool,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let mut failures = Vec::new();
    for path in &args.files {
        match check(path, args.canonical) {
            Ok(()) => {}
            Err(Failure::OutputClosed) => break,
            Err(failure) => failures.push(failure),
        }
    }
    if failures.is_empty() { Ok(()) } else { Err(Failure::Several(failures)) }
}

fn check(path: &Path, canonical: bool) -> Result<(), Failure> {
    let started = Instant::now();
    let mapped = files::map(path)?;
    let file = files::open(path, &mapped)?;
    let progress = Progress::start(&format!("checking {}", path.display()), Total::Unknown);
    let scanned = file.scan();
    drop(progress);
    let report = scanned.map_err(|error| Failure::format(path, &error))?;
    let deviations = deviations(&report);
    if canonical && !deviations.is_empty() {
        return Err(Failure::Input(format!(
            "{0}: valid, but not canonical: {deviations}; rewrite it with weft merge {0} -o NEW",
            path.display()
        )));
    }
    let verdict = match deviations.as_str() {
        "" => "canonical".to_owned(),
        deviations => format!("not canonical: {deviations}"),
    };
    text::print(&format!(
        "{}: valid: {}, {}, longest key {}; {verdict} ({})\n",
        path.display(),
        text::counted(report.records, "record"),
        text::counted(report.tombstones, "tombstone"),
        text::counted(report.longest_key_bytes, "byte"),
        text::duration(started.elapsed()),
    ))
}

fn deviations(report: &ScanReport) -> String {
    report.deviations.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}
