//! The published suites of merges over engines and graphs: every output compared with that of the streaming engine, every
//! time kept.
//!
//! A *subject* is an engine, with a graph where it runs one. For each case all subjects run interleaved: first once each, then
//! the trials in orders that are shuffled anew. What is timed is a complete merge of two files in memory into a file in
//! memory: opening, planning, checksums of inputs and output, upload, device, download. Making the inputs is not.
//!
//! A subject's first merge in the process makes its pipelines and memory; the first merge of a later case meets new sizes with
//! pipelines made, and with a plan for other sizes at hand (see [`Merger`]). Both are kept apart from the trials. Knows nothing of
//! the command line and of how reports look; [`markdown`] writes one.

pub mod markdown;

use std::time::Instant;

use serde::Serialize;

use crate::fixture::byte::{self, ByteShape, Keys};
use crate::fixture::{Fixture, Side, Sparse, complete, cutover};
use crate::format::kv::{self, File, Framing, Profile};
use crate::merge::cpu;
use crate::merge::graph::{GraphMergeError, Merger, Stages};
use crate::plan::random::Random;
use crate::report::stats::Stats;
use crate::run::Backend;

/// A published suite.
pub struct Suite {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Of which files.
    pub profile: Profile,
    /// Its cases, in their published order.
    pub cases: fn() -> Vec<Case>,
}

/// A pair of inputs.
pub struct Case {
    /// Its name within all suites.
    pub name: String,
    /// What distinguishes it.
    pub about: String,
    /// The rows.
    pub fixture: Fixture,
}

/// All suites.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "complete",
        about: "seven inputs of the complete-path report",
        profile: Profile::Kv03,
        cases: complete_cases,
    },
    Suite {
        name: "cutover",
        about: "fifty inputs across sizes, ratios, keys and values",
        profile: Profile::Kv03,
        cases: cutover_cases,
    },
    Suite {
        name: "collision",
        about: "the complete-path inputs and a sparse newer side",
        profile: Profile::Kv03,
        cases: collision_cases,
    },
    Suite {
        name: "byte",
        about: "six inputs of the byte profile, and three with keys like hashes",
        profile: Profile::Kv02,
        cases: byte_cases,
    },
];

fn shapes(family: &str, shapes: Vec<crate::fixture::Shape>) -> Vec<Case> {
    let case = |(index, shape): (usize, crate::fixture::Shape)| {
        let (records, newer) = (shape.records, shape.records / shape.ratio);
        let fixed = if shape.fixed { ", fixed" } else { "" };
        Case {
            name: format!("{family}-{index}"),
            about: format!(
                "{records} + {newer} records, prefix {}, ties {} %, base {}{fixed}",
                shape.prefix_bytes, shape.ties_percent, shape.base_bytes
            ),
            fixture: Fixture::Shape(shape),
        }
    };
    shapes.into_iter().enumerate().map(case).collect()
}

fn complete_cases() -> Vec<Case> {
    shapes("complete", complete())
}

fn cutover_cases() -> Vec<Case> {
    shapes("cutover", cutover())
}

fn collision_cases() -> Vec<Case> {
    let about = format!(
        "{} + {} records spread thinly, half of them ties",
        Sparse::OLDER_RECORDS,
        Sparse::NEWER_RECORDS
    );
    let sparse = Case { name: "sparse".to_owned(), about, fixture: Fixture::Sparse };
    complete_cases().into_iter().chain([sparse]).collect()
}

fn byte_cases() -> Vec<Case> {
    let case = |(name, shape): (String, ByteShape)| {
        let values = if shape.fixed { "16 bytes" } else { "0 to 512 bytes, and tombstones" };
        let ByteShape { older, newer, ties_percent, .. } = shape;
        let keys = match shape.keys {
            Keys::Counted { prefix_bytes } => format!("prefix {prefix_bytes}"),
            Keys::Hashed => "keys like hashes".to_owned(),
        };
        Case {
            name,
            about: format!("{older} + {newer} records, {keys}, ties {ties_percent} %, values of {values}"),
            fixture: Fixture::Byte(shape),
        }
    };
    byte::benchmarks().into_iter().chain(byte::hashed()).map(case).collect()
}

/// What does a merge.
pub struct Subject {
    /// What reports call it.
    pub label: String,
    /// How.
    pub engine: Engine,
}

