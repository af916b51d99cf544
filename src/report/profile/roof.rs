//! The copy roof: how fast a plain kernel copies on this device, at several working sets, and what launching costs.
//!
//! Measured by running the graph `roof/copy` like any other. Several copies stand between two timestamps, so that what those
//! cost does not matter. A roof is of one device in one process; nothing here comes from a table.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::graph::model::Graph;
use crate::run::{self, Backend, Program, RunError, Timing, run};

use super::super::stats::Stats;

/// The graph that is run, among the shipped ones.
pub const GRAPH: &str = "roof/copy";

/// Bytes of a vector that the kernel takes at a time.
const VECTOR_BYTES: u64 = 16;

/// The smallest buffer that is copied.
const SMALLEST_BYTES: u64 = 64 << 10;

/// Buffers grow by this factor.
const GROWTH: u64 = 4;

/// The largest buffer that is copied, where the device's limits allow it.
const LARGEST_BYTES: u64 = 512 << 20;

/// The same for a CPU that plays a GPU: past all caches, and done in time.
const LARGEST_CPU_BYTES: u64 = 64 << 20;

/// Bytes that one measurement copies, so that it takes long enough to measure.
const COPIED_BYTES: u64 = 2 << 30;

/// The same for a CPU that plays a GPU.
const COPIED_CPU_BYTES: u64 = 64 << 20;

/// The most copies between two timestamps.
const COPIES_MAX: u64 = 64;

/// Measurements of a size; the median counts.
const RUNS: usize = 5;

/// How fast a device copies.
#[derive(Clone, Debug, Serialize)]
pub struct Roof {
    /// By size, smallest first.
    pub points: Vec<RoofPoint>,
    /// The rate at the largest size: bytes read and written a second, in units of 10^9.
    pub large_gigabytes_per_second: f64,
    /// A dispatch of one workgroup that copies 16 bytes, between timestamps like those of a node.
    pub launch_seconds: f64,
    /// What a further dispatch in the same node adds to that.
    pub step_seconds: f64,
}

/// A size at which copying was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RoofPoint {
    /// Bytes of the source, and of the target.
    pub buffer_bytes: u64,
    /// Both together.
    pub working_set_bytes: u64,
    /// Copies between two timestamps.
    pub copies: u64,
    /// One copy, starting it included.
    pub seconds: f64,
    /// Bytes read and written a second, in units of 10^9.
    pub gigabytes_per_second: f64,
}

impl Roof {
    /// What copying reaches with a working set of this size, in units of 10^9 bytes a second: between measured sizes by the
    /// logarithm of the size, above them that of the largest, below them in proportion to the size, since there the time of a
    /// copy is that of starting it.
    pub fn gigabytes_per_second(&self, working_set_bytes: u64) -> f64 {
        let size = working_set_bytes.max(1) as f64;
        let after = self.points.iter().position(|point| point.working_set_bytes >= working_set_bytes);
        let rate = |index: usize| self.points[index].gigabytes_per_second;
        let bytes = |index: usize| self.points[index].working_set_bytes as f64;
        match after {
            None => self.large_gigabytes_per_second,
            Some(0) => rate(0) * size / bytes(0),
            Some(after) => {
                let before = after - 1;
                let part = (size / bytes(before)).ln() / (bytes(after) / bytes(before)).ln();
                rate(before) + (rate(after) - rate(before)) * part
            }
        }
    }

    /// The least that a node of so many dispatches takes.
    pub fn launch_seconds_of(&self, steps: u64) -> f64 {
        self.launch_seconds + self.step_seconds * steps.saturating_sub(1) as f64
    }
}

/// Measures the roof on a backend, which should be one of its own: its memory grows to that of the largest copy.
///
/// # Errors
///
/// Those of a run; [`RunError::Device`] also where the device has no clock, or one that does not move.
pub fn measure(backend: &mut dyn Backend, graph: Arc<Graph>) -> Result<Roof, RunError> {
    let device = backend.device();
    let cpu = device.as_ref().is_some_and(|device| device.kind == "cpu");
    let (largest, copied) =
        if cpu { (LARGEST_CPU_BYTES, COPIED_CPU_BYTES) } else { (LARGEST_BYTES, COPIED_BYTES) };
    let allowed = device.map_or(largest, |device| device.max_binding_bytes.min(device.max_buffer_bytes));
    let largest = largest.min(allowed - allowed % VECTOR_BYTES);
    let mut meter = Meter { backend, graph };
    let launch_seconds = meter.seconds(VECTOR_BYTES, 1)?;
    let step_seconds = (meter.seconds(VECTOR_BYTES, COPIES_MAX)? - launch_seconds) / (COPIES_MAX - 1) as f64;
    let mut points = Vec::new();
    let mut bytes = SMALLEST_BYTES.min(largest);
    loop {
        let copies = (copied / bytes).clamp(1, COPIES_MAX);
        let seconds = meter.seconds(bytes, copies)? / copies as f64;
        let working_set_bytes = 2 * bytes;
        let gigabytes_per_second = working_set_bytes as f64 / seconds * 1e-9;
        points.push(RoofPoint {
            buffer_bytes: bytes,
            working_set_bytes,
            copies,
            seconds,
            gigabytes_per_second,
        });
        if bytes >= largest {
            break;
        }
        bytes = (bytes * GROWTH).min(largest);
    }
    let large = points.last().map_or(0.0, |point| point.gigabytes_per_second);
    Ok(Roof {
        points,
        large_gigabytes_per_second: large,
        launch_seconds,
        step_seconds: step_seconds.max(0.0),
    })
}

struct Meter<'b> {
    backend: &'b mut dyn Backend,
    graph: Arc<Graph>,
}

impl Meter<'_> {
    /// The time of so many copies of so many bytes, one after another.
    fn seconds(&mut self, bytes: u64, copies: u64) -> Result<f64, RunError> {
        let numbers = [("n".to_owned(), bytes / VECTOR_BYTES), ("copies".to_owned(), copies)];
        let program =
            Program::new(Arc::clone(&self.graph), &BTreeMap::from(numbers), &self.backend.plan_options())?;
        let options = run::Options { timing: Timing::Nodes, ..run::Options::default() };
        // The first run makes memory and pipelines.
        run(&program, self.backend, &[], options)?;
        let mut measured = Vec::with_capacity(RUNS);
        for _ in 0..RUNS {
            let times = run(&program, self.backend, &[], options)?.times;
            let copy = times.nodes.iter().find(|time| program.node(time.node).name == "copy");
            measured.extend(copy.map(|time| time.seconds).filter(|&seconds| seconds > 0.0));
        }
        let stats = Stats::of(&measured).ok_or_else(|| RunError::Device {
            node: Some("copy".to_owned()),
            text: "the device's clock gave no time for it".to_owned(),
        })?;
        Ok(stats.median)
    }
}
