//! A suite's report as Markdown.

use std::fmt::Write;

use super::{CaseOutcome, CaseReport, Report, SubjectResult};
use crate::report::stats::Stats;

/// The report.
pub fn markdown(report: &Report) -> String {
    let mut text = format!("# The {} suite, {}\n\n", report.suite, date(report.began_unix_seconds));
    let [equal, refused, wrong] = report.tally();
    let _ = writeln!(
        text,
        "weft {}. {equal} equal to the streaming engine, {refused} refused, {wrong} wrong.\n",
        report.weft
    );
    text.push_str("| subject | identity | on |\n|---|---|---|\n");
    for subject in &report.subjects {
        let identity = subject.identity.as_deref().unwrap_or("");
        let backend = subject.backend.as_deref().unwrap_or("one core of the host");
        let _ = writeln!(text, "| {} | {identity} | {backend} |", subject.label);
    }
    let _ = write!(
        text,
        "\nMilliseconds. A complete merge goes from two files in memory to one: opening, planning, checksums, upload, device,\n\
         download, header. Medians of {} interleaved trials in shuffled order (seed {}), ± the median distance from them, and\n\
         the least. *First* is the first merge of the case: new sizes, larger memory where the cases before it had less, in the\n\
         first case also new pipelines. A graph begins a plan with that of its merge before. *Device* is the run up to its last\n\
         wait, *download* the last wait and the outputs; checksums of inputs run beside both.\n",
        report.trials, report.seed
    );
    for (index, case) in report.cases.iter().enumerate() {
        text.push_str(&case_table(case, index == 0));
    }
    text
}

fn case_table(case: &CaseReport, cold: bool) -> String {
    let [older, newer] = case.input_bytes;
    let mut text = format!(
        "\n## {}{}\n\n{}. {older} + {newer} bytes in, {} out, CRC-32C {:08x}.\n\n",
        case.case,
        if cold { " (cold)" } else { "" },
        case.about,
        case.output_bytes,
        case.output_crc32c
    );
    text.push_str("| subject | complete | ± | least | first | plan | checksums | upload | device | download | finish | peak, MB |\n");
    text.push_str("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for result in &case.results {
        text.push_str(&row(result));
    }
    text
}

fn row(result: &SubjectResult) -> String {
    match &result.outcome {
        CaseOutcome::Equal => {}
        CaseOutcome::Differs(byte) => {
            return format!("| {} | **differs from byte {byte} on** |\n", result.label);
        }
        CaseOutcome::Refused(why) => return format!("| {} | refused: {} |\n", result.label, cell(why)),
        CaseOutcome::Failed(why) => return format!("| {} | **failed: {}** |\n", result.label, cell(why)),
    }
    let number =
        |seconds: Option<f64>| seconds.map_or(String::new(), |seconds| format!("{:.3}", seconds * 1e3));
    let complete = result.complete_seconds.as_ref();
    let part = |of: fn(&super::Parts) -> Stats| number(result.parts.as_ref().map(|parts| of(parts).median));
    let cells = [
        result.label.clone(),
        number(complete.map(|stats| stats.median)),
        number(complete.map(|stats| stats.mad)),
        number(complete.map(|stats| stats.min)),
        number(result.first.map(|first| first.seconds)),
        part(|parts| parts.plan_seconds),
        part(|parts| parts.verify_seconds),
        part(|parts| parts.upload_seconds),
        part(|parts| parts.device_seconds),
        part(|parts| parts.download_seconds),
        part(|parts| parts.finish_seconds),
        result.peak_bytes.map_or(String::new(), |bytes| format!("{:.2}", bytes as f64 * 1e-6)),
    ];
    format!("| {} |\n", cells.join(" | "))
}

/// Text that stays in its cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// The day of a time in UTC (Hinnant, "chrono-compatible low-level date algorithms", days to civil).
fn date(unix_seconds: u64) -> String {
    let days = unix_seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Months count from March, so that the leap day is the last of its year.
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let year = era * 400 + year_of_era + u64::from(month >= 10);
    let month = if month < 10 { month + 3 } else { month - 9 };
    format!("{year:04}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::date;

    #[test]
    fn dates() {
        let days = [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_796_083_199, "2026-11-30"),
            (4_107_542_400, "2100-03-01"),
        ];
        for (seconds, day) in days {
            assert_eq!(date(seconds), day);
        }
    }
}
