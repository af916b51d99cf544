//! Writes a diagram as one SVG file: no scripts, no fonts, no links; light or dark as the reader's system is.
//!
//! Everything that comes from the diagram is escaped, so that any name gives well-formed XML. Details are in `<title>`
//! elements, which browsers show on hovering and screen readers read.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::diagram::{Diagram, DiagramError, EdgeKind, Node, NodeKind};
use super::layout::{self, Anchor, Frame, HUES, Layout, PlacedNode, Rect, Role, Route, shorten};

/// Which colours to write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// Light, and dark where the reader's system asks for it.
    #[default]
    Auto,
    /// Light only.
    Light,
    /// Dark only.
    Dark,
}

/// The diagram as an SVG document.
pub fn svg(diagram: &Diagram, theme: Theme) -> Result<String, DiagramError> {
    let layout = layout::layout(diagram)?;
    Ok(Writer { diagram, layout: &layout, marks: &[], out: String::new() }.document(theme))
}

/// Makes a box findable by scripts in the page that a diagram is embedded in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// Its number in that page, as `data-node`.
    pub position: usize,
    /// The number of a badge at its corner.
    pub rank: Option<usize>,
}

/// The diagram as an SVG element of an HTML page, by boxes' indices with marks. Arrows have the numbers of the boxes that they
/// join, as `data-ends`.
pub(super) fn embedded(diagram: &Diagram, marks: &[Option<Mark>]) -> Result<String, DiagramError> {
    let layout = layout::layout(diagram)?;
    Ok(Writer { diagram, layout: &layout, marks, out: String::new() }.document(Theme::Auto))
}

/// Escapes text for XML content and quoted attributes; characters that XML 1.0 does not allow become U+FFFD.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' | '\r' => escaped.push(c),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(c),
        }
    }
    escaped
}

