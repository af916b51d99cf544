//! Random valid graphs resolve; with one mistake put in, the mistake is reported where it was put.

use std::fmt::Write;
use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use proptest::prelude::*;
use weft::graph::diagnostic::Diagnostics;
use weft::graph::load::{Loader, Shaders};
use weft::graph::model::Graph;
use weft::graph::resolve::resolve_argument;
use weft::graph::source::Library;

const TYPES: [&str; 3] = ["apple", "berry", "cherry"];

/// Lengths that differ from one another, each in two spellings.
const LENGTHS: [[&str; 2]; 5] = [
    ["a", "0 + a"],
    ["b", "max(b, b)"],
    ["a + b", "b + a"],
    ["ceil_div(a, 32)", "ceil_div(31 + a - 31, 2^5)"],
    ["2 * b + 1", "b + 1 + b"],
];

/// Numbers to decide by, used up one after another.
struct Choices<'c> {
    numbers: &'c [u32],
    next: usize,
}

impl Choices<'_> {
    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        let number = self.numbers.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        number as usize % bound
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Shape {
    element: usize,
    len: usize,
}

/// A value that nodes may read.
struct Made {
    node: usize,
    /// `node.port`
    name: String,
    shape: Shape,
    /// Whether a node updates it, after which nobody else may be wired to it.
    updated: bool,
    reads: usize,
}

struct Wire {
    port: String,
    from: String,
    /// Index of the node that makes it.
    maker: usize,
    shape: Shape,
    update: bool,
}

struct Node {
    wires: Vec<Wire>,
    outputs: Vec<Shape>,
}

/// A graph as lines of YAML, with what mutations need to know.
struct Generated {
    nodes: Vec<Node>,
    outputs: Vec<String>,
    passes: Vec<String>,
}

/// Builds a graph of up to a dozen nodes. Each has a pass of its own.
fn generate(numbers: &[u32]) -> Generated {
    let mut choices = Choices { numbers, next: 0 };
    let count = 3 + choices.below(9);
    let mut made: Vec<Made> = Vec::new();
    let mut generated = Generated { nodes: Vec::new(), outputs: Vec::new(), passes: Vec::new() };
    for node in 0..count {
        let mut wires: Vec<Wire> = Vec::new();
        for port in 0..if node == 0 { 0 } else { 1 + choices.below(3) } {
            let free: Vec<usize> = (0..made.len()).filter(|v| !made[*v].updated).collect();
            if free.is_empty() {
                break;
            }
            let value = &mut made[free[choices.below(free.len())]];
            let own = wires.iter().any(|wire| wire.from == value.name);
            let update = value.reads == 0 && !own && choices.below(3) == 0;
            value.updated |= update;
            value.reads += 1;
            let (from, maker, shape) = (value.name.clone(), value.node, value.shape);
            wires.push(Wire { port: format!("i{port}"), from, maker, shape, update });
        }
        let outputs: Vec<Shape> = (0..1 + choices.below(2))
            .map(|_| Shape { element: choices.below(TYPES.len()), len: choices.below(LENGTHS.len()) })
            .collect();
        let updated = wires.iter().filter(|wire| wire.update).map(|wire| (wire.port.clone(), wire.shape));
        let written = outputs.iter().enumerate().map(|(port, shape)| (format!("o{port}"), *shape));
        for (port, shape) in updated.chain(written) {
            made.push(Made { node, name: format!("n{node}.{port}"), shape, updated: false, reads: 0 });
        }
        generated.passes.push(pass_text(node, &wires, &outputs));
        generated.nodes.push(Node { wires, outputs });
    }
    generated.outputs =
        made.iter().filter(|value| value.reads == 0).map(|value| value.name.clone()).collect();
    generated
}

fn pass_text(node: usize, wires: &[Wire], outputs: &[Shape]) -> String {
    let mut text = format!("pass: p{node}\ndoc: A pass.\nshader: [p.wgsl]\nentry: main\nsymbols:\n");
    for wire in wires {
        let _ = writeln!(text, "  s{}: a length", wire.port);
    }
    for port in 0..outputs.len() {
        let _ = writeln!(text, "  so{port}: a length");
    }
    text.push_str("ports:\n");
    for wire in wires {
        let access = if wire.update { "update" } else { "read" };
        let (element, port) = (TYPES[wire.shape.element], &wire.port);
        let _ = writeln!(text, "  {port}: {{type: {element}, len: s{port}, access: {access}}}");
    }
    for (port, shape) in outputs.iter().enumerate() {
        let element = TYPES[shape.element];
        let _ = writeln!(text, "  o{port}: {{type: {element}, len: so{port}, access: write}}");
    }
    text.push_str("grid: {groups: 1}\n");
    text
}

