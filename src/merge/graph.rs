//! Merging by a graph: an older and a newer file bound to its inputs and symbols, its outputs put together as a file.
//!
//! Any graph with the inputs, symbols and outputs of `kv02/baseline` or `kv03/baseline` will do; which of the two is said by what
//! it counts payloads in, see [`profile_of`]. What the graph computes is the payload, the four Elias-Fano sections and the
//! numbers that lay them out; checksums, directory and header are made here.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use crate::format::FormatError;
use crate::format::Output;
use crate::format::elias_fano::{Section, Shape};
use crate::format::envelope::{BLOCK_RECORDS, HEADER_BYTES};
use crate::format::kv::{Contents, Cursor, File, FileWriter, Framing, Profile, Summary, assemble};
use crate::graph::model::Graph;
use crate::plan::{self, Plan};
use crate::run::{Backend, Options, Outcome, Program, RunError, Times, run};

/// Loop iterations that an invocation may make on an adapter that is a CPU; such adapters stop loops silently at 65,535.
const CPU_ADAPTER_ITERATIONS_MAX: u64 = 50_000;

/// Why a merge by a graph stopped, or did not start.
#[derive(Debug, thiserror::Error)]
pub enum GraphMergeError {
    /// The files do not suit the graph or the device; nothing has run, and another engine can do it.
    #[error("{0}")]
    Refused(String),
    /// An input is not what it should be.
    #[error("input {input}: {error}")]
    Input {
        /// 0 for the older, 1 for the newer.
        input: usize,
        /// What is wrong with it.
        error: FormatError,
    },
    /// The run stopped.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The graph gave something that is no file: a kernel or the graph is wrong.
    #[error("the graph's output is no file: {0}")]
    Output(String),
    /// The output could not be written.
    #[error("{0}")]
    Write(io::Error),
}

/// Seconds of the stages of a merge.
#[derive(Clone, Debug, Default)]
pub struct Stages {
    /// Computing the inputs' checksums, and checking what is no record; the run goes on meanwhile.
    pub verify_seconds: f64,
    /// Planning memory.
    pub plan_seconds: f64,
    /// The run: uploads, nodes, round trips, read-back.
    pub run: Times,
    /// Checksum, directory and header of the output.
    pub finish_seconds: f64,
    /// Handing the output's bytes on.
    pub write_seconds: f64,
}

/// Two files bound to a graph by a [`Merger`], ready to be merged.
#[derive(Debug)]
pub struct GraphMerge<'a> {
    inputs: [File<'a>; 2],
    /// None if both files are empty.
    program: Option<Program>,
    plan_seconds: f64,
}

/// The profile of the files that a graph merges: it has a symbol `older_payload_bytes` for KV02 files, `older_payload_bits` for
/// KV03 files. None for a graph that merges no files.
pub fn profile_of(graph: &Graph) -> Option<Profile> {
    Profile::ALL.into_iter().find(|profile| {
        let symbol = format!("older_payload_{}", profile.unit().name());
        graph.symbols.iter().any(|own| own.name == symbol)
    })
}

/// The name of the shipped graph that merges files of a profile unless another is named: the fastest on
/// nearly every input measured.
pub fn default_graph(profile: Profile) -> String {
    format!("{}/baseline-once", profile.family())
}

/// The numbers that a graph needs of an older and a newer file of one profile.
pub fn symbols(older: &File<'_>, newer: &File<'_>) -> BTreeMap<String, u64> {
    let mut symbols = BTreeMap::new();
    for (side, file) in [("older", older), ("newer", newer)] {
        let directory = &file.directory;
        let unit = file.profile.unit();
        // A width without values says nothing.
        let common = if file.records() > 0 { file.offset_stride() } else { 0 };
        let numbers = [
            ("words", (file.file().len() as u64).div_ceil(4)),
            ("records", file.records()),
            ("payload", directory.payload_bits / unit.bits()),
            ("common", common),
            ("last_key_bits", file.last_key_bits()),
            ("universe", directory.offsets.universe),
            ("low_width", u64::from(directory.offsets.low_width)),
            ("exceptions", file.offset_sections().words(Section::Exceptions)),
        ];
        symbols.extend(numbers.map(|(name, number)| match name {
            "payload" | "common" => (format!("{side}_{name}_{}", unit.name()), number),
            _ => (format!("{side}_{name}"), number),
        }));
    }
    symbols
}

