//! From a [`Problem`] to an [`Arrangement`]: order, then arenas, then offsets.

use super::arenas::{Coloured, Colouring, Conflicts};
use super::order;
use super::place::{self, Item};
use super::problem::{Arrangement, Mode, Problem, ProblemError, Slot};

/// How long to search. Both are bounded by numbers of rounds, never by the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Effort {
    /// For running a graph: a millisecond or less for usual graphs.
    #[default]
    Fast,
    /// For looking at one: up to about a second for hundreds of buffers.
    Best,
}

/// Which order the nodes run in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum NodeOrder {
    /// The candidate that needs the least memory.
    #[default]
    LeastMemory,
    /// A random topological order, segments in sequence, from a seed: for tests that results do not depend on it.
    Random(u64),
}

/// The seed of all searches.
const SEED: u64 = 0x7765_6674;

impl Effort {
    fn order_rounds(self) -> u32 {
        match self {
            Self::Fast => 0,
            Self::Best => 4_000,
        }
    }

    /// Rounds to compare orders with, and rounds for the order that is kept.
    fn colouring_rounds(self) -> (u32, u32) {
        match self {
            Self::Fast => (150, 2_000),
            Self::Best => (6_000, 300_000),
        }
    }

    /// Rounds of placement search for so many items. One round costs about their number to the power of 1.5.
    pub fn placement_rounds(self, items: usize) -> u32 {
        let work = match self {
            Self::Fast => 2e5,
            Self::Best => 1e8,
        };
        (work / (items as f64).powf(1.5)) as u32
    }
}

/// Orders the nodes and places the buffers.
///
/// # Errors
/// A [`ProblemError`] when the problem contradicts itself or one buffer alone passes a limit.
pub fn arrange(problem: &Problem, effort: Effort, order: NodeOrder) -> Result<Arrangement, ProblemError> {
    problem.check()?;
    let (few_rounds, many_rounds) = effort.colouring_rounds();
    let mut best: Option<(Sharing, Coloured)> = None;
    let candidates = match order {
        NodeOrder::LeastMemory => order::candidates(problem, effort.order_rounds(), SEED),
        NodeOrder::Random(seed) => vec![order::random(problem, seed)],
    };
    for (bound_bytes, order) in candidates {
        // Candidates come by their live maximum, and no arrangement is below it.
        if best.as_ref().is_some_and(|(sharing, found)| sharing.total_bytes(found) <= bound_bytes) {
            break;
        }
        let sharing = Sharing::new(problem, order);
        let found = sharing.colouring().solve(few_rounds, SEED);
        if best.as_ref().is_none_or(|(other, least)| sharing.total_bytes(&found) < other.total_bytes(least)) {
            best = Some((sharing, found));
        }
    }
    let (sharing, mut coloured) = best.expect("there is always a candidate");
    if coloured.height_bytes > sharing.floor {
        let found = sharing.colouring().solve(many_rounds, SEED);
        if found.height_bytes < coloured.height_bytes {
            coloured = found;
        }
    }
    Ok(sharing.place(&coloured, effort))
}

/// The buffers that share arenas, under one order.
struct Sharing<'a> {
    problem: &'a Problem,
    order: Vec<usize>,
    /// All buffers.
    items: Vec<Item>,
    /// Indices of those that are not dedicated.
    shared: Vec<usize>,
    /// Their items.
    shared_items: Vec<Item>,
    /// Their conflicts.
    conflicts: Conflicts,
    /// No arenas for them are smaller.
    floor: u64,
}

impl<'a> Sharing<'a> {
    fn new(problem: &'a Problem, order: Vec<usize>) -> Self {
        let items = order::live_items(problem, &order);
        let shared: Vec<usize> =
            (0..items.len()).filter(|&buffer| !problem.buffers[buffer].dedicated).collect();
        let shared_items: Vec<Item> = shared.iter().map(|&buffer| items[buffer]).collect();
        let (conflicts, two_arenas) = conflicts(problem, &items, &shared);
        let floor = place::max_load(&shared_items).max(two_arenas);
        Self { problem, order, items, shared, shared_items, conflicts, floor }
    }

