//! One run of a program: segment by segment, the host's part between them.

use std::cell::Cell;
use std::collections::HashMap;
use std::time::Instant;

use crate::graph::model::{Check, Count, NodeId, Origin, Output as GraphOutput, ValueId};
use crate::plan::Slot;

use super::backend::{Backend, Dispatch, Readback, Region};
use super::cells::call_steps;
use super::error::RunError;
use super::numbers::Numbers;
use super::program::{Life, Program};
use super::times::{Interval, NodeTime, Times, Timing};

/// A status word without a failure.
const NO_FAILURE: u32 = u32::MAX;

/// Bytes of outputs of unknown length that are fetched as long as they can be. Of more the lengths are fetched first: on an H200 a
/// round trip takes about as long as two megabytes do.
const UNSIZED_BYTES_MAX: u64 = 2 << 20;

/// What memory is filled with before the life of a value and after it.
const POISON: u32 = 0xdead_beef;

/// How to run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// What to measure with the device's clock.
    pub timing: Timing,
    /// Overwrite memory before a value's life begins and after it ends, so that what reads it gives wrong results.
    pub poison: bool,
    /// Submit each node by itself, so that an error of the device names it. Done of itself after such an error.
    pub alone: bool,
}

/// A result of a run.
#[derive(Debug)]
pub struct Output<'o> {
    /// Its name in the graph.
    pub name: &'o str,
    /// Its elements.
    pub bytes: &'o [u8],
}

/// What a run gave.
#[derive(Debug)]
pub struct Outcome {
    names: Vec<(String, usize)>,
    readback: Readback,
    /// Every count, by name.
    pub counts: Vec<(String, u64)>,
    /// What it took.
    pub times: Times,
}

impl Outcome {
    /// The outputs, in the graph's order.
    pub fn outputs(&self) -> impl Iterator<Item = Output<'_>> {
        let bytes = |index: usize, len: usize| &self.readback.bytes(index)[..len];
        self.names
            .iter()
            .enumerate()
            .map(move |(index, (name, len))| Output { name, bytes: bytes(index, *len) })
    }

    /// An output by name.
    pub fn output(&self, name: &str) -> Option<&[u8]> {
        self.outputs().find(|output| output.name == name).map(|output| output.bytes)
    }
}

/// Runs a program. `inputs` gives the bytes of every graph input by name.
///
/// # Errors
///
/// See [`RunError`]. After an error of the device that does not say which node caused it, the program is run once more with
/// each node by itself to find out.
pub fn run(
    program: &Program,
    backend: &mut dyn Backend,
    inputs: &[(&str, &[u8])],
    options: Options,
) -> Result<Outcome, RunError> {
    let outcome = Driver::new(program, backend, inputs, options)?.run();
    match outcome {
        Err(RunError::Device { node: None, .. }) if !options.alone => {
            let options = Options { alone: true, ..options };
            Driver::new(program, backend, inputs, options)?.run().and(outcome)
        }
        outcome => outcome,
    }
}

/// A run in progress; [`verify`](super::verify) drives two of them node by node.
pub(super) struct Driver<'r> {
    pub(super) program: &'r Program,
    pub(super) backend: &'r mut dyn Backend,
    inputs: Vec<&'r [u8]>,
    options: Options,
    pub(super) sizes: Numbers,
    /// Values that the host has, because a host node made them or because they were read for one.
    host_values: HashMap<ValueId, Vec<u8>>,
    /// Counts that were read but are not awaited: exact numbers are for the end.
    late_counts: Vec<(String, u64)>,
    host_times: Vec<NodeTime>,
    uploads: Vec<Interval>,
    prepare_seconds: f64,
    begin: Instant,
}

