//! A comparison of graphs that do the same job: which is faster, where, and whether that is more than noise.
//!
//! [`measure`](measure::measure) runs the graphs interleaved; [`judge`] turns what it measured into a [`Comparison`]. How
//! verdicts come about:
//!
//! * Runs come in *blocks*: every graph once in a random order, then every graph once in the reverse of it. A block gives one
//!   number a graph, the logarithm of the faster of its two times: what disturbs a run only ever makes it slower, and rarely
//!   disturbs both. What drifts slowly moves all graphs of a block alike, and the random order makes what is left of it, and
//!   of who ran before whom, fall on either side.
//! * The differences to the baseline, block by block, give an estimate and an interval by ranks ([`paired`]).
//! * Half of the error probability is for totals and half for stages, each divided by the number of their intervals
//!   (Bonferroni), so that all of them hold at once with the probability that was asked for.
//! * A verdict is FASTER or SLOWER only where the whole interval lies beyond what is *relevant*: a part of the row's own
//!   time, and, for stages, a part of the whole. A real but tiny difference is SAME; a large difference that noise could have
//!   made is SAME too, and marked as not resolved.
//!
//! Totals come from runs in which nothing is measured inside, stages and nodes from others.

pub mod measure;
pub mod paired;

use serde::Serialize;

use super::stats::Stats;
use measure::{GraphFacts, Measured, NodeSamples};

/// How to compare.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Settings {
    /// Measured runs of each graph of either kind: for totals, and as many for nodes. Rounded up to an even number.
    pub runs: usize,
    /// Seed of the order of runs.
    pub seed: u64,
    /// The probability that any interval of the comparison misses what it is about.
    pub error: f64,
    /// Differences up to this part of a row's time are not relevant.
    pub relevant: f64,
    /// Differences of a stage up to this part of the sum of all stages are not relevant.
    pub relevant_of_whole: f64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { runs: 60, seed: 1, error: 0.05, relevant: 0.03, relevant_of_whole: 0.005 }
    }
}

/// What a comparison found about a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Verdict {
    /// Relevantly faster than the baseline.
    Faster,
    /// Not shown to differ relevantly.
    Same,
    /// Relevantly slower than the baseline.
    Slower,
}

impl Verdict {
    /// As tables write it.
    pub fn text(self) -> &'static str {
        match self {
            Verdict::Faster => "FASTER",
            Verdict::Same => "SAME",
            Verdict::Slower => "SLOWER",
        }
    }
}

/// A whole comparison. Seconds throughout; ratios are of a graph's time to the baseline's.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// What ran the graphs.
    pub backend: String,
    /// How it was done.
    pub settings: Settings,
    /// Blocks of two runs of each graph.
    pub blocks: usize,
    /// Intervals of all stages, which share half of the error probability.
    pub stage_intervals: usize,
    /// The error probability of an interval of a stage.
    pub stage_error: f64,
    /// The error probability of an interval of a whole.
    pub whole_error: f64,
    /// Name, bytes and CRC-32C of every input.
    pub inputs: Vec<InputReport>,
    /// The graphs; the first is the baseline.
    pub graphs: Vec<GraphReport>,
    /// The other graphs against the baseline.
    pub against_baseline: Vec<Against>,
    /// Why there are no stages and nodes, if there are none.
    pub untimed: Option<String>,
}

/// An input of all graphs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputReport {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Its CRC-32C.
    pub crc32c: u32,
}

/// One of the graphs.
#[derive(Clone, Debug, Serialize)]
pub struct GraphReport {
    /// What it is and what it took once.
    #[serde(flatten)]
    pub facts: GraphFacts,
    /// From the first upload to the last byte of output.
    pub total_seconds: Stats,
    /// Every measured total, in the order of blocks.
    pub totals: Vec<f64>,
    /// Its stages, in the order in which they depend on one another.
    pub stages: Vec<StageReport>,
    /// Its nodes, in the order in which they run.
    pub nodes: Vec<NodeReport>,
}

/// A stage of one graph.
#[derive(Clone, Debug, Serialize)]
pub struct StageReport {
    /// Its name.
    pub stage: String,
    /// The sum of its nodes, run by run.
    pub seconds: Option<Stats>,
}

/// A node of one graph.
#[derive(Clone, Debug, Serialize)]
pub struct NodeReport {
    /// Its name.
    pub node: String,
    /// Its pass.
    pub pass: String,
    /// Its stage.
    pub stage: String,
    /// Whether the host's clock measured it.
    pub host_clock: bool,
    /// Its times.
    pub seconds: Option<Stats>,
    /// Measurements that were negative, or zero although there was work, which are left out.
    pub invalid: usize,
}

