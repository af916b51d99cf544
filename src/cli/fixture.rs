//! `weft fixture`: the published benchmark inputs as files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use weft::fixture::{Fixture, Shape, Side};
use weft::format::kv::{EncodeError, Framing, Summary, encode};
use weft::output::{OutputError, OutputFile};

use super::files::OutputHow;
use super::{Failure, text};

/// Write the published benchmark inputs, older.kv and newer.kv, into a folder
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["name", "n"]))]
pub struct Args {
    /// complete-0 to complete-6, cutover-0 to cutover-49, sparse, one of the adversarial merges, such as lcp-bit-3, or
    /// byte-fixed-N, byte-variable-N or byte-hashed-N with N 4096, 32768 or 131072, in the byte profile
    name: Option<String>,
    /// Records of the older side, for a pair of your own
    #[arg(long)]
    n: Option<u64>,
    /// The older side has this many times the newer side's records
    #[arg(long, default_value_t = 1, requires = "n")]
    ratio: u64,
    /// Bytes that all keys begin with
    #[arg(long, default_value_t = 32, requires = "n")]
    prefix: usize,
    /// How many of each hundred records of the newer side replace one of the older
    #[arg(long, default_value_t = 50, requires = "n")]
    ties: u64,
    /// Bytes of the shortest value
    #[arg(long, default_value_t = 8, requires = "n")]
    base: usize,
    /// Give every value --base bytes, and have no tombstones
    #[arg(long, requires = "n")]
    fixed: bool,
    /// The folder to write into; it is made if it is missing
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    how: OutputHow,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let started = Instant::now();
    let fixture = find(args)?;
    make_folder(&args.out)?;
    let paths = ["older.kv", "newer.kv"].map(|name| args.out.join(name));
    // Both are created before either is written: if one is refused, neither appears.
    let older = args.how.create(&paths[0], [])?;
    let newer = args.how.create(&paths[1], [])?;
    let summaries = [write(&fixture, Side::Older, &older)?, write(&fixture, Side::Newer, &newer)?];
    older.commit().map_err(Failure::output)?;
    newer.commit().map_err(Failure::output)?;
    let mut table = text::Columns::default();
    for (path, summary) in paths.iter().zip(summaries) {
        let (records, bytes) = (summary.records, summary.file_bytes);
        table.row([
            path.display().to_string(),
            text::counted(records, "record"),
            text::counted(bytes, "byte"),
        ]);
    }
    text::print(&format!("{}written in {}\n", table.lines(), text::duration(started.elapsed())))
}

fn find(args: &Args) -> Result<Fixture, Failure> {
    if let Some(name) = &args.name {
        return Fixture::by_name(name).ok_or_else(|| {
            let known = "complete-0 to complete-6, cutover-0 to cutover-49, sparse, adversarial merges such as lcp-bit-3, and \
                byte-fixed-N, byte-variable-N and byte-hashed-N with N 4096, 32768 or 131072";
            Failure::Usage(format!("no fixture is named {name:?}; there are {known}"))
        });
    }
    let shape = Shape {
        records: args.n.unwrap_or(0),
        ratio: args.ratio,
        prefix_bytes: args.prefix,
        ties_percent: args.ties,
        base_bytes: args.base,
        fixed: args.fixed,
    };
    shape.validate().map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(Fixture::Shape(shape))
}

fn make_folder(folder: &Path) -> Result<(), Failure> {
    match fs::create_dir(folder) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(source) => Err(Failure::output(OutputError::System {
            path: folder.to_owned(),
            action: "make this folder",
            source,
        })),
    }
}

fn write(fixture: &Fixture, side: Side, output: &OutputFile) -> Result<Summary, Failure> {
    let framing = Framing::of_rows(fixture.profile(), fixture.rows(side));
    encode(framing, fixture.rows(side), output.file()).map_err(|error| match error {
        EncodeError::Io(error) => Failure::output(output.write_error(error)),
        EncodeError::NotAscending { .. } => Failure::Input(error.to_string()),
    })
}