impl<'r> Driver<'r> {
    pub(super) fn new(
        program: &'r Program,
        backend: &'r mut dyn Backend,
        inputs: &[(&str, &'r [u8])],
        options: Options,
    ) -> Result<Driver<'r>, RunError> {
        let inputs = match_inputs(program, inputs)?;
        backend.observe(options.timing, options.alone || options.poison);
        let begin = Instant::now();
        tracing::debug_span!("prepare").in_scope(|| backend.prepare(program))?;
        Ok(Driver {
            program,
            backend,
            inputs,
            options,
            sizes: program.sizes.clone(),
            host_values: HashMap::new(),
            late_counts: Vec::new(),
            host_times: Vec::new(),
            uploads: Vec::new(),
            prepare_seconds: begin.elapsed().as_secs_f64(),
            begin: Instant::now(),
        })
    }

    fn run(mut self) -> Result<Outcome, RunError> {
        let mut order = self.program.plan.order.iter().copied().enumerate().peekable();
        let _run = tracing::info_span!("run", graph = %self.program.graph.name).entered();
        for segment in 0..self.program.graph.segments {
            let _segment = tracing::info_span!("segment", segment).entered();
            self.begin_segment(segment)?;
            while let Some((position, node)) =
                order.next_if(|&(_, node)| self.program.node(node).segment == segment)
            {
                self.run_node(position, node)?;
            }
            if segment + 1 < self.program.graph.segments {
                self.end_segment(segment)?;
            }
        }
        self.finish()
    }

    /// Hands over inputs and constants that are first needed in this segment.
    pub(super) fn begin_segment(&mut self, segment: u32) -> Result<(), RunError> {
        let _span = tracing::debug_span!("upload", segment).entered();
        let begin = Instant::now();
        let mut uploaded = false;
        for (index, value) in self.program.graph.values.iter().enumerate() {
            let id = ValueId(index as u32);
            if self.program.filled_before(id) != Some(segment) {
                continue;
            }
            uploaded = true;
            let region = self.program.region(id, &self.sizes)?;
            match &value.origin {
                Origin::Input(input) => self.backend.write(region, self.inputs[*input])?,
                Origin::Constant(expr) => {
                    let what = || format!("the constant `{}`", value.name);
                    let word = self.program.word(expr, &self.sizes, what)?;
                    self.backend.write(region, &word.to_le_bytes())?;
                }
                Origin::Nodes(_) => {}
            }
        }
        if uploaded {
            self.uploads.push(self.interval(begin));
        }
        Ok(())
    }

    /// Runs the node at this position of the plan's order.
    pub(super) fn run_node(&mut self, position: usize, id: NodeId) -> Result<(), RunError> {
        self.start_node(position, id).map_err(|error| self.explained(error, position, id))
    }

    /// A reference that stops at nonsense, explained by a check that has failed before it and that nobody has looked at yet. A
    /// device goes on in that case, and the check is looked at when the segment has ended.
    fn explained(&mut self, error: RunError, position: usize, id: NodeId) -> RunError {
        if !matches!(error, RunError::Reference { .. }) {
            return error;
        }
        let program = self.program;
        let (_, mut checks) = self.due(program.node(id).segment);
        let before = &program.plan.order[..position];
        checks.retain(|check| {
            let writers = program.graph.values[check.value.0 as usize].writers();
            writers.iter().all(|writer| before.contains(writer))
        });
        let regions = self.due_regions(&[], &checks);
        let Ok(readback) = regions.and_then(|regions| self.backend.read(program, &regions)) else {
            return error;
        };
        let mut looks =
            checks.iter().enumerate().map(|(index, check)| self.look_at(check, readback.word(index)));
        looks.find_map(Result::err).unwrap_or(error)
    }

    fn start_node(&mut self, position: usize, id: NodeId) -> Result<(), RunError> {
        if self.options.poison {
            self.poison(|buffer| buffer.slot.first == position && !buffer.host_fills)?;
        }
        let _span = tracing::debug_span!("node", node = %self.program.node(id).name).entered();
        let dispatch = self.program.dispatch(id, &self.sizes)?;
        if self.program.is_host(id) {
            self.run_host(&dispatch)?;
        } else {
            self.backend.dispatch(self.program, &dispatch)?;
        }
        if self.options.poison {
            self.poison(|buffer| buffer.slot.last == position && !buffer.host_reads)?;
        }
        Ok(())
    }

    /// From an instant until now, by the host's clock.
    fn interval(&self, begin: Instant) -> Interval {
        let begin_seconds = (begin - self.begin).as_secs_f64();
        Interval { begin_seconds, seconds: begin.elapsed().as_secs_f64() }
    }

    /// Fills the memory of some buffers.
    fn poison(&mut self, due: impl Fn(&Life) -> bool) -> Result<(), RunError> {
        for life in self.program.lives().filter(due) {
            let Slot { arena, offset_bytes, size_bytes, .. } = *life.slot;
            self.backend.fill(Region { arena, offset_bytes, size_bytes }, POISON)?;
        }
        Ok(())
    }

    fn run_host(&mut self, dispatch: &Dispatch<'_>) -> Result<(), RunError> {
        let begin = Instant::now();
        let node = self.program.node(dispatch.node);
        let mut memory: HashMap<(usize, u64), Vec<Cell<u32>>> = HashMap::new();
        for (binding, port) in node.bindings.iter().zip(&dispatch.ports) {
            let words = match binding.before {
                Some(value) => self.host_words(value, port.region)?,
                None => vec![POISON; port.region.size_bytes.div_ceil(4) as usize],
            };
            let key = (port.region.arena, port.region.offset_bytes);
            memory.insert(key, words.into_iter().map(Cell::new).collect());
        }
        call_steps(self.program, dispatch, |region| &memory[&(region.arena, region.offset_bytes)])?;
        for (binding, port) in node.bindings.iter().zip(&dispatch.ports) {
            let Some(value) = binding.after else { continue };
            let cells = &memory[&(port.region.arena, port.region.offset_bytes)];
            let bytes: Vec<u8> = cells.iter().flat_map(|cell| cell.get().to_le_bytes()).collect();
            self.backend.write(port.region, &bytes)?;
            self.host_values.insert(value, bytes);
        }
        let Interval { begin_seconds, seconds } = self.interval(begin);
        self.host_times.push(NodeTime { node: dispatch.node, begin_seconds, seconds, host_clock: true });
        self.take_made_by(dispatch.node)
    }

    /// Counts and checks of a host node: nothing has to be read for them, and nodes of the same segment may build on them.
    fn take_made_by(&mut self, node: NodeId) -> Result<(), RunError> {
        let program = self.program;
        let made = |value: ValueId| program.graph.values[value.0 as usize].writers().contains(&node);
        let counts: Vec<&Count> = program.graph.counts.iter().filter(|count| made(count.value)).collect();
        let checks: Vec<&Check> = program.graph.checks.iter().filter(|check| made(check.value)).collect();
        let counted = counts.iter().map(|count| (count.value, count.element as usize));
        let elements = counted.chain(checks.iter().map(|check| (check.value, 0)));
        let words: Vec<u32> = elements
            .map(|(value, element)| {
                let word = self.host_values[&value][4 * element..].first_chunk();
                u32::from_le_bytes(*word.expect("counts and checks lie inside their values"))
            })
            .collect();
        self.take_due(&counts, &checks, |index| words[index])
    }

    fn host_words(&mut self, value: ValueId, region: Region) -> Result<Vec<u32>, RunError> {
        let words = |bytes: &[u8]| {
            let word = |chunk: &[u8]| {
                let mut four = [0; 4];
                four[..chunk.len()].copy_from_slice(chunk);
                u32::from_le_bytes(four)
            };
            let mut words: Vec<u32> = bytes.chunks(4).map(word).collect();
            words.resize(region.size_bytes.div_ceil(4) as usize, 0);
            words
        };
        if let Origin::Input(input) = self.program.graph.values[value.0 as usize].origin {
            return Ok(words(self.inputs[input]));
        }
        if let Some(bytes) = self.host_values.get(&value) {
            return Ok(words(bytes));
        }
        let readback = self.backend.read(self.program, &[region])?;
        Ok(words(readback.bytes(0)))
    }

    /// The round trip after a segment: reads its counts and checks, and what host nodes of the next need.
    pub(super) fn end_segment(&mut self, segment: u32) -> Result<(), RunError> {
        let (counts, checks) = self.due(segment);
        let wanted = self.host_inputs(segment + 1);
        let mut regions = self.due_regions(&counts, &checks)?;
        for &value in &wanted {
            regions.push(self.program.region(value, &self.sizes)?);
        }
        if regions.is_empty() {
            return Ok(());
        }
        let readback = self.backend.read(self.program, &regions)?;
        self.take_due(&counts, &checks, |index| readback.word(index))?;
        for (index, &value) in wanted.iter().enumerate() {
            let bytes = readback.bytes(counts.len() + checks.len() + index).to_vec();
            self.host_values.insert(value, bytes);
        }
        Ok(())
    }

    /// Counts and checks that the device computes in a segment.
    fn due(&self, segment: u32) -> (Vec<&'r Count>, Vec<&'r Check>) {
        let graph = &self.program.graph;
        let by_host = |value: ValueId| {
            let writers = graph.values[value.0 as usize].writers();
            writers.iter().any(|&node| self.program.is_host(node))
        };
        let made = |value: ValueId| self.program.segment_of(value) == segment && !by_host(value);
        let counts = graph.counts.iter().filter(|count| made(count.value)).collect();
        let checks = graph.checks.iter().filter(|check| made(check.value)).collect();
        (counts, checks)
    }

    /// Values of earlier nodes that host nodes of a segment take.
    fn host_inputs(&self, segment: u32) -> Vec<ValueId> {
        let mut wanted = Vec::new();
        for &id in &self.program.plan.order {
            let node = self.program.node(id);
            if node.segment != segment || !self.program.is_host(id) {
                continue;
            }
            for value in node.bindings.iter().filter_map(|binding| binding.before) {
                let made = matches!(self.program.graph.values[value.0 as usize].origin, Origin::Nodes(_));
                let earlier = self.program.segment_of(value) < segment;
                if made && earlier && !self.host_values.contains_key(&value) && !wanted.contains(&value) {
                    wanted.push(value);
                }
            }
        }
        wanted
    }

    fn due_regions(&self, counts: &[&Count], checks: &[&Check]) -> Result<Vec<Region>, RunError> {
        let count_words = counts.iter().map(|count| {
            let region = self.program.region(count.value, &self.sizes)?;
            let offset_bytes = region.offset_bytes + 4 * u64::from(count.element);
            Ok(Region { offset_bytes, size_bytes: 4, ..region })
        });
        let check_words = checks
            .iter()
            .map(|check| Ok(Region { size_bytes: 4, ..self.program.region(check.value, &self.sizes)? }));
        count_words.chain(check_words).collect()
    }

    /// Looks at counts and checks that have come in. A failed check comes first: it explains a wrong count.
    fn take_due(
        &mut self,
        counts: &[&Count],
        checks: &[&Check],
        word: impl Fn(usize) -> u32,
    ) -> Result<(), RunError> {
        for (index, check) in checks.iter().enumerate() {
            self.look_at(check, word(counts.len() + index))?;
        }
        for (index, count) in counts.iter().enumerate() {
            let number = u64::from(word(index));
            let max = self
                .program
                .most(&count.max, &self.sizes, || format!("the maximum of count `{}`", count.name))?;
            if number > max {
                let (count, node) = (count.name.clone(), self.program.writers(count.value));
                return Err(RunError::CountOverflow { count, node, number, max });
            }
            if count.awaited {
                self.sizes.learn(&count.name, number);
            }
            self.late_counts.push((count.name.clone(), number));
        }
        Ok(())
    }

    fn look_at(&self, check: &Check, word: u32) -> Result<(), RunError> {
        if word == NO_FAILURE {
            return Ok(());
        }
        let (position, code) = (u64::from(word >> 7), word & 127);
        let text = check.codes.texts.iter().find(|(known, _)| *known == code);
        let text = text.map_or_else(
            || format!("code {code}, which its pass does not explain"),
            |(_, text)| text.clone(),
        );
        let node = self.program.finders(check.value, code);
        Err(RunError::Status {
            check: check.name.clone(),
            node,
            unit: check.codes.unit.clone(),
            position,
            text,
        })
    }

    /// Where the outputs lie, as long as they can be with what is known.
    fn output_regions(&self) -> Result<Vec<Region>, RunError> {
        let region = |output: &GraphOutput| self.program.region(output.value, &self.sizes);
        self.program.graph.outputs.iter().map(region).collect()
    }

    fn learn_late_counts(&mut self) {
        for (count, number) in std::mem::take(&mut self.late_counts) {
            self.sizes.learn(&count, number);
        }
    }

    /// The last read: what is still due, and the outputs. Two reads, where outputs are large and their lengths are still due.
    pub(super) fn finish(mut self) -> Result<Outcome, RunError> {
        let graph = &self.program.graph;
        let (mut counts, mut checks) = self.due(graph.segments.saturating_sub(1));
        let mut regions = self.output_regions()?;
        let unsized_bytes: u64 = (graph.outputs.iter().zip(&regions))
            .filter(|(output, _)| self.sizes.exact(&output.len).is_none())
            .map(|(_, region)| region.size_bytes)
            .sum();
        if unsized_bytes > UNSIZED_BYTES_MAX {
            let readback = self.backend.read(self.program, &self.due_regions(&counts, &checks)?)?;
            self.take_due(&counts, &checks, |index| readback.word(index))?;
            self.learn_late_counts();
            (counts, checks) = (Vec::new(), Vec::new());
            regions = self.output_regions()?;
        }
        let outputs = regions.len();
        regions.extend(self.due_regions(&counts, &checks)?);
        let _span = tracing::debug_span!("download").entered();
        let begin = Instant::now();
        let readback = self.backend.read(self.program, &regions)?;
        let download = self.interval(begin);
        self.take_due(&counts, &checks, |index| readback.word(outputs + index))?;
        self.learn_late_counts();
        let mut names = Vec::with_capacity(outputs);
        for output in &graph.outputs {
            let len = self
                .program
                .most(&output.len, &self.sizes, || format!("the length of output `{}`", output.name))?;
            let stride = graph.values[output.value.0 as usize].element.layout.stride_bytes();
            let bytes = readback.bytes(names.len()).len().min((len * stride) as usize);
            names.push((output.name.clone(), bytes));
        }
        let counts = graph
            .counts
            .iter()
            .map(|count| (count.name.clone(), self.sizes.get(&count.name).expect("every count was read")));
        let counts = counts.collect();
        let mut times = self.backend.times();
        times.nodes.extend(self.host_times);
        times.prepare_seconds = self.prepare_seconds;
        times.upload_seconds = self.uploads.iter().map(|upload| upload.seconds).sum();
        times.download_seconds = download.seconds;
        (times.uploads, times.download) = (self.uploads, download);
        times.total_seconds = self.begin.elapsed().as_secs_f64();
        Ok(Outcome { names, readback, counts, times })
    }
}

/// Puts the caller's inputs in the graph's order and checks their sizes.
fn match_inputs<'r>(program: &Program, given: &[(&str, &'r [u8])]) -> Result<Vec<&'r [u8]>, RunError> {
    let graph = &program.graph;
    let input_error = |name: &str, what: String| RunError::Input { name: name.to_owned(), what };
    for (index, (name, _)) in given.iter().enumerate() {
        if graph.inputs.iter().all(|input| input.name != *name) {
            let known: Vec<_> = graph.inputs.iter().map(|input| format!("`{}`", input.name)).collect();
            return Err(input_error(name, format!("is not one of the graph's: {}", known.join(", "))));
        }
        if given[..index].iter().any(|(earlier, _)| earlier == name) {
            return Err(input_error(name, "is given twice".to_owned()));
        }
    }
    let mut matched = Vec::with_capacity(graph.inputs.len());
    for input in &graph.inputs {
        let Some((_, bytes)) = given.iter().find(|(name, _)| *name == input.name) else {
            return Err(input_error(&input.name, "is missing".to_owned()));
        };
        let size = program.region(input.value, &program.sizes)?.size_bytes;
        if bytes.len() as u64 > size || (bytes.len() as u64).next_multiple_of(4) < size {
            let value = &graph.values[input.value.0 as usize];
            let len = &value.len;
            return Err(input_error(
                &input.name,
                format!("has {} bytes, and its length `{len}` makes {size} with these sizes", bytes.len()),
            ));
        }
        matched.push(*bytes);
    }
    Ok(matched)
}
