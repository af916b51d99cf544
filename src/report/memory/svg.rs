//! Lifetimes and the memory map as one drawing with one time axis: a column a node, in the order in which they run.
//!
//! From the top: names of nodes; shares of time, if they are given; bytes live; a row a buffer, from its first to its last position,
//! with a mark where a node touches it; each arena with its buffers as rectangles, time by offset. A buffer has one colour in both,
//! and its name in text.

use std::fmt::Write as _;

use indicatif::{BinaryBytes, HumanCount};

use super::chart::ending;
use super::{Lifetime, Memory, Role, Touch};
use crate::report::layout::HUES;
use crate::report::svg::{Palette, Theme, escape, themed};

const SIDE: f64 = 20.0;
const ROW: f64 = 14.0;
const NAME_CHARS: usize = 34;
/// The width of a character at 9.5 px.
const CHAR: f64 = 5.75;
const BYTES: f64 = 64.0;
const ARENA: f64 = 38.0;
/// Room for columns, and the limits of a column's width.
const COLUMNS: f64 = 900.0;
const COLUMN: (f64, f64) = (3.0, 30.0);
/// The narrowest column under which a name can stand.
const NAMED_COLUMN: f64 = 11.0;
const NODE_CHARS: usize = 26;
const SHARES: f64 = 56.0;
const LIVE: f64 = 46.0;
/// Height of the tallest arena, and of the lowest.
const MAP: (f64, f64) = (360.0, 15.0);
const GAP: f64 = 12.0;

/// A drawing inside of an SVG element.
pub(in crate::report) struct Figure {
    /// Its width in pixels.
    pub width: f64,
    /// Its height in pixels.
    pub height: f64,
    /// Where the first column begins.
    pub left: f64,
    /// How wide a column is.
    pub column: f64,
    /// The elements.
    pub body: String,
}

/// Lifetimes and memory map as an SVG document.
pub fn svg(memory: &Memory, theme: Theme) -> String {
    let figure = figure(memory, None);
    let symbols: Vec<String> =
        memory.symbols.iter().map(|(name, number)| format!("{name} = {number}")).collect();
    let totals = format!(
        "peak {}, lower bound {}, without reuse {}",
        BinaryBytes(memory.peak_bytes),
        BinaryBytes(memory.bound_bytes),
        BinaryBytes(memory.naive_bytes)
    );
    let captions = [totals, symbols.join(", "), format!("identity {}", memory.identity)];
    let mut lines = captions.into_iter().flat_map(|line| wrap(&line, 120)).collect::<Vec<_>>();
    lines.retain(|line| !line.is_empty());
    let top = 36.0 + 14.0 * lines.len() as f64;
    let width = figure
        .width
        .max(lines.iter().map(|line| line.chars().count()).max().unwrap_or(0) as f64 * 6.1 + 2.0 * SIDE);
    let height = top + figure.height;
    let title = escape(&format!("{}: lifetimes and memory map", memory.graph));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"weft-memory\" role=\"img\" aria-label=\"{title}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\">\n<title>{title}</title>\n\
         <style>{}</style>\n<rect class=\"paper\" width=\"{width:.0}\" height=\"{height:.0}\"/>\n\
         <text class=\"title\" x=\"{SIDE}\" y=\"25\">{title}</text>\n",
        style(theme)
    );
    for (at, line) in lines.iter().enumerate() {
        let y = 42.0 + 14.0 * at as f64;
        let _ = writeln!(out, "<text class=\"muted\" x=\"{SIDE}\" y=\"{y}\">{}</text>", escape(line));
    }
    let _ = writeln!(out, "<g transform=\"translate(0 {top})\">\n{}</g>\n</svg>", figure.body);
    out
}

/// Words in lines of at most `width` characters.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(", ") {
        let line = lines.last_mut().expect("there is one");
        if !line.is_empty() && line.chars().count() + word.chars().count() + 2 > width {
            line.push(',');
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push_str(", ");
            }
            line.push_str(word);
        }
    }
    lines
}