/// A graph against the baseline.
#[derive(Clone, Debug, Serialize)]
pub struct Against {
    /// The graph's label.
    pub label: String,
    /// The totals.
    pub whole: Difference,
    /// Stages of either, in the order of the baseline.
    pub stages: Vec<Difference>,
    /// Nodes whose medians differ by more than is relevant for a stage, those that differ most first.
    pub nodes: Vec<NodeDifference>,
}

/// A row of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// `whole`, or the stage.
    pub what: String,
    /// The baseline's median; none if it has no such stage.
    pub baseline_seconds: Option<f64>,
    /// The graph's median; none if it has no such stage.
    pub seconds: Option<f64>,
    /// Estimate and ends of the interval; none where a side is missing.
    pub ratio: Option<Ratio>,
    /// The ratio that the whole interval has to lie beyond, or below the inverse of, for a verdict.
    pub threshold: f64,
    /// None where a side is missing or too little was measured.
    pub verdict: Option<Verdict>,
    /// Whether the interval excludes relevant differences, or all others.
    pub resolved: bool,
}

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    /// The estimate.
    pub estimate: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A node that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeDifference {
    /// Its name, in the graph or, if it has no such node, in the baseline.
    pub node: String,
    /// Its pass.
    pub pass: String,
    /// Its stage.
    pub stage: String,
    /// The baseline's median; 0 if it has no such node.
    pub baseline_seconds: f64,
    /// The graph's median; 0 if it has no such node.
    pub seconds: f64,
}

impl NodeDifference {
    /// How much longer it takes in the graph.
    pub fn more_seconds(&self) -> f64 {
        self.seconds - self.baseline_seconds
    }
}

/// The fewest runs with which every interval of a comparison can be as sure as its settings ask for.
pub fn fewest_runs(comparison: &Comparison) -> usize {
    2 * paired::fewest(comparison.stage_error.min(comparison.whole_error))
}

/// Judges what was measured; the first graph is the baseline.
pub fn judge(measured: &Measured, settings: Settings) -> Comparison {
    let graphs: Vec<GraphReport> = measured.graphs.iter().map(report).collect();
    let rows = |graph: &measure::GraphSamples| stage_names(&measured.graphs[0], graph).len();
    let stage_intervals: usize = measured.graphs.iter().skip(1).map(rows).sum();
    let half = settings.error / 2.0;
    let whole_error = half / (graphs.len() - 1).max(1) as f64;
    let stage_error = half / stage_intervals.max(1) as f64;
    let judge = Judge { measured, settings, whole_error, stage_error };
    Comparison {
        backend: measured.backend.clone(),
        settings,
        blocks: measured.graphs[0].totals.len() / 2,
        stage_intervals,
        stage_error,
        whole_error,
        inputs: measured.inputs.clone(),
        against_baseline: (1..graphs.len()).map(|graph| judge.against(graph)).collect(),
        graphs,
        untimed: measured.untimed.clone(),
    }
}

/// The stages of both, in the order of the first and then of the second.
fn stage_names<'m>(baseline: &'m measure::GraphSamples, other: &'m measure::GraphSamples) -> Vec<&'m str> {
    let mut names: Vec<&str> = Vec::new();
    for stage in baseline.stages.iter().chain(&other.stages) {
        if !names.contains(&stage.as_str()) {
            names.push(stage);
        }
    }
    names
}

fn report(graph: &measure::GraphSamples) -> GraphReport {
    let stage = |name: &str| StageReport {
        stage: name.to_owned(),
        seconds: Stats::of(&graph.stage(name).into_iter().flatten().collect::<Vec<_>>()),
    };
    let node = |node: &NodeSamples| NodeReport {
        node: node.node.clone(),
        pass: node.pass.clone(),
        stage: node.stage.clone(),
        host_clock: node.host_clock,
        seconds: Stats::of(&node.valid()),
        invalid: node.invalid(),
    };
    GraphReport {
        facts: graph.facts.clone(),
        total_seconds: Stats::of(&graph.totals).expect("there was at least one run"),
        totals: graph.totals.clone(),
        stages: graph.stages.iter().map(|name| stage(name)).collect(),
        nodes: graph.nodes.iter().map(node).collect(),
    }
}

struct Judge<'m> {
    measured: &'m Measured,
    settings: Settings,
    whole_error: f64,
    stage_error: f64,
}

