//! The order of nodes: a few deterministic candidates, of which the one with the lowest live maximum is kept.
//!
//! Candidates are the given order, the node that needs the least memory next (as PyTorch's scheduler does it), depth
//! first from the results, and breadth first. A longer search perturbs the best of them. Every candidate keeps the
//! segments in sequence.

use super::place::{Item, max_load};
use super::problem::Problem;
use super::random::Random;

/// The interval of positions in which each buffer is live under `order`, with aligned sizes.
pub fn live_items(problem: &Problem, order: &[usize]) -> Vec<Item> {
    let mut items: Vec<Item> = problem
        .buffers
        .iter()
        .map(|buffer| Item {
            first: usize::MAX,
            last: 0,
            size: problem.aligned(buffer.size_bytes).expect("Problem::check adds up all aligned sizes"),
        })
        .collect();
    for (position, &node) in order.iter().enumerate() {
        for used in &problem.nodes[node].uses {
            let item = &mut items[used.buffer];
            item.first = item.first.min(position);
            item.last = item.last.max(position);
        }
    }
    let end = order.len().max(1) - 1;
    for (item, buffer) in items.iter_mut().zip(&problem.buffers) {
        let mut include = |position: usize| {
            item.first = item.first.min(position);
            item.last = item.last.max(position);
        };
        if let Some(segment) = buffer.filled_before {
            include(order.partition_point(|&node| problem.nodes[node].segment < segment).min(end));
        }
        if let Some(segment) = buffer.read_after {
            include(order.partition_point(|&node| problem.nodes[node].segment <= segment).max(1) - 1);
        }
        if buffer.dedicated {
            (item.first, item.last) = (0, end);
        }
        // A buffer that nobody touches is live at one position.
        item.first = item.first.min(item.last);
    }
    items
}

/// The candidate orders, each once, by live maximum; the given order first among equals.
pub fn candidates(problem: &Problem, rounds: u32, seed: u64) -> Vec<(u64, Vec<usize>)> {
    let scheduler = Scheduler::new(problem);
    let given: Vec<usize> = (0..problem.nodes.len()).collect();
    let mut orders = vec![scheduler.by_rank(&given), scheduler.least_memory()];
    orders.push(scheduler.by_rank(&scheduler.depth_first()));
    orders.push(scheduler.by_rank(&scheduler.depths()));
    let mut found: Vec<(u64, Vec<usize>)> = Vec::new();
    for order in orders {
        if found.iter().all(|(_, other)| *other != order) {
            found.push((max_load(&live_items(problem, &order)), order));
        }
    }
    found.sort_by_key(|(bound, _)| *bound);
    if rounds > 0 && problem.nodes.len() > 2 {
        let improved = scheduler.improve(&found[0], rounds, seed);
        if improved.0 < found[0].0 {
            found.insert(0, improved);
        }
    }
    found
}

/// A random topological order and its live maximum.
pub fn random(problem: &Problem, seed: u64) -> (u64, Vec<usize>) {
    let mut random = Random::new(seed);
    let order = Scheduler::new(problem).schedule(|ready| random.below(ready.len()));
    (max_load(&live_items(problem, &order)), order)
}

/// Builds orders node by node from those that are ready.
struct Scheduler<'a> {
    problem: &'a Problem,
    /// Nodes that wait for each node, once for every mention.
    followers: Vec<Vec<usize>>,
    /// Distinct buffers of each node.
    buffers: Vec<Vec<usize>>,
    /// Number of nodes that use each buffer.
    users: Vec<usize>,
}

impl<'a> Scheduler<'a> {
    fn new(problem: &'a Problem) -> Self {
        let mut followers = vec![Vec::new(); problem.nodes.len()];
        let mut users = vec![0; problem.buffers.len()];
        let mut buffers = Vec::with_capacity(problem.nodes.len());
        for (index, node) in problem.nodes.iter().enumerate() {
            node.after.iter().for_each(|&before| followers[before].push(index));
            let mut used: Vec<usize> = node.uses.iter().map(|one| one.buffer).collect();
            used.sort_unstable();
            used.dedup();
            used.iter().for_each(|&buffer| users[buffer] += 1);
            buffers.push(used);
        }
        Self { problem, followers, buffers, users }
    }

