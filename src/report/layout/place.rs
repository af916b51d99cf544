//! Chooses horizontal places: boxes and trunks keep their order and distance, frames enclose what is theirs and nothing
//! else, and the arrows run as straight down as possible.
//!
//! A trunk that passes several layers is one variable, so that it is straight, unless it crosses a longer one or the
//! side of a frame on the way. The rest is a network simplex over the distances that arrows run sideways (Gansner et
//! al. 1993, section 4.2).

use std::collections::HashSet;

use super::order::{Layered, What};
use super::shape::{Role, Shape};
use super::simplex::{Circular, Constraint, solve};
use crate::report::diagram::DiagramError;

/// Horizontal places.
#[derive(Debug)]
pub(super) struct Columns {
    /// Left edge of each box, place of each trunk vertex.
    pub vertex: Vec<i64>,
    /// Left and right edge of each frame; the first is unused.
    pub frames: Vec<(i64, i64)>,
}

const BOX_GAP: i64 = 30;
const BOX_TRUNK_GAP: i64 = 16;
const TRUNK_GAP: i64 = 12;
/// Between a frame and what is in it.
const FRAME_PAD: i64 = 16;
/// Between a frame and what is beside it.
const FRAME_GAP: i64 = 18;

/// What a pixel sideways costs: an arrow between boxes, one that enters or leaves a trunk, one along a trunk.
const DIRECT_WEIGHT: i64 = 3;
const END_WEIGHT: i64 = 2;
const TRUNK_WEIGHT: i64 = 8;
/// What a pixel of a frame's width costs.
const FRAME_WEIGHT: i64 = 1;

/// Rounds after the first, in which the weights favour what is nearly straight.
const REFINEMENTS: usize = 2;

pub(super) fn place(layered: &Layered, shapes: &[Shape]) -> Result<Columns, DiagramError> {
    let variables = Variables::new(layered);
    let fixed = separations(layered, shapes, &variables);
    let pulls = pulls(layered, shapes, &variables);
    let mut x = solve_with(&variables, &fixed, &pulls, |_| 1)?;
    for _ in 0..REFINEMENTS {
        let before = x;
        x = solve_with(&variables, &fixed, &pulls, |pull| favour(pull.length(&before)))?;
    }
    let left = x[..variables.count].iter().copied().min().unwrap_or(0);
    let vertex = variables.vertex.iter().map(|&v| x[v] - left).collect();
    let frames = (0..layered.frames.len()).map(|frame| match frame {
        0 => (0, 0),
        _ => (x[variables.frame_at(frame)] - left, x[variables.frame_at(frame) + 1] - left),
    });
    Ok(Columns { vertex, frames: frames.collect() })
}

/// An arrow that goes a little sideways looks worse than one that goes far a little further, so what was nearly straight
/// after one round weighs more in the next.
fn favour(length: i64) -> i64 {
    match length {
        0..40 => 8,
        40..100 => 3,
        _ => 1,
    }
}

/// Two places that should be above each other: variables with offsets.
struct Pull {
    upper: (usize, i64),
    lower: (usize, i64),
    weight: i64,
}

impl Pull {
    fn length(&self, x: &[i64]) -> i64 {
        (x[self.upper.0] + self.upper.1 - x[self.lower.0] - self.lower.1).abs()
    }
}

fn pulls(layered: &Layered, shapes: &[Shape], variables: &Variables) -> Vec<Pull> {
    let mut pulls = Vec::new();
    for link in layered.gaps.iter().flatten() {
        let (top, bottom) = (link.top, link.bottom);
        let upper = match layered.vertices[top.vertex].what {
            What::Node(node) => shapes[node].outputs[top.port],
            _ => 0,
        };
        let lower = match layered.vertices[bottom.vertex].what {
            What::Node(node) => shapes[node].inputs[bottom.port],
            _ => 0,
        };
        let is_node = |v: usize| matches!(layered.vertices[v].what, What::Node(_));
        let weight = match (is_node(top.vertex), is_node(bottom.vertex)) {
            (true, true) => DIRECT_WEIGHT,
            (false, false) => TRUNK_WEIGHT,
            _ => END_WEIGHT,
        };
        let (upper, lower) =
            ((variables.vertex[top.vertex], upper), (variables.vertex[bottom.vertex], lower));
        if upper.0 != lower.0 {
            pulls.push(Pull { upper, lower, weight });
        }
    }
    pulls
}

fn solve_with(
    variables: &Variables,
    fixed: &[Constraint],
    pulls: &[Pull],
    factor: impl Fn(&Pull) -> i64,
) -> Result<Vec<i64>, DiagramError> {
    let mut constraints = fixed.to_vec();
    for (left, pull) in (variables.count..).zip(pulls) {
        // One more variable, left of both ends. The sum of the distances from it to them is least when it is at the left
        // one, and then is their distance.
        let weight = pull.weight * factor(pull);
        constraints.push(Constraint { from: left, to: pull.upper.0, min: -pull.upper.1, weight });
        constraints.push(Constraint { from: left, to: pull.lower.0, min: -pull.lower.1, weight });
    }
    solve(variables.count + pulls.len(), &constraints).map_err(|Circular| DiagramError::Cycle)
}

/// Which variable places what.
struct Variables {
    vertex: Vec<usize>,
    first_frame: usize,
    count: usize,
}

