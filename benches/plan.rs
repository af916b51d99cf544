//! How close plans come to the lower bound, and how long planning takes.
//!
//!     cargo bench --bench plan -- [--best] [--problems N] [--graphs | FOLDER]
//!
//! With `--graphs`: every shipped graph at 2^19 records, from the numbers of its symbols to a program, whose plan is
//! validated within that time, and the same with the plan before at hand. Without a folder: N (1,000) random pipelines of 8
//! to 80 buffers, seeds 0 to N - 1. With one: every `*.csv` in it is a placement problem in the format of MiniMalloc,
//! `id,lower,upper,size` with buffers live in [lower, upper), packed into one arena by the longer search. One thread. Time is that of planning alone; every plan is validated.

#[path = "random_problem.rs"]
mod random_problem;
#[path = "shipped_graphs.rs"]
mod shipped_graphs;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use random_problem::{Shape, random_problem};
use weft::plan::arrange::{Effort, NodeOrder, arrange};
use weft::plan::place::{self, Item};
use weft::plan::problem::{Limits, Problem};
use weft::plan::validate::validate;
use weft::plan::{Options, Plan};
use weft::run::Program;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (mut effort, mut problems, mut folder) = (Effort::Fast, 1000, None);
    let mut graphs = false;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // Cargo adds this one.
            "--bench" => {}
            "--graphs" => graphs = true,
            "--best" => effort = Effort::Best,
            "--problems" => {
                problems = arguments
                    .next()
                    .and_then(|number| number.parse().ok())
                    .expect("--problems takes a number");
            }
            _ => folder = Some(PathBuf::from(argument)),
        }
    }
    match folder {
        _ if graphs => shipped_graphs(effort),
        Some(folder) => placement_problems(&folder),
        None => random_problems(problems, effort),
    }
}

/// Figures over many problems.
#[derive(Default)]
struct Figures {
    ratios: Vec<f64>,
    times: Vec<Duration>,
}

impl Figures {
    fn print(mut self, what: &str) {
        self.ratios.sort_by(f64::total_cmp);
        self.times.sort();
        let last = self.ratios.len() - 1;
        let mean = self.ratios.iter().sum::<f64>() / self.ratios.len() as f64;
        let within = self.ratios.iter().filter(|&&ratio| ratio <= 1.02).count();
        println!("{what}: {} problems", self.ratios.len());
        println!(
            "  peak / bound: mean {mean:.4}, median {:.4}, 90% {:.4}, 99% {:.4}, worst {:.4}; at most 1.02 in {within}",
            self.ratios[last / 2],
            self.ratios[last * 9 / 10],
            self.ratios[last * 99 / 100],
            self.ratios[last],
        );
        println!(
            "  time: median {:.3} ms, 99% {:.3} ms, worst {:.3} ms",
            milliseconds(self.times[last / 2]),
            milliseconds(self.times[last * 99 / 100]),
            milliseconds(self.times[last]),
        );
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn random_problems(count: u64, effort: Effort) {
    for (size_deviation, may_widen) in [(1.0, false), (1.0, true), (1.5, false), (1.5, true)] {
        let shape = Shape { size_deviation, ..Shape::default() };
        let mut figures = Figures::default();
        let (mut arenas, mut nodes, mut widened) = (0, 0, 0);
        for seed in 0..count {
            let problem = Problem { may_widen, ..random_problem(seed, shape) };
            let start = Instant::now();
            let arrangement =
                arrange(&problem, effort, NodeOrder::LeastMemory).expect("random problems are sound");
            figures.times.push(start.elapsed());
            let proof = validate(&problem, &arrangement).expect("plans are sound");
            figures.ratios.push(proof.peak_bytes as f64 / proof.bound_bytes as f64);
            arenas += arrangement.arena_bytes.len();
            nodes += problem.nodes.len();
            widened += arrangement.widened.len();
        }
        let widening = if may_widen { "widening" } else { "colouring alone" };
        figures.print(&format!("random pipelines, deviation {size_deviation}, {effort:?}, {widening}"));
        println!(
            "  arenas: {:.1} on average; {widened} of {nodes} nodes widened",
            arenas as f64 / count as f64
        );
    }
}

fn shipped_graphs(effort: Effort) {
    for name in shipped_graphs::names() {
        let graph = Arc::new(shipped_graphs::shipped(&name));
        let sizes = shipped_graphs::sizes(&graph, 1 << 19);
        let limits = Limits { offset_alignment_bytes: 32, ..Limits::default() };
        let options =
            Options { limits, may_widen: true, dedicated_inputs: true, effort, ..Options::default() };
        let (mut times, mut alike) = (Vec::new(), Vec::new());
        let mut ratio = 1.0;
        let mut previous: Option<Plan> = None;
        for _ in 0..50 {
            let start = Instant::now();
            let program = Program::new(graph.clone(), &sizes, &options).expect("the sizes suit every graph");
            times.push(start.elapsed());
            ratio = program.plan.ratio();
            if let Some(previous) = &previous {
                let start = Instant::now();
                Program::like(previous, graph.clone(), &sizes, &options).expect("as before");
                alike.push(start.elapsed());
            }
            previous = Some(program.plan);
        }
        times.sort();
        alike.sort();
        let (nodes, buffers) = (graph.nodes.len(), graph.buffers.len());
        println!(
            "{name}: {nodes} nodes, {buffers} buffers, ratio {ratio:.4}, median {:.3} ms, worst {:.3} ms; like the plan before {:.3} ms",
            milliseconds(times[times.len() / 2]),
            milliseconds(times[times.len() - 1]),
            milliseconds(alike[alike.len() / 2]),
        );
    }
}

fn placement_problems(folder: &Path) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> =
        entries.map(|entry| entry.expect("the folder can be listed").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "csv"));
    files.sort();
    assert!(!files.is_empty(), "{} has no .csv files", folder.display());
    let mut figures = Figures::default();
    for file in files {
        let items = read_items(&file);
        let start = Instant::now();
        let packing = place::pack(&items, Effort::Best.placement_rounds(items.len()), 1);
        let time = start.elapsed();
        assert_sound(&items, &packing.offsets, packing.height);
        let ratio = packing.height as f64 / place::max_load(&items) as f64;
        println!("{}: {} buffers, {ratio:.4}, {:.0} ms", file.display(), items.len(), milliseconds(time));
        figures.ratios.push(ratio);
        figures.times.push(time);
    }
    figures.print("placement problems");
}

fn read_items(file: &Path) -> Vec<Item> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let line = |line: &str| {
        let fields: Option<Vec<u64>> = line.split(',').map(|field| field.trim().parse().ok()).collect();
        match fields.as_deref() {
            Some(&[_, lower, upper, size]) if lower < upper => {
                Item { first: lower as usize, last: upper as usize - 1, size }
            }
            _ => panic!("{}: `{line}` is not id,lower,upper,size", file.display()),
        }
    };
    text.lines().skip(1).map(line).collect()
}

fn assert_sound(items: &[Item], offsets: &[u64], height: u64) {
    for (index, (item, &offset)) in items.iter().zip(offsets).enumerate() {
        assert!(offset + item.size <= height);
        for (other, &other_offset) in items[..index].iter().zip(offsets) {
            let in_time = item.first <= other.last && other.first <= item.last;
            let in_space = offset < other_offset + other.size && other_offset < offset + item.size;
            assert!(!(in_time && in_space), "two buffers overlap");
        }
    }
}
