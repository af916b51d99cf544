//! Graphs on both backends: what they compute, at sizes around every tile and group boundary.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use weft::graph::model::Graph;
use weft::graph::source::Library;
use weft::run::{Backend, Gpu, GpuBackend, Options, Program, ReferenceBackend, run};

/// The one device of this process. Tests need one: the test command installs a software driver where there is none.
fn gpu() -> Arc<Gpu> {
    static GPU: OnceLock<Arc<Gpu>> = OnceLock::new();
    Arc::clone(GPU.get_or_init(|| Arc::new(Gpu::open(None).expect("a device to run on"))))
}

fn load(name: &str) -> Arc<Graph> {
    Arc::new(Graph::load(Library::new(Vec::new(), Vec::new()), name).expect("a shipped graph"))
}

fn program(graph: &Arc<Graph>, n: u64) -> Program {
    let options = gpu().plan_options();
    Program::new(Arc::clone(graph), &BTreeMap::from([("n".to_owned(), n)]), &options).expect("a plan")
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
}

/// Numbers without a pattern that a kernel could be right about by chance.
fn noise(n: u64) -> Vec<u32> {
    let mut state = 0x9e37_79b9_u32;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    (0..n).map(next).collect()
}

/// Sizes around the boundaries of groups, rows and tiles, and past the point where a grid folds is out of reach here.
const SIZES: [u64; 17] =
    [0, 1, 2, 3, 4, 5, 255, 256, 257, 2047, 2048, 2049, 4095, 4096, 4097, 65_537, 1 << 20];

fn exclusive_sums(items: &[u32]) -> (Vec<u32>, u32) {
    let mut sum = 0u32;
    let add = |&item: &u32| {
        let after = sum.wrapping_add(item);
        std::mem::replace(&mut sum, after)
    };
    let sums = items.iter().map(add).collect();
    (sums, sum)
}

fn check_scan(name: &str, backend: &mut dyn Backend) {
    let graph = load(name);
    for n in SIZES {
        let items = noise(n);
        let program = program(&graph, n);
        let outcome = run(&program, backend, &[("items", &bytes(&items))], Options::default()).expect("a run");
        let (sums, total) = exclusive_sums(&items);
        assert_eq!(words(outcome.output("total").expect("an output")), [total], "{name}, total of {n}");
        assert!(words(outcome.output("sums").expect("an output")) == sums, "{name}, sums of {n}");
    }
}

fn check_sort(backend: &mut dyn Backend) {
    let graph = load("sort/radix");
    for n in SIZES {
        let mut keys = noise(n);
        let program = program(&graph, n);
        let outcome = run(&program, backend, &[("keys", &bytes(&keys))], Options::default()).expect("a run");
        keys.sort_unstable();
        assert!(words(outcome.output("sorted").expect("an output")) == keys, "sorted {n}");
    }
}

#[test]
fn scans_on_the_device_are_sums() {
    let mut backend = GpuBackend::new(gpu());
    check_scan("scan/exclusive", &mut backend);
    if gpu().has_subgroups() {
        check_scan("scan/exclusive_subgroup", &mut backend);
    }
}

#[test]
fn scans_by_reference_are_sums() {
    check_scan("scan/exclusive", &mut ReferenceBackend::new());
}

#[test]
fn sorts_on_the_device_sort() {
    check_sort(&mut GpuBackend::new(gpu()));
}

#[test]
fn sorts_by_reference_sort() {
    check_sort(&mut ReferenceBackend::new());
}
