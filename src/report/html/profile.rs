//! A profile as an HTML report: what costs most, the whole job, the passes as table and as graph, memory.
//!
//! Nodes are marked by their position in the order (`data-node`), in every view alike.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::graph::model::Graph;
use crate::plan::Plan;
use crate::report::diagram::{Diagram, DiagramError, NodeKind};
use crate::report::memory::{self, Memory, Touch};
use crate::report::profile::{BeforeKind, NodeProfile, Profile};
use crate::report::show::{self, Sizes};
use crate::report::stats::Stats;
use crate::report::svg::{self, Theme, escape};
use crate::report::text::{count, counted, seconds as time};

use super::Document;
use super::text::{bytes, digits, percent};

/// How many nodes are marked as those that cost most.
const RANKED: usize = 3;
/// Samples of a node that are drawn; of more, evenly many by rank.
const SAMPLES_MAX: usize = 150;
/// Size of a strip of samples, and the margin at its ends.
const STRIP: (f64, f64) = (170.0, 18.0);
const STRIP_MARGIN: f64 = 6.0;

/// The report. `graph` and `plan` are those of the program that was profiled.
///
/// # Errors
/// None for a graph that can be drawn, which every resolved graph can.
pub fn profile(profile: &Profile, graph: &Graph, plan: &Plan) -> Result<String, DiagramError> {
    let report = Report::new(profile, Memory::new(graph, plan));
    let mut document = Document::new(&format!("{}: profile", profile.graph), profile);
    document.body.push_str(&report.header());
    document.body.push_str("<main>\n");
    document.section("cost", "What costs most", &report.cost());
    document.section("job", "Where the time goes", &report.job());
    document.section("passes", "Passes", &report.table());
    document.section("graph", "Graph", &report.graph(graph)?);
    document.section("memory", "Memory", &report.memory());
    document.section("about", "What was measured", &report.about());
    document.body.push_str("</main>\n");
    document.body.push_str(&report.details());
    Ok(document.finish())
}

struct Report<'a> {
    profile: &'a Profile,
    memory: Memory,
    /// Nodes by share of time, the largest first, as far as they have one.
    ranking: Vec<usize>,
}

