//! A graph made ready to run: numbers, memory plan, and every dispatch worked out.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::graph::document::{Access, Kernel};
use crate::graph::model::{Binding, Graph, GridExpr, Node, NodeId, ValueId};
use crate::plan::{Plan, PlanOptions};

use super::backend::{BoundPort, Dispatch, Region, Step};
use super::error::RunError;
use super::sizes::Sizes;

/// A graph with the caller's numbers and a memory plan. Run it as often as you like.
#[derive(Debug)]
pub struct Program {
    /// The graph.
    pub graph: Arc<Graph>,
    /// Its numbers, before anything has run.
    pub sizes: Sizes,
    /// Where its values live.
    pub plan: Plan,
    /// Invocations of one workgroup, by node; 0 for host nodes.
    group_sizes: Vec<u64>,
    /// Different for every program of a process, so that backends know what they have prepared.
    id: u64,
}

impl Program {
    /// Plans a graph for these symbols, by name, and these limits.
    ///
    /// # Errors
    ///
    /// Missing and unknown symbols, bounds that do not hold, numbers that do not exist, and sizes past the limits.
    pub fn new(
        graph: Arc<Graph>,
        symbols: &[(String, u64)],
        options: &PlanOptions,
    ) -> Result<Program, RunError> {
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        let sizes = Sizes::new(&graph, symbols)?;
        let plan = Plan::new(&graph, &sizes, options)?;
        let group_sizes = graph.nodes.iter().map(group_size).collect::<Result<Vec<u64>, RunError>>()?;
        let id = NEXT_ID.fetch_add(1, Ordering::Relaxed);
        Ok(Program { graph, sizes, plan, group_sizes, id })
    }

    /// A number that no other program of this process has.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// A node by id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.graph.nodes[id.0 as usize]
    }

    /// Whether a node runs on the host.
    pub fn is_host(&self, id: NodeId) -> bool {
        matches!(self.node(id).pass.file.kernel, Kernel::Host(_))
    }

    /// Where a value lives: all its elements, exactly, with the counts that `sizes` knows.
    pub fn region(&self, value: ValueId, sizes: &Sizes) -> Result<Region, RunError> {
        let value = &self.graph.values[value.0 as usize];
        let len = sizes.eval(&value.len, || format!("the length of `{}`", value.name))?;
        let slot = &self.plan.slots[value.buffer.0 as usize];
        let size_bytes = len.saturating_mul(value.element.layout.stride_bytes());
        if size_bytes > slot.size_bytes {
            let what = format!("the length of `{}` in bytes", value.name);
            return Err(RunError::TooLarge { what, number: size_bytes, limit: slot.size_bytes });
        }
        Ok(Region { arena: slot.arena, offset_bytes: slot.offset_bytes, size_bytes })
    }

    /// The segment after which a value is complete; 0 for what the host fills in.
    pub fn segment_of(&self, value: ValueId) -> u32 {
        let writers = self.graph.values[value.0 as usize].writers();
        writers.iter().map(|&node| self.node(node).segment).max().unwrap_or(0)
    }

    /// The nodes that write a value, for messages.
    pub fn writers(&self, value: ValueId) -> String {
        let value = &self.graph.values[value.0 as usize];
        let names: Vec<&str> = value.writers().iter().map(|&node| self.node(node).name.as_str()).collect();
        names.join("` or `")
    }

    /// The memory of a whole buffer, as planned.
    pub fn slot_region(&self, buffer: usize) -> Region {
        let slot = &self.plan.slots[buffer];
        Region { arena: slot.arena, offset_bytes: slot.offset_bytes, size_bytes: slot.size_bytes }
    }

    /// Works out a node's dispatches with the numbers that are known now.
    pub fn dispatch(&self, id: NodeId, sizes: &Sizes) -> Result<Dispatch<'_>, RunError> {
        let node = self.node(id);
        let ports = node.bindings.iter().map(|binding| self.bound_port(binding, sizes)).collect::<Result<_, _>>()?;
        let mut steps = Vec::new();
        let count = sizes.eval(&node.steps, || format!("the number of steps of node `{}`", node.name))?;
        for step in 0..count {
            steps.push(self.step(id, sizes, step)?);
        }
        let mut numbers = Vec::with_capacity(node.bind.len() + node.overrides.len());
        for (symbol, expr) in &node.bind {
            if sizes.knows(expr) {
                let what = || format!("`{symbol}` of node `{}`", node.name);
                numbers.push((symbol.as_str(), sizes.eval(expr, what)?));
            }
        }
        numbers.extend(node.overrides.iter().map(|(name, value)| (name.as_str(), u64::from(*value))));
        Ok(Dispatch { node: id, ports, steps, numbers })
    }

    fn bound_port(&self, binding: &Binding, sizes: &Sizes) -> Result<BoundPort, RunError> {
        let value = binding.after.or(binding.before).expect("a binding reads or writes a value");
        let lanes = usize::from(self.graph.values[value.0 as usize].element.layout.lanes);
        let writable = binding.access != Access::Read;
        Ok(BoundPort { port: binding.port, region: self.region(value, sizes)?, lanes, writable })
    }

    fn step(&self, id: NodeId, sizes: &Sizes, step: u64) -> Result<Step, RunError> {
        let node = self.node(id);
        let what = || format!("the grid of node `{}`", node.name);
        let groups = match &node.grid {
            GridExpr::Threads(threads) => {
                sizes.eval_step(threads, step, what)?.div_ceil(self.group_sizes[id.0 as usize])
            }
            GridExpr::Groups(groups) => sizes.eval_step(groups, step, what)?,
            GridExpr::Host => 1,
        };
        let mut params = Vec::with_capacity(node.pass.file.params.len());
        for param in &node.pass.file.params {
            params.push(self.param(node, &param.value, sizes, step)?);
        }
        Ok(Step { groups, params })
    }

    fn param(&self, node: &Node, name: &str, sizes: &Sizes, step: u64) -> Result<u32, RunError> {
        let what = || format!("param `{name}` of node `{}`", node.name);
        let number = match node.bind.iter().find(|(symbol, _)| symbol == name) {
            Some((_, expr)) => sizes.eval(expr, what)?,
            // The only param that is not a symbol of the pass.
            None => step,
        };
        let limit = u64::from(u32::MAX);
        u32::try_from(number).map_err(|_| RunError::TooLarge { what: what(), number, limit })
    }
}

/// Invocations of one workgroup of a node; 0 for a host node or a pass without its shader.
fn group_size(node: &Node) -> Result<u64, RunError> {
    let Some(kernel) = &node.pass.kernel else { return Ok(0) };
    let overrides = node.overrides.iter().map(|(name, value)| (name.as_str(), *value));
    let [x, y, z] = kernel.shader.workgroup_size(overrides).map_err(|text| RunError::Device {
        node: Some(node.name.clone()),
        text: format!("the overrides give its shader no valid workgroup size: {text}"),
    })?;
    Ok(u64::from(x) * u64::from(y) * u64::from(z))
}
