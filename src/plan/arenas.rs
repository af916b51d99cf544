//! Which arena each buffer lives in: a colouring in which no dispatch binds one arena both ways, with the sum of arena
//! heights as low as possible.
//!
//! The height of an arena is at least the largest load it carries at one position, so arenas cost nothing exactly when
//! all of them are fullest where the whole problem is. The search starts from greedy colourings by decreasing
//! weight and goes on by late-acceptance hill climbing whose moves are Kempe chains: a buffer changes its arena, and
//! the buffers of the other arena that conflict with it change back, and so on, so every colouring it visits is legal.
//!
//! Nothing here knows about offsets; that arenas reach the height of their load is up to [`super::place`].

use super::place::Item;
use super::random::Random;

/// Pairs of buffers that must not share an arena, as one row of bits a buffer.
#[derive(Clone, Debug)]
pub struct Conflicts {
    words: usize,
    bits: Vec<u64>,
}

impl Conflicts {
    /// No conflicts among `count` buffers.
    pub fn new(count: usize) -> Self {
        let words = count.div_ceil(64);
        Self { words, bits: vec![0; words * count] }
    }

    /// Forbids the pair.
    pub fn forbid(&mut self, one: usize, other: usize) {
        self.bits[one * self.words + other / 64] |= 1 << (other % 64);
        self.bits[other * self.words + one / 64] |= 1 << (one % 64);
    }

    fn row(&self, one: usize) -> &[u64] {
        &self.bits[one * self.words..][..self.words]
    }
}

/// The input of the search.
pub struct Colouring<'a> {
    /// Lifetimes and sizes.
    pub items: &'a [Item],
    /// Forbidden pairs.
    pub conflicts: &'a Conflicts,
    /// Number of positions.
    pub positions: usize,
    /// Most bytes of an arena; every single item is at most as large.
    pub max_arena_bytes: u64,
    /// No colouring has a lower sum of heights; the search ends when it gets there.
    pub floor: u64,
}

/// A colouring.
#[derive(Clone, Debug)]
pub struct Coloured {
    /// The arena of each item.
    pub arena_of: Vec<usize>,
    /// The sum of the largest loads of all arenas.
    pub height_bytes: u64,
}

/// Arenas that the search may open beyond those it starts with.
const SPARE_ARENAS: usize = 2;
/// How many rounds back the search compares with.
const MEMORY_ROUNDS: usize = 40;

/// One colouring: an arena for each item, and the load of each arena at each position.
#[derive(Clone)]
pub(super) struct State {
    pub(super) arena: Vec<usize>,
    members: Vec<Vec<u64>>,
    loads: Vec<Vec<u64>>,
    pub(super) heights: Vec<u64>,
}