impl<'a> Report<'a> {
    fn new(profile: &'a Profile, memory: Memory) -> Report<'a> {
        let share = |&node: &usize| profile.nodes[node].share;
        let mut ranking: Vec<usize> = (0..profile.nodes.len()).filter(|node| share(node) > 0.0).collect();
        ranking.sort_by(|a, b| share(b).total_cmp(&share(a)));
        Report { profile, memory, ranking }
    }

    fn rank(&self, node: usize) -> Option<usize> {
        self.ranking.iter().take(RANKED).position(|&ranked| ranked == node).map(|rank| rank + 1)
    }

    fn header(&self) -> String {
        let profile = self.profile;
        let total = &profile.total_seconds;
        let timed = format!(
            "<strong>{}</strong> ± {} a run, {}",
            time(total.median),
            time(total.mad),
            runs(total.runs as u64)
        );
        let links = [
            ("cost", "Costs"),
            ("job", "Time"),
            ("passes", "Passes"),
            ("graph", "Graph"),
            ("memory", "Memory"),
            ("about", "About"),
        ];
        let links = links.map(|(id, name)| format!("<a href=\"#{id}\">{name}</a>")).join(" ");
        format!(
            "<header>\n<h1>{}</h1>\n<p class=\"lead\">{timed} <span class=\"muted\">on {}</span></p>\n\
             <nav aria-label=\"Parts of the report\">{links}</nav>\n</header>\n",
            escape(&profile.graph),
            escape(&profile.backend)
        )
    }

    /// A link that chooses a node.
    fn node_link(&self, node: usize) -> String {
        let name = &self.profile.nodes[node].node;
        format!("<a class=\"node\" href=\"#node={}\">{}</a>", fragment(name), escape(name))
    }

    fn cost(&self) -> String {
        let profile = self.profile;
        if let Some(why) = &profile.untimed {
            return format!("<p class=\"warn\">No times of nodes: {}.</p>\n", escape(why));
        }
        let top: Vec<usize> = self.ranking.iter().take(RANKED).copied().collect();
        let together: f64 = top.iter().map(|&node| profile.nodes[node].share).sum();
        let most = top.first().map_or(1.0, |&node| profile.nodes[node].share);
        let mut out = format!(
            "<p>{} of {} nodes take {} of the {} that all nodes take.</p>\n<ol class=\"costs\">\n",
            top.len(),
            profile.nodes.len(),
            percent(together),
            time(profile.node_sum_seconds)
        );
        for &at in &top {
            let node = &profile.nodes[at];
            let why = profile.costliest.iter().find(|costly| costly.node == node.node);
            let why = why.map_or(node.rule.as_str(), |costly| costly.why.as_str());
            let _ = writeln!(
                out,
                "<li data-node=\"{at}\"><span class=\"what\">{} <span class=\"muted\">{}</span></span>\
                 <span class=\"num\">{}</span><span class=\"num\">{}</span>\
                 <span class=\"meter\" aria-hidden=\"true\"><i style=\"width:{:.1}%\"></i></span><span class=\"why\">{}</span></li>",
                self.node_link(at),
                escape(&node.pass),
                time(node.median_seconds()),
                percent(node.share),
                node.share / most * 100.0,
                escape(&sentence(why))
            );
        }
        out.push_str("</ol>\n");
        out
    }

    fn job(&self) -> String {
        let profile = self.profile;
        let total = profile.total_seconds.median;
        let mut run = vec![Part::new("upload", "upload", profile.upload_seconds.median)];
        for (index, segment) in profile.segments.iter().enumerate() {
            run.push(Part::new("encode", &format!("encode {index}"), segment.encode_seconds.median));
            run.push(Part::new("submit", &format!("submit {index}"), segment.submit_seconds.median));
            run.push(Part::new("wait", &format!("wait {index}"), segment.wait_seconds.median));
        }
        run.push(Part::new("download", "download", profile.download_seconds.median));
        let device: Vec<Part> = profile
            .segments
            .iter()
            .enumerate()
            .filter_map(|(index, segment)| {
                Some(Part::new("device", &format!("segment {index}"), segment.device_seconds?.median))
            })
            .collect();
        let job = &profile.job;
        let median = |stats: Option<Stats>| stats.map(|stats| stats.median);
        let whole = [
            ("open", "open", job.open_seconds),
            ("plan", "plan", job.plan_seconds),
            ("run", "run", Some(total)),
            ("finish", "finish", median(job.finish_seconds)),
            ("write", "write", median(job.write_seconds)),
        ];
        let whole: Vec<Part> = whole
            .into_iter()
            .filter_map(|(kind, name, seconds)| Some(Part::new(kind, name, seconds?)))
            .collect();
        let mut out = String::new();
        if whole.len() > 1 {
            let sum = whole.iter().map(|part| part.seconds).sum();
            out.push_str(&bar("Whole job", sum, &whole));
            // They overlap with the run, and would count twice.
            if let Some(verify) = job.verify_seconds {
                let took = time(verify.median);
                let _ = writeln!(out, "<p class=\"note\">Checksums, while the graph runs: {took}.</p>");
            }
        }
        out.push_str(&bar("One run", total, &run));
        if !device.is_empty() {
            out.push_str(&bar("On the device", total, &device));
        }
        out.push_str(&self.sums());
        out
    }

    /// The totals of the three kinds of runs side by side.
    fn sums(&self) -> String {
        let profile = self.profile;
        let mut rows = vec![("A run in which nothing is timed", Some(profile.total_seconds))];
        rows.push(("On the device, timed around each segment", profile.device_seconds));
        rows.push(("A run in which every node is timed", Some(profile.profiled.total_seconds)));
        rows.push(("On the device in such runs", profile.profiled.device_seconds));
        rows.push(("The nodes of such a run together", profile.profiled.node_sum_seconds));
        let mut out = String::from(
            "<table class=\"plain\"><caption class=\"unseen\">Totals</caption>\n<thead><tr><td></td><th scope=\"col\">median</th>\
             <th scope=\"col\">±</th><th scope=\"col\">least</th><th scope=\"col\">most</th></tr></thead>\n<tbody>\n",
        );
        for (what, stats) in rows {
            let Some(stats) = stats else { continue };
            let cells = [stats.median, stats.mad, stats.min, stats.max];
            let cells = cells.map(|seconds| format!("<td class=\"num\">{}</td>", time(seconds))).concat();
            let _ = writeln!(out, "<tr><th scope=\"row\">{what}</th>{cells}</tr>");
        }
        let _ = writeln!(
            out,
            "</tbody></table>\n<p class=\"note\">Medians of {}; ± is the median distance from them. The three kinds of runs are \
             separate: timing every node changes a run by {:+.1} %, so parts of one do not add up to the total of another. The first \
             run, which makes pipelines and memory, took {}.</p>",
            runs(profile.total_seconds.runs as u64),
            profile.profiled.overhead * 100.0,
            time(profile.first_seconds)
        );
        out
    }

    fn table(&self) -> String {
        let profile = self.profile;
        let axis = Axis::of(&profile.nodes);
        let records = profile.records.as_ref();
        let roof = profile.roof.is_some();
        let mut heads = vec![
            Head::number("#", "the order in which nodes run"),
            Head::text("node", "name of the node, and its pass"),
            Head::number("time", "median"),
            Head::number("±", "median distance from the median"),
            Head::number("share", "of the sum of all nodes"),
            Head { markup: axis.markup(), ..Head::number("runs", "sorts by spread: ± over the median") },
            Head::number("groups", "workgroups times invocations of each"),
            Head::number("read", "bytes, by the pass's traffic model"),
            Head::number("written", "bytes, by the pass's traffic model"),
            Head::number("GB/s", "bytes read and written in its time"),
        ];
        if roof {
            heads
                .push(Head::number("of roof", "of what copying the same working set reaches on this device"));
        }
        if let Some(records) = records {
            heads.push(Head::number("ns/record", &records.of));
        }
        heads.push(Head::text("limit", "what limits it; hover for the rule"));
        heads.push(Head::text("waits for", "the barrier or wait before it, and the port that causes it"));
        heads
            .push(Head::number("scratch", "bytes of values live while it runs, inputs and outputs left out"));
        let mut out = String::from(
            "<div class=\"scroll\"><table class=\"sortable\" id=\"table\"><caption class=\"unseen\">Nodes in the order in which they \
             run</caption>\n<thead><tr>",
        );
        heads.iter().for_each(|head| out.push_str(&head.markup()));
        out.push_str("</tr></thead>\n<tbody>\n");
        for (at, node) in profile.nodes.iter().enumerate() {
            self.row(&mut out, at, node, &axis, roof, records.is_some());
        }
        let _ = writeln!(
            out,
            "</tbody>\n<tfoot><tr><td></td><th scope=\"row\">all nodes</th><td class=\"num\">{}</td><td></td><td class=\"num\">100 %</td>\
             <td colspan=\"{}\"></td></tr></tfoot></table></div>",
            time(profile.node_sum_seconds),
            heads.len() - 5
        );
        let _ = writeln!(
            out,
            "<p class=\"note\">A dot is a run, the bar its median, on one logarithmic axis for all nodes. Times by {}.{} Occupancy: \
             {}.</p>",
            escape(&profile.clock.source),
            profile.no_roof.as_ref().map_or(String::new(), |why| format!(" No roof: {}.", escape(why))),
            escape(profile.occupancy)
        );
        out
    }

    fn row(&self, out: &mut String, at: usize, node: &NodeProfile, axis: &Axis, roof: bool, records: bool) {
        let seconds = node.seconds;
        let number = |value: Option<f64>, text: String| Cell { value, text, class: "num" };
        let optional =
            |value: Option<f64>, text: fn(f64) -> String| number(value, value.map_or(String::new(), text));
        let groups = match node.group_invocations {
            0 => "host".to_owned(),
            invocations if node.steps > 1 => {
                let grid = format!("{} × {invocations}", count(node.groups));
                format!("{grid}<span class=\"pass\">in {} steps</span>", count(node.steps))
            }
            invocations => format!("{} × {invocations}", count(node.groups)),
        };
        let most = self.ranking.first().map_or(1.0, |&first| self.profile.nodes[first].share);
        let meter = format!(
            "{}<span class=\"meter\" aria-hidden=\"true\"><i style=\"width:{:.1}%\"></i></span>",
            percent(node.share),
            node.share / most * 100.0
        );
        let invalid = match node.invalid {
            0 => String::new(),
            invalid => format!("<span class=\"warn\">{invalid} not positive, left out</span>"),
        };
        let rank = self.rank(at).map_or(String::new(), |rank| format!(" <span class=\"rank\">{rank}</span>"));
        let name = format!("{}{rank}<span class=\"pass\">{}</span>", self.node_link(at), escape(&node.pass));
        let spread = seconds.map(|stats| stats.mad / stats.median);
        let mut cells = vec![
            Cell { value: Some(at as f64), text: at.to_string(), class: "num muted" },
            Cell { value: None, text: name, class: "name" },
            number(
                seconds.map(|stats| stats.median),
                seconds.map_or("none".into(), |stats| time(stats.median)),
            ),
            number(seconds.map(|stats| stats.mad), seconds.map_or(String::new(), |stats| time(stats.mad))),
            Cell { value: Some(node.share), text: meter, class: "num share" },
            Cell { value: spread, text: format!("{}{invalid}", axis.strip(node)), class: "strip" },
            number(Some(node.groups as f64), groups),
            number(Some(node.read_bytes as f64), bytes(node.read_bytes)),
            number(Some(node.write_bytes as f64), bytes(node.write_bytes)),
            optional(node.gigabytes_per_second, digits),
        ];
        if roof {
            cells.push(optional(node.roof_share, percent));
        }
        if records {
            cells.push(optional(node.nanoseconds_per_record, digits));
        }
        let limit = match node.class {
            Some(class) => class.name().trim_end_matches("-bound").to_owned(),
            None if node.host_clock => "host".to_owned(),
            None if node.groups == 0 => "none".to_owned(),
            None => "unknown".to_owned(),
        };
        let limit = format!("<span title=\"{}\">{limit}</span>", escape(&node.rule));
        cells.push(Cell { value: None, text: limit, class: "" });
        cells.push(Cell { value: None, text: before(node), class: "before" });
        cells.push(number(Some(node.scratch_bytes as f64), bytes(node.scratch_bytes)));
        let cells = cells.iter().map(Cell::markup).collect::<String>();
        let _ = writeln!(out, "<tr data-node=\"{at}\" data-name=\"{}\">{cells}</tr>", escape(&node.node));
    }

    fn graph(&self, graph: &Graph) -> Result<String, DiagramError> {
        let known = |name: &String| {
            graph.symbols.iter().any(|symbol| symbol.name == *name)
                || graph.counts.iter().any(|count| count.name == *name)
        };
        let numbers = self.profile.symbols.iter().chain(&self.profile.counts);
        let numbers: Vec<(String, u64)> = numbers.filter(|(name, _)| known(name)).cloned().collect();
        // What does not fit is left out of the picture rather than keeping the report from being made.
        let sizes = Sizes::new(graph, &numbers).unwrap_or_default();
        let mut diagram = show::diagram(graph, &sizes);
        diagram.caption.clear();
        let marks = self.paint(&mut diagram);
        let drawn = svg::embedded(&diagram, &marks)?;
        let darkest = self.ranking.first().map_or(0.0, |&node| self.profile.nodes[node].share);
        Ok(format!(
            "<p class=\"tools\"><span role=\"group\" aria-label=\"Zoom\"><button type=\"button\" data-zoom=\"fit\">Fit</button> \
             <button type=\"button\" data-zoom=\"half\">50 %</button> <button type=\"button\" data-zoom=\"full\">100 %</button></span> \
             <span class=\"muted\"><span class=\"ramp\" aria-hidden=\"true\"></span> share of time, up to {}; lines as wide as their \
             bytes; 1 to 3 cost most</span></p>\n\
             <div class=\"pane dag\" id=\"dag\" tabindex=\"0\" role=\"region\" aria-label=\"Graph, scrollable\">{drawn}</div>\n",
            percent(darkest)
        ))
    }

    /// Colours the boxes of nodes by time. Gives each box's place among the nodes and its rank.
    fn paint(&self, diagram: &mut Diagram) -> Vec<Option<svg::Mark>> {
        let positions: HashMap<&str, usize> =
            self.profile.nodes.iter().enumerate().map(|(at, node)| (node.node.as_str(), at)).collect();
        let most = self.ranking.first().map_or(1.0, |&first| self.profile.nodes[first].share);
        let mut marks = Vec::with_capacity(diagram.nodes.len());
        for node in &mut diagram.nodes {
            let is_pass = matches!(node.kind, NodeKind::DevicePass | NodeKind::HostPass);
            let position = positions.get(node.id.as_str()).copied().filter(|_| is_pass);
            marks.push(position.map(|position| svg::Mark { position, rank: self.rank(position) }));
            let Some(position) = position else { continue };
            let measured = &self.profile.nodes[position];
            if let Some(stats) = &measured.seconds {
                node.tint = Some(measured.share / most);
                node.lines.push(format!("{}  {}", time(stats.median), percent(measured.share)));
            }
        }
        marks
    }

    fn memory(&self) -> String {
        let memory = &self.memory;
        let shares: Vec<f64> = self.profile.nodes.iter().map(|node| node.share).collect();
        let figure = memory::figure(memory, Some(&shares));
        let name = |at: usize| memory.steps.get(at).map_or("", |step| step.name.as_str());
        format!(
            "<p>{} of arenas; no plan of this order can go below {}; without reuse it would be {}. Most is live at \
             <a class=\"node\" href=\"#node={}\">{}</a>.</p>\n\
             <div class=\"pane\" id=\"lifetimes\" tabindex=\"0\" role=\"region\" aria-label=\"Memory, scrollable\">\
             <svg xmlns=\"http://www.w3.org/2000/svg\" class=\"weft-memory\" role=\"group\" aria-label=\"Lifetimes and memory map\" \
             width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"0 0 {w:.0} {h:.0}\" data-left=\"{:.2}\" data-column=\"{:.4}\">\n\
             <style>{}</style>\n{}</svg></div>\n",
            bytes(memory.peak_bytes),
            bytes(memory.bound_bytes),
            bytes(memory.naive_bytes),
            fragment(name(memory.peak_position)),
            escape(name(memory.peak_position)),
            figure.left,
            figure.column,
            memory::style(Theme::Auto),
            figure.body,
            w = figure.width,
            h = figure.height,
        )
    }

    fn about(&self) -> String {
        let profile = self.profile;
        let mut out = String::from("<dl class=\"facts\">\n");
        let mut fact = |name: &str, text: String| {
            let _ = writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(&text));
        };
        fact("graph", profile.graph.clone());
        fact("identity", profile.identity.clone());
        fact("backend", profile.backend.clone());
        fact("versions", format!("weft {}, wgpu {}", profile.versions.weft, profile.versions.wgpu));
        let tick =
            profile.clock.tick_seconds.map_or(String::new(), |tick| format!(", a tick is {}", time(tick)));
        fact("clock", format!("{}{tick}", profile.clock.source));
        for input in &profile.inputs {
            fact("input", format!("{}: {} B, SHA-256 {}", input.name, count(input.bytes), input.sha256));
        }
        let numbers = |list: &[(String, u64)]| {
            list.iter().map(|(name, number)| format!("{name} = {number}")).collect::<Vec<_>>().join(", ")
        };
        fact("symbols", numbers(&profile.symbols));
        if !profile.counts.is_empty() {
            fact("counts", numbers(&profile.counts));
        }
        if let Some(records) = &profile.records {
            fact("records", format!("{} {}", count(records.records), records.of));
        }
        fact("outputs", format!("{} B", count(profile.output_bytes)));
        if let Some(roof) = &profile.roof {
            let points = roof.points.iter();
            let points = points.map(|point| {
                format!("{} at {}", digits(point.gigabytes_per_second), bytes(point.working_set_bytes))
            });
            fact("copy roof, GB/s", points.collect::<Vec<_>>().join(", "));
        }
        out.push_str("</dl>\n");
        out
    }

