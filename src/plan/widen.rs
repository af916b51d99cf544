//! Fewer bytes for a few wider bindings: lets single dispatches bind everything read-write, where colouring alone
//! stays above its floor.
//!
//! A *widened* dispatch binds its read-only ports read-write as well, so its buffers may share arenas. Starting from a
//! colouring, late-acceptance hill climbing moves one buffer at a time to any arena; a dispatch whose arenas then clash
//! counts as widened and costs a fixed share of the floor, so it has to save more than that. Where this ends above the
//! floor, whole arenas are joined, which always gets there: one arena is as high as the largest load.

use super::arenas::{Coloured, Colouring, Conflicts, State, pick};
use super::random::Random;

/// What a dispatch binds read-only and read-write: indices of items, each once.
#[derive(Clone, Debug, Default)]
pub struct Dispatch {
    /// Items bound read-only.
    pub reads: Vec<usize>,
    /// Items bound read-write.
    pub writes: Vec<usize>,
}

/// The conflicts of all dispatches for which `coloured` holds.
pub fn conflicts(dispatches: &[Dispatch], items: usize, coloured: impl Fn(usize) -> bool) -> Conflicts {
    let mut conflicts = Conflicts::new(items);
    for (_, dispatch) in dispatches.iter().enumerate().filter(|&(index, _)| coloured(index)) {
        for &read in &dispatch.reads {
            dispatch.writes.iter().for_each(|&write| conflicts.forbid(read, write));
        }
    }
    conflicts
}

/// A dispatch is widened only where that saves more than the floor divided by this.
const WORTH_OF_FLOOR: u64 = 256;
/// How many rounds back the search compares with.
const MEMORY_ROUNDS: usize = 40;

impl Colouring<'_> {
    /// Heights and the price of widened dispatches.
    pub(super) fn priced(&self, height_bytes: u64, widened: usize) -> u64 {
        height_bytes.saturating_add((self.floor / WORTH_OF_FLOOR).saturating_mul(widened as u64))
    }
}

/// Improves a colouring by widening dispatches, which it returns sorted.
pub fn widen(
    colouring: &Colouring<'_>,
    dispatches: &[Dispatch],
    start: &Coloured,
    rounds: u32,
    seed: u64,
) -> (Coloured, Vec<usize>) {
    let mut state = State::from_arenas(colouring, &start.arena_of);
    state.open(colouring);
    let enough = colouring.priced(colouring.floor, 1);
    state = Search::new(colouring, dispatches, state, u64::MAX).run(rounds, seed);
    if state.cost() > enough {
        while state.cost() > enough && merge_best_pair(colouring, dispatches, &mut state) {}
        let limit = enough.max(state.cost());
        state = Search::new(colouring, dispatches, state, limit).run(rounds, seed);
    }
    let clashes: Vec<bool> = dispatches.iter().map(|dispatch| clashes(dispatch, &state.arena)).collect();
    let left = conflicts(dispatches, colouring.items.len(), |dispatch| !clashes[dispatch]);
    Colouring { conflicts: &left, ..*colouring }.merge(&mut state);
    let widened = (0..dispatches.len()).filter(|&dispatch| clashes[dispatch]).collect();
    (state.coloured(), widened)
}

/// Whether a dispatch binds one arena both ways.
fn clashes(dispatch: &Dispatch, arena: &[usize]) -> bool {
    // Sets of arenas modulo 64 tell apart most dispatches that do not, without comparing all pairs.
    let set = |side: &[usize]| side.iter().fold(0_u64, |set, &item| set | 1 << (arena[item] % 64));
    set(&dispatch.reads) & set(&dispatch.writes) != 0
        && dispatch.reads.iter().any(|&read| dispatch.writes.iter().any(|&write| arena[read] == arena[write]))
}

/// How many dispatches bind one arena both ways.
fn clashing(dispatches: &[Dispatch], arena: &[usize]) -> usize {
    dispatches.iter().filter(|dispatch| clashes(dispatch, arena)).count()
}

