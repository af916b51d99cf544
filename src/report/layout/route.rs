//! Gives layers their heights and runs the arrows through the gaps between them.
//!
//! In a gap every net comes down at one place and leaves at one or several. A net that must go sideways gets a
//! horizontal track; tracks are ordered so that few lines cross and no two vertical pieces lie on each other (compare
//! Sander, "Layout of directed hypergraphs with orthogonal hyperedges", 2003).

use super::order::{Layered, What};
use super::place::Columns;
use super::rank::Ranks;
use super::shape::{Role, Shape, shorten};
use super::{Band, Frame, HUES, Layout, PlacedNode, Rect, Route, Text};
use crate::report::diagram::Diagram;

/// Around the drawing.
const MARGIN: i64 = 20;
/// Between a layer and the nearest track.
const TRACK_MARGIN: i64 = 14;
const TRACK_PITCH: i64 = 10;
/// Height of the strip in which a line between segments runs.
const LINE_STRIP: i64 = 26;
/// Height of a frame's name and of the rim below its boxes.
const FRAME_HEAD: i64 = 22;
const FRAME_FOOT: i64 = 10;
/// Vertical pieces nearer than this count as one on the other.
const CLEARANCE: i64 = 6;

pub(super) fn route(
    diagram: &Diagram,
    ranks: &Ranks,
    layered: &Layered,
    shapes: &[Shape],
    columns: &Columns,
) -> Layout {
    let gutter = gutter(diagram);
    let columns = shifted(columns, MARGIN + gutter);
    let gaps =
        (0..layered.gaps.len()).map(|gap| Gap::new(layered, shapes, &columns, gap)).collect::<Vec<_>>();
    let rows = rows(ranks, layered, shapes, &gaps);
    let nodes = place_nodes(layered, shapes, &columns, &rows);
    let routes = routes(layered, &columns, &nodes, &gaps, &rows, diagram);
    let frames = frames(layered, &columns, &rows, &routes);
    let height = rows.height + MARGIN / 2;
    let mut layout = Layout { width: 0, height, gutter, nodes, routes, frames, bands: bands(&rows) };
    let right = layout.nodes.iter().map(|node| node.rect.right());
    let right = right.chain(layout.frames.iter().map(|frame| frame.rect.right()));
    let right = right.chain(layout.routes.iter().flat_map(|route| route.points.iter().map(|point| point.0)));
    layout.width = right.max().unwrap_or(gutter) + MARGIN;
    layout
}

fn gutter(diagram: &Diagram) -> i64 {
    let texts = diagram.segments.iter().flat_map(|s| s.waits_for.iter().chain([&s.title]));
    texts.map(|text| Role::Subtitle.width(&shorten(text, GUTTER_CHARS)) + 14).max().unwrap_or(0)
}

/// The longest text about a segment that is shown whole.
pub(in crate::report) const GUTTER_CHARS: usize = 26;

fn shifted(columns: &Columns, by: i64) -> Columns {
    let vertex = columns.vertex.iter().map(|x| x + by).collect();
    let frames = columns.frames.iter().map(|(left, right)| (left + by, right + by)).collect();
    Columns { vertex, frames }
}

/// One net in one gap, or the upper or lower part of one.
#[derive(Clone, Debug)]
struct Strand {
    net: usize,
    top: i64,
    bottoms: Vec<i64>,
    track: i64,
    /// The strand that goes on where this one ends.
    rest: Option<usize>,
}

impl Strand {
    fn ends(&self) -> impl Iterator<Item = i64> + '_ {
        self.bottoms.iter().copied().chain([self.top])
    }

    fn span(&self) -> (i64, i64) {
        let least = self.ends().min().unwrap_or(self.top);
        (least, self.ends().max().unwrap_or(self.top))
    }
}

/// The arrows between one layer and the next.
struct Gap {
    strands: Vec<Strand>,
    /// The first strand of each net that goes sideways.
    of_net: std::collections::HashMap<usize, usize>,
    tracks: i64,
}

