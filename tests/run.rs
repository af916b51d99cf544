//! Graphs on both backends: what they compute, at sizes around every tile and group boundary.

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use support::{bytes, gpu, words};
use weft::graph::model::Graph;
use weft::graph::source::Library;
use weft::plan;
use weft::run::{
    Backend, Gpu, GpuBackend, GpuOptions, Options, Program, ReferenceBackend, Timing, VerifyError, run,
    verify,
};

/// The same device, as if it had no immediates.
fn gpu_without_immediates() -> Arc<Gpu> {
    let options = GpuOptions { immediates: false, ..GpuOptions::default() };
    let gpu = Gpu::open_with(options).expect("a device to run on");
    assert!(!gpu.report().immediates);
    Arc::new(gpu)
}

fn load(name: &str) -> Arc<Graph> {
    Arc::new(Graph::load(Library::new(Vec::new(), Vec::new()), name).expect("a shipped graph"))
}

fn program(graph: &Arc<Graph>, n: u64) -> Program {
    let options = gpu().plan_options();
    Program::new(Arc::clone(graph), &BTreeMap::from([("n".to_owned(), n)]), &options).expect("a plan")
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
        let outcome =
            run(&program, backend, &[("items", &bytes(&items))], Options::default()).expect("a run");
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

/// A broken scan: one constant of its last pass is wrong.
fn broken_shaders() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let shader = include_str!("../shaders/scan/apply.wgsl");
    let broken =
        shader.replacen("put(at + row, scanned.before.b, n);", "put(at + row, scanned.before.b + 1u, n);", 1);
    assert_ne!(shader, broken, "the line that the test breaks is gone");
    std::fs::create_dir(folder.path().join("scan")).expect("a folder");
    std::fs::write(folder.path().join("scan/apply.wgsl"), broken).expect("a file");
    folder
}

#[test]
fn verification_names_the_broken_node_port_and_element() {
    let folder = broken_shaders();
    let library = Library::new(Vec::new(), vec![folder.path().to_owned()]);
    let graph = Arc::new(Graph::load(library, "sort/digit").expect("a graph"));
    for node in &graph.nodes {
        let kernel = node.pass.kernel.as_ref().expect("a shader");
        assert_eq!(kernel.shader.is_shipped, node.name != "scan/apply", "{}", node.name);
    }
    let numbers = BTreeMap::from([("n".to_owned(), 20_000), ("shift".to_owned(), 8)]);
    let program = Program::new(graph, &numbers, &gpu().plan_options()).expect("a plan");
    let keys = bytes(&noise(20_000));
    let error = verify(&program, &mut GpuBackend::new(gpu()), &[("keys", &keys)]).expect_err("a difference");
    let VerifyError::Differs(difference) = error else { panic!("{error}") };
    assert_eq!((difference.node.as_str(), difference.pass.as_str()), ("scan/apply", "scan/apply"));
    // A row of a tile is 256 invocations of four items each; the second row is wrong.
    assert_eq!((difference.port.as_str(), difference.element, difference.differing), ("sums", 1024, 1024));
    assert_eq!(difference.found[0], difference.expected[0] + 1);
    assert!(difference.inputs.iter().any(|input| input.port == "items" && input.element == 1024));
}

#[test]
fn verification_of_sound_graphs_is_clean_twice_in_the_same_memory() {
    let mut backend = GpuBackend::new(gpu());
    for (name, input) in [("sort/radix", "keys"), ("scan/exclusive", "items")] {
        let program = program(&load(name), 10_000);
        for _ in 0..2 {
            let agreement =
                verify(&program, &mut backend, &[(input, &bytes(&noise(10_000)))]).expect("equal");
            assert_eq!(agreement.nodes, program.graph.nodes.len() as u64);
            assert!(agreement.elements > 10_000);
        }
    }
}

#[test]
fn params_in_a_uniform_buffer_do_what_immediates_do() {
    let mut backend = GpuBackend::new(gpu_without_immediates());
    check_scan("scan/exclusive", &mut backend);
    check_sort(&mut backend);
    for (name, input) in [("sort/radix", "keys"), ("scan/exclusive", "items")] {
        let program = program(&load(name), 10_000);
        let agreement = verify(&program, &mut backend, &[(input, &bytes(&noise(10_000)))]).expect("equal");
        assert_eq!(agreement.nodes, program.graph.nodes.len() as u64);
    }
}

