//! Numbers, durations and aligned tables as text for people.

use std::time::Duration;

use indicatif::HumanCount;

/// A number with its thousands apart.
pub fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

/// A number and what it counts, in the plural unless it is one.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A duration in the unit that suits it.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        1.0.. => format!("{seconds:.2} s"),
        1e-3.. => format!("{:.1} ms", seconds * 1e3),
        0.0..1e-4 => format!("{:.1} µs", seconds * 1e6),
        _ => format!("{:.0} µs", seconds * 1e6),
    }
}

/// Seconds as [`duration`] writes them; what no duration can be becomes 0.
pub fn seconds(seconds: f64) -> String {
    duration(Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

/// A number that is not negative, with three figures but never more than the integer needs.
pub fn figures(number: f64) -> String {
    match number {
        99.95.. => format!("{number:.0}"),
        9.995.. => format!("{number:.1}"),
        0.9995.. => format!("{number:.2}"),
        _ => format!("{number:.3}"),
    }
}

/// Breaks text at spaces so that no line is longer than `width`, unless one word is; lines after the first begin with
/// `indent`.
pub fn wrap(text: &str, width: usize, indent: &str) -> String {
    let mut lines = String::new();
    let mut used = 0;
    for word in text.split_whitespace() {
        let len = word.chars().count();
        if used > 0 && used + 1 + len > width {
            lines.push('\n');
            lines.push_str(indent);
            used = indent.chars().count();
        } else if used > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += len;
    }
    lines.push('\n');
    lines
}

/// Rows of cells with their columns aligned: the first to the left, all others to the right.
#[derive(Debug, Default)]
pub struct Columns {
    rows: Vec<Vec<String>>,
}

impl Columns {
    /// Adds a row. Rows may have different numbers of cells.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table's lines.
    pub fn lines(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
            text.push('\n');
        }
        text
    }
}
