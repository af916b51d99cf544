//! What a run took.

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

/// Time of one node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeTime {
    /// The node.
    pub node: NodeId,
    /// Seconds between the timestamps around it. Not positive where the device's clock is at fault; reports say so.
    pub seconds: f64,
    /// Whether the host's clock measured it, and not the device's.
    pub host_clock: bool,
}

/// Time of one submission and the wait for it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SegmentTime {
    /// Seconds of encoding commands.
    pub encode_seconds: f64,
    /// Seconds of submitting them.
    pub submit_seconds: f64,
    /// Seconds of waiting for them and for the words they read back.
    pub wait_seconds: f64,
    /// Seconds between timestamps before the first dispatch and after the last; only of runs that time segments.
    pub device_seconds: Option<f64>,
}

/// Times of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// Seconds of uploading inputs.
    pub upload_seconds: f64,
    /// Seconds of the last read, which fetches the outputs; its segment's wait is in it.
    pub download_seconds: f64,
    /// Seconds from the first upload to the last word of output.
    pub total_seconds: f64,
    /// Nodes, in the order in which they ran; only of runs that time nodes.
    pub nodes: Vec<NodeTime>,
    /// Round trips, in order.
    pub segments: Vec<SegmentTime>,
    /// Why nodes have no device times, if they were asked for and have none.
    pub untimed: Option<String>,
}