    fn colouring(&self) -> Colouring<'_> {
        Colouring {
            items: &self.shared_items,
            conflicts: &self.conflicts,
            positions: self.problem.nodes.len().max(1),
            max_arena_bytes: self.problem.limits.max_buffer_bytes,
            floor: self.floor,
        }
    }

    fn dedicated(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.items.len()).filter(|&buffer| self.problem.buffers[buffer].dedicated)
    }

    fn total_bytes(&self, coloured: &Coloured) -> u64 {
        coloured.height_bytes + self.dedicated().map(|buffer| self.items[buffer].size).sum::<u64>()
    }

    /// Offsets for every arena, and an arena for every dedicated buffer.
    fn place(&self, coloured: &Coloured, effort: Effort) -> Arrangement {
        let slot = |item: &Item| Slot { arena: 0, offset_bytes: 0, first: item.first, last: item.last };
        let slots = self.items.iter().map(slot).collect();
        let mut arrangement = Arrangement { order: self.order.clone(), slots, arena_bytes: Vec::new() };
        let arenas = coloured.arena_of.iter().max().map_or(0, |&last| last + 1);
        for arena in 0..arenas {
            let members = (0..self.shared.len()).filter(|&index| coloured.arena_of[index] == arena);
            self.place_arena(members.collect(), effort, &mut arrangement);
        }
        for buffer in self.dedicated() {
            arrangement.slots[buffer].arena = arrangement.arena_bytes.len();
            arrangement.arena_bytes.push(self.items[buffer].size);
        }
        arrangement
    }

    /// Offsets for one arena; what would pass the limit of a device buffer goes to another.
    fn place_arena(&self, mut members: Vec<usize>, effort: Effort, into: &mut Arrangement) {
        while !members.is_empty() {
            let items: Vec<Item> = members.iter().map(|&index| self.shared_items[index]).collect();
            let packing = place::pack(&items, effort.placement_rounds(members.len()), SEED);
            let arena = into.arena_bytes.len();
            let mut height = 0;
            let mut left = Vec::new();
            for ((&index, item), &offset_bytes) in members.iter().zip(&items).zip(&packing.offsets) {
                let end = offset_bytes + item.size;
                if end > self.problem.limits.max_buffer_bytes {
                    left.push(index);
                } else {
                    let slot = &mut into.slots[self.shared[index]];
                    (slot.arena, slot.offset_bytes) = (arena, offset_bytes);
                    height = height.max(end);
                }
            }
            into.arena_bytes.push(height);
            members = left;
        }
    }
}

/// Pairs among `shared` that a dispatch binds both ways, and a floor for the sum of arenas that follows: at any
/// dispatch the arena of the largest buffer holds what it reads or what it writes, but not both, so the other arenas
/// hold at least the smaller of the two.
fn conflicts(problem: &Problem, items: &[Item], shared: &[usize]) -> (Conflicts, u64) {
    let mut index_of = vec![usize::MAX; items.len()];
    shared.iter().enumerate().for_each(|(index, &buffer)| index_of[buffer] = index);
    let mut conflicts = Conflicts::new(shared.len());
    let mut smaller_side = 0;
    for node in problem.nodes.iter().filter(|node| node.dispatch) {
        let side = |mode| {
            let uses = node.uses.iter().filter(|one| one.mode == mode && index_of[one.buffer] != usize::MAX);
            let mut buffers: Vec<usize> = uses.map(|one| one.buffer).collect();
            buffers.sort_unstable();
            buffers.dedup();
            buffers
        };
        let (reads, writes) = (side(Mode::Read), side(Mode::Write));
        let bytes = |side: &[usize]| side.iter().map(|&buffer| items[buffer].size).sum::<u64>();
        smaller_side = smaller_side.max(bytes(&reads).min(bytes(&writes)));
        for &read in &reads {
            writes.iter().for_each(|&write| conflicts.forbid(index_of[read], index_of[write]));
        }
    }
    let largest = shared.iter().map(|&buffer| items[buffer].size).max().unwrap_or(0);
    let floor = if conflicts.is_empty() { 0 } else { largest + smaller_side };
    (conflicts, floor)
}
