//! Sizes boxes, and decides where ports and texts stand in them, once the order of the ports is known.

use super::order::Layered;
use crate::report::diagram::{Diagram, Node, NodeKind, Port};

/// What a text is; decides its style.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The name of a box.
    Title,
    /// The line below it.
    Subtitle,
    /// A further line in the box.
    Line,
    /// The name of a port with arrows.
    Port,
    /// Names of ports that are fed with constants, and the constants.
    Fixed,
    /// About the value that leaves an output.
    Label,
}

impl Role {
    /// Font size in pixels.
    pub fn size(self) -> f64 {
        match self {
            Role::Title => 12.0,
            Role::Subtitle | Role::Line | Role::Port | Role::Fixed => 10.0,
            Role::Label => 9.0,
        }
    }

    /// The width of a text, rounded up.
    pub fn width(self, text: &str) -> i64 {
        // East Asian characters are two cells wide; treating all from Hangul on so errs on the side of room.
        let cells: f64 = text.chars().map(|c| if c >= '\u{1100}' { 2.0 } else { 1.0 }).sum();
        (cells * self.size() * 0.605).ceil() as i64
    }
}

/// Which part of a text its x is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its left end.
    Start,
    /// Its middle.
    Middle,
}

/// A piece of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Where, see `anchor`.
    pub x: i64,
    /// The baseline.
    pub y: i64,
    /// What `x` is about.
    pub anchor: Anchor,
    /// What it is.
    pub role: Role,
    /// The text as shown, shortened where it was too long.
    pub content: String,
}

impl Text {
    /// The rectangle it takes.
    pub fn rect(&self) -> super::Rect {
        let (w, h) = (self.role.width(&self.content), self.role.size() as i64);
        let x = if self.anchor == Anchor::Start { self.x } else { self.x - w / 2 };
        super::Rect { x, y: self.y - h * 8 / 10, w, h }
    }
}

/// The longest title, the longest other line in a box and the longest text at a port that is shown whole.
const TITLE_CHARS: usize = 40;
const LINE_CHARS: usize = 32;
const TEXT_CHARS: usize = 26;

/// The text, or its beginning and an ellipsis if it is longer than `limit` characters. Control characters become spaces.
pub fn shorten(text: &str, limit: usize) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    if text.chars().count() <= limit {
        return text.chars().map(clean).collect();
    }
    text.chars().take(limit.saturating_sub(1)).map(clean).chain(['…']).collect()
}

/// A box at the origin.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub w: i64,
    pub h: i64,
    /// Height with the labels below the box.
    pub foot: i64,
    pub inputs: Vec<i64>,
    pub outputs: Vec<i64>,
    pub ticks: Vec<(i64, i64, i64)>,
    pub texts: Vec<Text>,
}

/// From this many named ports on, names stand alternately in two rows.
const STAGGER_FROM: usize = 4;
const ROW: i64 = 12;
const LABEL_ROW: i64 = 10;
/// Least distance between ports, so that lines to them stay apart.
const PITCH: i64 = 16;

pub(super) fn shapes(diagram: &Diagram, layered: &Layered) -> Vec<Shape> {
    let orders = layered.inputs.iter().zip(&layered.outputs);
    diagram.nodes.iter().zip(orders).map(|(node, (inputs, outputs))| shape(node, inputs, outputs)).collect()
}

/// A row of ports, places relative to the first port's left extent.
struct PortRow {
    /// Places, in drawing order.
    x: Vec<i64>,
    /// Which of the rows of names each uses.
    rows: Vec<usize>,
    extent: i64,
}

fn shape(node: &Node, input_order: &[usize], output_order: &[usize]) -> Shape {
    let wired =
        input_order.iter().copied().filter(|&port| node.inputs[port].fixed.is_none()).collect::<Vec<_>>();
    let input_order = wired.as_slice();
    let inputs = input_row(&node.inputs, input_order);
    let outputs = output_row(&node.outputs, output_order);
    let body = body(node);
    let body_width = body.iter().map(|(role, text)| role.width(text)).max().unwrap_or(0);
    let (side, port_side) = if is_pass(node.kind) { (12, 8) } else { (16, 14) };
    let w = (body_width + 2 * side)
        .max(inputs.extent + 2 * port_side)
        .max(outputs.extent + 2 * port_side)
        .max(40);
    let input_x = spread(&inputs, w, port_side);
    let output_x = spread_outputs(&outputs, w, port_side);

    let named_rows = |row: &PortRow, ports: &[Port], order: &[usize]| {
        let named = order.iter().zip(&row.rows).filter(|&(&port, _)| !ports[port].name.is_empty());
        named.map(|(_, &row)| row as i64 + 1).max().unwrap_or(0)
    };
    let input_rows = named_rows(&inputs, &node.inputs, input_order);
    let output_rows = named_rows(&outputs, &node.outputs, output_order);
    let mut texts = Vec::new();
    let mut ticks = Vec::new();
    for ((&port, &x), &row) in input_order.iter().zip(&input_x).zip(&inputs.rows) {
        let y = 12 + row as i64 * ROW;
        port_text(&mut texts, &node.inputs[port], x, y);
        if row > 0 {
            ticks.push((x, 0, y - 9));
        }
    }
    let mut y =
        if is_pass(node.kind) { 4 } else { 2 } + if input_rows > 0 { input_rows * ROW + 2 } else { 0 };
    for (role, content) in body {
        y += role.size() as i64 + 2;
        texts.push(Text { x: w / 2, y, anchor: Anchor::Middle, role, content });
    }
    y += if is_pass(node.kind) { 5 } else { 6 };
    if output_rows > 0 {
        y += ROW;
    }
    let h = y;
    let mut foot = h;
    for (&port, &x) in output_order.iter().zip(&output_x) {
        port_text(&mut texts, &node.outputs[port], x, h - 4);
        for (line, text) in node.outputs[port].label.iter().enumerate() {
            let y = h + 11 + line as i64 * LABEL_ROW;
            let content = shorten(text, TEXT_CHARS);
            texts.push(Text { x: x + LABEL_GAP, y, anchor: Anchor::Start, role: Role::Label, content });
            foot = foot.max(y + 4);
        }
    }
    let inputs = by_port(node.inputs.len(), input_order, &input_x, w / 2);
    let outputs = by_port(node.outputs.len(), output_order, &output_x, w / 2);
    Shape { w, h, foot, inputs, outputs, ticks, texts }
}

