//! `weft profile`: what a graph takes, in all and node by node.

use std::path::PathBuf;
use std::time::Duration;

use weft::report::html;
use weft::report::profile::{NodeProfile, Options, Profile, profile};
use weft::report::stats::Stats;

use super::files::OutputHow;
use super::job::{self, BackendArgs, JobArgs};
use super::text::{Columns, count, counted, duration};
use super::{Failure, text};

/// Measure a graph: timed runs for the totals, profiled runs for each node
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    job: JobArgs,
    /// Runs for totals, as many for segments and as many for nodes, after one that makes everything ready
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    runs: u32,
    #[command(flatten)]
    backend: BackendArgs,
    /// Write JSON
    #[arg(long)]
    json: bool,
    /// Write a report for browsers: one file that needs no network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    how: OutputHow,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let mut chosen = args.backend.open()?;
    let job = args.job.open(&chosen)?;
    let options = Options { runs: args.runs as usize, ..Options::default() };
    let measured = profile(&job.program, chosen.backend(), &job.inputs(), options, &mut |_, _| {});
    let profile = measured.map_err(job::failure)?;
    if let Some(path) = &args.html {
        let (graph, plan) = (&job.program.graph, &job.program.plan);
        let page = html::profile(&profile, graph, plan)
            .map_err(|error| Failure::Input(format!("cannot draw {}: {error}", profile.graph)))?;
        text::write_file(path, args.how, &page)?;
    }
    if args.json { text::print_json(&profile) } else { text::print(&describe(&profile)) }
}

fn time(seconds: f64) -> String {
    duration(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

fn spread(stats: &Stats) -> String {
    format!("± {}", time(stats.mad))
}

fn describe(profile: &Profile) -> String {
    let symbols: Vec<String> =
        profile.symbols.iter().map(|(name, number)| format!("{name} = {number}")).collect();
    let mut text = format!("{} with {} on {}\n", profile.graph, symbols.join(", "), profile.backend);
    text.push_str(&format!("identity {}\n\n", profile.identity));
    text.push_str(&totals(profile));
    text.push('\n');
    match &profile.untimed {
        Some(why) => text.push_str(&format!("No times of nodes: {why}.\n")),
        None => text.push_str(&nodes(profile)),
    }
    text
}

fn totals(profile: &Profile) -> String {
    let mut columns = Columns::default();
    let mut row = |what: &str, stats: &Stats| {
        columns.row([
            what.to_owned(),
            time(stats.median),
            spread(stats),
            format!("least {}", time(stats.min)),
        ]);
    };
    row("total", &profile.total_seconds);
    row("  upload", &profile.upload_seconds);
    for (index, segment) in profile.segments.iter().enumerate() {
        row(&format!("  segment {index}, encode"), &segment.encode_seconds);
        row("    submit", &segment.submit_seconds);
        row("    wait", &segment.wait_seconds);
        if let Some(device) = &segment.device_seconds {
            row("    on the device", device);
        }
    }
    let runs = counted(profile.total_seconds.runs as u64, "run");
    format!(
        "{}medians of {runs}, ± the median distance from them; first run {}; {} B of arenas\n",
        columns.lines(),
        time(profile.first_seconds),
        count(profile.peak_bytes)
    )
}

fn nodes(profile: &Profile) -> String {
    let mut columns = Columns::default();
    let head = ["node", "time", "±", "share", "groups", "MB moved", "GB/s"];
    columns.row(head.map(str::to_owned));
    for node in &profile.nodes {
        columns.row(row(node));
    }
    let host = |node: &NodeProfile| node.host_clock;
    let clock = if profile.nodes.iter().all(host) {
        "the host's clock"
    } else if profile.nodes.iter().any(host) {
        "the device's clock, and the host's for host passes"
    } else {
        "the device's clock"
    };
    format!(
        "{}the nodes add up to {} by {clock}, in runs of their own, which timestamps slow down: this is not the total\n",
        columns.lines(),
        time(profile.node_sum_seconds)
    )
}

fn row(node: &NodeProfile) -> Vec<String> {
    let megabytes = format!("{:.3}", (node.read_bytes + node.write_bytes) as f64 * 1e-6);
    let (median, mad) = match &node.seconds {
        Some(stats) => (time(stats.median), time(stats.mad)),
        None => ("none".to_owned(), String::new()),
    };
    let rate = node.gigabytes_per_second.map_or(String::new(), |rate| format!("{rate:.1}"));
    let share = format!("{:.1} %", node.share * 100.0);
    let mut cells = vec![node.node.clone(), median, mad, share, count(node.groups), megabytes, rate];
    if node.invalid > 0 {
        cells.push(format!("{} not positive, left out", counted(node.invalid as u64, "measurement")));
    }
    cells
}
