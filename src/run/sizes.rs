//! Numbers of a run: the caller's symbols, and counts as they become known.

use std::collections::HashMap;

use crate::graph::document::Relation;
use crate::graph::expr::Expr;
use crate::graph::model::Graph;

use super::error::RunError;

/// Symbols and counts of one run. A count stands for its maximum until the host has read it.
#[derive(Clone, Debug)]
pub struct Sizes {
    numbers: HashMap<String, u64>,
    /// Counts that are not yet known.
    unknown: Vec<String>,
}

impl Sizes {
    /// Takes the caller's numbers, refuses missing and unknown ones, and checks the graph's bounds.
    pub fn new(graph: &Graph, symbols: &[(String, u64)]) -> Result<Sizes, RunError> {
        if let Some((name, _)) = symbols.iter().find(|(name, _)| graph.symbols.iter().all(|s| s.name != *name)) {
            let known: Vec<_> = graph.symbols.iter().map(|symbol| format!("`{}`", symbol.name)).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(RunError::UnknownSymbol { name: name.clone(), known });
        }
        let mut sizes = Sizes { numbers: HashMap::new(), unknown: Vec::new() };
        for symbol in &graph.symbols {
            // Of a number given twice, the last counts.
            let given = symbols.iter().rev().find(|(name, _)| *name == symbol.name);
            let Some(&(_, number)) = given else {
                return Err(RunError::MissingSymbol { name: symbol.name.clone(), doc: symbol.doc.clone() });
            };
            sizes.numbers.insert(symbol.name.clone(), number);
        }
        sizes.check_bounds(graph)?;
        for count in &graph.counts {
            let max = sizes.eval(&count.max, || format!("the maximum of count `{}`", count.name))?;
            sizes.numbers.insert(count.name.clone(), max);
            sizes.unknown.push(count.name.clone());
        }
        Ok(sizes)
    }

    fn check_bounds(&self, graph: &Graph) -> Result<(), RunError> {
        for bound in &graph.bounds {
            let what = || format!("the bound `{}`", bound.text);
            let (left, right) = (self.eval(&bound.left, what)?, self.eval(&bound.right, what)?);
            let holds = match bound.relation {
                Relation::AtMost => left <= right,
                Relation::Below => left < right,
                Relation::Equal => left == right,
            };
            if !holds {
                let (bound, why) = (bound.text.clone(), bound.why.clone());
                return Err(RunError::Bound { bound, left, right, why });
            }
        }
        Ok(())
    }

    /// The number of a symbol or count; a count's maximum while it is not known.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.numbers.get(name).copied()
    }

    /// Sets a count that the host has read.
    pub fn learn(&mut self, count: &str, number: u64) {
        self.numbers.insert(count.to_owned(), number);
        self.unknown.retain(|name| name != count);
    }

    /// Evaluates an expression; `what` says whose number it is, for the error.
    pub fn eval(&self, expr: &Expr, what: impl FnOnce() -> String) -> Result<u64, RunError> {
        expr.eval(&|name| self.number(name)).map_err(|error| RunError::Number { what: what(), error })
    }

    /// As [`eval`](Self::eval), with a number for `step`.
    pub fn eval_step(&self, expr: &Expr, step: u64, what: impl FnOnce() -> String) -> Result<u64, RunError> {
        let lookup = |name: &str| if name == crate::graph::pass::STEP { Some(step) } else { self.number(name) };
        expr.eval(&lookup).map_err(|error| RunError::Number { what: what(), error })
    }

    /// Whether every number that an expression mentions is exact.
    pub fn knows(&self, expr: &Expr) -> bool {
        expr.symbols().all(|symbol| !self.unknown.iter().any(|name| name == symbol))
    }
}
