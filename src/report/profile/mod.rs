//! A profile: what a program takes, in all and node by node, against what the device can do.
//!
//! This file is the data; [`measure`] fills it, [`class`] says what limits a node, [`before`] what a node waits for, and
//! [`roof`] measures what copying reaches on the device. [`table`], [`csv`](csv::csv) and
//! [`trace`](trace::trace) write it down.
//!
//! Totals come from runs in which nothing is measured inside. Device times of segments come from other runs, with timestamps
//! around all dispatches of each, and times of nodes from others again, with timestamps around every node. Timestamps cost
//! time, so the nodes' times do not add up to the total, and neither is made up from the other. The three kinds of runs take
//! turns, so that a device that slows down does so for all.

pub mod before;
pub mod class;
pub mod csv;
mod measure;
pub mod roof;
pub mod table;
pub mod trace;

use serde::Serialize;

use crate::run::AdapterReport;

use super::stats::Stats;

pub use before::{Before, BeforeKind};
pub use class::Class;
pub use measure::{Options, profile};
pub use roof::Roof;

/// What nobody who goes through wgpu can know.
pub const OCCUPANCY: &str = "unknown: wgpu does not tell registers, occupancy or cache hits";

/// What a program took on a backend. As JSON it only ever gains fields.
#[derive(Clone, Debug, Serialize)]
pub struct Profile {
    /// The graph's name.
    pub graph: String,
    /// The graph's identity.
    pub identity: String,
    /// What ran it.
    pub backend: String,
    /// The device, where there is one.
    pub device: Option<AdapterReport>,
    /// The programs that took part.
    pub versions: Versions,
    /// What the nodes' times are taken from.
    pub clock: Clock,
    /// What it ran on.
    pub inputs: Vec<InputIdentity>,
    /// Numbers of its symbols.
    pub symbols: Vec<(String, u64)>,
    /// Numbers of its counts, of the last run.
    pub counts: Vec<(String, u64)>,
    /// What times are divided by, where the caller named something.
    pub records: Option<Records>,
    /// Planned bytes of all arenas.
    pub peak_bytes: u64,
    /// What no plan of this order of nodes can go below, in bytes.
    pub bound_bytes: u64,
    /// Bytes without any reuse of memory.
    pub naive_bytes: u64,
    /// Bytes of outputs.
    pub output_bytes: u64,
    /// The first run, with making pipelines and memory.
    pub first_seconds: f64,
    /// From the first upload to the last byte of output, of runs in which nothing is timed inside.
    pub total_seconds: Stats,
    /// Each of them, in order.
    pub total_sample_seconds: Vec<f64>,
    /// Uploading inputs.
    pub upload_seconds: Stats,
    /// The last submission and reading outputs.
    pub download_seconds: Stats,
    /// Between timestamps around the dispatches of each segment, all segments together, in runs of their own.
    pub device_seconds: Option<Stats>,
    /// Steps around the run: what a whole job takes besides.
    pub job: Job,
    /// Round trips of a run, in order.
    pub segments: Vec<SegmentProfile>,
    /// Nodes in the order in which they run.
    pub nodes: Vec<NodeProfile>,
    /// The sum of the nodes' medians.
    pub node_sum_seconds: f64,
    /// The runs in which nodes were timed, as a whole.
    pub profiled: Profiled,
    /// What copying reaches on this device.
    pub roof: Option<Roof>,
    /// Why there is no roof, if there is none.
    pub no_roof: Option<String>,
    /// Why occupancy is not here.
    pub occupancy: &'static str,
    /// The nodes that cost most, at most three, with the reason.
    pub costliest: Vec<Costly>,
    /// One of the runs in which nodes were timed, slice by slice.
    pub timeline: Timeline,
    /// Why nodes have no times, if they have none.
    pub untimed: Option<String>,
}

/// Versions of what took part.
#[derive(Clone, Debug, Serialize)]
pub struct Versions {
    /// This crate.
    pub weft: &'static str,
    /// The GPU library it was built with.
    pub wgpu: &'static str,
}

impl Versions {
    /// Those of this build.
    pub const BUILD: Versions = Versions { weft: env!("CARGO_PKG_VERSION"), wgpu: env!("WEFT_WGPU_VERSION") };
}

/// Where times of nodes come from.
#[derive(Clone, Debug, Serialize)]
pub struct Clock {
    /// In words.
    pub source: String,
    /// Seconds of a tick of the device's clock, where that is used.
    pub tick_seconds: Option<f64>,
}

/// An input, so that another run can be known to have had the same.
#[derive(Clone, Debug, Serialize)]
pub struct InputIdentity {
    /// Its name in the graph.
    pub name: String,
    /// Its length in bytes.
    pub bytes: u64,
    /// SHA-256 of its bytes, as lowercase hex.
    pub sha256: String,
}

/// What times are divided by.
#[derive(Clone, Debug, Serialize)]
pub struct Records {
    /// How many.
    pub records: u64,
    /// What they are, for people: `records of both files`.
    pub of: String,
}