/// An engine.
pub enum Engine {
    /// The streaming engine.
    Cpu,
    /// A graph on a backend of its own.
    Graph {
        /// The graph, with what it planned for the merge before.
        merger: Box<Merger>,
        /// What runs it.
        backend: Box<dyn Backend>,
    },
}

/// What a suite gave.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The suite.
    pub suite: String,
    /// Seconds since 1970 when it began.
    pub began_unix_seconds: u64,
    /// The version of weft.
    pub weft: String,
    /// Trials of each subject and case.
    pub trials: usize,
    /// Seed of the orders.
    pub seed: u64,
    /// Who took part.
    pub subjects: Vec<SubjectReport>,
    /// Case by case.
    pub cases: Vec<CaseReport>,
}

/// Who took part.
#[derive(Clone, Debug, Serialize)]
pub struct SubjectReport {
    /// Its name in this report.
    pub label: String,
    /// The graph's identity.
    pub identity: Option<String>,
    /// The device, its driver and their versions; none for the streaming engine.
    pub backend: Option<String>,
}

/// One case.
#[derive(Clone, Debug, Serialize)]
pub struct CaseReport {
    /// Its name.
    pub case: String,
    /// What distinguishes it.
    pub about: String,
    /// Bytes of both files.
    pub input_bytes: [u64; 2],
    /// Records of both files.
    pub input_records: [u64; 2],
    /// Bytes of the output.
    pub output_bytes: u64,
    /// CRC-32C of the whole output.
    pub output_crc32c: u32,
    /// Subject by subject.
    pub results: Vec<SubjectResult>,
}

/// What a subject made of a case.
#[derive(Clone, Debug, Serialize)]
pub struct SubjectResult {
    /// Who.
    pub label: String,
    /// How it went.
    pub outcome: CaseOutcome,
    /// The first merge of this case, and whether it was the first of the process.
    pub first: Option<First>,
    /// The complete merge.
    pub complete_seconds: Option<Stats>,
    /// Parts of it, for graphs.
    pub parts: Option<Parts>,
    /// Planned bytes of all arenas.
    pub peak_bytes: Option<u64>,
}

/// The first merge of a case.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct First {
    /// The complete merge.
    pub seconds: f64,
    /// Whether pipelines were made in it.
    pub cold: bool,
}

/// Parts of a merge by a graph.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Parts {
    /// Planning.
    pub plan_seconds: Stats,
    /// Checksums of the inputs, beside which the run goes on.
    pub verify_seconds: Stats,
    /// Uploading.
    pub upload_seconds: Stats,
    /// The run between them: everything up to the last wait of the host.
    pub device_seconds: Stats,
    /// The last wait, and reading the outputs.
    pub download_seconds: Stats,
    /// The output's checksum, directory and header.
    pub finish_seconds: Stats,
}

/// How a case went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CaseOutcome {
    /// Every output was that of the streaming engine.
    Equal,
    /// An output was another: the first byte that differs.
    Differs(u64),
    /// The files do not suit the graph or the device, and nothing ran.
    Refused(String),
    /// It stopped.
    Failed(String),
}

impl Report {
    /// How many outcomes were equal, refused, and wrong.
    pub fn tally(&self) -> [usize; 3] {
        let outcomes = || self.cases.iter().flat_map(|case| &case.results).map(|result| &result.outcome);
        let equal = outcomes().filter(|outcome| **outcome == CaseOutcome::Equal).count();
        let refused = outcomes().filter(|outcome| matches!(outcome, CaseOutcome::Refused(_))).count();
        [equal, refused, outcomes().count() - equal - refused]
    }
}

/// How to run a suite.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Trials of each subject and case, after its first merge.
    pub trials: usize,
    /// Seed of the orders.
    pub seed: u64,
    /// Cases with more records than this are left out.
    pub most_records: u64,
}

/// Input bytes of a case above which graphs give their memory back after it.
const KEEP_BYTES: u64 = 64 << 20;

