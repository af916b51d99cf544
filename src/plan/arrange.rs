//! From a [`Problem`] to an [`Arrangement`]: order, then arenas, then offsets.

use super::arenas::{Coloured, Colouring, Conflicts};
use super::order;
use super::place::{self, Item};
use super::problem::{Arrangement, Mode, Node, Problem, ProblemError, Slot};
use super::widen::{self, Dispatch};

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

/// Searches for dispatches to widen at most, of which the best is kept.
const WIDENING_SEARCHES: u64 = 2;

/// A fast search for arenas ends where they are within the floor and this share of it; a run does not wait for the rest.
const SLACK_OF_FLOOR: u64 = 128;
/// Placed arenas that are above what nothing can go below by more than this share are searched for without slack.
const TOLERABLE_OF_FLOOR: u64 = 64;
/// An arrangement for other sizes is given up where its arenas are above that by more than this share.
const TOLERABLE_AGAIN_OF_FLOOR: u64 = 32;

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
            Self::Fast => (20, 200),
            Self::Best => (6_000, 300_000),
        }
    }

    fn widening_rounds(self) -> u32 {
        match self {
            Self::Fast => 120,
            Self::Best => 60_000,
        }
    }

    /// Rounds of placement search for so many items. One round costs about their number to the power of 1.5.
    pub fn placement_rounds(self, items: usize) -> u32 {
        let work = match self {
            Self::Fast => 1e5,
            Self::Best => 6e7,
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
    let (few_rounds, _) = effort.colouring_rounds();
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
        let found = sharing.colouring(sharing.floor).solve(few_rounds, SEED);
        if best.as_ref().is_none_or(|(other, least)| sharing.total_bytes(&found) < other.total_bytes(least)) {
            best = Some((sharing, found));
        }
    }
    let (sharing, coloured) = best.expect("there is always a candidate");
    if effort == Effort::Fast && problem.may_widen {
        let (nearly, widened) = sharing.colour(coloured.clone(), effort, SLACK_OF_FLOOR);
        let arrangement = sharing.place(&nearly.arena_of, widened, effort);
        let floor = sharing.max_load + sharing.dedicated_bytes();
        if arrangement.peak_bytes() <= floor.saturating_add(floor / TOLERABLE_OF_FLOOR) {
            return Ok(arrangement);
        }
    }
    let (coloured, widened) = sharing.colour(coloured, effort, u64::MAX);
    Ok(sharing.place(&coloured.arena_of, widened, effort))
}

/// Places the buffers of a problem in the order and with the arenas of an arrangement for other sizes. None where that takes more
/// than a 32nd above the least bound of the candidate orders, or does not suit the problem.
///
/// A fraction of the work of a search, and as sound: which buffers may share an arena does not depend on their sizes.
pub fn arrange_like(problem: &Problem, previous: &Arrangement) -> Option<Arrangement> {
    let same_shape =
        problem.nodes.len() == previous.order.len() && problem.buffers.len() == previous.slots.len();
    if !same_shape || problem.check().is_err() || (!problem.may_widen && !previous.widened.is_empty()) {
        return None;
    }
    let sharing = Sharing::new(problem, previous.order.clone());
    let arenas: Vec<usize> = sharing.shared.iter().map(|&buffer| previous.slots[buffer].arena).collect();
    let arrangement = sharing.place(&arenas, previous.widened.clone(), Effort::Fast);
    // Another order may need less for these sizes.
    let candidates = order::candidates(problem, Effort::Fast.order_rounds(), SEED);
    let bound = candidates.iter().map(|&(bound_bytes, _)| bound_bytes).min()?;
    (arrangement.peak_bytes() <= bound.saturating_add(bound / TOLERABLE_AGAIN_OF_FLOOR))
        .then_some(arrangement)
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
    /// Nodes that bind some of them both ways.
    dispatch_nodes: Vec<usize>,
    /// What those bind.
    dispatches: Vec<Dispatch>,
    /// Their conflicts.
    conflicts: Conflicts,
    /// The largest sum of theirs live at one position.
    max_load: u64,
    /// No arenas for them are smaller without widened dispatches.
    floor: u64,
}

impl<'a> Sharing<'a> {
    fn new(problem: &'a Problem, order: Vec<usize>) -> Self {
        let items = order::live_items(problem, &order);
        let shared: Vec<usize> =
            (0..items.len()).filter(|&buffer| !problem.buffers[buffer].dedicated).collect();
        let shared_items: Vec<Item> = shared.iter().map(|&buffer| items[buffer]).collect();
        let (dispatch_nodes, dispatches): (Vec<_>, Vec<_>) = dispatches(problem, &shared).into_iter().unzip();
        let conflicts = widen::conflicts(&dispatches, shared.len(), |_| true);
        let max_load = place::max_load(&shared_items);
        let floor = max_load.max(two_arena_floor(&dispatches, &shared_items));
        Self {
            problem,
            order,
            items,
            shared,
            shared_items,
            dispatch_nodes,
            dispatches,
            conflicts,
            max_load,
            floor,
        }
    }