/// A backend that has timed a small graph times a larger one as well.
#[test]
fn clocks_grow_with_the_graph() {
    let mut backend = GpuBackend::new(gpu());
    for (name, input, nodes) in [("scan/exclusive", "items", 3), ("sort/radix", "keys", 20)] {
        let options = Options { timing: Timing::Nodes, ..Options::default() };
        let program = program(&load(name), 1000);
        let outcome = run(&program, &mut backend, &[(input, &bytes(&noise(1000)))], options).expect("a run");
        assert_eq!(outcome.times.untimed, None);
        assert_eq!(outcome.times.nodes.len(), nodes);
    }
}

/// Poison, repeated use of arenas, timing and submitting nodes alone change nothing in what comes out.
#[test]
fn how_a_graph_runs_does_not_change_its_results() {
    let mut keys = noise(3000);
    let input = bytes(&keys);
    keys.sort_unstable();
    let plain = Options::default();
    let ways = [
        plain,
        Options { poison: true, ..plain },
        Options { timing: Timing::Segments, ..plain },
        Options { timing: Timing::Nodes, ..plain },
        Options { alone: true, ..plain },
    ];
    let mut backends: [Box<dyn Backend>; 3] = [
        Box::new(GpuBackend::new(gpu())),
        Box::new(GpuBackend::new(gpu_without_immediates())),
        Box::new(ReferenceBackend::new()),
    ];
    let program = program(&load("sort/radix"), 3000);
    for backend in &mut backends {
        for options in ways.into_iter().chain(ways) {
            let outcome = run(&program, backend.as_mut(), &[("keys", &input)], options).expect("a run");
            assert_eq!(words(outcome.output("sorted").expect("an output")), keys);
            assert_eq!(
                outcome.times.nodes.len(),
                if options.timing == Timing::Nodes { program.graph.nodes.len() } else { 0 }
            );
        }
    }
}

#[test]
fn any_topological_order_gives_the_same_results() {
    let mut keys = noise(2049);
    let input = bytes(&keys);
    keys.sort_unstable();
    let graph = load("sort/radix");
    let mut backend = ReferenceBackend::new();
    for seed in 0..50 {
        let options =
            plan::Options { order: plan::NodeOrder::Random(seed), may_widen: true, ..Default::default() };
        let numbers = BTreeMap::from([("n".to_owned(), 2049)]);
        let program = Program::new(Arc::clone(&graph), &numbers, &options).expect("a plan");
        let outcome = run(&program, &mut backend, &[("keys", &input)], Options::default()).expect("a run");
        assert_eq!(words(outcome.output("sorted").expect("an output")), keys, "order {seed}");
    }
}

/// A graph of one pass, written by the test.
fn own_graph(wgsl: &str, pass: &str, graph: &str) -> (tempfile::TempDir, Arc<Graph>) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    for (name, text) in [("own.wgsl", wgsl), ("own.yaml", pass), ("graph.yaml", graph)] {
        std::fs::write(path.join(name), text).expect("a file");
    }
    let library = Library::new(vec![path.to_owned()], vec![path.to_owned()]);
    let graph = Graph::load(library, path.join("graph.yaml").to_str().expect("UTF-8")).expect("a graph");
    (folder, Arc::new(graph))
}

/// Overrides of a node that leave its shader no workgroup are an error of the graph, before any device is asked.
#[test]
fn overrides_have_to_suit_the_shader() {
    let folder = tempfile::tempdir().expect("a folder");
    let wgsl =
        STEPS_WGSL.replace("struct", "override GROUP: u32 = 1u;\nstruct").replace("size(1)", "size(GROUP)");
    let pass = STEPS_PASS.replace("ports:", "overrides: {GROUP: 1}\nports:");
    let graph = STEPS_GRAPH.replace("{n: n, factor: 5}", "{n: n, factor: 5}, overrides: {GROUP: 0}");
    for (name, text) in [("own.wgsl", &wgsl), ("own.yaml", &pass), ("graph.yaml", &graph)] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let library = Library::new(vec![folder.path().to_owned()], vec![folder.path().to_owned()]);
    let path = folder.path().join("graph.yaml");
    let rejected = Graph::load(library, path.to_str().expect("UTF-8")).expect_err("no workgroup").to_string();
    assert!(rejected.contains("with these overrides the shader of pass `own` cannot be used"), "{rejected}");
    assert!(rejected.contains("graph.yaml:7:"), "{rejected}");
}

