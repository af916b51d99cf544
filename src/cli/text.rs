//! Results for people and programs: aligned tables and JSON on standard output.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use indicatif::HumanCount;
use serde::Serialize;

use super::Failure;
use super::files::OutputHow;

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

/// Rows of cells with their columns aligned: the first to the left, all others to the right.
#[derive(Default)]
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

/// Writes text to standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| Failure::results(&error))
}

/// Writes text to a file, which appears whole or not at all.
pub fn write_file(path: &Path, how: OutputHow, text: &str) -> Result<(), Failure> {
    let output = how.create(path, [])?;
    output.file().write_all(text.as_bytes()).map_err(|error| Failure::output(output.write_error(error)))?;
    output.commit().map_err(Failure::output)
}

/// How many characters fit a line of standard output: what its terminal says, and 100 where it is none.
pub fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stdout());
    size.ok().map(|size| usize::from(size.ws_col)).filter(|&columns| columns >= 72).unwrap_or(100)
}

/// Writes a value as indented JSON to standard output.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|error| Failure::System(format!("cannot write JSON: {error}")))?;
    text.push('\n');
    print(&text)
}