/// Rules for the drawing, whose outermost element has the class `weft-memory`.
pub(in crate::report) fn style(theme: Theme) -> String {
    let fixed = ".weft-memory text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\",\
        \"Liberation Mono\",monospace;font-size:9.5px}.weft-memory .title{font-size:15px;font-weight:bold}\
        .weft-memory .head{font-weight:bold}.weft-memory .e{text-anchor:end}.weft-memory .m{text-anchor:middle}\
        .weft-memory .wait{stroke-width:1.2;stroke-dasharray:7 4;fill:none}.weft-memory .life rect{stroke-width:1}\
        .weft-memory .bar{fill-opacity:.3}.weft-memory .tenant{fill-opacity:.22}.weft-memory .arena{fill:none}\
        .weft-memory .read{stroke-width:1.4}.weft-memory .life:hover .bar,.weft-memory .life:hover .tenant{fill-opacity:.6}";
    format!("{fixed}{}", themed(theme, rules))
}

fn rules(palette: &Palette) -> String {
    let mut css = format!(
        ".weft-memory .paper{{fill:{paper}}}.weft-memory text{{fill:{text}}}.weft-memory .muted{{fill:{muted}}}\
         .weft-memory .band{{fill:{band}}}.weft-memory .wait{{stroke:{wait}}}.weft-memory .share{{fill:{tint}}}\
         .weft-memory .arena{{stroke:{muted}}}.weft-memory .level{{fill:{muted};fill-opacity:.35}}\
         .weft-memory .peak{{fill:{wait}}}.weft-memory .read{{fill:{paper}}}",
        paper = palette.paper,
        text = palette.text,
        muted = palette.muted,
        band = palette.band,
        wait = palette.wait,
        tint = palette.tint,
    );
    for (index, hue) in palette.hues.iter().enumerate() {
        let _ = write!(
            css,
            ".weft-memory .h{index} .bar,.weft-memory .h{index} .tenant,.weft-memory .h{index} .write{{fill:{hue};stroke:{hue}}}\
             .weft-memory .h{index} .read{{stroke:{hue}}}"
        );
    }
    css
}

/// Draws the model. `shares` are the nodes' shares of time, by position.
pub(in crate::report) fn figure(memory: &Memory, shares: Option<&[f64]>) -> Figure {
    let names = memory.lifetimes.iter().map(|life| life.name.chars().count()).max().unwrap_or(0);
    let name_width = names.clamp(16, NAME_CHARS) as f64 * CHAR;
    let left = SIDE + name_width + BYTES + ARENA + 8.0;
    let nodes = memory.steps.len().max(1) as f64;
    let column = (COLUMNS / nodes).clamp(COLUMN.0, COLUMN.1);
    // Names of nodes lean out to the right.
    let width = left + nodes * column + 90.0;
    let mut drawing =
        Drawing { memory, left, column, name_end: SIDE + name_width, y: 0.0, out: String::new() };
    drawing.text("muted", SIDE, 12.0, "■ written  ○ read");
    drawing.text("muted", SIDE, 25.0, "◆ updated in place");
    drawing.text("muted", SIDE, 38.0, "┊ the host waits");
    let longest =
        memory.steps.iter().map(|step| step.name.chars().count()).max().unwrap_or(0).min(NODE_CHARS);
    // The sine of 55 degrees.
    let names = if column < NAMED_COLUMN { 18.0 } else { 12.0 + longest as f64 * CHAR * 0.82 };
    drawing.y = names.max(44.0);
    let top = drawing.y;
    if let Some(shares) = shares {
        drawing.shares(shares);
    }
    drawing.live();
    drawing.lifetimes();
    drawing.map();
    let height = drawing.y + 8.0;
    let content = std::mem::take(&mut drawing.out);
    drawing.columns(top, height);
    drawing.out.push_str(&content);
    Figure { width, height, left, column, body: drawing.out }
}

struct Drawing<'a> {
    memory: &'a Memory,
    left: f64,
    column: f64,
    name_end: f64,
    /// Where the next part begins.
    y: f64,
    out: String,
}

