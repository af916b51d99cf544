//! A profile as text for a terminal of some width.

use super::{NodeProfile, Profile};
use crate::report::stats::Stats;
use crate::report::text::{Columns, count, counted, figures, seconds, wrap};

/// Symbols up to which they are listed.
const SYMBOLS_SHOWN: usize = 4;

/// Blanks between columns.
const GAP: usize = 2;

/// The whole profile. No line is wider than `width` columns, unless a single name is.
pub fn text(profile: &Profile, width: usize) -> String {
    let mut text = head(profile, width);
    text.push('\n');
    text.push_str(&job(profile, width));
    text.push('\n');
    text.push_str(&segments(profile));
    text.push('\n');
    match &profile.untimed {
        Some(why) => text.push_str(&wrap(&format!("No times of nodes: {why}."), width, "")),
        None => {
            text.push_str(&nodes(profile, width));
            text.push('\n');
            text.push_str(&notes(profile, width));
            text.push('\n');
            text.push_str(&costliest(profile, width));
        }
    }
    text
}

fn head(profile: &Profile, width: usize) -> String {
    let mut text = wrap(&format!("{} on {}", profile.graph, profile.backend), width, "  ");
    // Many symbols come from files, and say less than those.
    let few = profile.symbols.len() <= SYMBOLS_SHOWN;
    let numbers = profile.symbols.iter().filter(|_| few).chain(&profile.counts);
    let numbers: Vec<String> = numbers.map(|(name, number)| format!("{name}={number}")).collect();
    if !numbers.is_empty() {
        text.push_str(&wrap(&format!("with {}", numbers.join(" ")), width, "  "));
    }
    text.push_str(&format!("identity {}\n", profile.identity));
    for input in &profile.inputs {
        // The whole digest is in the JSON; this much tells inputs apart.
        let start = &input.sha256[..16.min(input.sha256.len())];
        let bytes = counted(input.bytes, "byte");
        text.push_str(&wrap(&format!("input {}: {bytes}, sha256 {start}…", input.name), width, "  "));
    }
    text
}

fn spread(stats: &Stats) -> String {
    format!("{} ± {}", seconds(stats.median), seconds(stats.mad))
}

fn job(profile: &Profile, width: usize) -> String {
    let job = &profile.job;
    let once = |time: Option<f64>| time.map(seconds);
    let median = |stats: &Option<Stats>| stats.as_ref().map(spread);
    let steps = [
        ("open", once(job.open_seconds)),
        ("plan", once(job.plan_seconds)),
        ("checksums", median(&job.verify_seconds)),
        ("run", Some(spread(&profile.total_seconds))),
        ("finish", median(&job.finish_seconds)),
        ("write", median(&job.write_seconds)),
    ];
    let run = [
        ("upload", Some(spread(&profile.upload_seconds))),
        ("device", median(&profile.device_seconds)),
        ("download", Some(spread(&profile.download_seconds))),
    ];
    let listed = |steps: &[(&str, Option<String>)]| {
        let known = steps.iter().filter_map(|(name, time)| Some(format!("{name} {}", time.as_ref()?)));
        known.collect::<Vec<_>>().join(", ")
    };
    let total = &profile.total_seconds;
    let runs = counted(total.runs as u64, "run");
    let mut text = wrap(&format!("job: {}", listed(&steps)), width, "     ");
    text.push_str(&wrap(&format!("run: {}", listed(&run)), width, "     "));
    let least = format!(
        "medians of {runs} ± the median distance from them; least {}, first {}",
        seconds(total.min),
        seconds(profile.first_seconds)
    );
    text.push_str(&wrap(&least, width, "  "));
    let (peak, bound) = (count(profile.peak_bytes), count(profile.bound_bytes));
    text.push_str(&wrap(&format!("memory: {peak} B of arenas, bound {bound} B"), width, "  "));
    text
}

fn segments(profile: &Profile) -> String {
    let mut columns = Columns::default();
    columns.row(["segment", "encode", "submit", "device", "idle before", "wait"].map(str::to_owned));
    let median = |stats: &Option<Stats>| stats.as_ref().map_or("-".to_owned(), |stats| seconds(stats.median));
    for (index, segment) in profile.segments.iter().enumerate() {
        columns.row([
            index.to_string(),
            seconds(segment.encode_seconds.median),
            seconds(segment.submit_seconds.median),
            median(&segment.device_seconds),
            median(&segment.idle_seconds),
            seconds(segment.wait_seconds.median),
        ]);
    }
    columns.lines()
}

/// A column of the node table.
struct Column {
    head: &'static str,
    cell: fn(&NodeProfile) -> String,
    /// Columns are added while there is room, the lowest first.
    rank: u8,
}

fn percent(part: Option<f64>) -> String {
    part.map_or(String::new(), |part| format!("{:.1}%", part * 100.0))
}

fn megabytes(bytes: u64) -> String {
    format!("{:.3}", bytes as f64 * 1e-6)
}

