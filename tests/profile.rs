//! Profiles: what is measured, how it is judged, and the forms in which it is written.

mod support;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use serde_json::Value;
use support::{data, gpu};
use weft::graph::model::Graph;
use weft::graph::source::Library;
use weft::report::profile::csv::csv;
use weft::report::profile::roof::{self, RoofPoint};
use weft::report::profile::trace::trace;
use weft::report::profile::{BeforeKind, Class, Options, Profile, Records, Roof, profile, table};
use weft::run::{
    Backend, Dispatch, GpuBackend, Interval, NodeTime, PortOf, Program, Readback, ReferenceBackend, Region,
    RunError, SegmentTime, Times, Timing, dump, run,
};

const WEFT: &str = env!("CARGO_BIN_EXE_weft");

fn load(name: &str) -> Arc<Graph> {
    Arc::new(Graph::load(Library::default(), name).expect("a shipped graph"))
}

/// `scan/exclusive` of so many items, all of them 1.
fn scan(n: u64, backend: &dyn Backend) -> (Program, Vec<u8>) {
    let symbols = BTreeMap::from([("n".to_owned(), n)]);
    let program = Program::new(load("scan/exclusive"), &symbols, &backend.plan_options()).expect("a plan");
    (program, 1_u32.to_le_bytes().repeat(n as usize))
}

/// A backend with a device clock that says what it is told: the same for the nth node of every run.
struct Told {
    inner: ReferenceBackend,
    seconds: Vec<f64>,
    /// Between one node's end and the next one's beginning.
    gap_seconds: f64,
    timing: Timing,
}

impl Backend for Told {
    fn name(&self) -> String {
        "a clock that is told".to_owned()
    }

    fn trim(&mut self) {
        self.inner.trim();
    }

    fn arena_bytes(&self) -> u64 {
        self.inner.arena_bytes()
    }

    fn tick_seconds(&self) -> Option<f64> {
        Some(1e-9)
    }

    fn prepare(&mut self, program: &Program) -> Result<(), RunError> {
        self.inner.prepare(program)
    }

    fn write(&mut self, region: Region, bytes: &[u8]) -> Result<(), RunError> {
        self.inner.write(region, bytes)
    }

    fn fill(&mut self, region: Region, word: u32) -> Result<(), RunError> {
        self.inner.fill(region, word)
    }

    fn dispatch(&mut self, program: &Program, dispatch: &Dispatch<'_>) -> Result<(), RunError> {
        self.inner.dispatch(program, dispatch)
    }

    fn read(&mut self, program: &Program, regions: &[Region]) -> Result<Readback, RunError> {
        self.inner.read(program, regions)
    }

    fn observe(&mut self, timing: Timing, alone: bool) {
        self.timing = timing;
        self.inner.observe(timing, alone);
    }

    fn times(&mut self) -> Times {
        let mut times = self.inner.times();
        let mut begin_seconds = 0.0;
        for (time, &seconds) in times.nodes.iter_mut().zip(&self.seconds) {
            *time = NodeTime { begin_seconds, seconds, host_clock: false, ..*time };
            begin_seconds += seconds.max(0.0) + self.gap_seconds;
        }
        let seconds = begin_seconds - self.gap_seconds;
        let device = (self.timing != Timing::None).then_some(Interval { begin_seconds: 0.0, seconds });
        times.segments =
            vec![SegmentTime { begin_seconds: 1e-3, encode_seconds: 1e-3, device, ..SegmentTime::default() }];
        times
    }
}

/// 100 GB/s at every size; 10 µs for a launch.
fn flat_roof() -> Roof {
    let point = RoofPoint {
        buffer_bytes: 1 << 20,
        working_set_bytes: 2 << 20,
        copies: 1,
        seconds: 20.97152e-6,
        gigabytes_per_second: 100.0,
    };
    let launch_seconds = 10e-6;
    Roof { points: vec![point], large_gigabytes_per_second: 100.0, launch_seconds, step_seconds: 1e-6 }
}

