//! Random diagrams, and what every layout of one must keep.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use weft::report::diagram::{Diagram, Edge, EdgeKind, Node, NodeKind, Port, PortRef, Segment};
use weft::report::layout::{Layout, Rect};

const KINDS: [NodeKind; 7] = [
    NodeKind::DevicePass,
    NodeKind::HostPass,
    NodeKind::Input,
    NodeKind::Output,
    NodeKind::Count,
    NodeKind::Check,
    NodeKind::Join,
];
const EDGE_KINDS: [EdgeKind; 4] = [EdgeKind::Data, EdgeKind::Update, EdgeKind::Accumulate, EdgeKind::Await];
const CLUSTERS: [&[&str]; 8] =
    [&[], &[], &[], &["scan"], &["scan", "inner"], &["sort"], &["sort", "inner"], &["other"]];

/// What decides one box: kind, frame, step of the segment, outputs with and without name, constants, tint, and for
/// each input which earlier output feeds it.
type Seed = (usize, usize, u8, Vec<(bool, usize)>, usize, Vec<(prop::sample::Index, usize, bool)>);

fn seed(frames: bool) -> impl Strategy<Value = Seed> {
    let frame = if frames { 0..CLUSTERS.len() } else { 0..1 };
    let output = (any::<bool>(), 0usize..4);
    let input = (any::<prop::sample::Index>(), 0usize..4, any::<bool>());
    (
        0..KINDS.len(),
        frame,
        0u8..16,
        prop::collection::vec(output, 0..4),
        0usize..3,
        prop::collection::vec(input, 0..6),
    )
}

/// Diagrams of up to `nodes` boxes; with frames and segments if asked for. `name` goes into every text.
pub fn diagrams(
    nodes: std::ops::Range<usize>,
    frames: bool,
    segments: u32,
) -> impl Strategy<Value = Diagram> {
    prop::collection::vec(seed(frames), nodes).prop_map(move |seeds| diagram(&seeds, segments, "n"))
}

/// A small diagram in which every text is hostile.
pub fn hostile() -> impl Strategy<Value = Diagram> {
    ("\\PC{0,40}|[<>&\"'\\x00-\\x1f]{0,10}", prop::collection::vec(seed(true), 1..6))
        .prop_map(|(name, seeds)| diagram(&seeds, 3, &name))
}

fn diagram(seeds: &[Seed], segments: u32, name: &str) -> Diagram {
    let mut diagram = Diagram { title: name.into(), caption: vec![name.into()], ..Diagram::default() };
    diagram.segments = (0..segments)
        .map(|segment| Segment { title: format!("segment {segment}"), waits_for: vec![name.into()] })
        .collect();
    let mut outputs: Vec<PortRef> = Vec::new();
    let mut reached: Vec<u32> = Vec::new();
    for (index, (kind, frame, step, ports, constants, inputs)) in seeds.iter().enumerate() {
        let mut node = Node::new(format!("{name}{index}"), format!("{name}{index}"), KINDS[*kind]);
        node.cluster = CLUSTERS[*frame].iter().map(|&part| part.to_owned()).collect();
        node.subtitle = if step % 3 == 0 { String::new() } else { format!("pass/{name}") };
        node.tint = (step % 5 == 0).then_some(f64::from(*step) / 16.0);
        let mut segment = 0;
        for (source, edge_kind, named) in inputs.iter().filter(|_| !outputs.is_empty()) {
            let from = *source.get(&outputs);
            segment = segment.max(reached[from.node]);
            let to = PortRef { node: index, port: node.inputs.len() };
            let weight = named.then_some(*edge_kind as f64 / 3.0);
            let tooltip = vec![name.to_owned()];
            diagram.edges.push(Edge { from, to, kind: EDGE_KINDS[*edge_kind], weight, tooltip });
            node.inputs.push(Port::named(if *named {
                format!("in{name}{}", to.port)
            } else {
                String::new()
            }));
        }
        node.inputs.extend((0..*constants).map(|_| Port { fixed: Some(name.into()), ..Port::named("c") }));
        reached.push((segment + u32::from(*step == 0)).min(segments.saturating_sub(1)));
        node.segment = (segments > 0 && *step != 1).then_some(reached[index]);
        for (port, (named, lines)) in ports.iter().enumerate() {
            outputs.push(PortRef { node: index, port });
            let label = (0..*lines).map(|line| format!("{name} line {line}")).collect();
            let name = if *named { format!("out{name}{port}") } else { String::new() };
            node.outputs.push(Port { name, label, ..Port::default() });
        }
        diagram.nodes.push(node);
    }
    diagram
}

/// A piece of an arrow, and the output it comes from.
struct Piece {
    source: PortRef,
    from: (i64, i64),
    to: (i64, i64),
}

fn pieces(diagram: &Diagram, layout: &Layout) -> Vec<Piece> {
    let each = |(edge, route): (&Edge, &weft::report::layout::Route)| {
        let source = edge.from;
        route
            .points
            .windows(2)
            .map(move |pair| Piece { source, from: pair[0], to: pair[1] })
            .collect::<Vec<_>>()
    };
    diagram.edges.iter().zip(&layout.routes).flat_map(each).collect()
}

fn crosses(piece: &Piece, rect: &Rect) -> bool {
    let (left, right) = (piece.from.0.min(piece.to.0), piece.from.0.max(piece.to.0));
    let (top, bottom) = (piece.from.1.min(piece.to.1), piece.from.1.max(piece.to.1));
    right > rect.x && left < rect.right() && bottom > rect.y && top < rect.bottom()
}

type Outcome = Result<(), TestCaseError>;

