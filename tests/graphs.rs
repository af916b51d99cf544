//! Merges by graphs: the same bytes as the streaming engine's, and as published, on both backends; and the same refusals.

mod support;

use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use support::{
    Row, byte_inputs, cases, data, encode, encode_conservative, encode_framed, encode_in, gpu, merge,
    merge_with, read, read_json, repair_checksums, rows, sha256,
};
use weft::fixture::byte;
use weft::fixture::{Fixture, Shape, Side, adversarial, cutover};
use weft::format::kv::{File, Framing, Profile, encode as encode_into};
use weft::graph::model::Graph;
use weft::graph::source::Library;
use weft::merge::cpu::Options;
use weft::merge::graph::{GraphMerge, GraphMergeError, Merger};
use weft::plan;
use weft::run::{
    Backend, Gpu, GpuBackend, GpuOptions, Options as RunOptions, ReferenceBackend, RunError, VerifyError,
    run, verify,
};

/// Every graph that merges two KV03 files.
const GRAPHS: [&str; 16] = [
    "kv03/baseline",
    "kv03/baseline-once",
    "kv03/baseline-plan",
    "kv03/baseline-tiles",
    "kv03/baseline-tiles-plan",
    "kv03/cached",
    "kv03/complete",
    "kv03/compressed",
    "kv03/collision512",
    "kv03/collision512-tiled",
    "kv03/collision512-compact",
    "kv03/collision2048",
    "kv03/collision2048-tiled",
    "kv03/collision2048-compact",
    "kv03/materialized",
    "kv03/staging",
];

/// Every graph that merges two KV02 files.
const BYTE_GRAPHS: [&str; 11] = [
    "kv02/baseline",
    "kv02/baseline-once",
    "kv02/baseline-tiles",
    "kv02/baseline-plan",
    "kv02/baseline-tiles-plan",
    "kv02/collision512",
    "kv02/collision512-tiled",
    "kv02/collision512-compact",
    "kv02/collision2048",
    "kv02/collision2048-tiled",
    "kv02/collision2048-compact",
];

fn load(name: &str) -> Arc<Graph> {
    let graph = Graph::load(Library::new(Vec::new(), Vec::new()), name);
    Arc::new(graph.unwrap_or_else(|rejected| panic!("{rejected}")))
}

/// A graph on a backend, kept from one merge to the next.
struct Engine {
    name: String,
    merger: Merger,
    backend: Box<dyn Backend>,
}

impl Engine {
    fn device(graph: &str) -> Engine {
        Engine::on(&gpu(), graph)
    }

    fn on(gpu: &Arc<Gpu>, graph: &str) -> Engine {
        let backend = Box::new(GpuBackend::new(Arc::clone(gpu)));
        let merger = Merger::new(load(graph), gpu.plan_options(), gpu.is_cpu());
        Engine { name: format!("{graph} on the device"), merger, backend }
    }

    fn reference(graph: &str) -> Engine {
        let options = plan::Options { may_widen: true, ..plan::Options::default() };
        let backend = Box::new(ReferenceBackend::new());
        let merger = Merger::new(load(graph), options, false);
        Engine { name: format!("{graph} by reference"), merger, backend }
    }

    fn bind<'a>(&mut self, older: &'a [u8], newer: &'a [u8]) -> Result<GraphMerge<'a>, GraphMergeError> {
        let (older, newer) = (File::open(older).expect("it opens"), File::open(newer).expect("it opens"));
        self.merger.bind(older, newer)
    }

    fn merge(&mut self, older: &[u8], newer: &[u8]) -> Result<Vec<u8>, GraphMergeError> {
        let mut out = Vec::new();
        self.bind(older, newer)?.merge(self.backend.as_mut(), true, &mut out)?;
        Ok(out)
    }

    fn assert_merges(&mut self, case: &str, older: &[u8], newer: &[u8], expected: &[u8]) {
        match self.merge(older, newer) {
            Ok(out) => assert!(out == expected, "{}: {case}: other bytes", self.name),
            Err(error) => panic!("{}: {case}: {error}", self.name),
        }
    }
}

/// Graphs on the device, then by reference.
fn engines<'g>(graphs: &'g [&str]) -> impl Iterator<Item = Engine> + 'g {
    let device = graphs.iter().map(|graph| Engine::device(graph));
    device.chain(graphs.iter().map(|graph| Engine::reference(graph)))
}

