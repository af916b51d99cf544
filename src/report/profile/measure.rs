//! Runs a program many times and fills in a profile.

use sha2::{Digest, Sha256};

use crate::graph::model::{BufferId, Graph, NodeId};
use crate::run::{self, Backend, Interval, Program, RunError, Times, Timing, run};

use super::class::{Facts, classify};
use super::{
    Before, Clock, Costly, InputIdentity, Job, NodeProfile, OCCUPANCY, Profile, Profiled, Records, Roof,
    SegmentProfile, Slice, Timeline, Versions, before,
};
use crate::report::stats::Stats;

/// Nodes that the last paragraph names.
const COSTLIEST: usize = 3;

/// How to profile.
#[derive(Debug, Default)]
pub struct Options {
    /// Runs of each kind; at least one is made.
    pub runs: usize,
    /// What copying reaches on the device.
    pub roof: Option<Roof>,
    /// Why there is no roof.
    pub no_roof: Option<String>,
    /// What times are to be divided by.
    pub records: Option<Records>,
}

/// The times of one kind of runs each.
#[derive(Default)]
struct Runs {
    plain: Vec<Times>,
    segments: Vec<Times>,
    nodes: Vec<Times>,
}

/// Runs a program once to make everything ready, then `runs` times each for totals, for segments and for nodes. `progress`
/// is called after every run, with how many there have been and how many there will be.
///
/// # Errors
///
/// Those of [`run`].
pub fn profile(
    program: &Program,
    backend: &mut dyn Backend,
    inputs: &[(&str, &[u8])],
    options: Options,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Profile, RunError> {
    let count = options.runs.max(1);
    let first = run(program, backend, inputs, run::Options::default())?;
    let first_seconds = first.times.with_preparation_seconds();
    let output_bytes = first.outputs().map(|output| output.bytes.len() as u64).sum();
    let counts = first.counts.clone();
    drop(first);
    // The first timed run makes what timing needs; it is not counted.
    run(program, backend, inputs, timing(Timing::Nodes))?;
    let mut runs = Runs::default();
    for index in 0..count {
        runs.plain.push(run(program, backend, inputs, timing(Timing::None))?.times);
        runs.segments.push(run(program, backend, inputs, timing(Timing::Segments))?.times);
        runs.nodes.push(run(program, backend, inputs, timing(Timing::Nodes))?.times);
        progress(index + 1, count);
    }
    let nodes = node_profiles(program, &counts, &runs.nodes, &options)?;
    let stats = |of: fn(&Times) -> f64| stats_of(&runs.plain, of);
    let plan = &program.plan;
    Ok(Profile {
        graph: program.graph.name.clone(),
        identity: program.graph.identity.clone(),
        backend: backend.name(),
        device: backend.device(),
        versions: Versions::BUILD,
        clock: clock(&nodes, backend.tick_seconds()),
        inputs: inputs.iter().map(|(name, bytes)| InputIdentity::of(name, bytes)).collect(),
        symbols: plan.symbols.iter().map(|(name, &number)| (name.clone(), number)).collect(),
        counts,
        records: options.records,
        peak_bytes: plan.peak_bytes,
        bound_bytes: plan.bound_bytes,
        naive_bytes: plan.naive_bytes,
        output_bytes,
        first_seconds,
        total_seconds: stats(|times| times.total_seconds),
        total_sample_seconds: runs.plain.iter().map(|times| times.total_seconds).collect(),
        upload_seconds: stats(|times| times.upload_seconds),
        download_seconds: stats(|times| times.download_seconds),
        device_seconds: positive(runs.segments.iter().filter_map(Times::device_seconds)),
        job: Job::default(),
        segments: segment_profiles(&runs),
        node_sum_seconds: nodes.iter().filter_map(|node| node.seconds).map(|seconds| seconds.median).sum(),
        profiled: profiled(&runs),
        costliest: costliest(&nodes),
        timeline: timeline(program, &runs.nodes),
        nodes,
        roof: options.roof,
        no_roof: options.no_roof,
        occupancy: OCCUPANCY,
        untimed: runs.nodes.iter().find_map(|times| times.untimed.clone()),
    })
}

fn timing(timing: Timing) -> run::Options {
    run::Options { timing, ..run::Options::default() }
}

impl InputIdentity {
    /// The identity of an input's bytes.
    pub fn of(name: &str, bytes: &[u8]) -> InputIdentity {
        let digest = Sha256::digest(bytes);
        let sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        InputIdentity { name: name.to_owned(), bytes: bytes.len() as u64, sha256 }
    }
}

fn clock(nodes: &[NodeProfile], tick_seconds: Option<f64>) -> Clock {
    let hosts = nodes.iter().filter(|node| node.host_clock).count();
    let source = match (hosts, tick_seconds) {
        (0, None) => "none",
        (0, Some(_)) => "timestamps of the device around each node's compute pass",
        (hosts, _) if hosts == nodes.len() => "the host's clock",
        (_, Some(_)) => {
            "timestamps of the device around each node's compute pass; the host's clock for host passes"
        }
        (_, None) => "the host's clock for host passes; none for the others",
    };
    Clock { source: source.to_owned(), tick_seconds }
}

fn stats_of<T>(measured: &[T], of: impl Fn(&T) -> f64) -> Stats {
    let numbers: Vec<f64> = measured.iter().map(of).collect();
    Stats::of(&numbers).expect("there was at least one run")
}

/// Statistics of what is positive.
fn positive(measured: impl Iterator<Item = f64>) -> Option<Stats> {
    Stats::of(&measured.filter(|&seconds| seconds > 0.0).collect::<Vec<_>>())
}

fn segment_profiles(runs: &Runs) -> Vec<SegmentProfile> {
    let device = |times: &Times, index: usize| times.segments.get(index)?.device;
    let idle = |times: &Times, index: usize| {
        let before = device(times, index.checked_sub(1)?)?;
        Some(device(times, index)?.begin_seconds - before.end_seconds())
    };
    let segments = runs.plain.iter().map(|times| times.segments.len()).min().unwrap_or(0);
    let of = |index: usize| {
        let samples = runs.segments.iter().map(|times| device(times, index).map(|device| device.seconds));
        let device_sample_seconds: Vec<Option<f64>> = samples.collect();
        SegmentProfile {
            encode_seconds: stats_of(&runs.plain, |times| times.segments[index].encode_seconds),
            submit_seconds: stats_of(&runs.plain, |times| times.segments[index].submit_seconds),
            wait_seconds: stats_of(&runs.plain, |times| times.segments[index].wait_seconds),
            device_seconds: positive(device_sample_seconds.iter().flatten().copied()),
            idle_seconds: positive(runs.segments.iter().filter_map(|times| idle(times, index))),
            device_sample_seconds,
        }
    };
    (0..segments).map(of).collect()
}

fn profiled(runs: &Runs) -> Profiled {
    let total_seconds = stats_of(&runs.nodes, |times| times.total_seconds);
    let plain = stats_of(&runs.plain, |times| times.total_seconds);
    let sum = |times: &Times| {
        let device = times.nodes.iter().filter(|time| !time.host_clock && time.seconds > 0.0);
        device.map(|time| time.seconds).sum::<f64>()
    };
    Profiled {
        total_seconds,
        total_sample_seconds: runs.nodes.iter().map(|times| times.total_seconds).collect(),
        device_seconds: positive(runs.nodes.iter().filter_map(Times::device_seconds)),
        node_sum_seconds: positive(runs.nodes.iter().map(sum)),
        overhead: total_seconds.median / plain.median - 1.0,
    }
}

fn node_profiles(
    program: &Program,
    counts: &[(String, u64)],
    timed: &[Times],
    options: &Options,
) -> Result<Vec<NodeProfile>, RunError> {
    let mut idle = Vec::new();
    for &id in &program.plan.order {
        if program.work(id, counts)?.groups == 0 {
            idle.push(id);
        }
    }
    let before = before::before(&program.graph, &program.plan, &|id| idle.contains(&id));
    let mut nodes = Vec::with_capacity(program.plan.order.len());
    for ((position, &id), before) in program.plan.order.iter().enumerate().zip(before) {
        let mut node = NodeProfile::measured(program, counts, timed, id)?;
        node.before = before;
        (node.live_bytes, node.scratch_bytes) = live(program, position);
        node.judge(options);
        nodes.push(node);
    }
    let sum: f64 = nodes.iter().map(NodeProfile::median_seconds).sum();
    for node in &mut nodes {
        node.share = if sum > 0.0 { node.median_seconds() / sum } else { 0.0 };
    }
    Ok(nodes)
}

/// Planned bytes of what is live at a position of the order: all of it, and what is no input or output.
fn live(program: &Program, position: usize) -> (u64, u64) {
    let graph: &Graph = &program.graph;
    let ends =
        graph.inputs.iter().map(|input| input.value).chain(graph.outputs.iter().map(|output| output.value));
    let ends: Vec<BufferId> = ends.map(|value| graph.values[value.0 as usize].buffer).collect();
    let (mut all, mut scratch) = (0, 0);
    for (index, slot) in (0..).zip(&program.plan.slots) {
        if (slot.first..=slot.last).contains(&position) {
            all += slot.size_bytes;
            scratch += if ends.contains(&BufferId(index)) { 0 } else { slot.size_bytes };
        }
    }
    (all, scratch)
}

impl NodeProfile {
    /// What was measured of a node and what it moves; what follows from comparing is not filled in.
    fn measured(
        program: &Program,
        counts: &[(String, u64)],
        timed: &[Times],
        id: NodeId,
    ) -> Result<NodeProfile, RunError> {
        let node = program.node(id);
        let work = program.work(id, counts)?;
        let of_node = |times: &Times| times.nodes.iter().find(|time| time.node == id).copied();
        let measured: Vec<_> = timed.iter().map(of_node).collect();
        let sample_seconds: Vec<Option<f64>> =
            measured.iter().map(|time| time.map(|time| time.seconds)).collect();
        let (seconds, invalid) = valid(&sample_seconds);
        Ok(NodeProfile {
            node: node.name.clone(),
            pass: node.pass.name().to_owned(),
            stage: node.stage().to_owned(),
            segment: node.segment,
            steps: work.steps,
            groups: work.groups,
            group_invocations: work.group_invocations,
            seconds,
            sample_seconds,
            host_clock: measured.iter().flatten().any(|time| time.host_clock),
            invalid,
            share: 0.0,
            read_bytes: work.read_bytes,
            write_bytes: work.write_bytes,
            working_set_bytes: work.working_set_bytes,
            gigabytes_per_second: None,
            roof_gigabytes_per_second: None,
            roof_share: None,
            large_roof_share: None,
            nanoseconds_per_record: None,
            class: None,
            rule: String::new(),
            before: Before::nothing(""),
            live_bytes: 0,
            scratch_bytes: 0,
        })
    }

    /// Bytes that it reads and writes.
    pub fn moved_bytes(&self) -> u64 {
        self.read_bytes.saturating_add(self.write_bytes)
    }

    /// Its time; 0 if none was measured.
    pub fn median_seconds(&self) -> f64 {
        self.seconds.map_or(0.0, |seconds| seconds.median)
    }

    /// Compares what was measured with the device.
    fn judge(&mut self, options: &Options) {
        let Some(seconds) = self.seconds.map(|seconds| seconds.median) else {
            self.rule = "it has no valid time".to_owned();
            return;
        };
        let rate = self.moved_bytes() as f64 / seconds * 1e-9;
        self.gigabytes_per_second = Some(rate);
        self.nanoseconds_per_record = options
            .records
            .as_ref()
            .filter(|records| records.records > 0)
            .map(|records| seconds * 1e9 / records.records as f64);
        let Some(roof) = options.roof.as_ref() else {
            self.rule = "no roof was measured".to_owned();
            return;
        };
        if self.groups == 0 {
            self.rule = "nothing of it is dispatched".to_owned();
            return;
        }
        if self.host_clock {
            self.rule = "the host runs it".to_owned();
            return;
        }
        let reached = roof.gigabytes_per_second(self.working_set_bytes);
        self.roof_gigabytes_per_second = Some(reached);
        self.roof_share = Some(rate / reached);
        self.large_roof_share = Some(rate / roof.large_gigabytes_per_second);
        let facts = Facts {
            seconds,
            steps: self.steps,
            moved_bytes: self.moved_bytes(),
            working_set_bytes: self.working_set_bytes,
        };
        let (class, rule) = classify(facts, roof);
        (self.class, self.rule) = (Some(class), rule);
    }
}

/// Statistics of the positive measurements, and how many are not positive.
fn valid(samples: &[Option<f64>]) -> (Option<Stats>, usize) {
    let measured: Vec<f64> = samples.iter().flatten().copied().collect();
    let invalid = measured.iter().filter(|&&seconds| seconds <= 0.0).count();
    (positive(measured.into_iter()), invalid)
}

/// The nodes that cost most, and why each does.
fn costliest(nodes: &[NodeProfile]) -> Vec<Costly> {
    let mut timed: Vec<&NodeProfile> =
        nodes.iter().filter(|node| node.seconds.is_some() && node.groups > 0).collect();
    timed.sort_by(|a, b| b.median_seconds().total_cmp(&a.median_seconds()));
    let costly = |node: &&NodeProfile| {
        let what = match node.class {
            Some(class) => format!("is {}: it {}", class.name(), node.rule),
            None => format!("has no class: {}", node.rule),
        };
        Costly { node: node.node.clone(), why: what }
    };
    timed.iter().take(COSTLIEST).map(costly).collect()
}

/// The run with the median total, slice by slice.
fn timeline(program: &Program, timed: &[Times]) -> Timeline {
    let mut order: Vec<usize> = (0..timed.len()).collect();
    order.sort_by(|&a, &b| timed[a].total_seconds.total_cmp(&timed[b].total_seconds));
    let Some(&run) = order.get((order.len().saturating_sub(1)) / 2) else { return Timeline::default() };
    let times = &timed[run];
    let slice = |name: &str, Interval { begin_seconds, seconds }: Interval| Slice {
        name: name.to_owned(),
        node: None,
        begin_seconds,
        seconds,
    };
    let mut host: Vec<Slice> = times.uploads.iter().map(|&upload| slice("upload", upload)).collect();
    let mut device_offset_seconds = f64::NEG_INFINITY;
    for segment in &times.segments {
        let mut begin_seconds = segment.begin_seconds;
        let stages = [segment.encode_seconds, segment.submit_seconds, segment.wait_seconds];
        for (name, seconds) in ["encode", "submit", "wait"].into_iter().zip(stages) {
            host.push(slice(name, Interval { begin_seconds, seconds }));
            begin_seconds += seconds;
        }
        if let Some(device) = segment.device {
            let submitted = segment.begin_seconds + segment.encode_seconds;
            device_offset_seconds = device_offset_seconds.max(submitted - device.begin_seconds);
        }
    }
    let mut device = Vec::new();
    for time in &times.nodes {
        let index = program.plan.order.iter().position(|&id| id == time.node);
        let interval = Interval { begin_seconds: time.begin_seconds, seconds: time.seconds };
        let slice = Slice { node: index, ..slice(&program.node(time.node).name, interval) };
        if time.host_clock { host.push(slice) } else { device.push(slice) }
    }
    let by_time = |a: &Slice, b: &Slice| a.begin_seconds.total_cmp(&b.begin_seconds);
    host.sort_by(by_time);
    device.sort_by(by_time);
    let device_offset_seconds = if device_offset_seconds.is_finite() { device_offset_seconds } else { 0.0 };
    Timeline { run, host, device, device_offset_seconds }
}
