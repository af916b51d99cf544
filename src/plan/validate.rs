//! The independent validator: proves that an arrangement is sound, and computes the lower bound.
//!
//! It shares no code with the planner. It finds lifetimes, conflicts and sums by itself, by the plainest method, in
//! time quadratic in the number of buffers. What it checks: the order runs every node once, after what it waits for,
//! segments in sequence; every buffer lies inside its arena at an aligned offset, within the device's limits, and is
//! recorded as live when it is; no two buffers overlap in space and time; no dispatch binds one arena both ways;
//! dedicated buffers are alone.

use thiserror::Error;

use super::problem::{Arrangement, Mode, Node, Problem};

/// What the validator computes about a sound arrangement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The largest sum of aligned sizes live at one position: no arrangement with this order is smaller.
    pub bound_bytes: u64,
    /// The first position with that sum.
    pub peak_position: usize,
    /// Buffers live there, largest first.
    pub live_at_peak: Vec<usize>,
    /// The sum of the sizes of all arenas.
    pub peak_bytes: u64,
    /// The sum of all aligned sizes: what memory without reuse takes.
    pub naive_bytes: u64,
}

/// One thing that is wrong with an arrangement.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Violation {
    /// The order or the slots do not match the problem.
    #[error("the plan has {found} {what}, and the problem has {expected}")]
    Count {
        /// "nodes in its order" or "slots".
        what: &'static str,
        /// In the plan.
        found: usize,
        /// In the problem.
        expected: usize,
    },
    /// A node is missing from the order, stands in it twice, or does not exist.
    #[error("node number {node} stands {times} times in the order; it must stand there once")]
    NotOnce {
        /// The node.
        node: usize,
        /// How often it occurs.
        times: usize,
    },
    /// A node runs before one it waits for.
    #[error(
        "node `{node}` runs at position {position}, before `{after}` at {after_position}, for which it waits"
    )]
    NotTopological {
        /// The node.
        node: String,
        /// Its position.
        position: usize,
        /// What it waits for.
        after: String,
        /// The position of that.
        after_position: usize,
    },
    /// Segments are interleaved.
    #[error("node `{node}` of segment {segment} runs right after `{before}` of segment {before_segment}")]
    SegmentOrder {
        /// The node.
        node: String,
        /// Its segment.
        segment: u32,
        /// The node before it.
        before: String,
        /// The segment of that.
        before_segment: u32,
    },
    /// The recorded interval does not cover the uses.
    #[error(
        "buffer `{buffer}` is live from position {first} to {last}, and the plan records {recorded_first} to {recorded_last}"
    )]
    Lifetime {
        /// The buffer.
        buffer: String,
        /// First position at which it is live.
        first: usize,
        /// Last such position.
        last: usize,
        /// What the plan says.
        recorded_first: usize,
        /// What the plan says.
        recorded_last: usize,
    },
    /// The arena does not exist.
    #[error("buffer `{buffer}` lies in arena {arena}, and there are {arenas}")]
    NoArena {
        /// The buffer.
        buffer: String,
        /// The arena.
        arena: usize,
        /// Number of arenas.
        arenas: usize,
    },
    /// The buffer ends past its arena.
    #[error(
        "buffer `{buffer}` takes {size_bytes} bytes at {offset_bytes} of arena {arena}, which has {arena_bytes} bytes"
    )]
    OutOfRange {
        /// The buffer.
        buffer: String,
        /// Its bytes.
        size_bytes: u64,
        /// Its offset.
        offset_bytes: u64,
        /// Its arena.
        arena: usize,
        /// The size of that.
        arena_bytes: u64,
    },
    /// The offset is not aligned.
    #[error("buffer `{buffer}` lies at offset {offset_bytes}, which is no multiple of {alignment_bytes}")]
    Misaligned {
        /// The buffer.
        buffer: String,
        /// Its offset.
        offset_bytes: u64,
        /// What offsets must be multiples of.
        alignment_bytes: u64,
    },
    /// A buffer passes the limit of a binding.
    #[error("buffer `{buffer}` has {size_bytes} bytes, and a binding at most {limit_bytes}")]
    BindingTooLarge {
        /// The buffer.
        buffer: String,
        /// Its bytes.
        size_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// An arena passes the limit of a device buffer.
    #[error("arena {arena} has {size_bytes} bytes, and a device buffer at most {limit_bytes}")]
    ArenaTooLarge {
        /// The arena.
        arena: usize,
        /// Its bytes.
        size_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// Two buffers share bytes while both are live.
    #[error(
        "buffers `{one}` (bytes {one_from} to {one_to}) and `{other}` (bytes {other_from} to {other_to}) overlap in \
         arena {arena} while both are live at position {position} (node `{node}`)"
    )]
    Overlap {
        /// A buffer.
        one: String,
        /// Its first byte.
        one_from: u64,
        /// One past its last byte.
        one_to: u64,
        /// Another.
        other: String,
        /// Its first byte.
        other_from: u64,
        /// One past its last byte.
        other_to: u64,
        /// The arena.
        arena: usize,
        /// The first position at which both are live.
        position: usize,
        /// The node there.
        node: String,
    },
    /// A dispatch binds one arena both ways.
    #[error(
        "node `{node}` reads buffer `{read}` and writes buffer `{written}`, and both lie in arena {arena}"
    )]
    ForbiddenPair {
        /// The node.
        node: String,
        /// What it binds read-only.
        read: String,
        /// What it binds read-write.
        written: String,
        /// The arena of both.
        arena: usize,
    },
    /// A node is widened that must not be.
    #[error("node number {node} is widened, and {why}")]
    Widened {
        /// The node.
        node: usize,
        /// What speaks against it.
        why: &'static str,
    },
    /// A dedicated buffer shares its arena.
    #[error("buffer `{buffer}` is dedicated, and shares arena {arena} with `{other}`")]
    NotDedicated {
        /// The dedicated buffer.
        buffer: String,
        /// The other.
        other: String,
        /// The arena.
        arena: usize,
    },
}

