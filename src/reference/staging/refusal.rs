//! Why the device would refuse a file: the references of the passes that read files there, one after another.
//!
//! The reader of files that the host uses says the same in other words, and by records instead of blocks.

use std::cell::Cell;

use crate::format::elias_fano::Section;
use crate::format::envelope::{BLOCK_RECORDS, HEADER_BYTES};
use crate::format::kv::File;
use crate::reference::{Call, Fault, Port, Reference, ef, input, order, tree};

/// The status words that the passes leave for a file, all ones where they find nothing wrong.
pub(super) struct Refusal {
    /// After the records were read.
    pub(super) blocks: u32,
    /// After keys were compared as well.
    pub(super) keys: u32,
}

/// Why the passes would refuse a file.
pub(super) fn refusal(file: &Port<'_>, opened: &File<'_>) -> Result<Refusal, Fault> {
    let passes = Passes::new(file, opened);
    passes.call(ef::select, 0)?;
    passes.call(input::parse, 0)?;
    let blocks = passes.status();
    for step in 0..=opened.records().next_power_of_two().ilog2() {
        passes.call(tree::levels, step)?;
    }
    passes.call(order::ascending, 0)?;
    Ok(Refusal { blocks, keys: passes.status() })
}

/// The numbers and values of the passes, with one name for one thing.
struct Passes<'a> {
    file: Port<'a>,
    numbers: Vec<(&'static str, u64)>,
    values: Vec<(&'static str, Vec<Cell<u32>>)>,
}

impl<'a> Passes<'a> {
    fn new(file: &Port<'a>, opened: &File<'_>) -> Passes<'a> {
        let (directory, records) = (&opened.directory, opened.records());
        let section_at = |index: usize| (HEADER_BYTES + directory.sections[index].offset) / 4;
        let entries = records.div_ceil(BLOCK_RECORDS) + 1;
        let numbers = vec![
            ("words", file.len()),
            ("entries", entries),
            ("universe", directory.offsets.universe),
            ("low_width", u64::from(directory.offsets.low_width)),
            ("lows_at", section_at(1)),
            ("highs_at", section_at(2)),
            ("samples_at", section_at(3)),
            ("exceptions_at", section_at(4)),
            ("exceptions", opened.offset_sections().words(Section::Exceptions)),
            ("records", records),
            ("older_records", records),
            ("first", 0),
            ("n", records),
            ("payload_bits", directory.payload_bits),
            ("common_bits", opened.offset_stride()),
            ("last_key_bits", opened.last_key_bits()),
        ];
        let cells = |len: u64, word: u32| vec![Cell::new(word); len as usize];
        let mut values = vec![
            ("starts", cells(entries, 0)),
            ("status", cells(1, u32::MAX)),
            ("tree", cells(2 * records.next_power_of_two(), 0)),
            ("prefix", cells(1, 0)),
        ];
        for column in ["literal_starts", "key_bits", "retained", "value_bits"] {
            values.push((column, cells(records, 0)));
        }
        Passes { file: *file, numbers, values }
    }

    /// Calls one pass. The file goes by all names that passes have for it; selected entries are where blocks start.
    fn call(&self, pass: Reference, step: u32) -> Result<(), Fault> {
        let named = |name| Port::new(name, self.file.words(), 1, false);
        let mut ports = vec![named("file"), named("older"), named("newer")];
        for (name, cells) in &self.values {
            ports.push(Port::new(name, cells, 1, true));
            if *name == "starts" {
                ports.push(Port::new("selected", cells, 1, true));
            }
        }
        pass(&Call { numbers: self.numbers.clone(), step, ports })
    }

    fn status(&self) -> u32 {
        self.values.iter().find(|(name, _)| *name == "status").map_or(u32::MAX, |(_, cells)| cells[0].get())
    }
}