impl Gap {
    fn new(layered: &Layered, shapes: &[Shape], columns: &Columns, gap: usize) -> Gap {
        let mut all: Vec<Strand> = Vec::new();
        for link in &layered.gaps[gap] {
            let top = end_x(layered, shapes, columns, link.top, true);
            let bottom = end_x(layered, shapes, columns, link.bottom, false);
            match all.iter_mut().find(|strand| strand.net == link.net) {
                Some(strand) => strand.bottoms.push(bottom),
                None => all.push(Strand { net: link.net, top, bottoms: vec![bottom], track: 0, rest: None }),
            }
        }
        let occupied = all.iter().flat_map(Strand::ends).collect::<Vec<_>>();
        let sideways = all.into_iter().filter(|strand| strand.bottoms.iter().any(|&x| x != strand.top));
        let mut strands = sideways.collect::<Vec<_>>();
        let of_net = strands.iter().enumerate().map(|(at, strand)| (strand.net, at)).collect();
        let order = sort_strands(&strands);
        let order = split_conflicts(&mut strands, order, occupied);
        let tracks = assign_tracks(&mut strands, &order);
        Gap { strands, of_net, tracks }
    }

    /// The sideways pieces of a net on its way to `bottom`: track and place to go to.
    fn steps(&self, net: usize, bottom: i64) -> Vec<(i64, i64)> {
        let Some(&first) = self.of_net.get(&net) else { return Vec::new() };
        let mut steps = Vec::new();
        let mut at = first;
        while let Some(rest) = self.strands[at].rest {
            steps.push((self.strands[at].track, self.strands[rest].top));
            at = rest;
        }
        steps.push((self.strands[at].track, bottom));
        steps
    }

    fn height(&self) -> i64 {
        2 * TRACK_MARGIN + (self.tracks - 1).max(0) * TRACK_PITCH
    }
}

fn end_x(
    layered: &Layered,
    shapes: &[Shape],
    columns: &Columns,
    end: super::order::End,
    output: bool,
) -> i64 {
    let offset = match layered.vertices[end.vertex].what {
        What::Node(node) if output => shapes[node].outputs[end.port],
        What::Node(node) => shapes[node].inputs[end.port],
        _ => 0,
    };
    columns.vertex[end.vertex] + offset
}

/// What one vertical piece on another costs, against 1 for a crossing.
const CONFLICT: i64 = 1000;

/// What it costs to give `upper` a track above `lower`.
fn cost_above(upper: &Strand, lower: &Strand) -> i64 {
    let within = |x: i64, (left, right): (i64, i64)| left < x && x < right;
    let crossings = upper.bottoms.iter().filter(|&&x| within(x, lower.span())).count()
        + usize::from(within(lower.top, upper.span()));
    crossings as i64 + if collide(upper, lower) { CONFLICT } else { 0 }
}

/// Whether a piece down from `upper` lies on the piece down to `lower`, when `upper` has the higher track.
fn collide(upper: &Strand, lower: &Strand) -> bool {
    upper.bottoms.iter().any(|&x| (x - lower.top).abs() < CLEARANCE)
}

/// An order from the top with few crossings: sorted by direction first, then each strand moved where it costs least.
fn sort_strands(strands: &[Strand]) -> Vec<usize> {
    let count = strands.len();
    let cost = (0..count * count)
        .map(|at| cost_above(&strands[at / count], &strands[at % count]))
        .collect::<Vec<_>>();
    let mut order = (0..count).collect::<Vec<_>>();
    order.sort_by_key(|&at| strands[at].span());
    for _ in 0..8 {
        let mut improved = false;
        for strand in 0..count {
            let at = order.iter().position(|&other| other == strand).unwrap_or(0);
            let (mut best, mut best_at) = (0, at);
            // Change of the cost when the strand moves past its neighbours, one after another.
            let mut change = 0;
            for to in (0..at).rev() {
                change += cost[strand * count + order[to]] - cost[order[to] * count + strand];
                if change < best {
                    (best, best_at) = (change, to);
                }
            }
            change = 0;
            for (to, &other) in order.iter().enumerate().skip(at + 1) {
                change += cost[other * count + strand] - cost[strand * count + other];
                if change < best {
                    (best, best_at) = (change, to);
                }
            }
            if best < 0 {
                order.remove(at);
                order.insert(best_at, strand);
                improved = true;
            }
        }
        if !improved {
            break;
        }
    }
    order
}

