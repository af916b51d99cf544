//! `weft dump`: the rows of a key-value file as text.

use std::io::{self, BufWriter};
use std::path::PathBuf;

use weft::rows::Writer;

use super::Failure;
use super::files::{self, RowFormatArg};

/// Write a key-value file's rows as text to standard output, as import reads them
#[derive(clap::Args)]
pub struct Args {
    /// The file, KV02 or KV03
    file: PathBuf,
    /// How to write the rows
    #[arg(long, value_enum, default_value_t = RowFormatArg::Tsv)]
    format: RowFormatArg,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let mapped = files::map(&args.file)?;
    let file = files::open(&args.file, &mapped)?;
    let stdout = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let mut writer = Writer::new(stdout, args.format.into());
    let mut rows = file.rows();
    while let Some((key, value)) = rows.next().map_err(|error| Failure::format(&args.file, &error))? {
        writer.write(key, value).map_err(|error| Failure::results(&error))?;
    }
    writer.finish().map_err(|error| Failure::results(&error))?;
    Ok(())
}
