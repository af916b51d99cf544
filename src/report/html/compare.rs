//! A comparison as an HTML report: the graphs, and for each against the baseline a row a stage with its interval and verdict.

use std::fmt::Write as _;

use crate::report::compare::{Against, Comparison, Difference, Ratio, Verdict, fewest_runs};
use crate::report::svg::escape;
use crate::report::text::{count, counted, seconds as time};

use super::Document;
use super::text::{bytes, percent};

/// Size of a drawn interval, and the margin at its ends.
const PLOT: (f64, f64) = (260.0, 18.0);
const PLOT_MARGIN: f64 = 8.0;
/// The narrowest axis of ratios: from the inverse of this to this.
const AXIS_LEAST: f64 = 1.1;
/// The widest; what lies beyond is drawn at its end.
const AXIS_MOST: f64 = 16.0;

/// The report.
pub fn compare(comparison: &Comparison) -> String {
    let labels: Vec<&str> = comparison.graphs.iter().map(|graph| graph.facts.label.as_str()).collect();
    let title = labels.join(" and ");
    let mut document = Document::new(&format!("{title}: comparison"), comparison);
    let _ = write!(
        document.body,
        "<header>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n<p class=\"muted\">on {}</p>\n</header>\n<main>\n",
        escape(&title),
        comparison.against_baseline.iter().map(headline).collect::<Vec<_>>().join("<br/>"),
        escape(&comparison.backend)
    );
    let axis = Axis::of(comparison);
    for (index, against) in comparison.against_baseline.iter().enumerate() {
        let heading = format!("{} against {}", against.label, labels[0]);
        document.section(&format!("against-{index}"), &heading, &rows(against, &axis));
    }
    document.section("graphs", "Graphs", &graphs(comparison));
    document.section("about", "What was measured", &about(comparison));
    document.body.push_str("</main>\n");
    document.finish()
}

/// The verdict on the whole, in a line.
fn headline(against: &Against) -> String {
    let ratio = against.whole.ratio.map_or(String::new(), |ratio| {
        format!(", {:.3} of the time of the baseline ({:.3} to {:.3})", ratio.estimate, ratio.low, ratio.high)
    });
    format!("<strong>{}</strong> {}{ratio}", verdict(&against.whole), escape(&against.label))
}

/// The verdict in words, with a mark so that colour is not all that tells it.
fn verdict(row: &Difference) -> String {
    let (mark, class, text) = match row.verdict {
        Some(Verdict::Faster) => ("▼", "faster", Verdict::Faster.text()),
        Some(Verdict::Slower) => ("▲", "slower", Verdict::Slower.text()),
        Some(Verdict::Same) if row.resolved => ("=", "same", Verdict::Same.text()),
        Some(Verdict::Same) => ("~", "same", Verdict::Same.text()),
        None => ("", "same", "none"),
    };
    format!("<span class=\"verdict {class}\"><span aria-hidden=\"true\">{mark}</span> {text}</span>")
}

