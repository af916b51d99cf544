//! What pass and graph files say, decoded but not yet connected: one struct a document, every name and number with
//! the place it was written at.

use std::fmt;

use super::expr::Expr;

/// A file known to a [`SourceMap`](super::source::SourceMap).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A range of bytes in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A value and where it was written.
#[derive(Clone, Debug)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

/// A mapping in file order. Duplicate keys were reported when it was decoded.
pub type Named<T> = Vec<(Spanned<String>, T)>;

/// The scalar of a memory layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scalar {
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 32-bit integer.
    I32,
    /// 32-bit float.
    F32,
}

/// The memory layout of one element: one, two or four scalars of 4 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// What each lane holds.
    pub scalar: Scalar,
    /// 1, 2 or 4.
    pub lanes: u8,
}

impl Layout {
    /// Bytes from one element of an array to the next.
    pub fn stride_bytes(self) -> u64 {
        4 * u64::from(self.lanes)
    }
}

/// As files write it: `u32`, `vec4<f32>`.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scalar = match self.scalar {
            Scalar::U32 => "u32",
            Scalar::I32 => "i32",
            Scalar::F32 => "f32",
        };
        match self.lanes {
            1 => f.write_str(scalar),
            lanes => write!(f, "vec{lanes}<{scalar}>"),
        }
    }
}

/// A declared element type.
#[derive(Clone, Debug)]
pub struct TypeDecl {
    /// Its memory layout.
    pub layout: Spanned<Layout>,
    /// What an element means.
    pub doc: String,
}

/// How a pass uses a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reads a value.
    Read,
    /// Defines every element; what was there before is undefined and not read.
    Write,
    /// Takes a value and yields its next version in place.
    Update,
    /// Commutative atomics on a value that others may accumulate into at the same time.
    Accumulate,
}

/// The meanings of a status word's codes.
#[derive(Clone, Debug)]
pub struct Codes {
    /// What the position counts: "block", "record", ...
    pub unit: String,
    /// Code (1 ..= 126) and text.
    pub texts: Vec<(u32, String)>,
}

/// A buffer slot of a pass.
#[derive(Clone, Debug)]
pub struct Port {
    /// Element type: a layout, a declared type or a generic.
    pub element: Spanned<String>,
    /// Number of elements defined or read.
    pub len: Spanned<Expr>,
    /// First element defined, for `write` ports whose value is joined from parts.
    pub at: Option<Spanned<Expr>>,
    /// How it is used.
    pub access: Spanned<Access>,
    /// The symbol whose number this one-element port holds.
    pub carries: Option<Spanned<String>>,
    /// Set for a status word.
    pub codes: Option<Codes>,
    /// One sentence, may be empty.
    pub doc: String,
}

/// What a pass runs.
#[derive(Clone, Debug)]
pub enum Kernel {
    /// WGSL files joined in order, and the entry point.
    Shader {
        /// File names as written.
        files: Vec<Spanned<String>>,
        /// Entry point.
        entry: Spanned<String>,
    },
    /// A function of the host, by its registered name.
    Host(Spanned<String>),
}

/// The size of a dispatch.
#[derive(Clone, Debug)]
pub enum Grid {
    /// So many invocations, rounded up to whole workgroups.
    Threads(Spanned<Expr>),
    /// So many workgroups.
    Groups(Spanned<Expr>),
}

/// Bytes a pass moves, for reports.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// Bytes read.
    pub read: Spanned<Expr>,
    /// Bytes written.
    pub write: Spanned<Expr>,
}

/// A pass file.
#[derive(Clone, Debug)]
pub struct PassFile {
    /// Its name.
    pub name: Spanned<String>,
    /// What it does.
    pub doc: String,
    /// What it runs.
    pub kernel: Kernel,
    /// Types it declares.
    pub types: Named<TypeDecl>,
    /// Numbers it is generic in, with their meanings.
    pub symbols: Named<String>,
    /// Element types it is generic in.
    pub generics: Named<Spanned<Layout>>,
    /// Symbols handed over as immediates, in order.
    pub params: Vec<Spanned<String>>,
    /// Pipeline constants and their defaults.
    pub overrides: Named<Spanned<u32>>,
    /// Buffers.
    pub ports: Named<Port>,
    /// Dispatch size; none for a host pass.
    pub grid: Option<Grid>,
    /// Number of dispatches of one node; one if absent.
    pub steps: Option<Spanned<Expr>>,
    /// Declared traffic.
    pub traffic: Option<Traffic>,
    /// Names whose declarations had errors: nothing more is to be said about them.
    pub damaged: Vec<String>,
}