/// Colours of one theme.
pub(super) struct Palette {
    pub paper: &'static str,
    pub text: &'static str,
    pub muted: &'static str,
    pub band: &'static str,
    /// Fill and outline of frames.
    frame: (&'static str, &'static str),
    /// What has to do with waits of the host.
    pub wait: &'static str,
    /// What colours shares.
    pub tint: &'static str,
    /// Fill and outline by kind, in the order of [`KINDS`].
    kinds: [(&'static str, &'static str); 7],
    pub hues: [&'static str; HUES],
}

/// The rules that `rules` makes of the colours of a theme.
pub(super) fn themed(theme: Theme, rules: fn(&Palette) -> String) -> String {
    match theme {
        Theme::Light => rules(&LIGHT),
        Theme::Dark => rules(&DARK),
        Theme::Auto => format!("{}@media (prefers-color-scheme:dark){{{}}}", rules(&LIGHT), rules(&DARK)),
    }
}

/// Every kind of box: its class and what the legend calls it.
const KINDS: [(NodeKind, &str, &str); 7] = [
    (NodeKind::DevicePass, "device", "device pass"),
    (NodeKind::HostPass, "host", "host pass"),
    (NodeKind::Input, "input", "input"),
    (NodeKind::Output, "output", "output"),
    (NodeKind::Count, "count", "count"),
    (NodeKind::Check, "check", "check"),
    (NodeKind::Join, "join", "join"),
];

const EDGE_KINDS: [(EdgeKind, &str); 4] = [
    (EdgeKind::Data, "read"),
    (EdgeKind::Update, "update in place"),
    (EdgeKind::Accumulate, "accumulate"),
    (EdgeKind::Await, "waits for"),
];

const LIGHT: Palette = Palette {
    paper: "#ffffff",
    text: "#1b2230",
    muted: "#5d6879",
    band: "#f4f6fa",
    frame: ("#e9eef7", "#8c9bb5"),
    wait: "#c2410c",
    tint: "#f97316",
    kinds: [
        ("#ffffff", "#4a5b7c"),
        ("#fff3d6", "#a86a00"),
        ("#e2f4e8", "#2b7a4b"),
        ("#d5eedd", "#2b7a4b"),
        ("#ece5fb", "#6d4bc4"),
        ("#fde3e1", "#b93630"),
        ("#edf0f4", "#707d90"),
    ],
    hues: ["#2563c9", "#b85c00", "#23803a", "#c0265a", "#7442cf", "#0a8488", "#85652c", "#a93192"],
};

const DARK: Palette = Palette {
    paper: "#14171d",
    text: "#e8ecf3",
    muted: "#9ba6b7",
    band: "#1a1e26",
    frame: ("#222936", "#5d6c86"),
    wait: "#ff9b63",
    tint: "#f97316",
    kinds: [
        ("#262d3a", "#8fa2c8"),
        ("#3d3116", "#e0ab4a"),
        ("#193626", "#63c48a"),
        ("#1f4730", "#63c48a"),
        ("#322654", "#b096f5"),
        ("#4a2020", "#f28b85"),
        ("#2b313b", "#98a4b5"),
    ],
    hues: ["#78a9ff", "#ffae62", "#70d58c", "#ff86a6", "#bca0ff", "#52d3d5", "#d6b981", "#f095de"],
};

fn rules(palette: &Palette) -> String {
    let mut css = format!(
        ".weft .paper{{fill:{}}}.weft text{{fill:{}}}.weft .muted{{fill:{}}}.weft .band{{fill:{}}}\
         .weft .frame{{fill:{};stroke:{}}}.weft .halo{{stroke:{}}}.weft .wait{{stroke:{}}}\
         .weft text.waits{{fill:{}}}.weft .tint{{fill:{}}}.weft .tick{{stroke:{}}}",
        palette.paper,
        palette.text,
        palette.muted,
        palette.band,
        palette.frame.0,
        palette.frame.1,
        palette.frame.0,
        palette.wait,
        palette.wait,
        palette.tint,
        palette.muted,
    );
    for ((_, class, _), (fill, stroke)) in KINDS.iter().zip(palette.kinds) {
        let _ = write!(css, ".weft .{class} .shape{{fill:{fill};stroke:{stroke}}}");
    }
    for (index, hue) in palette.hues.iter().enumerate() {
        let _ = write!(
            css,
            ".weft .h{index} .line{{stroke:{hue}}}.weft .h{index} .head{{fill:{hue};stroke:{hue}}}"
        );
    }
    let _ = write!(css, ".weft .open .head{{fill:{}}}", palette.paper);
    css
}

const STYLE: &str = ".weft text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",\
    \"Liberation Mono\",monospace;font-size:10px}\
    .weft .name{font-size:15px;font-weight:bold}.weft .title{font-size:12px;font-weight:bold}\
    .weft .label{font-size:9px}.weft .m{text-anchor:middle}.weft .shape{stroke-width:1.2}\
    .weft .frame{stroke-width:1;stroke-dasharray:none}.weft .framename{font-style:italic;paint-order:stroke}\
    .weft .halo{stroke-width:4;stroke-linejoin:round}\
    .weft .wait{stroke-width:1.2;stroke-dasharray:7 4;fill:none}.weft .tick{stroke-width:.7;fill:none}\
    .weft .line{fill:none;stroke-width:1.4;stroke-linejoin:round}.weft .hit{fill:none;stroke:none;stroke-width:9;\
    pointer-events:stroke}.weft .dashed .line{stroke-dasharray:4 3}.weft .head{stroke-width:1}\
    .weft .net:hover .line{stroke-width:3.2}.weft .box:hover .shape{stroke-width:2.4}.weft .join .line{font-style:italic}";

struct Writer<'a> {
    diagram: &'a Diagram,
    layout: &'a Layout,
    /// By box; empty in a document of its own.
    marks: &'a [Option<Mark>],
    out: String,
}