/// Joins the two arenas that save the most for each dispatch that has to be widened; where no two save anything, the two
/// that widen the fewest, since three may. False if no two may be joined.
fn merge_best_pair(colouring: &Colouring<'_>, dispatches: &[Dispatch], state: &mut State) -> bool {
    let before = clashing(dispatches, &state.arena);
    let mut best: Option<((u64, std::cmp::Reverse<usize>), usize, usize)> = None;
    for one in 0..state.heights.len() {
        for other in 0..one {
            let (height, joined) =
                (state.heights[one] + state.heights[other], state.joined_height(one, other));
            if state.heights[one] == 0 || state.heights[other] == 0 || joined > colouring.max_arena_bytes {
                continue;
            }
            let arena: Vec<usize> =
                state.arena.iter().map(|&arena| if arena == one { other } else { arena }).collect();
            let more = clashing(dispatches, &arena) - before;
            let value = ((height - joined) / (more as u64).max(1), std::cmp::Reverse(more));
            if best.is_none_or(|(most, ..)| value > most) {
                best = Some((value, one, other));
            }
        }
    }
    let Some((_, one, other)) = best else { return false };
    for index in (0..colouring.items.len()).filter(|&index| state.arena[index] == one).collect::<Vec<_>>() {
        state.relocate(&colouring.items[index], index, other);
    }
    true
}

struct Search<'a> {
    colouring: &'a Colouring<'a>,
    dispatches: &'a [Dispatch],
    /// Dispatches of each item.
    of_item: Vec<Vec<usize>>,
    state: State,
    clashing: Vec<bool>,
    /// How many of them clash.
    widened: usize,
    /// Heights beyond this are not accepted.
    limit: u64,
}

impl<'a> Search<'a> {
    fn new(colouring: &'a Colouring<'a>, dispatches: &'a [Dispatch], state: State, limit: u64) -> Self {
        let mut of_item = vec![Vec::new(); colouring.items.len()];
        for (index, dispatch) in dispatches.iter().enumerate() {
            dispatch.reads.iter().chain(&dispatch.writes).for_each(|&item| of_item[item].push(index));
        }
        let clashing: Vec<bool> = dispatches.iter().map(|dispatch| clashes(dispatch, &state.arena)).collect();
        let widened = clashing.iter().filter(|&&clash| clash).count();
        Self { colouring, dispatches, of_item, state, clashing, widened, limit }
    }

    fn cost(&self) -> u64 {
        self.colouring.priced(self.state.cost(), self.widened)
    }

    fn run(mut self, rounds: u32, seed: u64) -> State {
        let mut random = Random::new(seed);
        let mut cost = self.cost();
        let (mut best, mut best_cost) = (self.state.clone(), cost);
        let mut memory = [cost; MEMORY_ROUNDS];
        let arenas = self.state.heights.len();
        for round in 0..if arenas > 1 { rounds as usize } else { 0 } {
            if best_cost <= self.colouring.floor {
                break;
            }
            let item = self.pick(&mut random);
            let from = self.state.arena[item];
            let to = (from + 1 + random.below(arenas - 1)) % arenas;
            self.relocate(item, to);
            let after = self.cost();
            let remembered = &mut memory[round % MEMORY_ROUNDS];
            let legal =
                self.state.heights[to] <= self.colouring.max_arena_bytes && self.state.cost() <= self.limit;
            if legal && (after <= cost || after <= *remembered) {
                cost = after;
            } else {
                self.relocate(item, from);
            }
            memory[round % MEMORY_ROUNDS] = cost;
            if cost < best_cost {
                best.clone_from(&self.state);
                best_cost = cost;
            }
        }
        best
    }

    /// An item to move: one of a widened dispatch, or one that is live where its arena is fullest.
    fn pick(&self, random: &mut Random) -> usize {
        if self.widened == 0 || random.below(2) == 0 {
            return pick(self.colouring, &self.state, random);
        }
        let mut clashing = self.dispatches.iter().zip(&self.clashing).filter(|&(_, &clash)| clash);
        let (dispatch, _) = clashing.nth(random.below(self.widened)).expect("so many dispatches clash");
        let index = random.below(dispatch.reads.len() + dispatch.writes.len());
        dispatch
            .reads
            .iter()
            .chain(&dispatch.writes)
            .copied()
            .nth(index)
            .expect("the index is below the length")
    }

    fn relocate(&mut self, item: usize, to: usize) {
        self.state.relocate(&self.colouring.items[item], item, to);
        for &dispatch in &self.of_item[item] {
            let clashes = clashes(&self.dispatches[dispatch], &self.state.arena);
            let clashed = std::mem::replace(&mut self.clashing[dispatch], clashes);
            self.widened = self.widened + usize::from(clashes) - usize::from(clashed);
        }
    }
}
