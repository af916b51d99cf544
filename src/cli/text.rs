//! Results for people and programs: text and JSON on standard output.

use std::io::{self, Write};

use serde::Serialize;

pub use weft::report::text::{Columns, count, counted, duration, seconds};

use super::Failure;

/// Columns where no terminal says how many there are.
const DEFAULT_WIDTH: usize = 100;

/// Columns below which tables are not made narrower.
const NARROWEST: usize = 60;

/// Writes text to standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| Failure::results(&error))
}

/// A value as indented JSON.
pub fn json(value: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value);
    let mut text = text.map_err(|error| Failure::System(format!("cannot write JSON: {error}")))?;
    text.push('\n');
    Ok(text)
}

/// Writes a value as indented JSON to standard output.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print(&json(value)?)
}

/// Columns of the terminal that standard output is, else what `COLUMNS` says, else 100; never below 60.
pub fn width() -> usize {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| usize::from(size.ws_col));
    terminal.filter(|&columns| columns > 0).or(asked).unwrap_or(DEFAULT_WIDTH).max(NARROWEST)
}
