//! `weft info`: what a key-value file's header and directory say.

use std::path::PathBuf;

use serde::Serialize;
use weft::format::envelope::{BLOCK_RECORDS, HEADER_BYTES};
use weft::format::kv::{File, Profile};

use super::{Failure, files, text};

/// Show a key-value file's header, sections and counts, without reading its contents
#[derive(clap::Args)]
pub struct Args {
    /// The file, KV02 or KV03
    file: PathBuf,
    /// Write JSON
    #[arg(long)]
    json: bool,
}

/// What `--json` writes. Fields are added, never renamed or removed.
#[derive(Serialize)]
struct Info {
    path: String,
    /// `kv02` or `kv03`.
    format: &'static str,
    #[serde(skip)]
    profile: Profile,
    file_bytes: u64,
    records: u64,
    blocks: u64,
    payload_bits: u64,
    /// The declared common encoded value width; null if none is declared.
    value_width_bits: Option<u64>,
    /// Null without records.
    last_key_bytes: Option<u64>,
    /// CRC-32C in hexadecimal, as the header states it.
    body_crc32c: String,
    offsets: Offsets,
    sections: Vec<SectionInfo>,
}

/// The shape of the block offsets.
#[derive(Serialize)]
struct Offsets {
    entries: u64,
    universe: u64,
    low_width_bits: u32,
}

#[derive(Serialize)]
struct SectionInfo {
    name: &'static str,
    /// From the start of the file, in bytes.
    offset: u64,
    bytes: u64,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let mapped = files::map(&args.file)?;
    let file = files::open(&args.file, &mapped)?;
    let info = describe(args.file.display().to_string(), &file);
    if args.json { text::print_json(&info) } else { text::print(&info.for_people()) }
}

fn describe(path: String, file: &File<'_>) -> Info {
    let directory = &file.directory;
    let names = file.profile.section_names();
    let sections = names.iter().zip(&directory.sections).map(|(name, extent)| SectionInfo {
        name,
        offset: HEADER_BYTES + extent.offset,
        bytes: extent.bytes,
    });
    Info {
        path,
        format: file.profile.family(),
        profile: file.profile,
        file_bytes: file.file().len() as u64,
        records: file.records(),
        blocks: file.records().div_ceil(BLOCK_RECORDS),
        payload_bits: directory.payload_bits,
        value_width_bits: file.value_width_bits(),
        last_key_bytes: (file.records() > 0).then_some(file.last_key_bits() / 8),
        body_crc32c: format!("{:08x}", file.header.body_crc),
        offsets: Offsets {
            entries: directory.offsets.entries,
            universe: directory.offsets.universe,
            low_width_bits: directory.offsets.low_width,
        },
        sections: sections.collect(),
    }
}

impl Info {
    /// A number of bits in the file's own unit.
    fn counted_units(&self, bits: u64) -> String {
        match self.profile {
            Profile::Kv02 => text::counted(bits / 8, "byte"),
            Profile::Kv03 => text::counted(bits, "bit"),
        }
    }

    fn for_people(&self) -> String {
        let (profile, included) = match self.profile {
            Profile::Kv02 => ("KV02, byte profile", "tag"),
            Profile::Kv03 => ("KV03, bit profile", "tag and length"),
        };
        let width = match self.value_width_bits {
            Some(bits) => format!("{}, {included} included", self.counted_units(bits)),
            None => "none declared".to_owned(),
        };
        let last_key = match self.last_key_bytes {
            Some(bytes) => text::counted(bytes, "byte"),
            None => "none".to_owned(),
        };
        let mut sections = text::Columns::default();
        sections.row(["section", "at byte", "bytes"].map(str::to_owned));
        for section in &self.sections {
            sections.row([section.name.to_owned(), text::count(section.offset), text::count(section.bytes)]);
        }
        format!(
            "{}: {}, {}\n\
             records             {} in {}\n\
             payload             {}\n\
             common value width  {width}\n\
             last key            {last_key}\n\
             block offsets       {}, universe {}, low width {}\n\
             body CRC-32C        {} as stated (weft check verifies it)\n\n{}",
            self.path,
            profile,
            text::counted(self.file_bytes, "byte"),
            text::count(self.records),
            text::counted(self.blocks, "block"),
            self.counted_units(self.payload_bits),
            text::count(self.offsets.entries),
            text::count(self.offsets.universe),
            text::counted(self.offsets.low_width_bits.into(), "bit"),
            self.body_crc32c,
            sections.lines(),
        )
    }
}
