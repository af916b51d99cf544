//! Node by node against the scalar references.
//!
//! The same program runs on two backends side by side, with dead memory poisoned. After each node every port that it
//! wrote is read from both and compared, so that the first difference names the node that is wrong and not one that
//! suffers from it.

use std::fmt;

use crate::graph::model::{Binding, NodeId, ValueId};

use super::backend::{Backend, Region};
use super::cells::ReferenceBackend;
use super::driver::{Driver, Options};
use super::error::RunError;
use super::exact::Exact;
use super::program::Program;

/// What was compared, all of it equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// Nodes that ran.
    pub nodes: u64,
    /// Ports that were compared.
    pub ports: u64,
    /// Elements that were compared.
    pub elements: u64,
}

/// Why a verification failed.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// One of the two runs stopped.
    #[error("the run by {backend} stopped: {error}")]
    Run {
        /// The backend.
        backend: String,
        /// Why.
        error: Box<RunError>,
    },
    /// A node computes something else than its reference.
    #[error("{0}")]
    Differs(Box<Difference>),
}

/// The first element in which a node differs from its reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The node.
    pub node: String,
    /// Its pass.
    pub pass: String,
    /// The port.
    pub port: String,
    /// The first element of the port's value that differs.
    pub element: u64,
    /// How many of the elements differ.
    pub differing: u64,
    /// How many there are.
    pub elements: u64,
    /// The words of the element by the reference.
    pub expected: Vec<u32>,
    /// The words that the backend under test has.
    pub found: Vec<u32>,
    /// The numbers of the call that the host knows.
    pub numbers: Vec<(String, u64)>,
    /// Every port that the node reads: its name, length, and the element of the same index where there is one, else the first.
    pub inputs: Vec<InputElement>,
}

/// An element of a port that led to a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputElement {
    /// The port.
    pub port: String,
    /// Number of its elements.
    pub elements: u64,
    /// Which element.
    pub element: u64,
    /// Its words; empty if the port is.
    pub words: Vec<u32>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { node, pass, port, element, differing, elements, .. } = self;
        writeln!(f, "node `{node}` differs from the reference of `{pass}`:")?;
        writeln!(
            f,
            "  port `{port}`, element {element}: {}, and the reference has {} ({differing} of {elements} elements differ)",
            Words(&self.found),
            Words(&self.expected)
        )?;
        let numbers: Vec<String> =
            self.numbers.iter().map(|(name, number)| format!("{name} = {number}")).collect();
        writeln!(
            f,
            "  called with {}",
            if numbers.is_empty() { "no numbers".to_owned() } else { numbers.join(", ") }
        )?;
        for InputElement { port, elements, element, words } in &self.inputs {
            match words.is_empty() {
                true => writeln!(f, "  reads `{port}`, which is empty")?,
                false => writeln!(f, "  reads `{port}`[{element}] = {} (of {elements})", Words(words))?,
            }
        }
        Ok(())
    }
}

/// Words as numbers, in both bases.
struct Words<'w>(&'w [u32]);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, word) in self.0.iter().enumerate() {
            write!(f, "{}{word} ({word:#x})", if index > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

/// Runs a program on `backend` and by its references, and compares.
///
/// # Errors
///
/// The first [`Difference`], or the error of the run that stopped.
pub fn verify(
    program: &Program,
    backend: &mut dyn Backend,
    inputs: &[(&str, &[u8])],
) -> Result<Agreement, VerifyError> {
    let options = Options { poison: true, alone: true, ..Options::default() };
    let mut reference = ReferenceBackend::new();
    let expected =
        Driver::new(program, &mut reference, inputs, options).map_err(stopped("the references"))?;
    let name = backend.name();
    let found = Driver::new(program, backend, inputs, options).map_err(stopped(&name))?;
    let exact = Exact::new(program);
    Verifier { program, name, expected, found, exact, agreement: Agreement::default() }.run()
}

fn stopped(backend: &str) -> impl Fn(RunError) -> VerifyError + '_ {
    move |error| VerifyError::Run { backend: backend.to_owned(), error: Box::new(error) }
}

struct Verifier<'r> {
    program: &'r Program,
    name: String,
    expected: Driver<'r>,
    found: Driver<'r>,
    exact: Exact,
    agreement: Agreement,
}

