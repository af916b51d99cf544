//! From a [`Problem`] to an [`Arrangement`]: order, then arenas, then offsets.

use super::arenas::{Colouring, Conflicts};
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

/// The seed of all searches.
const SEED: u64 = 0x7765_6674;

impl Effort {
    fn order_rounds(self) -> u32 {
        match self {
            Self::Fast => 0,
            Self::Best => 4_000,
        }
    }

    fn colouring_rounds(self) -> u32 {
        match self {
            Self::Fast => 1_000,
            Self::Best => 100_000,
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
pub fn arrange(problem: &Problem, effort: Effort) -> Result<Arrangement, ProblemError> {
    problem.check()?;
    let mut best: Option<Arrangement> = None;
    for (bound_bytes, order) in order::candidates(problem, effort.order_rounds(), SEED) {
        // Candidates come by their live maximum, and no arrangement is below it.
        if best.as_ref().is_some_and(|best| best.peak_bytes() <= bound_bytes) {
            break;
        }
        let found = arrange_in_order(problem, order, effort);
        if best.as_ref().is_none_or(|best| found.peak_bytes() < best.peak_bytes()) {
            best = Some(found);
        }
    }
    Ok(best.expect("the given order is always a candidate"))
}

/// Arenas and offsets for one order.
fn arrange_in_order(problem: &Problem, order: Vec<usize>, effort: Effort) -> Arrangement {
    let items = order::live_items(problem, &order);
    let slots = items.iter().map(|item| Slot { arena: 0, offset_bytes: 0, first: item.first, last: item.last });
    let mut arrangement = Arrangement { slots: slots.collect(), order, arena_bytes: Vec::new() };
    let (dedicated, shared): (Vec<usize>, Vec<usize>) =
        (0..items.len()).partition(|&buffer| problem.buffers[buffer].dedicated);
    place_shared(problem, &items, &shared, effort, &mut arrangement);
    for buffer in dedicated {
        arrangement.slots[buffer].arena = arrangement.arena_bytes.len();
        arrangement.arena_bytes.push(items[buffer].size);
    }
    arrangement
}

fn place_shared(problem: &Problem, items: &[Item], shared: &[usize], effort: Effort, into: &mut Arrangement) {
    if shared.is_empty() {
        return;
    }
    let shared_items: Vec<Item> = shared.iter().map(|&buffer| items[buffer]).collect();
    let (conflicts, two_arenas) = conflicts(problem, items, shared);
    let floor = place::max_load(&shared_items).max(two_arenas);
    let colouring = Colouring {
        items: &shared_items,
        conflicts: &conflicts,
        positions: problem.nodes.len().max(1),
        max_arena_bytes: problem.limits.max_buffer_bytes,
        floor,
    };
    let arena_of = colouring.solve(effort.colouring_rounds(), SEED);
    let arenas = arena_of.iter().max().map_or(0, |&last| last + 1);
    for arena in 0..arenas {
        let members = (0..shared.len()).filter(|&index| arena_of[index] == arena).collect();
        place_arena(problem, &shared_items, shared, members, effort, into);
    }
}

/// Offsets for one arena; what would pass the limit of a device buffer goes to another.
fn place_arena(
    problem: &Problem,
    items: &[Item],
    shared: &[usize],
    mut members: Vec<usize>,
    effort: Effort,
    into: &mut Arrangement,
) {
    while !members.is_empty() {
        let member_items: Vec<Item> = members.iter().map(|&index| items[index]).collect();
        let packing = place::pack(&member_items, effort.placement_rounds(members.len()), SEED);
        let arena = into.arena_bytes.len();
        let mut height = 0;
        let mut left = Vec::new();
        for (&index, &offset_bytes) in members.iter().zip(&packing.offsets) {
            let end = offset_bytes + items[index].size;
            if end > problem.limits.max_buffer_bytes {
                left.push(index);
            } else {
                let slot = &mut into.slots[shared[index]];
                (slot.arena, slot.offset_bytes) = (arena, offset_bytes);
                height = height.max(end);
            }
        }
        into.arena_bytes.push(height);
        members = left;
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