const HEADER: i64 = 34;
const CAPTION_ROW: i64 = 14;
const LEGEND_ROW: i64 = 26;
const SIDE: i64 = 20;

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn document(mut self, theme: Theme) -> String {
        let header = HEADER + CAPTION_ROW * self.diagram.caption.len() as i64;
        let captions = self.diagram.caption.iter().map(|line| Role::Line.width(line) + 2 * SIDE).max();
        let title = Role::Title.width(&self.diagram.title) * 5 / 4 + 2 * SIDE;
        let width = self.layout.width.max(title).max(captions.unwrap_or(0)).max(480);
        let (legend, legend_height) = self.legend(width);
        let height = header + self.layout.height + legend_height;
        self.head(width, height, theme);
        let _ = writeln!(self.out, "<rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>");
        let title = escape(&self.diagram.title);
        let _ = writeln!(self.out, "<text class=\"name\" x=\"{SIDE}\" y=\"25\">{title}</text>");
        for (at, line) in self.diagram.caption.iter().enumerate() {
            let y = 40 + CAPTION_ROW * at as i64;
            let _ =
                writeln!(self.out, "<text class=\"muted\" x=\"{SIDE}\" y=\"{y}\">{}</text>", escape(line));
        }
        let _ = writeln!(self.out, "<g transform=\"translate(0 {header})\">");
        self.bands(width);
        self.layout.frames.iter().for_each(|frame| self.frame(frame));
        self.nets();
        for (index, (node, placed)) in self.diagram.nodes.iter().zip(&self.layout.nodes).enumerate() {
            self.node(index, node, placed);
        }
        self.layout.frames.iter().for_each(|frame| self.frame_name(frame));
        self.line("</g>");
        let _ = writeln!(self.out, "<g transform=\"translate(0 {})\">", header + self.layout.height);
        self.out.push_str(&legend);
        self.line("</g>\n</svg>");
        self.out
    }

    fn head(&mut self, width: i64, height: i64, theme: Theme) {
        let description = format!(
            "{} boxes and {} arrows, from inputs at the top to outputs at the bottom.",
            self.diagram.nodes.len(),
            self.diagram.edges.len()
        );
        let style = themed(theme, rules);
        let _ = writeln!(
            self.out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"weft\" role=\"{}\" aria-label=\"{}\" \
             width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n<title>{}</title>\n\
             <desc>{description}</desc>\n<style>{STYLE}{style}</style>",
            // What an image consists of cannot be reached by itself.
            if self.marks.is_empty() { "img" } else { "group" },
            escape(&self.diagram.title),
            escape(&self.diagram.title),
        );
    }

    fn bands(&mut self, width: i64) {
        for (index, (band, segment)) in self.layout.bands.iter().zip(&self.diagram.segments).enumerate() {
            let (top, height) = (band.top, band.bottom - band.top);
            if index % 2 == 1 {
                let _ = writeln!(
                    self.out,
                    "<rect class=\"band\" x=\"0\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/>"
                );
            }
            let mut y = top + 16;
            if index > 0 {
                let _ = writeln!(self.out, "<path class=\"wait\" d=\"M0 {top}H{width}\"/>");
                for text in &segment.waits_for {
                    let text = escape(&shorten(text, layout::GUTTER_CHARS));
                    let _ = writeln!(self.out, "<text class=\"waits\" x=\"8\" y=\"{y}\">{text}</text>");
                    y += 12;
                }
                y += 4;
            }
            let text = escape(&shorten(&segment.title, layout::GUTTER_CHARS));
            let _ = writeln!(self.out, "<text class=\"muted\" x=\"8\" y=\"{y}\">{text}</text>");
        }
    }

    fn frame(&mut self, frame: &Frame) {
        let Rect { x, y, w, h } = frame.rect;
        let _ = writeln!(
            self.out,
            "<g><title>{}</title><rect class=\"frame\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"9\"/></g>",
            escape(&frame.name)
        );
    }

    fn frame_name(&mut self, frame: &Frame) {
        let (x, y) = frame.label;
        let name = escape(&frame.name);
        let _ = writeln!(self.out, "<text class=\"framename halo\" x=\"{x}\" y=\"{y}\">{name}</text>");
    }

    /// Arrows, those from one output in one group, so that hovering shows all of them.
    fn nets(&mut self) {
        let mut order = (0..self.diagram.edges.len()).collect::<Vec<_>>();
        order.sort_by_key(|&edge| (self.diagram.edges[edge].from, edge));
        let sources = order.chunk_by(|&a, &b| self.diagram.edges[a].from == self.diagram.edges[b].from);
        for net in sources.map(<[usize]>::to_vec).collect::<Vec<_>>() {
            let _ = writeln!(self.out, "<g class=\"net h{}\">", self.layout.routes[net[0]].hue);
            let mut drawn: Vec<&Route> = Vec::new();
            for edge in net {
                let route = &self.layout.routes[edge];
                self.edge(edge, &branch(route, &drawn));
                drawn.push(route);
            }
            self.line("</g>");
        }
    }

    fn edge(&mut self, index: usize, visible: &[(i64, i64)]) {
        let edge = &self.diagram.edges[index];
        let route = &self.layout.routes[index];
        let class = if edge.kind == EdgeKind::Await { " class=\"dashed open\"" } else { "" };
        let ends = self.ends(edge.from.node, edge.to.node);
        let from = port_name(&self.diagram.nodes[edge.from.node], edge.from.port, false);
        let to = port_name(&self.diagram.nodes[edge.to.node], edge.to.port, true);
        let title = tooltip(&format!("{from} → {to}"), &edge.tooltip);
        let width = edge.weight.map_or(String::new(), |weight| {
            format!(" style=\"stroke-width:{:.1}\"", 1.2 + 2.8 * weight.clamp(0.0, 1.0))
        });
        let (visible, whole) = (path(visible), path(&route.points));
        let _ = writeln!(
            self.out,
            "<g{class}{ends}>{title}<path class=\"line\"{width} d=\"{visible}\"/><path class=\"hit\" d=\"{whole}\"/>{}</g>",
            route.points.last().map_or(String::new(), |&(x, y)| arrow_head(
                edge.kind,
                x,
                y,
                edge.weight.unwrap_or(0.0)
            ))
        );
    }

    fn mark(&self, node: usize) -> Option<Mark> {
        self.marks.get(node).copied().flatten()
    }

    fn ends(&self, from: usize, to: usize) -> String {
        let ends = [from, to].into_iter().filter_map(|node| Some(self.mark(node)?.position.to_string()));
        let ends = ends.collect::<Vec<_>>().join(" ");
        if ends.is_empty() { ends } else { format!(" data-ends=\"{ends}\"") }
    }

    /// A large number beside the left edge, where no port is.
    fn badge(&mut self, rank: usize, rect: Rect) {
        let (x, y) = (rect.x - 19, rect.y + rect.h / 2);
        let _ = writeln!(
            self.out,
            "<circle class=\"badge\" cx=\"{x}\" cy=\"{y}\" r=\"17\"/><text class=\"badge m\" x=\"{x}\" y=\"{}\">{rank}</text>",
            y + 8
        );
    }

    fn node(&mut self, index: usize, node: &Node, placed: &PlacedNode) {
        let class = KINDS.iter().find(|(kind, ..)| *kind == node.kind).map_or("", |(_, class, _)| class);
        let mut details = vec![node.title.clone()];
        details.push(node.subtitle.clone());
        details.extend(node.tooltip.iter().cloned());
        let title =
            tooltip(&node.id, &details.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>());
        let mark = self.mark(index);
        let found = mark.map_or(String::new(), |mark| format!(" data-node=\"{}\"", mark.position));
        let _ =
            write!(self.out, "<g class=\"box {class}\"{found}>{title}{}", outline(node.kind, placed.rect));
        if let Some(share) = node.tint {
            let Rect { x, y, w, h } = placed.rect;
            let opacity = 0.08 + 0.6 * share.clamp(0.0, 1.0);
            let _ = write!(
                self.out,
                "<rect class=\"tint\" fill-opacity=\"{opacity:.2}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"5\"/>"
            );
        }
        for (x, top, bottom) in &placed.ticks {
            let _ = write!(self.out, "<path class=\"tick\" d=\"M{x} {top}V{bottom}\"/>");
        }
        self.line("");
        for text in &placed.texts {
            let class = match text.role {
                Role::Title => "title",
                Role::Subtitle | Role::Fixed => "muted",
                Role::Line => "line-text",
                Role::Port => "port",
                Role::Label => "label muted",
            };
            let middle = if text.anchor == Anchor::Middle { " m" } else { "" };
            let content = escape(&text.content);
            let _ = writeln!(
                self.out,
                "<text class=\"{class}{middle}\" x=\"{}\" y=\"{}\">{content}</text>",
                text.x, text.y
            );
        }
        self.ports(node, placed);
        if let Some(rank) = mark.and_then(|mark| mark.rank) {
            self.badge(rank, placed.rect);
        }
        self.line("</g>");
    }

    /// Invisible targets over the ports, for their details.
    fn ports(&mut self, node: &Node, placed: &PlacedNode) {
        let inputs = placed.inputs.iter().zip(&node.inputs).enumerate();
        let inputs = inputs.map(|(at, (x, port))| (*x, placed.rect.y, port, port_name(node, at, true)));
        let outputs = placed.outputs.iter().zip(&node.outputs).enumerate();
        let outputs =
            outputs.map(|(at, (x, port))| (*x, placed.rect.bottom() - 14, port, port_name(node, at, false)));
        for (x, y, port, name) in inputs.chain(outputs) {
            let mut details = port.label.clone();
            details.extend(port.fixed.iter().map(|fixed| format!("= {fixed}")));
            details.extend(port.tooltip.iter().cloned());
            if details.is_empty() {
                continue;
            }
            let title = tooltip(&name, &details);
            let _ = writeln!(
                self.out,
                "<g>{title}<rect fill=\"none\" pointer-events=\"all\" x=\"{}\" y=\"{y}\" width=\"16\" height=\"14\"/></g>",
                x - 8
            );
        }
    }

    /// What shapes and arrows mean, as far as they occur, and the height it takes.
    fn legend(&self, width: i64) -> (String, i64) {
        let kinds = self.diagram.nodes.iter().map(|node| node.kind).collect::<BTreeSet<_>>();
        let arrows = self.diagram.edges.iter().map(|edge| edge.kind).collect::<BTreeSet<_>>();
        let mut legend = String::new();
        let (mut x, mut y) = (SIDE, 8);
        let mut advance = |name: &str| {
            let item = 44 + Role::Line.width(name) + 18;
            if x + item > width && x > SIDE {
                (x, y) = (SIDE, y + LEGEND_ROW);
            }
            x += item;
            (x - item, y)
        };
        for (kind, class, name) in KINDS.iter().filter(|(kind, ..)| kinds.contains(kind)) {
            let (x, y) = advance(name);
            let shape = outline(*kind, Rect { x, y, w: 36, h: 16 });
            let _ = writeln!(
                legend,
                "<g class=\"{class}\">{shape}<text x=\"{}\" y=\"{}\">{name}</text></g>",
                x + 44,
                y + 12
            );
        }
        for (kind, name) in EDGE_KINDS.iter().filter(|(kind, _)| arrows.contains(kind)) {
            let (x, y) = advance(name);
            let class = if *kind == EdgeKind::Await { "h0 dashed open" } else { "h0" };
            let _ = writeln!(
                legend,
                "<g class=\"{class}\"><path class=\"line\" d=\"M{} {y}V{}\"/>{}<text x=\"{}\" y=\"{}\">{name}</text></g>",
                x + 30,
                y + 16,
                arrow_head(*kind, x + 30, y + 18, 0.0),
                x + 44,
                y + 12
            );
        }
        (legend, y + LEGEND_ROW + 6)
    }
}

