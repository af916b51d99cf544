//! The GPU backend: wgpu, on any adapter with compute.
//!
//! [`device`] finds and opens an adapter, [`kernels`] makes pipelines and keeps them, [`memory`] makes arenas and moves
//! bytes in and out, [`params`] stands in for immediates where there are none; this file encodes. Dispatches of a segment
//! collect in one compute pass, which is handed over when there are a few, so that the device begins while the host goes on,
//! and when a read ends the segment. When segments are timed they are handed over whole, and when nodes are timed each has a
//! compute pass of its own, with a timestamp on either side.

mod device;
mod kernels;
mod memory;
mod params;

use std::sync::Arc;
use std::time::Instant;

use wgpu::{CommandEncoder, ComputePass, ErrorFilter, ErrorScopeGuard};

use crate::graph::model::{Graph, NodeId};
use crate::plan;

use super::backend::{Backend, Dispatch, Readback, Region};
use super::error::RunError;
use super::program::Program;
use super::times::{Interval, NodeTime, SegmentTime, Times, Timing};

pub use device::{AdapterReport, Gpu, GpuOptions, adapters};

use kernels::{Kernel, Kernels};
use memory::Memory;
use params::Params;

/// Nodes that are handed over together: of 8, 16 and all, 16 was best for merges on an H200.
const NODES_OF_A_PART: usize = 16;

/// Queries of one query set, which is what wgpu allows.
const QUERIES_MAX: u32 = wgpu::QUERY_SET_MAX_QUERIES;

/// Runs nodes on a GPU. Keeps pipelines, arenas and bindings for the next run.
#[derive(Debug)]
pub struct GpuBackend {
    gpu: Arc<Gpu>,
    kernels: Kernels,
    memory: Memory,
    /// Unused where params go as immediates.
    params: Params,
    /// Kernels and bind groups of the program that was prepared last, and of others like it.
    prepared: Option<Prepared>,
    recording: Option<Recording>,
    /// What has been handed over of the segment that is recorded.
    parts: Option<SegmentTime>,
    clock: Option<Clock>,
    timing: Timing,
    alone: bool,
    times: Times,
    /// When the run began, which is what the host's times count from.
    epoch: Instant,
    /// The first timestamp of the run, which is what the device's times count from.
    first_tick: Option<u64>,
}

/// What all programs of one graph need that widen the same nodes, whatever their sizes.
#[derive(Debug)]
struct Prepared {
    graph: Arc<Graph>,
    widened: Vec<NodeId>,
    /// By node; none for host nodes.
    kernels: Vec<Option<Arc<Kernel>>>,
    /// By node: the regions that were bound last, and the bind group.
    bound: Vec<Option<(Vec<Region>, wgpu::BindGroup)>>,
}

impl Prepared {
    fn suits(&self, program: &Program) -> bool {
        Arc::ptr_eq(&self.graph, &program.graph) && self.widened == program.plan.widened
    }
}

/// Commands that are not yet submitted.
struct Recording {
    encoder: CommandEncoder,
    /// Open across nodes, unless each is timed.
    pass: Option<ComputePass<'static>>,
    /// The last pushed first: wgpu panics if they end in another order, be it because this is dropped.
    scopes: [ErrorScopeGuard; 3],
    begin: Instant,
    /// What the pairs of timestamps in the clock's queries are around, in order: a node, or else all that was recorded.
    stamped: Vec<Option<NodeId>>,
    /// How many nodes are recorded, and the last of them, for the error of a submission of one.
    nodes: usize,
    node: Option<NodeId>,
}

impl std::fmt::Debug for Recording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recording").field("stamped", &self.stamped).finish_non_exhaustive()
    }
}

/// Timestamps of the nodes of one submission.
#[derive(Debug)]
struct Clock {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    /// Timestamps that there is room for.
    count: u32,
}

