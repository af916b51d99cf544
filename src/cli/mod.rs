//! The command line: one file a command, each thin. Results go to standard output, messages to standard error.

mod bench;
mod check;
mod compare;
mod devices;
mod diff;
mod dump;
mod expand;
mod explain;
mod failure;
mod files;
mod fixture;
mod import;
mod info;
mod job;
mod library;
mod lint;
mod list;
mod merge;
mod plan;
mod profile;
mod progress;
mod run;
mod schema;
mod show;
mod symbols;
mod text;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub use failure::Failure;

/// Merge Everett key-value files, and run, draw and profile graphs of GPU compute passes.
#[derive(Parser)]
#[command(name = "weft", version, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 done; 1 bad input, refused or differing files; 2 usage; 3 device;\n\
                        4 the system refused to read or write; 128 + signal.")]
struct Cli {
    /// Log to standard error in this form; RUST_LOG chooses what [default: weft=debug]
    #[arg(long, global = true, value_enum, value_name = "FORM", help_heading = "Logging")]
    log: Option<LogArg>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum LogArg {
    /// Lines for people
    Text,
    /// A JSON object a line
    Json,
}

#[derive(Subcommand)]
enum Command {
    Merge(merge::Args),
    Import(import::Args),
    Dump(dump::Args),
    Check(check::Args),
    Info(info::Args),
    Fixture(fixture::Args),
    List(list::Args),
    Schema(schema::Args),
    Lint(lint::Args),
    Show(show::Args),
    Explain(explain::Args),
    Diff(diff::Args),
    Expand(expand::Args),
    Plan(plan::Args),
    Devices(devices::Args),
    Run(run::Args),
    Verify(verify::Args),
    Profile(profile::Args),
    Compare(compare::Args),
    Bench(bench::Args),
}

/// Parses the arguments, runs the command and turns its failure into one message and an exit code.
pub fn main() -> ExitCode {
    let Cli { log, command } = Cli::parse();
    quiet_device_selection();
    start_log(log);
    if let Err(error) = weft::output::remove_temporaries_on_signals() {
        return Failure::System(format!("cannot handle signals: {error}")).report();
    }
    let outcome = match command {
        Command::Merge(args) => merge::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Dump(args) => dump::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Fixture(args) => fixture::run(&args),
        Command::List(args) => list::run(&args),
        Command::Lint(args) => lint::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Schema(args) => schema::run(&args),
        Command::Expand(args) => expand::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Show(args) => show::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Profile(args) => profile::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Devices(args) => devices::run(&args),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Keeps Mesa's layer for choosing among devices, which weft does itself, from complaining on machines without a desktop.
fn quiet_device_selection() {
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: no other thread runs yet.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

/// Spans, when they end, and events go to standard error where `RUST_LOG` or `--log` asks for them.
fn start_log(form: Option<LogArg>) {
    use tracing_subscriber::{EnvFilter, fmt::format::FmtSpan};
    let chosen = std::env::var_os("RUST_LOG").is_some();
    if form.is_none() && !chosen {
        return;
    }
    let filter = if chosen { EnvFilter::from_default_env() } else { EnvFilter::new("weft=debug") };
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_span_events(FmtSpan::CLOSE)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()));
    match form {
        Some(LogArg::Json) => log.json().init(),
        Some(LogArg::Text) | None => log.init(),
    }
}
