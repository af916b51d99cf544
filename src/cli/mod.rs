//! The command line: one file a command, each thin. Results go to standard output, messages to standard error.

mod failure;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use failure::Failure;

/// Merge Everett key-value files, and run, draw and profile graphs of GPU compute passes.
#[derive(Parser)]
#[command(name = "weft", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {}

/// Parses the arguments, runs the command and turns its failure into one message and an exit code.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let outcome: Result<(), Failure> = match cli.command {};
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
