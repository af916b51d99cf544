//! Why a command failed, and the exit code that says so.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use weft::format::{FormatError, FormatErrorKind, MapError};
use weft::output::OutputError;

/// A failure of a command: what to print, and the class that decides the exit code.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Bad input, refused, or files that differ: exit code 1.
    #[error("{0}")]
    Input(String),
    /// Wrong usage that only shows after the arguments were parsed: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// No device, or a device that failed: exit code 3.
    #[error("{0}")]
    Device(String),
    /// The system refused to read or write: exit code 4.
    #[error("{0}")]
    System(String),
    /// Whoever read standard output has enough, which is no failure: exit code 0 and no message.
    #[error("standard output was closed")]
    OutputClosed,
    /// Several failures, each with its own line; the exit code is the highest of theirs.
    #[error("several failures")]
    Several(Vec<Failure>),
}

impl Failure {
    /// Prints the message to standard error and gives the exit code.
    pub fn report(&self) -> ExitCode {
        ExitCode::from(self.print())
    }

    fn print(&self) -> u8 {
        let code = match self {
            Failure::OutputClosed => return 0,
            Failure::Several(failures) => return failures.iter().map(Failure::print).max().unwrap_or(0),
            Failure::Input(_) => 1,
            Failure::Usage(_) => 2,
            Failure::Device(_) => 3,
            Failure::System(_) => 4,
        };
        // Where nobody can be told, the exit code still can.
        let _ = writeln!(io::stderr(), "weft: {self}");
        code
    }

    /// A file that is not what it should be.
    pub fn format(path: &Path, error: &FormatError) -> Failure {
        let advice = match error.kind {
            FormatErrorKind::NotEverett => "give a KV02 or KV03 file, or make one from rows with weft import",
            FormatErrorKind::Unsupported => "give a KV02 or KV03 file",
            FormatErrorKind::Corrupt => "restore the file from a good copy",
        };
        Failure::Input(format!("{}: {error}; {advice}", path.display()))
    }

    /// A file that could not be opened and mapped.
    pub fn map(path: &Path, error: MapError) -> Failure {
        Failure::map_as(path, error, "a KV02 or KV03 file")
    }

    /// A file that cannot be mapped, where another kind of file is wanted.
    pub fn map_as(path: &Path, error: MapError, wanted: &str) -> Failure {
        match error {
            MapError::Io(error) => Failure::read(path, &error),
            MapError::NotRegular(_) => Failure::Input(format!("{}: {error}; give {wanted}", path.display())),
        }
    }

    /// A file that the system does not let us read.
    pub fn read(path: &Path, error: &io::Error) -> Failure {
        let advice = match error.kind() {
            io::ErrorKind::NotFound => "; check the path",
            io::ErrorKind::PermissionDenied => "; you need permission to read it",
            _ => "",
        };
        Failure::System(format!("{}: cannot read: {error}{advice}", path.display()))
    }

    /// An output file that was refused or could not be written.
    pub fn output(error: OutputError) -> Failure {
        let advice = match &error {
            OutputError::Exists(_) => "give another name, or --force to replace it",
            OutputError::IsInput(_) => "give another name",
            OutputError::NotRegular { .. } => "give the name of a file",
            OutputError::System { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => "check the path; folders are not made on the way",
                io::ErrorKind::PermissionDenied => "you need permission to write there",
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space",
                io::ErrorKind::FileTooLarge => "raise the limit on file sizes (ulimit -f)",
                _ => return Failure::System(error.to_string()),
            },
        };
        let text = format!("{error}; {advice}");
        if error.is_system() { Failure::System(text) } else { Failure::Input(text) }
    }

    /// Results that could not be written to standard output.
    pub fn results(error: &io::Error) -> Failure {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::OutputClosed,
            _ => Failure::System(format!("standard output: cannot write: {error}")),
        }
    }
}
