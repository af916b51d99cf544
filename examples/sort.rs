//! Sorts numbers with `sort/radix`, a graph that comes with weft, on the best device or else by the scalar references.
//!
//!     cargo run --release --example sort -- 1000000

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use weft::graph::model::Graph;
use weft::graph::source::Library;
use weft::run::{Backend, Gpu, GpuBackend, Options, Program, ReferenceBackend, Times, Timing, run};

fn main() -> Result<(), Box<dyn Error>> {
    let n = std::env::args().nth(1).map_or(Ok(1 << 20), |number| number.parse())?;
    let keys = numbers(n);
    let mut backend = best_backend();

    // A sort among many would keep the program and the backend: kernels and memory are then made only once.
    let graph = Arc::new(Graph::load(Library::default(), "sort/radix")?);
    let symbols = BTreeMap::from([("n".to_owned(), keys.len() as u64)]);
    let program = Program::new(graph, &symbols, &backend.plan_options())?;

    sort(&program, backend.as_mut(), &keys)?;
    let (sorted, times) = sort(&program, backend.as_mut(), &keys)?;

    assert!(sorted.is_sorted());
    println!("{} keys sorted on {}, at the second run:", sorted.len(), backend.name());
    for time in &times.nodes {
        println!("{:>10.1} µs  {}", time.seconds * 1e6, program.node(time.node).name);
    }
    println!("{:>10.1} µs  in all, upload and download included", times.total_seconds * 1e6);
    Ok(())
}

/// Runs the program on these keys: the keys in order, and what it took.
pub fn sort(
    program: &Program,
    backend: &mut dyn Backend,
    keys: &[u32],
) -> Result<(Vec<u32>, Times), Box<dyn Error>> {
    let bytes: Vec<u8> = keys.iter().flat_map(|key| key.to_le_bytes()).collect();
    let options = Options { timing: Timing::Nodes, ..Options::default() };
    let outcome = run(program, backend, &[("keys", &bytes)], options)?;
    let sorted = outcome.output("sorted").ok_or("the graph has no output `sorted`")?;
    let words = sorted.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    Ok((words, outcome.times.clone()))
}

/// The first device that `weft devices` lists; where there is none, the CPU by the references of the passes.
pub fn best_backend() -> Box<dyn Backend> {
    match Gpu::open(None) {
        Ok(gpu) => Box::new(GpuBackend::new(Arc::new(gpu))),
        Err(error) => {
            eprintln!("{error}");
            Box::new(ReferenceBackend::new())
        }
    }
}

/// Numbers in no particular order, the same every time (Marsaglia's xorshift32).
pub fn numbers(n: usize) -> Vec<u32> {
    let next = |state: &u32| {
        let mut state = *state;
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        Some(state)
    };
    std::iter::successors(Some(2_463_534_242), next).take(n).collect()
}
