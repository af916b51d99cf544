//! What a run took.
//!
//! Two clocks: the host's, counted from the moment a run begins, and the device's, counted from the first timestamp that the
//! device took in that run. Nothing here relates one to the other.

use serde::Serialize;

use crate::graph::model::NodeId;

/// What a run measures with the device's clock. The more, the slower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Timing {
    /// Nothing.
    #[default]
    None,
    /// Each segment's dispatches together.
    Segments,
    /// Each node by itself.
    Nodes,
}

/// A stretch of a run, by one of the clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Interval {
    /// When it began.
    pub begin_seconds: f64,
    /// How long it was. Not positive where the device's clock is at fault.
    pub seconds: f64,
}

impl Interval {
    /// When it ended.
    pub fn end_seconds(&self) -> f64 {
        self.begin_seconds + self.seconds
    }
}

/// Time of one node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeTime {
    /// The node.
    pub node: NodeId,
    /// When it began, by the clock that measured it.
    pub begin_seconds: f64,
    /// Seconds between the timestamps around it. Not positive where the device's clock is at fault; reports say so.
    pub seconds: f64,
    /// Whether the host's clock measured it, and not the device's.
    pub host_clock: bool,
}

/// Time of one submission and the wait for it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SegmentTime {
    /// When encoding began, by the host's clock. Submitting and waiting follow upon it.
    pub begin_seconds: f64,
    /// Seconds of encoding commands.
    pub encode_seconds: f64,
    /// Seconds of submitting them.
    pub submit_seconds: f64,
    /// Seconds of waiting for them and for the words they read back.
    pub wait_seconds: f64,
    /// From the first timestamp of the submission to the last, by the device's clock: around all its dispatches. Only of runs
    /// that time segments or nodes.
    pub device: Option<Interval>,
}

/// Times of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// Seconds of making pipelines and memory before the first upload; next to nothing where they are there already.
    pub prepare_seconds: f64,
    /// Seconds of uploading inputs.
    pub upload_seconds: f64,
    /// Seconds of the last read, which fetches the outputs; its segment's wait is in it.
    pub download_seconds: f64,
    /// Seconds from the first upload to the last word of output.
    pub total_seconds: f64,
    /// The uploads one by one, by the host's clock; those before which there is nothing to upload are left out.
    pub uploads: Vec<Interval>,
    /// The last read, by the host's clock.
    pub download: Interval,
    /// Nodes, in the order in which they ran, host nodes last; only of runs that time nodes.
    pub nodes: Vec<NodeTime>,
    /// Round trips, in order.
    pub segments: Vec<SegmentTime>,
    /// Why nodes have no device times, if they were asked for and have none.
    pub untimed: Option<String>,
}

impl Times {
    /// What a run takes that makes pipelines and memory: from its preparation to the last word of output.
    pub fn with_preparation_seconds(&self) -> f64 {
        self.prepare_seconds + self.total_seconds
    }

    /// Seconds that the device spent between the first and the last timestamp of each submission, all of them together; none
    /// where nothing was timed.
    pub fn device_seconds(&self) -> Option<f64> {
        let intervals = self.segments.iter().filter_map(|segment| segment.device);
        intervals.map(|interval| interval.seconds).reduce(|sum, seconds| sum + seconds)
    }
}