fn rows(against: &Against, axis: &Axis) -> String {
    let mut out = format!(
        "<div class=\"scroll\"><table class=\"sortable narrow\"><caption class=\"unseen\">Stages</caption>\n<thead><tr>{}<th scope=\"col\">{}</th>{}\
         </tr></thead>\n<tbody>\n",
        heads(&["stage", "verdict", "baseline", "graph", "ratio"]),
        axis.markup(),
        heads(&["interval", "threshold"])
    );
    for row in std::iter::once(&against.whole).chain(&against.stages) {
        let side = |seconds: Option<f64>| cell(seconds, &seconds.map_or("none".to_owned(), time));
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\" class=\"name\">{}</th><td>{}</td>{}{}{}<td>{}</td><td class=\"num\">{}</td>{}</tr>",
            escape(&row.what),
            verdict(row),
            side(row.baseline_seconds),
            side(row.seconds),
            cell(
                row.ratio.map(|ratio| ratio.estimate),
                &row.ratio.map_or(String::new(), |r| format!("{:.3}", r.estimate))
            ),
            axis.plot(row),
            row.ratio.map_or(String::new(), |ratio| format!("{:.3} to {:.3}", ratio.low, ratio.high)),
            cell(Some(row.threshold), &percent(row.threshold - 1.0))
        );
    }
    out.push_str("</tbody></table></div>\n");
    if !against.nodes.is_empty() {
        out.push_str(
            "<h3>Nodes that differ, medians</h3>\n<div class=\"scroll\"><table class=\"sortable narrow\"><caption class=\"unseen\">Nodes\
             </caption>\n<thead><tr>",
        );
        out.push_str(&heads(&["node", "stage", "baseline", "graph", "difference"]));
        out.push_str("</tr></thead>\n<tbody>\n");
        for node in &against.nodes {
            let side = |seconds: f64| if seconds > 0.0 { time(seconds) } else { "none".to_owned() };
            let sign = if node.more_seconds() > 0.0 { "+" } else { "−" };
            let _ = writeln!(
                out,
                "<tr><th scope=\"row\" class=\"name\">{}<span class=\"pass\">{}</span></th><td>{}</td>{}{}{}</tr>",
                escape(&node.node),
                escape(&node.pass),
                escape(&node.stage),
                cell(Some(node.baseline_seconds), &side(node.baseline_seconds)),
                cell(Some(node.seconds), &side(node.seconds)),
                cell(Some(node.more_seconds()), &format!("{sign}{}", time(node.more_seconds().abs())))
            );
        }
        out.push_str("</tbody></table></div>\n");
    }
    out
}

/// Heads of columns that sort; all but the first two hold numbers.
fn heads(names: &[&str]) -> String {
    let head = |name: &&str| {
        let class = if ["stage", "verdict", "node", "graph"].contains(name) { "" } else { " class=\"num\"" };
        format!("<th scope=\"col\"{class}><button type=\"button\">{name}</button></th>")
    };
    names.iter().map(head).collect()
}

fn cell(value: Option<f64>, text: &str) -> String {
    let value = value.map_or(String::new(), |value| format!(" data-value=\"{value:e}\""));
    format!("<td class=\"num\"{value}>{}</td>", escape(text))
}

fn graphs(comparison: &Comparison) -> String {
    let mut out = String::from(
        "<div class=\"scroll\"><table class=\"sortable narrow\"><caption class=\"unseen\">Graphs</caption>\n<thead><tr>",
    );
    out.push_str(&heads(&[
        "graph",
        "total",
        "±",
        "least",
        "first run",
        "planned peak",
        "measured peak",
        "bound",
    ]));
    out.push_str("</tr></thead>\n<tbody>\n");
    for graph in &comparison.graphs {
        let total = &graph.total_seconds;
        let seconds = [total.median, total.mad, total.min, graph.facts.first_seconds];
        let seconds = seconds.map(|seconds| cell(Some(seconds), &time(seconds))).concat();
        let memory = [
            graph.facts.planned_peak_bytes,
            graph.facts.measured_peak_bytes,
            graph.facts.planned_bound_bytes,
        ];
        let memory = memory.map(|number| cell(Some(number as f64), &bytes(number))).concat();
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\" class=\"name\">{}<span class=\"pass\">{}</span></th>{seconds}{memory}</tr>",
            escape(&graph.facts.label),
            escape(&graph.facts.graph)
        );
    }
    out.push_str("</tbody></table></div>\n");
    out
}

