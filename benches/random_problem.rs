//! Random planning problems with the shape of compute pipelines: log-normal sizes, exponential lifetimes, nodes that
//! read several buffers and write one to three, updates in place, words of four bytes, inputs, results and segments.
//! The same seed gives the same problem on every machine.

use weft::plan::problem::{Buffer, Limits, Mode, Node, Problem, Use};
use weft::plan::random::Random;

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Fewest and most buffers.
    pub buffers: (usize, usize),
    /// Median size, in bytes.
    pub median_bytes: u32,
    /// Standard deviation of the logarithm of a size.
    pub size_deviation: f64,
    /// Mean number of nodes from a buffer's writer to its last reader, less one.
    pub mean_life_nodes: f64,
}

impl Default for Shape {
    fn default() -> Self {
        Self { buffers: (8, 80), median_bytes: 1 << 20, size_deviation: 1.5, mean_life_nodes: 4.0 }
    }
}

/// The limits all random problems use: a desktop GPU's.
pub const LIMITS: Limits =
    Limits { offset_alignment_bytes: 256, max_binding_bytes: 1 << 40, max_buffer_bytes: 1 << 40 };

/// The problem of a seed.
pub fn random_problem(seed: u64, shape: Shape) -> Problem {
    let mut draw = Draw { random: Random::new(seed), shape };
    let (fewest, most) = shape.buffers;
    let buffers = fewest + draw.random.below(most - fewest + 1);
    let mut growing =
        Growing { last_writer: Vec::new(), readers: Vec::new(), due: Vec::new(), problem: empty() };
    for index in 0..1 + draw.random.below(6.min(buffers - 1)) {
        growing.buffer(&mut draw, format!("input{index}"), Some(0));
    }
    while growing.problem.buffers.len() < buffers {
        growing.node(&mut draw, buffers);
    }
    growing.finish(&mut draw)
}

fn empty() -> Problem {
    Problem { nodes: Vec::new(), buffers: Vec::new(), limits: LIMITS, may_widen: false }
}

struct Draw {
    random: Random,
    shape: Shape,
}

impl Draw {
    /// In (0, 1].
    fn unit(&mut self) -> f64 {
        ((self.random.bits() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.unit() <= probability
    }

    /// Log-normal, by the method of Box and Muller; one in seven is a single word.
    fn size_bytes(&mut self) -> u64 {
        if self.chance(1.0 / 7.0) {
            return 4;
        }
        let normal = (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos();
        let elements =
            (f64::from(self.shape.median_bytes / 4) * (self.shape.size_deviation * normal).exp()) as u64;
        4 * elements.max(1)
    }

    fn life_nodes(&mut self) -> usize {
        1 + (-self.shape.mean_life_nodes * self.unit().ln()) as usize
    }
}

/// A problem to which nodes are added one after another.
struct Growing {
    problem: Problem,
    last_writer: Vec<Option<usize>>,
    readers: Vec<Vec<usize>>,
    /// The node that reads each buffer last.
    due: Vec<usize>,
}

impl Growing {
    fn buffer(&mut self, draw: &mut Draw, name: String, filled_before: Option<u32>) -> usize {
        let node = self.problem.nodes.len();
        let size_bytes = draw.size_bytes();
        self.problem.buffers.push(Buffer {
            name,
            size_bytes,
            filled_before,
            read_after: None,
            dedicated: false,
        });
        self.last_writer.push(None);
        self.readers.push(Vec::new());
        // An input is due some nodes after the first, a written buffer some nodes after its writer.
        self.due.push(node + draw.life_nodes());
        self.due.len() - 1
    }

    fn node(&mut self, draw: &mut Draw, most_buffers: usize) {
        let index = self.problem.nodes.len();
        let segment = self.problem.nodes.last().map_or(0, |node| node.segment);
        let segment = segment + u32::from(index > 0 && draw.chance(0.02));
        let mut node = Node {
            name: format!("node{index}"),
            segment,
            after: Vec::new(),
            uses: Vec::new(),
            dispatch: true,
        };
        let existing = self.problem.buffers.len();
        let live: Vec<usize> = (0..existing).filter(|&buffer| self.due[buffer] >= index).collect();
        for &buffer in &live {
            let due = self.due[buffer] == index;
            if due || draw.chance(0.2) {
                let mode = if draw.chance(0.1) { Mode::Write } else { Mode::Read };
                self.bind(&mut node, index, buffer, mode);
            }
        }
        if node.uses.is_empty() {
            let buffer = live.last().copied().unwrap_or_else(|| draw.random.below(existing));
            self.bind(&mut node, index, buffer, Mode::Read);
        }
        let outputs = if draw.chance(0.6) { 1 } else { 2 + draw.random.below(2) };
        for output in 0..outputs.min(most_buffers - existing) {
            let buffer = self.buffer(draw, format!("node{index}.out{output}"), None);
            self.bind(&mut node, index, buffer, Mode::Write);
        }
        node.after.sort_unstable();
        node.after.dedup();
        self.problem.nodes.push(node);
    }

    fn bind(&mut self, node: &mut Node, index: usize, buffer: usize, mode: Mode) {
        node.uses.push(Use { buffer, mode });
        node.after.extend(self.last_writer[buffer]);
        match mode {
            Mode::Read => self.readers[buffer].push(index),
            Mode::Write => {
                node.after.append(&mut self.readers[buffer]);
                self.last_writer[buffer] = Some(index);
            }
        }
    }

    /// The last node takes what is still due; one to three of the last buffers are results.
    fn finish(mut self, draw: &mut Draw) -> Problem {
        let index = self.problem.nodes.len();
        let segment = self.problem.nodes.last().map_or(0, |node| node.segment);
        let results = 1 + draw.random.below(3);
        let first_result = self.problem.buffers.len().saturating_sub(results);
        let mut node =
            Node { name: "last".into(), segment, after: Vec::new(), uses: Vec::new(), dispatch: true };
        for buffer in 0..first_result {
            if self.due[buffer] >= index && draw.chance(0.5) {
                self.bind(&mut node, index, buffer, Mode::Read);
            }
        }
        for buffer in first_result..self.problem.buffers.len() {
            self.problem.buffers[buffer].read_after = Some(segment);
        }
        let buffer = self.buffer(draw, "last.out".into(), None);
        self.bind(&mut node, index, buffer, Mode::Write);
        self.problem.buffers[buffer].read_after = Some(segment);
        node.after.sort_unstable();
        node.after.dedup();
        self.problem.nodes.push(node);
        self.problem
    }
}
