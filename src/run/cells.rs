//! The reference backend: every node by the scalar reference of its pass, on the CPU, in memory laid out by the plan.
//!
//! Memory is cells, so that a wrong plan gives wrong results instead of undefined behaviour.

use std::cell::Cell;
use std::time::Instant;

use crate::graph::document::Kernel;
use crate::graph::model::NodeId;
use crate::reference::{self, Call, Port};

use super::backend::{Backend, Dispatch, Readback, Region};
use super::error::RunError;
use super::program::Program;
use super::times::{NodeTime, Times, Timing};

/// What memory holds before anything is written to it.
const UNDEFINED: u32 = 0xdead_beef;

/// Runs nodes by their scalar references.
#[derive(Debug, Default)]
pub struct ReferenceBackend {
    arenas: Vec<Vec<Cell<u32>>>,
    timing: Timing,
    times: Times,
    /// When the run began.
    epoch: Option<Instant>,
}

impl ReferenceBackend {
    /// A backend without memory yet.
    pub fn new() -> ReferenceBackend {
        ReferenceBackend::default()
    }

    fn cells(&self, region: Region) -> &[Cell<u32>] {
        let start = (region.offset_bytes / 4) as usize;
        &self.arenas[region.arena][start..start + region.size_bytes.div_ceil(4) as usize]
    }
}

impl Backend for ReferenceBackend {
    fn name(&self) -> String {
        "scalar references on the CPU".to_owned()
    }

    fn prepare(&mut self, program: &Program) -> Result<(), RunError> {
        let arenas = &program.plan.arenas;
        self.arenas.resize_with(arenas.len().max(self.arenas.len()), Vec::new);
        for (arena, planned) in self.arenas.iter_mut().zip(arenas) {
            let words = planned.size_bytes.div_ceil(4) as usize;
            if arena.len() < words {
                arena.resize_with(words, || Cell::new(UNDEFINED));
            }
        }
        self.times = Times::default();
        self.epoch = Some(Instant::now());
        Ok(())
    }

    fn trim(&mut self) {
        self.arenas.clear();
    }

    fn arena_bytes(&self) -> u64 {
        self.arenas.iter().map(|arena| 4 * arena.len() as u64).sum()
    }

    fn write(&mut self, region: Region, bytes: &[u8]) -> Result<(), RunError> {
        for (cell, word) in self.cells(region).iter().zip(bytes.chunks(4)) {
            let mut four = [0; 4];
            four[..word.len()].copy_from_slice(word);
            cell.set(u32::from_le_bytes(four));
        }
        Ok(())
    }

    fn fill(&mut self, region: Region, word: u32) -> Result<(), RunError> {
        self.cells(region).iter().for_each(|cell| cell.set(word));
        Ok(())
    }

    fn dispatch(&mut self, program: &Program, dispatch: &Dispatch<'_>) -> Result<(), RunError> {
        let begin = Instant::now();
        call_steps(program, dispatch, |region| self.cells(region))?;
        if self.timing == Timing::Nodes {
            let seconds = begin.elapsed().as_secs_f64();
            let begin_seconds = self.epoch.map_or(0.0, |epoch| (begin - epoch).as_secs_f64());
            let node = dispatch.node;
            self.times.nodes.push(NodeTime { node, begin_seconds, seconds, host_clock: true });
        }
        Ok(())
    }

    fn read(&mut self, _: &Program, regions: &[Region]) -> Result<Readback, RunError> {
        let mut bytes = Vec::with_capacity(regions.iter().map(|region| region.size_bytes as usize).sum());
        let mut ranges = Vec::with_capacity(regions.len());
        for &region in regions {
            let start = bytes.len();
            bytes.extend(self.cells(region).iter().flat_map(|cell| cell.get().to_le_bytes()));
            ranges.push(start..start + region.size_bytes as usize);
        }
        Ok(Readback { bytes: Box::new(bytes), ranges })
    }

    fn observe(&mut self, timing: Timing, _alone: bool) {
        self.timing = timing;
    }

    fn times(&mut self) -> Times {
        std::mem::take(&mut self.times)
    }
}

/// Calls a node's reference, or host function, once a step; `cells` gives the memory of a region.
pub(super) fn call_steps<'c>(
    program: &Program,
    dispatch: &Dispatch<'_>,
    cells: impl Fn(Region) -> &'c [Cell<u32>],
) -> Result<(), RunError> {
    let node = program.node(dispatch.node);
    let function = reference_of(program, dispatch.node)?;
    for (step, sizes) in dispatch.steps.iter().enumerate() {
        if sizes.groups == 0 {
            continue;
        }
        let ports = dispatch.ports.iter().map(|port| {
            let name = &node.pass.file.ports[port.port].0.value;
            Port::new(name, cells(port.region), port.lanes, port.writable)
        });
        let call = Call { numbers: dispatch.numbers.clone(), step: step as u32, ports: ports.collect() };
        function(&call).map_err(|fault| RunError::Reference { node: node.name.clone(), fault })?;
    }
    Ok(())
}

fn reference_of(program: &Program, id: NodeId) -> Result<reference::Reference, RunError> {
    let node = program.node(id);
    let name = match &node.pass.file.kernel {
        Kernel::Host(function) => function.value.as_str(),
        Kernel::Shader { .. } => node.pass.name(),
    };
    reference::find(name)
        .ok_or_else(|| RunError::NoReference { node: node.name.clone(), pass: name.to_owned() })
}
