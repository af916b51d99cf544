//! Chooses the order of boxes and trunks within each layer, and of the ports of each box, so that few arrows cross.
//!
//! Arrows from one output share one trunk, which has one vertex in every layer that it passes. Sweeps sort by barycentre
//! and exchange neighbours (Gansner et al. 1993, section 3). What lies in one frame stays together, and two frames that
//! share layers keep the same order in all of them, so that frames can be drawn as rectangles.

use super::rank::Ranks;
use crate::report::diagram::Diagram;

/// What stands in a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A node of the diagram.
    Node(usize),
    /// A net on its way down.
    Trunk(usize),
    /// Nothing; keeps the place of a frame in a layer without other members.
    Spacer,
}

/// A thing in a layer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex {
    pub what: What,
    pub layer: usize,
    /// The innermost frame it is in.
    pub frame: usize,
}

/// An end of a link: a vertex, and the port if it is a node (else 0).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct End {
    pub vertex: usize,
    pub port: usize,
}

/// A piece of a net between one layer and the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub net: usize,
    pub top: End,
    pub bottom: End,
}

/// All arrows from one output.
#[derive(Clone, Debug)]
pub(super) struct Net {
    /// The vertex and port of the output.
    pub source: End,
    /// Its arrows: indices into the diagram's edges.
    pub edges: Vec<usize>,
    /// Its trunk, from the layer below the source on.
    pub trunk: Vec<usize>,
}

/// The diagram cut into layers, in an order.
#[derive(Clone, Debug)]
pub(super) struct Layered {
    pub vertices: Vec<Vertex>,
    pub nets: Vec<Net>,
    /// Vertices of each layer from the left.
    pub layers: Vec<Vec<usize>>,
    /// Links from each layer to the next.
    pub gaps: Vec<Vec<Link>>,
    /// For each node, its inputs from the left.
    pub inputs: Vec<Vec<usize>>,
    /// For each node, its outputs from the left.
    pub outputs: Vec<Vec<usize>>,
    pub frames: Vec<super::rank::FrameRank>,
}

/// Sweeps from each starting order.
const SWEEPS: usize = 14;
/// Rounds of exchanges after a sweep.
const ROUNDS: usize = 4;
/// What an arrow that passes through a foreign frame costs, against 1 for a crossing.
const FRAME_COST: usize = 6;

pub(super) fn order(diagram: &Diagram, ranks: &Ranks) -> Layered {
    let layered = cut(diagram, ranks);
    let mut best: Option<(usize, Layered)> = None;
    for depth_first in [true, false] {
        let mut sorter = Sorter::new(layered.clone(), depth_first);
        for sweep in 0..SWEEPS {
            sorter.sweep(sweep % 2 == 0);
            let cost = sorter.cost();
            if best.as_ref().is_none_or(|(least, _)| cost < *least) {
                best = Some((cost, sorter.layered.clone()));
            }
        }
    }
    best.map_or(layered, |(_, layered)| layered)
}

/// Vertices, nets and links, in the diagram's order.
fn cut(diagram: &Diagram, ranks: &Ranks) -> Layered {
    let vertex = |(index, (&layer, &frame)): (usize, (&usize, &usize))| Vertex {
        what: What::Node(index),
        layer,
        frame,
    };
    let mut vertices = ranks.layer.iter().zip(&ranks.frame).enumerate().map(vertex).collect::<Vec<Vertex>>();
    let mut gaps = vec![Vec::new(); ranks.layers.saturating_sub(1)];
    let mut nets = Vec::new();
    for (node, ports) in net_edges(diagram).into_iter().enumerate() {
        for (port, edges) in ports.into_iter().enumerate().filter(|(_, edges)| !edges.is_empty()) {
            let source = End { vertex: node, port };
            let mut net = Net { source, edges, trunk: Vec::new() };
            lay_net(diagram, ranks, &mut vertices, &mut gaps, nets.len(), &mut net);
            nets.push(net);
        }
    }
    let mut layers = vec![Vec::new(); ranks.layers];
    add_spacers(ranks, &mut vertices);
    for (index, vertex) in vertices.iter().enumerate() {
        layers[vertex.layer].push(index);
    }
    let inputs = diagram.nodes.iter().map(|node| (0..node.inputs.len()).collect()).collect();
    let outputs = diagram.nodes.iter().map(|node| (0..node.outputs.len()).collect()).collect();
    Layered { vertices, nets, layers, gaps, inputs, outputs, frames: ranks.frames.clone() }
}