const STEPS_WGSL: &str = "
struct Params { factor: u32, step: u32 }
var<immediate> params: Params;
@group(0) @binding(0) var<storage, read_write> products: array<u32>;
@compute @workgroup_size(1)
fn own() {
    products[params.step] = params.factor * params.step;
}
";

const STEPS_PASS: &str = "
pass: own
doc: Multiplies the number of each step.
shader: [own.wgsl]
entry: own
symbols: {n: steps, factor: what each is multiplied with}
params: [factor, step]
ports:
  products: {type: u32, len: n, access: write}
grid: {groups: 1}
steps: n
";

const STEPS_GRAPH: &str = "
graph: steps
doc: Two nodes of many dispatches.
symbols: {n: steps}
nodes:
  threes: {pass: own, bind: {n: n, factor: 3}}
  fives: {pass: own, bind: {n: n, factor: 5}}
outputs: {threes: {from: threes.products}, fives: {from: fives.products}}
";

/// More dispatches in a segment than the buffer of params first has room for, then fewer and more again.
#[test]
fn each_step_sees_its_own_params() {
    let (_folder, graph) = own_graph(STEPS_WGSL, STEPS_PASS, STEPS_GRAPH);
    for gpu in [gpu(), gpu_without_immediates()] {
        let mut backend = GpuBackend::new(gpu);
        for n in [1, 200, 3, 1000, 1000] {
            let program = program(&graph, n);
            let outcome = run(&program, &mut backend, &[], Options::default()).expect("a run");
            for (name, factor) in [("threes", 3), ("fives", 5)] {
                let expected: Vec<u32> = (0..n as u32).map(|step| factor * step).collect();
                assert_eq!(words(outcome.output(name).expect("an output")), expected, "{name} of {n}");
            }
        }
    }
}

/// A run that an error stops in the middle of a segment leaves a backend that can run again.
#[test]
fn errors_while_a_segment_is_recorded_stop_only_that_run() {
    let pass = STEPS_PASS.replace("grid: {groups: 1}", "grid: {groups: \"max(1, factor * factor)\"}");
    let (_folder, too_many) =
        own_graph(STEPS_WGSL, &pass, &STEPS_GRAPH.replace("factor: 5", "factor: 500000"));
    for gpu in [gpu(), gpu_without_immediates()] {
        let mut backend = GpuBackend::new(gpu);
        let mut refused = |graph| {
            let program = program(graph, 2);
            run(&program, &mut backend, &[], Options::default()).expect_err("refused").to_string()
        };
        for _ in 0..2 {
            let message = refused(&too_many);
            assert!(message.contains("workgroups"), "{message}");
        }
        check_sort(&mut backend);
    }
}

/// A plan that the device has no memory for leaves arenas of which some are new. What was bound before is not what they are now.
#[test]
fn plans_too_large_for_the_device_stop_only_that_run() {
    let graph = STEPS_GRAPH
        .replace("symbols: {n: steps}", "symbols: {n: threes, m: fives}")
        .replace("{n: n, factor: 5}", "{n: m, factor: 5}");
    let (_folder, graph) = own_graph(STEPS_WGSL, &STEPS_PASS.replace("steps: n", "steps: min(n, 9)"), &graph);
    let options = gpu().plan_options();
    let too_many = options.limits.max_buffer_bytes / 4 + 1;
    // An arena a value, of any size.
    let limits =
        plan::problem::Limits { max_buffer_bytes: u64::MAX, max_binding_bytes: u64::MAX, ..options.limits };
    let options = plan::Options { limits, dedicated_outputs: true, ..options };
    let program = |n, m| {
        let numbers = BTreeMap::from([("n".to_owned(), n), ("m".to_owned(), m)]);
        Program::new(Arc::clone(&graph), &numbers, &options).expect("a plan")
    };
    for (n, m) in [(500, too_many), (too_many, 500)] {
        let mut backend = GpuBackend::new(gpu());
        let small = program(9, 9);
        let check = |backend: &mut GpuBackend| {
            let outcome = run(&small, backend, &[], Options::default()).expect("a run");
            assert_eq!(words(outcome.output("threes").expect("an output")), [0, 3, 6, 9, 12, 15, 18, 21, 24]);
            assert_eq!(
                words(outcome.output("fives").expect("an output")),
                [0, 5, 10, 15, 20, 25, 30, 35, 40]
            );
        };
        check(&mut backend);
        run(&program(n, m), &mut backend, &[], Options::default()).expect_err("no memory");
        check(&mut backend);
    }
}

