//! Runs graphs interleaved and keeps every time. What the times say is for [`judge`](super::judge).
//!
//! All graphs run on one backend and share its memory, so that where a buffer happens to lie favours nobody. Whenever a graph
//! takes its turn it runs three times: once unmeasured, so that bindings are made and caches and clocks are as its own work
//! leaves them; once for the total; once with every node timed.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::plan::random::Random;
use crate::run::{Backend, Options, Outcome, Program, RunError, Times, Timing, run};

use super::super::stages;
use super::{InputReport, Settings};

/// A graph that takes part.
pub struct Contender<'p> {
    /// What the caller calls it.
    pub label: String,
    /// The graph, planned for the backend.
    pub program: &'p Program,
    /// Names and bytes of its inputs.
    pub inputs: Vec<(&'p str, &'p [u8])>,
}

/// Why a comparison ended.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// A run stopped.
    #[error("{label}: {error}")]
    Run {
        /// The graph.
        label: String,
        /// Why.
        error: Box<RunError>,
    },
    /// Two graphs do not do the same.
    #[error("{label} does not give what {baseline} gives: {what}")]
    Differs {
        /// The graph.
        label: String,
        /// The first graph.
        baseline: String,
        /// The first difference.
        what: String,
    },
}

/// Everything that was measured.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// What ran the graphs.
    pub backend: String,
    /// The inputs of the first graph.
    pub inputs: Vec<InputReport>,
    /// One for each contender.
    pub graphs: Vec<GraphSamples>,
    /// Why nodes have no times, if they have none.
    pub untimed: Option<String>,
}

/// What a graph is and what it took once.
#[derive(Clone, Debug, Default, Serialize)]
pub struct GraphFacts {
    /// What the caller calls it.
    pub label: String,
    /// Its name.
    pub graph: String,
    /// Its identity.
    pub identity: String,
    /// Numbers of its symbols.
    pub symbols: Vec<(String, u64)>,
    /// Numbers of its counts.
    pub counts: Vec<(String, u64)>,
    /// The plan's bytes of all arenas.
    pub planned_peak_bytes: u64,
    /// The lower bound of that.
    pub planned_bound_bytes: u64,
    /// Bytes of arenas that the backend made for it alone.
    pub measured_peak_bytes: u64,
    /// Bytes of its outputs, which are those of all the graphs.
    pub output_bytes: u64,
    /// Its first run, with making pipelines and memory.
    pub first_seconds: f64,
}

/// What was measured of one graph.
#[derive(Clone, Debug, Default)]
pub struct GraphSamples {
    /// What it is.
    pub facts: GraphFacts,
    /// Totals, round by round.
    pub totals: Vec<f64>,
    /// Names of its stages, in the order in which they depend on one another.
    pub stages: Vec<String>,
    /// Nodes in the order in which they run.
    pub nodes: Vec<NodeSamples>,
}

/// What was measured of one node.
#[derive(Clone, Debug, Default)]
pub struct NodeSamples {
    /// Its name.
    pub node: String,
    /// Its pass.
    pub pass: String,
    /// Its stage.
    pub stage: String,
    /// Whether it has any work: a node without takes no time, which is no mistake.
    pub works: bool,
    /// Whether the host's clock measured it.
    pub host_clock: bool,
    /// Its times, round by round, as they came; none where there was none.
    pub seconds: Vec<Option<f64>>,
}

impl NodeSamples {
    /// The times that can be right.
    pub fn valid(&self) -> Vec<f64> {
        let least = if self.works { f64::MIN_POSITIVE } else { 0.0 };
        self.seconds.iter().flatten().copied().filter(|&seconds| seconds >= least).collect()
    }

    /// How many cannot.
    pub fn invalid(&self) -> usize {
        self.seconds.iter().flatten().count() - self.valid().len()
    }
}

impl GraphSamples {
    /// The sum of a stage's nodes, round by round; none in rounds in which one of them was measured wrongly.
    pub fn stage(&self, stage: &str) -> Vec<Option<f64>> {
        let nodes: Vec<&NodeSamples> = self.nodes.iter().filter(|node| node.stage == stage).collect();
        let sum = |round: usize| {
            let times = nodes.iter().map(|node| node.seconds.get(round).copied().flatten());
            let sum = times.sum::<Option<f64>>();
            let negative = nodes.iter().any(|node| node.seconds[round].is_some_and(|seconds| seconds < 0.0));
            sum.filter(|&sum| sum > 0.0 && !negative)
        };
        let rounds = nodes.iter().map(|node| node.seconds.len()).min().unwrap_or(0);
        (0..rounds).map(sum).collect()
    }
}

