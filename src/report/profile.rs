//! A profile: what a program takes, in all and node by node.
//!
//! Totals come from runs in which nothing is measured inside. Device times of segments come from other runs, with timestamps
//! around all dispatches of each, and times of nodes from others again, with timestamps around every node. Timestamps cost
//! time, so the nodes' times do not add up to the total, and neither is made up from the other.

use serde::Serialize;

use crate::graph::model::NodeId;
use crate::run::{Backend, Options, Program, RunError, Times, Timing, run};

use super::stats::Stats;

/// What a program took on a backend.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// The graph's name.
    pub graph: String,
    /// The graph's identity.
    pub identity: String,
    /// What ran it.
    pub backend: String,
    /// Numbers of its symbols.
    pub symbols: Vec<(String, u64)>,
    /// Numbers of its counts, of the last run.
    pub counts: Vec<(String, u64)>,
    /// Planned bytes of all arenas.
    pub peak_bytes: u64,
    /// Bytes of outputs.
    pub output_bytes: u64,
    /// The first run: pipelines and memory are made in it.
    pub first_seconds: f64,
    /// From the first upload to the last byte of output.
    pub total_seconds: Stats,
    /// Uploading inputs.
    pub upload_seconds: Stats,
    /// The last submission and reading outputs.
    pub download_seconds: Stats,
    /// Round trips of a run, in order.
    pub segments: Vec<SegmentProfile>,
    /// Nodes in the order in which they run.
    pub nodes: Vec<NodeProfile>,
    /// The sum of the nodes' medians.
    pub node_sum_seconds: f64,
    /// Why nodes have no times, if they have none.
    pub untimed: Option<String>,
}

/// A round trip.
#[derive(Clone, Debug, Serialize)]
pub struct SegmentProfile {
    /// Encoding its commands.
    pub encode_seconds: Stats,
    /// Submitting them.
    pub submit_seconds: Stats,
    /// Waiting for them and for what they read back.
    pub wait_seconds: Stats,
    /// Between timestamps around all its dispatches, in runs of their own; none where it has none or nothing was valid.
    pub device_seconds: Option<Stats>,
}

/// A node.
#[derive(Clone, Debug, Serialize)]
pub struct NodeProfile {
    /// Its name.
    pub node: String,
    /// Its pass.
    pub pass: String,
    /// Which segment it is in.
    pub segment: u32,
    /// Dispatches of it.
    pub steps: u64,
    /// Workgroups of all its dispatches.
    pub groups: u64,
    /// Seconds; none if nothing valid was measured.
    pub seconds: Option<Stats>,
    /// Whether the host's clock measured it.
    pub host_clock: bool,
    /// Measurements that were zero or negative, which are left out.
    pub invalid: usize,
    /// Part of the sum of all nodes.
    pub share: f64,
    /// Bytes it reads, by its pass file or else every element of what it reads once.
    pub read_bytes: u64,
    /// Bytes it writes, likewise.
    pub write_bytes: u64,
}

impl NodeProfile {
    /// Bytes moved a second, in units of 10^9; none without a time.
    pub fn gigabytes_per_second(&self) -> Option<f64> {
        let seconds = self.seconds?.median;
        Some((self.read_bytes + self.write_bytes) as f64 / seconds * 1e-9)
    }
}