fn pair(fixture: &Fixture) -> [Vec<u8>; 2] {
    [Side::Older, Side::Newer].map(|side| {
        let mut file = Vec::new();
        let framing = Framing::of_rows(fixture.profile(), fixture.rows(side));
        encode_into(framing, fixture.rows(side), &mut file).expect("rows ascend");
        file
    })
}

#[test]
fn golden_merges() {
    let golden: Vec<String> = cases("kv03").into_iter().filter(|name| name.starts_with("merge-")).collect();
    let conservative = read_json("kv03-extra/conservative.json");
    let conservative = conservative["cases"].as_array().expect("cases");
    let conservative: Vec<&str> =
        conservative.iter().map(|case| case["name"].as_str().expect("a name")).collect();
    assert_eq!((golden.len(), conservative.len()), (21, 3));
    let names = golden.iter().map(|name| format!("kv03/{name}"));
    let names: Vec<String> =
        names.chain(conservative.iter().map(|name| format!("kv03-extra/{name}"))).collect();
    for mut engine in engines(&GRAPHS) {
        for name in &names {
            let [older, newer, expected] =
                ["older", "newer", "expected"].map(|part| read(format!("{name}.{part}.kv")));
            engine.assert_merges(name, &older, &newer, &expected);
        }
    }
}

/// Overlays that leave the order alone go on any graph that changes it.
#[test]
fn overlays_go_together() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graphs/collision2048-compact-tiles-plan.yaml");
    let mut engine = Engine::device(path.to_str().expect("a plain path"));
    // One wait less than the graph that it extends.
    assert_eq!(engine.merger.graph().segments, load("kv03/collision2048-compact").segments - 1);
    for case in adversarial::merges() {
        let (older, newer) = (encode(&case.older), encode(&case.newer));
        let expected = merge(&[&older, &newer]).expect("a merge");
        engine.assert_merges(&case.name, &older, &newer, &expected);
    }
}

#[test]
fn adversarial_merges() {
    let merges = adversarial::merges();
    assert_eq!(merges.len(), 81);
    for mut engine in engines(&GRAPHS) {
        for case in &merges {
            let (older, newer) = (encode(&case.older), encode(&case.newer));
            let expected = merge(&[&older, &newer]).expect("a merge");
            engine.assert_merges(&case.name, &older, &newer, &expected);
        }
    }
}

#[test]
fn cutover_merges() {
    let small = |shape: &weft::fixture::Shape| shape.records + shape.records / shape.ratio <= 16_384;
    let shapes: Vec<_> = cutover().into_iter().filter(small).collect();
    assert_eq!(shapes.len(), 20);
    let mut engines: Vec<Engine> = GRAPHS.iter().map(|graph| Engine::device(graph)).collect();
    engines.push(Engine::reference("kv03/baseline"));
    for shape in shapes {
        let [older, newer] = pair(&Fixture::Shape(shape));
        let expected = merge(&[&older, &newer]).expect("a merge");
        for engine in &mut engines {
            engine.assert_merges(&format!("{shape:?}"), &older, &newer, &expected);
        }
    }
}

#[test]
fn the_large_fixture_and_its_planned_memory() {
    let fixture = Fixture::by_name("complete-2").expect("a fixture");
    let [older, newer] = pair(&fixture);
    let mut engine = Engine::device("kv03/baseline");
    let expected = merge(&[&older, &newer]).expect("a merge");
    assert_eq!(crc32c::crc32c(&expected), 0x213f_1a44, "as published");
    engine.assert_merges("complete-2", &older, &newer, &expected);
    // Outputs so large that their lengths are fetched before them.
    Engine::device("kv03/baseline-once").assert_merges("complete-2", &older, &newer, &expected);
    check_scratch(&mut engine, &older, &newer, 48);
    // Just past a power of two the tree has twice as many leaves as it needs.
    let shape =
        Shape { records: 300_000, ratio: 1, prefix_bytes: 32, ties_percent: 50, base_bytes: 8, fixed: false };
    let [older, newer] = pair(&Fixture::Shape(shape));
    check_scratch(&mut engine, &older, &newer, 54);
}

