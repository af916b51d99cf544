//! The planner's problem, free of everything that graph files mean: nodes in a DAG, buffers with sizes, who binds what
//! and how, and a device's limits. A [`Problem`] goes in, an [`Arrangement`] comes out.
//!
//! All sizes are bytes. Indices are positions in [`Problem::nodes`] and [`Problem::buffers`].

use thiserror::Error;

/// How a dispatch binds a buffer. WebGPU tracks use per whole buffer and dispatch, so one arena cannot be bound both
/// ways in one dispatch, not even at disjoint ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Bound read-only.
    Read,
    /// Bound read-write.
    Write,
}

/// A buffer that a node uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// Index of the buffer.
    pub buffer: usize,
    /// How it is bound.
    pub mode: Mode,
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its name, for messages.
    pub name: String,
    /// Segments run one after another; all nodes of one come before all nodes of the next.
    pub segment: u32,
    /// Nodes that must run before it: earlier in [`Problem::nodes`], and not of a later segment.
    pub after: Vec<usize>,
    /// What it binds, each buffer once or several times in one mode.
    pub uses: Vec<Use>,
    /// Whether it is a dispatch. Host nodes bind nothing, so any two of their buffers may share an arena.
    pub dispatch: bool,
}

/// A buffer. It is live from the first to the last node that uses it, both included, and as the fields below say.
#[derive(Clone, Debug)]
pub struct Buffer {
    /// Its name, for messages.
    pub name: String,
    /// Bytes, at least 1.
    pub size_bytes: u64,
    /// The host fills it before this segment begins, so it is live from there on.
    pub filled_before: Option<u32>,
    /// The host reads it when this segment has ended, so it is live until there.
    pub read_after: Option<u32>,
    /// It has an arena of its own, and holds its bytes for the whole run.
    pub dedicated: bool,
}

/// What the device allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Offsets of bindings are multiples of this power of two (`min_storage_buffer_offset_alignment`).
    pub offset_alignment_bytes: u64,
    /// Most bytes of one binding (`max_storage_buffer_binding_size`).
    pub max_binding_bytes: u64,
    /// Most bytes of one device buffer, thus of one arena (`max_buffer_size`).
    pub max_buffer_bytes: u64,
}

impl Default for Limits {
    /// The largest alignment that WebGPU has, and no limit of sizes.
    fn default() -> Self {
        Self { offset_alignment_bytes: 256, max_binding_bytes: u64::MAX, max_buffer_bytes: u64::MAX }
    }
}

/// What is to be arranged.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Nodes, in a topological order.
    pub nodes: Vec<Node>,
    /// Buffers.
    pub buffers: Vec<Buffer>,
    /// Limits.
    pub limits: Limits,
    /// Whether dispatches may be widened, which is to bind read-write what they only read.
    pub may_widen: bool,
}

/// Where a buffer lives and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// Index into [`Arrangement::arena_bytes`].
    pub arena: usize,
    /// Offset in it.
    pub offset_bytes: u64,
    /// First position of [`Arrangement::order`] at which it is live.
    pub first: usize,
    /// Last such position.
    pub last: usize,
}

/// A solution: an order, and a place for every buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrangement {
    /// Node indices in the order in which they run.
    pub order: Vec<usize>,
    /// One slot a buffer.
    pub slots: Vec<Slot>,
    /// The size of each arena.
    pub arena_bytes: Vec<u64>,
    /// Nodes that bind everything read-write, sorted.
    pub widened: Vec<usize>,
}

impl Arrangement {
    /// The sum of all arenas.
    pub fn peak_bytes(&self) -> u64 {
        self.arena_bytes.iter().sum()
    }
}