const COUNTER_WGSL: &str = "
@group(0) @binding(0) var<storage, read> items: array<u32>;
@group(0) @binding(1) var<storage, read_write> status: array<atomic<u32>>;
@group(0) @binding(2) var<storage, read_write> total: array<u32>;
@compute @workgroup_size(1)
fn own() {
    total[0] = items[0];
    if items[1] != 0u { atomicMin(&status[0], (items[1] << 7u) | 3u); }
}
";

const COUNTER_PASS: &str = "
pass: own
doc: Takes its count from its input.
shader: [own.wgsl]
entry: own
symbols: {n: items}
ports:
  items: {type: u32, len: n, access: read}
  status: {type: u32, len: 1, access: accumulate, codes: {unit: row, 3: it is odd}}
  total: {type: u32, len: 1, access: write}
grid: {groups: 1}
";

const COUNTER_GRAPH: &str = "
graph: counter
doc: A count and a check.
symbols: {n: items}
require: [{that: n <= 8, why: eight are enough}]
inputs: {items: {type: u32, len: n}}
nodes:
  fine: {pass: shared/fill, bind: {n: 1, word: 2^32 - 1}, as: {element: u32}}
  own: {pass: own, in: {items: items, status: fine.filled}}
counts: {total: {from: own.total, max: n}}
checks: {rows: {from: own.status}}
outputs: {first: {from: own.total}}
";

#[test]
fn counts_checks_and_bounds_stop_a_run_with_the_node() {
    let (_folder, graph) = own_graph(COUNTER_WGSL, COUNTER_PASS, COUNTER_GRAPH);
    let mut backend = GpuBackend::new(gpu());
    let program = program(&graph, 4);
    let mut go = |items: [u32; 4]| {
        let outcome = run(&program, &mut backend, &[("items", &bytes(&items))], Options::default());
        outcome.map(|outcome| outcome.counts).map_err(|error| error.to_string())
    };
    assert_eq!(go([3, 0, 0, 0]), Ok(vec![("total".to_owned(), 3)]));
    let message = "count `total` of node `own` is 5, over its maximum 4: the graph reserves too little for this input, or a kernel is wrong";
    assert_eq!(go([5, 0, 0, 0]), Err(message.to_owned()));
    assert_eq!(go([5, 70, 0, 0]), Err("node `own`: row 70: it is odd".to_owned()));
    let numbers = BTreeMap::from([("n".to_owned(), 9)]);
    let refused = Program::new(graph, &numbers, &plan::Options::default()).expect_err("too many");
    assert_eq!(
        refused.to_string(),
        "graph `counter` requires n <= 8, and these sizes give 9 and 8: eight are enough"
    );
}

#[test]
fn inputs_that_do_not_fit_are_refused_before_anything_runs() {
    let program = program(&load("sort/radix"), 10);
    let mut backend = ReferenceBackend::new();
    let mut refused = |inputs: &[(&str, &[u8])]| {
        run(&program, &mut backend, inputs, Options::default()).expect_err("refused").to_string()
    };
    assert_eq!(refused(&[]), "input `keys` is missing");
    assert_eq!(refused(&[("kyes", &[])]), "input `kyes` is not one of the graph's: `keys`");
    assert_eq!(refused(&[("keys", &[]), ("keys", &[])]), "input `keys` is given twice");
    let message = "input `keys` has 36 bytes, and its length `n` makes 40 with these sizes";
    assert_eq!(refused(&[("keys", &[0; 36])]), message);
}

#[test]
fn pipelines_are_made_before_totals_begin() {
    let program = program(&load("scan/exclusive"), 1000);
    let items = bytes(&noise(1000));
    let mut backend = GpuBackend::new(gpu());
    let mut times =
        || run(&program, &mut backend, &[("items", &items)], Options::default()).expect("a run").times;
    let (first, second) = (times(), times());
    assert!(second.prepare_seconds < first.prepare_seconds, "{first:?} {second:?}");
    assert!(first.with_preparation_seconds() > first.total_seconds);
}