/// Runs a suite. `progress` is told the name of each case before it begins, and how many of how many are done.
pub fn run(
    suite: &Suite,
    subjects: &mut [Subject],
    settings: Settings,
    began_unix_seconds: u64,
    progress: &mut dyn FnMut(&str, usize, usize),
) -> Report {
    let mut random = Random::new(settings.seed);
    let cases = (suite.cases)();
    let mut reports = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        progress(&case.name, index, cases.len());
        let files = [Side::Older, Side::Newer].map(|side| encode(&case.fixture, side));
        let opened =
            [&files[0], &files[1]].map(|file| File::open(file).expect("the writer writes what opens"));
        if opened.iter().map(File::records).sum::<u64>() <= settings.most_records {
            reports.push(run_case(case, opened, subjects, settings.trials, &mut random, reports.is_empty()));
        }
    }
    let subject = |subject: &Subject| SubjectReport {
        label: subject.label.clone(),
        identity: match &subject.engine {
            Engine::Cpu => None,
            Engine::Graph { merger, .. } => Some(merger.graph().identity.clone()),
        },
        backend: match &subject.engine {
            Engine::Cpu => None,
            Engine::Graph { backend, .. } => Some(backend.name()),
        },
    };
    Report {
        suite: suite.name.to_owned(),
        began_unix_seconds,
        weft: env!("CARGO_PKG_VERSION").to_owned(),
        trials: settings.trials,
        seed: settings.seed,
        subjects: subjects.iter().map(subject).collect(),
        cases: reports,
    }
}

fn encode(fixture: &Fixture, side: Side) -> Vec<u8> {
    let mut file = Vec::new();
    let framing = Framing::of_rows(fixture.profile(), fixture.rows(side));
    kv::encode(framing, fixture.rows(side), &mut file)
        .expect("rows ascend, and memory takes what is written");
    file
}

/// What one merge took.
struct Merge {
    complete_seconds: f64,
    stages: Option<Stages>,
    peak_bytes: Option<u64>,
    /// Bytes of the output.
    file_bytes: usize,
}