/// Where pieces of two strands would still lie on each other, whichever is above, the upper one goes down beside the
/// other first and takes a second track at the bottom.
fn split_conflicts(strands: &mut Vec<Strand>, order: Vec<usize>, mut occupied: Vec<i64>) -> Vec<usize> {
    let mut lowest = Vec::new();
    for (at, &upper) in order.iter().enumerate() {
        let conflict = order[at + 1..].iter().any(|&lower| collide(&strands[upper], &strands[lower]));
        if !conflict {
            continue;
        }
        let near = strands[upper].bottoms[0];
        let beside = (1..400).flat_map(|d| [near + d, near - d]);
        let mut beside = beside.filter(|x| occupied.iter().all(|other| (x - other).abs() >= CLEARANCE));
        let Some(x) = beside.next() else { continue };
        occupied.push(x);
        let bottoms = std::mem::replace(&mut strands[upper].bottoms, vec![x]);
        strands[upper].rest = Some(strands.len());
        lowest.push(strands.len());
        strands.push(Strand { net: strands[upper].net, top: x, bottoms, track: 0, rest: None });
    }
    order.into_iter().chain(lowest).collect()
}

/// Each strand as high as those before it allow. Returns the number of tracks.
fn assign_tracks(strands: &mut [Strand], order: &[usize]) -> i64 {
    let mut tracks = 0;
    for (at, &strand) in order.iter().enumerate() {
        let (left, right) = strands[strand].span();
        let blocking = order[..at].iter().map(|&other| &strands[other]).filter(|other| {
            let (other_left, other_right) = other.span();
            left <= other_right + TRACK_PITCH && other_left <= right + TRACK_PITCH
        });
        let track = blocking.map(|other| other.track + 1).max().unwrap_or(0);
        strands[strand].track = track;
        tracks = tracks.max(track + 1);
    }
    tracks
}

/// Vertical places.
struct Rows {
    /// Upper edge of each layer's boxes, and where the gap below the layer begins.
    layers: Vec<(i64, i64)>,
    /// For each gap, the y of its first track.
    tracks: Vec<i64>,
    /// The line above each segment; for the first, the upper edge of the drawing.
    lines: Vec<i64>,
    height: i64,
}

fn rows(ranks: &Ranks, layered: &Layered, shapes: &[Shape], gaps: &[Gap]) -> Rows {
    let (heads, feet) = (frame_rims(layered, true), frame_rims(layered, false));
    let mut rows =
        Rows { layers: Vec::new(), tracks: Vec::new(), lines: vec![0; ranks.segment_start.len()], height: 0 };
    let mut y = 0;
    for layer in 0..layered.layers.len() {
        for (segment, &start) in ranks.segment_start.iter().enumerate().skip(1) {
            if start == layer && layer > 0 {
                rows.lines[segment] = y + LINE_STRIP / 2;
            }
        }
        let starts = |(segment, &start): (usize, &usize)| segment > 0 && start == layer && layer > 0;
        y += if ranks.segment_start.iter().enumerate().any(starts) { LINE_STRIP } else { 0 };
        y += if layer == 0 { MARGIN } else { 0 } + rim_at(layered, &heads, layer, true);
        let bottoms = layered.layers[layer].iter().map(|&v| match layered.vertices[v].what {
            What::Node(node) => shapes[node].foot,
            _ => 0,
        });
        let bottom = y + bottoms.max().unwrap_or(0);
        rows.layers.push((y, bottom));
        y = bottom + rim_at(layered, &feet, layer, false);
        if let Some(gap) = gaps.get(layer) {
            rows.tracks.push(y + TRACK_MARGIN);
            y += gap.height();
        }
    }
    y += MARGIN / 2;
    // A segment without boxes of its own begins where the drawing ends.
    for (segment, &start) in ranks.segment_start.iter().enumerate() {
        if start >= layered.layers.len() && segment > 0 {
            rows.lines[segment] = y;
        }
    }
    rows.height = y;
    rows
}