/// Runs the contenders as [`Settings`] say. `progress` is told after each turn how many of how many are done.
///
/// # Errors
///
/// When a run stops, or when an output of a graph is not that of the first.
pub fn measure(
    backend: &mut dyn Backend,
    contenders: &[Contender<'_>],
    settings: &Settings,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<Measured, CompareError> {
    let mut race = Race { backend, contenders, expected: BTreeMap::new(), untimed: None };
    let mut graphs = Vec::with_capacity(contenders.len());
    for contender in contenders {
        graphs.push(race.enter(contender)?);
    }
    let blocks = settings.runs.max(2).div_ceil(2);
    let turns = 2 * blocks * contenders.len();
    let mut random = Random::new(settings.seed);
    let mut done = 0;
    for _ in 0..blocks {
        let order = shuffled(contenders.len(), &mut random);
        for &index in order.iter().chain(order.iter().rev()) {
            race.turn(&contenders[index], &mut graphs[index])?;
            done += 1;
            progress(done, turns);
        }
    }
    let inputs = contenders.first().map_or(&[][..], |contender| &contender.inputs);
    let input = |(name, bytes): &(&str, &[u8])| InputReport {
        name: (*name).to_owned(),
        bytes: bytes.len() as u64,
        crc32c: crc32c::crc32c(bytes),
    };
    let inputs = inputs.iter().map(input).collect();
    Ok(Measured { backend: race.backend.name(), inputs, graphs, untimed: race.untimed })
}

/// A permutation (Fisher and Yates).
fn shuffled(len: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    for last in (1..len).rev() {
        order.swap(last, random.below(last + 1));
    }
    order
}

struct Race<'r, 'p> {
    backend: &'r mut dyn Backend,
    contenders: &'r [Contender<'p>],
    /// The outputs of the first graph.
    expected: BTreeMap<String, Vec<u8>>,
    untimed: Option<String>,
}

impl Race<'_, '_> {
    /// Makes a graph ready, in memory of its own, and sees what it is.
    fn enter(&mut self, contender: &Contender<'_>) -> Result<GraphSamples, CompareError> {
        self.backend.trim();
        let program = contender.program;
        let outcome = self.outcome(contender, Timing::None)?;
        let arena_bytes = self.backend.arena_bytes();
        if self.expected.is_empty() {
            let outputs = outcome.outputs().map(|output| (output.name.to_owned(), output.bytes.to_vec()));
            self.expected = outputs.collect();
        }
        self.compare(contender, &outcome)?;
        let node = |&id| {
            let node = program.node(id);
            let work = program.work(id, &outcome.counts);
            let work = work
                .map_err(|error| CompareError::Run { label: contender.label.clone(), error: error.into() })?;
            Ok(NodeSamples {
                node: node.name.clone(),
                pass: node.pass.name().to_owned(),
                stage: node.stage().to_owned(),
                works: work.groups > 0,
                ..NodeSamples::default()
            })
        };
        let symbols = program.plan.symbols.iter().map(|(name, &number)| (name.clone(), number));
        let facts = GraphFacts {
            label: contender.label.clone(),
            graph: program.graph.name.clone(),
            identity: program.graph.identity.clone(),
            symbols: symbols.collect(),
            counts: outcome.counts.clone(),
            planned_peak_bytes: program.plan.peak_bytes,
            planned_bound_bytes: program.plan.bound_bytes,
            measured_peak_bytes: arena_bytes,
            output_bytes: outcome.outputs().map(|output| output.bytes.len() as u64).sum(),
            first_seconds: outcome.times.with_preparation_seconds(),
        };
        Ok(GraphSamples {
            facts,
            totals: Vec::new(),
            stages: stages::names(&program.graph).into_iter().map(str::to_owned).collect(),
            nodes: program.plan.order.iter().map(node).collect::<Result<_, CompareError>>()?,
        })
    }

    fn turn(&mut self, contender: &Contender<'_>, samples: &mut GraphSamples) -> Result<(), CompareError> {
        self.checked(contender, Timing::None)?;
        let total = self.checked(contender, Timing::None)?;
        samples.totals.push(total.total_seconds);
        let timed = self.checked(contender, Timing::Nodes)?;
        for (&id, node) in contender.program.plan.order.iter().zip(&mut samples.nodes) {
            let time = timed.nodes.iter().find(|time| time.node == id);
            let nothing = (!node.works && timed.untimed.is_none()).then_some(0.0);
            node.seconds.push(time.map(|time| time.seconds).or(nothing));
            node.host_clock |= time.is_some_and(|time| time.host_clock);
        }
        self.untimed = self.untimed.take().or(timed.untimed);
        Ok(())
    }

    /// One run whose outputs are compared.
    fn checked(&mut self, contender: &Contender<'_>, timing: Timing) -> Result<Times, CompareError> {
        let outcome = self.outcome(contender, timing)?;
        self.compare(contender, &outcome)?;
        Ok(outcome.times)
    }

    fn outcome(&mut self, contender: &Contender<'_>, timing: Timing) -> Result<Outcome, CompareError> {
        let options = Options { timing, ..Options::default() };
        run(contender.program, self.backend, &contender.inputs, options)
            .map_err(|error| CompareError::Run { label: contender.label.clone(), error: error.into() })
    }

    fn compare(&self, contender: &Contender<'_>, outcome: &Outcome) -> Result<(), CompareError> {
        let differs = |what: String| CompareError::Differs {
            label: contender.label.clone(),
            baseline: self.contenders[0].label.clone(),
            what,
        };
        for (name, expected) in &self.expected {
            let bytes = outcome.output(name).ok_or_else(|| differs(format!("it has no output `{name}`")))?;
            if let Some(at) = first_difference(bytes, expected) {
                return Err(differs(format!("output `{name}` differs from byte {at} on")));
            }
        }
        match outcome.outputs().find(|output| !self.expected.contains_key(output.name)) {
            Some(output) => Err(differs(format!("only it has an output `{}`", output.name))),
            None => Ok(()),
        }
    }
}

fn first_difference(bytes: &[u8], expected: &[u8]) -> Option<usize> {
    if bytes == expected {
        return None;
    }
    let differing = bytes.iter().zip(expected).position(|(one, other)| one != other);
    Some(differing.unwrap_or(bytes.len().min(expected.len())))
}