impl GpuBackend {
    /// A backend on an open device.
    pub fn new(gpu: Arc<Gpu>) -> GpuBackend {
        GpuBackend {
            kernels: Kernels::default(),
            memory: Memory::default(),
            params: Params::default(),
            prepared: None,
            recording: None,
            parts: None,
            clock: None,
            timing: Timing::None,
            alone: false,
            times: Times::default(),
            epoch: Instant::now(),
            first_tick: None,
            gpu,
        }
    }

    /// The device.
    pub fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    fn record(&mut self) -> &mut Recording {
        let device = &self.gpu.device;
        self.recording.get_or_insert_with(|| {
            let mut scopes = [ErrorFilter::Internal, ErrorFilter::OutOfMemory, ErrorFilter::Validation]
                .map(|filter| device.push_error_scope(filter));
            scopes.reverse();
            let descriptor = wgpu::CommandEncoderDescriptor { label: Some("weft.segment") };
            Recording {
                encoder: device.create_command_encoder(&descriptor),
                scopes,
                pass: None,
                begin: Instant::now(),
                stamped: Vec::new(),
                nodes: 0,
                node: None,
            }
        })
    }

    /// Submits what is recorded and ends the segment. Gives what was recorded with timestamps.
    fn submit(
        &mut self,
        program: &Program,
        copies: impl FnOnce(&mut CommandEncoder),
    ) -> Result<Vec<Option<NodeId>>, RunError> {
        let stamped = self.hand_over(program, copies)?;
        self.times.segments.extend(self.parts.take());
        Ok(stamped)
    }

    /// Submits what is recorded; errors of recording and submitting come out here. Gives what was recorded with timestamps.
    fn hand_over(
        &mut self,
        program: &Program,
        copies: impl FnOnce(&mut CommandEncoder),
    ) -> Result<Vec<Option<NodeId>>, RunError> {
        self.record();
        let Some(mut recording) = self.recording.take() else { return Ok(Vec::new()) };
        recording.pass = None;
        if let (Some(clock), false) = (&self.clock, recording.stamped.is_empty()) {
            let queries = 0..2 * recording.stamped.len() as u32;
            recording.encoder.resolve_query_set(&clock.queries, queries, &clock.resolved, 0);
        }
        copies(&mut recording.encoder);
        self.params.flush(&self.gpu);
        let commands = tracing::debug_span!("encode").in_scope(|| recording.encoder.finish());
        let encode_seconds = recording.begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        tracing::debug_span!("submit").in_scope(|| self.gpu.queue.submit([commands]));
        let submit_seconds = begin.elapsed().as_secs_f64();
        let begin_seconds = recording.begin.saturating_duration_since(self.epoch).as_secs_f64();
        let times = self.parts.get_or_insert(SegmentTime { begin_seconds, ..SegmentTime::default() });
        times.encode_seconds += encode_seconds;
        times.submit_seconds += submit_seconds;
        let node = recording.node.filter(|_| self.alone).map(|node| program.node(node).name.clone());
        for scope in recording.scopes {
            if let Some(error) = device::block_on(scope.pop()) {
                return Err(device::run_error(error, node));
            }
        }
        Ok(recording.stamped)
    }

