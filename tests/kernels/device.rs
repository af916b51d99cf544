//! Runs small graphs on the one device of this process and by the references.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use weft::graph::model::Graph;
use weft::graph::source::Library;
use weft::run::{Backend, GpuBackend, Options, Program, ReferenceBackend, VerifyError, run, verify};

use crate::support::{gpu, words};

/// Both backends, and the graphs of this folder that were loaded.
pub struct Bench {
    device: GpuBackend,
    reference: ReferenceBackend,
    graphs: HashMap<String, Arc<Graph>>,
}

fn borrowed<'a>(inputs: &'a [(&'a str, Vec<u8>)]) -> Vec<(&'a str, &'a [u8])> {
    inputs.iter().map(|(name, bytes)| (*name, &bytes[..])).collect()
}

impl Bench {
    pub fn new() -> Bench {
        Bench { device: GpuBackend::new(gpu()), reference: ReferenceBackend::new(), graphs: HashMap::new() }
    }

    /// The outputs of a graph, once every port of every node is the same on the device and by reference.
    pub fn run(
        &mut self,
        graph: &str,
        symbols: &[(&str, u64)],
        inputs: &[(&str, Vec<u8>)],
    ) -> BTreeMap<String, Vec<u32>> {
        let program = self.program(graph, symbols);
        let inputs = borrowed(inputs);
        if let Err(error) = verify(&program, &mut self.device, &inputs) {
            panic!("{graph} with {symbols:?}: {error}");
        }
        outputs(&program, &mut self.reference, &inputs)
    }

    /// The outputs of a graph on the device, for passes without a reference.
    pub fn run_on_device(
        &mut self,
        graph: &str,
        symbols: &[(&str, u64)],
        inputs: &[(&str, Vec<u8>)],
    ) -> BTreeMap<String, Vec<u32>> {
        let program = self.program(graph, symbols);
        let inputs = borrowed(inputs);
        outputs(&program, &mut self.device, &inputs)
    }

    /// What a run that has to stop says, on the device and by reference. Every port is the same on both all the same.
    pub fn refuse(
        &mut self,
        graph: &str,
        symbols: &[(&str, u64)],
        inputs: &[(&str, Vec<u8>)],
    ) -> [String; 2] {
        let program = self.program(graph, symbols);
        let inputs = borrowed(inputs);
        let stopped = verify(&program, &mut self.device, &inputs);
        assert!(matches!(stopped, Err(VerifyError::Run { .. })), "{graph} with {symbols:?}: {stopped:?}");
        let backends: [&mut dyn Backend; 2] = [&mut self.device, &mut self.reference];
        backends.map(|backend| {
            let outcome = run(&program, backend, &inputs, Options::default());
            outcome.map(|_| ()).expect_err("a run that stops").to_string()
        })
    }

    /// A graph of this folder, or a shipped one.
    fn program(&mut self, graph: &str, symbols: &[(&str, u64)]) -> Program {
        let graph = self.graphs.entry(graph.to_owned()).or_insert_with(|| {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
            let path = folder.join(graph).to_str().expect("a plain path").to_owned();
            let library = Library::new(Vec::new(), Vec::new());
            let argument = if graph.ends_with(".yaml") { &path } else { graph };
            Arc::new(Graph::load(library, argument).expect("a graph"))
        });
        let symbols = symbols.iter().map(|(name, number)| ((*name).to_owned(), *number)).collect();
        Program::new(Arc::clone(graph), &symbols, &gpu().plan_options()).expect("a plan")
    }
}

fn outputs(
    program: &Program,
    backend: &mut dyn Backend,
    inputs: &[(&str, &[u8])],
) -> BTreeMap<String, Vec<u32>> {
    let outcome = run(program, backend, inputs, Options::default()).expect("a run");
    outcome.outputs().map(|output| (output.name.to_owned(), words(output.bytes))).collect()
}
