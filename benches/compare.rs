//! How often a comparison is wrong: a graph against itself, and against one that takes a known part longer.
//!
//!     cargo bench --bench compare -- [--records N] [--comparisons N] [--runs N] [--slower PERCENT] [--device N]
//!
//! Merges two files of N (65,536) records each by `kv03/baseline`. The slower graph checks again and again that the older
//! keys ascend, as often as takes the given part (10 %) of the whole, its last check on a part of the keys; what it hands out
//! is the same. Both kinds of comparison are made N (20) times at the default settings, each with another seed. Printed for
//! each are the verdict of the whole and the stages that are not SAME; the same comparisons should all be SAME in 19 of 20,
//! the slower ones SLOWER in 18 of 20, with `again_...` first among the nodes.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use weft::fixture::{Shape, Side};
use weft::format::kv::{File, Framing, encode};
use weft::graph::model::Graph;
use weft::graph::source::Library;
use weft::merge::graph::Merger;
use weft::report::compare::measure::{Contender, measure};
use weft::report::compare::{Against, Comparison, Settings, Verdict, judge};
use weft::run::{Backend, Gpu, GpuBackend, Program};

type Error = Box<dyn std::error::Error>;

struct Args {
    records: u64,
    comparisons: u64,
    runs: usize,
    slower: f64,
    device: Option<usize>,
}

fn args() -> Result<Args, Error> {
    let mut args =
        Args { records: 65_536, comparisons: 20, runs: Settings::default().runs, slower: 10.0, device: None };
    let mut given = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(option) = given.next() {
        let value = given.next().ok_or_else(|| format!("{option} takes a number"))?;
        match option.as_str() {
            "--records" => args.records = value.parse()?,
            "--comparisons" => args.comparisons = value.parse()?,
            "--runs" => args.runs = value.parse()?,
            "--slower" => args.slower = value.parse()?,
            "--device" => args.device = Some(value.parse()?),
            other => return Err(format!("{other} is no option").into()),
        }
    }
    Ok(args)
}

fn main() -> Result<(), Error> {
    let args = args()?;
    let folder = tempfile::tempdir()?;
    let shape = Shape {
        records: args.records,
        ratio: 1,
        prefix_bytes: 32,
        ties_percent: 50,
        base_bytes: 8,
        fixed: false,
    };
    let mut files = [Vec::new(), Vec::new()];
    encode(Framing::Kv03, shape.rows(Side::Older), &mut files[0])?;
    encode(Framing::Kv03, shape.rows(Side::Newer), &mut files[1])?;
    let gpu = Arc::new(Gpu::open(args.device)?);
    let cpu_adapter = gpu.is_cpu();
    let mut backend = GpuBackend::new(gpu);
    println!("{}; {} + {} records\n", backend.name(), args.records, args.records);
    let program = |backend: &GpuBackend, graph: &str| -> Result<Program, Error> {
        let graph = Arc::new(Graph::load(Library::default(), graph)?);
        let (older, newer) = (File::open(&files[0])?, File::open(&files[1])?);
        let merge = Merger::new(graph, backend.plan_options(), cpu_adapter).bind(older, newer)?;
        merge.into_program().ok_or_else(|| "there are no records".into())
    };
    let baseline = program(&backend, "kv03/baseline")?;
    let compare =
        |backend: &mut GpuBackend, other: &Program, settings: Settings| -> Result<Comparison, Error> {
            let contender = |label: &str, program| Contender {
                label: label.to_owned(),
                program,
                inputs: vec![("older", &files[0][..]), ("newer", &files[1][..])],
            };
            let contenders = [contender("baseline", &baseline), contender("other", other)];
            Ok(judge(&measure(backend, &contenders, &settings, &mut |_, _| ())?, settings))
        };
    let settings = Settings { runs: args.runs, ..Settings::default() };
    let first = compare(&mut backend, &baseline, settings)?;
    let slow = slower_graph(folder.path(), &first, args.slower / 100.0, args.records)?;
    let slow = program(&backend, slow.to_str().ok_or("the temporary folder has an odd name")?)?;
    for (what, other) in [("the same", &baseline), ("slower", &slow)] {
        let (mut same, mut found) = (0, 0);
        for seed in 1..=args.comparisons {
            let comparison = compare(&mut backend, other, Settings { seed, ..settings })?;
            let against = &comparison.against_baseline[0];
            same += u64::from(rows(against).all(|(_, verdict)| verdict == Some(Verdict::Same)));
            let named = against.nodes.first().is_some_and(|node| node.node.starts_with("again"));
            found += u64::from(against.whole.verdict == Some(Verdict::Slower) && named);
            println!("{what}, seed {seed}: {}", describe(against));
        }
        let of = args.comparisons;
        println!("{what}: all SAME in {same} of {of}; whole SLOWER and the node named in {found} of {of}\n");
    }
    Ok(())
}

fn rows(against: &Against) -> impl Iterator<Item = (&str, Option<Verdict>)> {
    std::iter::once(&against.whole).chain(&against.stages).map(|row| (row.what.as_str(), row.verdict))
}

fn describe(against: &Against) -> String {
    let whole = &against.whole;
    let ratio = whole.ratio.map_or(String::new(), |ratio| {
        format!("{:.3} ({:.3} to {:.3})", ratio.estimate, ratio.low, ratio.high)
    });
    let text = |verdict: Option<Verdict>| verdict.map_or("none", Verdict::text);
    let mut line = format!("whole {} {ratio}", text(whole.verdict));
    for (stage, verdict) in rows(against).skip(1).filter(|(_, verdict)| *verdict != Some(Verdict::Same)) {
        let _ = write!(line, ", {stage} {}", text(verdict));
    }
    if let Some(node) = against.nodes.first() {
        let _ = write!(line, "; most by {} {:+.1} µs", node.node, node.more_seconds() * 1e6);
    }
    line
}

/// A graph file that does the work of `order/ascending` once more, as often as takes this part of the whole.
fn slower_graph(
    folder: &Path,
    measured: &Comparison,
    part: f64,
    records: u64,
) -> Result<std::path::PathBuf, Error> {
    let graph = &measured.graphs[0];
    let node = graph.nodes.iter().find(|node| node.node == "older_ascends");
    let once = node.and_then(|node| node.seconds).ok_or("the device has no timestamps")?.median;
    let checks = part * graph.total_seconds.median / once;
    println!(
        "whole {:.3} ms, older_ascends {:.1} µs: {checks:.2} more of it are {:.0} % of the whole\n",
        graph.total_seconds.median * 1e3,
        once * 1e6,
        part * 100.0
    );
    let mut nodes = String::new();
    let mut before = "older_ascends".to_owned();
    for index in 0..checks.ceil() as u64 {
        let keys = ((checks - index as f64).min(1.0) * records as f64) as u64;
        let _ = write!(
            nodes,
            "
  again_{index}:
    pass: order/ascending
    stage: keys
    bind: {{first: 0, n: {}}}
    in: {{older: older, newer: newer, literal_starts: literal_starts, key_bits: key_bits, retained: retained, tree: tree.tree,
         prefix: prefix.prefix, windows: windows.windows, status: {before}.status}}",
            keys.max(1)
        );
        before = format!("again_{index}");
    }
    let text = format!(
        "graph: slower\ndoc: As kv03/baseline, but with more work.\nextends: kv03/baseline\nreplace: [older_keys]\nnodes:{nodes}\n\
         checks:\n  older_keys: {{from: {before}.status}}\n"
    );
    let path = folder.join("slower.yaml");
    fs::write(&path, text)?;
    Ok(path)
}