/// `node.port`, as far as the port has a name.
fn port_name(node: &Node, port: usize, input: bool) -> String {
    let ports = if input { &node.inputs } else { &node.outputs };
    match ports.get(port) {
        Some(port) if !port.name.is_empty() => format!("{}.{}", node.id, port.name),
        _ => node.id.clone(),
    }
}

fn tooltip(first: &str, more: &[String]) -> String {
    let mut text = first.to_owned();
    for line in more.iter().filter(|line| *line != first) {
        text.push('\n');
        text.push_str(line);
    }
    format!("<title>{}</title>", escape(&text))
}

/// The outline of a box; every kind has its own.
fn outline(kind: NodeKind, rect: Rect) -> String {
    let Rect { x, y, w, h } = rect;
    let (right, bottom) = (rect.right(), rect.bottom());
    let rounded = |inset: i64, radius: i64| {
        format!(
            "<rect class=\"shape\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{radius}\"/>",
            x + inset,
            y + inset,
            w - 2 * inset,
            h - 2 * inset
        )
    };
    let closed = |path: String| format!("<path class=\"shape\" d=\"{path}Z\"/>");
    match kind {
        NodeKind::DevicePass => rounded(0, 5),
        NodeKind::HostPass => {
            let bars = format!("M{} {y}V{bottom}M{} {y}V{bottom}", x + 4, right - 4);
            format!("{}<path class=\"shape\" d=\"{bars}\"/>", rounded(0, 0))
        }
        NodeKind::Input => rounded(0, h.min(24) / 2),
        NodeKind::Output => format!("{}{}", rounded(0, h.min(24) / 2), rounded(3, (h.min(24) - 6) / 2)),
        NodeKind::Count => closed(format!(
            "M{x} {}L{} {y}H{}L{right} {}L{} {bottom}H{}",
            y + h / 2,
            x + 9,
            right - 9,
            y + h / 2,
            right - 9,
            x + 9
        )),
        NodeKind::Check => closed(format!(
            "M{x} {}L{} {y}H{}L{right} {}V{}L{} {bottom}H{}L{x} {}",
            y + 6,
            x + 6,
            right - 6,
            y + 6,
            bottom - 6,
            right - 6,
            x + 6,
            bottom - 6
        )),
        NodeKind::Join => closed(format!("M{x} {y}H{right}L{} {bottom}H{}", right - 9, x + 9)),
    }
}

