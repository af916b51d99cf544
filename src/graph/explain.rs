//! Why one node waits for another.

use std::collections::HashMap;
use std::fmt::Write;

use petgraph::Direction;
use petgraph::graph::NodeIndex;

use super::diagnostic::nearest;
use super::model::{Edge, Graph, NodeId, Reason, Value};

/// How many shortest chains are shown.
const CHAINS_MAX: usize = 4;

/// What holds between two nodes `a` and `b`.
#[derive(Clone, Debug)]
pub enum Explanation {
    /// `b` waits for `a`, over these edges.
    Direct(Vec<Step>),
    /// `b` waits for `a` through others: the shortest chains, up to a handful, and how many there are.
    Chains {
        /// Each from `a` to `b`, one edge a step.
        chains: Vec<Vec<Step>>,
        /// How many chains of this length there are.
        count: u64,
    },
    /// Neither waits for the other.
    Independent,
    /// It is the other way round: `a` waits for `b`.
    Reversed,
    /// They are one node.
    Same,
}

/// An edge between two nodes.
#[derive(Clone, Debug)]
pub struct Step {
    /// The node that runs first.
    pub from: NodeId,
    /// The node that waits.
    pub to: NodeId,
    /// Why, and over which value.
    pub edge: Edge,
}

/// A name that is not one of the graph's nodes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no node `{name}`{}", match .suggestion {
    Some(node) => format!("; did you mean `{node}`?"),
    None => format!("; there are: {}", .nodes.join(", ")),
})]
pub struct UnknownNode {
    /// The name.
    pub name: String,
    /// A node that is called nearly that.
    pub suggestion: Option<String>,
    /// All nodes.
    pub nodes: Vec<String>,
}

/// What an edge says, in one sentence without a full stop.
pub fn sentence(reason: Reason, from: &str, to: &str, value: &str) -> String {
    match reason {
        Reason::ReadAfterWrite => format!("`{to}` reads `{value}`, which `{from}` writes"),
        Reason::Update => format!("`{to}` updates `{value}`, which `{from}` writes"),
        Reason::WriteAfterRead => format!("`{to}` overwrites `{value}`, which `{from}` reads before"),
        Reason::Accumulate => format!("`{to}` accumulates into `{value}`, which `{from}` writes"),
        Reason::Join => format!("`{to}` reads `{value}`, of which `{from}` writes a part"),
        Reason::Await => format!("`{to}` starts when the host has read `{value}`, which `{from}` writes"),
    }
}

/// Why the node `b` waits for the node `a`.
pub fn explain(graph: &Graph, a: &str, b: &str) -> Result<Explanation, UnknownNode> {
    let (a, b) = (find(graph, a)?, find(graph, b)?);
    if a == b {
        return Ok(Explanation::Same);
    }
    let direct = steps_between(graph, a, b);
    if !direct.is_empty() {
        return Ok(Explanation::Direct(direct));
    }
    let ways = Ways::from(graph, a);
    match ways.count.get(&b) {
        Some(&count) => Ok(Explanation::Chains { chains: ways.chains(graph, b), count }),
        None if Ways::from(graph, b).count.contains_key(&a) => Ok(Explanation::Reversed),
        None => Ok(Explanation::Independent),
    }
}

fn find(graph: &Graph, name: &str) -> Result<NodeIndex, UnknownNode> {
    let position = graph.nodes.iter().position(|node| node.name == name);
    position.map(NodeIndex::new).ok_or_else(|| UnknownNode {
        name: name.to_string(),
        suggestion: nearest(name, graph.nodes.iter().map(|node| node.name.as_str())).map(str::to_string),
        nodes: graph.nodes.iter().map(|node| node.name.clone()).collect(),
    })
}

fn steps_between(graph: &Graph, from: NodeIndex, to: NodeIndex) -> Vec<Step> {
    let edges = graph.dag.edges_connecting(from, to);
    let mut steps: Vec<Step> = edges
        .map(|edge| Step { from: graph.dag[from], to: graph.dag[to], edge: edge.weight().clone() })
        .collect();
    steps.sort_by_key(|step| (step.edge.reason, step.edge.value));
    steps
}

