//! A graph made ready to run: numbers, memory plan, and every dispatch worked out.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::graph::document::{Access, Kernel};
use crate::graph::expr::Expr;
use crate::graph::model::{Binding, BufferId, Graph, GridExpr, Node, NodeId, Origin, ValueId};
use crate::graph::pass::STEP;
use crate::plan::{self, Plan, Slot};

use super::backend::{BoundPort, Dispatch, Region, Step};
use super::error::RunError;
use super::numbers::Numbers;

/// A graph with the caller's numbers and a memory plan. Run it as often as you like.
#[derive(Debug)]
pub struct Program {
    /// The graph.
    pub graph: Arc<Graph>,
    /// Where its values live, and the numbers of its symbols.
    pub plan: Plan,
    /// Numbers before anything has run.
    pub(super) sizes: Numbers,
}

/// How much a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Dispatches.
    pub steps: u64,
    /// Workgroups of all dispatches.
    pub groups: u64,
    /// Invocations of a workgroup; 0 for a host node.
    pub group_invocations: u64,
    /// Bytes of the memory bound to its ports, each byte once, as far as elements are in use.
    pub working_set_bytes: u64,
    /// Bytes read: as the pass file declares, else every element of every port that is read, once.
    pub read_bytes: u64,
    /// Bytes written, likewise.
    pub write_bytes: u64,
}

/// A buffer's slot, and what the host does with it.
pub(super) struct Life<'p> {
    pub(super) slot: &'p Slot,
    pub(super) host_fills: bool,
    pub(super) host_reads: bool,
}

impl Program {
    /// Plans a graph for these numbers of its symbols.
    ///
    /// # Errors
    ///
    /// Missing and unknown symbols, bounds that do not hold, numbers that do not exist, and sizes past the limits.
    pub fn new(
        graph: Arc<Graph>,
        symbols: &BTreeMap<String, u64>,
        options: &plan::Options,
    ) -> Result<Program, RunError> {
        let plan = plan::plan(&graph, symbols, options)?;
        Ok(Program::of_plan(graph, plan))
    }

    /// Plans a graph that has a plan for other numbers, see [`plan::plan_like`].
    ///
    /// # Errors
    ///
    /// As [`Program::new`].
    pub fn like(
        previous: &Plan,
        graph: Arc<Graph>,
        symbols: &BTreeMap<String, u64>,
        options: &plan::Options,
    ) -> Result<Program, RunError> {
        let plan = plan::plan_like(previous, &graph, symbols, options)?;
        Ok(Program::of_plan(graph, plan))
    }

    fn of_plan(graph: Arc<Graph>, plan: Plan) -> Program {
        let sizes = Numbers::new(&plan.symbols);
        Program { graph, plan, sizes }
    }

