//! `prefix/window_tiles` and `prefix/window_scan`

use crate::reference::payload::window64;
use crate::reference::{Call, Fault, Port};

/// Bits in a window.
const WINDOW_BITS: u32 = 64;
/// Records in a tile.
const TILE_RECORDS: u64 = 1024;

/// What a run of records makes of the window before it: the first `kept` bits stay, and `bits` are the others.
#[derive(Clone, Copy)]
struct Part {
    bits: u64,
    kept: u32,
}

const NO_RECORDS: Part = Part { bits: 0, kept: WINDOW_BITS };

impl Part {
    fn then(self, next: Part) -> Part {
        Part { bits: first_bits(self.bits, next.kept) | next.bits, kept: self.kept.min(next.kept) }
    }

    fn store(self, runs: &Port<'_>, run: u64) -> Result<(), Fault> {
        runs.set_lanes(run, [(self.bits >> 32) as u32, self.bits as u32, self.kept, 0])
    }

    fn load(runs: &Port<'_>, run: u64) -> Result<Part, Fault> {
        let [high, low, kept, _] = runs.get_lanes(run)?;
        Ok(Part { bits: u64::from(high) << 32 | u64::from(low), kept })
    }
}

/// The first `count` bits of a window, zeros after them.
fn first_bits(bits: u64, count: u32) -> u64 {
    bits & !u64::MAX.checked_shr(count).unwrap_or(0)
}

/// The columns from which windows are made.
struct Columns<'a> {
    files: [Port<'a>; 2],
    literal_starts: Port<'a>,
    key_bits: Port<'a>,
    retained: Port<'a>,
    records: u64,
    older_records: u64,
    /// Bit of keys with which windows begin.
    start: u32,
}

impl<'a> Columns<'a> {
    fn new(call: &Call<'a>) -> Result<Self, Fault> {
        Ok(Columns {
            files: [call.port("older")?, call.port("newer")?],
            literal_starts: call.port("literal_starts")?,
            key_bits: call.port("key_bits")?,
            retained: call.port("retained")?,
            records: call.number("records")?,
            older_records: call.number("older_records")?,
            start: call.port("prefix")?.get(0)?.wrapping_mul(8),
        })
    }

    fn tiles(&self) -> u64 {
        self.records.div_ceil(TILE_RECORDS)
    }

    fn tile(&self, tile: u64) -> std::ops::Range<u64> {
        tile * TILE_RECORDS..self.records.min((tile + 1) * TILE_RECORDS)
    }

    /// The step of one record.
    fn part(&self, record: u64) -> Result<Part, Fault> {
        let (key, retained) = (self.key_bits.get(record)?, self.retained.get(record)?);
        let kept = retained.saturating_sub(self.start).min(WINDOW_BITS);
        let first = retained.max(self.start);
        let held = key.saturating_sub(first).min(WINDOW_BITS - kept);
        let file = &self.files[usize::from(record >= self.older_records)];
        let at = self.literal_starts.get(record)?.wrapping_add(first - retained);
        let bits = first_bits(window64(file, at)?, held).checked_shr(kept).unwrap_or(0);
        Ok(Part { bits, kept })
    }
}

/// What each tile of records makes of the window before it, or, as the second step, what each span of tiles but the last does,
/// in place of its last tile.
pub(in crate::reference) fn window_tiles(call: &Call<'_>) -> Result<(), Fault> {
    let tiles = call.port("tiles")?;
    match call.step {
        0 => tile_parts(&Columns::new(call)?, &tiles),
        _ => span_parts(call.number("SPAN_TILES")?.max(1), &tiles),
    }
}

fn tile_parts(columns: &Columns<'_>, tiles: &Port<'_>) -> Result<(), Fault> {
    for tile in 0..columns.tiles() {
        let mut all = NO_RECORDS;
        for record in columns.tile(tile) {
            all = all.then(columns.part(record)?);
        }
        all.store(tiles, tile)?;
    }
    Ok(())
}

fn span_parts(span_tiles: u64, tiles: &Port<'_>) -> Result<(), Fault> {
    for last in (span_tiles - 1..tiles.len().saturating_sub(1)).step_by(span_tiles as usize) {
        let mut all = NO_RECORDS;
        for tile in last + 1 - span_tiles..=last {
            all = all.then(Part::load(tiles, tile)?);
        }
        all.store(tiles, last)?;
    }
    Ok(())
}

/// The eight bytes of each key after the common prefix, zeros past its end.
pub(in crate::reference) fn window_scan(call: &Call<'_>) -> Result<(), Fault> {
    let (columns, tiles, windows) = (Columns::new(call)?, call.port("tiles")?, call.port("windows")?);
    let span_tiles = call.number("SPAN_TILES")?.max(1);
    let (mut before_span, mut before) = (NO_RECORDS, NO_RECORDS);
    for tile in 0..columns.tiles() {
        let mut own = before;
        for record in columns.tile(tile) {
            own = own.then(columns.part(record)?);
            windows.set_lanes(record, [(own.bits >> 32) as u32, own.bits as u32])?;
        }
        let part = Part::load(&tiles, tile)?;
        if (tile + 1).is_multiple_of(span_tiles) {
            before_span = before_span.then(part);
            before = before_span;
        } else {
            before = before.then(part);
        }
    }
    Ok(())
}