/// What a plan makes besides inputs, which have arenas of their own here, and outputs, as read-backs are counted apart.
fn check_scratch(engine: &mut Engine, older: &[u8], newer: &[u8], most_bytes_a_record: u64) {
    let merge = engine.bind(older, newer).expect("a plan");
    let program = merge.program().expect("records");
    let arenas = program.plan.arenas.iter().filter(|arena| !arena.dedicated);
    let scratch: u64 = arenas.map(|arena| arena.size_bytes).sum();
    let outputs: u64 = program
        .graph
        .outputs
        .iter()
        .map(|output| {
            let buffer = program.graph.values[output.value.0 as usize].buffer;
            program.plan.slot(buffer).size_bytes
        })
        .sum();
    let records = [older, newer].map(|file| File::open(file).expect("a file").records()).iter().sum::<u64>();
    assert!(
        scratch <= most_bytes_a_record * records + outputs,
        "{records} records: {scratch} bytes of scratch and outputs, {outputs} of outputs"
    );
}

#[test]
fn the_package_lists() {
    let files = ["debian-older.tsv", "debian-newer.tsv"].map(|name| {
        let text = std::fs::read_to_string(data(name)).expect("test data");
        let row = |line: &str| {
            let (key, value) = line.split_once('\t').expect("two fields");
            (key.as_bytes().to_vec(), Some(value.as_bytes().to_vec()))
        };
        encode(&text.lines().map(row).collect::<Vec<Row>>())
    });
    let expected = merge(&[&files[0], &files[1]]).expect("a merge");
    for graph in GRAPHS {
        Engine::device(graph).assert_merges("package lists", &files[0], &files[1], &expected);
    }
}

/// Runs a graph on the device node by node beside the references.
fn assert_verifies(graph: &str, name: &str, older: &[u8], newer: &[u8]) {
    assert_engine_verifies(Engine::device(graph), name, older, newer);
}

fn assert_engine_verifies(mut engine: Engine, name: &str, older: &[u8], newer: &[u8]) {
    let bound = engine.bind(older, newer).expect("a plan");
    let program = bound.into_program().expect("records");
    let inputs: [(&str, &[u8]); 2] = [("older", older), ("newer", newer)];
    match verify(&program, engine.backend.as_mut(), &inputs) {
        Ok(agreement) => assert_eq!(agreement.nodes, program.graph.nodes.len() as u64),
        Err(VerifyError::Differs(difference)) => panic!("{}, {name}: {difference}", engine.name),
        Err(error) => panic!("{}, {name}: {error}", engine.name),
    }
}

#[test]
fn verification_is_clean() {
    for name in ["boundary-mixed-31", "random-binary-prefix-63", "retention-down-33", "cutover-2"] {
        let [older, newer] = pair(&Fixture::by_name(name).expect("a fixture"));
        for graph in GRAPHS {
            assert_verifies(graph, name, &older, &newer);
        }
    }
}

/// Among them both ways to build the tree of keys in steps, whose number is a param.
#[test]
fn merges_without_immediates() {
    let options = GpuOptions { immediates: false, ..GpuOptions::default() };
    let gpu = Arc::new(Gpu::open_with(options).expect("a device to run on"));
    for graph in ["kv03/baseline", "kv03/baseline-tiles", "kv03/collision2048-compact"] {
        let mut engine = Engine::on(&gpu, graph);
        for case in adversarial::merges() {
            let (older, newer) = (encode(&case.older), encode(&case.newer));
            let expected = merge(&[&older, &newer]).expect("a merge");
            engine.assert_merges(&case.name, &older, &newer, &expected);
        }
        let [older, newer] = pair(&Fixture::by_name("retention-down-33").expect("a fixture"));
        assert_engine_verifies(engine, "retention-down-33", &older, &newer);
    }
}

#[test]
fn two_empty_files_give_the_empty_file() {
    for (profile, graphs) in [(Profile::Kv02, &BYTE_GRAPHS[..]), (Profile::Kv03, &GRAPHS[..])] {
        let empty = encode_in(profile, &[]);
        for mut engine in engines(graphs) {
            engine.assert_merges("two empty files", &empty, &empty, &empty);
        }
    }
}