    /// What is shown of a node when it is chosen.
    fn details(&self) -> String {
        let mut out = String::from(
            "<aside id=\"chosen\" aria-live=\"polite\" aria-label=\"Chosen node\" hidden=\"\">\n\
             <button type=\"button\" id=\"close\" aria-label=\"Choose none\">×</button>\n",
        );
        for (at, node) in self.profile.nodes.iter().enumerate() {
            let _ = writeln!(out, "<div data-details=\"{at}\" hidden=\"\">{}</div>", self.detail(at, node));
        }
        out.push_str("</aside>\n");
        out
    }

    fn detail(&self, at: usize, node: &NodeProfile) -> String {
        let measured = match &node.seconds {
            Some(stats) => format!(
                "{} ± {}, {} to {} in {}, {} of all nodes",
                time(stats.median),
                time(stats.mad),
                time(stats.min),
                time(stats.max),
                runs(stats.runs as u64),
                percent(node.share)
            ),
            None => "no valid time".to_owned(),
        };
        let values = |touch: Touch| {
            let lives = self.memory.lifetimes.iter().filter(|life| life.touches.get(&at) == Some(&touch));
            lives
                .map(|life| format!("{} ({})", life.name, bytes(life.size_bytes)))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let mut out = format!(
            "<h3>{} <span class=\"muted\">{}, node {at}, segment {}</span></h3>\n<dl>",
            escape(&node.node),
            escape(&node.pass),
            node.segment
        );
        let mut fact = |name: &str, text: &str| {
            if !text.is_empty() {
                let _ = write!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(text));
            }
        };
        fact("time", &measured);
        fact("limit", &sentence(&node.rule));
        fact("waits", &sentence(&node.before.why));
        fact("reads", &values(Touch::Read));
        fact("updates", &values(Touch::Update));
        fact("writes", &values(Touch::Write));
        out.push_str("</dl>");
        out
    }
}

