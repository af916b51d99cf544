//! Which engine does a merge, when the caller leaves it open.
//!
//! A merge in a process of its own pays for opening the device and making pipelines; until a job takes the CPU engine longer
//! than that, there is nothing to gain. All figures here were measured, see `docs/reports`, and are meant to be about right:
//! both engines give the same bytes.

use crate::format::kv::File;

/// Seconds that the streaming engine takes a record, checksums included: 37 to 100 ns on the machines measured.
const CPU_SECONDS_PER_RECORD: f64 = 60e-9;

/// Seconds that it takes a byte of input, for what is copied.
const CPU_SECONDS_PER_BYTE: f64 = 0.4e-9;

/// Seconds that opening a device and making the pipelines of a merge take: 0.28 in all for a small merge on an H200.
const DEVICE_START_SECONDS: f64 = 0.3;

/// What the CPU engine is expected to take.
pub fn cpu_seconds(inputs: &[File<'_>]) -> f64 {
    let records: u64 = inputs.iter().map(File::records).sum();
    let bytes: u64 = inputs.iter().map(|input| input.file().len() as u64).sum();
    records as f64 * CPU_SECONDS_PER_RECORD + bytes as f64 * CPU_SECONDS_PER_BYTE
}

/// Why a job is not worth a device, if it is not; known without looking for one.
pub fn too_small_for_device(inputs: &[File<'_>]) -> Option<String> {
    let seconds = cpu_seconds(inputs);
    (seconds < DEVICE_START_SECONDS).then(|| {
        let (cpu, start) = (seconds * 1e3, DEVICE_START_SECONDS * 1e3);
        format!("the job takes it about {cpu:.0} ms, and opening a device takes about {start:.0} ms")
    })
}

/// Why a job is not one for a graph, if it is not.
pub fn not_for_graphs(inputs: &[File<'_>]) -> Option<String> {
    (inputs.len() != 2).then(|| format!("graphs merge two files, and there are {}", inputs.len()))
}
