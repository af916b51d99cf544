//! Numbers during a run that is stepped node by node: every count is known as soon as it is computed.

use crate::graph::expr::Expr;
use crate::graph::model::{NodeId, ValueId};

use super::backend::{Backend, Region};
use super::error::RunError;
use super::numbers::Numbers;
use super::program::Program;

/// As a driver's numbers, but late counts too are known at once: what is looked at stops at counts.
pub(super) struct Exact {
    pub(super) sizes: Numbers,
}

impl Exact {
    pub(super) fn new(program: &Program) -> Exact {
        Exact { sizes: program.sizes.clone() }
    }

    /// Reads the counts that a node has just computed.
    pub(super) fn learn(
        &mut self,
        program: &Program,
        backend: &mut dyn Backend,
        id: NodeId,
    ) -> Result<(), RunError> {
        for count in &program.graph.counts {
            if program.graph.values[count.value.0 as usize].writers().contains(&id) {
                let whole = program.region(count.value, &self.sizes)?;
                let offset_bytes = whole.offset_bytes + 4 * u64::from(count.element);
                let read = backend.read(program, &[Region { offset_bytes, size_bytes: 4, ..whole }])?;
                self.sizes.learn(&count.name, u64::from(read.word(0)));
            }
        }
        Ok(())
    }

    /// The elements that a node defines of a value, or all that there are, whichever is less.
    pub(super) fn part(
        &self,
        program: &Program,
        value: ValueId,
        at: &Expr,
        len: &Expr,
    ) -> Result<Region, RunError> {
        let whole = program.region(value, &self.sizes)?;
        let stride = program.graph.values[value.0 as usize].element.layout.stride_bytes();
        let what = || "the part of a value".to_owned();
        let at = program.most(at, &self.sizes, what)? * stride;
        let bytes = program.most(len, &self.sizes, what)? * stride;
        let size_bytes = bytes.min(whole.size_bytes.saturating_sub(at));
        Ok(Region { offset_bytes: whole.offset_bytes + at, size_bytes, ..whole })
    }
}
