//! Why a command failed, and the exit code that says so.

use std::process::ExitCode;

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
}

impl Failure {
    /// Prints the message to standard error and gives the exit code.
    pub fn report(&self) -> ExitCode {
        eprintln!("weft: {self}");
        ExitCode::from(match self {
            Failure::Input(_) => 1,
            Failure::Usage(_) => 2,
            Failure::Device(_) => 3,
            Failure::System(_) => 4,
        })
    }
}