/// Runs a program once to make everything ready, then `runs` times each for totals, for segments and for nodes.
pub fn profile(
    program: &Program,
    backend: &mut dyn Backend,
    inputs: &[(&str, &[u8])],
    runs: usize,
) -> Result<Profile, RunError> {
    let first = run(program, backend, inputs, Options::default())?;
    let first_seconds = first.times.total_seconds;
    let output_bytes = first.outputs().map(|output| output.bytes.len() as u64).sum();
    let counts = first.counts.clone();
    drop(first);
    let mut totals = Vec::with_capacity(runs);
    let mut segments = Vec::with_capacity(runs);
    let mut timed = Vec::with_capacity(runs);
    for _ in 0..runs.max(1) {
        totals.push(run(program, backend, inputs, Options::default())?.times);
    }
    let timing = |timing: Timing| Options { timing, ..Options::default() };
    for _ in 0..runs.max(1) {
        segments.push(run(program, backend, inputs, timing(Timing::Segments))?.times);
    }
    for _ in 0..runs.max(1) {
        timed.push(run(program, backend, inputs, timing(Timing::Nodes))?.times);
    }
    let stats = |of: fn(&Times) -> f64| stats_of(&totals, of);
    let nodes = node_profiles(program, &counts, &timed)?;
    Ok(Profile {
        graph: program.graph.name.clone(),
        identity: program.graph.identity.clone(),
        backend: backend.name(),
        symbols: program.plan.symbols.iter().map(|(name, &number)| (name.clone(), number)).collect(),
        counts,
        peak_bytes: program.plan.peak_bytes,
        output_bytes,
        first_seconds,
        total_seconds: stats(|times| times.total_seconds),
        upload_seconds: stats(|times| times.upload_seconds),
        download_seconds: stats(|times| times.download_seconds),
        segments: segment_profiles(&totals, &segments),
        node_sum_seconds: nodes.iter().filter_map(|node| node.seconds).map(|seconds| seconds.median).sum(),
        nodes,
        untimed: timed.iter().find_map(|times| times.untimed.clone()),
    })
}

fn stats_of<T>(measured: &[T], of: impl Fn(&T) -> f64) -> Stats {
    let numbers: Vec<f64> = measured.iter().map(of).collect();
    Stats::of(&numbers).expect("there was at least one run")
}

fn segment_profiles(totals: &[Times], timed: &[Times]) -> Vec<SegmentProfile> {
    let device = |index: usize| {
        let seconds = timed.iter().filter_map(|times| times.segments.get(index)?.device_seconds);
        Stats::of(&seconds.filter(|&seconds| seconds > 0.0).collect::<Vec<_>>())
    };
    let segments = totals.iter().map(|times| times.segments.len()).min().unwrap_or(0);
    (0..segments)
        .map(|index| SegmentProfile {
            encode_seconds: stats_of(totals, |times| times.segments[index].encode_seconds),
            submit_seconds: stats_of(totals, |times| times.segments[index].submit_seconds),
            wait_seconds: stats_of(totals, |times| times.segments[index].wait_seconds),
            device_seconds: device(index),
        })
        .collect()
}

fn node_profiles(
    program: &Program,
    counts: &[(String, u64)],
    timed: &[Times],
) -> Result<Vec<NodeProfile>, RunError> {
    let mut nodes = Vec::with_capacity(program.plan.order.len());
    for &id in &program.plan.order {
        nodes.push(node_profile(program, counts, timed, id)?);
    }
    let median = |node: &NodeProfile| node.seconds.map_or(0.0, |seconds| seconds.median);
    let sum: f64 = nodes.iter().map(median).sum();
    for node in &mut nodes {
        node.share = if sum > 0.0 { median(node) / sum } else { 0.0 };
    }
    Ok(nodes)
}

fn node_profile(
    program: &Program,
    counts: &[(String, u64)],
    timed: &[Times],
    id: NodeId,
) -> Result<NodeProfile, RunError> {
    let node = program.node(id);
    let work = program.work(id, counts)?;
    let of_node = |times: &Times| times.nodes.iter().find(|time| time.node == id).copied();
    let measured: Vec<_> = timed.iter().filter_map(of_node).collect();
    let valid: Vec<f64> = measured.iter().map(|time| time.seconds).filter(|&seconds| seconds > 0.0).collect();
    Ok(NodeProfile {
        node: node.name.clone(),
        pass: node.pass.name().to_owned(),
        segment: node.segment,
        steps: work.steps,
        groups: work.groups,
        seconds: Stats::of(&valid),
        host_clock: measured.iter().any(|time| time.host_clock),
        invalid: measured.len() - valid.len(),
        share: 0.0,
        read_bytes: work.read_bytes,
        write_bytes: work.write_bytes,
    })
}
