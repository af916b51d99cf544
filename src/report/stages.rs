//! What the stages of a graph take of memory, by its plan.
//!
//! A stage is a set of nodes under one label of the graph file. The bytes it makes are those of the buffers whose first
//! version its nodes write, each at the most elements it can have and without padding, so that they can be held against
//! formulas. Knows no devices and no times.

use petgraph::Direction;
use serde::Serialize;

use crate::graph::expr::EvalError;
use crate::graph::model::{BufferId, Graph};
use crate::plan::Plan;

/// What one stage takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// Its nodes, in the order in which they run.
    pub nodes: Vec<String>,
    /// Bytes of all that its nodes make.
    pub made_bytes: u64,
    /// The most of these that are live at one of its nodes.
    pub own_peak_bytes: u64,
    /// The most bytes live at one of its nodes, whoever made them.
    pub live_peak_bytes: u64,
    /// The node at which that is.
    pub peak_node: String,
}

/// The stages of a planned graph, in the order of [`names`].
///
/// # Errors
/// When a length has no number; a plan for the same graph excludes that.
pub fn stages(graph: &Graph, plan: &Plan) -> Result<Vec<Stage>, EvalError> {
    let sizes: Vec<u64> = (0..graph.buffers.len())
        .map(|buffer| bytes(graph, plan, BufferId(buffer as u32)))
        .collect::<Result<_, _>>()?;
    let makers: Vec<Option<&str>> = (0..graph.buffers.len()).map(|buffer| maker(graph, buffer)).collect();
    let live = |position: usize, of: Option<&str>| {
        let slots = plan.slots.iter().enumerate();
        let live = slots.filter(|(_, slot)| (slot.first..=slot.last).contains(&position));
        live.filter(|(buffer, _)| of.is_none() || makers[*buffer] == of)
            .map(|(buffer, _)| sizes[buffer])
            .sum::<u64>()
    };
    let mut stages: Vec<Stage> = Vec::new();
    for (position, &id) in plan.order.iter().enumerate() {
        let node = &graph.nodes[id.0 as usize];
        let known = stages.iter().position(|stage| stage.name == node.stage());
        let index = known.unwrap_or(stages.len());
        if known.is_none() {
            let made = sizes.iter().zip(&makers).filter(|(_, maker)| **maker == Some(node.stage()));
            stages.push(Stage {
                name: node.stage().to_owned(),
                nodes: Vec::new(),
                made_bytes: made.map(|(bytes, _)| bytes).sum(),
                own_peak_bytes: 0,
                live_peak_bytes: 0,
                peak_node: String::new(),
            });
        }
        let stage = &mut stages[index];
        stage.nodes.push(node.name.clone());
        stage.own_peak_bytes = stage.own_peak_bytes.max(live(position, Some(node.stage())));
        let all = live(position, None);
        if all > stage.live_peak_bytes || stage.peak_node.is_empty() {
            stage.live_peak_bytes = all;
            stage.peak_node.clone_from(&node.name);
        }
    }
    let names = names(graph);
    stages.sort_by_key(|stage| names.iter().position(|name| *name == stage.name));
    Ok(stages)
}

/// Names of a graph's stages in the order in which they depend on one another: by the fewest nodes that a node of theirs has
/// in a row before it, where nodes that wait for nothing, such as clears, only count if there are no others.
pub fn names(graph: &Graph) -> Vec<&str> {
    let mut depths = vec![0_usize; graph.nodes.len()];
    // Nodes are in topological order.
    for index in 0..graph.nodes.len() {
        let before = graph.dag.node_indices().filter(|&at| graph.dag[at].0 as usize == index);
        let before = before.flat_map(|at| graph.dag.neighbors_directed(at, Direction::Incoming));
        depths[index] = before.map(|at| depths[graph.dag[at].0 as usize] + 1).max().unwrap_or(0);
    }
    let mut first: Vec<(&str, usize)> = Vec::new();
    for (node, depth) in graph.nodes.iter().zip(depths) {
        match first.iter_mut().find(|(stage, _)| *stage == node.stage()) {
            Some((_, least)) if *least == 0 || (depth > 0 && depth < *least) => *least = depth,
            Some(_) => {}
            None => first.push((node.stage(), depth)),
        }
    }
    first.sort_by_key(|(_, depth)| *depth);
    first.into_iter().map(|(stage, _)| stage).collect()
}

/// The stage that makes a buffer: that of the first node that writes its first version. None for inputs and constants.
fn maker(graph: &Graph, buffer: usize) -> Option<&str> {
    let first = graph.buffers[buffer].versions.first()?;
    let writer = graph.values[first.0 as usize].writers().iter().min()?;
    Some(graph.nodes[writer.0 as usize].stage())
}

/// The most bytes a buffer's versions can have.
fn bytes(graph: &Graph, plan: &Plan, buffer: BufferId) -> Result<u64, EvalError> {
    let mut largest = 0;
    for version in &graph.buffers[buffer.0 as usize].versions {
        let value = &graph.values[version.0 as usize];
        let elements = graph.at_most(&value.len).eval(&|name| plan.symbols.get(name).copied())?;
        largest = largest.max(elements.saturating_mul(value.element.layout.stride_bytes()));
    }
    Ok(largest)
}