#[test]
fn keys_too_long_for_a_cpu_adapter_are_refused_before_anything_runs() {
    let key = |last: u8| (vec![b'k'; 20_000].into_iter().chain([last]).collect(), None);
    let (older, newer) = (encode(&[key(1), key(3)]), encode(&[key(2)]));
    let mut engine = Engine::reference("kv03/baseline");
    let expected = merge(&[&older, &newer]).expect("a merge");
    engine.assert_merges("long keys", &older, &newer, &expected);
    engine.merger.cpu_adapter = true;
    let refused = engine.merge(&older, &newer).expect_err("too long");
    assert!(
        matches!(&refused, GraphMergeError::Refused(text) if text.starts_with("keys are so long")),
        "{refused}"
    );
}

/// Keys in full can be far longer than files in which they share what they begin with.
#[test]
fn keys_that_take_more_than_is_reserved_end_the_run() {
    let key = |i: usize| ([&[b'k'; 9_000][..], &i.to_be_bytes()].concat(), None);
    let (older, newer) = (encode(&(0..60).map(key).collect::<Vec<_>>()), encode(&[key(60)]));
    let expected = merge(&[&older, &newer]).expect("a merge");
    Engine::reference("kv03/baseline").assert_merges("long keys", &older, &newer, &expected);
    for graph in ["kv03/materialized", "kv03/staging"] {
        match Engine::reference(graph).merge(&older, &newer) {
            Err(GraphMergeError::Run(RunError::CountOverflow { count, number, max, .. })) => {
                // Keys of 9,008 bytes, and of staged ones the values behind them.
                let words = if graph == "kv03/staging" { 2253 } else { 2252 };
                assert_eq!((count.as_str(), number, max), ("arena_words", 61 * words, 1 << 16), "{graph}");
            }
            other => panic!("{graph}: {other:?}"),
        }
    }
}

/// What a graph does with two files must be what the streaming engine does: the same bytes, or a refusal of the same input.
fn assert_agrees(engine: &mut Engine, older: &[u8], newer: &[u8]) {
    if File::open(older).is_err() || File::open(newer).is_err() {
        return;
    }
    let expected = merge_with(&[older, newer], Options { verify: true });
    match (engine.merge(older, newer), expected) {
        (Ok(out), Ok(expected)) => assert!(out == expected, "{}: other bytes", engine.name),
        (Err(GraphMergeError::Refused(_)), _) => {}
        (Err(GraphMergeError::Input { .. }), Err(_)) => {}
        (Ok(_), Err(error)) => panic!("{} took what the streaming engine refuses: {error}", engine.name),
        (Err(error), expected) => panic!("{}: {error}; the streaming engine: {expected:?}", engine.name),
    }
}

/// Changes some bytes anywhere after the header and makes the checksums right again.
fn mutate(file: &mut [u8], edits: &[(prop::sample::Index, u8)]) {
    for (at, mask) in edits {
        let at = 96 + at.index(file.len() - 96);
        file[at] ^= mask;
    }
    repair_checksums(file);
}

fn edits() -> impl Strategy<Value = Vec<(prop::sample::Index, u8)>> {
    prop::collection::vec((any::<prop::sample::Index>(), 1..=255u8), 1..4)
}