/// A name in the part of a URL after `#`.
fn fragment(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                out.push(byte as char)
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

fn runs(number: u64) -> String {
    counted(number, "run")
}

/// Text as a sentence: its first letter large, a full stop at its end.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).chain(['.']).collect(),
        None => String::new(),
    }
}

/// The wait or barrier before a node, and the port that causes it.
fn before(node: &NodeProfile) -> String {
    let before = &node.before;
    let kind = match before.kind {
        BeforeKind::Nothing => "",
        BeforeKind::Barrier => "barrier",
        BeforeKind::HostWait => "host",
    };
    let port = before.port.as_ref().map_or(String::new(), |port| format!(" <code>{}</code>", escape(port)));
    format!("<span title=\"{}\">{kind}{port}</span>", escape(&sentence(&before.why)))
}

/// A part of a bar.
struct Part {
    /// Decides its colour.
    kind: &'static str,
    name: String,
    seconds: f64,
}

impl Part {
    fn new(kind: &'static str, name: &str, seconds: f64) -> Part {
        Part { kind, name: name.to_owned(), seconds }
    }
}

/// Parts as a bar of which `whole` is the length, and as a list.
fn bar(name: &str, whole: f64, parts: &[Part]) -> String {
    let sum: f64 = parts.iter().map(|part| part.seconds).sum();
    let length = whole.max(sum).max(f64::MIN_POSITIVE);
    let mut out = format!(
        "<figure class=\"bar\"><figcaption>{name} <span class=\"num\">{}</span></figcaption>\n<div class=\"parts\" aria-hidden=\"true\">",
        time(if name == "On the device" { sum } else { whole })
    );
    for part in parts {
        let width = part.seconds / length * 100.0;
        // Names that cannot fit are in the list.
        let label = if width >= 7.0 { escape(&part.name) } else { String::new() };
        let title = escape(&format!("{}: {}", part.name, time(part.seconds)));
        let _ = write!(
            out,
            "<span class=\"k-{}\" style=\"width:{width:.3}%\" title=\"{title}\">{label}</span>",
            part.kind
        );
    }
    out.push_str("</div>\n<ul class=\"key\">");
    for part in parts {
        let _ = write!(
            out,
            "<li><i class=\"k-{}\" aria-hidden=\"true\"></i>{} <span class=\"num\">{}</span></li>",
            part.kind,
            escape(&part.name),
            time(part.seconds)
        );
    }
    if sum < 0.9 * whole && name == "One run" {
        out.push_str("<li>what is left empty is not timed by itself</li>");
    }
    out.push_str("</ul></figure>\n");
    out
}