/// Proves that `arrangement` solves `problem`, or says everything that is wrong.
///
/// # Errors
/// All [`Violation`]s; when the order itself is broken, only those of the order, since lifetimes mean nothing then.
pub fn validate(problem: &Problem, arrangement: &Arrangement) -> Result<Proof, Vec<Violation>> {
    let mut check = Validator { problem, arrangement, position_of: Vec::new(), violations: Vec::new() };
    check.counts();
    check.order();
    if !check.violations.is_empty() {
        return Err(check.violations);
    }
    let lives: Vec<(usize, usize)> = (0..problem.buffers.len()).map(|buffer| check.life(buffer)).collect();
    check.places(&lives);
    if check.violations.is_empty() {
        check.overlaps(&lives);
        check.pairs();
        check.dedicated();
    }
    if check.violations.is_empty() { Ok(check.proof(&lives)) } else { Err(check.violations) }
}

struct Validator<'a> {
    problem: &'a Problem,
    arrangement: &'a Arrangement,
    position_of: Vec<usize>,
    violations: Vec<Violation>,
}

impl Validator<'_> {
    fn counts(&mut self) {
        let pairs = [
            ("nodes in its order", self.arrangement.order.len(), self.problem.nodes.len()),
            ("slots", self.arrangement.slots.len(), self.problem.buffers.len()),
        ];
        for (what, found, expected) in pairs {
            if found != expected {
                self.violations.push(Violation::Count { what, found, expected });
            }
        }
    }

    fn order(&mut self) {
        let nodes = &self.problem.nodes;
        let order = &self.arrangement.order;
        for node in order.iter().copied().filter(|&node| node >= nodes.len()).chain(0..nodes.len()) {
            let times = order.iter().filter(|&&other| other == node).count();
            if times != 1 || node >= nodes.len() {
                self.violations.push(Violation::NotOnce { node, times });
            }
        }
        if !self.violations.is_empty() {
            return;
        }
        self.position_of = vec![0; nodes.len()];
        for (position, &node) in order.iter().enumerate() {
            self.position_of[node] = position;
        }
        for (index, node) in nodes.iter().enumerate() {
            for &after in &node.after {
                if self.position_of[after] >= self.position_of[index] {
                    self.violations.push(Violation::NotTopological {
                        node: node.name.clone(),
                        position: self.position_of[index],
                        after: nodes[after].name.clone(),
                        after_position: self.position_of[after],
                    });
                }
            }
        }
        for pair in order.windows(2) {
            let (before, node) = (&nodes[pair[0]], &nodes[pair[1]]);
            if before.segment > node.segment {
                self.violations.push(Violation::SegmentOrder {
                    node: node.name.clone(),
                    segment: node.segment,
                    before: before.name.clone(),
                    before_segment: before.segment,
                });
            }
        }
    }

    /// First and last position at which a buffer holds something that is needed.
    fn life(&self, buffer: usize) -> (usize, usize) {
        let last_position = self.problem.nodes.len().saturating_sub(1);
        let declared = &self.problem.buffers[buffer];
        if declared.dedicated {
            return (0, last_position);
        }
        let mut needed_at: Vec<usize> = Vec::new();
        for (index, node) in self.problem.nodes.iter().enumerate() {
            if node.uses.iter().any(|one| one.buffer == buffer) {
                needed_at.push(self.position_of[index]);
            }
        }
        let nodes_in =
            |wanted: &dyn Fn(u32) -> bool| self.problem.nodes.iter().filter(|n| wanted(n.segment)).count();
        if let Some(segment) = declared.filled_before {
            needed_at.push(nodes_in(&|other| other < segment).min(last_position));
        }
        if let Some(segment) = declared.read_after {
            needed_at.push(nodes_in(&|other| other <= segment).saturating_sub(1));
        }
        let first = needed_at.iter().copied().min().unwrap_or(0);
        let last = needed_at.iter().copied().max().unwrap_or(0);
        (first, last)
    }

    fn places(&mut self, lives: &[(usize, usize)]) {
        let limits = self.problem.limits;
        for (arena, &size_bytes) in self.arrangement.arena_bytes.iter().enumerate() {
            if size_bytes > limits.max_buffer_bytes {
                let limit_bytes = limits.max_buffer_bytes;
                self.violations.push(Violation::ArenaTooLarge { arena, size_bytes, limit_bytes });
            }
        }
        for ((declared, slot), &(first, last)) in
            self.problem.buffers.iter().zip(&self.arrangement.slots).zip(lives)
        {
            let buffer = || declared.name.clone();
            if (slot.first, slot.last) != (first, last) {
                let (recorded_first, recorded_last) = (slot.first, slot.last);
                let buffer = buffer();
                self.violations.push(Violation::Lifetime {
                    buffer,
                    first,
                    last,
                    recorded_first,
                    recorded_last,
                });
            }
            let (offset_bytes, alignment_bytes) = (slot.offset_bytes, limits.offset_alignment_bytes);
            if offset_bytes % alignment_bytes != 0 {
                self.violations.push(Violation::Misaligned {
                    buffer: buffer(),
                    offset_bytes,
                    alignment_bytes,
                });
            }
            let (size_bytes, limit_bytes) = (declared.size_bytes, limits.max_binding_bytes);
            if size_bytes > limit_bytes {
                self.violations.push(Violation::BindingTooLarge {
                    buffer: buffer(),
                    size_bytes,
                    limit_bytes,
                });
            }
            let arena = slot.arena;
            match self.arrangement.arena_bytes.get(arena) {
                None => {
                    let arenas = self.arrangement.arena_bytes.len();
                    self.violations.push(Violation::NoArena { buffer: buffer(), arena, arenas });
                }
                Some(&arena_bytes)
                    if offset_bytes.checked_add(size_bytes).is_none_or(|end| end > arena_bytes) =>
                {
                    let buffer = buffer();
                    self.violations.push(Violation::OutOfRange {
                        buffer,
                        size_bytes,
                        offset_bytes,
                        arena,
                        arena_bytes,
                    });
                }
                Some(_) => {}
            }
        }
    }

    fn overlaps(&mut self, lives: &[(usize, usize)]) {
        let (buffers, slots) = (&self.problem.buffers, &self.arrangement.slots);
        let range = |buffer: usize| {
            (slots[buffer].offset_bytes, slots[buffer].offset_bytes + buffers[buffer].size_bytes)
        };
        for one in 0..slots.len() {
            for other in 0..one {
                let (one_from, one_to) = range(one);
                let (other_from, other_to) = range(other);
                let apart_in_space =
                    slots[one].arena != slots[other].arena || one_to <= other_from || other_to <= one_from;
                let apart_in_time = lives[one].1 < lives[other].0 || lives[other].1 < lives[one].0;
                if apart_in_space || apart_in_time {
                    continue;
                }
                let position = lives[one].0.max(lives[other].0);
                let node =
                    self.arrangement.order.get(position).map(|&node| self.problem.nodes[node].name.clone());
                self.violations.push(Violation::Overlap {
                    one: buffers[one].name.clone(),
                    one_from,
                    one_to,
                    other: buffers[other].name.clone(),
                    other_from,
                    other_to,
                    arena: slots[one].arena,
                    position,
                    node: node.unwrap_or_default(),
                });
            }
        }
    }

    fn pairs(&mut self) {
        let slots = &self.arrangement.slots;
        for &node in &self.arrangement.widened {
            let why = match self.problem.nodes.get(node) {
                None => "does not exist",
                Some(_) if !self.problem.may_widen => "the problem allows none",
                Some(found) if !found.dispatch => "is no dispatch",
                Some(_) => continue,
            };
            self.violations.push(Violation::Widened { node, why });
        }
        let coloured =
            |&(index, node): &(usize, &Node)| node.dispatch && !self.arrangement.widened.contains(&index);
        for (_, node) in self.problem.nodes.iter().enumerate().filter(coloured) {
            for read in node.uses.iter().filter(|one| one.mode == Mode::Read) {
                for written in node.uses.iter().filter(|one| one.mode == Mode::Write) {
                    if slots[read.buffer].arena == slots[written.buffer].arena {
                        self.violations.push(Violation::ForbiddenPair {
                            node: node.name.clone(),
                            read: self.problem.buffers[read.buffer].name.clone(),
                            written: self.problem.buffers[written.buffer].name.clone(),
                            arena: slots[read.buffer].arena,
                        });
                    }
                }
            }
        }
    }

    fn dedicated(&mut self) {
        let (buffers, slots) = (&self.problem.buffers, &self.arrangement.slots);
        for (one, buffer) in buffers.iter().enumerate().filter(|(_, buffer)| buffer.dedicated) {
            for (other, sharing) in buffers.iter().enumerate() {
                if other != one && slots[other].arena == slots[one].arena {
                    self.violations.push(Violation::NotDedicated {
                        buffer: buffer.name.clone(),
                        other: sharing.name.clone(),
                        arena: slots[one].arena,
                    });
                }
            }
        }
    }

    fn proof(&self, lives: &[(usize, usize)]) -> Proof {
        let alignment = self.problem.limits.offset_alignment_bytes;
        let aligned = |buffer: usize| self.problem.buffers[buffer].size_bytes.div_ceil(alignment) * alignment;
        let live_at = |position: usize| {
            (0..lives.len()).filter(move |&buffer| lives[buffer].0 <= position && position <= lives[buffer].1)
        };
        let (mut bound_bytes, mut peak_position) = (0, 0);
        for position in 0..self.problem.nodes.len().max(1) {
            let bytes: u64 = live_at(position).map(aligned).sum();
            if bytes > bound_bytes {
                (bound_bytes, peak_position) = (bytes, position);
            }
        }
        let mut live_at_peak: Vec<usize> = live_at(peak_position).collect();
        live_at_peak.sort_by_key(|&buffer| std::cmp::Reverse(self.problem.buffers[buffer].size_bytes));
        Proof {
            bound_bytes,
            peak_position,
            live_at_peak,
            peak_bytes: self.arrangement.arena_bytes.iter().sum(),
            naive_bytes: (0..lives.len()).map(aligned).sum(),
        }
    }
}