/// Tries many cases, each on the first engine and on another one in turn. Engines are kept from one case to the next: loading graphs
/// and making kernels takes longer than they do.
fn for_cases<S: Strategy>(
    cases: u32,
    files: S,
    mut engines: Vec<Engine>,
    check: impl Fn(&mut Engine, &S::Value),
) {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let (first, others) = engines.split_first_mut().expect("an engine");
    let engines = std::cell::RefCell::new((first, others, 0));
    let outcome = TestRunner::new(config).run(&files, |files| {
        let (first, others, turn) = &mut *engines.borrow_mut();
        check(first, &files);
        let other = *turn % others.len();
        check(&mut others[other], &files);
        *turn += 1;
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

/// Two files, one of them damaged.
fn damaged(profile: Profile) -> impl Strategy<Value = [Vec<u8>; 2]> {
    (rows(70), rows(70), edits(), any::<bool>()).prop_map(move |(older, newer, edits, which)| {
        let mut files = [encode_in(profile, &older), encode_in(profile, &newer)];
        mutate(&mut files[usize::from(which)], &edits);
        files
    })
}

/// Two files of the byte profile, each written in one of the ways that it admits.
fn byte_files() -> impl Strategy<Value = [Vec<u8>; 2]> {
    let file = (rows(70), 0..4_u8, 0..9_u64).prop_map(|(rows, how, cap)| match how {
        0 => encode_conservative(Profile::Kv02, &rows, |_| cap),
        1 => encode_framed(Framing::Kv02 { width: None }, &rows),
        _ => encode_in(Profile::Kv02, &rows),
    });
    let other = (rows(70), any::<bool>()).prop_map(|(rows, declare)| match declare {
        false => encode_framed(Framing::Kv02 { width: None }, &rows),
        true => encode_in(Profile::Kv02, &rows),
    });
    (file, other).prop_map(|(older, newer)| [older, newer])
}

fn by_reference(graphs: &[&str]) -> Vec<Engine> {
    graphs.iter().map(|graph| Engine::reference(graph)).collect()
}

#[test]
fn any_two_files_by_reference() {
    let files = (rows(70), rows(70)).prop_map(|(older, newer)| [encode(&older), encode(&newer)]);
    let agree = |engine: &mut Engine, [older, newer]: &[Vec<u8>; 2]| assert_agrees(engine, older, newer);
    for_cases(200, files, by_reference(&GRAPHS), agree);
    for_cases(150, byte_files(), by_reference(&BYTE_GRAPHS), agree);
}

#[test]
fn damaged_files_by_reference() {
    let agree = |engine: &mut Engine, [older, newer]: &[Vec<u8>; 2]| assert_agrees(engine, older, newer);
    for_cases(600, damaged(Profile::Kv03), by_reference(&GRAPHS), agree);
    let byte_graphs =
        ["kv02/baseline", "kv02/baseline-once", "kv02/baseline-tiles-plan", "kv02/collision2048-compact"];
    for_cases(400, damaged(Profile::Kv02), by_reference(&byte_graphs), agree);
}

#[test]
fn damaged_files_on_the_device() {
    let agree = |engine: &mut Engine, [older, newer]: &[Vec<u8>; 2]| assert_agrees(engine, older, newer);
    let graphs = [
        "kv03/baseline",
        "kv03/baseline-once",
        "kv03/baseline-tiles-plan",
        "kv03/complete",
        "kv03/collision512-compact",
        "kv03/collision2048-tiled",
        "kv03/materialized",
        "kv03/staging",
    ];
    for_cases(60, damaged(Profile::Kv03), graphs.map(Engine::device).into(), agree);
    let graphs = ["kv02/baseline", "kv02/baseline-once", "kv02/collision512"];
    for_cases(60, damaged(Profile::Kv02), graphs.map(Engine::device).into(), agree);
}

#[test]
fn byte_profile_merges() {
    let merges = byte::merges();
    let mut engines: Vec<Engine> = engines(&BYTE_GRAPHS).collect();
    for case in &merges {
        let [older, newer] = byte_inputs(case);
        let expected = merge(&[&older, &newer]).expect("a merge");
        // Small ones by all, the others by the first graph.
        let all = older.len() + newer.len() < 4096;
        for engine in engines.iter_mut().filter(|engine| all || engine.name.starts_with("kv02/baseline ")) {
            engine.assert_merges(&case.name, &older, &newer, &expected);
        }
    }
    assert_eq!(merges.len(), 40);
}

#[test]
fn byte_profile_benchmarks() {
    for (name, sha) in [
        ("byte-fixed-4096", "1fcd0389f5abc90c942a01aeafc7cf15176f290e114e7ceb2d82cca470fbf670"),
        ("byte-variable-4096", "bc6f3c4e817dcda9c5a3da4e38532f96a18524adb7de8b004aa7f6c0a9979f52"),
    ] {
        let [older, newer] = pair(&Fixture::by_name(name).expect("a fixture"));
        for graph in BYTE_GRAPHS {
            let out = Engine::device(graph).merge(&older, &newer).expect("a merge");
            assert_eq!(sha256(&out), sha, "{graph}: {name}, as published");
        }
    }
}

/// Neighbours share little, so records retain little and keys differ within the window that ordering looks at first.
#[test]
fn keys_like_hashes() {
    let [older, newer] = pair(&Fixture::by_name("byte-hashed-4096").expect("a fixture"));
    let expected = merge(&[&older, &newer]).expect("a merge");
    // A third ties; two counts, about 14 bytes of each key, and 17 of value.
    let records = File::open(&expected).expect("it opens").records();
    assert_eq!(records, 2 * 4096 - 1353);
    assert!((31 * records..35 * records).contains(&(expected.len() as u64)), "{}", expected.len());
    for graph in BYTE_GRAPHS {
        Engine::device(graph).assert_merges("byte-hashed-4096", &older, &newer, &expected);
    }
}

#[test]
fn byte_profile_verification_is_clean() {
    let wanted =
        ["fixed-31", "mixed-127", "conservative-long-prefix", "variable-single-source-fixed", "random-0"];
    for case in byte::merges().iter().filter(|case| wanted.contains(&case.name.as_str())) {
        let [older, newer] = byte_inputs(case);
        for graph in BYTE_GRAPHS {
            assert_verifies(graph, &case.name, &older, &newer);
        }
    }
}

/// What the kernels themselves say of the four published rejections, without the checks that the host makes beside them.
#[test]
fn published_rejections_have_their_meaning_on_the_device() {
    let meanings = ["shortest LEB128", "tag of a value", "suffix of a key", "offset cannot be selected"];
    let empty = encode_in(Profile::Kv02, &[]);
    for mut engine in engines(&["kv02/baseline", "kv02/baseline-once"]) {
        // The check of long keys on such adapters walks over the files, and would refuse them first.
        engine.merger.cpu_adapter = false;
        for (mode, meaning) in meanings.iter().enumerate() {
            let file = read(format!("kv02/reject-{mode}.kv"));
            let bound = engine.bind(&file, &empty).expect("it opens");
            let inputs: [(&str, &[u8]); 2] = [("older", &file), ("newer", &empty)];
            let program = bound.program().expect("a record");
            match run(program, engine.backend.as_mut(), &inputs, RunOptions::default()) {
                Err(RunError::Status { text, .. }) => {
                    assert!(text.contains(meaning) && !text.contains("; or "), "{mode}: {text}");
                }
                other => panic!("{}, {mode}: {other:?}", engine.name),
            }
            assert!(matches!(engine.merge(&file, &empty), Err(GraphMergeError::Input { input: 0, .. })));
            assert!(matches!(engine.merge(&empty, &file), Err(GraphMergeError::Input { input: 1, .. })));
        }
    }
}

/// Keys behind the damage in its block have no bits, so they do not ascend either. Where no check is awaited, both are noticed.
#[test]
fn damage_inside_a_block_is_what_is_named() {
    let row = |i: u8| (vec![b'k', i], Some(vec![b'v', i, b'v']));
    let rows: Vec<Row> = (0..40).map(row).collect();
    let sound = encode_in(Profile::Kv02, &rows);
    let value = sound.windows(3).position(|bytes| bytes == [b'v', 20, b'v']).expect("the value of a record");
    // The tag before the value; then the count of the key's suffix, which is one byte, as two bytes of which the last is none.
    let damages =
        [(value - 1, [0xff, b'v'], "the tag of a value"), (value - 3, [0x81, 0], "a count is cut off")];
    for mut engine in engines(&["kv02/baseline", "kv02/baseline-once"]) {
        engine.merger.cpu_adapter = false;
        for (at, bytes, meaning) in &damages {
            let mut file = sound.clone();
            file[*at..at + 2].copy_from_slice(bytes);
            repair_checksums(&mut file);
            let bound = engine.bind(&file, &sound).expect("it opens");
            let inputs: [(&str, &[u8]); 2] = [("older", &file), ("newer", &sound)];
            let program = bound.program().expect("records");
            match run(program, engine.backend.as_mut(), &inputs, RunOptions::default()) {
                Err(RunError::Status { text, node, position, .. }) => {
                    assert!(text.starts_with(meaning), "{}: {text}", engine.name);
                    assert_eq!((node.as_str(), position), ("older_parse", 1), "{}", engine.name);
                }
                other => panic!("{}, {meaning}: {other:?}", engine.name),
            }
        }
    }
}

/// Blocks whose first keys retain far more than there is pass the parser, and the payload that follows is longer than any can be. A
/// device goes on to the end, where the check is looked at; a reference stops, and it is the check that is told.
#[test]
fn damage_is_told_where_references_stop() {
    let row = |i: u16| ([&[b'k'; 200], &i.to_be_bytes()[..]].concat(), None);
    let mut file = encode_in(Profile::Kv02, &(0..600).map(row).collect::<Vec<Row>>());
    let opened = File::open(&file).expect("a file");
    let starts: Vec<u64> = (1..40).map(|block| opened.block_start(block).expect("a block") / 8).collect();
    for start in starts.iter().step_by(2) {
        let control = Profile::Kv02.payload_offset() as usize + *start as usize;
        // What is retained takes two bytes as it is; now it is 2,400.
        file[control..control + 2].copy_from_slice(&[0xe0, 0x12]);
    }
    repair_checksums(&mut file);
    let empty = encode_in(Profile::Kv02, &[]);
    let told = |engine: &str, error: RunError| match error {
        RunError::Status { text, node, position: 1, .. } => {
            assert_eq!(text, "a key retains more bits than the key before it has", "{engine}");
            assert_eq!(node, "older_ascends` or `older_parse", "{engine}");
        }
        other => panic!("{engine}: {other:?}"),
    };
    for mut engine in engines(&["kv02/baseline-once"]) {
        engine.merger.cpu_adapter = false;
        let bound = engine.bind(&file, &empty).expect("it opens");
        let (program, backend) = (bound.program().expect("records"), engine.backend.as_mut());
        let inputs: [(&str, &[u8]); 2] = [("older", &file), ("newer", &empty)];
        told(&engine.name, run(program, backend, &inputs, RunOptions::default()).expect_err("damage"));
        match verify(program, backend, &inputs).expect_err("damage") {
            VerifyError::Run { error, .. } => told("verification", *error),
            VerifyError::Differs(difference) => panic!("{difference}"),
        }
    }
}

#[test]
fn files_of_another_profile_are_refused_before_anything_runs() {
    let rows = [(b"a".to_vec(), None)];
    let [bytes, bits] = Profile::ALL.map(|profile| encode_in(profile, &rows));
    for (graph, older, newer, says) in [
        ("kv03/baseline", &bytes, &bytes, "the graph kv03/baseline merges KV03 files, and these are KV02"),
        ("kv02/baseline", &bits, &bits, "the graph kv02/baseline merges KV02 files, and these are KV03"),
        ("kv03/baseline", &bits, &bytes, "files of different profiles"),
    ] {
        match Engine::reference(graph).merge(older, newer) {
            Err(GraphMergeError::Refused(text)) => assert!(text.starts_with(says), "{text}"),
            other => panic!("{graph}: {other:?}"),
        }
    }
}

/// Which input an engine refuses, where and why; nothing if it takes both.
fn refusal(engine: &mut Engine, older: &[u8], newer: &[u8]) -> Option<(usize, u64, String)> {
    match engine.merge(older, newer) {
        Err(GraphMergeError::Input { input, error }) => {
            let why = error.what.split(" (found by node").next().unwrap_or_default();
            Some((input, error.offset, why.to_owned()))
        }
        _ => None,
    }
}

/// Two files with some bits of their payloads flipped.
fn flipped() -> impl Strategy<Value = [Vec<u8>; 2]> {
    let flips = || prop::collection::vec(any::<prop::sample::Index>(), 0..4);
    (rows(70), rows(70), flips(), flips()).prop_map(|(older, newer, in_older, in_newer)| {
        [(older, in_older), (newer, in_newer)].map(|(rows, flips)| {
            let mut file = encode(&rows);
            let bits = File::open(&file).expect("a file").directory.payload_bits as usize;
            for bit in flips.iter().filter(|_| bits > 0).map(|flip| flip.index(bits)) {
                file[Profile::Kv03.payload_offset() as usize + bit / 8] ^= 0x80 >> (bit % 8);
            }
            repair_checksums(&mut file);
            file
        })
    })
}

/// A graph that reads files on the host refuses them in the words of those that do on the device.
#[test]
fn refusals_are_the_same_wherever_files_are_read() {
    let engines = ["kv03/baseline", "kv03/staging", "kv03/materialized"].map(Engine::reference).into();
    let (first, refused) = (std::cell::RefCell::new(None), std::cell::Cell::new(0));
    for_cases(400, flipped(), engines, |engine, [older, newer]| {
        let found = refusal(engine, older, newer);
        if engine.name.starts_with("kv03/baseline") {
            let in_block = found.as_ref().is_some_and(|(_, _, why)| why.starts_with("block"));
            refused.set(refused.get() + usize::from(in_block));
            first.replace(found);
        } else {
            assert_eq!(found, *first.borrow(), "{}", engine.name);
        }
    });
    assert!(refused.get() > 50, "only {} files were refused for a block", refused.get());
}