/// Why a problem has no arrangement.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProblemError {
    /// One buffer passes a limit by itself.
    #[error(
        "buffer `{buffer}` needs {size_bytes} bytes, and the device allows at most {limit_bytes} ({limit}); \
         give smaller sizes, or use a device with a larger limit"
    )]
    TooLarge {
        /// The buffer.
        buffer: String,
        /// Its bytes.
        size_bytes: u64,
        /// What the device allows.
        limit_bytes: u64,
        /// The limit's name.
        limit: &'static str,
    },
    /// The sizes do not add up in 64 bits.
    #[error("all buffers together need more than 2^64 bytes; give smaller sizes")]
    TotalTooLarge,
    /// A buffer without bytes cannot be bound.
    #[error("buffer `{buffer}` has no bytes; give it at least one element")]
    Empty {
        /// The buffer.
        buffer: String,
    },
    /// The alignment is not a power of two.
    #[error("the offset alignment is {bytes} bytes; it must be a power of two")]
    Alignment {
        /// The alignment.
        bytes: u64,
    },
    /// A node binds one buffer in both modes.
    #[error(
        "node `{node}` binds buffer `{buffer}` both read-only and read-write; bind a copy, or read what it updates"
    )]
    BothModes {
        /// The node.
        node: String,
        /// The buffer.
        buffer: String,
    },
    /// Dependencies contradict the given order or the segments.
    #[error(
        "node `{node}` (segment {segment}) must run after `{after}` (segment {after_segment}), which stands later"
    )]
    Order {
        /// The node.
        node: String,
        /// Its segment.
        segment: u32,
        /// What it waits for.
        after: String,
        /// The segment of that.
        after_segment: u32,
    },
    /// An index points nowhere.
    #[error("node `{node}` mentions {what} number {index}, which does not exist")]
    Index {
        /// The node.
        node: String,
        /// "node" or "buffer".
        what: &'static str,
        /// The index.
        index: usize,
    },
}

impl Problem {
    /// Checks everything that the planner relies on.
    pub fn check(&self) -> Result<(), ProblemError> {
        if !self.limits.offset_alignment_bytes.is_power_of_two() {
            return Err(ProblemError::Alignment { bytes: self.limits.offset_alignment_bytes });
        }
        let mut total: u64 = 0;
        for buffer in &self.buffers {
            self.check_size(buffer)?;
            let size = self.aligned(buffer.size_bytes).ok_or(ProblemError::TotalTooLarge)?;
            total = total.checked_add(size).ok_or(ProblemError::TotalTooLarge)?;
        }
        self.nodes.iter().enumerate().try_for_each(|(index, node)| self.check_node(index, node))
    }

    fn check_size(&self, buffer: &Buffer) -> Result<(), ProblemError> {
        if buffer.size_bytes == 0 {
            return Err(ProblemError::Empty { buffer: buffer.name.clone() });
        }
        let limits = [
            (buffer.size_bytes, self.limits.max_binding_bytes, "max_storage_buffer_binding_size"),
            (
                self.aligned(buffer.size_bytes).unwrap_or(u64::MAX),
                self.limits.max_buffer_bytes,
                "max_buffer_size",
            ),
        ];
        for (size_bytes, limit_bytes, limit) in limits {
            if size_bytes > limit_bytes {
                return Err(ProblemError::TooLarge {
                    buffer: buffer.name.clone(),
                    size_bytes,
                    limit_bytes,
                    limit,
                });
            }
        }
        Ok(())
    }

    fn check_node(&self, index: usize, node: &Node) -> Result<(), ProblemError> {
        let missing = |what, index| ProblemError::Index { node: node.name.clone(), what, index };
        for &after in &node.after {
            let before = self.nodes.get(after).ok_or_else(|| missing("node", after))?;
            if after >= index || before.segment > node.segment {
                return Err(ProblemError::Order {
                    node: node.name.clone(),
                    segment: node.segment,
                    after: before.name.clone(),
                    after_segment: before.segment,
                });
            }
        }
        for one in &node.uses {
            let buffer = self.buffers.get(one.buffer).ok_or_else(|| missing("buffer", one.buffer))?;
            if node.dispatch
                && node.uses.iter().any(|other| other.buffer == one.buffer && other.mode != one.mode)
            {
                return Err(ProblemError::BothModes { node: node.name.clone(), buffer: buffer.name.clone() });
            }
        }
        Ok(())
    }

    /// A size rounded up to the offset alignment; `None` past 64 bits.
    pub(super) fn aligned(&self, size_bytes: u64) -> Option<u64> {
        size_bytes.checked_next_multiple_of(self.limits.offset_alignment_bytes)
    }
}