/// The head of a column.
struct Head {
    name: String,
    title: String,
    number: bool,
    /// What stands under its name.
    markup: String,
}

impl Head {
    fn number(name: &str, title: &str) -> Head {
        Head { name: name.to_owned(), title: title.to_owned(), number: true, markup: String::new() }
    }

    fn text(name: &str, title: &str) -> Head {
        Head { number: false, ..Head::number(name, title) }
    }

    fn markup(&self) -> String {
        let class = if self.number { " class=\"num\"" } else { "" };
        let sorted = if self.name == "#" { " aria-sort=\"ascending\"" } else { "" };
        format!(
            "<th scope=\"col\"{class}{sorted}><button type=\"button\" title=\"{}\">{}</button>{}</th>",
            escape(&self.title),
            escape(&self.name),
            self.markup
        )
    }
}

/// A cell; `value` is what it sorts by, its text where there is none.
struct Cell {
    value: Option<f64>,
    /// Markup.
    text: String,
    class: &'static str,
}

impl Cell {
    fn markup(&self) -> String {
        let value = self.value.map_or(String::new(), |value| format!(" data-value=\"{value:e}\""));
        let class = if self.class.is_empty() { String::new() } else { format!(" class=\"{}\"", self.class) };
        match self.class {
            "name" => format!("<th scope=\"row\"{class}{value}>{}</th>", self.text),
            _ => format!("<td{class}{value}>{}</td>", self.text),
        }
    }
}