impl Variables {
    fn new(layered: &Layered) -> Variables {
        let straight = straight_links(layered);
        let mut vertex = vec![usize::MAX; layered.vertices.len()];
        let mut next = 0;
        let mut fresh = || {
            next += 1;
            next - 1
        };
        for net in &layered.nets {
            for (at, &v) in net.trunk.iter().enumerate() {
                vertex[v] = match at.checked_sub(1) {
                    Some(before) if straight.contains(&v) => vertex[net.trunk[before]],
                    _ => fresh(),
                };
            }
        }
        vertex.iter_mut().filter(|v| **v == usize::MAX).for_each(|v| *v = fresh());
        Variables { vertex, first_frame: next, count: next + 2 * (layered.frames.len() - 1) }
    }

    /// The variable of a frame's left edge; that of the right edge follows.
    fn frame_at(&self, frame: usize) -> usize {
        self.first_frame + 2 * (frame - 1)
    }
}

/// Trunk vertices that stand straight below the trunk vertex before them. Of two trunks that cross, the longer is
/// straight; none leaves or enters a frame or passes to its other side while straight. Then the constraints between
/// straight pieces and frames have no circle, since the pieces can be drawn without crossings.
fn straight_links(layered: &Layered) -> HashSet<usize> {
    let mut place = vec![0; layered.vertices.len()];
    for layer in &layered.layers {
        layer.iter().enumerate().for_each(|(at, &v)| place[v] = at);
    }
    let mut straight = HashSet::new();
    for links in &layered.gaps {
        let is_trunk = |v: usize| matches!(layered.vertices[v].what, What::Trunk(_));
        let mut inner = links
            .iter()
            .filter(|link| is_trunk(link.top.vertex) && is_trunk(link.bottom.vertex))
            .collect::<Vec<_>>();
        inner.sort_by_key(|link| (std::cmp::Reverse(layered.nets[link.net].trunk.len()), link.net));
        let mut kept: Vec<(usize, usize)> = Vec::new();
        for link in inner {
            let (top, bottom) = (link.top.vertex, link.bottom.vertex);
            let here = (place[top], place[bottom]);
            let crosses = |&(upper, lower): &(usize, usize)| (upper < here.0) != (lower < here.1);
            if kept.iter().any(crosses) || changes_side(layered, &place, top, bottom) {
                continue;
            }
            kept.push(here);
            straight.insert(bottom);
        }
    }
    straight
}

fn changes_side(layered: &Layered, place: &[usize], top: usize, bottom: usize) -> bool {
    if layered.vertices[top].frame != layered.vertices[bottom].frame {
        return true;
    }
    let layer = layered.vertices[top].layer;
    (1..layered.frames.len()).any(|frame| {
        let (first, last) = layered.frames[frame].span;
        if layer < first || layer >= last || layered.within(top, frame) {
            return false;
        }
        let first_member =
            |layer: usize| layered.layers[layer].iter().position(|&v| layered.within(v, frame)).unwrap_or(0);
        (place[top] < first_member(layer)) != (place[bottom] < first_member(layer + 1))
    })
}

/// Order and distances within layers, frames included.
fn separations(layered: &Layered, shapes: &[Shape], variables: &Variables) -> Vec<Constraint> {
    let mut constraints = Vec::new();
    let width = |v: usize| match layered.vertices[v].what {
        What::Node(node) => shapes[node].w,
        _ => 0,
    };
    let is_box = |v: usize| matches!(layered.vertices[v].what, What::Node(_));
    for layer in &layered.layers {
        for &v in layer.iter() {
            let frame = layered.vertices[v].frame;
            if frame != 0 {
                let (at, edge) = (variables.vertex[v], variables.frame_at(frame));
                constraints.push(Constraint { from: edge, to: at, min: FRAME_PAD, weight: 0 });
                constraints.push(Constraint { from: at, to: edge + 1, min: width(v) + FRAME_PAD, weight: 0 });
            }
        }
        for pair in layer.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let common = super::order::common_frame(
                &layered.frames,
                layered.vertices[a].frame,
                layered.vertices[b].frame,
            );
            // Where they part, each is itself or a frame.
            let (outer_a, outer_b) = (layered.child(a, common), layered.child(b, common));
            let (from, from_width) = match outer_a {
                Some(frame) => (variables.frame_at(frame) + 1, 0),
                None => (variables.vertex[a], width(a)),
            };
            let to = outer_b.map_or(variables.vertex[b], |frame| variables.frame_at(frame));
            let gap = match (outer_a.is_some() || outer_b.is_some(), is_box(a), is_box(b)) {
                (true, ..) => FRAME_GAP,
                (_, true, true) => BOX_GAP,
                (_, false, false) => TRUNK_GAP,
                _ => BOX_TRUNK_GAP,
            };
            constraints.push(Constraint { from, to, min: from_width + gap, weight: 0 });
        }
    }
    for (frame, rank) in layered.frames.iter().enumerate().skip(1) {
        let edge = variables.frame_at(frame);
        let label = Role::Subtitle.width(&rank.name) + 40;
        constraints.push(Constraint { from: edge, to: edge + 1, min: label, weight: FRAME_WEIGHT });
        if rank.parent != 0 {
            let outer = variables.frame_at(rank.parent);
            constraints.push(Constraint { from: outer, to: edge, min: FRAME_PAD, weight: 0 });
            constraints.push(Constraint { from: edge + 1, to: outer + 1, min: FRAME_PAD, weight: 0 });
        }
    }
    constraints
}