impl Drawing<'_> {
    fn x(&self, position: usize) -> f64 {
        self.left + position as f64 * self.column
    }

    fn right(&self) -> f64 {
        self.x(self.memory.steps.len())
    }

    fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let _ =
            writeln!(self.out, "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escape(text));
    }

    /// What lies behind everything: bands of segments, columns of nodes with their names, waits.
    fn columns(&mut self, top: f64, bottom: f64) {
        let (column, right) = (self.column, self.right());
        for (index, segment) in self.memory.segments.iter().enumerate().filter(|(_, range)| !range.is_empty())
        {
            let (x, w) = (self.x(segment.start), segment.len() as f64 * column);
            if index % 2 == 1 {
                let _ = writeln!(
                    self.out,
                    "<rect class=\"band\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"{w:.1}\" height=\"{:.1}\"/>",
                    bottom - top
                );
            }
        }
        for (position, step) in self.memory.steps.iter().enumerate() {
            let x = self.x(position);
            let title = escape(&format!("{position}: {}\n{} B live", step.name, HumanCount(step.live_bytes)));
            let _ = write!(
                self.out,
                "<g class=\"step\" data-node=\"{position}\"><title>{title}</title><rect class=\"col\" fill=\"none\" \
                 pointer-events=\"all\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"{column:.1}\" height=\"{:.1}\"/>",
                bottom - top
            );
            let (tx, ty) = (x + column / 2.0 + 3.0, top - 5.0);
            if column >= NAMED_COLUMN {
                let name = escape(&ending(&step.name, NODE_CHARS));
                let _ = write!(
                    self.out,
                    "<text transform=\"translate({tx:.1} {ty:.1}) rotate(-55)\">{name}</text>"
                );
            } else if position % (16.0 / column).ceil() as usize == 0 {
                let _ = write!(
                    self.out,
                    "<text class=\"m\" x=\"{:.1}\" y=\"{ty:.1}\">{position}</text>",
                    x + column / 2.0
                );
            }
            self.out.push_str("</g>\n");
        }
        for segment in self.memory.segments.iter().filter(|range| range.start > 0 && !range.is_empty()) {
            let x = self.x(segment.start);
            let _ = writeln!(
                self.out,
                "<path class=\"wait\" d=\"M{x:.1} {top:.1}V{bottom:.1}\"><title>the host waits</title></path>"
            );
        }
        let _ = writeln!(
            self.out,
            "<path class=\"arena\" stroke-width=\".5\" d=\"M{:.1} {top:.1}H{right:.1}\"/>",
            self.left
        );
    }

    fn shares(&mut self, shares: &[f64]) {
        let most = shares.iter().copied().fold(0.0, f64::max);
        let bottom = self.y + SHARES;
        self.text("head", SIDE, self.y + 16.0, "share of time");
        for (position, &share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            let height = (share / most * (SHARES - 16.0)).max(0.5);
            let (x, y, w) = (self.x(position), bottom - height, self.column);
            let _ = writeln!(
                self.out,
                "<rect class=\"share\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\"/>",
                x + 0.1 * w,
                0.8 * w
            );
            // Small ones can be read in the table.
            if share >= 0.05 && self.column >= NAMED_COLUMN {
                self.text("m", x + w / 2.0, y - 3.0, &format!("{:.0}%", share * 100.0));
            }
        }
        self.y = bottom + GAP;
    }

    fn live(&mut self) {
        let most = self.memory.steps.iter().map(|step| step.live_bytes).max().unwrap_or(0);
        self.text("head", SIDE, self.y + 16.0, "live");
        self.text("muted", SIDE, self.y + 30.0, &format!("at most {}", BinaryBytes(most)));
        let bottom = self.y + LIVE;
        for (position, step) in self.memory.steps.iter().enumerate().filter(|(_, step)| step.live_bytes > 0) {
            let height = (step.live_bytes as f64 / most as f64 * (LIVE - 4.0)).max(0.5);
            let class = if position == self.memory.peak_position { "peak" } else { "level" };
            let _ = writeln!(
                self.out,
                "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height:.1}\"/>",
                self.x(position),
                bottom - height,
                self.column
            );
        }
        self.y = bottom + GAP;
    }

    fn lifetimes(&mut self) {
        self.text("head", SIDE, self.y + 10.0, "lifetimes");
        let size_end = self.name_end + BYTES;
        self.text("muted e", size_end, self.y + 10.0, "bytes");
        self.text("muted e", size_end + ARENA, self.y + 10.0, "arena");
        self.y += 15.0;
        for (index, life) in self.memory.lifetimes.iter().enumerate() {
            self.lifetime(index, life);
            self.y += ROW;
        }
        self.y += GAP;
    }

    fn lifetime(&mut self, index: usize, life: &Lifetime) {
        let baseline = self.y + 10.0;
        let (x, w) = (self.x(life.first), (life.last - life.first + 1) as f64 * self.column);
        self.life(index, life);
        self.text("", SIDE, baseline, &ending(&life.name, NAME_CHARS));
        let size_end = self.name_end + BYTES;
        self.text("muted e", size_end, baseline, &BinaryBytes(life.size_bytes).to_string());
        self.text("muted e", size_end + ARENA, baseline, &life.arena.to_string());
        let _ = writeln!(
            self.out,
            "<rect class=\"bar\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{w:.1}\" height=\"8\" rx=\"1.5\"/>",
            self.y + 3.0
        );
        for (&position, &touch) in &life.touches {
            self.touch(position, touch);
        }
        self.out.push_str("</g>\n");
    }

    /// Opens the group of a buffer. Readers of the drawing find its nodes and its number in it.
    fn life(&mut self, index: usize, life: &Lifetime) {
        let touched = life.touches.keys().map(usize::to_string).collect::<Vec<_>>().join(" ");
        let _ = write!(
            self.out,
            "<g class=\"life h{}\" data-life=\"{index}\" data-touches=\"{touched}\"><title>{}</title>",
            index % HUES,
            escape(&self.details(life))
        );
    }

    fn details(&self, life: &Lifetime) -> String {
        let name = |position: usize| self.memory.steps.get(position).map_or("", |step| step.name.as_str());
        let role = match life.role {
            Role::Given => ", filled by the host",
            Role::Scratch => "",
            Role::Output => ", handed out",
        };
        let mut lines = vec![
            format!("{}{role}", life.name),
            format!(
                "{} B at offset {} of arena {}",
                HumanCount(life.size_bytes),
                HumanCount(life.offset_bytes),
                life.arena
            ),
            format!("from {} to {}", name(life.first), name(life.last)),
        ];
        if life.versions.len() > 1 {
            lines.push(format!("versions: {}", life.versions.join(", ")));
        }
        lines.join("\n")
    }

    fn touch(&mut self, position: usize, touch: Touch) {
        let (x, y) = (self.x(position) + self.column / 2.0, self.y + 7.0);
        let half = (self.column / 2.0 - 0.5).clamp(1.0, 3.0);
        let _ = match touch {
            Touch::Read => write!(
                self.out,
                "<circle class=\"read\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{:.1}\"/>",
                half * 0.8
            ),
            Touch::Write => write!(
                self.out,
                "<rect class=\"write\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                x - half,
                y - 4.0,
                2.0 * half,
                8
            ),
            Touch::Update => write!(
                self.out,
                "<path class=\"write\" d=\"M{:.1} {y:.1}L{x:.1} {:.1}L{:.1} {y:.1}L{x:.1} {:.1}Z\"/>",
                x - half - 1.0,
                y - 5.0,
                x + half + 1.0,
                y + 5.0
            ),
        };
    }

    fn map(&mut self) {
        self.text("head", SIDE, self.y + 10.0, "memory map: node order by offset");
        self.y += 18.0;
        let largest = self.memory.arenas.iter().map(|arena| arena.size_bytes).max().unwrap_or(0).max(1);
        for arena in 0..self.memory.arenas.len() {
            let size = self.memory.arenas[arena].size_bytes;
            let height = (size as f64 / largest as f64 * MAP.0).max(MAP.1);
            self.arena(arena, size, height);
            self.y += height + GAP;
        }
    }

    fn arena(&mut self, arena: usize, size: u64, height: f64) {
        let dedicated = if self.memory.arenas[arena].dedicated { ", dedicated" } else { "" };
        self.text("", SIDE, self.y + 10.0, &format!("arena {arena}{dedicated}, {}", BinaryBytes(size)));
        let scale = height / size.max(1) as f64;
        for (index, life) in self.memory.lifetimes.iter().enumerate().filter(|(_, life)| life.arena == arena)
        {
            self.life(index, life);
            let (x, w) = (self.x(life.first), (life.last - life.first + 1) as f64 * self.column);
            let y = self.y + life.offset_bytes as f64 * scale;
            let h = (life.size_bytes as f64 * scale).max(0.6);
            let _ = write!(
                self.out,
                "<rect class=\"tenant\" x=\"{x:.1}\" y=\"{y:.2}\" width=\"{w:.1}\" height=\"{h:.2}\"/>"
            );
            let fits = ((w - 6.0) / CHAR).max(0.0) as usize;
            if h >= 10.0 && fits >= life.name.chars().count().min(8) {
                self.text("", x + 3.0, y + h.min(20.0) / 2.0 + 3.5, &ending(&life.name, fits));
            }
            self.out.push_str("</g>\n");
        }
        let (x, w) = (self.left, self.right() - self.left);
        let _ = writeln!(
            self.out,
            "<rect class=\"arena\" x=\"{x:.1}\" y=\"{:.1}\" width=\"{w:.1}\" height=\"{height:.1}\"/>",
            self.y
        );
    }
}
