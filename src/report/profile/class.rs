//! What limits a node: launching it, moving its bytes, or neither. Knows numbers only.

use serde::Serialize;

use super::Roof;
use crate::report::text::{figures, seconds};

/// A node that takes less than this many launches is bound by launching.
const LAUNCHES_MAX: f64 = 2.0;

/// A node that moves its bytes at this part of the roof, or faster, is bound by that.
const ROOF_SHARE_MIN: f64 = 0.6;

/// More than this part of the roof cannot be had by moving bytes to and from memory.
const ROOF_SHARE_CREDIBLE: f64 = 1.2;

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

/// The class of a node, and the rule that decided: a sentence whose subject is the node.
pub fn classify(facts: Facts, roof: &Roof) -> (Class, String) {
    let launch = roof.launch_seconds_of(facts.steps);
    let launches = facts.seconds / launch;
    let takes = match facts.steps {
        1 => "a dispatch of one workgroup takes".to_owned(),
        steps => format!("{steps} dispatches of one workgroup take"),
    };
    let takes = format!("takes {} times the {} that {takes}", figures(launches), seconds(launch));
    if launches < LAUNCHES_MAX {
        return (Class::LaunchBound, format!("{takes} (below {LAUNCHES_MAX} is launch-bound)"));
    }
    let rate = facts.moved_bytes as f64 / facts.seconds * 1e-9;
    let reached = roof.gigabytes_per_second(facts.working_set_bytes);
    let share = rate / reached;
    let moves = format!(
        "moves {} GB/s, {}% of what a copy of its working set reaches ({}% and more is bandwidth-bound)",
        figures(rate),
        figures(share * 100.0),
        ROOF_SHARE_MIN * 100.0
    );
    if share > ROOF_SHARE_CREDIBLE {
        let doubt = "its traffic model counts bytes that it does not move, or moves out of caches";
        return (Class::BandwidthBound, format!("{moves}: {doubt}"));
    }
    if share >= ROOF_SHARE_MIN {
        return (Class::BandwidthBound, moves);
    }
    (
        Class::LatencyBound,
        format!("{moves}, and {takes}: it waits for single loads, computes, or has too few groups"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::roof::RoofPoint;
    use super::*;

    /// 100 GB/s at 2 MB and 1000 GB/s at 200 MB; 4 µs for a launch, 1 µs for a further one.
    fn roof() -> Roof {
        let point = |working_set_bytes: u64, gigabytes_per_second: f64| RoofPoint {
            buffer_bytes: working_set_bytes / 2,
            working_set_bytes,
            copies: 1,
            seconds: working_set_bytes as f64 / gigabytes_per_second * 1e-9,
            gigabytes_per_second,
        };
        Roof {
            points: vec![point(2_000_000, 100.0), point(200_000_000, 1000.0)],
            large_gigabytes_per_second: 1000.0,
            launch_seconds: 4e-6,
            step_seconds: 1e-6,
        }
    }

    fn class(seconds: f64, steps: u64, moved_bytes: u64, working_set_bytes: u64) -> Class {
        classify(Facts { seconds, steps, moved_bytes, working_set_bytes }, &roof()).0
    }

    #[test]
    fn what_takes_no_more_than_two_launches_is_launch_bound() {
        assert_eq!(class(7.9e-6, 1, 0, 1000), Class::LaunchBound);
        assert_eq!(class(8.1e-6, 1, 0, 1000), Class::LatencyBound);
        // Twenty dispatches: 4 + 19 µs.
        assert_eq!(class(45e-6, 20, 0, 1000), Class::LaunchBound);
        assert_eq!(class(47e-6, 20, 0, 1000), Class::LatencyBound);
    }

    #[test]
    fn the_roof_is_that_of_the_working_set() {
        // 61 GB/s: most of what small working sets reach, little of what large ones do.
        assert_eq!(class(1e-3, 1, 61_000_000, 2_000_000), Class::BandwidthBound);
        assert_eq!(class(1e-3, 1, 59_000_000, 2_000_000), Class::LatencyBound);
        assert_eq!(class(1e-3, 1, 61_000_000, 200_000_000), Class::LatencyBound);
        assert_eq!(class(1e-3, 1, 601_000_000, 400_000_000), Class::BandwidthBound);
    }

    #[test]
    fn between_measured_sizes_the_roof_goes_by_the_logarithm() {
        let roof = roof();
        assert!((roof.gigabytes_per_second(20_000_000) - 550.0).abs() < 1e-9);
        assert_eq!(roof.gigabytes_per_second(2_000_000), 100.0);
        assert_eq!(roof.gigabytes_per_second(1_000_000), 50.0);
        assert_eq!(roof.gigabytes_per_second(1 << 40), 1000.0);
    }

    #[test]
    fn the_rule_says_its_numbers() {
        let facts = Facts { seconds: 1e-3, steps: 1, moved_bytes: 25_000_000, working_set_bytes: 2_000_000 };
        let (_, rule) = classify(facts, &roof());
        assert!(
            rule.starts_with("moves 25.0 GB/s, 25.0% of what a copy of its working set reaches"),
            "{rule}"
        );
        assert!(
            rule.contains("takes 250 times the 4.0 µs that a dispatch of one workgroup takes:"),
            "{rule}"
        );
    }
}