    /// A node by id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.graph.nodes[id.0 as usize]
    }

    /// Whether a node runs on the host.
    pub fn is_host(&self, id: NodeId) -> bool {
        matches!(self.node(id).pass.file.kernel, Kernel::Host(_))
    }

    /// Arenas that hold one graph input and nothing else: those that the host writes large pieces into.
    pub(super) fn is_upload_arena(&self, arena: usize) -> bool {
        let holds = |value: ValueId| self.slot_of(value).arena == arena;
        self.plan.arenas[arena].dedicated && self.graph.inputs.iter().any(|input| holds(input.value))
    }

    fn slot_of(&self, value: ValueId) -> &Slot {
        self.plan.slot(self.graph.values[value.0 as usize].buffer)
    }

    /// The segment before which the host fills a value; none for what nodes write.
    pub(super) fn filled_before(&self, value: ValueId) -> Option<u32> {
        plan::filled_before(&self.graph, value)
    }

    /// The segment after which a value is complete; 0 for what the host fills in.
    pub(super) fn segment_of(&self, value: ValueId) -> u32 {
        let writers = self.graph.values[value.0 as usize].writers();
        writers.iter().map(|&node| self.node(node).segment).max().unwrap_or(0)
    }

    /// The nodes that write a value, for messages.
    pub(super) fn writers(&self, value: ValueId) -> String {
        let writers = self.graph.values[value.0 as usize].writers();
        let names: Vec<&str> = writers.iter().map(|&node| self.node(node).name.as_str()).collect();
        names.join("` or `")
    }

    /// The nodes that can have put a code into a status word or an earlier version of it, for messages; all of its writers if none
    /// of them knows the code.
    pub(super) fn finders(&self, status: ValueId, code: u32) -> String {
        let mut names: Vec<&str> = Vec::new();
        let mut version = Some(status);
        while let Some(id) = version {
            let value = &self.graph.values[id.0 as usize];
            let knows = |node: &&NodeId| {
                let node = self.node(**node);
                let ports = node.bindings.iter().filter(|binding| binding.after == Some(id));
                let codes = ports.filter_map(|binding| node.pass.port(binding.port).codes.as_ref());
                codes.flat_map(|codes| &codes.texts).any(|(known, _)| *known == code)
            };
            names.extend(value.writers().iter().filter(knows).map(|&node| self.node(node).name.as_str()));
            version = value.previous;
        }
        names.sort_unstable();
        if names.is_empty() { self.writers(status) } else { names.join("` or `") }
    }

    /// Every buffer with what the host does with it.
    pub(super) fn lives(&self) -> impl Iterator<Item = Life<'_>> {
        let graph = &self.graph;
        let read: Vec<BufferId> = (graph.counts.iter().map(|count| count.value))
            .chain(graph.checks.iter().map(|check| check.value))
            .chain(graph.outputs.iter().map(|output| output.value))
            .map(|value| graph.values[value.0 as usize].buffer)
            .collect();
        self.plan.slots.iter().zip(&graph.buffers).enumerate().map(move |(index, (slot, buffer))| {
            let first = &graph.values[buffer.versions[0].0 as usize];
            let host_fills = !matches!(first.origin, Origin::Nodes(_));
            Life { slot, host_fills, host_reads: read.contains(&BufferId(index as u32)) }
        })
    }

    /// The largest number that an expression can have with what is known; `what` says whose it is, for the error.
    pub(super) fn most(
        &self,
        expr: &Expr,
        sizes: &Numbers,
        what: impl Fn() -> String,
    ) -> Result<u64, RunError> {
        sizes.most(&self.graph, expr).map_err(|error| RunError::Number { what: what(), error })
    }

    /// A number that has to fit one word.
    pub(super) fn word(
        &self,
        expr: &Expr,
        sizes: &Numbers,
        what: impl Fn() -> String,
    ) -> Result<u32, RunError> {
        let number = self.most(expr, sizes, &what)?;
        let limit = u64::from(u32::MAX);
        u32::try_from(number).map_err(|_| RunError::TooLarge { what: what(), number, limit })
    }

    /// Where a value lives: all elements that it can have, exactly if the counts in its length are known.
    pub(super) fn region(&self, value: ValueId, sizes: &Numbers) -> Result<Region, RunError> {
        let slot = self.slot_of(value);
        let value = &self.graph.values[value.0 as usize];
        let what = || format!("the length of `{}`", value.name);
        let len = self.most(&value.len, sizes, what)?;
        let size_bytes = len.saturating_mul(value.element.layout.stride_bytes());
        if size_bytes > slot.size_bytes {
            let what = format!("the length of `{}` in bytes", value.name);
            return Err(RunError::TooLarge { what, number: size_bytes, limit: slot.size_bytes });
        }
        Ok(Region { arena: slot.arena, offset_bytes: slot.offset_bytes, size_bytes })
    }

    /// Works out a node's dispatches with the numbers that are known now.
    pub(super) fn dispatch(&self, id: NodeId, sizes: &Numbers) -> Result<Dispatch<'_>, RunError> {
        let node = self.node(id);
        let ports =
            node.bindings.iter().map(|binding| self.bound_port(binding, sizes)).collect::<Result<_, _>>()?;
        let mut steps = Vec::new();
        let count =
            self.most(&node.steps, sizes, || format!("the number of steps of node `{}`", node.name))?;
        for step in 0..count {
            steps.push(self.step(id, sizes, step)?);
        }
        let mut numbers = Vec::with_capacity(node.bind.len() + node.overrides.len());
        for (symbol, expr) in &node.bind {
            if let Some(number) = sizes.exact(expr) {
                numbers.push((symbol.as_str(), number));
            }
        }
        numbers.extend(node.overrides.iter().map(|(name, value)| (name.as_str(), u64::from(*value))));
        Ok(Dispatch { node: id, ports, steps, numbers })
    }

    /// How much a node does when the counts are these.
    pub fn work(&self, id: NodeId, counts: &[(String, u64)]) -> Result<Work, RunError> {
        // Grids and memory are sized by what is awaited; what is moved, by what there is.
        let (mut known, mut exact) = (self.sizes.clone(), self.sizes.clone());
        for (name, number) in counts {
            exact.learn(name, *number);
            if self.graph.counts.iter().any(|count| count.awaited && count.name == *name) {
                known.learn(name, *number);
            }
        }
        let node = self.node(id);
        let dispatch = self.dispatch(id, &known)?;
        let (mut read_bytes, mut write_bytes) = (0, 0);
        if let Some((read, write)) = &node.traffic {
            let what = || format!("the traffic of node `{}`", node.name);
            (read_bytes, write_bytes) = (self.most(read, &exact, what)?, self.most(write, &exact, what)?);
        } else {
            for binding in &node.bindings {
                let value = binding.after.or(binding.before).expect("a binding reads or writes a value");
                let stride = self.graph.values[value.0 as usize].element.layout.stride_bytes();
                let len = self.most(&binding.len, &exact, || format!("a length of node `{}`", node.name))?;
                read_bytes += binding.before.map_or(0, |_| len * stride);
                write_bytes += binding.after.map_or(0, |_| len * stride);
            }
        }
        let groups = dispatch.steps.iter().map(|step| step.groups).sum();
        if groups == 0 {
            (read_bytes, write_bytes) = (0, 0);
        }
        Ok(Work {
            steps: dispatch.steps.len() as u64,
            groups,
            group_invocations: node.group_size,
            working_set_bytes: self.working_set_bytes(id, &exact)?,
            read_bytes,
            write_bytes,
        })
    }

    fn working_set_bytes(&self, id: NodeId, sizes: &Numbers) -> Result<u64, RunError> {
        let node = self.node(id);
        let mut largest: BTreeMap<BufferId, u64> = BTreeMap::new();
        for binding in &node.bindings {
            let value = binding.after.or(binding.before).expect("a binding reads or writes a value");
            let value = &self.graph.values[value.0 as usize];
            let len = self.most(&binding.len, sizes, || format!("a length of node `{}`", node.name))?;
            let bytes = len.saturating_mul(value.element.layout.stride_bytes());
            let known = largest.entry(value.buffer).or_default();
            *known = bytes.max(*known);
        }
        Ok(largest.into_values().fold(0, u64::saturating_add))
    }

    fn bound_port(&self, binding: &Binding, sizes: &Numbers) -> Result<BoundPort, RunError> {
        let value = binding.after.or(binding.before).expect("a binding reads or writes a value");
        let lanes = usize::from(self.graph.values[value.0 as usize].element.layout.lanes);
        let writable = binding.access != Access::Read;
        Ok(BoundPort { port: binding.port, region: self.region(value, sizes)?, lanes, writable })
    }

    fn step(&self, id: NodeId, sizes: &Numbers, step: u64) -> Result<Step, RunError> {
        let node = self.node(id);
        let at_step = |expr: &Expr| expr.substitute(&|name| (name == STEP).then_some(Expr::Num(step)));
        let what = || format!("the grid of node `{}`", node.name);
        let groups = match &node.grid {
            GridExpr::Threads(threads) => {
                // A pass without its shader only runs on the reference backend, which wants to know whether there is work.
                self.most(&at_step(threads), sizes, what)?.div_ceil(node.group_size.max(1))
            }
            GridExpr::Groups(groups) => self.most(&at_step(groups), sizes, what)?,
            GridExpr::Host => 1,
        };
        let mut params = Vec::with_capacity(node.pass.file.params.len());
        for param in &node.pass.file.params {
            let what = || format!("param `{}` of node `{}`", param.value, node.name);
            // The only param that is not a symbol of the pass is the step.
            let bound = node.bind.iter().find(|(symbol, _)| *symbol == param.value);
            let expr = bound.map_or(Expr::Num(step), |(_, expr)| expr.clone());
            params.push(self.word(&expr, sizes, what)?);
        }
        Ok(Step { groups, params })
    }
}