/// What a job takes besides the runs. Fields are none where there is no such step or it was not measured.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Job {
    /// Reading the graph's files and opening the device.
    pub open_seconds: Option<f64>,
    /// Planning memory.
    pub plan_seconds: Option<f64>,
    /// Checksums of the inputs, and checking what is no record; done while the graph runs.
    pub verify_seconds: Option<Stats>,
    /// Making a file of what the graph gave: checksums, directory, header.
    pub finish_seconds: Option<Stats>,
    /// Handing its bytes to the system, in a temporary file.
    pub write_seconds: Option<Stats>,
}

/// The runs in which nodes were timed, as a whole.
#[derive(Clone, Debug, Serialize)]
pub struct Profiled {
    /// From the first upload to the last byte of output.
    pub total_seconds: Stats,
    /// Each of them, in order.
    pub total_sample_seconds: Vec<f64>,
    /// From the first timestamp of each segment to its last, all segments together: around the nodes, gaps between them
    /// included.
    pub device_seconds: Option<Stats>,
    /// The sum of all valid times of device nodes in one run.
    pub node_sum_seconds: Option<Stats>,
    /// What timing the nodes adds to the total: the medians' difference, as a part of the total of runs without.
    pub overhead: f64,
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
    /// How long the device had nothing to do before it, since the end of the round trip before: by the device's clock, in the
    /// same runs. None for the first.
    pub idle_seconds: Option<Stats>,
    /// Its device times of each run, in order.
    pub device_sample_seconds: Vec<Option<f64>>,
}

/// A node.
#[derive(Clone, Debug, Serialize)]
pub struct NodeProfile {
    /// Its name.
    pub node: String,
    /// Its pass.
    pub pass: String,
    /// The stage that it belongs to.
    pub stage: String,
    /// Which segment it is in.
    pub segment: u32,
    /// Dispatches of it.
    pub steps: u64,
    /// Workgroups of all its dispatches.
    pub groups: u64,
    /// Invocations of a workgroup; 0 for a host node.
    pub group_invocations: u64,
    /// Seconds; none if nothing valid was measured.
    pub seconds: Option<Stats>,
    /// What each run measured, invalid ones included; none where it was not timed.
    pub sample_seconds: Vec<Option<f64>>,
    /// Whether the host's clock measured it.
    pub host_clock: bool,
    /// Measurements that were zero or negative, which are left out of all statistics.
    pub invalid: usize,
    /// Part of the sum of all nodes.
    pub share: f64,
    /// Bytes it reads, by its pass file or else every element of what it reads once.
    pub read_bytes: u64,
    /// Bytes it writes, likewise.
    pub write_bytes: u64,
    /// Bytes of the values bound to it, each byte once.
    pub working_set_bytes: u64,
    /// Bytes read and written a second, in units of 10^9; none without a time.
    pub gigabytes_per_second: Option<f64>,
    /// What copying reaches with a working set of this size, in the same units.
    pub roof_gigabytes_per_second: Option<f64>,
    /// Its rate as a part of that.
    pub roof_share: Option<f64>,
    /// Its rate as a part of what copying reaches with large buffers.
    pub large_roof_share: Option<f64>,
    /// Nanoseconds for each of [`Profile::records`].
    pub nanoseconds_per_record: Option<f64>,
    /// What limits it; none where there is no device time or no roof.
    pub class: Option<Class>,
    /// The rule that decided that, with its numbers, or why none did.
    pub rule: String,
    /// What it waits for.
    pub before: Before,
    /// Planned bytes of all values that are live while it runs.
    pub live_bytes: u64,
    /// Those of them that are no inputs or outputs of the graph.
    pub scratch_bytes: u64,
}

/// A node that costs much.
#[derive(Clone, Debug, Serialize)]
pub struct Costly {
    /// Its name.
    pub node: String,
    /// Why it takes what it takes: a sentence without its subject, which is the node.
    pub why: String,
}

/// One run, slice by slice.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Timeline {
    /// Which of the runs that timed nodes, from 0: the one whose total is the median.
    pub run: usize,
    /// What the host did, by its clock, in order.
    pub host: Vec<Slice>,
    /// What the device did, by its clock, in order.
    pub device: Vec<Slice>,
    /// What to add to times of the device to place them among those of the host. Nothing relates the two clocks; this is the
    /// least number with which no segment begins before it was submitted.
    pub device_offset_seconds: f64,
}

/// A stretch of a timeline.
#[derive(Clone, Debug, Serialize)]
pub struct Slice {
    /// `upload`, `encode`, `submit`, `wait`, `download`, or the name of a node.
    pub name: String,
    /// Which node it is, as an index into [`Profile::nodes`].
    pub node: Option<usize>,
    /// When it began.
    pub begin_seconds: f64,
    /// How long it was.
    pub seconds: f64,
}