/// A graph made ready to merge pairs of files, one after the other. What it planned for one pair it uses again for the next
/// where that is good enough.
#[derive(Debug)]
pub struct Merger {
    graph: Arc<Graph>,
    options: plan::Options,
    /// Whether the device is a CPU, whose loops end silently when they are long: files with keys so long are then refused.
    pub cpu_adapter: bool,
    previous: Option<Plan>,
}

impl Merger {
    /// A graph on a device with these options for plans.
    pub fn new(graph: Arc<Graph>, options: plan::Options, cpu_adapter: bool) -> Merger {
        Merger { graph, options, cpu_adapter, previous: None }
    }

    /// The graph.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Binds two files to the graph and plans it for them.
    ///
    /// # Errors
    ///
    /// [`GraphMergeError::Refused`] where the files are of two profiles or of another one than the graph merges, or pass a bound
    /// of the graph or of the device.
    pub fn bind<'a>(&mut self, older: File<'a>, newer: File<'a>) -> Result<GraphMerge<'a>, GraphMergeError> {
        let inputs = [older, newer];
        check_profile(&self.graph, &inputs)?;
        if inputs.iter().all(|input| input.records() == 0) {
            return Ok(GraphMerge { inputs, program: None, plan_seconds: 0.0 });
        }
        let begin = Instant::now();
        let (graph, symbols) = (Arc::clone(&self.graph), symbols(&older, &newer));
        let program = match &self.previous {
            Some(previous) => Program::like(previous, graph, &symbols, &self.options),
            None => Program::new(graph, &symbols, &self.options),
        };
        let program = program.map_err(|error| GraphMergeError::Refused(error.to_string()))?;
        self.previous = Some(program.plan.clone());
        let plan_seconds = begin.elapsed().as_secs_f64();
        if self.cpu_adapter {
            check_loops(&inputs)?;
        }
        Ok(GraphMerge { inputs, program: Some(program), plan_seconds })
    }
}

impl<'a> GraphMerge<'a> {
    /// Records of both files.
    pub fn records(&self) -> u64 {
        self.inputs.iter().map(File::records).sum()
    }

    /// The planned program; none for two empty files, which nothing needs to run for.
    pub fn program(&self) -> Option<&Program> {
        self.program.as_ref()
    }

    /// The planned program alone, to be run on these files by other means than [`merge`](Self::merge).
    pub fn into_program(self) -> Option<Program> {
        self.program
    }

    /// How the file without records is framed.
    fn empty_framing(&self) -> Framing {
        match self.inputs[0].profile {
            Profile::Kv02 => Framing::Kv02 { width: Some(0) },
            Profile::Kv03 => Framing::Kv03,
        }
    }

    /// The graph inputs by name.
    fn graph_inputs(&self) -> [(&'static str, &'a [u8]); 2] {
        [("older", self.inputs[0].file()), ("newer", self.inputs[1].file())]
    }

