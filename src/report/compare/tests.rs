//! Verdicts on invented measurements with the noise of real machines: how often they are wrong, and how often they find what
//! is there. The noise is seeded, so the rates are the same on every machine.

use super::measure::{GraphSamples, Measured, NodeSamples};
use super::*;
use crate::plan::random::Random;

/// Noise of a machine.
struct Noise {
    random: Random,
    /// Standard deviation of the logarithm of a time.
    deviation: f64,
    /// One run in so many is an outlier, up to six times as slow.
    outlier_in: usize,
    /// What drifts: the logarithm of a factor that all measurements of a turn share, and how far a turn moves it.
    drift: f64,
    drift_step: f64,
}

impl Noise {
    fn unit(&mut self) -> f64 {
        ((self.random.bits() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// What changes from turn to turn.
    fn turn(&mut self) {
        self.drift = 0.98 * self.drift + self.drift_step * self.normal();
    }

    /// The next measurement's factor.
    fn factor(&mut self) -> f64 {
        let outlier = if self.random.below(self.outlier_in) == 0 { 1.0 + 5.0 * self.unit() } else { 1.0 };
        (self.drift + self.deviation * self.normal()).exp() * outlier
    }
}

const STAGES: [(&str, f64); 7] = [
    ("parse", 100e-6),
    ("tree", 30e-6),
    ("keys", 120e-6),
    ("order", 200e-6),
    ("size", 80e-6),
    ("layout", 6e-6),
    ("emit", 264e-6),
];

/// Two graphs of these stages, the second with its `order` longer by `slower` of the sum of all.
fn invented(noise: &mut Noise, settings: &Settings, slower: f64) -> Measured {
    let sum: f64 = STAGES.iter().map(|(_, seconds)| seconds).sum();
    let node = |(stage, _): &(&str, f64)| NodeSamples {
        node: format!("{stage}_node"),
        stage: (*stage).to_owned(),
        works: true,
        ..NodeSamples::default()
    };
    let nodes: Vec<NodeSamples> = STAGES.iter().map(node).collect();
    let stages = STAGES.map(|(stage, _)| stage.to_owned()).to_vec();
    let mut graphs = vec![GraphSamples { stages, nodes, ..GraphSamples::default() }; 2];
    for _ in 0..settings.runs / 2 {
        let first = noise.random.below(2);
        for index in [first, 1 - first, 1 - first, first] {
            noise.turn();
            let extra = if index == 1 { slower } else { 0.0 };
            let graph = &mut graphs[index];
            graph.totals.push(sum * (1.0 + extra) * noise.factor());
            for (node, (stage, seconds)) in graph.nodes.iter_mut().zip(STAGES) {
                let more = if stage == "order" { sum * extra } else { 0.0 };
                node.seconds.push(Some((seconds + more) * noise.factor()));
            }
        }
    }
    Measured { graphs, ..Measured::default() }
}

fn noise(seed: u64, deviation: f64) -> Noise {
    Noise {
        random: Random::new(seed),
        deviation,
        outlier_in: 15,
        drift: 0.0,
        drift_step: 0.3 * deviation.min(0.1),
    }
}

/// How many of 200 comparisons find any difference, and how many find the whole and `order` slower and nothing else.
fn rates(deviation: f64, slower: f64) -> (usize, usize) {
    let settings = Settings::default();
    let (mut any, mut right) = (0, 0);
    for seed in 0..200 {
        let comparison = judge(&invented(&mut noise(seed, deviation), &settings, slower), settings);
        let against = &comparison.against_baseline[0];
        let verdicts: Vec<(&str, Option<Verdict>)> = std::iter::once(&against.whole)
            .chain(&against.stages)
            .map(|row| (row.what.as_str(), row.verdict))
            .filter(|(_, verdict)| *verdict != Some(Verdict::Same))
            .collect();
        any += usize::from(!verdicts.is_empty());
        let expected = [("whole", Some(Verdict::Slower)), ("order", Some(Verdict::Slower))];
        right += usize::from(verdicts == expected && against.nodes[0].node == "order_node");
    }
    (any, right)
}

#[test]
fn a_graph_is_the_same_as_itself_in_nineteen_of_twenty_comparisons() {
    for deviation in [0.005, 0.03, 0.08, 0.2] {
        let (wrong, _) = rates(deviation, 0.0);
        assert!(wrong <= 10, "{wrong} of 200 at a deviation of {deviation}");
    }
}

#[test]
fn ten_percent_of_the_whole_are_found_in_eighteen_of_twenty_comparisons() {
    for deviation in [0.005, 0.03, 0.06] {
        let (_, found) = rates(deviation, 0.10);
        assert!(found >= 180, "{found} of 200 at a deviation of {deviation}");
    }
}

#[test]
fn what_is_not_relevant_is_the_same_however_sure_it_is() {
    let settings = Settings::default();
    let comparison = judge(&invented(&mut noise(1, 1e-4), &settings, 0.01), settings);
    let whole = &comparison.against_baseline[0].whole;
    assert_eq!((whole.verdict, whole.resolved), (Some(Verdict::Same), true));
    let ratio = whole.ratio.unwrap();
    assert!(ratio.low < 1.01 && 1.01 < ratio.high && ratio.high < 1.03, "{ratio:?}");
}

#[test]
fn too_few_runs_give_no_verdict() {
    let settings = Settings { runs: 4, ..Settings::default() };
    let comparison = judge(&invented(&mut noise(1, 0.01), &settings, 0.5), settings);
    assert_eq!(comparison.against_baseline[0].whole.verdict, None);
    assert!((5..=Settings::default().runs).contains(&fewest_runs(&comparison)));
}

#[test]
fn wrong_measurements_and_missing_stages_are_left_out() {
    let settings = Settings::default();
    let mut measured = invented(&mut noise(1, 0.01), &settings, 0.0);
    measured.graphs[1].nodes.remove(1);
    measured.graphs[1].stages.remove(1);
    for round in 0..4 {
        measured.graphs[1].nodes[0].seconds[round] = Some(-1e-6);
    }
    let comparison = judge(&measured, settings);
    let row = |what: &str| comparison.against_baseline[0].stages.iter().find(|row| row.what == what).unwrap();
    assert_eq!(row("tree").verdict, None);
    assert_eq!(row("tree").seconds, None);
    assert_eq!(row("parse").verdict, Some(Verdict::Same));
    assert_eq!(comparison.graphs[1].nodes[0].invalid, 4);
    assert_eq!(comparison.graphs[1].stages[0].seconds.unwrap().runs, settings.runs - 4);
}