impl Verifier<'_> {
    fn run(mut self) -> Result<Agreement, VerifyError> {
        let mut order = self.program.plan.order.iter().copied().enumerate().peekable();
        for segment in 0..self.program.graph.segments {
            self.both(|driver| driver.begin_segment(segment))?;
            while let Some((position, id)) =
                order.next_if(|&(_, id)| self.program.node(id).segment == segment)
            {
                self.both(|driver| driver.run_node(position, id))?;
                self.compare_node(id)?;
            }
            if segment + 1 < self.program.graph.segments {
                self.both(|driver| driver.end_segment(segment))?;
            }
        }
        let Verifier { name, expected, found, agreement, .. } = self;
        expected.finish().map_err(stopped("the references"))?;
        found.finish().map_err(stopped(&name))?;
        Ok(agreement)
    }

    fn both(
        &mut self,
        mut act: impl FnMut(&mut Driver<'_>) -> Result<(), RunError>,
    ) -> Result<(), VerifyError> {
        act(&mut self.expected).map_err(stopped("the references"))?;
        act(&mut self.found).map_err(stopped(&self.name))
    }

    fn compare_node(&mut self, id: NodeId) -> Result<(), VerifyError> {
        let learned = self.exact.learn(self.program, &mut *self.expected.backend, id);
        learned.map_err(stopped("the references"))?;
        self.agreement.nodes += 1;
        for binding in &self.program.node(id).bindings {
            if let Some(value) = binding.after {
                self.compare_port(id, binding, value)?;
            }
        }
        Ok(())
    }

    fn compare_port(&mut self, id: NodeId, binding: &Binding, value: ValueId) -> Result<(), VerifyError> {
        let region = self.exact.part(self.program, value, &binding.at, &binding.len);
        let region = region.map_err(stopped("the references"))?;
        let expected =
            self.expected.backend.read(self.program, &[region]).map_err(stopped("the references"))?;
        let found = self.found.backend.read(self.program, &[region]).map_err(stopped(&self.name))?;
        let layout = self.program.graph.values[value.0 as usize].element.layout;
        let stride = layout.stride_bytes() as usize;
        let (expected, found) = (expected.bytes(0), found.bytes(0));
        let elements = (expected.len() / stride) as u64;
        self.agreement.ports += 1;
        self.agreement.elements += elements;
        if expected == found {
            return Ok(());
        }
        let pairs = expected.chunks_exact(stride).zip(found.chunks_exact(stride));
        let differing = pairs.enumerate().filter(|(_, (expected, found))| expected != found);
        let mut differing =
            differing.map(|(index, (expected, found))| (index as u64, words(expected), words(found)));
        let Some((index, expected, found)) = differing.next() else { return Ok(()) };
        let differing = 1 + differing.count() as u64;
        let first = self.program.most(&binding.at, &self.exact.sizes, String::new).unwrap_or(0);
        let element = first + index;
        let node = self.program.node(id);
        Err(VerifyError::Differs(Box::new(Difference {
            node: node.name.clone(),
            pass: node.pass.name().to_owned(),
            port: node.pass.file.ports[binding.port].0.value.clone(),
            element,
            differing,
            elements,
            expected,
            found,
            numbers: self.numbers(id).map_err(stopped("the references"))?,
            inputs: self.inputs(id, element).map_err(stopped("the references"))?,
        })))
    }

    fn numbers(&self, id: NodeId) -> Result<Vec<(String, u64)>, RunError> {
        let dispatch = self.program.dispatch(id, &self.exact.sizes)?;
        Ok(dispatch.numbers.iter().map(|&(name, number)| (name.to_owned(), number)).collect())
    }

    fn inputs(&mut self, id: NodeId, element: u64) -> Result<Vec<InputElement>, RunError> {
        let program = self.program;
        let node = program.node(id);
        let mut inputs = Vec::new();
        for binding in &node.bindings {
            // What the node has updated in place is gone.
            let (Some(value), None) = (binding.before, binding.after) else { continue };
            let stride = program.graph.values[value.0 as usize].element.layout.stride_bytes();
            let region = program.region(value, &self.exact.sizes)?;
            let elements = region.size_bytes / stride;
            let element = if element < elements { element } else { 0 };
            let offset_bytes = region.offset_bytes + element * stride;
            let size_bytes = stride.min(region.size_bytes);
            let read =
                self.expected.backend.read(program, &[Region { offset_bytes, size_bytes, ..region }])?;
            let port = node.pass.file.ports[binding.port].0.value.clone();
            inputs.push(InputElement { port, elements, element, words: words(read.bytes(0)) });
        }
        Ok(inputs)
    }
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
}