    /// The search for arenas, down to `floor`.
    fn colouring(&self, floor: u64) -> Colouring<'_> {
        Colouring {
            items: &self.shared_items,
            conflicts: &self.conflicts,
            positions: self.problem.nodes.len().max(1),
            max_arena_bytes: self.problem.limits.max_buffer_bytes,
            floor,
        }
    }

    /// A good colouring, and the nodes to widen for it. Within a share of `slack_of` of the floor it is good enough.
    fn colour(&self, mut coloured: Coloured, effort: Effort, slack_of: u64) -> (Coloured, Vec<usize>) {
        let enough = self.floor.saturating_add(self.floor / slack_of);
        if coloured.height_bytes > enough {
            // Widening goes on from here, so less will do.
            let rounds = effort.colouring_rounds().1 / if self.problem.may_widen { 4 } else { 1 };
            let found = self.colouring(enough).solve(rounds, SEED);
            if found.height_bytes < coloured.height_bytes {
                coloured = found;
            }
        }
        let enough = self.max_load.saturating_add(self.max_load / slack_of);
        if !self.problem.may_widen || coloured.height_bytes <= enough {
            return (coloured, Vec::new());
        }
        let colouring = self.colouring(enough);
        let mut best: Option<(u64, (Coloured, Vec<usize>))> = None;
        for search in 0..WIDENING_SEARCHES {
            let seed = SEED.wrapping_add(search);
            let found = widen::widen(&colouring, &self.dispatches, &coloured, effort.widening_rounds(), seed);
            let price = colouring.priced(found.0.height_bytes, found.1.len());
            if best.as_ref().is_none_or(|(least, _)| price < *least) {
                best = Some((price, found));
            }
            if best.as_ref().is_some_and(|(least, _)| *least <= colouring.priced(enough, 1)) {
                break;
            }
        }
        let (_, (coloured, widened)) = best.expect("there are several searches");
        (coloured, widened.into_iter().map(|dispatch| self.dispatch_nodes[dispatch]).collect())
    }

    fn dedicated(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.items.len()).filter(|&buffer| self.problem.buffers[buffer].dedicated)
    }

    fn dedicated_bytes(&self) -> u64 {
        self.dedicated().map(|buffer| self.items[buffer].size).sum()
    }

    fn total_bytes(&self, coloured: &Coloured) -> u64 {
        coloured.height_bytes + self.dedicated_bytes()
    }

    /// Offsets in every arena, given the arena of each shared buffer, and an arena for every dedicated buffer.
    fn place(&self, arena_of: &[usize], widened: Vec<usize>, effort: Effort) -> Arrangement {
        let slot = |item: &Item| Slot { arena: 0, offset_bytes: 0, first: item.first, last: item.last };
        let slots = self.items.iter().map(slot).collect();
        let mut arrangement =
            Arrangement { order: self.order.clone(), slots, arena_bytes: Vec::new(), widened };
        let arenas = arena_of.iter().max().map_or(0, |&last| last + 1);
        for arena in 0..arenas {
            let members = (0..self.shared.len()).filter(|&index| arena_of[index] == arena);
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

/// What each dispatch binds, as indices into `shared`; dedicated buffers do not matter.
fn dispatches(problem: &Problem, shared: &[usize]) -> Vec<(usize, Dispatch)> {
    let mut index_of = vec![usize::MAX; problem.buffers.len()];
    shared.iter().enumerate().for_each(|(index, &buffer)| index_of[buffer] = index);
    let side = |node: &Node, mode| {
        let uses = node.uses.iter().filter(|one| one.mode == mode);
        let mut side: Vec<usize> =
            uses.map(|one| index_of[one.buffer]).filter(|&index| index != usize::MAX).collect();
        side.sort_unstable();
        side.dedup();
        side
    };
    let nodes = problem.nodes.iter().enumerate().filter(|(_, node)| node.dispatch);
    nodes
        .map(|(index, node)| {
            (index, Dispatch { reads: side(node, Mode::Read), writes: side(node, Mode::Write) })
        })
        .filter(|(_, dispatch)| !dispatch.reads.is_empty() && !dispatch.writes.is_empty())
        .collect()
}

/// A floor for the sum of arenas that follows from conflicts: at any dispatch the arena of the largest buffer holds
/// some of what it reads or some of what it writes, but not both, so the other arenas hold at least the smaller side.
fn two_arena_floor(dispatches: &[Dispatch], items: &[Item]) -> u64 {
    let bytes = |side: &[usize]| side.iter().map(|&index| items[index].size).sum::<u64>();
    let smaller_side =
        dispatches.iter().map(|dispatch| bytes(&dispatch.reads).min(bytes(&dispatch.writes))).max();
    let largest = items.iter().map(|item| item.size).max().unwrap_or(0);
    smaller_side.map_or(0, |smaller_side| largest + smaller_side)
}