    fn bind_group(&mut self, program: &Program, dispatch: &Dispatch<'_>) -> Result<(), RunError> {
        let prepared = self.prepared.as_mut().expect("a program was prepared");
        let index = dispatch.node.0 as usize;
        let kernel = prepared.kernels[index].as_ref().expect("only device nodes are dispatched");
        let mut regions = Vec::with_capacity(dispatch.ports.len());
        for (port, slot) in dispatch.ports.iter().zip(&kernel.slots) {
            // What a kernel takes at a time may be larger than an element; the plan rounds memory up far enough.
            let stride = u64::from(slot.stride_bytes).max(4);
            let size_bytes = port.region.size_bytes.max(1).next_multiple_of(stride);
            regions.push(Region { size_bytes, ..port.region });
        }
        if let Some((bound, _)) = &prepared.bound[index]
            && *bound == regions
        {
            return Ok(());
        }
        let allowed = self.gpu.limits.max_storage_buffer_binding_size;
        for (port, region) in dispatch.ports.iter().zip(&regions) {
            if region.size_bytes > allowed {
                let node = program.node(dispatch.node);
                return Err(RunError::Limit {
                    pass: format!("{}`, port `{}", node.pass.name(), node.pass.file.ports[port.port].0.value),
                    limit: "bytes in one binding",
                    needed: region.size_bytes,
                    allowed,
                });
            }
        }
        let entries: Vec<wgpu::BindGroupEntry<'_>> = regions
            .iter()
            .zip(&kernel.slots)
            .map(|(region, slot)| wgpu::BindGroupEntry {
                binding: slot.binding,
                resource: self.memory.binding(*region),
            })
            .collect();
        let group = self.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some(&program.node(dispatch.node).name),
            layout: &kernel.layout,
            entries: &entries,
        });
        prepared.bound[index] = Some((regions, group));
        Ok(())
    }

    /// The clock with room for as many nodes as a submission can have.
    fn clock_for(&mut self, nodes: usize) {
        let count = (2 * nodes as u32).clamp(2, QUERIES_MAX);
        if self.clock.as_ref().is_some_and(|clock| clock.count >= count) {
            return;
        }
        let queries = self.gpu.device.create_query_set(&wgpu::QuerySetDescriptor {
            label: Some("weft.clock"),
            ty: wgpu::QueryType::Timestamp,
            count,
        });
        let resolved = self.gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("weft.clock"),
            size: 8 * u64::from(count),
            usage: wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        self.clock = Some(Clock { queries, resolved, count });
    }

    /// Turns pairs of timestamps into times of nodes, or of the last segment.
    fn take_stamps(&mut self, stamped: &[Option<NodeId>], stamps: &[u8]) {
        let period = f64::from(self.gpu.queue.get_timestamp_period()) * 1e-9;
        let ticks = |at: usize| stamps[at..].first_chunk().map_or(0, |eight| u64::from_le_bytes(*eight));
        // Signed, so that a clock that runs backwards shows.
        let seconds = |from: u64, to: u64| to.wrapping_sub(from) as i64 as f64 * period;
        let mut around: Option<(f64, f64)> = None;
        for (index, &node) in stamped.iter().enumerate() {
            let (from, to) = (ticks(16 * index), ticks(16 * index + 8));
            let first = *self.first_tick.get_or_insert(from);
            let begin_seconds = seconds(first, from);
            let end_seconds = seconds(first, to);
            around = Some(match around {
                None => (begin_seconds, end_seconds),
                Some((begin, end)) => (begin.min(begin_seconds), end.max(end_seconds)),
            });
            if let Some(node) = node {
                let seconds = seconds(from, to);
                self.times.nodes.push(NodeTime { node, begin_seconds, seconds, host_clock: false });
            }
        }
        if let (Some((begin, end)), Some(segment)) = (around, self.times.segments.last_mut()) {
            segment.device = Some(Interval { begin_seconds: begin, seconds: end - begin });
        }
    }
}

impl Backend for GpuBackend {
    fn name(&self) -> String {
        self.gpu.name()
    }

    fn device(&self) -> Option<AdapterReport> {
        Some(self.gpu.report().clone())
    }

    fn tick_seconds(&self) -> Option<f64> {
        self.gpu.has_timestamps().then(|| f64::from(self.gpu.queue.get_timestamp_period()) * 1e-9)
    }

    fn plan_options(&self) -> plan::Options {
        self.gpu.plan_options()
    }

