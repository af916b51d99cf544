//! Counts the bytes of a file that equal one byte, by the pass and the graph in `examples/count_bytes`, which docs/guide.md
//! writes step by step. The pass is known to nothing in weft, and has no scalar reference: only a device can run it.
//!
//!     cargo run --release --example count_bytes -- README.md 10

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use weft::format::MappedFile;
use weft::graph::model::Graph;
use weft::graph::source::Library;
use weft::run::{Backend, Gpu, GpuBackend, Options, Program, run};

const GRAPH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/count_bytes/count_bytes.yaml");

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let path =
        arguments.next().ok_or("name a file, and perhaps a byte (0 to 255; 10, a line feed, by default)")?;
    let wanted = arguments.next().map_or(Ok(b'\n'), |number| number.parse())?;

    let content = MappedFile::open(path.as_ref())?;
    let mut backend = GpuBackend::new(Arc::new(Gpu::open(None)?));
    let total = count_bytes(&mut backend, &content, wanted)?;
    println!("{total} of the {} bytes of {path} are {wanted}, says {}", content.len(), backend.name());
    Ok(())
}

/// How many of these bytes are `wanted`.
pub fn count_bytes(backend: &mut dyn Backend, content: &[u8], wanted: u8) -> Result<u32, Box<dyn Error>> {
    let graph = Arc::new(Graph::load(Library::default(), GRAPH)?);
    let symbols = BTreeMap::from([
        ("bytes".to_owned(), content.len() as u64),
        ("wanted".to_owned(), u64::from(wanted)),
    ]);
    let program = Program::new(graph, &symbols, &backend.plan_options())?;
    let outcome = run(&program, backend, &[("content", content)], Options::default())?;
    let total = outcome.output("total").and_then(|bytes| bytes.first_chunk());
    Ok(u32::from_le_bytes(*total.ok_or("the graph has no output `total`")?))
}