/// The edges that begin at each output of each node.
fn net_edges(diagram: &Diagram) -> Vec<Vec<Vec<usize>>> {
    let mut edges: Vec<Vec<Vec<usize>>> =
        diagram.nodes.iter().map(|node| vec![Vec::new(); node.outputs.len()]).collect();
    for (index, edge) in diagram.edges.iter().enumerate() {
        edges[edge.from.node][edge.from.port].push(index);
    }
    edges
}

fn lay_net(
    diagram: &Diagram,
    ranks: &Ranks,
    vertices: &mut Vec<Vertex>,
    gaps: &mut [Vec<Link>],
    index: usize,
    net: &mut Net,
) {
    let target = |edge: usize| diagram.edges[edge].to;
    let first = ranks.layer[net.source.vertex];
    let last = net.edges.iter().map(|&edge| ranks.layer[target(edge).node]).max().unwrap_or(first);
    let mut top = net.source;
    for layer in first + 1..=last {
        let here = net.edges.iter().map(|&edge| target(edge)).filter(|to| ranks.layer[to.node] == layer);
        for to in here {
            let bottom = End { vertex: to.node, port: to.port };
            gaps[layer - 1].push(Link { net: index, top, bottom });
        }
        if layer < last {
            let ahead = net.edges.iter().map(|&edge| target(edge).node).filter(|&to| ranks.layer[to] > layer);
            let common = ahead.map(|to| ranks.frame[to]).reduce(|a, b| common_frame(&ranks.frames, a, b));
            let frame = spanning(&ranks.frames, common.unwrap_or(0), layer);
            let bottom = End { vertex: vertices.len(), port: 0 };
            vertices.push(Vertex { what: What::Trunk(index), layer, frame });
            net.trunk.push(bottom.vertex);
            gaps[layer - 1].push(Link { net: index, top, bottom });
            top = bottom;
        }
    }
}

/// The innermost frame that contains both.
pub(super) fn common_frame(frames: &[super::rank::FrameRank], mut a: usize, mut b: usize) -> usize {
    let depth = |frame: usize| if frame == 0 { 0 } else { frames[frame].depth + 1 };
    while a != b {
        if depth(a) >= depth(b) {
            a = frames[a].parent;
        } else {
            b = frames[b].parent;
        }
    }
    a
}

/// The innermost of the frame and those around it that reaches over the layer.
fn spanning(frames: &[super::rank::FrameRank], mut frame: usize, layer: usize) -> usize {
    while frame != 0 && !(frames[frame].span.0..=frames[frame].span.1).contains(&layer) {
        frame = frames[frame].parent;
    }
    frame
}

fn add_spacers(ranks: &Ranks, vertices: &mut Vec<Vertex>) {
    // Inner frames first: their spacers are members of the outer ones too.
    for frame in (1..ranks.frames.len()).rev() {
        for layer in ranks.frames[frame].span.0..=ranks.frames[frame].span.1 {
            let inside = |vertex: &Vertex| {
                vertex.layer == layer && common_frame(&ranks.frames, vertex.frame, frame) == frame
            };
            if !vertices.iter().any(inside) {
                vertices.push(Vertex { what: What::Spacer, layer, frame });
            }
        }
    }
}

impl Layered {
    /// The child of `level` that the vertex lies in, or `None` if it lies in `level` itself.
    pub(super) fn child(&self, vertex: usize, level: usize) -> Option<usize> {
        let mut frame = self.vertices[vertex].frame;
        if frame == level {
            return None;
        }
        while self.frames[frame].parent != level {
            frame = self.frames[frame].parent;
        }
        Some(frame)
    }

    /// Whether the vertex lies in the frame or in one within it.
    pub(super) fn within(&self, vertex: usize, frame: usize) -> bool {
        common_frame(&self.frames, self.vertices[vertex].frame, frame) == frame
    }
}

/// The work of ordering.
struct Sorter {
    layered: Layered,
    /// Place of each vertex in its layer.
    place: Vec<usize>,
    /// For each vertex, links that end there: gap and index.
    above: Vec<Vec<(usize, usize)>>,
    /// For each vertex, links that begin there.
    below: Vec<Vec<(usize, usize)>>,
    /// Rank of each input among its node's, the inverse of `layered.inputs`; likewise outputs.
    input_rank: Vec<Vec<usize>>,
    output_rank: Vec<Vec<usize>>,
    /// Where each frame stands, between 0 and 1; decides the order of frames in every layer.
    frame_key: Vec<f64>,
}

