//! Lifetimes for the terminal: a row a buffer, a column a node, in characters.

use std::fmt::Write as _;

use indicatif::BinaryBytes;

use super::{Lifetime, Memory, Touch};
use crate::report::text::wrap;

/// The narrowest that names are cut to where the nodes need the room.
const NARROW_NAME_CHARS: usize = 20;
/// The widest that names are before columns grow.
const NAME_CHARS: usize = 36;
/// The most columns a node takes where there is room.
const WIDE_NODE_CHARS: usize = 3;

const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The lifetimes of a plan's buffers against the order of its nodes, in lines of at most `width` characters, which should be 60 or
/// more. Where a column cannot hold fewer than two nodes it shows the strongest use among them.
pub fn chart(memory: &Memory, width: usize) -> String {
    let grid = Grid::new(memory, width);
    let mut text = String::new();
    grid.line(&mut text, "", "", "", &grid.ruler(memory));
    for life in &memory.lifetimes {
        let bytes = BinaryBytes(life.size_bytes).to_string();
        grid.line(&mut text, &life.name, &bytes, &life.arena.to_string(), &grid.row(life));
    }
    let most = most_live(memory);
    grid.line(&mut text, "live in all, most", &BinaryBytes(most).to_string(), "", &grid.live(memory, most));
    let together = match grid.nodes_in_column {
        1 => String::new(),
        nodes => format!("; a column is {nodes} nodes"),
    };
    let legend = format!("w written, r read, u updated in place, ─ live, │ the host waits{together}");
    let _ = write!(text, "  {}", wrap(&legend, width.saturating_sub(2), "  "));
    text
}

fn most_live(memory: &Memory) -> u64 {
    memory.steps.iter().map(|step| step.live_bytes).max().unwrap_or(0)
}

/// How wide everything is.
struct Grid {
    name_chars: usize,
    bytes_chars: usize,
    arena_chars: usize,
    /// Nodes that share a column.
    nodes_in_column: usize,
    /// Characters of a column.
    column_chars: usize,
    /// For each column: its positions, and whether the host waits before it.
    columns: Vec<(std::ops::Range<usize>, bool)>,
}

impl Grid {
    fn new(memory: &Memory, width: usize) -> Grid {
        let longest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
        let mut names = memory.lifetimes.iter().map(|life| life.name.chars().count());
        let all_name_chars = longest(&mut names).max("live in all, most".len());
        let sizes = memory.lifetimes.iter().map(|life| life.size_bytes).chain([most_live(memory)]);
        let mut bytes = sizes.map(|bytes| BinaryBytes(bytes).to_string().len());
        let bytes_chars = longest(&mut bytes).max(9);
        let arena_chars = memory.arenas.len().saturating_sub(1).to_string().len();
        // Two blanks in front and one after each of name, bytes and arena.
        let fixed = 2 + 3 + bytes_chars + arena_chars;
        let waits = memory.segments.iter().filter(|range| range.start > 0 && !range.is_empty()).count();
        let narrow = all_name_chars.min(NARROW_NAME_CHARS);
        let room = width.saturating_sub(fixed + narrow + waits).max(8);
        // No column reaches over a wait, so that there may be more of them than there are nodes to share them.
        let mut nodes_in_column = memory.steps.len().div_ceil(room).max(1);
        while nodes_in_column < memory.steps.len() && columns(memory, nodes_in_column).len() > room {
            nodes_in_column += 1;
        }
        let columns = columns(memory, nodes_in_column);
        let column_chars = (room / columns.len().max(1)).clamp(1, WIDE_NODE_CHARS);
        // Names come before wide columns.
        let column_chars = (1..=column_chars)
            .rev()
            .find(|chars| fixed + all_name_chars.min(NAME_CHARS) + waits + columns.len() * chars <= width)
            .unwrap_or(1);
        let left = width.saturating_sub(fixed + waits + columns.len() * column_chars);
        let name_chars = all_name_chars.min(left.max(8));
        Grid { name_chars, bytes_chars, arena_chars, nodes_in_column, column_chars, columns }
    }