/// All that a layout promises.
pub fn check(diagram: &Diagram, layout: &Layout) -> Outcome {
    check_boxes(diagram, layout)?;
    check_routes(diagram, layout)?;
    check_clear_lines(diagram, layout)?;
    check_frames(diagram, layout)?;
    check_bands(diagram, layout)
}

fn check_boxes(diagram: &Diagram, layout: &Layout) -> Outcome {
    let all = Rect { x: 0, y: 0, w: layout.width, h: layout.height };
    for (at, (node, placed)) in diagram.nodes.iter().zip(&layout.nodes).enumerate() {
        let rect = placed.rect;
        prop_assert!(
            rect.x >= layout.gutter && rect.y >= 0 && rect.right() <= all.w && rect.bottom() <= all.h
        );
        for other in &layout.nodes[..at] {
            prop_assert!(!rect.overlaps(&other.rect), "{rect:?} {:?}", other.rect);
            let texts = placed.texts.iter().chain(&other.texts).map(|text| text.rect());
            prop_assert!(texts.clone().all(|text| !(text.overlaps(&rect) && text.overlaps(&other.rect))));
        }
        prop_assert!(placed.inputs.iter().chain(&placed.outputs).all(|x| rect.x < *x && *x < rect.right()));
        prop_assert!(node.inputs.len() == placed.inputs.len() && node.outputs.len() == placed.outputs.len());
        for (index, text) in placed.texts.iter().enumerate() {
            for other in &placed.texts[..index] {
                prop_assert!(!text.rect().overlaps(&other.rect()), "{text:?} {other:?}");
            }
        }
    }
    Ok(())
}

fn check_routes(diagram: &Diagram, layout: &Layout) -> Outcome {
    for (edge, route) in diagram.edges.iter().zip(&layout.routes) {
        let (from, to) = (&layout.nodes[edge.from.node], &layout.nodes[edge.to.node]);
        prop_assert!(from.rect.bottom() < to.rect.y);
        prop_assert_eq!(route.points[0], (from.outputs[edge.from.port], from.rect.bottom()));
        prop_assert_eq!(*route.points.last().unwrap(), (to.inputs[edge.to.port], to.rect.y));
        for (at, pair) in route.points.windows(2).enumerate() {
            let (a, b) = (pair[0], pair[1]);
            let fits = if at % 2 == 0 { a.0 == b.0 && a.1 < b.1 } else { a.1 == b.1 && a.0 != b.0 };
            prop_assert!(fits, "{:?}", route.points);
        }
    }
    Ok(())
}

/// No arrow passes through a box or a label that is not its own, and arrows from different outputs meet only to cross.
fn check_clear_lines(diagram: &Diagram, layout: &Layout) -> Outcome {
    let pieces = pieces(diagram, layout);
    for (at, piece) in pieces.iter().enumerate() {
        for (index, node) in layout.nodes.iter().enumerate() {
            prop_assert!(!crosses(piece, &node.rect), "{:?}-{:?} {:?}", piece.from, piece.to, node.rect);
            for text in &node.texts {
                let own = piece.source.node == index;
                prop_assert!(
                    own || !crosses(piece, &text.rect()),
                    "{:?}-{:?} {text:?}",
                    piece.from,
                    piece.to
                );
            }
        }
        for other in pieces[..at].iter().filter(|other| other.source != piece.source) {
            let upright = |piece: &Piece| piece.from.0 == piece.to.0;
            if upright(piece) != upright(other) {
                continue;
            }
            let (a, b) = (bounds(piece), bounds(other));
            let near = a.0 < b.1 + 3 && b.0 < a.1 + 3 && a.2 < b.3 + 3 && b.2 < a.3 + 3;
            prop_assert!(!near, "{:?}-{:?} {:?}-{:?}", piece.from, piece.to, other.from, other.to);
        }
    }
    Ok(())
}

fn bounds(piece: &Piece) -> (i64, i64, i64, i64) {
    let (a, b) = (piece.from, piece.to);
    (a.0.min(b.0), a.0.max(b.0), a.1.min(b.1), a.1.max(b.1))
}

fn check_frames(diagram: &Diagram, layout: &Layout) -> Outcome {
    let encloses = |outer: &Rect, inner: &Rect| {
        outer.x < inner.x
            && outer.y < inner.y
            && inner.right() < outer.right()
            && inner.bottom() < outer.bottom()
    };
    for (node, placed) in diagram.nodes.iter().zip(&layout.nodes) {
        let around =
            layout.frames.iter().filter(|frame| frame.rect.overlaps(&placed.rect)).collect::<Vec<_>>();
        prop_assert_eq!(
            around.iter().map(|frame| &frame.name).collect::<Vec<_>>(),
            node.cluster.iter().collect::<Vec<_>>()
        );
        prop_assert!(around.iter().all(|frame| encloses(&frame.rect, &placed.rect)));
    }
    for (at, frame) in layout.frames.iter().enumerate() {
        for other in &layout.frames[..at] {
            let apart = !frame.rect.overlaps(&other.rect);
            prop_assert!(apart || encloses(&other.rect, &frame.rect), "{frame:?} {other:?}");
        }
    }
    Ok(())
}

fn check_bands(diagram: &Diagram, layout: &Layout) -> Outcome {
    prop_assert_eq!(layout.bands.len(), diagram.segments.len());
    for (node, placed) in diagram.nodes.iter().zip(&layout.nodes) {
        if let Some(segment) = node.segment {
            let band = &layout.bands[segment as usize];
            prop_assert!(band.top < placed.rect.y && placed.rect.bottom() < band.bottom);
        }
    }
    Ok(())
}