/// The graph file as lines, and for each node the lines of its block.
fn lines(generated: &Generated) -> (Vec<String>, Vec<RangeInclusive<usize>>) {
    let mut lines: Vec<String> = ["graph: random", "doc: A test.", "symbols: {a: some, b: others}", "nodes:"]
        .map(str::to_string)
        .to_vec();
    let mut blocks = Vec::new();
    for (index, node) in generated.nodes.iter().enumerate() {
        let first = lines.len() + 1;
        lines.push(format!("  n{index}:"));
        lines.push(format!("    pass: p{index}"));
        lines.push("    bind:".to_string());
        for wire in &node.wires {
            lines.push(format!("      s{}: \"{}\"", wire.port, LENGTHS[wire.shape.len][1]));
        }
        for (port, shape) in node.outputs.iter().enumerate() {
            lines.push(format!("      so{port}: \"{}\"", LENGTHS[shape.len][0]));
        }
        if !node.wires.is_empty() {
            lines.push("    in:".to_string());
        }
        for wire in &node.wires {
            lines.push(format!("      {}: {}", wire.port, wire.from));
        }
        blocks.push(first..=lines.len());
    }
    lines.push("outputs:".to_string());
    for (index, output) in generated.outputs.iter().enumerate() {
        lines.push(format!("  r{index}: {{from: {output}}}"));
    }
    (lines, blocks)
}

/// Resolves lines: the graph, or the lines of the graph file that errors point to, and the text of the errors.
fn resolve_lines(folder: &Path, lines: &[String]) -> Result<Graph, (Vec<usize>, String)> {
    let path = folder.join("graph.yaml");
    fs::write(&path, lines.join("\n")).unwrap();
    let mut diagnostics = Diagnostics::new();
    let library = Library::new(vec![folder.to_path_buf()], Vec::new());
    let mut loader = Loader::new(library, Shaders::Ignore, &mut diagnostics);
    let graph = resolve_argument(&mut loader, path.to_str().unwrap(), &mut diagnostics);
    assert_eq!(graph.is_some(), diagnostics.is_empty());
    graph.ok_or_else(|| {
        let sources = loader.sources();
        let sorted = diagnostics.sorted();
        let labels = sorted.iter().flat_map(|d| d.primary.iter().chain(&d.secondary));
        let here = labels.filter(|label| sources.name(label.span.file).ends_with("graph.yaml"));
        let places = here.map(|label| sources.line_column(label.span.file, label.span.start).0).collect();
        (places, diagnostics.render(sources, false))
    })
}

fn write_passes(folder: &Path, generated: &Generated) {
    let types: Vec<String> =
        TYPES.iter().map(|name| format!("  {name}: {{layout: u32, doc: a type}}")).collect();
    fs::write(folder.join("types.yaml"), format!("types:\n{}\n", types.join("\n"))).unwrap();
    for (index, text) in generated.passes.iter().enumerate() {
        fs::write(folder.join(format!("p{index}.yaml")), text).unwrap();
    }
}

/// Every wire: the node it belongs to, its index there and its line, from 1.
fn wires(
    generated: &Generated,
    lines: &[String],
    blocks: &[RangeInclusive<usize>],
) -> Vec<(usize, usize, usize)> {
    let mut wires = Vec::new();
    for (index, node) in generated.nodes.iter().enumerate() {
        for (wire, decl) in node.wires.iter().enumerate() {
            let text = format!("      {}: {}", decl.port, decl.from);
            let line = blocks[index].clone().find(|line| lines[line - 1] == text).unwrap();
            wires.push((index, wire, line));
        }
    }
    wires
}