impl Colouring<'_> {
    /// Colours the items with at most `rounds` rounds of search; arenas are numbered without gaps.
    pub fn solve(&self, rounds: u32, seed: u64) -> Coloured {
        let starts: [fn(&Item) -> u128; 3] = [
            |item| u128::from(item.size),
            |item| u128::from(item.size) * (item.last - item.first + 1) as u128,
            |item| u128::MAX - item.first as u128,
        ];
        let mut states: Vec<State> = starts.iter().map(|weight| self.greedy(weight)).collect();
        states.sort_by_key(State::cost);
        let mut best = states[0].clone();
        for (index, state) in states.into_iter().enumerate() {
            if best.cost() <= self.floor {
                break;
            }
            let found = self.improve(state, rounds / 3, seed.wrapping_add(index as u64));
            if found.cost() < best.cost() {
                best = found;
            }
        }
        self.merge(&mut best);
        best.coloured()
    }

    /// Puts each item, largest weight first, where the sum of heights grows least.
    fn greedy(&self, weight: &dyn Fn(&Item) -> u128) -> State {
        let mut state = State::new(self);
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        order.sort_by_key(|&index| std::cmp::Reverse((weight(&self.items[index]), self.items[index].size)));
        for index in order {
            let mut chosen: Option<(u64, usize)> = None;
            for arena in 0..state.heights.len() {
                if state.conflicting(self.conflicts.row(index), arena).next().is_some() {
                    continue;
                }
                let height = state.height_with(&self.items[index], arena);
                let grows = height - state.heights[arena];
                if height <= self.max_arena_bytes && chosen.is_none_or(|(least, _)| grows < least) {
                    chosen = Some((grows, arena));
                }
            }
            let arena = chosen.map_or_else(|| state.open(self), |(_, arena)| arena);
            state.add(&self.items[index], index, arena);
            state.measure(arena);
        }
        state
    }

    fn improve(&self, mut state: State, rounds: u32, seed: u64) -> State {
        let mut random = Random::new(seed);
        for _ in 0..SPARE_ARENAS {
            state.open(self);
        }
        let mut best = state.clone();
        let mut cost = state.cost();
        let mut best_cost = cost;
        let mut memory = [cost; MEMORY_ROUNDS];
        let mut chain = Vec::new();
        for round in 0..rounds as usize {
            if best_cost <= self.floor {
                break;
            }
            let index = pick(self, &state, &mut random);
            let from = state.arena[index];
            let to = (from + 1 + random.below(state.heights.len() - 1)) % state.heights.len();
            self.kempe_chain(&state, index, to, &mut chain);
            let before = (state.heights[from], state.heights[to]);
            self.swap(&mut state, &chain, from, to);
            let after = cost - before.0 - before.1 + state.heights[from] + state.heights[to];
            let remembered = &mut memory[round % MEMORY_ROUNDS];
            let legal = state.heights[from].max(state.heights[to]) <= self.max_arena_bytes;
            if legal && (after <= cost || after <= *remembered) {
                cost = after;
            } else {
                self.swap(&mut state, &chain, from, to);
            }
            *remembered = cost;
            if cost < best_cost {
                best.clone_from(&state);
                best_cost = cost;
            }
        }
        best
    }

    /// The items that change between the arena of `index` and `to` when `index` does.
    fn kempe_chain(&self, state: &State, index: usize, to: usize, chain: &mut Vec<usize>) {
        let from = state.arena[index];
        chain.clear();
        chain.push(index);
        let mut done = 0;
        while let Some(&member) = chain.get(done) {
            done += 1;
            let other = if state.arena[member] == from { to } else { from };
            for conflicting in state.conflicting(self.conflicts.row(member), other) {
                if !chain.contains(&conflicting) {
                    chain.push(conflicting);
                }
            }
        }
    }

    fn swap(&self, state: &mut State, chain: &[usize], from: usize, to: usize) {
        for &index in chain {
            let other = if state.arena[index] == from { to } else { from };
            state.remove(&self.items[index], index);
            state.add(&self.items[index], index, other);
        }
        state.measure(from);
        state.measure(to);
    }

    /// Joins arenas where that is legal: it never costs height.
    pub(super) fn merge(&self, state: &mut State) {
        for from in (1..state.heights.len()).rev() {
            let members: Vec<usize> = ones(&state.members[from]).collect();
            let fits = |to: usize| {
                let conflict_free =
                    |&index: &usize| state.conflicting(self.conflicts.row(index), to).next().is_none();
                let joined =
                    state.loads[from].iter().zip(&state.loads[to]).map(|(a, b)| a + b).max().unwrap_or(0);
                joined <= self.max_arena_bytes && members.iter().all(conflict_free)
            };
            if let Some(to) = (0..from).find(|&to| fits(to)) {
                for &index in &members {
                    state.remove(&self.items[index], index);
                    state.add(&self.items[index], index, to);
                }
                state.measure(from);
                state.measure(to);
            }
        }
    }
}

impl State {
    fn new(colouring: &Colouring<'_>) -> Self {
        let arena = vec![usize::MAX; colouring.items.len()];
        Self { arena, members: Vec::new(), loads: Vec::new(), heights: Vec::new() }
    }