/// The logarithmic axis on which all samples lie.
struct Axis {
    /// Decimal logarithms of its ends, in seconds.
    low: f64,
    high: f64,
}

impl Axis {
    fn of(nodes: &[NodeProfile]) -> Axis {
        let samples = nodes.iter().flat_map(|node| node.sample_seconds.iter().flatten());
        let logs = samples.filter(|&&seconds| seconds > 0.0).map(|seconds| seconds.log10());
        let (low, high) =
            logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), log| (low.min(log), high.max(log)));
        if low > high {
            return Axis { low: -6.0, high: -3.0 };
        }
        // At least half a decade, so that little spread looks like little.
        let widen = (0.5 - (high - low)).max(0.0) / 2.0;
        Axis { low: low - widen, high: high + widen }
    }

    fn x(&self, seconds: f64) -> f64 {
        let along = (seconds.log10() - self.low) / (self.high - self.low);
        STRIP_MARGIN + along.clamp(0.0, 1.0) * (STRIP.0 - 2.0 * STRIP_MARGIN)
    }

    /// Powers of ten within it.
    fn ticks(&self) -> impl Iterator<Item = i32> {
        (self.low.ceil() as i32)..=(self.high.floor() as i32)
    }

    fn open(height: f64) -> String {
        format!(
            "<svg class=\"samples\" aria-hidden=\"true\" width=\"{0}\" height=\"{height}\" viewBox=\"0 0 {0} {height}\">",
            STRIP.0
        )
    }

    fn markup(&self) -> String {
        let mut out = Axis::open(12.0);
        let mut free = f64::NEG_INFINITY;
        for tick in self.ticks() {
            let x = self.x(10_f64.powi(tick));
            // A label takes no more than this.
            if x < free {
                continue;
            }
            free = x + 46.0;
            let label =
                ["1 ns", "10 ns", "100 ns", "1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"]
                    .get((tick + 9).max(0) as usize)
                    .copied()
                    .unwrap_or("");
            let anchor = match x {
                x if x < 20.0 => "start",
                x if x > STRIP.0 - 20.0 => "end",
                _ => "middle",
            };
            let _ = write!(out, "<text x=\"{x:.1}\" y=\"10\" text-anchor=\"{anchor}\">{label}</text>");
        }
        out.push_str("</svg>");
        out
    }

    /// A dot a run, and a bar at the median.
    fn strip(&self, node: &NodeProfile) -> String {
        let mut samples: Vec<f64> =
            node.sample_seconds.iter().flatten().copied().filter(|&seconds| seconds > 0.0).collect();
        samples.sort_by(f64::total_cmp);
        let drawn = samples.len().min(SAMPLES_MAX);
        let middle = STRIP.1 / 2.0;
        let mut out = Axis::open(STRIP.1);
        for tick in self.ticks() {
            let _ =
                write!(out, "<path class=\"tick\" d=\"M{:.1} 0V{}\"/>", self.x(10_f64.powi(tick)), STRIP.1);
        }
        out.push_str("<path class=\"dots\" d=\"");
        for at in 0..drawn {
            let sample = samples[at * (samples.len() - 1) / (drawn - 1).max(1)];
            let _ = write!(out, "M{:.1} {middle}h0", self.x(sample));
        }
        out.push_str("\"/>");
        if let Some(stats) = &node.seconds {
            let _ = write!(
                out,
                "<path class=\"median\" d=\"M{:.1} 2V{}\"/>",
                self.x(stats.median),
                STRIP.1 - 2.0
            );
        }
        out.push_str("</svg>");
        out
    }
}