impl Judge<'_> {
    fn against(&self, index: usize) -> Against {
        let (baseline, graph) = (&self.measured.graphs[0], &self.measured.graphs[index]);
        let some = |totals: &[f64]| totals.iter().copied().map(Some).collect::<Vec<_>>();
        let names = stage_names(baseline, graph);
        let median = |graph: &measure::GraphSamples, name: &str| median(&graph.stage(name)).unwrap_or(0.0);
        let all_stages: f64 = names.iter().map(|name| median(baseline, name)).sum();
        let floor_seconds = self.settings.relevant_of_whole * all_stages;
        let stage = |name: &str| {
            let seconds = median(baseline, name);
            let part = if seconds > 0.0 { floor_seconds / seconds } else { 0.0 };
            let threshold = 1.0 + self.settings.relevant.max(part);
            difference(name, &baseline.stage(name), &graph.stage(name), threshold, self.stage_error)
        };
        Against {
            label: graph.facts.label.clone(),
            whole: difference(
                "whole",
                &some(&baseline.totals),
                &some(&graph.totals),
                1.0 + self.settings.relevant,
                self.whole_error,
            ),
            stages: names.iter().map(|name| stage(name)).collect(),
            nodes: node_differences(baseline, graph, floor_seconds),
        }
    }
}

fn difference(
    what: &str,
    baseline: &[Option<f64>],
    graph: &[Option<f64>],
    threshold: f64,
    error: f64,
) -> Difference {
    let differences = block_differences(baseline, graph);
    let found = paired::interval(&differences, error);
    let relevant = threshold.ln();
    let verdict = found.map(|found| {
        if found.low > relevant {
            Verdict::Slower
        } else if found.high < -relevant {
            Verdict::Faster
        } else {
            Verdict::Same
        }
    });
    let inside = found.is_some_and(|found| found.low >= -relevant && found.high <= relevant);
    Difference {
        what: what.to_owned(),
        baseline_seconds: median(baseline),
        seconds: median(graph),
        ratio: found.map(|found| Ratio {
            estimate: found.centre.exp(),
            low: found.low.exp(),
            high: found.high.exp(),
        }),
        threshold,
        verdict,
        resolved: inside || verdict.is_some_and(|verdict| verdict != Verdict::Same),
    }
}

fn median(times: &[Option<f64>]) -> Option<f64> {
    Stats::of(&times.iter().flatten().copied().collect::<Vec<_>>()).map(|stats| stats.median)
}

/// The difference of logarithms of the faster runs, in each block of two runs in which all four times are there.
fn block_differences(baseline: &[Option<f64>], graph: &[Option<f64>]) -> Vec<f64> {
    let faster = |block: &[Option<f64>]| match block {
        [Some(first), Some(second)] => Some(first.min(*second).ln()),
        _ => None,
    };
    let blocks = baseline.chunks(2).zip(graph.chunks(2));
    blocks.filter_map(|(baseline, graph)| Some(faster(graph)? - faster(baseline)?)).collect()
}

/// Nodes whose medians differ by more than `floor_seconds`, those that differ most first.
fn node_differences(
    baseline: &measure::GraphSamples,
    graph: &measure::GraphSamples,
    floor_seconds: f64,
) -> Vec<NodeDifference> {
    let seconds = |node: Option<&NodeSamples>| {
        node.and_then(|node| Stats::of(&node.valid())).map_or(0.0, |stats| stats.median)
    };
    let named =
        |graph: &'_ measure::GraphSamples, name: &str| graph.nodes.iter().position(|node| node.node == name);
    let in_graph = graph
        .nodes
        .iter()
        .map(|node| (named(baseline, &node.node).map(|at| &baseline.nodes[at]), Some(node)));
    let gone = baseline
        .nodes
        .iter()
        .filter(|node| named(graph, &node.node).is_none())
        .map(|node| (Some(node), None));
    let mut differences: Vec<NodeDifference> = in_graph
        .chain(gone)
        .filter_map(|(before, after)| {
            let node = after.or(before)?;
            Some(NodeDifference {
                node: node.node.clone(),
                pass: node.pass.clone(),
                stage: node.stage.clone(),
                baseline_seconds: seconds(before),
                seconds: seconds(after),
            })
        })
        .filter(|difference| difference.more_seconds().abs() > floor_seconds)
        .collect();
    differences.sort_by(|a, b| b.more_seconds().abs().total_cmp(&a.more_seconds().abs()));
    differences
}

#[cfg(test)]
mod tests;
