//! Numbers for a graph's symbols and counts, and what they say about lengths and bytes.

use std::collections::HashMap;

use crate::graph::diagnostic::nearest;
use crate::graph::document::Relation;
use crate::graph::expr::{EvalError, Expr, Fault};
use crate::graph::model::{Bound, ElementType, Graph};

/// Numbers of symbols and counts; any may be missing.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    numbers: HashMap<String, u64>,
}

/// Why numbers do not fit a graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizesError {
    /// No symbol or count has this name.
    #[error("the graph has no symbol or count `{name}`{help}")]
    Unknown {
        /// The name.
        name: String,
        /// What may have been meant.
        help: String,
    },
    /// One name was given two numbers.
    #[error("`{0}` is given twice")]
    Twice(String),
    /// A count above its maximum.
    #[error("the count `{name}` cannot be {number}: it is at most {max}, which is `{expr}`")]
    AboveMaximum {
        /// The count.
        name: String,
        /// Its number.
        number: u64,
        /// The maximum.
        max: u64,
        /// The maximum as the graph says it.
        expr: String,
    },
    /// A bound of the graph does not hold.
    #[error("`{text}` does not hold: {left} against {right} ({why})")]
    Bound {
        /// The bound.
        text: String,
        /// What its left side is.
        left: u64,
        /// What its right side is.
        right: u64,
        /// Why it has to hold.
        why: String,
    },
    /// An expression of the graph has no number.
    #[error("{what} has no number: {error}")]
    Arithmetic {
        /// What it is the length of, or the like.
        what: String,
        /// Why.
        error: EvalError,
    },
}

impl Sizes {
    /// Takes numbers for a graph's symbols and counts. Counts that are not given are taken at their maxima.
    pub fn new(graph: &Graph, given: &[(String, u64)]) -> Result<Sizes, SizesError> {
        let mut sizes = Sizes::default();
        let names = graph.symbols.iter().map(|symbol| &symbol.name);
        let names = names.chain(graph.counts.iter().map(|count| &count.name)).map(String::as_str);
        for (name, number) in given {
            if !names.clone().any(|known| known == name) {
                let all = || format!("; it has {}", names.clone().collect::<Vec<_>>().join(", "));
                let help =
                    nearest(name, names.clone()).map_or_else(all, |near| format!("; is `{near}` meant?"));
                return Err(SizesError::Unknown { name: name.clone(), help });
            }
            if sizes.numbers.insert(name.clone(), *number).is_some() {
                return Err(SizesError::Twice(name.clone()));
            }
        }
        for bound in &graph.bounds {
            sizes.check(bound)?;
        }
        // Maxima mention earlier counts only.
        for count in &graph.counts {
            let Some(max) = sizes.number(&count.max, || format!("the maximum of `{}`", count.name))? else {
                continue;
            };
            let number = *sizes.numbers.entry(count.name.clone()).or_insert(max);
            if number > max {
                let (name, expr) = (count.name.clone(), count.max.to_string());
                return Err(SizesError::AboveMaximum { name, number, max, expr });
            }
        }
        for value in &graph.values {
            sizes.number(&value.len, || format!("the length of `{}`", value.name))?;
        }
        Ok(sizes)
    }

    fn check(&self, bound: &Bound) -> Result<(), SizesError> {
        let side = |expr| self.number(expr, || format!("the bound `{}`", bound.text));
        let (Some(left), Some(right)) = (side(&bound.left)?, side(&bound.right)?) else { return Ok(()) };
        let holds = match bound.relation {
            Relation::AtMost => left <= right,
            Relation::Below => left < right,
            Relation::Equal => left == right,
        };
        if holds {
            return Ok(());
        }
        Err(SizesError::Bound { text: bound.text.clone(), left, right, why: bound.why.clone() })
    }

    /// The number of an expression; `None` if it mentions a name without a number.
    fn number(&self, expr: &Expr, what: impl FnOnce() -> String) -> Result<Option<u64>, SizesError> {
        match expr.eval(&|name| self.numbers.get(name).copied()) {
            Ok(number) => Ok(Some(number)),
            Err(error) if error.fault == Fault::Unknown => Ok(None),
            Err(error) => Err(SizesError::Arithmetic { what: what(), error }),
        }
    }

    /// The number given to a name, or for a count its maximum.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.numbers.get(name).copied()
    }

    /// The number of an expression, if it has one.
    pub fn eval(&self, expr: &Expr) -> Option<u64> {
        self.number(expr, String::new).ok().flatten()
    }

    /// The bytes of so many elements, if their number is known.
    pub fn bytes(&self, element: &ElementType, len: &Expr) -> Option<u64> {
        self.eval(len)?.checked_mul(element.layout.stride_bytes())
    }
}
