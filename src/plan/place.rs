//! Offsets inside one arena: packs items with fixed lifetimes into as little height as possible.
//!
//! This is dynamic storage allocation seen as two-dimensional packing: an item is a rectangle whose place on the time
//! axis is given and whose place on the address axis is free. Two constructions are used. *Fits* take the items in a
//! fixed order and put each into the first or the tightest gap. The *skyline* fills the lowest valley of the address
//! profile with the item of highest priority that lies wholly inside it, and raises the valley to its lower
//! neighbour when none does; its priorities are what the local search changes. The search is late-acceptance
//! hill climbing (Burke and Bykov, 2017), seeded and bounded by rounds, so equal inputs give equal offsets.
//!
//! Nothing here knows about graphs, arenas or alignment: sizes are already multiples of the alignment, and so are
//! therefore all offsets.

use super::random::Random;

/// A rectangle: bytes that are needed from position `first` to position `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// First position.
    pub first: usize,
    /// Last position, not before `first`.
    pub last: usize,
    /// Bytes.
    pub size: u64,
}

impl Item {
    fn overlaps(&self, other: &Item) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// Offsets for a list of items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packing {
    /// Offset of each item, in bytes.
    pub offsets: Vec<u64>,
    /// The highest end of an item, in bytes.
    pub height: u64,
}

/// The largest sum of sizes at one position: no packing is lower.
pub fn max_load(items: &[Item]) -> u64 {
    let mut events: Vec<(usize, bool, u64)> = Vec::with_capacity(2 * items.len());
    for item in items {
        events.push((item.first, true, item.size));
        events.push((item.last + 1, false, item.size));
    }
    // Ends sort before starts of the same position.
    events.sort_unstable();
    let (mut load, mut largest) = (0_u64, 0_u64);
    for (_, starts, size) in events {
        load = if starts { load + size } else { load - size };
        largest = largest.max(load);
    }
    largest
}

/// Packs the items: the best of all constructions, then up to `rounds` rounds of local search from `seed`.
///
/// Stops as soon as [`max_load`] is reached. The sum of all sizes must fit a `u64`.
pub fn pack(items: &[Item], rounds: u32, seed: u64) -> Packing {
    let floor = max_load(items);
    let mut best = stacked(items);
    let instance = Instance::new(items);
    for weight in WEIGHTS {
        if best.height == floor {
            return best;
        }
        let order = sorted_by_weight(items, weight);
        for fit in [Fit::First, Fit::Tightest] {
            keep_lower(&mut best, instance.fit(&order, fit));
        }
    }
    if best.height > floor {
        let searched = Search::new(&instance, seed).run(rounds, floor);
        keep_lower(&mut best, searched);
    }
    best
}

fn keep_lower(best: &mut Packing, candidate: Packing) {
    if candidate.height < best.height {
        *best = candidate;
    }
}

/// Every item above the one before.
fn stacked(items: &[Item]) -> Packing {
    let mut height = 0;
    let offsets = items
        .iter()
        .map(|item| {
            height += item.size;
            height - item.size
        })
        .collect();
    Packing { offsets, height }
}

/// What a construction prefers: larger weights go first.
type Weight = fn(&Item) -> u128;

const WEIGHTS: [Weight; 5] = [
    |item| u128::from(item.size),
    |item| u128::from(item.size) * (item.last - item.first + 1) as u128,
    |item| (item.last - item.first + 1) as u128,
    |item| u128::MAX - item.first as u128,
    |item| item.last as u128,
];

fn sorted_by_weight(items: &[Item], weight: Weight) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    // Stable, so ties keep the given order.
    order.sort_by_key(|&index| std::cmp::Reverse((weight(&items[index]), items[index].size)));
    order
}

#[derive(Clone, Copy)]
enum Fit {
    First,
    Tightest,
}