    /// The state of a finished colouring.
    pub(super) fn from_arenas(colouring: &Colouring<'_>, arena_of: &[usize]) -> Self {
        let mut state = Self::new(colouring);
        for (index, &arena) in arena_of.iter().enumerate() {
            while state.heights.len() <= arena {
                state.open(colouring);
            }
            state.add(&colouring.items[index], index, arena);
        }
        (0..state.heights.len()).for_each(|arena| state.measure(arena));
        state
    }

    /// Moves one item, whatever it conflicts with.
    pub(super) fn relocate(&mut self, item: &Item, index: usize, to: usize) {
        let from = self.arena[index];
        self.remove(item, index);
        self.add(item, index, to);
        self.measure(from);
        self.measure(to);
    }

    pub(super) fn coloured(&self) -> Coloured {
        Coloured { arena_of: self.numbered(), height_bytes: self.cost() }
    }

    pub(super) fn cost(&self) -> u64 {
        self.heights.iter().sum()
    }

    pub(super) fn open(&mut self, colouring: &Colouring<'_>) -> usize {
        self.members.push(vec![0; colouring.conflicts.words]);
        self.loads.push(vec![0; colouring.positions]);
        self.heights.push(0);
        self.heights.len() - 1
    }

    /// Items of an arena that a row of conflicts mentions.
    fn conflicting<'s>(&'s self, row: &'s [u64], arena: usize) -> impl Iterator<Item = usize> + 's {
        row.iter().zip(&self.members[arena]).enumerate().flat_map(|(word, (a, b))| ones_of(word, a & b))
    }

    /// The height of two arenas in one.
    pub(super) fn joined_height(&self, one: usize, other: usize) -> u64 {
        self.loads[one].iter().zip(&self.loads[other]).map(|(a, b)| a + b).max().unwrap_or(0)
    }

    fn height_with(&self, item: &Item, arena: usize) -> u64 {
        let during = self.loads[arena][item.first..=item.last].iter().copied().max().unwrap_or(0);
        self.heights[arena].max(during + item.size)
    }

    fn add(&mut self, item: &Item, index: usize, arena: usize) {
        self.arena[index] = arena;
        self.members[arena][index / 64] |= 1 << (index % 64);
        self.loads[arena][item.first..=item.last].iter_mut().for_each(|load| *load += item.size);
    }

    fn remove(&mut self, item: &Item, index: usize) {
        let arena = self.arena[index];
        self.members[arena][index / 64] &= !(1 << (index % 64));
        self.loads[arena][item.first..=item.last].iter_mut().for_each(|load| *load -= item.size);
    }

    fn measure(&mut self, arena: usize) {
        self.heights[arena] = self.loads[arena].iter().copied().max().unwrap_or(0);
    }

    /// Arena numbers without gaps, in order of first mention.
    fn numbered(&self) -> Vec<usize> {
        let mut numbers: Vec<usize> = Vec::new();
        let mut number = |arena: usize| {
            numbers.iter().position(|&known| known == arena).unwrap_or_else(|| {
                numbers.push(arena);
                numbers.len() - 1
            })
        };
        self.arena.iter().map(|&arena| number(arena)).collect()
    }
}

/// An item to move: mostly one that is live where its arena is fullest.
pub(super) fn pick(colouring: &Colouring<'_>, state: &State, random: &mut Random) -> usize {
    let any = random.below(colouring.items.len());
    if random.below(4) == 0 {
        return any;
    }
    let arena = state.arena[any];
    let fullest = state.loads[arena].iter().position(|&load| load == state.heights[arena]).unwrap_or(0);
    let mut picked = any;
    let mut seen = 0;
    for index in ones(&state.members[arena]) {
        let item = &colouring.items[index];
        if item.first <= fullest && fullest <= item.last {
            seen += 1;
            if random.below(seen) == 0 {
                picked = index;
            }
        }
    }
    picked
}

fn ones(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(word, &bits)| ones_of(word, bits))
}

fn ones_of(word: usize, mut bits: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (bits != 0).then(|| {
            let bit = bits.trailing_zeros() as usize;
            bits &= bits - 1;
            word * 64 + bit
        })
    })
}
