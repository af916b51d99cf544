//! `weft verify`: node by node against the references.

use weft::run::{Backend, VerifyError, verify};

use super::job::{self, Chosen, DeviceArgs, JobArgs};
use super::progress::{Progress, Total};
use super::text::{count, counted};
use super::{Failure, text};

/// Run a graph on a device and by its scalar references, and compare every output of every node
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    job: JobArgs,
    #[command(flatten)]
    device: DeviceArgs,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    let mut chosen = Chosen::Gpu(Box::new(args.device.open()?));
    let job = args.job.open(&chosen)?;
    let backend: &mut dyn Backend = chosen.backend();
    let progress = Progress::start(&format!("verifying {}", job.program.graph.name), Total::Unknown);
    // The second round finds what only memory that is no longer fresh shows.
    let mut agreement = verify(&job.program, backend, &job.inputs()).map_err(failure)?;
    let again = verify(&job.program, backend, &job.inputs()).map_err(failure)?;
    agreement.elements += again.elements;
    drop(progress);
    text::print(&format!(
        "{}: all equal on {}\n{}, {}, {} elements compared in two rounds with dead memory poisoned\nidentity {}\n",
        job.program.graph.name,
        backend.name(),
        counted(agreement.nodes, "node"),
        counted(agreement.ports, "port"),
        count(agreement.elements),
        job.program.graph.identity
    ))
}

fn failure(error: VerifyError) -> Failure {
    match error {
        VerifyError::Run { error, .. } if error.is_device() => Failure::Device(error.to_string()),
        VerifyError::Run { backend, error } => match job::failure(*error) {
            Failure::Input(text) => Failure::Input(format!("the run by {backend} stopped: {text}")),
            other => other,
        },
        VerifyError::Differs(difference) => Failure::Input(difference.to_string().trim_end().to_owned()),
    }
}
