//! The keys of pass, graph and type files, as tables: what decoding accepts and what the JSON Schemas say is the same.
//!
//! The tables say which keys there are and what stands under them; how a value is read is the decoder's business.

/// A mapping with fixed keys.
#[derive(Debug)]
pub struct Object {
    /// What it is, with its article: `a port`.
    pub noun: &'static str,
    /// Its keys.
    pub fields: &'static [Field],
    /// Groups of keys of which exactly one group must be there, complete. Empty if there is no such choice.
    pub choice: &'static [&'static [&'static str]],
}

impl Object {
    /// The names of its keys.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|field| field.key)
    }
}

/// A key of an [`Object`].
#[derive(Debug)]
pub struct Field {
    /// The key.
    pub key: &'static str,
    /// Whether it must be there.
    pub required: bool,
    /// What stands under it.
    pub shape: Shape,
    /// What it means, for editors.
    pub doc: &'static str,
}

/// What stands under a key.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Words for people.
    Text,
    /// `true` or `false`.
    Flag,
    /// A name with lowercase letters.
    Identifier,
    /// The name of a number.
    Symbol,
    /// A name in a flat graph: identifiers joined by `/`.
    Path,
    /// The name of a pass, graph or shader file.
    FileName,
    /// A layout, a declared type or a generic.
    ElementType,
    /// A layout.
    Layout,
    /// An expression.
    Expression,
    /// A number that fits 32 bits.
    Word,
    /// Two expressions and `<=`, `<` or `==` between them.
    Relation,
    /// `node.port`, a name, or `{value: EXPR}`.
    Producer,
    /// `node.port`.
    Port,
    /// `node.port` or `node.port[k]`.
    PortElement,
    /// `node.port` or a name.
    Result,
    /// `{unit: word, 1: text, ...}`.
    Codes,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A list.
    List(&'static Shape),
    /// A mapping with free keys of the first shape.
    Map(&'static Shape, &'static Shape),
    /// A mapping with fixed keys.
    Object(&'static Object),
}

/// The spellings of access modes.
pub const ACCESS: &[&str] = &["read", "write", "update", "accumulate"];

/// The spellings of layouts.
pub const LAYOUTS: &[&str] =
    &["u32", "i32", "f32", "vec2<u32>", "vec2<i32>", "vec2<f32>", "vec4<u32>", "vec4<i32>", "vec4<f32>"];

const fn required(key: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field { key, required: true, shape, doc }
}

const fn optional(key: &'static str, shape: Shape, doc: &'static str) -> Field {
    Field { key, required: false, shape, doc }
}

const SYMBOLS: Shape = Shape::Map(&Shape::Symbol, &Shape::Text);
const TYPES: Shape = Shape::Map(&Shape::Identifier, &Shape::Object(&TYPE));
const GENERICS: Shape = Shape::Map(&Shape::Identifier, &Shape::Layout);
const OVERRIDES: Shape = Shape::Map(&Shape::Symbol, &Shape::Word);
const TYPES_DOC: &str = "Element types declared here: name, layout and meaning.";

/// A `types.yaml` file.
pub static TYPES_FILE: Object =
    Object { noun: "a types file", fields: &[required("types", TYPES, TYPES_DOC)], choice: &[] };

/// A declared element type.
pub static TYPE: Object = Object {
    noun: "a type",
    fields: &[
        required("layout", Shape::Layout, "The memory layout of one element."),
        required("doc", Shape::Text, "What an element means."),
    ],
    choice: &[],
};

/// A pass file.
pub static PASS: Object = Object {
    noun: "a pass",
    fields: &[
        required("pass", Shape::FileName, "Its name: its path below its root, without .yaml."),
        required("doc", Shape::Text, "What it does, in one or two sentences."),
        optional("shader", Shape::List(&Shape::FileName), "WGSL files, joined in this order."),
        optional("entry", Shape::Identifier, "The entry point."),
        optional("host", Shape::Identifier, "A function of the host, instead of a shader."),
        optional("types", TYPES, TYPES_DOC),
        optional("symbols", SYMBOLS, "Numbers the pass is generic in, each with its meaning."),
        optional("generics", GENERICS, "Element types the pass is generic in, each with its layout."),
        optional(
            "params",
            Shape::List(&Shape::Symbol),
            "Symbols the kernel takes as immediates: the members of its var<immediate> struct, in this order.",
        ),
        optional("overrides", OVERRIDES, "Pipeline constants and their defaults."),
        required(
            "ports",
            Shape::Map(&Shape::Identifier, &Shape::Object(&PORT)),
            "Buffers, each named as its WGSL variable.",
        ),
        optional("grid", Shape::Object(&GRID), "The size of the dispatch."),
        optional("steps", Shape::Expression, "Number of dispatches of one node; `step` counts them from 0."),
        optional("traffic", Shape::Object(&TRAFFIC), "Bytes moved, for reports."),
    ],
    choice: &[&["shader", "entry"], &["host"]],
};

/// A port of a pass.
pub static PORT: Object = Object {
    noun: "a port",
    fields: &[
        required("type", Shape::ElementType, "Element type: a layout, a declared type or a generic."),
        required("len", Shape::Expression, "Number of elements the kernel defines or may read."),
        required(
            "access",
            Shape::OneOf(ACCESS),
            "read; write defines every element; update yields the next version of a value in place; accumulate uses \
             commutative atomics.",
        ),
        optional(
            "at",
            Shape::Expression,
            "First element defined by a write port whose value is joined from parts.",
        ),
        optional("carries", Shape::Symbol, "The symbol whose number this one-element port holds."),
        optional(
            "codes",
            Shape::Codes,
            "For a status word: the unit of its position, and the text of each code.",
        ),
        optional("doc", Shape::Text, "What it holds, in one sentence."),
    ],
    choice: &[],
};

/// The size of a dispatch.
pub static GRID: Object = Object {
    noun: "a grid",
    fields: &[
        optional("threads", Shape::Expression, "Invocations, rounded up to whole workgroups."),
        optional("groups", Shape::Expression, "Workgroups."),
    ],
    choice: &[&["threads"], &["groups"]],
};

/// Declared traffic.
pub static TRAFFIC: Object = Object {
    noun: "a traffic declaration",
    fields: &[
        required("read", Shape::Expression, "Bytes read."),
        required("write", Shape::Expression, "Bytes written."),
    ],
    choice: &[],
};

/// A graph file or an overlay.
pub static GRAPH: Object = Object {
    noun: "a graph",
    fields: &[
        optional("graph", Shape::FileName, "Its name: its path below its root, without .yaml."),
        optional("overlay", Shape::FileName, "The same for a fragment that is only used under `with`."),
        required("doc", Shape::Text, "What it is, in one or two sentences."),
        optional("extends", Shape::FileName, "The graph it starts from."),
        optional("with", Shape::List(&Shape::FileName), "Overlays applied to that, in order."),
        optional("remove", Shape::List(&Shape::Path), "Names that are gone."),
        optional("replace", Shape::List(&Shape::Path), "Names that are defined anew here."),
        optional(
            "rewire",
            Shape::Map(&Shape::Path, &Shape::Map(&Shape::Identifier, &Shape::Producer)),
            "Changed inputs of nodes that stay.",
        ),
        optional("symbols", SYMBOLS, "Numbers given by the caller, each with its meaning."),
        optional("let", Shape::Map(&Shape::Symbol, &Shape::Expression), "Derived numbers."),
        optional(
            "require",
            Shape::List(&Shape::Object(&REQUIREMENT)),
            "Bounds, checked before anything runs.",
        ),
        optional("types", TYPES, TYPES_DOC),
        optional("generics", GENERICS, "Element types the graph is generic in, each with its layout."),
        optional("inputs", Shape::Map(&Shape::Path, &Shape::Object(&INPUT)), "Values given by the caller."),
        optional(
            "nodes",
            Shape::Map(&Shape::Path, &Shape::Object(&NODE)),
            "Passes and graphs, placed and wired.",
        ),
        optional("joins", Shape::Map(&Shape::Path, &Shape::Object(&JOIN)), "Values made of disjoint parts."),
        optional("counts", Shape::Map(&Shape::Path, &Shape::Object(&COUNT)), "Numbers that passes compute."),
        optional(
            "checks",
            Shape::Map(&Shape::Path, &Shape::Object(&CHECK)),
            "Status words that stop the run.",
        ),
        optional("outputs", Shape::Map(&Shape::Identifier, &Shape::Object(&OUTPUT)), "Results."),
    ],
    choice: &[&["graph"], &["overlay"]],
};

/// A bound.
pub static REQUIREMENT: Object = Object {
    noun: "a bound",
    fields: &[
        required("that", Shape::Relation, "Two expressions with <=, < or == between them."),
        required("why", Shape::Text, "Why it must hold, for the error message."),
    ],
    choice: &[],
};

/// An input of a graph.
pub static INPUT: Object = Object {
    noun: "an input",
    fields: &[
        required("type", Shape::ElementType, "Element type: a layout, a declared type or a generic."),
        required("len", Shape::Expression, "Number of elements."),
        optional("doc", Shape::Text, "What it holds, in one sentence."),
    ],
    choice: &[],
};

/// A node of a graph.
pub static NODE: Object = Object {
    noun: "a node",
    fields: &[
        optional("pass", Shape::FileName, "The pass it places."),
        optional("use", Shape::FileName, "The graph it places."),
        optional(
            "bind",
            Shape::Map(&Shape::Symbol, &Shape::Expression),
            "Symbols of the pass or graph; those left out take the number of the same name.",
        ),
        optional("in", Shape::Map(&Shape::Identifier, &Shape::Producer), "Producers of its input ports."),
        optional(
            "as",
            Shape::Map(&Shape::Identifier, &Shape::ElementType),
            "Generics that only outputs mention.",
        ),
        optional("overrides", OVERRIDES, "Pipeline constants other than their defaults."),
        optional(
            "stage",
            Shape::Identifier,
            "The stage that reports count it in; of a graph, for all nodes without one.",
        ),
        optional("doc", Shape::Text, "What it is here for, in one sentence."),
    ],
    choice: &[&["pass"], &["use"]],
};

/// A joined value.
pub static JOIN: Object = Object {
    noun: "a join",
    fields: &[
        required("parts", Shape::List(&Shape::Port), "The ports that write the parts."),
        required("len", Shape::Expression, "Number of elements of the whole."),
    ],
    choice: &[],
};

/// A number that a pass computes.
pub static COUNT: Object = Object {
    noun: "a count",
    fields: &[
        required("from", Shape::PortElement, "The port that holds it."),
        required("max", Shape::Expression, "What it can be at most."),
        optional("await", Shape::Flag, "Whether the host waits for it; false by default."),
    ],
    choice: &[],
};

/// A status word that stops the run.
pub static CHECK: Object = Object {
    noun: "a check",
    fields: &[
        required("from", Shape::Port, "The port that holds it."),
        optional("await", Shape::Flag, "Whether the host waits for it; false by default."),
    ],
    choice: &[],
};

/// A result of a graph.
pub static OUTPUT: Object = Object {
    noun: "an output",
    fields: &[
        required("from", Shape::Result, "Where it comes from."),
        optional("len", Shape::Expression, "Number of elements handed out; all by default."),
        optional("doc", Shape::Text, "What it holds, in one sentence."),
    ],
    choice: &[],
};

/// `{value: EXPR}`: a producer that is a number.
pub static VALUE: Object = Object {
    noun: "a value",
    fields: &[required("value", Shape::Expression, "One u32 that the host uploads.")],
    choice: &[],
};