impl Sorter {
    fn new(layered: Layered, depth_first: bool) -> Sorter {
        let count = layered.vertices.len();
        let (mut above, mut below) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (gap, links) in layered.gaps.iter().enumerate() {
            for (index, link) in links.iter().enumerate() {
                above[link.bottom.vertex].push((gap, index));
                below[link.top.vertex].push((gap, index));
            }
        }
        let rank = |orders: &[Vec<usize>]| orders.iter().map(|order| inverse(order)).collect::<Vec<_>>();
        let (input_rank, output_rank) = (rank(&layered.inputs), rank(&layered.outputs));
        let frame_key = vec![0.0; layered.frames.len()];
        let place = vec![0; count];
        let mut sorter = Sorter { layered, place, above, below, input_rank, output_rank, frame_key };
        sorter.start(depth_first);
        sorter
    }

    /// A first order: as given, or as a search from the top meets the vertices.
    fn start(&mut self, depth_first: bool) {
        let count = self.layered.vertices.len();
        let mut key = (0..count).map(|at| at as f64).collect::<Vec<_>>();
        if depth_first {
            let mut met = vec![false; count];
            let mut next = 0.0;
            let mut stack = (0..count).filter(|&v| self.above[v].is_empty()).rev().collect::<Vec<_>>();
            while let Some(v) = stack.pop() {
                if std::mem::replace(&mut met[v], true) {
                    continue;
                }
                key[v] = next;
                next += 1.0;
                let down =
                    self.below[v].iter().map(|&(gap, link)| self.layered.gaps[gap][link].bottom.vertex);
                stack.extend(down.filter(|&v| !met[v]).collect::<Vec<_>>().into_iter().rev());
            }
        }
        for layer in &self.layered.layers {
            layer.iter().enumerate().for_each(|(at, &v)| self.place[v] = at);
        }
        for frame in 1..self.layered.frames.len() {
            let members = (0..count).filter(|&v| self.layered.within(v, frame));
            self.frame_key[frame] = members.map(|v| key[v]).fold(f64::INFINITY, f64::min);
        }
        for layer in 0..self.layered.layers.len() {
            self.arrange(layer, &key);
        }
    }

    fn sweep(&mut self, down: bool) {
        self.update_frame_keys();
        let layers = self.layered.layers.len();
        let mut key = vec![0.0; self.layered.vertices.len()];
        for step in 0..layers {
            let layer = if down { step } else { layers - 1 - step };
            for &v in &self.layered.layers[layer] {
                key[v] = self.barycentre(v, down, step == 0);
            }
            self.arrange(layer, &key);
            self.sort_ports(layer);
        }
        for _ in 0..ROUNDS {
            let mut improved = false;
            for layer in 0..layers {
                improved |= self.exchange(layer);
            }
            (0..layers).for_each(|layer| self.sort_ports(layer));
            if !improved {
                break;
            }
        }
    }

    fn update_frame_keys(&mut self) {
        let mut sums = vec![(0.0, 0.0); self.layered.frames.len()];
        for (v, vertex) in self.layered.vertices.iter().enumerate() {
            let share = (self.place[v] as f64 + 0.5) / self.layered.layers[vertex.layer].len() as f64;
            let mut frame = vertex.frame;
            while frame != 0 {
                sums[frame].0 += share;
                sums[frame].1 += 1.0;
                frame = self.layered.frames[frame].parent;
            }
        }
        for (key, (sum, count)) in self.frame_key.iter_mut().zip(sums) {
            *key = if count > 0.0 { sum / count } else { 0.0 };
        }
    }

    fn input_place(&self, end: End) -> f64 {
        self.port_place(end, &self.input_rank)
    }

    fn output_place(&self, end: End) -> f64 {
        self.port_place(end, &self.output_rank)
    }

    /// Where an end stands in its layer: the place of its vertex, and a part of 1 for the port.
    fn port_place(&self, end: End, ranks: &[Vec<usize>]) -> f64 {
        let within = match self.layered.vertices[end.vertex].what {
            What::Node(node) => (ranks[node][end.port] as f64 + 0.5) / ranks[node].len() as f64,
            _ => 0.5,
        };
        self.place[end.vertex] as f64 + within
    }

