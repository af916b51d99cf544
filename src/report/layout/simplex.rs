//! The network simplex: integers that keep given distances while a weighted sum of distances is least.
//!
//! After Gansner, Koutsofios, North and Vo, "A technique for drawing directed graphs" (1993), sections 2.3 and 4.2,
//! with the cut values kept as net weights of subtrees, so that an exchange touches one path of the tree.
//! It knows nothing of drawings; ranks and horizontal places both come from here.

/// `x[to] - x[from] >= min`, and `weight * (x[to] - x[from])` is part of the sum to be made least.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constraint {
    pub from: usize,
    pub to: usize,
    pub min: i64,
    pub weight: i64,
}

/// The constraints contain a circle.
#[derive(Debug)]
pub(super) struct Circular;

/// How many variables with a negative cut are looked at before the best of them leaves the tree.
const CANDIDATES: usize = 40;

/// Solves for `variables` integers, the least of them 0. Weights must not be negative. Always feasible; optimal unless
/// the number of exchanges, bounded to keep the time short, runs out.
pub(super) fn solve(variables: usize, constraints: &[Constraint]) -> Result<Vec<i64>, Circular> {
    let mut tree = Tree::feasible(variables, constraints)?;
    let exchanges = 30 * variables + 1000;
    for _ in 0..exchanges {
        let Some(leaving) = tree.leaving() else { break };
        if !tree.exchange(leaving) {
            break;
        }
    }
    let mut x = tree.x;
    x.truncate(variables);
    let least = x.iter().copied().min().unwrap_or(0);
    x.iter_mut().for_each(|x| *x -= least);
    Ok(x)
}

const NONE: usize = usize::MAX;

/// A feasible solution and a spanning tree of constraints that hold with equality in it.
struct Tree {
    constraints: Vec<Constraint>,
    /// Constraints at each variable.
    incident: Vec<Vec<usize>>,
    x: Vec<i64>,
    /// The tree constraint to the parent, `NONE` at the root.
    link: Vec<usize>,
    parent: Vec<usize>,
    children: Vec<Vec<usize>>,
    /// Over the subtree below each variable: weights of constraints that leave it, less those that enter it.
    net: Vec<i64>,
    /// Where the search for a negative cut goes on.
    cursor: usize,
    /// Marks the subtree at work: equal to `stamp` inside.
    inside: Vec<u32>,
    stamp: u32,
}

impl Tree {
    /// Longest paths from an added root; each variable hangs on a constraint that decided its place.
    fn feasible(variables: usize, given: &[Constraint]) -> Result<Tree, Circular> {
        let root = variables;
        let mut entering = vec![0usize; variables + 1];
        given.iter().for_each(|c| entering[c.to] += 1);
        let mut constraints = given.to_vec();
        let free = (0..variables).filter(|&v| entering[v] == 0).collect::<Vec<_>>();
        constraints.extend(free.iter().map(|&to| Constraint { from: root, to, min: 0, weight: 0 }));
        free.iter().for_each(|&v| entering[v] = 1);
        let mut incident = vec![Vec::new(); variables + 1];
        for (index, c) in constraints.iter().enumerate() {
            incident[c.from].push(index);
            incident[c.to].push(index);
        }
        let (mut x, mut link) = (vec![i64::MIN; variables + 1], vec![NONE; variables + 1]);
        x[root] = 0;
        let mut order = vec![root];
        let mut at = 0;
        while at < order.len() {
            let v = order[at];
            at += 1;
            for &index in &incident[v] {
                let c = constraints[index];
                if c.from != v {
                    continue;
                }
                if x[v] + c.min > x[c.to] {
                    x[c.to] = x[v] + c.min;
                    link[c.to] = index;
                }
                entering[c.to] -= 1;
                if entering[c.to] == 0 {
                    order.push(c.to);
                }
            }
        }
        if order.len() <= variables {
            return Err(Circular);
        }
        Ok(Tree::hang(constraints, incident, x, link, &order))
    }

    fn hang(
        constraints: Vec<Constraint>,
        incident: Vec<Vec<usize>>,
        x: Vec<i64>,
        link: Vec<usize>,
        order: &[usize],
    ) -> Tree {
        let count = x.len();
        let (mut parent, mut children) = (vec![NONE; count], vec![Vec::new(); count]);
        let mut net = vec![0i64; count];
        for c in &constraints {
            net[c.from] += c.weight;
            net[c.to] -= c.weight;
        }
        for &v in order.iter().rev().filter(|&&v| link[v] != NONE) {
            let above = constraints[link[v]].from;
            parent[v] = above;
            children[above].push(v);
            net[above] += net[v];
        }
        let inside = vec![0; count];
        Tree { constraints, incident, x, link, parent, children, net, cursor: 0, inside, stamp: 0 }
    }

    /// The cut value of the tree constraint above `v`: how the sum changes when it is stretched by one.
    fn cut(&self, v: usize) -> i64 {
        if self.constraints[self.link[v]].from == v { self.net[v] } else { -self.net[v] }
    }