fn run_case(
    case: &Case,
    inputs: [File<'_>; 2],
    subjects: &mut [Subject],
    trials: usize,
    random: &mut Random,
    cold: bool,
) -> CaseReport {
    let mut expected = Vec::new();
    cpu::merge(&inputs, cpu::Options { verify: true }, &mut expected).expect("fixtures are sound");
    let files = [inputs[0].file(), inputs[1].file()];
    let mut outcomes = vec![CaseOutcome::Equal; subjects.len()];
    // Memory for outputs, there before merges begin. Between them it is overwritten, so that none finds another's output.
    let mut out = vec![0; expected.len()];
    let mut merges: Vec<Vec<Merge>> = subjects.iter().map(|_| Vec::new()).collect();
    for trial in 0..=trials {
        for index in order(subjects.len(), trial, random) {
            if outcomes[index] != CaseOutcome::Equal {
                continue;
            }
            out.fill(!0);
            match merge(&mut subjects[index].engine, files, &mut out) {
                Ok(merge) => match &out[..merge.file_bytes] {
                    made if made == expected => merges[index].push(merge),
                    made => outcomes[index] = CaseOutcome::Differs(first_difference(made, &expected)),
                },
                Err(outcome) => outcomes[index] = outcome,
            }
        }
    }
    let input_bytes = files.map(|file| file.len() as u64);
    if input_bytes.iter().sum::<u64>() > KEEP_BYTES {
        for subject in subjects.iter_mut() {
            if let Engine::Graph { backend, .. } = &mut subject.engine {
                backend.trim();
            }
        }
    }
    let results = subjects.iter().zip(outcomes).zip(&merges);
    CaseReport {
        case: case.name.clone(),
        about: case.about.clone(),
        input_bytes,
        input_records: [inputs[0].records(), inputs[1].records()],
        output_bytes: expected.len() as u64,
        output_crc32c: crc32c::crc32c(&expected),
        results: results
            .map(|((subject, outcome), merges)| result(&subject.label, outcome, merges, cold))
            .collect(),
    }
}

/// Once in the order given, so that what is cold is so for all alike, then shuffled (Fisher and Yates).
fn order(len: usize, trial: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    if trial > 0 {
        for last in (1..len).rev() {
            order.swap(last, random.below(last + 1));
        }
    }
    order
}

fn first_difference(bytes: &[u8], expected: &[u8]) -> u64 {
    let differing = bytes.iter().zip(expected).position(|(one, other)| one != other);
    differing.unwrap_or(bytes.len().min(expected.len())) as u64
}

fn merge(engine: &mut Engine, files: [&[u8]; 2], out: &mut Vec<u8>) -> Result<Merge, CaseOutcome> {
    let failed = |error: &dyn std::fmt::Display| CaseOutcome::Failed(error.to_string());
    let begin = Instant::now();
    let older = File::open(files[0]).map_err(|error| failed(&error))?;
    let newer = File::open(files[1]).map_err(|error| failed(&error))?;
    let mut merge = Merge { complete_seconds: 0.0, stages: None, peak_bytes: None, file_bytes: 0 };
    match engine {
        Engine::Cpu => {
            let merged = cpu::merge(&[older, newer], cpu::Options { verify: true }, out);
            merge.file_bytes = merged.map_err(|error| failed(&error))?.file_bytes as usize;
        }
        Engine::Graph { merger, backend } => {
            let stopped = |error: GraphMergeError| match error {
                GraphMergeError::Refused(why) => CaseOutcome::Refused(why),
                error => failed(&error),
            };
            let bound = merger.bind(older, newer).map_err(stopped)?;
            merge.peak_bytes = bound.program().map(|program| program.plan.peak_bytes);
            let (summary, stages) = bound.merge(backend.as_mut(), true, out).map_err(stopped)?;
            (merge.file_bytes, merge.stages) = (summary.file_bytes as usize, Some(stages));
        }
    }
    merge.complete_seconds = begin.elapsed().as_secs_f64();
    Ok(merge)
}

fn result(label: &str, outcome: CaseOutcome, merges: &[Merge], cold: bool) -> SubjectResult {
    let first = merges.first().map(|merge| First { seconds: merge.complete_seconds, cold });
    let trials = merges.get(1..).unwrap_or_default();
    let complete: Vec<f64> = trials.iter().map(|merge| merge.complete_seconds).collect();
    let stages: Vec<&Stages> = trials.iter().filter_map(|merge| merge.stages.as_ref()).collect();
    SubjectResult {
        label: label.to_owned(),
        outcome,
        first,
        complete_seconds: Stats::of(&complete),
        parts: parts(&stages),
        peak_bytes: merges.first().and_then(|merge| merge.peak_bytes),
    }
}

fn parts(stages: &[&Stages]) -> Option<Parts> {
    let of = |seconds: fn(&Stages) -> f64| {
        Stats::of(&stages.iter().map(|stages| seconds(stages)).collect::<Vec<_>>())
    };
    Some(Parts {
        plan_seconds: of(|stages| stages.plan_seconds)?,
        verify_seconds: of(|stages| stages.verify_seconds)?,
        upload_seconds: of(|stages| stages.run.upload_seconds)?,
        device_seconds: of(|stages| {
            stages.run.total_seconds - stages.run.upload_seconds - stages.run.download_seconds
        })?,
        download_seconds: of(|stages| stages.run.download_seconds)?,
        finish_seconds: of(|stages| stages.write_seconds)?,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::graph::model::Graph;
    use crate::graph::source::Library;
    use crate::run::ReferenceBackend;

    #[test]
    fn a_suite_compares_every_output_with_the_streaming_engine() {
        let graph = Arc::new(Graph::load(Library::default(), "kv03/baseline").unwrap());
        let backend = Box::new(ReferenceBackend::new());
        let merger = Box::new(Merger::new(graph, backend.plan_options(), false));
        let reference = Engine::Graph { merger, backend };
        let mut subjects = [
            Subject { label: "cpu".to_owned(), engine: Engine::Cpu },
            Subject { label: "reference".to_owned(), engine: reference },
        ];
        let settings = Settings { trials: 2, seed: 1, most_records: 600 };
        let suite = SUITES.iter().find(|suite| suite.name == "cutover").unwrap();
        let report = run(suite, &mut subjects, settings, 1_796_000_000, &mut |_, _, _| ());
        assert_eq!(report.cases.len(), 1, "only case 0 is as small as that");
        assert_eq!(report.tally(), [2, 0, 0]);
        let case = &report.cases[0];
        // As published.
        assert_eq!((case.output_bytes, case.output_crc32c), (5936, 0x3b48_e90b));
        let graph = &case.results[1];
        assert_eq!(graph.complete_seconds.unwrap().runs, 2);
        assert!(graph.first.unwrap().cold && graph.parts.is_some() && graph.peak_bytes.is_some());
        let text = markdown::markdown(&report);
        assert!(text.starts_with("# The cutover suite, 2026-11-30\n"), "{text}");
        assert!(text.contains("2 equal to the streaming engine, 0 refused, 0 wrong"), "{text}");
    }

    #[test]
    fn a_wrong_output_is_found_where_it_begins() {
        assert_eq!(first_difference(b"abc", b"abd"), 2);
        assert_eq!(first_difference(b"ab", b"abd"), 2);
    }
}