/// The head of an arrow whose tip is at (x, y), pointing down; a little larger on wide lines.
fn arrow_head(kind: EdgeKind, x: i64, y: i64, weight: f64) -> String {
    match kind {
        EdgeKind::Data | EdgeKind::Await => {
            let half = 3 + (2.0 * weight.clamp(0.0, 1.0)).round() as i64;
            format!("<path class=\"head\" d=\"M{x} {y}L{} {}H{}Z\"/>", x - half, y - 2 * half - 1, x + half)
        }
        EdgeKind::Update => {
            format!(
                "<path class=\"head\" d=\"M{x} {y}L{} {}L{x} {}L{} {}Z\"/>",
                x - 4,
                y - 5,
                y - 10,
                x + 4,
                y - 5
            )
        }
        EdgeKind::Accumulate => {
            let plus = format!("M{} {}H{}M{x} {}V{}", x - 3, y - 5, x + 3, y - 8, y - 2);
            format!(
                "<g class=\"open\"><circle class=\"head\" cx=\"{x}\" cy=\"{}\" r=\"5\"/></g><path class=\"line\" d=\"{plus}\"/>",
                y - 5
            )
        }
    }
}

/// The corner radius of arrows.
const RADIUS: i64 = 6;

type Point = (i64, i64);

/// The point that lies `by` from `from` on the straight way to `to`.
fn step(from: Point, to: Point, by: i64) -> Point {
    (from.0 + (to.0 - from.0).signum() * by, from.1 + (to.1 - from.1).signum() * by)
}