/// Between a line and the label at its right.
const LABEL_GAP: i64 = 5;

fn is_pass(kind: NodeKind) -> bool {
    matches!(kind, NodeKind::DevicePass | NodeKind::HostPass)
}

fn body(node: &Node) -> Vec<(Role, String)> {
    let title = if node.kind == NodeKind::Join { Role::Line } else { Role::Title };
    let mut body = vec![(title, shorten(&node.title, TITLE_CHARS))];
    if !node.subtitle.is_empty() {
        body.push((Role::Subtitle, shorten(&node.subtitle, LINE_CHARS)));
    }
    let fixed =
        node.inputs.iter().filter(|port| port.fixed.is_some()).map(|port| shorten(&port.text(), TEXT_CHARS));
    body.extend(wrap(fixed).into_iter().map(|line| (Role::Fixed, line)));
    body.extend(node.lines.iter().map(|line| (Role::Line, shorten(line, LINE_CHARS))));
    body
}

/// Items in lines of about [`TEXT_CHARS`] characters.
fn wrap(items: impl Iterator<Item = String>) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in items {
        match lines.last_mut() {
            Some(line) if line.chars().count() + item.chars().count() <= TEXT_CHARS => {
                line.push_str(", ");
                line.push_str(&item);
            }
            _ => lines.push(item),
        }
    }
    lines
}

fn port_text(texts: &mut Vec<Text>, port: &Port, x: i64, y: i64) {
    let content = shorten(&port.name, TEXT_CHARS);
    if !content.is_empty() {
        texts.push(Text { x, y, anchor: Anchor::Middle, role: Role::Port, content });
    }
}

fn half_width(port: &Port) -> i64 {
    (Role::Port.width(&shorten(&port.name, TEXT_CHARS)) + 1) / 2
}

fn input_row(ports: &[Port], order: &[usize]) -> PortRow {
    let halves = order.iter().map(|&port| half_width(&ports[port])).collect::<Vec<_>>();
    let stagger = halves.iter().filter(|&&half| half > 0).count() >= STAGGER_FROM;
    let rows = (0..order.len()).map(|at| if stagger { at % 2 } else { 0 }).collect::<Vec<_>>();
    let mut x = Vec::with_capacity(order.len());
    for at in 0..order.len() {
        let mut least = halves[at];
        for before in at.saturating_sub(2)..at {
            let distance = if rows[before] == rows[at] {
                halves[before] + halves[at] + 8
            } else {
                // The tick of a name in the lower row passes the names in the upper row.
                if rows[before] == 0 { halves[before] + 4 } else { halves[at] + 4 }
            };
            least = least.max(x[before] + distance.max(PITCH * (at - before) as i64));
        }
        x.push(least);
    }
    let extent = x.iter().zip(&halves).map(|(x, half)| x + half).max().unwrap_or(0);
    PortRow { x, rows, extent }
}

fn output_row(ports: &[Port], order: &[usize]) -> PortRow {
    let halves = order.iter().map(|&port| half_width(&ports[port])).collect::<Vec<_>>();
    let label_width = |port: &Port| {
        let width = |text: &String| Role::Label.width(&shorten(text, TEXT_CHARS)) + LABEL_GAP;
        port.label.iter().map(width).max().unwrap_or(0)
    };
    let labels = order.iter().map(|&port| label_width(&ports[port])).collect::<Vec<_>>();
    let mut x: Vec<i64> = Vec::with_capacity(order.len());
    for at in 0..order.len() {
        x.push(match at.checked_sub(1) {
            None => halves[at],
            Some(before) => {
                let names = halves[before] + halves[at] + 8;
                x[before] + names.max(labels[before] + 5).max(PITCH)
            }
        });
    }
    let right = halves.iter().zip(&labels).map(|(half, label)| *half.max(label));
    let extent = x.iter().zip(right).map(|(x, right)| x + right).max().unwrap_or(0);
    PortRow { x, rows: vec![0; order.len()], extent }
}

/// Places of a row in a box of width `w`: what is left over beside the margins goes in equal parts between and around
/// the ports.
fn spread(row: &PortRow, w: i64, side: i64) -> Vec<i64> {
    let count = row.x.len().max(1) as i64;
    let spare = w - row.extent - 2 * side;
    row.x.iter().enumerate().map(|(at, x)| x + side + spare * (2 * at as i64 + 1) / (2 * count)).collect()
}

/// How far a label may reach out of its box.
const LABEL_OVERHANG: i64 = 8;

/// A single output stands in the middle if its label has room there.
fn spread_outputs(row: &PortRow, w: i64, side: i64) -> Vec<i64> {
    let room = row.x.len() == 1 && row.extent - row.x[0] <= w / 2 + LABEL_OVERHANG;
    if room { vec![w / 2] } else { spread(row, w, side) }
}

/// Places by port; those that are not in the order get `other`.
fn by_port(count: usize, order: &[usize], x: &[i64], other: i64) -> Vec<i64> {
    let mut places = vec![other; count];
    order.iter().zip(x).for_each(|(&port, &x)| places[port] = x);
    places
}