/// Items with their time axis reduced to *sections*: the positions at which some item begins. Two items overlap in
/// time exactly when they share a section.
struct Instance {
    items: Vec<Item>,
    sections: usize,
    /// Load of each section.
    load: Vec<u64>,
    /// Items that begin in section `s` are `starting[starting_from[s]..starting_from[s + 1]]`.
    starting: Vec<u32>,
    starting_from: Vec<u32>,
    /// Items that overlap in time, for each item.
    neighbours: Vec<Vec<u32>>,
}

impl Instance {
    fn new(items: &[Item]) -> Self {
        let mut starts: Vec<usize> = items.iter().map(|item| item.first).collect();
        starts.sort_unstable();
        starts.dedup();
        let section_of = |position: usize| starts.partition_point(|&start| start <= position) - 1;
        let items: Vec<Item> = items
            .iter()
            .map(|item| Item { first: section_of(item.first), last: section_of(item.last), size: item.size })
            .collect();
        let mut load = vec![0; starts.len()];
        for item in &items {
            load[item.first..=item.last].iter_mut().for_each(|sum| *sum += item.size);
        }
        let mut starting: Vec<u32> = (0..items.len() as u32).collect();
        starting.sort_by_key(|&index| items[index as usize].first);
        let starting_from = (0..=starts.len())
            .map(|section| starting.partition_point(|&i| items[i as usize].first < section) as u32)
            .collect();
        let neighbours =
            items.iter().enumerate().map(|(index, item)| overlapping(&items, index, item)).collect();
        Self { sections: starts.len(), items, load, starting, starting_from, neighbours }
    }

    /// Places the items in `order`, each into a gap between those placed before that overlap it in time.
    fn fit(&self, order: &[usize], fit: Fit) -> Packing {
        let mut offsets = vec![u64::MAX; self.items.len()];
        let mut height = 0;
        let mut taken: Vec<(u64, u64)> = Vec::new();
        for &index in order {
            taken.clear();
            for &other in &self.neighbours[index] {
                let offset = offsets[other as usize];
                if offset != u64::MAX {
                    taken.push((offset, offset + self.items[other as usize].size));
                }
            }
            taken.sort_unstable();
            let size = self.items[index].size;
            offsets[index] = find_gap(&taken, size, fit);
            height = height.max(offsets[index] + size);
        }
        Packing { offsets, height }
    }
}

fn overlapping(items: &[Item], index: usize, item: &Item) -> Vec<u32> {
    (0..items.len())
        .filter(|&other| other != index && items[other].overlaps(item))
        .map(|i| i as u32)
        .collect()
}

/// Where `size` bytes fit between the ranges `taken`, which are sorted by their start.
fn find_gap(taken: &[(u64, u64)], size: u64, fit: Fit) -> u64 {
    let mut tightest: Option<(u64, u64)> = None;
    let mut end = 0;
    for &(from, to) in taken {
        if from >= end + size {
            match fit {
                Fit::First => return end,
                Fit::Tightest if tightest.is_none_or(|(gap, _)| from - end < gap) => {
                    tightest = Some((from - end, end));
                }
                Fit::Tightest => {}
            }
        }
        end = end.max(to);
    }
    tightest.map_or(end, |(_, offset)| offset)
}

/// A stretch of neighbouring sections whose address profile has one height.
#[derive(Clone, Copy)]
struct Valley {
    first: usize,
    last: usize,
    height: u64,
}

/// The skyline construction and the memory it reuses from one call to the next.
struct Skyline<'a> {
    instance: &'a Instance,
    valleys: Vec<Valley>,
    /// Load of each section that is not placed yet.
    pending: Vec<u64>,
    /// A copy of [`Instance::starting`] in which the first `waiting[s]` items of each section are not placed yet.
    starting: Vec<u32>,
    waiting: Vec<u32>,
}

impl<'a> Skyline<'a> {
    fn new(instance: &'a Instance) -> Self {
        Self { instance, valleys: Vec::new(), pending: Vec::new(), starting: Vec::new(), waiting: Vec::new() }
    }