/// A mistake: the changed lines, and the lines one of which an error has to point to.
type Mutation = (&'static str, Vec<String>, RangeInclusive<usize>);

/// One mistake of each kind for which the graph has a place.
fn mutations(generated: &Generated, choices: &mut Choices<'_>) -> Vec<Mutation> {
    let (lines, blocks) = lines(generated);
    let wires = wires(generated, &lines, &blocks);
    let mut mutations: Vec<Mutation> = Vec::new();
    if wires.is_empty() {
        return mutations;
    }
    let change = |line: usize, text: String| {
        let mut changed = lines.clone();
        changed[line - 1] = text;
        changed
    };
    let (node, wire, line) = wires[choices.below(wires.len())];
    let decl = &generated.nodes[node].wires[wire];

    let mut dropped = lines.clone();
    if generated.nodes[node].wires.len() == 1 {
        dropped[line - 2] = "    in: {}".to_string();
    }
    dropped.remove(line - 1);
    mutations.push(("an input dropped", dropped, blocks[node].clone()));

    let misspelt = format!("      {}: x{}", decl.port, decl.from);
    mutations.push(("a name misspelt", change(line, misspelt), line..=line));

    let other = (decl.shape.len + 1 + choices.below(LENGTHS.len() - 1)) % LENGTHS.len();
    let bind =
        blocks[node].clone().find(|l| lines[l - 1].starts_with(&format!("      s{}:", decl.port))).unwrap();
    let shorter = format!("      s{}: \"{}\"", decl.port, LENGTHS[other][0]);
    mutations.push(("another length", change(bind, shorter), blocks[node].clone()));

    let swapped = wires.iter().find(|(n, w, _)| {
        let other = &generated.nodes[*n].wires[*w];
        // An older value, so that the swap closes no circle instead.
        other.shape.element != decl.shape.element && other.maker < node && decl.maker < *n
    });
    if let Some(&(other_node, other_wire, other_line)) = swapped {
        let other = &generated.nodes[other_node].wires[other_wire];
        let mut changed = change(line, format!("      {}: {}", decl.port, other.from));
        changed[other_line - 1] = format!("      {}: {}", other.port, decl.from);
        mutations.push(("two types swapped", changed.clone(), line..=line));
        mutations.push(("two types swapped, the other", changed, other_line..=other_line));
    }

    if let Some(&(updater, wire, _)) = wires.iter().find(|(n, w, _)| generated.nodes[*n].wires[*w].update) {
        let update = &generated.nodes[updater].wires[wire];
        let block: Vec<String> = blocks[updater].clone().map(|l| lines[l - 1].clone()).collect();
        let mut changed = lines.clone();
        let first = *blocks[updater].end() + 1;
        for (offset, text) in block.iter().enumerate() {
            let text = if offset == 0 { "  twin:".to_string() } else { text.clone() };
            changed.insert(first - 1 + offset, text);
        }
        changed.push(format!("  twin: {{from: twin.{}}}", update.port));
        mutations.push(("a writer doubled", changed, *blocks[updater].start()..=first + block.len() - 1));
    }

    let later = wires.iter().filter(|(n, _, _)| *n > node).find(|(n, w, _)| {
        let maker = generated.nodes[*n].wires[*w].maker;
        maker == node && !generated.nodes[*n].outputs.is_empty()
    });
    if let Some(&(follower, _, _)) = later {
        let text = format!("      {}: n{follower}.o0", decl.port);
        mutations.push(("a circle", change(line, text), line..=line));
    }
    mutations
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_graphs_resolve_and_mistakes_are_found(numbers in prop::collection::vec(any::<u32>(), 8..120)) {
        let folder = tempfile::tempdir().unwrap();
        let generated = generate(&numbers);
        write_passes(folder.path(), &generated);
        let (plain, _) = lines(&generated);
        match resolve_lines(folder.path(), &plain) {
            Ok(graph) => {
                prop_assert_eq!(graph.nodes.len(), generated.nodes.len());
                super::check_round_trip(folder.path(), &graph);
            }
            Err((_, text)) => prop_assert!(false, "{}\n{}", plain.join("\n"), text),
        }
        let mut choices = Choices { numbers: &numbers, next: 5 };
        for (kind, changed, expected) in mutations(&generated, &mut choices) {
            match resolve_lines(folder.path(), &changed) {
                Ok(_) => prop_assert!(false, "{} was not found:\n{}", kind, changed.join("\n")),
                Err((places, text)) => prop_assert!(
                    places.iter().any(|line| expected.contains(line)),
                    "{} was not found in lines {:?}:\n{}\n{}", kind, expected, changed.join("\n"), text
                ),
            }
        }
    }
}