    /// A variable whose tree constraint should leave the tree, if the solution is not optimal.
    fn leaving(&mut self) -> Option<usize> {
        let count = self.x.len();
        let (mut best, mut found) = (None, 0);
        for step in 0..count {
            let v = (self.cursor + step) % count;
            if self.link[v] == NONE {
                continue;
            }
            let cut = self.cut(v);
            if cut < 0 {
                found += 1;
                if best.is_none_or(|(least, _)| cut < least) {
                    best = Some((cut, v));
                }
                if found == CANDIDATES {
                    self.cursor = (v + 1) % count;
                    break;
                }
            }
        }
        best.map(|(_, v)| v)
    }

    /// Moves the subtree at `top` until another constraint holds with equality, and hangs it there. False if nothing
    /// stops it, which weights that are not negative exclude.
    fn exchange(&mut self, top: usize) -> bool {
        let members = self.subtree(top);
        let at_tail = self.constraints[self.link[top]].from == top;
        let mut entering: Option<(i64, usize)> = None;
        for &v in &members {
            for &index in &self.incident[v] {
                let c = self.constraints[index];
                let (inner, outer) = if at_tail { (c.to, c.from) } else { (c.from, c.to) };
                if inner != v || self.inside[outer] == self.stamp {
                    continue;
                }
                let slack = self.x[c.to] - self.x[c.from] - c.min;
                if entering.is_none_or(|(least, first)| (slack, index) < (least, first)) {
                    entering = Some((slack, index));
                }
            }
        }
        let Some((slack, entering)) = entering else { return false };
        let shift = if at_tail { -slack } else { slack };
        members.iter().for_each(|&v| self.x[v] += shift);
        self.rehang(top, entering);
        true
    }

    /// The variables below `top`, marked with a new stamp.
    fn subtree(&mut self, top: usize) -> Vec<usize> {
        self.stamp += 1;
        let mut members = vec![top];
        let mut at = 0;
        while at < members.len() {
            let v = members[at];
            at += 1;
            self.inside[v] = self.stamp;
            members.extend_from_slice(&self.children[v]);
        }
        members
    }

    /// Cuts the subtree at `top` off and hangs it, turned around, on the constraint `entering`.
    fn rehang(&mut self, top: usize, entering: usize) {
        let c = self.constraints[entering];
        let (inner, outer) = if self.inside[c.from] == self.stamp { (c.from, c.to) } else { (c.to, c.from) };
        let total = self.net[top];
        let old = self.parent[top];
        self.children[old].retain(|&child| child != top);
        self.add_upwards(old, -total);
        // Each variable on the path from `inner` to `top` now hangs on the one before it. Its net weight is what was
        // not below the part of the path that it hung above.
        let (mut v, mut below, mut above, mut link) = (inner, 0, outer, entering);
        loop {
            let (next, next_link, old_net) = (self.parent[v], self.link[v], self.net[v]);
            self.net[v] = total - below;
            below = old_net;
            self.parent[v] = above;
            self.link[v] = link;
            self.children[above].push(v);
            if v == top {
                break;
            }
            self.children[next].retain(|&child| child != v);
            (above, link, v) = (v, next_link, next);
        }
        self.add_upwards(outer, total);
    }

    fn add_upwards(&mut self, mut v: usize, amount: i64) {
        while v != NONE {
            self.net[v] += amount;
            v = self.parent[v];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn c(from: usize, to: usize, min: i64, weight: i64) -> Constraint {
        Constraint { from, to, min, weight }
    }

    fn sum(x: &[i64], constraints: &[Constraint]) -> i64 {
        constraints.iter().map(|c| c.weight * (x[c.to] - x[c.from])).sum()
    }

    #[test]
    fn pulls_a_source_down_to_its_only_reader() {
        let x = solve(4, &[c(0, 1, 1, 1), c(1, 2, 1, 1), c(3, 2, 1, 1)]).unwrap();
        assert_eq!(x, [0, 1, 2, 1]);
    }

    #[test]
    fn reports_a_circle() {
        assert!(solve(2, &[c(0, 1, 1, 1), c(1, 0, 1, 1)]).is_err());
    }

    /// The least sum over all places 0 ..= 6.
    fn exhaustive(variables: usize, constraints: &[Constraint]) -> i64 {
        let mut best = i64::MAX;
        let mut x = vec![0i64; variables];
        loop {
            if constraints.iter().all(|c| x[c.to] - x[c.from] >= c.min) {
                best = best.min(sum(&x, constraints));
            }
            let Some(at) = x.iter().position(|&x| x < 6) else { return best };
            x[..at].fill(0);
            x[at] += 1;
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn is_feasible_and_least(raw in proptest::collection::vec((0usize..5, 0usize..5, -1i64..2, 0i64..4), 1..9)) {
            let constraints: Vec<_> =
                raw.into_iter().filter(|r| r.0 < r.1).map(|r| c(r.0, r.1, r.2, r.3)).collect();
            let x = solve(5, &constraints).unwrap();
            for c in &constraints {
                prop_assert!(x[c.to] - x[c.from] >= c.min);
            }
            prop_assert_eq!(sum(&x, &constraints), exhaustive(5, &constraints));
        }
    }
}
