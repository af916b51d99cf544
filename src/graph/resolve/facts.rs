//! What is known about numbers before anything runs: bounds on symbols and maxima of counts. With it, whether two
//! lengths agree.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::super::diagnostic::{Diagnostic, Diagnostics};
use super::super::document::Relation;
use super::super::expr::{Comparison, Expr};
use super::super::extreme::{at_least, at_most};
use super::super::model::Bound;
use super::numbers::Numbers;
use super::tree::Tree;

/// Bounds and maxima of the flat graph.
#[derive(Default)]
pub struct Facts {
    /// Bounds over symbols alone, each once, in an order that does not depend on files.
    pub bounds: Vec<Bound>,
    /// Counts by flat name, with their maxima over symbols and counts.
    pub maxima: BTreeMap<String, Expr>,
    /// Counts that only the device knows.
    pub unawaited: BTreeSet<String>,
    /// Symbols that bounds give a number.
    equal: HashMap<String, Expr>,
}

impl Facts {
    /// Collects and checks the bounds and maxima of every scope.
    pub fn collect(tree: &Tree, numbers: &mut Numbers, diagnostics: &mut Diagnostics) -> Facts {
        let mut facts = Facts::default();
        facts.collect_maxima(tree, numbers, diagnostics);
        let mut bounds = BTreeMap::new();
        for scope in 0..tree.scopes.len() {
            for required in &tree.file(scope).require {
                let at = required.text.span;
                let left = numbers.flatten(scope, &required.left, at, diagnostics);
                let right = numbers.flatten(scope, &required.right, at, diagnostics);
                let (Some(left), Some(right)) = (left, right) else { continue };
                let text = format!("{left} {} {right}", relation_text(required.relation));
                if let Some(bound) = facts.bound(&text, left, required.relation, right, &required.why) {
                    bounds.entry(text).or_insert(bound);
                } else {
                    diagnostics.push(
                        Diagnostic::at(at, "this bound cannot be checked before anything runs")
                            .label(format!("`{text}`"))
                            .help("what is equal to a count is only known when the count is; use `<=`"),
                    );
                }
            }
        }
        facts.bounds = bounds.into_values().collect();
        facts.collect_equal();
        facts
    }

    fn collect_maxima(&mut self, tree: &Tree, numbers: &mut Numbers, diagnostics: &mut Diagnostics) {
        for index in 0..numbers.counts.len() {
            let count = &numbers.counts[index];
            let decl = &tree.file(count.scope).counts[count.index].1;
            let (name, scope, awaited) = (count.name.clone(), count.scope, count.awaited);
            if !awaited {
                self.unawaited.insert(name.clone());
            }
            if let Some(max) = numbers.flatten(scope, &decl.max.value, decl.max.span, diagnostics) {
                self.maxima.insert(name, max);
            }
        }
        let circular: Vec<String> =
            self.maxima.keys().filter(|name| self.is_circular(name)).cloned().collect();
        for name in circular {
            if let Some(count) = numbers.count(&name) {
                let (declared, decl) = &tree.file(count.scope).counts[count.index];
                diagnostics.push(
                    Diagnostic::at(
                        decl.max.span,
                        format!("the maximum of `{}` depends on itself", declared.value),
                    )
                    .label("a maximum is over symbols and other counts"),
                );
            }
            self.maxima.remove(&name);
        }
    }

    /// Whether the maximum of a count mentions the count, directly or through other counts.
    fn is_circular(&self, name: &str) -> bool {
        let mut pending = vec![name];
        let mut seen = BTreeSet::new();
        while let Some(next) = pending.pop() {
            for mentioned in self.maxima.get(next).into_iter().flat_map(Expr::symbols) {
                if mentioned == name {
                    return true;
                }
                if seen.insert(mentioned) {
                    pending.push(mentioned);
                }
            }
        }
        false
    }

    /// A bound over symbols alone that implies the given one for all numbers that its counts can be; none for an
    /// equation with counts in it.
    fn bound(&self, text: &str, left: Expr, relation: Relation, right: Expr, why: &str) -> Option<Bound> {
        let counts = |expr: &Expr| expr.symbols().any(|name| self.maxima.contains_key(name));
        if relation == Relation::Equal && (counts(&left) || counts(&right)) {
            return None;
        }
        let maximum = |name: &str| self.maxima.get(name);
        let (left, right) = (at_most(&left, &maximum), at_least(&right, &maximum));
        Some(Bound { text: text.to_string(), left, relation, right, why: why.to_string() })
    }