    fn reset(&mut self) {
        let instance = self.instance;
        self.valleys.clear();
        self.valleys.push(Valley { first: 0, last: instance.sections - 1, height: 0 });
        self.pending.clone_from(&instance.load);
        self.starting.clone_from(&instance.starting);
        self.waiting.clear();
        self.waiting.extend(instance.starting_from.windows(2).map(|range| range[1] - range[0]));
    }

    /// Places every item; `None` as soon as the height is certain to exceed `limit`.
    fn build(&mut self, priority: &[u32], limit: u64, offsets: &mut [u64]) -> Option<u64> {
        self.reset();
        let mut left = self.instance.items.len();
        let mut height = 0;
        while left > 0 {
            let lowest = self.lowest_valley();
            if let Some((section, slot)) = self.best_in(self.valleys[lowest], priority) {
                let index = self.take(section, slot);
                offsets[index] = self.valleys[lowest].height;
                height = height.max(offsets[index] + self.instance.items[index].size);
                self.place(lowest, index);
                left -= 1;
            } else {
                self.raise(lowest, limit)?;
            }
        }
        (height <= limit).then_some(height)
    }

    fn lowest_valley(&self) -> usize {
        let mut lowest = 0;
        for (index, valley) in self.valleys.iter().enumerate() {
            if valley.height < self.valleys[lowest].height {
                lowest = index;
            }
        }
        lowest
    }

    /// The waiting item of highest priority that lies inside the valley, as section and place in its list.
    fn best_in(&self, valley: Valley, priority: &[u32]) -> Option<(usize, usize)> {
        let mut best = None;
        for section in valley.first..=valley.last {
            let from = self.instance.starting_from[section] as usize;
            for slot in from..from + self.waiting[section] as usize {
                let index = self.starting[slot] as usize;
                if self.instance.items[index].last <= valley.last
                    && best.is_none_or(|(highest, _)| (priority[index], index) > highest)
                {
                    best = Some(((priority[index], index), (section, slot)));
                }
            }
        }
        best.map(|(_, found)| found)
    }

    fn take(&mut self, section: usize, slot: usize) -> usize {
        self.waiting[section] -= 1;
        let last = (self.instance.starting_from[section] + self.waiting[section]) as usize;
        self.starting.swap(slot, last);
        self.starting[last] as usize
    }

    /// Cuts the valley in up to three and raises the part under the item by its size.
    fn place(&mut self, at: usize, index: usize) {
        let item = self.instance.items[index];
        let valley = self.valleys[at];
        self.pending[item.first..=item.last].iter_mut().for_each(|load| *load -= item.size);
        let mut at = at;
        if valley.first < item.first {
            self.valleys.insert(at, Valley { last: item.first - 1, ..valley });
            at += 1;
        }
        if item.last < valley.last {
            self.valleys.insert(at + 1, Valley { first: item.last + 1, ..valley });
        }
        self.valleys[at] = Valley { first: item.first, last: item.last, height: valley.height + item.size };
        self.join(at);
    }

    /// Raises a valley in which nothing fits to its lower neighbour. `None` if what is still to come above it would
    /// then pass the limit.
    fn raise(&mut self, at: usize, limit: u64) -> Option<()> {
        let left = at.checked_sub(1).map_or(u64::MAX, |left| self.valleys[left].height);
        let right = self.valleys.get(at + 1).map_or(u64::MAX, |right| right.height);
        let valley = &mut self.valleys[at];
        valley.height = left.min(right);
        let pending = self.pending[valley.first..=valley.last].iter().copied().max().unwrap_or(0);
        if pending > 0 && valley.height + pending > limit {
            return None;
        }
        self.join(at);
        Some(())
    }

