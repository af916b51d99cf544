//! How large and how small an expression can be when the counts in it are only known to lie between 0 and a maximum.
//!
//! The results are expressions over symbols alone. They need not be reached: `n - m + m` is taken to be anything from
//! `n - max` to `n + max`.

use super::expr::{Expr, Function, Operator};

/// The maximum of a count by name; none for a symbol. Maxima may mention counts, but not in a circle.
type Maximum<'m> = dyn Fn(&str) -> Option<&'m Expr> + 'm;

/// An upper bound over symbols alone.
pub fn at_most(expr: &Expr, maximum: &Maximum<'_>) -> Expr {
    let most = |expr: &Expr| at_most(expr, maximum);
    let least = |expr: &Expr| at_least(expr, maximum);
    match expr {
        Expr::Num(_) => expr.clone(),
        Expr::Symbol(name) => maximum(name).map_or_else(|| expr.clone(), most),
        _ if is_known(expr, maximum) => expr.clone(),
        Expr::Binary(Operator::Subtract, left, right) => binary(Operator::Subtract, most(left), least(right)),
        Expr::Binary(operator, left, right) => binary(*operator, most(left), most(right)),
        Expr::Call(Function::CeilDiv, arguments) => {
            let divisor = at_least_one(least(&arguments[1]), is_known(&arguments[1], maximum));
            Expr::Call(Function::CeilDiv, vec![most(&arguments[0]), divisor])
        }
        Expr::Call(Function::Align, arguments) if !is_known(&arguments[1], maximum) => {
            binary(Operator::Add, most(&arguments[0]), most(&arguments[1]))
        }
        Expr::Call(Function::Shr, arguments) => {
            Expr::Call(Function::Shr, vec![most(&arguments[0]), least(&arguments[1])])
        }
        Expr::Call(function, arguments) => Expr::Call(*function, arguments.iter().map(most).collect()),
    }
}

/// A lower bound over symbols alone.
pub fn at_least(expr: &Expr, maximum: &Maximum<'_>) -> Expr {
    let most = |expr: &Expr| at_most(expr, maximum);
    let least = |expr: &Expr| at_least(expr, maximum);
    match expr {
        Expr::Num(_) => expr.clone(),
        Expr::Symbol(name) => maximum(name).map_or_else(|| expr.clone(), |_| Expr::Num(0)),
        _ if is_known(expr, maximum) => expr.clone(),
        Expr::Binary(Operator::Subtract, left, right) => {
            let right = most(right);
            let left = Expr::Call(Function::Max, vec![least(left), right.clone()]);
            binary(Operator::Subtract, left, right)
        }
        Expr::Binary(operator, left, right) => binary(*operator, least(left), least(right)),
        Expr::Call(Function::CeilDiv, arguments) => {
            let divisor = at_least_one(most(&arguments[1]), is_known(&arguments[1], maximum));
            Expr::Call(Function::CeilDiv, vec![least(&arguments[0]), divisor])
        }
        Expr::Call(Function::Align, arguments) if !is_known(&arguments[1], maximum) => least(&arguments[0]),
        Expr::Call(Function::Shr, arguments) => {
            Expr::Call(Function::Shr, vec![least(&arguments[0]), most(&arguments[1])])
        }
        Expr::Call(Function::Log2, arguments) => {
            Expr::Call(Function::Log2, vec![at_least_one(least(&arguments[0]), false)])
        }
        Expr::Call(function, arguments) => Expr::Call(*function, arguments.iter().map(least).collect()),
    }
}

/// Whether no count is in an expression.
fn is_known(expr: &Expr, maximum: &Maximum<'_>) -> bool {
    !expr.symbols().any(|name| maximum(name).is_some())
}

fn binary(operator: Operator, left: Expr, right: Expr) -> Expr {
    Expr::Binary(operator, Box::new(left), Box::new(right))
}

/// What a count divides by is not zero where the division is defined.
fn at_least_one(expr: Expr, known: bool) -> Expr {
    if known { expr } else { Expr::Call(Function::Max, vec![expr, Expr::Num(1)]) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn expressions() -> impl Strategy<Value = Expr> {
        let leaf = prop_oneof![
            (0u64..20).prop_map(Expr::Num),
            prop::sample::select(vec!["n", "m", "k"]).prop_map(|name| Expr::Symbol(name.to_string())),
        ];
        leaf.prop_recursive(4, 24, 3, |inner| {
            let operators = vec![Operator::Add, Operator::Subtract, Operator::Multiply];
            let two = vec![Function::CeilDiv, Function::Align, Function::Min, Function::Max, Function::Shr];
            let pair = (inner.clone(), inner.clone());
            prop_oneof![
                (prop::sample::select(operators), pair.clone()).prop_map(|(o, (l, r))| binary(o, l, r)),
                (prop::sample::select(two), pair).prop_map(|(f, (l, r))| Expr::Call(f, vec![l, r])),
                (prop::sample::select(vec![Function::NextPow2, Function::Log2]), inner)
                    .prop_map(|(f, x)| Expr::Call(f, vec![x])),
            ]
        })
    }

    proptest! {
        /// Whatever the counts are, an expression lies between its bounds.
        #[test]
        fn bounds_hold(expr in expressions(), n in 0u64..40, m in 0u64..=40, k in 0u64..=80) {
            let (of_m, of_k) = (Expr::parse("n").unwrap(), Expr::parse("m + n").unwrap());
            let (m, k) = (m.min(n), k.min(m.min(n) + n));
            let maximum = |name: &str| match name {
                "m" => Some(&of_m),
                "k" => Some(&of_k),
                _ => None,
            };
            let number = expr.eval(&|name| match name { "n" => Some(n), "m" => Some(m), _ => Some(k) });
            let symbols = |name: &str| (name == "n").then_some(n);
            let most = at_most(&expr, &maximum);
            let least = at_least(&expr, &maximum);
            if let Ok(number) = number {
                if let Ok(most) = most.eval(&symbols) {
                    prop_assert!(number <= most, "{expr} = {number} > {most}");
                }
                if let Ok(least) = least.eval(&symbols) {
                    prop_assert!(number >= least, "{expr} = {number} < {least}");
                }
            }
            prop_assert!(most.symbols().chain(least.symbols()).all(|name| name == "n"));
        }
    }
}
