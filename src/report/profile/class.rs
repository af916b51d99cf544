//! What limits a node: launching it, moving its bytes, or neither. Knows numbers only.

use serde::Serialize;

use super::Roof;

/// A node that takes less than this many launches is bound by launching.
const LAUNCHES_MAX: f64 = 2.0;

/// A node that moves its bytes at this part of the roof, or faster, is bound by that.
const ROOF_SHARE_MIN: f64 = 0.6;

/// What limits a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Most of its time goes into starting it.
    LaunchBound,
    /// It moves bytes nearly as fast as copying does.
    BandwidthBound,
    /// Neither: it waits for single loads, has too few groups, or computes. Which of these, timestamps do not tell.
    LatencyBound,
}

impl Class {
    /// As JSON and tables have it.
    pub fn name(self) -> &'static str {
        match self {
            Class::LaunchBound => "launch-bound",
            Class::BandwidthBound => "bandwidth-bound",
            Class::LatencyBound => "latency-bound",
        }
    }
}

/// What is known of a node that a device ran.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Its time.
    pub seconds: f64,
    /// Its dispatches.
    pub steps: u64,
    /// Bytes it reads and writes.
    pub moved_bytes: u64,
    /// Bytes of the values bound to it.
    pub working_set_bytes: u64,
}

/// The class of a node, and the rule that decided.
pub fn classify(facts: Facts, roof: &Roof) -> (Class, String) {
    let launch = roof.launch_seconds_of(facts.steps);
    let launches = facts.seconds / launch;
    if launches < LAUNCHES_MAX {
        let rule = format!(
            "takes {launches:.1} times what {} of one workgroup that does nothing to speak of take here ({:.1} µs); below {LAUNCHES_MAX} \
             is launch-bound",
            if facts.steps == 1 { "a dispatch".to_owned() } else { format!("{} dispatches", facts.steps) },
            launch * 1e6
        );
        return (Class::LaunchBound, rule);
    }
    let rate = facts.moved_bytes as f64 / facts.seconds * 1e-9;
    let reached = roof.gigabytes_per_second(facts.working_set_bytes);
    let share = rate / reached;
    let percent = share * 100.0;
    let least = ROOF_SHARE_MIN * 100.0;
    let rule = format!(
        "moves {rate:.1} GB/s, {percent:.0} % of the {reached:.1} that a copy of the same working set reaches here; {least:.0} % and more \
         is bandwidth-bound"
    );
    if share >= ROOF_SHARE_MIN {
        return (Class::BandwidthBound, rule);
    }
    let rule = format!("{rule}, and {launches:.0} launches' time is not launch-bound");
    (Class::LatencyBound, rule)
}