    fn prepare(&mut self, program: &Program) -> Result<(), RunError> {
        // What an earlier run, stopped by an error, left behind.
        (self.recording, self.parts) = (None, None);
        self.params.discard();
        self.times = Times::default();
        if self.timing != Timing::None {
            match self.gpu.has_timestamps() {
                true => self.clock_for(program.graph.nodes.len()),
                false => self.times.untimed = Some("the device has no timestamps".to_owned()),
            }
        }
        let moved = self.memory.prepare(&self.gpu, program);
        if let (Ok(true) | Err(_), Some(prepared)) = (&moved, &mut self.prepared) {
            prepared.bound.fill(None);
        }
        moved?;
        if self.prepared.as_ref().is_none_or(|prepared| !prepared.suits(program)) {
            let kernels = self.kernels.of_program(&self.gpu, program)?;
            let bound = vec![None; kernels.len()];
            let (graph, widened) = (Arc::clone(&program.graph), program.plan.widened.clone());
            self.prepared = Some(Prepared { graph, widened, kernels, bound });
        }
        (self.epoch, self.first_tick) = (Instant::now(), None);
        Ok(())
    }

    fn trim(&mut self) {
        self.memory.trim();
        self.params.trim();
        self.prepared = None;
    }

    fn arena_bytes(&self) -> u64 {
        self.memory.arena_bytes()
    }

    fn write(&mut self, region: Region, bytes: &[u8]) -> Result<(), RunError> {
        self.memory.write(&self.gpu, region, bytes)
    }

    fn fill(&mut self, region: Region, word: u32) -> Result<(), RunError> {
        // Only used where each node is submitted by itself, so that nothing is pending that should run before.
        self.memory.fill(&self.gpu, region, word)
    }

    fn dispatch(&mut self, program: &Program, dispatch: &Dispatch<'_>) -> Result<(), RunError> {
        self.bind_group(program, dispatch)?;
        let timing = if self.clock.is_some() { self.timing } else { Timing::None };
        let each = timing == Timing::Nodes;
        let width = u64::from(self.gpu.limits.max_compute_workgroups_per_dimension);
        let node = program.node(dispatch.node);
        self.record();
        let prepared = self.prepared.as_ref().expect("a program was prepared");
        let index = dispatch.node.0 as usize;
        let kernel = prepared.kernels[index].as_ref().expect("only device nodes are dispatched");
        let (_, group) = prepared.bound[index].as_ref().expect("it was just bound");
        let recording = self.recording.as_mut().expect("just begun");
        (recording.nodes, recording.node) = (recording.nodes + 1, Some(dispatch.node));
        if each || recording.pass.is_none() {
            let stamp = 2 * recording.stamped.len() as u32;
            let has_room = |clock: &&Clock| timing != Timing::None && stamp + 2 <= clock.count;
            let clock = self.clock.as_ref().filter(has_room);
            let timestamp_writes = clock.map(|clock| {
                recording.stamped.push(each.then_some(dispatch.node));
                wgpu::ComputePassTimestampWrites {
                    query_set: &clock.queries,
                    beginning_of_pass_write_index: Some(stamp),
                    end_of_pass_write_index: Some(stamp + 1),
                }
            });
            let label = Some(node.name.as_str()).filter(|_| each || self.alone).or(Some("weft.nodes"));
            let descriptor = wgpu::ComputePassDescriptor { label, timestamp_writes };
            recording.pass = None;
            recording.pass = Some(recording.encoder.begin_compute_pass(&descriptor).forget_lifetime());
        }
        let pass = recording.pass.as_mut().expect("just begun");
        pass.set_pipeline(&kernel.pipeline);
        pass.set_bind_group(0, group, &[]);
        for step in dispatch.steps.iter().filter(|step| step.groups > 0) {
            let rows = step.groups.div_ceil(width);
            if rows > width {
                return Err(RunError::Limit {
                    pass: node.pass.name().to_owned(),
                    limit: "workgroups",
                    needed: step.groups,
                    allowed: width * width,
                });
            }
            if !step.params.is_empty() {
                let bytes: Vec<u8> = step.params.iter().flat_map(|param| param.to_le_bytes()).collect();
                match &self.gpu.params_layout {
                    None => pass.set_immediates(0, &bytes),
                    Some(layout) => {
                        let (group, offset) = self.params.put(&self.gpu, layout, &bytes)?;
                        pass.set_bind_group(params::GROUP, group, &[offset]);
                    }
                }
            }
            pass.dispatch_workgroups(step.groups.div_ceil(rows) as u32, rows as u32, 1);
        }
        if each {
            recording.pass = None;
        }
        if self.alone {
            let stamped = self.submit(program, |_| {})?;
            self.wait(program, dispatch.node)?;
            if !stamped.is_empty() {
                self.read_stamps(&stamped)?;
            }
        } else if timing == Timing::None && recording.nodes == NODES_OF_A_PART {
            self.hand_over(program, |_| {})?;
        }
        Ok(())
    }

