//! Numbers of a run: the caller's symbols, and counts as they become known.

use std::collections::BTreeMap;

use crate::graph::expr::{EvalError, Expr};
use crate::graph::model::Graph;

/// Symbols and the counts that are known.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    of: BTreeMap<String, u64>,
}

impl Numbers {
    /// The symbols, and no counts yet.
    pub(super) fn new(symbols: &BTreeMap<String, u64>) -> Numbers {
        Numbers { of: symbols.clone() }
    }

    /// Sets a count.
    pub(super) fn learn(&mut self, count: &str, number: u64) {
        self.of.insert(count.to_owned(), number);
    }

    /// A symbol or known count.
    pub(super) fn get(&self, name: &str) -> Option<u64> {
        self.of.get(name).copied()
    }

    /// The number of an expression, if it has one and every count that it mentions is known.
    pub(super) fn exact(&self, expr: &Expr) -> Option<u64> {
        expr.eval(&|name| self.get(name)).ok()
    }

    /// The largest number that an expression can have: counts that are not known lie between 0 and their maxima.
    pub(super) fn most(&self, graph: &Graph, expr: &Expr) -> Result<u64, EvalError> {
        let lookup = |name: &str| self.get(name);
        if expr.symbols().all(|name| self.of.contains_key(name)) {
            return expr.eval(&lookup);
        }
        let known = expr.substitute(&|name| self.get(name).map(Expr::Num));
        graph.at_most(&known).eval(&lookup)
    }
}