/// The height that each frame needs above its first layer (or below its last) for itself and the frames in it.
fn frame_rims(layered: &Layered, head: bool) -> Vec<i64> {
    let own = if head { FRAME_HEAD } else { FRAME_FOOT };
    let mut rims = vec![own; layered.frames.len()];
    for frame in (1..layered.frames.len()).rev() {
        let (span, parent) = (layered.frames[frame].span, layered.frames[frame].parent);
        let outer = layered.frames[parent].span;
        if parent != 0 && if head { span.0 == outer.0 } else { span.1 == outer.1 } {
            rims[parent] = rims[parent].max(rims[frame] + own);
        }
    }
    rims
}

/// What the frames that begin (or end) at a layer need.
fn rim_at(layered: &Layered, rims: &[i64], layer: usize, head: bool) -> i64 {
    let here = |&frame: &usize| {
        let span = layered.frames[frame].span;
        layer == if head { span.0 } else { span.1 }
    };
    (1..layered.frames.len()).filter(here).map(|frame| rims[frame]).max().unwrap_or(0)
}

fn place_nodes(layered: &Layered, shapes: &[Shape], columns: &Columns, rows: &Rows) -> Vec<PlacedNode> {
    let place = |(node, shape): (usize, &Shape)| {
        let (x, y) = (columns.vertex[node], rows.layers[layered.vertices[node].layer].0);
        let moved = |text: &Text| Text { x: text.x + x, y: text.y + y, ..text.clone() };
        PlacedNode {
            rect: Rect { x, y, w: shape.w, h: shape.h },
            inputs: shape.inputs.iter().map(|port| port + x).collect(),
            outputs: shape.outputs.iter().map(|port| port + x).collect(),
            ticks: shape.ticks.iter().map(|&(at, top, bottom)| (at + x, top + y, bottom + y)).collect(),
            texts: shape.texts.iter().map(moved).collect(),
        }
    };
    shapes.iter().enumerate().map(place).collect()
}

/// The corners of every arrow.
fn routes(
    layered: &Layered,
    columns: &Columns,
    nodes: &[PlacedNode],
    gaps: &[Gap],
    rows: &Rows,
    diagram: &Diagram,
) -> Vec<Route> {
    let mut routes = vec![Route { points: Vec::new(), hue: 0 }; diagram.edges.len()];
    let hues = hues(layered, columns);
    for (index, net) in layered.nets.iter().enumerate() {
        for &edge in &net.edges {
            let (from, to) = (diagram.edges[edge].from, diagram.edges[edge].to);
            let mut x = nodes[from.node].outputs[from.port];
            let mut points = vec![(x, nodes[from.node].rect.bottom())];
            let (first, last) = (layered.vertices[from.node].layer, layered.vertices[to.node].layer);
            for (below, (gap, tracks)) in gaps.iter().zip(&rows.tracks).take(last).skip(first).enumerate() {
                let next = match net.trunk.get(below) {
                    Some(&trunk) if first + below + 1 < last => columns.vertex[trunk],
                    _ => nodes[to.node].inputs[to.port],
                };
                for (track, to_x) in gap.steps(index, next) {
                    let y = tracks + track * TRACK_PITCH;
                    if to_x != x {
                        points.extend([(x, y), (to_x, y)]);
                        x = to_x;
                    }
                }
            }
            points.push((x, nodes[to.node].rect.y));
            routes[edge] = Route { points, hue: hues[index] };
        }
    }
    routes
}

/// How many lines to each side should have other colours.
const NEIGHBOURS: usize = 4;