    fn collect_equal(&mut self) {
        for bound in self.bounds.iter().filter(|bound| bound.relation == Relation::Equal) {
            let Expr::Symbol(name) = &bound.left else { continue };
            let tangled = |other: &str| other == name || self.equal.contains_key(other);
            let used = |expr: &Expr| expr.symbols().any(|other| other == name);
            if !tangled(name) || self.equal.is_empty() {
                let free = !bound.right.symbols().any(tangled) && !self.equal.values().any(used);
                if free {
                    self.equal.insert(name.clone(), bound.right.clone());
                }
            }
        }
    }

    /// Whether two lengths agree wherever the bounds hold.
    pub fn compare(&self, left: &Expr, right: &Expr) -> Comparison {
        if left == right {
            return Comparison::Same;
        }
        let left = left.substitute(&|name| self.equal.get(name).cloned());
        let right = right.substitute(&|name| self.equal.get(name).cloned());
        let names = self.closure(left.symbols().chain(right.symbols()));
        let known = |expr: &Expr| expr.symbols().all(|name| names.contains(name));
        let bounds: Vec<&Bound> = self.bounds.iter().filter(|b| known(&b.left) && known(&b.right)).collect();
        let maxima: Vec<(&String, &Expr)> =
            self.maxima.iter().filter(|(name, _)| names.contains(*name)).collect();
        let admits = |lookup: &dyn Fn(&str) -> Option<u64>| {
            bounds.iter().all(|bound| bound_holds(bound, lookup))
                && maxima.iter().all(|(name, max)| match (lookup(name), max.eval(lookup)) {
                    (Some(number), Ok(max)) => number <= max,
                    _ => false,
                })
        };
        match left.compare(&right, &admits) {
            Comparison::Unknown => left.compare(&right, &|_| true),
            comparison => comparison,
        }
    }

    /// These names and those that the maxima of counts among them mention.
    fn closure<'e>(&'e self, names: impl Iterator<Item = &'e str>) -> BTreeSet<String> {
        let mut pending: Vec<&str> = names.collect();
        let mut closed = BTreeSet::new();
        while let Some(name) = pending.pop() {
            if closed.insert(name.to_string()) {
                pending.extend(self.maxima.get(name).into_iter().flat_map(Expr::symbols));
            }
        }
        closed
    }
}

/// A relation as files write it.
pub fn relation_text(relation: Relation) -> &'static str {
    match relation {
        Relation::AtMost => "<=",
        Relation::Below => "<",
        Relation::Equal => "==",
    }
}

fn bound_holds(bound: &Bound, lookup: &dyn Fn(&str) -> Option<u64>) -> bool {
    match (bound.left.eval(lookup), bound.right.eval(lookup)) {
        (Ok(left), Ok(right)) => match bound.relation {
            Relation::AtMost => left <= right,
            Relation::Below => left < right,
            Relation::Equal => left == right,
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Expr {
        Expr::parse(text).unwrap()
    }

    fn facts(bounds: &[&str], maxima: &[(&str, &str)]) -> Facts {
        let maxima = maxima.iter().map(|(name, max)| (name.to_string(), parse(max))).collect();
        let mut facts = Facts { maxima, ..Facts::default() };
        for text in bounds {
            let (left, relation, right) = Expr::parse_relation(text).unwrap();
            facts.bounds.extend(facts.bound(text, left, relation, right, ""));
        }
        facts.collect_equal();
        facts
    }

    #[test]
    fn bounds_and_maxima_decide_comparisons() {
        let same =
            |facts: &Facts, left, right| facts.compare(&parse(left), &parse(right)) == Comparison::Same;
        assert!(same(&facts(&["words == ceil_div(bits, 32)"], &[]), "words + 1", "ceil_div(bits, 32) + 1"));
        assert!(same(&facts(&["n <= 100"], &[]), "min(n, 100)", "n"));
        assert!(!same(&facts(&[], &[]), "min(n, 100)", "n"));
        assert!(same(&facts(&[], &[("m", "n")]), "max(m, n)", "n"));
        assert!(!same(&facts(&[], &[]), "max(m, n)", "n"));
        assert!(!same(&facts(&[], &[("m", "n")]), "m", "n"));
    }

    #[test]
    fn equations_that_go_round_are_left_alone() {
        let facts = facts(&["a == b + 1", "b == a", "c == c"], &[]);
        assert_eq!(facts.equal.len(), 1);
        assert_eq!(facts.compare(&parse("a"), &parse("b + 1")), Comparison::Same);
    }

    #[test]
    fn maxima_stand_for_counts_in_bounds() {
        let facts = facts(&["m * 2 <= 100", "n == m"], &[("m", "k + 1"), ("k", "n")]);
        assert_eq!(facts.bounds.len(), 1);
        assert_eq!(facts.bounds[0].left, parse("(n + 1) * 2"));
    }
}