    /// The mean place of what a vertex is linked to in the layer above (or below), or its own place, scaled.
    fn barycentre(&self, v: usize, down: bool, stay: bool) -> f64 {
        let links = if down { &self.above[v] } else { &self.below[v] };
        let layer = self.layered.vertices[v].layer;
        if stay {
            return self.place[v] as f64;
        }
        if links.is_empty() {
            let other = if down { layer - 1 } else { layer + 1 };
            let scale = self.layered.layers[other].len() as f64 / self.layered.layers[layer].len() as f64;
            return (self.place[v] as f64 + 0.5) * scale;
        }
        let place = |&(gap, index): &(usize, usize)| {
            let link = self.layered.gaps[gap][index];
            if down { self.output_place(link.top) } else { self.input_place(link.bottom) }
        };
        links.iter().map(place).sum::<f64>() / links.len() as f64
    }

    /// Sorts a layer by key, frame by frame.
    fn arrange(&mut self, layer: usize, key: &[f64]) {
        let members = self.layered.layers[layer].clone();
        let mut sorted = Vec::with_capacity(members.len());
        self.arrange_frame(members, 0, key, &mut sorted);
        sorted.iter().enumerate().for_each(|(at, &v)| self.place[v] = at);
        self.layered.layers[layer] = sorted;
    }

    fn arrange_frame(&self, members: Vec<usize>, level: usize, key: &[f64], sorted: &mut Vec<usize>) {
        struct Item {
            frame: Option<usize>,
            members: Vec<usize>,
            key: f64,
        }
        let mut items: Vec<Item> = Vec::new();
        for v in members {
            let frame = self.layered.child(v, level);
            match items.iter_mut().find(|item| frame.is_some() && item.frame == frame) {
                Some(item) => item.members.push(v),
                None => items.push(Item { frame, members: vec![v], key: 0.0 }),
            }
        }
        for item in &mut items {
            item.key = item.members.iter().map(|&v| key[v]).sum::<f64>() / item.members.len() as f64;
        }
        items.sort_by(|a, b| a.key.total_cmp(&b.key));
        // Frames take the places that their keys won them, but in the order that holds for all layers.
        let mut frames = items.iter().filter_map(|item| item.frame).collect::<Vec<_>>();
        frames.sort_by(|&a, &b| self.frame_key[a].total_cmp(&self.frame_key[b]).then(a.cmp(&b)));
        let mut frames = frames.into_iter();
        let mut by_frame =
            items.iter_mut().filter_map(|item| Some((item.frame?, std::mem::take(&mut item.members))));
        let mut content: Vec<(usize, Vec<usize>)> = by_frame.by_ref().collect();
        for item in items {
            if item.frame.is_none() {
                sorted.extend(item.members);
            } else if let Some(frame) = frames.next()
                && let Some(at) = content.iter().position(|(of, _)| *of == frame)
            {
                self.arrange_frame(content.swap_remove(at).1, frame, key, sorted);
            }
        }
    }

    /// Sorts the ports of a layer's nodes by where their arrows lead. Ports without arrows go to the right.
    fn sort_ports(&mut self, layer: usize) {
        for at in 0..self.layered.layers[layer].len() {
            let v = self.layered.layers[layer][at];
            let What::Node(node) = self.layered.vertices[v].what else { continue };
            let (mut inputs, mut outputs) = (
                vec![(0.0, 0u32); self.input_rank[node].len()],
                vec![(0.0, 0u32); self.output_rank[node].len()],
            );
            for &(gap, index) in &self.above[v] {
                let link = self.layered.gaps[gap][index];
                let sum = &mut inputs[link.bottom.port];
                *sum = (sum.0 + self.output_place(link.top), sum.1 + 1);
            }
            for &(gap, index) in &self.below[v] {
                let link = self.layered.gaps[gap][index];
                let sum = &mut outputs[link.top.port];
                *sum = (sum.0 + self.input_place(link.bottom), sum.1 + 1);
            }
            self.layered.inputs[node] = by_mean(&inputs);
            self.layered.outputs[node] = by_mean(&outputs);
            self.input_rank[node] = inverse(&self.layered.inputs[node]);
            self.output_rank[node] = inverse(&self.layered.outputs[node]);
        }
    }