/// Where a node's input comes from.
#[derive(Clone, Debug)]
pub enum Producer {
    /// `node.port`: the value a node yields there.
    Port {
        /// Node (or used graph).
        node: Spanned<String>,
        /// Its port (or output).
        port: Spanned<String>,
    },
    /// An input or a join, by name.
    Name(Spanned<String>),
    /// A one-element `u32` the host uploads.
    Value(Spanned<Expr>),
}

/// What a node places.
#[derive(Clone, Debug)]
pub enum Placed {
    /// A pass.
    Pass(Spanned<String>),
    /// A graph.
    Use(Spanned<String>),
}

/// A node of a graph file.
#[derive(Clone, Debug)]
pub struct NodeDecl {
    /// The pass or graph.
    pub placed: Placed,
    /// Symbols of the pass or graph.
    pub bind: Named<Spanned<Expr>>,
    /// Producers, by port.
    pub inputs: Named<Spanned<Producer>>,
    /// Generics, by name.
    pub generics: Named<Spanned<String>>,
    /// Pipeline constants other than their defaults.
    pub overrides: Named<Spanned<u32>>,
    /// The stage that reports count it in.
    pub stage: Option<Spanned<String>>,
    /// One sentence, may be empty.
    pub doc: String,
}

/// An input of a graph.
#[derive(Clone, Debug)]
pub struct InputDecl {
    /// Element type.
    pub element: Spanned<String>,
    /// Number of elements.
    pub len: Spanned<Expr>,
    /// One sentence, may be empty.
    pub doc: String,
}

/// A value made of disjoint parts by several nodes.
#[derive(Clone, Debug)]
pub struct JoinDecl {
    /// The ports that write the parts.
    pub parts: Vec<Spanned<Producer>>,
    /// Number of elements of the whole.
    pub len: Spanned<Expr>,
}

/// A number that a pass computes.
#[derive(Clone, Debug)]
pub struct CountDecl {
    /// The port that holds it.
    pub from: Spanned<Producer>,
    /// Which element of that port.
    pub element: u32,
    /// What it can be at most; memory is planned for this.
    pub max: Spanned<Expr>,
    /// Whether the host waits for it.
    pub awaited: bool,
}

/// A status word that stops the run.
#[derive(Clone, Debug)]
pub struct CheckDecl {
    /// The port that holds it; its pass gives the codes.
    pub from: Spanned<Producer>,
    /// Whether the host waits for it.
    pub awaited: bool,
}

/// A result of a graph.
#[derive(Clone, Debug)]
pub struct OutputDecl {
    /// Where it comes from.
    pub from: Spanned<Producer>,
    /// Elements to hand out; all of the value if absent.
    pub len: Option<Spanned<Expr>>,
    /// One sentence, may be empty.
    pub doc: String,
}

/// How the two sides of a bound compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `<=`
    AtMost,
    /// `<`
    Below,
    /// `==`
    Equal,
}

/// A bound on symbols, checked before anything runs.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// The whole text, for messages.
    pub text: Spanned<String>,
    /// Left side.
    pub left: Expr,
    /// Relation.
    pub relation: Relation,
    /// Right side.
    pub right: Expr,
    /// Why it holds.
    pub why: String,
}

/// A graph file or an overlay.
#[derive(Clone, Debug)]
pub struct GraphFile {
    /// Its name.
    pub name: Spanned<String>,
    /// Whether it is a fragment for `with`.
    pub overlay: bool,
    /// What it is.
    pub doc: String,
    /// The graph it starts from.
    pub extends: Option<Spanned<String>>,
    /// Overlays applied to that, in order.
    pub with: Vec<Spanned<String>>,
    /// Names that are gone.
    pub remove: Vec<Spanned<String>>,
    /// Names defined anew below.
    pub replace: Vec<Spanned<String>>,
    /// Changed inputs of nodes that stay: node, then port.
    pub rewire: Named<Named<Spanned<Producer>>>,
    /// Numbers given by the caller, with their meanings.
    pub symbols: Named<String>,
    /// Derived numbers.
    pub lets: Named<Spanned<Expr>>,
    /// Bounds.
    pub require: Vec<Requirement>,
    /// Types it declares.
    pub types: Named<TypeDecl>,
    /// Element types it is generic in.
    pub generics: Named<Spanned<Layout>>,
    /// Inputs.
    pub inputs: Named<InputDecl>,
    /// Nodes.
    pub nodes: Named<NodeDecl>,
    /// Joined values.
    pub joins: Named<JoinDecl>,
    /// Computed numbers.
    pub counts: Named<CountDecl>,
    /// Status words.
    pub checks: Named<CheckDecl>,
    /// Results.
    pub outputs: Named<OutputDecl>,
    /// Names whose declarations had errors, and which may therefore be missing above: nothing more is to be said about
    /// them, or about others because of them.
    pub damaged: Vec<String>,
}
