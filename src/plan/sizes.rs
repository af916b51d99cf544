//! How large things can become: expressions over symbols, which are known, and counts, of which only the maxima are.
//!
//! A count lies anywhere between 0 and its maximum, so expressions that mention counts are evaluated over intervals:
//! `records - survivors` is largest when `survivors` is 0. The result is never too small; it can be too large where one
//! count is mentioned several times.

use std::collections::BTreeMap;

use crate::graph::expr::{EvalError, Expr, Fault, Function, Operator};
use crate::graph::model::Graph;

/// A closed interval.
type Range = (u64, u64);

/// What symbols and counts can be.
#[derive(Clone, Debug)]
pub struct Ranges {
    of: BTreeMap<String, Range>,
}

impl Ranges {
    /// Symbols as given, counts from 0 to their maxima.
    ///
    /// # Errors
    /// The name of a count and why its maximum has no number.
    pub fn new(graph: &Graph, symbols: &BTreeMap<String, u64>) -> Result<Self, (String, EvalError)> {
        let mut ranges =
            Self { of: symbols.iter().map(|(name, &number)| (name.clone(), (number, number))).collect() };
        for count in &graph.counts {
            let max = ranges.most(&count.max).map_err(|error| (count.name.clone(), error))?;
            ranges.of.insert(count.name.clone(), (0, max));
        }
        Ok(ranges)
    }

    /// The largest number that the expression can have.
    ///
    /// # Errors
    /// When it has none, or one past 64 bits.
    pub fn most(&self, expr: &Expr) -> Result<u64, EvalError> {
        self.range(expr).map(|(_, most)| most)
    }

    fn range(&self, expr: &Expr) -> Result<Range, EvalError> {
        let operands = match expr {
            Expr::Num(number) => return Ok((*number, *number)),
            Expr::Symbol(name) => {
                let unknown =
                    || EvalError { part: expr.clone(), operands: Vec::new(), fault: Fault::Unknown };
                return self.of.get(name).copied().ok_or_else(unknown);
            }
            Expr::Binary(_, left, right) => vec![self.range(left)?, self.range(right)?],
            Expr::Call(_, arguments) => {
                arguments.iter().map(|one| self.range(one)).collect::<Result<_, _>>()?
            }
        };
        let result = match expr {
            Expr::Binary(operator, ..) => binary(*operator, operands[0], operands[1]),
            Expr::Call(function, _) => call(*function, &operands),
            Expr::Num(_) | Expr::Symbol(_) => Err(Fault::Unknown),
        };
        result.map_err(|fault| {
            let operands = operands.iter().map(|&(_, most)| most).collect();
            EvalError { part: expr.clone(), operands, fault }
        })
    }
}

fn binary(operator: Operator, left: Range, right: Range) -> Result<Range, Fault> {
    Ok(match operator {
        Operator::Add => {
            (left.0.saturating_add(right.0), left.1.checked_add(right.1).ok_or(Fault::Overflow)?)
        }
        Operator::Subtract => {
            (left.0.saturating_sub(right.1), left.1.checked_sub(right.0).ok_or(Fault::Negative)?)
        }
        Operator::Multiply => {
            (left.0.saturating_mul(right.0), left.1.checked_mul(right.1).ok_or(Fault::Overflow)?)
        }
    })
}

fn call(function: Function, operands: &[Range]) -> Result<Range, Fault> {
    let x = operands.first().copied().ok_or(Fault::Unknown)?;
    let y = operands.get(1).copied().unwrap_or(x);
    let lows = operands.iter().map(|range| range.0);
    let highs = operands.iter().map(|range| range.1);
    match function {
        Function::Min => Ok((lows.min().unwrap_or(0), highs.min().unwrap_or(0))),
        Function::Max => Ok((lows.max().unwrap_or(0), highs.max().unwrap_or(0))),
        Function::CeilDiv | Function::Align if y.1 == 0 => Err(Fault::DivisionByZero),
        Function::CeilDiv => Ok((x.0.div_ceil(y.1), x.1.div_ceil(y.0.max(1)))),
        Function::Align if y.0 == y.1 => {
            let most = x.1.checked_next_multiple_of(y.1).ok_or(Fault::Overflow)?;
            Ok((x.0.next_multiple_of(y.1), most))
        }
        // Rounding up adds less than what it rounds to.
        Function::Align => Ok((x.0, x.1.checked_add(y.1 - 1).ok_or(Fault::Overflow)?)),
        Function::NextPow2 => {
            let most = x.1.checked_next_power_of_two().ok_or(Fault::Overflow)?;
            Ok((x.0.next_power_of_two(), most))
        }
        Function::Log2 => {
            let most = x.1.checked_ilog2().ok_or(Fault::LogarithmOfZero)?;
            Ok((x.0.checked_ilog2().unwrap_or(0).into(), most.into()))
        }
        Function::Shr => Ok((shift_right(x.0, y.1), shift_right(x.1, y.0))),
    }
}

fn shift_right(number: u64, bits: u64) -> u64 {
    u32::try_from(bits).ok().and_then(|bits| number.checked_shr(bits)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(of: &[(&str, u64, u64)]) -> Ranges {
        Ranges { of: of.iter().map(|&(name, low, high)| (name.into(), (low, high))).collect() }
    }

    #[test]
    fn the_interval_covers_every_value_of_the_count() {
        let texts = [
            "n - c",
            "n + c",
            "n * c + 3",
            "ceil_div(n, c + 1)",
            "align(c, 7)",
            "align(n, c + 1)",
            "min(c, 5)",
            "max(c, 5)",
            "next_pow2(c)",
            "log2(c + 1)",
            "shr(n, c)",
            "n - min(c, 9)",
            "ceil_div(n - c, 4)",
        ];
        let over = ranges(&[("n", 20, 20), ("c", 0, 20)]);
        for text in texts {
            let expr = Expr::parse(text).unwrap();
            let (low, high) = over.range(&expr).unwrap();
            let at = |c: u64| expr.eval(&|name| Some(if name == "n" { 20 } else { c })).unwrap();
            for c in 0..=20 {
                assert!((low..=high).contains(&at(c)), "{text} is {} at {c}, outside {low} to {high}", at(c));
            }
            let exact = text != "align(n, c + 1)";
            assert!(!exact || (0..=20).any(|c| at(c) == high), "{text} is never {high}");
        }
    }

    #[test]
    fn faults_name_the_part() {
        let over = ranges(&[("n", 20, 20), ("c", 0, 5)]);
        let error = over.most(&Expr::parse("1 + (c - n)").unwrap()).unwrap_err();
        assert_eq!(error.to_string(), "`c - n` is below zero (operands: 5, 20)");
        let error = over.most(&Expr::parse("c * 2^63").unwrap()).unwrap_err();
        assert_eq!(error.fault, Fault::Overflow);
    }
}