/// A profile of `scan/exclusive` (tiles, spans, apply) on 2^20 items, as if its nodes took so many seconds.
fn told(seconds: [f64; 3]) -> (Profile, Program) {
    let gap_seconds = 1e-5;
    let mut backend =
        Told { inner: ReferenceBackend::new(), seconds: seconds.to_vec(), gap_seconds, timing: Timing::None };
    let (program, items) = scan(1 << 20, &backend);
    let records = Records { records: 1 << 20, of: "items".to_owned() };
    let options = Options { runs: 3, roof: Some(flat_roof()), records: Some(records), ..Options::default() };
    let mut calls = 0;
    let measured = profile(&program, &mut backend, &[("items", &items)], options, &mut |done, of| {
        calls += 1;
        assert_eq!((done, of), (calls, 3));
    });
    (measured.expect("a profile"), program)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

#[test]
fn nodes_are_judged_by_their_times_and_traffic() {
    // tiles reads 4 MiB and apply moves 8: 52 and 8 GB/s.
    let (profile, _) = told([80e-6, 15e-6, 1e-3]);
    let names: Vec<&str> = profile.nodes.iter().map(|node| node.node.as_str()).collect();
    assert_eq!(names, ["tiles", "spans", "apply"]);
    let [tiles, spans, apply] = profile.nodes.as_slice() else { unreachable!() };
    // So few items that the middle dispatch has nothing to do.
    assert_eq!((spans.groups, spans.class, spans.moved_bytes()), (0, None, 0));
    assert_eq!(spans.rule, "nothing of it is dispatched");
    assert_eq!(apply.class, Some(Class::LatencyBound));
    assert_eq!((tiles.groups, tiles.group_invocations, tiles.steps), (256, 256, 1));
    assert_eq!(tiles.read_bytes, 4 * (1 << 20) + 4);
    let rate = (tiles.read_bytes + tiles.write_bytes) as f64 / 80e-6 * 1e-9;
    assert!(close(tiles.gigabytes_per_second.unwrap(), rate));
    assert!(close(tiles.large_roof_share.unwrap(), rate / 100.0));
    assert!(close(tiles.nanoseconds_per_record.unwrap(), 80e-6 * 1e9 / (1 << 20) as f64));
    assert!(close(profile.nodes.iter().map(|node| node.share).sum(), 1.0));
    assert!(close(profile.node_sum_seconds, 1.095e-3));
    // The same by the runs as wholes, with two gaps around.
    assert!(close(profile.profiled.node_sum_seconds.unwrap().median, 1.095e-3));
    assert!(close(profile.profiled.device_seconds.unwrap().median, 1.115e-3));
    let costliest: Vec<&str> = profile.costliest.iter().map(|costly| costly.node.as_str()).collect();
    assert_eq!(costliest, ["apply", "tiles"]);
    assert!(profile.costliest[0].why.starts_with("is latency-bound: it moves 8."), "{:?}", profile.costliest);
}

#[test]
fn times_that_are_not_positive_are_counted_and_left_out() {
    let (profile, _) = told([80e-6, -5e-6, 0.0]);
    let [tiles, spans, apply] = profile.nodes.as_slice() else { unreachable!() };
    assert_eq!((tiles.invalid, spans.invalid, apply.invalid), (0, 3, 3));
    assert!(spans.seconds.is_none() && apply.seconds.is_none());
    assert_eq!(spans.sample_seconds, [Some(-5e-6); 3]);
    assert_eq!((spans.class, spans.share), (None, 0.0));
    assert!(close(profile.node_sum_seconds, 80e-6));
    let text = table::text(&profile, 100);
    assert!(text.contains("6 measurements were zero or negative and are left out."), "{text}");
    assert!(
        text.lines()
            .any(|line| line.starts_with("spans") && line.contains("none") && line.contains("(3 bad)"))
    );
    let rows = csv(&profile);
    assert_eq!(rows.lines().filter(|line| line.contains(",false,")).count(), 6);
}

#[test]
fn what_stands_before_a_node_and_why() {
    let (profile, _) = told([1e-3; 3]);
    let [tiles, spans, apply] = profile.nodes.as_slice() else { unreachable!() };
    assert_eq!(tiles.before.kind, BeforeKind::Nothing);
    assert_eq!(spans.before.kind, BeforeKind::Nothing, "nothing of it is dispatched");
    assert_eq!(apply.before.kind, BeforeKind::Barrier);
    assert_eq!(apply.before.value.as_deref(), Some("tiles.sums"));
    assert_eq!(apply.before.port.as_deref(), Some("tiles"));
    assert_eq!(apply.before.after.as_deref(), Some("tiles"));
    assert!(apply.live_bytes >= 8 << 20, "items and sums live");
    // Items are an input, sums an output: the tile sums are all the scratch there is.
    assert!(apply.scratch_bytes < 1 << 20 && apply.scratch_bytes > 0);
}

#[test]
fn a_merge_waits_for_what_the_host_awaits() {
    let mut backend = ReferenceBackend::new();
    let profile = profiled_merge(&mut backend);
    let before = |name: &str| &profile.nodes.iter().find(|node| node.node == name).expect(name).before;
    assert_eq!(before("merged").kind, BeforeKind::HostWait);
    assert_eq!(before("merged").value.as_deref(), Some("keep_scan/apply.total"));
    assert_eq!(before("layout").kind, BeforeKind::HostWait);
    let after = before("layout").after.as_deref().unwrap();
    assert!(["offsets/apply", "widths"].contains(&after), "the last segment before: {after}");
    assert_eq!(before("ef_exceptions").why, "nothing of it is dispatched", "there are none");
    assert_eq!(before("keep").value.as_deref(), Some("order.order"));
    for node in &profile.nodes {
        assert_eq!(node.before.kind == BeforeKind::Nothing, node.before.after.is_none(), "{}", node.node);
    }
}

/// `kv03/baseline` on two small files.
fn profiled_merge(backend: &mut dyn Backend) -> Profile {
    let (program, files) = merge_program(backend);
    let inputs = [("older", &files[0][..]), ("newer", &files[1][..])];
    profile(&program, backend, &inputs, Options::default(), &mut |_, _| {}).expect("a profile")
}

fn merge_program(backend: &dyn Backend) -> (Program, [Vec<u8>; 2]) {
    use weft::format::kv::{File, Framing, encode};
    let file = |step: u32| {
        let rows: Vec<(String, Option<String>)> =
            (0..200).map(|i| (format!("key {:05}", i * step), Some(format!("value {i}")))).collect();
        let rows = rows.iter().map(|(key, value)| (key.as_bytes(), value.as_ref().map(String::as_bytes)));
        let mut bytes = Vec::new();
        encode(Framing::Kv03, rows, &mut bytes).expect("a file");
        bytes
    };
    let files = [file(2), file(3)];
    let symbols =
        weft::merge::graph::symbols(&File::open(&files[0]).unwrap(), &File::open(&files[1]).unwrap());
    let program = Program::new(load("kv03/baseline"), &symbols, &backend.plan_options()).expect("a plan");
    (program, files)
}

#[test]
fn tables_fit_and_wider_ones_say_more() {
    let long = {
        let (profile, _) = told([80e-6, 15e-6, 1e-3]);
        profile
    };
    let mut backend = GpuBackend::new(gpu());
    for profile in [long, profiled_merge(&mut backend)] {
        let mut narrower = 0;
        for width in [80, 100, 120, 160, 200] {
            let text = table::text(&profile, width);
            for line in text.lines().filter(|line| !line.starts_with("identity")) {
                assert!(line.chars().count() <= width, "{width}: {line}");
            }
            let head = text.lines().find(|line| line.starts_with("node ")).expect("a table of nodes");
            let columns = head.split("  ").filter(|cell| !cell.trim().is_empty()).count();
            assert!(columns >= narrower, "{width}: {head}");
            narrower = columns;
        }
        let wide = table::text(&profile, 220);
        for node in &profile.nodes {
            assert!(wide.lines().any(|line| line.starts_with(&format!("{} ", node.node))), "{}", node.node);
        }
        assert!(wide.contains("waits for"), "{wide}");
    }
}

#[test]
fn a_device_profile_is_whole() {
    let mut backend = GpuBackend::new(gpu());
    let profile = profiled_merge(&mut backend);
    assert!(profile.untimed.is_none(), "{:?}", profile.untimed);
    assert_eq!(profile.segments.len(), 5);
    for node in &profile.nodes {
        assert_eq!(node.sample_seconds.len(), 1, "{}", node.node);
        assert_eq!(node.host_clock, node.node == "layout");
    }
    for (index, segment) in profile.segments.iter().enumerate() {
        assert_eq!(segment.idle_seconds.is_none(), index == 0, "segment {index}");
    }
    let profiled = &profile.profiled;
    let (sum, around) = (profiled.node_sum_seconds.unwrap(), profiled.device_seconds.unwrap());
    assert!(sum.median <= around.median, "nodes do not overlap: {} in {}", sum.median, around.median);
    assert_eq!(profile.inputs.len(), 2);
    assert!(profile.inputs.iter().all(|input| input.sha256.len() == 64 && input.bytes > 0));
    assert!(profile.device.is_some() && profile.clock.tick_seconds.is_some());
}

#[test]
fn json_has_units_in_its_names() {
    let (profile, _) = told([80e-6, 15e-6, 1e-3]);
    let json = serde_json::to_value(&profile).unwrap();
    let top = [
        "graph",
        "identity",
        "backend",
        "versions",
        "clock",
        "inputs",
        "symbols",
        "counts",
        "segments",
        "nodes",
        "roof",
        "occupancy",
        "costliest",
        "timeline",
        "profiled",
        "job",
        "total_seconds",
        "node_sum_seconds",
    ];
    for name in top {
        assert!(json.get(name).is_some(), "{name}");
    }
    assert!(json["occupancy"].as_str().unwrap().starts_with("unknown"));
    // Whatever is not a whole number is a time, a rate or a part of something.
    let units = ["_seconds", "seconds", "gigabytes_per_second", "_share", "share", "_per_record", "overhead"];
    let mut fractions = 0;
    walk(&json, "", &mut |name, number| {
        if number.as_u64().is_none() && number.as_i64().is_none() {
            fractions += 1;
            assert!(units.iter().any(|unit| name.ends_with(unit)), "{name} has no unit");
        }
    });
    assert!(fractions > 30);
}

/// Calls for each number with the name of the innermost field that is not a statistic.
fn walk(json: &Value, name: &str, seen: &mut dyn FnMut(&str, &serde_json::Number)) {
    match json {
        Value::Object(fields) => {
            for (field, value) in fields {
                let statistic = ["median", "mad", "min", "max"].contains(&field.as_str());
                walk(value, if statistic { name } else { field }, seen);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| walk(item, name, seen)),
        Value::Number(number) => seen(name, number),
        _ => {}
    }
}

#[test]
fn rows_are_runs_by_nodes() {
    let (profile, _) = told([80e-6, 15e-6, 1e-3]);
    let text = csv(&profile);
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let at = |name: &str| head.iter().position(|column| *column == name).expect(name);
    let rows: Vec<Vec<&str>> = lines.collect();
    assert_eq!(rows.len(), 9);
    assert!(rows.iter().all(|row| row.len() == head.len()));
    let places: BTreeSet<(&str, &str)> = rows.iter().map(|row| (row[at("run")], row[at("node")])).collect();
    assert_eq!(places.len(), 9);
    let first: f64 = rows[0][at("seconds")].parse().unwrap();
    assert_eq!((rows[0][at("node")], first, rows[0][at("valid")]), ("tiles", 80e-6, "true"));
}

/// What Perfetto asks of a trace.
fn check_trace(trace: &Value, nodes: &[&str]) {
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |phase: &'static str| events.iter().filter(move |event| event["ph"] == phase);
    let tracks: BTreeSet<&str> = of("M")
        .filter(|event| event["name"] == "thread_name")
        .map(|event| event["args"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(tracks, BTreeSet::from(["device", "host"]));
    let number = |event: &Value, field: &str| event[field].as_f64().unwrap();
    let mut begun = 0.0;
    let mut ends: HashMap<u64, f64> = HashMap::new();
    for slice in of("X") {
        assert!(number(slice, "ts") >= begun, "slices in order: {slice}");
        begun = number(slice, "ts");
        assert!(number(slice, "dur") >= 0.0, "{slice}");
        if slice["tid"] == 2 {
            let end = ends.entry(2).or_insert(0.0);
            assert!(begun + 1e-6 >= *end, "slices of the device do not overlap: {slice}");
            *end = begun + number(slice, "dur");
        }
    }
    for node in nodes {
        assert!(of("X").any(|slice| slice["name"] == *node && slice["cat"] == "node"), "{node}");
    }
    let counters: Vec<&Value> = of("C").collect();
    assert_eq!(counters.len(), nodes.len() + 1);
    assert!(counters.iter().all(|counter| counter["args"]["bytes"].is_u64()));
    let starts: HashMap<u64, &Value> = of("s").map(|event| (event["id"].as_u64().unwrap(), event)).collect();
    let mut finished = 0;
    for end in of("f") {
        let start = starts[&end["id"].as_u64().unwrap()];
        assert_eq!(
            (&start["name"], &start["cat"], &end["bp"]),
            (&end["name"], &end["cat"], &Value::from("e"))
        );
        assert!(number(start, "ts") <= number(end, "ts"));
        finished += 1;
    }
    assert!(finished > 0 && finished == starts.len());
}

#[test]
fn traces_open() {
    let (profile, program) = told([80e-6, 15e-6, 1e-3]);
    check_trace(&trace(&profile, &program), &["tiles", "spans", "apply"]);
    // The first segment was submitted 2 ms into the run, so that is where the device begins.
    assert!(close(profile.timeline.device_offset_seconds, 2e-3));

    let mut backend = GpuBackend::new(gpu());
    let (program, files) = merge_program(&backend);
    let inputs = [("older", &files[0][..]), ("newer", &files[1][..])];
    let measured = profile_of(&program, &mut backend, &inputs);
    let nodes: Vec<&str> = measured.nodes.iter().map(|node| node.node.as_str()).collect();
    check_trace(&trace(&measured, &program), &nodes);
}

fn profile_of(program: &Program, backend: &mut dyn Backend, inputs: &[(&str, &[u8])]) -> Profile {
    profile(program, backend, inputs, Options { runs: 3, ..Options::default() }, &mut |_, _| {})
        .expect("a profile")
}

#[test]
fn the_roof_is_measured() {
    let mut backend = GpuBackend::new(gpu());
    let roof = roof::measure(&mut backend, load(roof::GRAPH)).expect("a roof");
    assert!(roof.points.len() >= 4);
    assert!(roof.points.is_sorted_by_key(|point| point.working_set_bytes));
    assert!(roof.points.iter().all(|point| point.gigabytes_per_second > 0.0 && point.seconds > 0.0));
    assert!(roof.launch_seconds > 0.0 && roof.step_seconds >= 0.0);
    let last = roof.points.last().unwrap();
    assert_eq!(roof.gigabytes_per_second(u64::MAX), last.gigabytes_per_second);
}

#[test]
fn dumps_are_what_nodes_leave() {
    // A port that is written, one that is updated later, a count's length, and one that is read.
    let names = [
        "keep_scan/apply.sums",
        "older_parse.status",
        "merged.refs",
        "keep.order",
        "emit.payload",
        "layout.output_layout",
    ];
    let dumped = |backend: &mut dyn Backend| {
        let (program, files) = merge_program(backend);
        let inputs = [("older", &files[0][..]), ("newer", &files[1][..])];
        let ports = names.map(|name| PortOf::find(&program, name).unwrap_or_else(|error| panic!("{error}")));
        let dumped = dump(&program, backend, &inputs, &ports).expect("a dump");
        let whole = run(&program, backend, &inputs, weft::run::Options::default()).expect("a run");
        assert_eq!(dumped[4], whole.output("payload").unwrap());
        let survivors = whole.counts.iter().find(|(name, _)| name == "survivors").unwrap().1;
        assert_eq!(dumped[2].len() as u64, 4 * survivors);
        dumped
    };
    assert_eq!(dumped(&mut ReferenceBackend::new()), dumped(&mut GpuBackend::new(gpu())));
}

#[test]
fn ports_that_are_not_there_are_explained() {
    let (program, _) = scan(100, &ReferenceBackend::new());
    let error = |name: &str| PortOf::find(&program, name).unwrap_err();
    assert_eq!(error("tiles"), "`tiles` is no port; write NODE.PORT");
    assert_eq!(error("tile.sums"), "there is no node `tile`; there are: tiles, spans, apply");
    assert_eq!(error("tiles.sum"), "node `tiles` has no port `sum`; it has: n_items, items, sums");
}

// ------------------------------------------------------------------------------------------- the command

fn weft(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(WEFT);
    command
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .env_remove("RUST_LOG")
        .env("COLUMNS", "100");
    command.output().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn one_command_writes_all_forms() {
    let folder = tempfile::TempDir::new().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("items"), 1_u32.to_le_bytes().repeat(10_000)).unwrap();
    let base =
        ["profile", "scan/exclusive", "--set", "n=10000", "--in", "items=items", "--runs", "2", "--no-roof"];
    let files = [
        "--json=p.json",
        "--csv",
        "p.csv",
        "--trace",
        "p.trace",
        "--dump",
        "apply.sums",
        "--dump",
        "apply.total=total",
    ];
    let all: Vec<&str> = base.iter().chain(&files).copied().collect();
    let output = weft(folder, &all);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("What costs most:") && text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    assert_eq!(names(folder), ["apply.sums.bin", "items", "p.csv", "p.json", "p.trace", "total"]);
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    assert_eq!(read("total"), 10_000_u32.to_le_bytes());
    let sums: Vec<u8> = (0..10_000_u32).flat_map(u32::to_le_bytes).collect();
    assert_eq!(read("apply.sums.bin"), sums);
    let json: Value = serde_json::from_slice(&read("p.json")).unwrap();
    assert_eq!(json["nodes"].as_array().unwrap().len(), 3);
    check_trace(&serde_json::from_slice(&read("p.trace")).unwrap(), &["tiles", "spans", "apply"]);
    assert_eq!(String::from_utf8(read("p.csv")).unwrap().lines().count(), 7);

    // A file that is there is refused before anything is measured, and nothing new appears.
    let again = weft(folder, &[&base[..], &["--csv", "p.csv", "--trace", "new"]].concat());
    assert_eq!(again.status.code(), Some(1));
    assert!(
        String::from_utf8_lossy(&again.stderr)
            .contains("p.csv: already exists; give another name, or --force")
    );
    let wrong = weft(folder, &[&base[..], &["--dump", "tile.sums"]].concat());
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("there is no node `tile`"));
    assert_eq!(names(folder).len(), 6);
}

#[test]
fn logs_have_spans_of_nodes_and_stages() {
    let folder = tempfile::TempDir::new().unwrap();
    let (older, newer) = (data("debian-older.tsv"), data("debian-newer.tsv"));
    for (rows, file) in [(older, "older.kv"), (newer, "newer.kv")] {
        let output = weft(folder.path(), &["import", rows.to_str().unwrap(), "-o", file]);
        assert!(output.status.success() && output.stderr.is_empty(), "no log unless it is asked for, no bar");
    }
    let merge = ["--log", "json", "merge", "newer.kv", "newer.kv", "-o", "out.kv", "--engine", "gpu"];
    let output = weft(folder.path(), &merge);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let log = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<Value> =
        log.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    let spans: BTreeSet<&str> = lines.iter().filter_map(|line| line["span"]["name"].as_str()).collect();
    let stages = [
        "resolve", "plan", "prepare", "run", "segment", "upload", "node", "encode", "submit", "wait",
        "download", "finish", "write",
    ];
    for stage in stages {
        assert!(spans.contains(stage), "{stage}: {spans:?}");
    }
    assert!(lines.iter().any(|line| line["span"]["node"] == "keep_scan/apply"));
    let text = weft(folder.path(), &["--log", "text", "list", "graphs"]);
    assert!(text.status.success());
}