fn about(comparison: &Comparison) -> String {
    let settings = &comparison.settings;
    let mut out = format!(
        "<p>{} of two runs of each graph in random order, of which the faster counts, seed {}; stages from runs of their own, in which \
         nodes are timed. All intervals hold at once with {}: {} for a whole, {} for a stage. A verdict needs the whole interval of the \
         ratio beyond the threshold: {} of the row and {} of all stages together. ~ marks what noise leaves open. All outputs were \
         equal.</p>\n",
        counted(comparison.blocks as u64, "block"),
        settings.seed,
        percent(1.0 - settings.error),
        percent(1.0 - comparison.whole_error),
        percent(1.0 - comparison.stage_error),
        percent(settings.relevant),
        percent(settings.relevant_of_whole),
    );
    let fewest = fewest_runs(comparison);
    if 2 * comparison.blocks < fewest {
        let _ = writeln!(
            out,
            "<p class=\"warn\">Too few runs for verdicts: it takes {} of each graph.</p>",
            count(fewest as u64)
        );
    }
    if let Some(why) = &comparison.untimed {
        let _ = writeln!(out, "<p class=\"warn\">No times of stages and nodes: {}.</p>", escape(why));
    }
    out.push_str("<dl class=\"facts\">\n");
    let mut fact = |name: &str, text: String| {
        let _ = writeln!(out, "<div><dt>{name}</dt><dd>{}</dd></div>", escape(&text));
    };
    for input in &comparison.inputs {
        fact("input", format!("{}: {} B, CRC-32C {:08x}", input.name, count(input.bytes), input.crc32c));
    }
    for graph in &comparison.graphs {
        fact("identity", format!("{}: {}", graph.facts.label, graph.facts.identity));
    }
    out.push_str("</dl>\n");
    out
}

/// The logarithmic axis of ratios on which all intervals lie, with 1 in its middle.
struct Axis {
    /// The natural logarithm of its end.
    end: f64,
}

impl Axis {
    fn of(comparison: &Comparison) -> Axis {
        let rows =
            comparison.against_baseline.iter().flat_map(|a| std::iter::once(&a.whole).chain(&a.stages));
        let ratios = rows.filter_map(|row| row.ratio).flat_map(|ratio| [ratio.low, ratio.high]);
        let end = ratios.map(|ratio| ratio.ln().abs()).fold(AXIS_LEAST.ln(), f64::max);
        Axis { end: end.min(AXIS_MOST.ln()) }
    }

    fn x(&self, ratio: f64) -> f64 {
        let along = (ratio.max(f64::MIN_POSITIVE).ln() / self.end).clamp(-1.0, 1.0);
        PLOT.0 / 2.0 + along * (PLOT.0 / 2.0 - PLOT_MARGIN)
    }

    fn markup(&self) -> String {
        let end = self.end.exp();
        let labels = [(1.0 / end, "start"), (1.0, "middle"), (end, "end")];
        let labels = labels.map(|(ratio, anchor)| {
            let x = match anchor {
                "start" => 0.0,
                "end" => PLOT.0,
                _ => self.x(ratio),
            };
            format!("<text x=\"{x:.1}\" y=\"10\" text-anchor=\"{anchor}\">× {ratio:.2}</text>")
        });
        format!(
            "<svg class=\"samples\" width=\"{0}\" height=\"12\" viewBox=\"0 0 {0} 12\">{1}</svg>",
            PLOT.0,
            labels.concat()
        )
    }

    /// The interval as a line, its estimate as a dot, what is not relevant as a band.
    fn plot(&self, row: &Difference) -> String {
        let (width, height) = PLOT;
        let (low, high) = (self.x(1.0 / row.threshold), self.x(row.threshold));
        let mut out = format!(
            "<svg class=\"samples\" aria-hidden=\"true\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\
             <rect class=\"same\" x=\"{low:.1}\" y=\"0\" width=\"{:.1}\" height=\"{height}\"/>\
             <path class=\"tick\" d=\"M{:.1} 0V{height}\"/>",
            high - low,
            self.x(1.0)
        );
        if let Some(Ratio { estimate, low, high }) = row.ratio {
            let middle = height / 2.0;
            let _ = write!(
                out,
                "<path class=\"median\" d=\"M{:.1} {middle}H{:.1}\"/><circle class=\"estimate\" cx=\"{:.1}\" cy=\"{middle}\" r=\"3.2\"/>",
                self.x(low),
                self.x(high),
                self.x(estimate)
            );
        }
        out.push_str("</svg>");
        out
    }
}