    fn read(&mut self, program: &Program, regions: &[Region]) -> Result<Readback, RunError> {
        let stamp_bytes = self.recording.as_ref().map_or(0, |recording| 16 * recording.stamped.len() as u64);
        let mut ranges = Vec::with_capacity(regions.len());
        let mut end = 0;
        for region in regions {
            ranges.push(end..end + region.size_bytes as usize);
            end = (end + region.size_bytes as usize).next_multiple_of(8);
        }
        let total = end as u64 + stamp_bytes;
        let staging = self.memory.staging(&self.gpu, total.max(8))?;
        let sources: Vec<wgpu::Buffer> =
            regions.iter().map(|region| self.memory.arena(region.arena).clone()).collect();
        let resolved = self.clock.as_ref().map(|clock| clock.resolved.clone());
        let stamped = self.submit(program, |encoder| {
            for ((region, range), source) in regions.iter().zip(&ranges).zip(&sources) {
                let bytes = region.size_bytes.next_multiple_of(4);
                if bytes > 0 {
                    let (from, to) = (region.offset_bytes, range.start as u64);
                    encoder.copy_buffer_to_buffer(source, from, &staging, to, Some(bytes));
                }
            }
            if let (Some(resolved), 1..) = (&resolved, stamp_bytes) {
                encoder.copy_buffer_to_buffer(resolved, 0, &staging, end as u64, Some(stamp_bytes));
            }
        })?;
        let begin = Instant::now();
        let wait = tracing::debug_span!("wait").entered();
        let mapped = memory::Mapped::wait(&self.gpu, staging, total.max(8), self.memory.returned())?;
        drop(wait);
        if let Some(segment) = self.times.segments.last_mut() {
            segment.wait_seconds = begin.elapsed().as_secs_f64();
        }
        self.take_stamps(&stamped, &mapped[end..]);
        Ok(Readback { bytes: Box::new(mapped), ranges })
    }

    fn observe(&mut self, timing: Timing, alone: bool) {
        (self.timing, self.alone) = (timing, alone);
    }

    fn times(&mut self) -> Times {
        std::mem::take(&mut self.times)
    }
}

impl GpuBackend {
    /// Waits for a node that was submitted by itself.
    fn wait(&mut self, program: &Program, node: NodeId) -> Result<(), RunError> {
        let begin = Instant::now();
        self.gpu.wait().map_err(|error| match error {
            RunError::Lost { text, .. } => {
                RunError::Lost { node: Some(program.node(node).name.clone()), text }
            }
            other => other,
        })?;
        if let Some(segment) = self.times.segments.last_mut() {
            segment.wait_seconds = begin.elapsed().as_secs_f64();
        }
        Ok(())
    }

    /// Fetches timestamps of a submission that read nothing else.
    fn read_stamps(&mut self, stamped: &[Option<NodeId>]) -> Result<(), RunError> {
        let Some(clock) = &self.clock else { return Ok(()) };
        let bytes = 16 * stamped.len() as u64;
        let staging = self.memory.staging(&self.gpu, bytes)?;
        let mut encoder =
            self.gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: None });
        encoder.copy_buffer_to_buffer(&clock.resolved, 0, &staging, 0, Some(bytes));
        self.gpu.queue.submit([encoder.finish()]);
        let mapped = memory::Mapped::wait(&self.gpu, staging, bytes, self.memory.returned())?;
        self.take_stamps(stamped, &mapped);
        Ok(())
    }
}