    /// Joins a valley with neighbours of its height.
    fn join(&mut self, at: usize) {
        if at + 1 < self.valleys.len() && self.valleys[at + 1].height == self.valleys[at].height {
            self.valleys[at].last = self.valleys[at + 1].last;
            self.valleys.remove(at + 1);
        }
        if at > 0 && self.valleys[at - 1].height == self.valleys[at].height {
            self.valleys[at - 1].last = self.valleys[at].last;
            self.valleys.remove(at);
        }
    }
}

/// How many rounds back the search compares with.
const MEMORY_ROUNDS: usize = 50;

/// Local search over the skyline's priorities.
struct Search<'a> {
    instance: &'a Instance,
    skyline: Skyline<'a>,
    random: Random,
    priority: Vec<u32>,
    current: Packing,
    trial: Vec<u64>,
    undo: Vec<(usize, u32)>,
}

impl<'a> Search<'a> {
    fn new(instance: &'a Instance, seed: u64) -> Self {
        let mut skyline = Skyline::new(instance);
        let count = instance.items.len();
        let mut trial = vec![0; count];
        let mut start: Option<(Packing, Vec<u32>)> = None;
        for weight in WEIGHTS {
            let mut priority = vec![0; count];
            for (rank, &index) in sorted_by_weight(&instance.items, weight).iter().enumerate() {
                priority[index] = (count - rank) as u32;
            }
            if let Some(height) = skyline.build(&priority, u64::MAX, &mut trial)
                && start.as_ref().is_none_or(|(packing, _)| height < packing.height)
            {
                start = Some((Packing { offsets: trial.clone(), height }, priority));
            }
        }
        // Without a limit the construction always ends; an empty list has nothing to place.
        let (current, priority) = start.unwrap_or_else(|| (stacked(&instance.items), vec![0; count]));
        Self { instance, skyline, random: Random::new(seed), priority, current, trial, undo: Vec::new() }
    }

    /// Late-acceptance hill climbing, at most `rounds` constructions.
    fn run(mut self, rounds: u32, floor: u64) -> Packing {
        let mut best = self.current.clone();
        let mut memory = [self.current.height; MEMORY_ROUNDS];
        for round in 0..rounds as usize {
            if best.height == floor {
                break;
            }
            let remembered = &mut memory[round % MEMORY_ROUNDS];
            let limit = self.current.height.max(*remembered);
            self.change();
            match self.skyline.build(&self.priority, limit, &mut self.trial) {
                Some(height) => {
                    self.current.height = height;
                    std::mem::swap(&mut self.current.offsets, &mut self.trial);
                }
                None => self.undo.iter().rev().for_each(|&(index, old)| self.priority[index] = old),
            }
            *remembered = self.current.height;
            if self.current.height < best.height {
                best.clone_from(&self.current);
            }
        }
        best
    }

    /// Gives one to three items another priority, half of them items that reach the top.
    fn change(&mut self) {
        self.undo.clear();
        let count = self.instance.items.len();
        for _ in 0..1 + self.random.below(3) {
            let index = if self.random.below(2) == 0 { self.at_the_top() } else { self.random.below(count) };
            let neighbours = &self.instance.neighbours[index];
            if self.random.below(2) == 0 || neighbours.is_empty() {
                let priority = self.random.below(count + 1) as u32;
                self.set(index, priority);
            } else {
                let other = neighbours[self.random.below(neighbours.len())] as usize;
                let (one, two) = (self.priority[index], self.priority[other]);
                self.set(index, two);
                self.set(other, one);
            }
        }
    }

    fn set(&mut self, index: usize, priority: u32) {
        self.undo.push((index, self.priority[index]));
        self.priority[index] = priority;
    }

    /// An item whose end is the height.
    fn at_the_top(&mut self) -> usize {
        let reaches = |&index: &usize| {
            self.current.offsets[index] + self.instance.items[index].size == self.current.height
        };
        let count = (0..self.instance.items.len()).filter(reaches).count();
        let wanted = self.random.below(count.max(1));
        (0..self.instance.items.len()).filter(reaches).nth(wanted).unwrap_or(0)
    }
}