/// Colours: each net takes the one that its neighbours, in all the layers it passes, have least.
fn hues(layered: &Layered, columns: &Columns) -> Vec<usize> {
    let mut beside: Vec<Vec<usize>> = vec![Vec::new(); layered.nets.len()];
    for links in &layered.gaps {
        for end in [|link: &super::order::Link| link.top, |link: &super::order::Link| link.bottom] {
            let mut row = links
                .iter()
                .map(|link| (columns.vertex[end(link).vertex], end(link).port, link.net))
                .collect::<Vec<_>>();
            row.sort_unstable();
            row.dedup_by_key(|entry| entry.2);
            for (at, &(.., net)) in row.iter().enumerate() {
                let others = &row[at.saturating_sub(NEIGHBOURS)..row.len().min(at + NEIGHBOURS + 1)];
                beside[net].extend(others.iter().map(|other| other.2).filter(|&other| other != net));
            }
        }
    }
    for at_box in nets_at_boxes(layered) {
        for &net in &at_box {
            beside[net].extend(at_box.iter().copied().filter(|&other| other != net));
        }
    }
    let mut hues: Vec<Option<usize>> = vec![None; layered.nets.len()];
    let mut used = [0usize; HUES];
    for net in 0..layered.nets.len() {
        let mut near = [0usize; HUES];
        beside[net].iter().filter_map(|&other| hues[other]).for_each(|hue| near[hue] += 1);
        let hue = (0..HUES).min_by_key(|&hue| (near[hue], used[hue], hue)).unwrap_or(0);
        used[hue] += 1;
        hues[net] = Some(hue);
    }
    hues.into_iter().map(|hue| hue.unwrap_or(0)).collect()
}

/// For every box, the nets that begin or end there.
fn nets_at_boxes(layered: &Layered) -> Vec<Vec<usize>> {
    let mut at_boxes = vec![Vec::new(); layered.vertices.len()];
    for link in layered.gaps.iter().flatten() {
        at_boxes[link.top.vertex].push(link.net);
        at_boxes[link.bottom.vertex].push(link.net);
    }
    for nets in &mut at_boxes {
        nets.sort_unstable();
        nets.dedup();
    }
    at_boxes
}

fn bands(rows: &Rows) -> Vec<Band> {
    let bottoms = rows.lines.iter().skip(1).copied().chain([rows.height]);
    rows.lines.iter().zip(bottoms).map(|(&top, bottom)| Band { top, bottom }).collect()
}

fn frames(layered: &Layered, columns: &Columns, rows: &Rows, routes: &[Route]) -> Vec<Frame> {
    let (heads, feet) = (frame_rims(layered, true), frame_rims(layered, false));
    let frame = |(frame, rank): (usize, &super::rank::FrameRank)| {
        let (left, right) = columns.frames[frame];
        let top = rows.layers[rank.span.0].0 - heads[frame];
        let bottom = rows.layers[rank.span.1].1 + feet[frame];
        let rect = Rect { x: left, y: top, w: right - left, h: bottom - top };
        let label = (label_x(rect, Role::Subtitle.width(&rank.name), routes), top + 14);
        Frame { name: rank.name.clone(), depth: rank.depth, rect, label }
    };
    layered.frames.iter().enumerate().skip(1).map(frame).collect()
}

/// The leftmost place in the head of a frame where its name fits between the lines that pass.
fn label_x(rect: Rect, width: i64, routes: &[Route]) -> i64 {
    let passes = |pair: &[(i64, i64)]| {
        let ((x, top), (_, bottom)) = (pair[0], pair[1]);
        (x == pair[1].0 && top < rect.y + FRAME_HEAD && bottom > rect.y).then_some(x)
    };
    let mut lines =
        routes.iter().flat_map(|route| route.points.windows(2).filter_map(passes)).collect::<Vec<_>>();
    lines.sort_unstable();
    let mut x = rect.x + 10;
    for line in lines.into_iter().filter(|line| rect.x < *line && *line < rect.right()) {
        if x + width + 6 <= line {
            break;
        }
        x = line + 6;
    }
    if x + width + 6 <= rect.right() { x } else { rect.x + 10 }
}