    /// Merges into `out`. With `verify` the inputs' checksums are computed, on threads of their own while the graph runs.
    ///
    /// Nothing is written before the inputs are known to be sound. What their checks find explains what the run finds, so it
    /// comes first.
    pub fn merge(
        &self,
        backend: &mut dyn Backend,
        verify: bool,
        out: impl Output,
    ) -> Result<(Summary, Stages), GraphMergeError> {
        let mut stages = Stages { plan_seconds: self.plan_seconds, ..Stages::default() };
        let (checked, outcome) = std::thread::scope(|scope| {
            let checks = scope.spawn(|| self.check_frames(verify));
            let outcome = self
                .program
                .as_ref()
                .map(|program| run(program, backend, &self.graph_inputs(), Options::default()));
            (checks.join().expect("checking does not panic"), outcome)
        });
        stages.verify_seconds = checked?;
        let Some(outcome) = outcome else {
            let summary =
                FileWriter::new(self.empty_framing(), out).finish().map_err(GraphMergeError::Write)?;
            return Ok((summary, stages));
        };
        let outcome = outcome.map_err(|error| self.blame(error))?;
        stages.run = outcome.times.clone();
        let begin = Instant::now();
        let _span = tracing::debug_span!("finish").entered();
        let mut out = Clocked { out, seconds: 0.0 };
        let summary = write(&outcome, self.inputs[0].profile, &mut out)?;
        stages.write_seconds = out.seconds;
        stages.finish_seconds = begin.elapsed().as_secs_f64() - out.seconds;
        Ok((summary, stages))
    }

    /// What the graph does not look at: body checksums, and what is no record. Two threads, one a file. Gives the seconds
    /// it took.
    fn check_frames(&self, verify: bool) -> Result<f64, GraphMergeError> {
        let begin = Instant::now();
        let [older, newer] = &self.inputs;
        let check = |file: &File<'_>| {
            // A wrong checksum is the better explanation of anything else.
            if verify {
                file.header.check_body_crc(crc32c::crc32c(file.body()))?;
            }
            file.check_frame()
        };
        let (first, second) = std::thread::scope(|scope| {
            let second = scope.spawn(|| check(newer));
            (check(older), second.join().expect("checking does not panic"))
        });
        first.map_err(|error| GraphMergeError::Input { input: 0, error })?;
        second.map_err(|error| GraphMergeError::Input { input: 1, error })?;
        Ok(begin.elapsed().as_secs_f64())
    }

    /// A status word of the graph as an error of the file it is about.
    fn blame(&self, error: RunError) -> GraphMergeError {
        let RunError::Status { check, node, unit, position, text } = &error else {
            return GraphMergeError::Run(error);
        };
        let input = match check.split('_').next() {
            Some("older") => 0,
            Some("newer") => 1,
            _ => return GraphMergeError::Run(error),
        };
        let file = &self.inputs[input];
        // The block's own offset is the best place there is, unless that is what is wrong.
        let start = file.block_start(*position).unwrap_or(0);
        let offset = file.profile.payload_offset() + start.min(file.directory.payload_bits) / 8;
        let what = format!("{unit} {position}: {text} (found by node `{node}`)");
        GraphMergeError::Input { input, error: FormatError::corrupt(offset, what) }
    }
}

