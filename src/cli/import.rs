//! `weft import`: rows as text into a key-value file.

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

use weft::format::kv::{EncodeError, Framing, encode};
use weft::rows::{OnDuplicate, Reader, RowFormat, RowsError, Table};

use super::files::{OutputArgs, ProfileArg, RowFormatArg};
use super::progress::{Progress, Total};
use super::{Failure, text};

/// Write a key-value file from rows as text, in any order
#[derive(clap::Args)]
pub struct Args {
    /// The rows; - for standard input
    rows: PathBuf,
    #[command(flatten)]
    output: OutputArgs,
    /// How the rows are written [default: jsonl for .jsonl, .ndjson and .json, else tsv]
    #[arg(long, value_enum)]
    format: Option<RowFormatArg>,
    /// The profile of the file
    #[arg(long, value_enum, default_value_t = ProfileArg::Kv03)]
    profile: ProfileArg,
    /// What to do with a key that occurs twice
    #[arg(long, value_enum, default_value_t = OnDuplicateArg::Error)]
    on_duplicate: OnDuplicateArg,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum OnDuplicateArg {
    /// Refuse the rows
    Error,
    /// Keep the last of the key's rows
    Last,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let started = Instant::now();
    let source = Source::open(&args.rows)?;
    let name = source.name();
    // Before any work, so that an output that is refused costs nothing.
    let output = args.output.create(source.file())?;
    let format = args.format.map_or_else(|| RowFormat::of_path(&args.rows), RowFormat::from);
    let progress = Progress::start(&format!("importing {name}"), source.total());
    let mut table = read(source, format, &progress).map_err(|error| match error {
        RowsError::Malformed { .. } => Failure::Input(format!("{name}: {error}")),
        RowsError::Read(error) => Failure::read(Path::new(&name), &error),
    })?;
    let rows = table.len() as u64;
    let on_duplicate = match args.on_duplicate {
        OnDuplicateArg::Error => OnDuplicate::Error,
        OnDuplicateArg::Last => OnDuplicate::Last,
    };
    table.sort(on_duplicate).map_err(|error| {
        Failure::Input(format!(
            "{name}: {error}; keep one of them, or let the last one win with --on-duplicate last"
        ))
    })?;
    let tombstones = table.iter().filter(|(_, value)| value.is_none()).count() as u64;
    let framing = Framing::of_rows(args.profile.into(), table.iter());
    let summary = encode(framing, table.iter(), output.file()).map_err(|error| match error {
        EncodeError::Io(error) => Failure::output(output.write_error(error)),
        EncodeError::NotAscending { .. } => Failure::Input(format!("{name}: {error}")),
    })?;
    output.commit().map_err(Failure::output)?;
    drop(progress);

    let mut table = text::Columns::default();
    table.row([name, text::counted(rows, "row")]);
    table.row([
        args.output.output.display().to_string(),
        text::counted(summary.records, "record"),
        text::counted(tombstones, "tombstone"),
        text::counted(summary.file_bytes, "byte"),
    ]);
    let replaced = match rows - summary.records {
        0 => String::new(),
        replaced => format!("{} gave way to later rows of their keys; ", text::counted(replaced, "row")),
    };
    text::print(&format!("{}{replaced}written in {}\n", table.lines(), text::duration(started.elapsed())))
}

/// Where rows come from.
enum Source {
    Stdin,
    File(PathBuf, File),
}

impl Source {
    fn open(path: &Path) -> Result<Source, Failure> {
        if path.as_os_str() == "-" {
            return Ok(Source::Stdin);
        }
        let file = File::open(path).map_err(|error| Failure::read(path, &error))?;
        // A pipe is a fine source of rows, a folder is not.
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(Failure::Input(format!("{}: a folder; give a file of rows", path.display())));
        }
        Ok(Source::File(path.to_owned(), file))
    }

    fn name(&self) -> String {
        match self {
            Source::Stdin => "standard input".to_owned(),
            Source::File(path, _) => path.display().to_string(),
        }
    }

    /// What there is to read, where anyone knows.
    fn total(&self) -> Total {
        let metadata = self.file().and_then(|file| file.metadata().ok()).filter(Metadata::is_file);
        metadata.map_or(Total::Unknown, |metadata| Total::Bytes(metadata.len()))
    }

    fn file(&self) -> Option<&File> {
        match self {
            Source::Stdin => None,
            Source::File(_, file) => Some(file),
        }
    }
}

/// A source that says how much of it was read.
struct Counted<'p> {
    bytes: Box<dyn Read>,
    position: u64,
    progress: &'p Progress,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.bytes.read(buffer)?;
        self.position += read as u64;
        self.progress.at(self.position);
        Ok(read)
    }
}

fn read(source: Source, format: RowFormat, progress: &Progress) -> Result<Table, RowsError> {
    let bytes: Box<dyn Read> = match source {
        Source::Stdin => Box::new(io::stdin().lock()),
        Source::File(_, file) => Box::new(file),
    };
    let mut bytes = BufReader::with_capacity(1 << 16, Counted { bytes, position: 0, progress });
    if bytes.fill_buf()?.starts_with(b"EVRT.") {
        let problem =
            "the start of an Everett file, not of rows; weft dump turns such files into rows".to_owned();
        return Err(RowsError::Malformed { line: 1, column: 1, problem });
    }
    Table::read(&mut Reader::new(bytes, format))
}