    /// Exchanges neighbours in a layer where that saves crossings.
    fn exchange(&mut self, layer: usize) -> bool {
        let mut improved = false;
        let mut at = 0;
        while at + 1 < self.layered.layers[layer].len() {
            let order = &self.layered.layers[layer];
            let (a, b) = (order[at], order[at + 1]);
            let (frame_a, frame_b) = (self.layered.vertices[a].frame, self.layered.vertices[b].frame);
            let level = common_frame(&self.layered.frames, frame_a, frame_b);
            let (child_a, child_b) = (self.layered.child(a, level), self.layered.child(b, level));
            let same = |v: usize, child: usize| self.layered.child(v, level) == Some(child);
            let in_level = |v: &&usize| self.layered.within(**v, level);
            let left = child_a.map_or(1, |child| {
                order[..=at].iter().rev().take_while(in_level).take_while(|&&v| same(v, child)).count()
            });
            let right = child_b.map_or(1, |child| {
                order[at + 1..].iter().take_while(in_level).take_while(|&&v| same(v, child)).count()
            });
            let (start, end) = (at + 1 - left, at + 1 + right);
            if !(child_a.is_some() && child_b.is_some()) {
                let (lefts, rights) = (&order[start..=at], &order[at + 1..end]);
                let now = self.crossings_between(lefts, rights);
                if now > 0 && self.crossings_between(rights, lefts) < now {
                    self.layered.layers[layer][start..end].rotate_left(left);
                    for (place, &v) in
                        self.layered.layers[layer].iter().enumerate().skip(start).take(end - start)
                    {
                        self.place[v] = place;
                    }
                    improved = true;
                }
            }
            at += 1;
        }
        improved
    }

    /// Crossings among the links of two groups of vertices if the first stands left of the second.
    fn crossings_between(&self, left: &[usize], right: &[usize]) -> usize {
        let ends = |group: &[usize], up: bool| {
            let mut places = Vec::new();
            for &v in group {
                let links = if up { &self.above[v] } else { &self.below[v] };
                places.extend(links.iter().map(|&(gap, index)| {
                    let link = self.layered.gaps[gap][index];
                    if up { self.output_place(link.top) } else { self.input_place(link.bottom) }
                }));
            }
            places.sort_by(f64::total_cmp);
            places
        };
        let mut count = 0;
        for up in [true, false] {
            let (left, right) = (ends(left, up), ends(right, up));
            let mut passed = 0;
            for place in left {
                while passed < right.len() && right[passed] < place {
                    passed += 1;
                }
                count += passed;
            }
        }
        count
    }

    /// Crossings, and what passing through frames costs.
    fn cost(&self) -> usize {
        let crossings: usize = (0..self.layered.gaps.len()).map(|gap| self.gap_crossings(gap)).sum();
        crossings + FRAME_COST * self.frame_passes()
    }

    fn gap_crossings(&self, gap: usize) -> usize {
        let mut ends = self.layered.gaps[gap]
            .iter()
            .map(|link| (self.output_place(link.top), self.input_place(link.bottom)))
            .collect::<Vec<_>>();
        ends.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut seen: Vec<f64> = Vec::with_capacity(ends.len());
        let mut count = 0;
        for (_, bottom) in ends {
            let at = seen.partition_point(|&other| other <= bottom);
            count += seen.len() - at;
            seen.insert(at, bottom);
        }
        count
    }

    /// Links outside a frame that change from one side of it to the other between two of its layers.
    fn frame_passes(&self) -> usize {
        let mut count = 0;
        for frame in 1..self.layered.frames.len() {
            let (first, last) = self.layered.frames[frame].span;
            for gap in first..last {
                let side = |layer: usize| {
                    let order = &self.layered.layers[layer];
                    order.iter().position(|&v| self.layered.within(v, frame)).unwrap_or(0)
                };
                let (upper, lower) = (side(gap), side(gap + 1));
                let passes = |link: &&Link| {
                    let (top, bottom) = (link.top.vertex, link.bottom.vertex);
                    let outside = !self.layered.within(top, frame) && !self.layered.within(bottom, frame);
                    outside && (self.place[top] < upper) != (self.place[bottom] < lower)
                };
                count += self.layered.gaps[gap].iter().filter(passes).count();
            }
        }
        count
    }
}

fn inverse(order: &[usize]) -> Vec<usize> {
    let mut rank = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, &port)| rank[port] = at);
    rank
}

/// Indices sorted by mean, those without members last.
fn by_mean(sums: &[(f64, u32)]) -> Vec<usize> {
    let mean = |&(sum, count): &(f64, u32)| if count == 0 { f64::INFINITY } else { sum / f64::from(count) };
    let mut order = (0..sums.len()).collect::<Vec<_>>();
    order.sort_by(|&a, &b| mean(&sums[a]).total_cmp(&mean(&sums[b])));
    order
}