/// The shortest ways from one node to all that wait for it.
struct Ways {
    distance: HashMap<NodeIndex, u32>,
    /// How many shortest ways there are, at most `u64::MAX`.
    count: HashMap<NodeIndex, u64>,
}

impl Ways {
    fn from(graph: &Graph, start: NodeIndex) -> Ways {
        let mut ways = Ways { distance: HashMap::from([(start, 0)]), count: HashMap::from([(start, 1)]) };
        let mut level = vec![start];
        let mut distance = 0;
        while !level.is_empty() {
            distance += 1;
            let mut next = Vec::new();
            for node in level {
                let count = ways.count[&node];
                let mut followers: Vec<NodeIndex> = graph.dag.neighbors(node).collect();
                followers.sort();
                followers.dedup();
                for follower in followers {
                    let known = *ways.distance.entry(follower).or_insert_with(|| {
                        next.push(follower);
                        distance
                    });
                    if known == distance {
                        let sum = ways.count.entry(follower).or_insert(0);
                        *sum = sum.saturating_add(count);
                    }
                }
            }
            level = next;
        }
        ways
    }

    /// A few of the shortest chains to `end`, in the order of the nodes' names in the graph.
    fn chains(&self, graph: &Graph, end: NodeIndex) -> Vec<Vec<Step>> {
        let mut open: Vec<Vec<NodeIndex>> = vec![vec![end]];
        for distance in (0..self.distance[&end]).rev() {
            let mut longer = Vec::new();
            for chain in open {
                let mut before: Vec<NodeIndex> = graph
                    .dag
                    .neighbors_directed(chain[chain.len() - 1], Direction::Incoming)
                    .filter(|node| self.distance.get(node) == Some(&distance))
                    .collect();
                before.sort();
                before.dedup();
                for node in before {
                    if longer.len() < CHAINS_MAX {
                        longer.push(chain.iter().copied().chain([node]).collect());
                    }
                }
            }
            open = longer;
        }
        let step = |pair: &[NodeIndex]| steps_between(graph, pair[1], pair[0]).into_iter().next();
        open.iter().map(|chain| chain.windows(2).rev().filter_map(step).collect()).collect()
    }
}

impl Explanation {
    /// The text that people see, ending in a newline.
    pub fn text(&self, graph: &Graph, a: &str, b: &str) -> String {
        let mut text = String::new();
        match self {
            Explanation::Same => text.push_str("they are one node\n"),
            Explanation::Independent => {
                let _ = writeln!(text, "`{a}` and `{b}` are independent: either may run first");
            }
            Explanation::Reversed => {
                let _ = writeln!(text, "`{b}` does not wait for `{a}`: it is `{a}` that waits for `{b}`");
            }
            Explanation::Direct(steps) => {
                let _ = writeln!(text, "`{b}` waits for `{a}`:");
                write_steps(&mut text, graph, steps);
            }
            Explanation::Chains { chains, count } => {
                for (index, chain) in chains.iter().enumerate() {
                    let _ = match index {
                        0 => writeln!(text, "`{b}` waits for `{a}` through others:"),
                        _ => writeln!(text, "and through"),
                    };
                    write_steps(&mut text, graph, chain);
                }
                let shown = chains.len() as u64;
                if *count > shown {
                    let _ = writeln!(text, "and through {} other chains of this length", count - shown);
                }
            }
        }
        text
    }
}

fn write_steps(text: &mut String, graph: &Graph, steps: &[Step]) {
    for step in steps {
        let value = &graph.values[step.edge.value.0 as usize];
        let name = |node: NodeId| graph.nodes[node.0 as usize].name.as_str();
        let why = sentence(step.edge.reason, name(step.from), name(step.to), &value.name);
        let _ = writeln!(text, "  {why} ({})", size(value));
    }
}

fn size(value: &Value) -> String {
    match value.len.constant() {
        Some(1) => format!("1 element of `{}`", value.element.name),
        _ => format!("`{}` elements of `{}`", value.len, value.element.name),
    }
}
