//! Contents of single ports, as they are right after their node ran.

use crate::graph::model::{Binding, NodeId};

use super::backend::Backend;
use super::driver::{Driver, Options};
use super::error::RunError;
use super::exact::Exact;
use super::program::Program;

/// A port of a node, found in a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortOf {
    node: NodeId,
    /// Index into the node's bindings.
    binding: usize,
}

impl PortOf {
    /// Finds `NODE.PORT`.
    ///
    /// # Errors
    ///
    /// A text that says what there is instead.
    pub fn find(program: &Program, name: &str) -> Result<PortOf, String> {
        let (node_name, port_name) =
            name.rsplit_once('.').ok_or_else(|| format!("`{name}` is no port; write NODE.PORT"))?;
        let mut nodes = (0..).zip(&program.graph.nodes);
        let Some((index, node)) = nodes.find(|(_, node)| node.name == node_name) else {
            let names: Vec<&str> = program.graph.nodes.iter().map(|node| node.name.as_str()).collect();
            return Err(format!("there is no node `{node_name}`; there are: {}", names.join(", ")));
        };
        let name_of = |binding: &Binding| node.pass.file.ports[binding.port].0.value.as_str();
        match node.bindings.iter().position(|binding| name_of(binding) == port_name) {
            Some(binding) => Ok(PortOf { node: NodeId(index), binding }),
            None => {
                let names: Vec<&str> = node.bindings.iter().map(name_of).collect();
                Err(format!("node `{node_name}` has no port `{port_name}`; it has: {}", names.join(", ")))
            }
        }
    }
}

/// Runs a program node by node and gives the bytes of some ports, each as it is right after its node ran: of a port that is
/// written what the node defines, of one that is read what it reads.
///
/// # Errors
///
/// Those of [`run`](super::run).
pub fn dump(
    program: &Program,
    backend: &mut dyn Backend,
    inputs: &[(&str, &[u8])],
    ports: &[PortOf],
) -> Result<Vec<Vec<u8>>, RunError> {
    let options = Options { alone: true, ..Options::default() };
    let mut driver = Driver::new(program, backend, inputs, options)?;
    let mut exact = Exact::new(program);
    let mut dumped = vec![Vec::new(); ports.len()];
    let mut order = program.plan.order.iter().copied().enumerate().peekable();
    for segment in 0..program.graph.segments {
        driver.begin_segment(segment)?;
        while let Some((position, id)) = order.next_if(|&(_, id)| program.node(id).segment == segment) {
            driver.run_node(position, id)?;
            exact.learn(program, &mut *driver.backend, id)?;
            for (port, bytes) in ports.iter().zip(&mut dumped).filter(|(port, _)| port.node == id) {
                let binding = &program.node(id).bindings[port.binding];
                let value = binding.after.or(binding.before).expect("a binding reads or writes a value");
                let region = exact.part(program, value, &binding.at, &binding.len)?;
                let read = driver.backend.read(program, &[region])?;
                *bytes = read.bytes(0)[..region.size_bytes as usize].to_vec();
            }
        }
        if segment + 1 < program.graph.segments {
            driver.end_segment(segment)?;
        }
    }
    Ok(dumped)
}