/// Whether a graph merges two files of this profile.
///
/// # Errors
///
/// [`GraphMergeError::Refused`] where they are of two profiles, of another one than the graph merges, or it merges none.
pub fn check_profile(graph: &Graph, inputs: &[File<'_>; 2]) -> Result<(), GraphMergeError> {
    super::common_profile(inputs).map_err(|mixed| GraphMergeError::Refused(mixed.to_string()))?;
    let (name, files) = (&graph.name, inputs[0].profile);
    match profile_of(graph) {
        Some(profile) if profile == files => Ok(()),
        Some(profile) => Err(GraphMergeError::Refused(format!(
            "the graph {name} merges {} files, and these are {}; name a graph of the family {}",
            profile.name(),
            files.name(),
            files.family()
        ))),
        None => Err(GraphMergeError::Refused(format!(
            "the graph {name} merges no files; name a graph of the family {}",
            files.family()
        ))),
    }
}

/// Refuses files in which comparing two keys could take so many loop iterations that a CPU adapter would stop in the middle.
///
/// A comparison walks its keys fragment by fragment, a fragment being a run of bits that one record holds, and asks the owner
/// tree once a fragment. An invocation makes at most two binary searches of comparisons, or one and a few more.
fn check_loops(inputs: &[File<'_>; 2]) -> Result<(), GraphMergeError> {
    let records: u64 = inputs.iter().map(File::records).sum();
    let levels = u64::from(records.next_power_of_two().ilog2());
    let mut longest = 0;
    for (input, &file) in inputs.iter().enumerate() {
        longest =
            longest.max(longest_walk(file, levels).map_err(|error| GraphMergeError::Input { input, error })?);
    }
    let iterations = longest.saturating_mul((2 * levels + 2).max(levels + 10));
    if iterations <= CPU_ADAPTER_ITERATIONS_MAX {
        return Ok(());
    }
    Err(GraphMergeError::Refused(format!(
        "keys are so long that comparing them could take {iterations} loop iterations in one invocation, and this device, a CPU \
         that plays a GPU, may stop loops silently past {CPU_ADAPTER_ITERATIONS_MAX}; use --engine cpu or another device"
    )))
}

/// The most loop iterations that walking over one key of a file can take.
fn longest_walk(file: File<'_>, levels: u64) -> Result<u64, FormatError> {
    let mut cursor = Cursor::new(file, false);
    // Retained lengths of the records that own a part of the current key, which ascend.
    let mut owners: Vec<u64> = Vec::new();
    let mut longest = 0;
    while cursor.advance()? {
        let record = cursor.record();
        while owners.last().is_some_and(|&retained| retained >= record.retained_bits) {
            owners.pop();
        }
        owners.push(record.retained_bits);
        let fragments = owners.len() as u64;
        longest = longest.max(record.key_bits / 32 + 1 + fragments * (2 * levels + 2));
    }
    Ok(longest)
}

/// An output, and how long it takes.
struct Clocked<O> {
    out: O,
    seconds: f64,
}

impl<O: Output> Output for Clocked<O> {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let _span = tracing::debug_span!("write", bytes = bytes.len()).entered();
        let begin = Instant::now();
        let written = self.out.write_at(offset, bytes);
        self.seconds += begin.elapsed().as_secs_f64();
        written
    }
}

/// Puts the outputs together as a file.
fn write(outcome: &Outcome, profile: Profile, out: impl Output) -> Result<Summary, GraphMergeError> {
    let output = |name: &str| {
        outcome.output(name).ok_or_else(|| GraphMergeError::Output(format!("it has no output `{name}`")))
    };
    let layout: Vec<u64> = output("layout")?
        .chunks_exact(4)
        .map(|word| u64::from(u32::from_le_bytes(word.try_into().expect("four bytes"))))
        .collect();
    let &[records, extent, common, universe, low_width, last_key_bits, ..] = layout.as_slice() else {
        return Err(GraphMergeError::Output("its layout has too few numbers".to_owned()));
    };
    let offsets = Shape::canonical(records.div_ceil(BLOCK_RECORDS) + 1, universe);
    if records == 0 || u64::from(offsets.low_width) != low_width {
        return Err(GraphMergeError::Output(format!("its layout is {layout:?}")));
    }
    let sections = [output("lows")?, output("highs")?, output("samples")?, output("exceptions")?];
    let payload = output("payload")?;
    let words = offsets.words().unwrap_or_default();
    let fits = sections.iter().zip(words).all(|(section, words)| section.len() as u64 == 8 * words);
    let payload_bits = extent * profile.unit().bits();
    let Some(payload) = payload.get(..payload_bits.div_ceil(8) as usize).filter(|_| fits) else {
        let lengths = sections.map(<[u8]>::len);
        return Err(GraphMergeError::Output(format!(
            "its sections have {lengths:?} bytes for layout {layout:?}"
        )));
    };
    let common_width = (common > 0).then_some(common);
    let contents = Contents { profile, records, payload_bits, common_width, last_key_bits, offsets };
    assemble(out, contents, payload, sections).map_err(GraphMergeError::Write)
}

const _: () = assert!(HEADER_BYTES.is_multiple_of(4), "the payload begins at a whole word of the file");