/// All columns, as they stand from left to right.
const COLUMNS: &[Column] = &[
    Column { head: "node", rank: 0, cell: |node| node.node.clone() },
    Column { head: "stage", rank: 11, cell: |node| node.stage.clone() },
    Column { head: "seg", rank: 12, cell: |node| node.segment.to_string() },
    Column {
        head: "time",
        rank: 0,
        cell: |node| node.seconds.map_or("none".to_owned(), |s| seconds(s.median)),
    },
    Column { head: "±", rank: 3, cell: |node| node.seconds.map_or(String::new(), |s| seconds(s.mad)) },
    Column { head: "least", rank: 9, cell: |node| node.seconds.map_or(String::new(), |s| seconds(s.min)) },
    Column { head: "share", rank: 0, cell: |node| percent(Some(node.share)) },
    Column { head: "groups×size", rank: 5, cell: grid },
    Column { head: "MB", rank: 6, cell: |node| megabytes(node.moved_bytes()) },
    Column { head: "MB read", rank: 13, cell: |node| megabytes(node.read_bytes) },
    Column { head: "written", rank: 13, cell: |node| megabytes(node.write_bytes) },
    Column { head: "GB/s", rank: 2, cell: |node| node.gigabytes_per_second.map_or(String::new(), figures) },
    Column { head: "roof", rank: 1, cell: |node| percent(node.roof_share) },
    Column { head: "large", rank: 14, cell: |node| percent(node.large_roof_share) },
    Column {
        head: "ns/rec",
        rank: 4,
        cell: |node| node.nanoseconds_per_record.map_or(String::new(), figures),
    },
    Column { head: "bound by", rank: 0, cell: bound_by },
    Column { head: "scratch MB", rank: 10, cell: |node| megabytes(node.scratch_bytes) },
    Column { head: "waits for", rank: 8, cell: waits_for },
];

fn grid(node: &NodeProfile) -> String {
    match node.group_invocations {
        0 => "host".to_owned(),
        invocations => format!("{}×{invocations}", count(node.groups)),
    }
}

fn bound_by(node: &NodeProfile) -> String {
    let class = node.class.map_or("-", |class| class.name().trim_end_matches("-bound"));
    match node.invalid {
        0 => class.to_owned(),
        invalid => format!("{class} ({invalid} bad)"),
    }
}

fn waits_for(node: &NodeProfile) -> String {
    let before = &node.before;
    let what = before.value.as_ref().or(before.after.as_ref());
    match (before.kind, what) {
        (super::BeforeKind::Nothing, _) => "-".to_owned(),
        (super::BeforeKind::Barrier, what) => what.cloned().unwrap_or_default(),
        (super::BeforeKind::HostWait, what) => format!("host: {}", what.map_or("", String::as_str)),
    }
}

fn nodes(profile: &Profile, width: usize) -> String {
    let cells = |column: &Column| -> Vec<String> {
        std::iter::once(column.head.to_owned()).chain(profile.nodes.iter().map(column.cell)).collect()
    };
    let table: Vec<(&Column, Vec<String>)> = COLUMNS.iter().map(|column| (column, cells(column))).collect();
    let widths = table.iter().map(|(_, cells)| cells.iter().map(|cell| cell.chars().count()).max());
    let widths: Vec<usize> = widths.map(Option::unwrap_or_default).collect();
    let mut by_rank: Vec<usize> = (0..table.len()).collect();
    by_rank.sort_by_key(|&index| table[index].0.rank);
    let mut shown = vec![false; table.len()];
    let mut used = 0;
    for index in by_rank {
        let empty = table[index].1.iter().skip(1).all(String::is_empty);
        let needed = widths[index] + if used > 0 { GAP } else { 0 };
        if table[index].0.rank == 0 || !empty && used + needed <= width {
            shown[index] = true;
            used += needed;
        }
    }
    let mut columns = Columns::default();
    for row in 0..=profile.nodes.len() {
        let shown = table.iter().zip(&shown).filter(|(_, shown)| **shown);
        columns.row(shown.map(|((_, cells), _)| cells[row].clone()));
    }
    columns.lines()
}

fn notes(profile: &Profile, width: usize) -> String {
    let profiled = &profile.profiled;
    let mut notes = Vec::new();
    let sum = profiled.node_sum_seconds.map(|sum| sum.median);
    if let (Some(sum), Some(around)) = (sum, profiled.device_seconds.map(|around| around.median)) {
        let part = sum / around * 100.0;
        notes.push(format!(
            "The nodes add up to {}, {part:.1}% of the {} that the device took around them in the same runs.",
            seconds(sum),
            seconds(around)
        ));
    }
    notes.push(format!(
        "Timing nodes makes a run take {} instead of {}, {:+.1}%; the untimed total is the one that counts.",
        seconds(profiled.total_seconds.median),
        seconds(profile.total_seconds.median),
        profiled.overhead * 100.0
    ));
    match (&profile.roof, &profile.no_roof) {
        (Some(roof), _) => notes.push(format!(
            "Roof: copying {} MiB reaches {:.1} GB/s here; a launch takes {}, a further one in the same node {}.",
            roof.points.last().map_or(0, |point| point.buffer_bytes >> 20),
            roof.large_gigabytes_per_second,
            seconds(roof.launch_seconds),
            seconds(roof.step_seconds)
        )),
        (None, Some(why)) => notes.push(format!("No roof: {why}.")),
        (None, None) => {}
    }
    if let Some(records) = &profile.records {
        notes.push(format!("ns/rec: by {} {}.", count(records.records), records.of));
    }
    notes.push(format!("Clock: {}. Occupancy: {}.", profile.clock.source, profile.occupancy));
    let invalid: usize = profile.nodes.iter().map(|node| node.invalid).sum();
    if invalid > 0 {
        let measurements = counted(invalid as u64, "measurement");
        notes.push(format!("{measurements} were zero or negative and are left out."));
    }
    notes.iter().map(|note| wrap(note, width, "  ")).collect()
}

fn costliest(profile: &Profile, width: usize) -> String {
    let mut text = String::from("What costs most:\n");
    for costly in &profile.costliest {
        let node = profile.nodes.iter().find(|node| node.node == costly.node);
        let cost = node.map_or(String::new(), |node| {
            format!(" ({}, {})", seconds(node.median_seconds()), percent(Some(node.share)))
        });
        text.push_str(&wrap(&format!("{}{cost} {}.", costly.node, costly.why), width, "  "));
    }
    text
}
