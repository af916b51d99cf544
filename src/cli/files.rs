//! What commands share about files: opening inputs, the options of outputs, the formats of rows.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use weft::format::MappedFile;
use weft::format::kv::{File as KeyValueFile, Profile};
use weft::output::{OutputFile, OutputOptions};
use weft::rows::RowFormat;

use super::Failure;

/// Opens and maps a file.
pub fn map(path: &Path) -> Result<MappedFile, Failure> {
    MappedFile::open(path).map_err(|error| Failure::map(path, error))
}

/// Opens a mapped file, of whichever profile it is.
pub fn open<'a>(path: &Path, file: &'a MappedFile) -> Result<KeyValueFile<'a>, Failure> {
    KeyValueFile::open(file).map_err(|error| Failure::format(path, &error))
}

/// The profile of a file to be written.
#[derive(Clone, Copy, clap::ValueEnum)]
pub enum ProfileArg {
    /// The byte profile
    Kv02,
    /// The bit profile
    Kv03,
}

impl From<ProfileArg> for Profile {
    fn from(profile: ProfileArg) -> Profile {
        match profile {
            ProfileArg::Kv02 => Profile::Kv02,
            ProfileArg::Kv03 => Profile::Kv03,
        }
    }
}

/// Where an output goes and how.
#[derive(clap::Args)]
pub struct OutputArgs {
    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    #[command(flatten)]
    pub how: OutputHow,
}

/// How outputs are written.
#[derive(Clone, Copy, clap::Args)]
pub struct OutputHow {
    /// Replace an existing file
    #[arg(long)]
    pub force: bool,
    /// Have data and folder on stable storage before reporting success
    #[arg(long)]
    pub sync: bool,
}

impl OutputArgs {
    /// Creates the output, made from the open files `inputs`.
    pub fn create<'a>(&self, inputs: impl IntoIterator<Item = &'a File>) -> Result<OutputFile, Failure> {
        self.how.create(&self.output, inputs)
    }
}

impl OutputHow {
    /// Creates an output file, made from the open files `inputs`.
    pub fn create<'a>(
        self,
        path: &Path,
        inputs: impl IntoIterator<Item = &'a File>,
    ) -> Result<OutputFile, Failure> {
        if path.as_os_str() == "-" {
            let problem =
                "an output is a file that appears whole or not at all, which standard output cannot be";
            return Err(Failure::Usage(format!("{problem}; give a path (./- for a file of that name)")));
        }
        let options = OutputOptions { force: self.force, sync: self.sync };
        OutputFile::create(path, options, inputs).map_err(Failure::output)
    }
}

/// Fills an output and lets it appear.
pub fn put(output: OutputFile, bytes: &[u8]) -> Result<(), Failure> {
    let written = output.file().write_all(bytes);
    written.map_err(|error| Failure::output(output.write_error(error)))?;
    output.commit().map_err(Failure::output)
}

/// Writes an output at once.
pub fn write(path: &Path, how: OutputHow, text: &str) -> Result<(), Failure> {
    put(how.create(path, [])?, text.as_bytes())
}

/// How rows are written.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum RowFormatArg {
    /// Key TAB value; no TAB for a tombstone; escapes \t \n \r \\ \xNN, and \e for the empty key
    Tsv,
    /// {"key": "...", "value": "..." or null} a line, or key_hex and value_hex
    Jsonl,
}

impl From<RowFormatArg> for RowFormat {
    fn from(format: RowFormatArg) -> RowFormat {
        match format {
            RowFormatArg::Tsv => RowFormat::Tsv,
            RowFormatArg::Jsonl => RowFormat::Jsonl,
        }
    }
}