    /// Runs `choose` on the ready nodes of the earliest unfinished segment until all are placed. `choose` returns a
    /// position in the list it is given.
    fn schedule(&self, mut choose: impl FnMut(&[usize]) -> usize) -> Vec<usize> {
        let nodes = &self.problem.nodes;
        let mut waits: Vec<usize> = nodes.iter().map(|node| node.after.len()).collect();
        let mut unfinished: Vec<usize> = (0..nodes.len()).collect();
        unfinished.sort_by_key(|&node| nodes[node].segment);
        let mut order = Vec::with_capacity(nodes.len());
        while let Some(&next) = unfinished.get(order.len()) {
            let segment = nodes[next].segment;
            let members =
                unfinished[order.len()..].iter().take_while(|&&node| nodes[node].segment == segment);
            let mut ready: Vec<usize> = members.copied().filter(|&node| waits[node] == 0).collect();
            while !ready.is_empty() {
                let node = ready.remove(choose(&ready));
                order.push(node);
                for &follower in &self.followers[node] {
                    waits[follower] -= 1;
                    if waits[follower] == 0 && nodes[follower].segment == segment {
                        ready.push(follower);
                    }
                }
            }
        }
        order
    }

    /// The ready node of lowest rank next; ties to the given order.
    fn by_rank(&self, rank: &[usize]) -> Vec<usize> {
        self.schedule(|ready| position_of_min(ready, |node| (rank[node], node)))
    }

    /// The ready node with the least memory while it runs next, then the one that leaves the least behind.
    fn least_memory(&self) -> Vec<usize> {
        let problem = self.problem;
        let mut left = self.users.clone();
        let size = |buffer: usize| i128::from(problem.buffers[buffer].size_bytes);
        let mut begun: Vec<bool> =
            problem.buffers.iter().map(|buffer| buffer.filled_before.is_some()).collect();
        self.schedule(|ready| {
            let cost = |node: usize| {
                let (mut begins, mut ends) = (0, 0);
                for &buffer in &self.buffers[node] {
                    begins += if begun[buffer] { 0 } else { size(buffer) };
                    let kept = problem.buffers[buffer].read_after.is_some() || left[buffer] > 1;
                    ends += if kept { 0 } else { size(buffer) };
                }
                (begins, begins - ends, node)
            };
            let chosen = position_of_min(ready, cost);
            for &buffer in &self.buffers[ready[chosen]] {
                begun[buffer] = true;
                left[buffer] -= 1;
            }
            chosen
        })
    }

    /// Ranks that finish what one result needs before the next is begun: post-order from the nodes nobody waits for.
    fn depth_first(&self) -> Vec<usize> {
        let nodes = &self.problem.nodes;
        let mut rank = vec![usize::MAX; nodes.len()];
        let mut next_rank = 0;
        let mut entered = vec![false; nodes.len()];
        let mut stack: Vec<(usize, bool)> = (0..nodes.len())
            .rev()
            .filter(|&node| self.followers[node].is_empty())
            .map(|node| (node, false))
            .collect();
        while let Some((node, leaving)) = stack.pop() {
            if leaving {
                rank[node] = next_rank;
                next_rank += 1;
            } else if !std::mem::replace(&mut entered[node], true) {
                stack.push((node, true));
                stack.extend(nodes[node].after.iter().rev().map(|&before| (before, false)));
            }
        }
        rank
    }

    /// The length of the longest path to each node.
    fn depths(&self) -> Vec<usize> {
        let mut depth: Vec<usize> = Vec::with_capacity(self.problem.nodes.len());
        for node in &self.problem.nodes {
            let deepest = node.after.iter().map(|&before| depth[before] + 1).max();
            depth.push(deepest.unwrap_or(0));
        }
        depth
    }

    /// Hill climbing over ranks: moves one node to another place and keeps what does not raise the live maximum.
    fn improve(&self, start: &(u64, Vec<usize>), rounds: u32, seed: u64) -> (u64, Vec<usize>) {
        let mut random = Random::new(seed);
        let mut best = start.clone();
        let count = best.1.len();
        let mut rank = vec![0; count];
        for _ in 0..rounds {
            let mut wanted = best.1.clone();
            let node = wanted.remove(random.below(count));
            wanted.insert(random.below(count), node);
            wanted.iter().enumerate().for_each(|(position, &node)| rank[node] = position);
            let order = self.by_rank(&rank);
            let bound = max_load(&live_items(self.problem, &order));
            if bound <= best.0 {
                best = (bound, order);
            }
        }
        best
    }
}

fn position_of_min<K: Ord>(ready: &[usize], key: impl Fn(usize) -> K) -> usize {
    (0..ready.len()).min_by_key(|&position| key(ready[position])).unwrap_or(0)
}
