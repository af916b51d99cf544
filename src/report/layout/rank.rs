//! Chooses the layer of every box: each arrow runs down by at least one layer, segments follow one another, frames are
//! low, and the arrows are short in all.

use std::collections::HashMap;

use super::simplex::{Circular, Constraint, solve};
use crate::report::diagram::{Diagram, DiagramError};

/// A frame: the boxes that share a cluster path.
#[derive(Clone, Debug)]
pub(super) struct FrameRank {
    /// The last name of the path.
    pub name: String,
    /// The frame it lies in; 0 is the whole drawing.
    pub parent: usize,
    /// How many frames it lies in.
    pub depth: usize,
    /// First and last layer of its boxes.
    pub span: (usize, usize),
}

/// Layers.
#[derive(Debug)]
pub(super) struct Ranks {
    /// The layer of each node.
    pub layer: Vec<usize>,
    /// The innermost frame of each node.
    pub frame: Vec<usize>,
    /// Frames, outer before inner; the first is the whole drawing.
    pub frames: Vec<FrameRank>,
    /// The first layer of each segment.
    pub segment_start: Vec<usize>,
    /// Number of layers.
    pub layers: usize,
}

/// What a frame's height costs, against 1 for each layer an arrow passes.
const FRAME_WEIGHT: i64 = 3;

pub(super) fn rank(diagram: &Diagram) -> Result<Ranks, DiagramError> {
    let (mut frames, frame) = frames(diagram);
    let nodes = diagram.nodes.len();
    let segment_at = |segment: usize| nodes + segment;
    let frame_at = |frame: usize| nodes + diagram.segments.len() + 2 * (frame - 1);
    let variables = nodes + diagram.segments.len() + 2 * (frames.len() - 1);
    let mut constraints = Vec::new();
    let mut keep = |from, to, min, weight| constraints.push(Constraint { from, to, min, weight });
    for edge in &diagram.edges {
        keep(edge.from.node, edge.to.node, 1, 1);
    }
    for segment in 1..diagram.segments.len() {
        keep(segment_at(segment - 1), segment_at(segment), 0, 1);
    }
    for (index, node) in diagram.nodes.iter().enumerate() {
        if let Some(segment) = node.segment.map(|segment| segment as usize) {
            keep(segment_at(segment), index, 0, 0);
            if segment + 1 < diagram.segments.len() {
                keep(index, segment_at(segment + 1), 1, 0);
            }
        }
        let mut within = frame[index];
        while within != 0 {
            keep(frame_at(within), index, 0, 0);
            keep(index, frame_at(within) + 1, 0, 0);
            within = frames[within].parent;
        }
    }
    for within in 1..frames.len() {
        keep(frame_at(within), frame_at(within) + 1, 0, FRAME_WEIGHT);
    }
    let x = solve(variables, &constraints).map_err(|Circular| DiagramError::Cycle)?;
    let least = x[..nodes].iter().copied().min().unwrap_or(0);
    let from_top = |x: i64| usize::try_from(x - least).unwrap_or(0);
    let layer = x[..nodes].iter().map(|&x| from_top(x)).collect::<Vec<_>>();
    span(&mut frames, &frame, &layer);
    let segment_start = (0..diagram.segments.len()).map(|segment| from_top(x[segment_at(segment)])).collect();
    let layers = layer.iter().max().map_or(0, |last| last + 1);
    Ok(Ranks { layer, frame, frames, segment_start, layers })
}

/// The frames, and the innermost one of each node.
fn frames(diagram: &Diagram) -> (Vec<FrameRank>, Vec<usize>) {
    let whole = FrameRank { name: String::new(), parent: 0, depth: 0, span: (0, 0) };
    let mut frames = vec![whole];
    let mut known: HashMap<(usize, &str), usize> = HashMap::new();
    let mut innermost = Vec::with_capacity(diagram.nodes.len());
    for node in &diagram.nodes {
        let mut at = 0;
        for (depth, name) in node.cluster.iter().enumerate() {
            at = *known.entry((at, name)).or_insert_with(|| {
                frames.push(FrameRank { name: name.clone(), parent: at, depth, span: (usize::MAX, 0) });
                frames.len() - 1
            });
        }
        innermost.push(at);
    }
    (frames, innermost)
}

fn span(frames: &mut [FrameRank], frame: &[usize], layer: &[usize]) {
    for (&innermost, &layer) in frame.iter().zip(layer) {
        let mut within = innermost;
        while within != 0 {
            let span = &mut frames[within].span;
            *span = (span.0.min(layer), span.1.max(layer));
            within = frames[within].parent;
        }
    }
}