    fn line(&self, text: &mut String, name: &str, bytes: &str, arena: &str, cells: &str) {
        let (names, sizes, arenas) = (self.name_chars, self.bytes_chars, self.arena_chars);
        let name = ending(name, names);
        let line = format!("  {name:<names$} {bytes:>sizes$} {arena:>arenas$} {cells}");
        text.push_str(line.trim_end());
        text.push('\n');
    }

    /// The positions of nodes, as far apart as they need to be.
    fn ruler(&self, memory: &Memory) -> String {
        let digits = memory.steps.len().saturating_sub(1).to_string().len();
        let every = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].into_iter();
        let enough = |every: &usize| every * self.column_chars > digits * self.nodes_in_column;
        let every = every.into_iter().find(enough).unwrap_or(10_000);
        let waits = self.columns.iter().filter(|(_, waits)| *waits).count();
        let end = waits + self.columns.len() * self.column_chars;
        let mut ruler: Vec<char> = Vec::new();
        let mut at = 0;
        for (positions, waits) in &self.columns {
            at += usize::from(*waits);
            if let Some(number) = positions.clone().find(|position| position % every == 0) {
                let number = number.to_string();
                let fits = at + number.len() <= end;
                if fits && (ruler.len() < at || at == 0) {
                    ruler.resize(at, ' ');
                    ruler.extend(number.chars());
                }
            }
            at += self.column_chars;
        }
        ruler.into_iter().collect()
    }

    fn row(&self, life: &Lifetime) -> String {
        self.cells(Some(life), |positions| {
            let touches = life.touches.range(positions.clone()).map(|(_, &touch)| touch);
            let live = life.first < positions.end && positions.start <= life.last;
            match touches.max() {
                Some(Touch::Read) => 'r',
                Some(Touch::Write) => 'w',
                Some(Touch::Update) => 'u',
                None if live => '─',
                None => ' ',
            }
        })
    }

    /// A character a column, and between columns a line where the buffer, if it is one, lives on.
    fn cells(&self, live: Option<&Lifetime>, of: impl Fn(&std::ops::Range<usize>) -> char) -> String {
        let mut cells = String::new();
        for (positions, waits) in &self.columns {
            if *waits {
                cells.push('│');
            }
            cells.push(of(positions));
            let goes_on = live.is_some_and(|life| life.first < positions.end && positions.end <= life.last);
            (1..self.column_chars).for_each(|_| cells.push(if goes_on { '─' } else { ' ' }));
        }
        cells
    }

    fn live(&self, memory: &Memory, most: u64) -> String {
        self.cells(None, |positions| {
            let live = memory.steps[positions.clone()].iter().map(|step| step.live_bytes).max().unwrap_or(0);
            let height = (live as f64 / most.max(1) as f64 * BARS.len() as f64).ceil() as usize;
            if live == 0 { ' ' } else { BARS[height.clamp(1, BARS.len()) - 1] }
        })
    }
}

/// A name cut to so many characters; the end of a name tells more than its beginning.
pub(super) fn ending(name: &str, limit: usize) -> String {
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let over = name.chars().count().saturating_sub(limit);
    match over {
        0 => name.chars().map(clean).collect(),
        _ => std::iter::once('…').chain(name.chars().skip(over + 1).map(clean)).collect(),
    }
}

/// Positions by columns of at most `nodes`; no column reaches over a wait of the host.
fn columns(memory: &Memory, nodes: usize) -> Vec<(std::ops::Range<usize>, bool)> {
    let mut columns = Vec::new();
    for segment in &memory.segments {
        let mut start = segment.start;
        while start < segment.end {
            let end = segment.end.min(start + nodes);
            columns.push((start..end, start == segment.start && start > 0));
            start = end;
        }
    }
    columns
}