fn length(a: Point, b: Point) -> i64 {
    (a.0 - b.0).abs() + (a.1 - b.1).abs()
}

/// What of a route is still to be drawn once others from the same output are: from a little before the corner at which
/// it leaves the last of them.
fn branch(route: &Route, drawn: &[&Route]) -> Vec<Point> {
    let points = &route.points;
    // The corner from which the rest is drawn, and where exactly; the furthest over all that are drawn.
    let mut start = (1, points[0]);
    for other in drawn.iter().map(|other| &other.points) {
        let same = points.iter().zip(other).take_while(|(a, b)| a == b).count();
        let (Some(&here), Some(&there)) = (points.get(same), other.get(same)) else { continue };
        let last = points[same - 1];
        let along = step((0, 0), (here.0 - last.0, here.1 - last.1), 1)
            == step((0, 0), (there.0 - last.0, there.1 - last.1), 1);
        let from = if !along {
            // One goes on or turns the other way: the corner before is drawn again.
            let before = if same >= 2 { points[same - 2] } else { last };
            (same.max(2) - 1, step(last, before, RADIUS.min(length(last, before) / 2)))
        } else if length(last, here) < length(last, there) {
            (same, step(here, last, RADIUS.min(length(last, here) / 2)))
        } else {
            (same, step(there, last, RADIUS.min(length(last, there) / 2)))
        };
        if from.0 > start.0
            || from.0 == start.0 && length(points[from.0 - 1], from.1) > length(points[start.0 - 1], start.1)
        {
            start = from;
        }
    }
    std::iter::once(start.1).chain(points[start.0..].iter().copied()).collect()
}

/// A line as path data, corners rounded.
fn path(points: &[Point]) -> String {
    let Some(first) = points.first() else { return String::new() };
    let mut path = format!("M{} {}", first.0, first.1);
    for (at, corner) in points.windows(3).enumerate() {
        let (before, corner, after) = (corner[0], corner[1], corner[2]);
        // A branch begins one radius before its first corner.
        let room = if at == 0 { length(before, corner) } else { length(before, corner) / 2 };
        let radius = RADIUS.min(room).min(length(corner, after) / 2);
        let (start, end) = (step(corner, before, radius), step(corner, after, radius));
        let _ = write!(path, "L{} {}Q{} {} {} {}", start.0, start.1, corner.0, corner.1, end.0, end.1);
    }
    if let Some(last) = points.last().filter(|_| points.len() > 1) {
        let _ = write!(path, "L{} {}", last.0, last.1);
    }
    path
}
