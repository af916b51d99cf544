//! The whole merge job, timed: files in, one file out, checksums verified, one thread.
//!
//! `cargo bench --bench merge` runs it on the 262,144-record benchmark fixture and on the two package lists, and prints
//! nanoseconds per input record for
//!
//! * `job`: open and map both files, merge, write a temporary file, rename it;
//! * `engine`: the merge alone, from mapped files into memory;
//! * `memcpy`: copying the input bytes and the output bytes once, in the same run: what moving them costs at least;
//!
//! and the peak of anonymous memory of `weft merge` in a process of its own. Minimum and median of the trials, which
//! alternate between the three.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use weft::fixture::{Shape, Side, complete};
use weft::format::MappedFile;
use weft::format::kv::{File, Framing, encode};
use weft::merge::cpu::{self, Options};
use weft::output::{OutputFile, OutputOptions};
use weft::rows::{OnDuplicate, Reader, RowFormat, Table};

const TRIALS: usize = 101;
const OPTIONS: Options = Options { verify: true };

type Error = Box<dyn std::error::Error>;

fn main() -> Result<(), Error> {
    let folder = tempfile::tempdir()?;
    let largest: Shape = complete()[2];
    let fixture = [Side::Older, Side::Newer].map(|side| {
        let path = folder.path().join(format!("fixture-{side:?}.kv"));
        let mut file = Vec::new();
        encode(Framing::Kv03, largest.rows(side), &mut file).map(|_| (path, file))
    });
    let lists = ["older", "newer"].map(|name| import(folder.path(), name));
    println!("{TRIALS} trials each; ns per input record, minimum / median\n");
    println!(
        "{:<16} {:>9} {:>11} {:>11} {:>15} {:>15} {:>15} {:>15}",
        "input", "records", "bytes in", "bytes out", "job", "engine", "memcpy", "anonymous peak"
    );
    for (name, files) in
        [("fixture 262,144", fixture.map(|file| file.map_err(Error::from))), ("package lists", lists)]
    {
        let mut paths = Vec::new();
        for file in files {
            let (path, bytes) = file?;
            fs::write(&path, bytes)?;
            paths.push(path);
        }
        println!("{}", measure(name, &paths, &folder.path().join("out.kv"))?);
    }
    Ok(())
}

/// A package list as a file.
fn import(folder: &Path, name: &str) -> Result<(PathBuf, Vec<u8>), Error> {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/debian-{name}.tsv"));
    let mut table = Table::read(&mut Reader::new(&fs::read(list)?[..], RowFormat::Tsv))?;
    table.sort(OnDuplicate::Error)?;
    let mut file = Vec::new();
    encode(Framing::Kv03, table.iter(), &mut file)?;
    Ok((folder.join(format!("packages-{name}.kv")), file))
}

fn measure(name: &str, inputs: &[PathBuf], out: &Path) -> Result<String, Error> {
    let (mut job, mut engine, mut memcpy) = (Vec::new(), Vec::new(), Vec::new());
    let mapped = inputs.iter().map(|path| MappedFile::open(path)).collect::<Result<Vec<_>, _>>()?;
    let opened = mapped.iter().map(|file| File::open(file)).collect::<Result<Vec<_>, _>>()?;
    let records: u64 = opened.iter().map(File::records).sum();
    let input_bytes: usize = mapped.iter().map(|file| file.len()).sum();
    let mut merged = Vec::new();
    cpu::merge(&opened, OPTIONS, &mut merged)?;
    let mut copies = vec![0_u8; input_bytes.max(merged.len())];
    for _ in 0..TRIALS {
        // Off the clock: giving the last trial's file back to the system is no part of a job.
        let _ = fs::remove_file(out);
        job.push(timed(|| whole_job(inputs, out))?);
        // The buffer keeps its size: its pages are there before the clock starts, as memcpy's are.
        engine.push(timed(|| Ok(cpu::merge(black_box(&opened), OPTIONS, &mut merged).map(drop)?))?);
        memcpy.push(timed(|| {
            let mut at = 0;
            for file in &mapped {
                copies[at..at + file.len()].copy_from_slice(black_box(file));
                at += file.len();
            }
            copies[..merged.len()].copy_from_slice(black_box(&merged));
            black_box(&mut copies);
            Ok(())
        })?);
    }
    let columns = [job, engine, memcpy].map(|mut seconds| {
        seconds.sort_by(f64::total_cmp);
        let per_record = |seconds: f64| seconds * 1e9 / records as f64;
        format!("{:.1} / {:.1}", per_record(seconds[0]), per_record(seconds[TRIALS / 2]))
    });
    let [job, engine, memcpy] = columns;
    let peak = format!("{:.1} MiB", peak_anonymous_kib(inputs, out)? as f64 / 1024.0);
    let bytes_out = merged.len();
    Ok(format!(
        "{name:<16} {records:>9} {input_bytes:>11} {bytes_out:>11} {job:>15} {engine:>15} {memcpy:>15} {peak:>15}"
    ))
}

fn timed(work: impl FnOnce() -> Result<(), Error>) -> Result<f64, Error> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed().as_secs_f64())
}

fn whole_job(inputs: &[PathBuf], out: &Path) -> Result<(), Error> {
    let mapped = inputs.iter().map(|path| MappedFile::open(path)).collect::<Result<Vec<_>, _>>()?;
    let opened = mapped.iter().map(|file| File::open(file)).collect::<Result<Vec<_>, _>>()?;
    let output = OutputFile::create(out, OutputOptions::default(), mapped.iter().map(MappedFile::file))?;
    cpu::merge(&opened, OPTIONS, output.file())?;
    output.commit()?;
    Ok(())
}

/// The most anonymous memory that `weft merge` held, looked at from outside as often as the kernel answers.
fn peak_anonymous_kib(inputs: &[PathBuf], out: &Path) -> Result<u64, Error> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_weft"))
        .arg("merge")
        .args(inputs)
        .args(["--force", "-o"])
        .arg(out)
        .stdout(Stdio::null())
        .spawn()?;
    let smaps = format!("/proc/{}/smaps_rollup", child.id());
    let mut peak = 0;
    while child.try_wait()?.is_none() {
        let text = fs::read_to_string(&smaps).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("Anonymous:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")).and_then(|kib| kib.parse().ok());
        peak = peak.max(kib.unwrap_or(0));
    }
    Ok(peak)
}
