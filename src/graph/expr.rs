//! Expressions of pass and graph files: unsigned 64-bit integers over named numbers, always checked.
//!
//! The grammar is deliberately small: literals, names, `+ - *`, parentheses and a fixed set of functions. There is no
//! division, so a name may contain `/`, which is how the counts of a used graph are named once the graph is flat.
//! Nothing here knows what a name stands for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use super::diagnostic::nearest;
use super::document::Relation;

/// The longest text of an expression, in bytes. With it the depth of what is parsed is bounded too.
pub const TEXT_BYTES_MAX: usize = 2048;

/// How deeply parentheses and calls may nest.
const NESTING_MAX: usize = 64;

/// Whether a comparison may use a sample, given what its names stand for.
pub type Admits<'a> = dyn Fn(&dyn Fn(&str) -> Option<u64>) -> bool + 'a;

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
}

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// `ceil_div(x, y)`: the quotient, rounded up.
    CeilDiv,
    /// `min(x, y, ...)`
    Min,
    /// `max(x, y, ...)`
    Max,
    /// `align(x, y)`: `x` rounded up to a multiple of `y`.
    Align,
    /// `next_pow2(x)`: the smallest power of two that is at least `x`; 1 for 0.
    NextPow2,
    /// `log2(x)`: rounded down.
    Log2,
    /// `shr(x, k)`: `x` shifted right by `k` bits.
    Shr,
}

impl Function {
    const ALL: [Function; 7] = [
        Function::CeilDiv,
        Function::Min,
        Function::Max,
        Function::Align,
        Function::NextPow2,
        Function::Log2,
        Function::Shr,
    ];

    /// Its name in an expression.
    pub fn name(self) -> &'static str {
        match self {
            Function::CeilDiv => "ceil_div",
            Function::Min => "min",
            Function::Max => "max",
            Function::Align => "align",
            Function::NextPow2 => "next_pow2",
            Function::Log2 => "log2",
            Function::Shr => "shr",
        }
    }

    /// How many arguments it takes at least and at most.
    fn arity(self) -> (usize, usize) {
        match self {
            Function::NextPow2 | Function::Log2 => (1, 1),
            Function::CeilDiv | Function::Align | Function::Shr => (2, 2),
            Function::Min | Function::Max => (2, usize::MAX),
        }
    }

    fn apply(self, arguments: &[u64]) -> Result<u64, Fault> {
        match (self, arguments) {
            (Function::CeilDiv, &[x, y]) if y > 0 => Ok(x.div_ceil(y)),
            (Function::CeilDiv, _) => Err(Fault::DivisionByZero),
            (Function::Align, &[x, y]) if y > 0 => x.checked_next_multiple_of(y).ok_or(Fault::Overflow),
            (Function::Align, _) => Err(Fault::DivisionByZero),
            (Function::Min, _) => Ok(arguments.iter().copied().min().unwrap_or(0)),
            (Function::Max, _) => Ok(arguments.iter().copied().max().unwrap_or(0)),
            (Function::NextPow2, _) => arguments[0].checked_next_power_of_two().ok_or(Fault::Overflow),
            (Function::Log2, _) => arguments[0].checked_ilog2().map(u64::from).ok_or(Fault::LogarithmOfZero),
            (Function::Shr, _) => {
                Ok(u32::try_from(arguments[1]).ok().and_then(|k| arguments[0].checked_shr(k)).unwrap_or(0))
            }
        }
    }
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expr {
    /// A literal.
    Num(u64),
    /// A named number.
    Symbol(String),
    /// Two operands.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// A function of as many arguments as it takes.
    Call(Function, Vec<Expr>),
}

/// Why a text is not an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// The bytes at fault.
    pub at: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// Why an expression has no number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Above 2^64 - 1.
    Overflow,
    /// A subtraction below zero.
    Negative,
    /// `ceil_div` or `align` by zero.
    DivisionByZero,
    /// `log2(0)`.
    LogarithmOfZero,
    /// A name that stands for nothing.
    Unknown,
}

/// The sub-expression that has no number, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalError {
    /// The sub-expression.
    pub part: Expr,
    /// The numbers of its operands.
    pub operands: Vec<u64>,
    /// What is wrong with it.
    pub fault: Fault,
}

impl std::error::Error for EvalError {}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fault {
            Fault::Unknown => return write!(f, "`{}` is not known here", self.part),
            Fault::Overflow => write!(f, "`{}` does not fit 64 bits", self.part)?,
            Fault::Negative => write!(f, "`{}` is below zero", self.part)?,
            Fault::DivisionByZero => write!(f, "`{}` divides by zero", self.part)?,
            Fault::LogarithmOfZero => write!(f, "`{}` takes the logarithm of zero", self.part)?,
        }
        let operands: Vec<String> = self.operands.iter().map(u64::to_string).collect();
        write!(f, " (operands: {})", operands.join(", "))
    }
}

/// Whether two expressions always have the same number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The same normal form, or the same number on every sample on which both have one.
    Same,
    /// A counterexample.
    Different {
        /// The names in either expression, sorted, and the numbers they stood for.
        at: Vec<(String, u64)>,
        /// What the left expression was there.
        left: u64,
        /// What the right expression was there.
        right: u64,
    },
    /// No sample gave both a number.
    Unknown,
}

impl Expr {
    /// Reads an expression. Literals are decimal, `0x` hexadecimal or a power of two, `2^24`.
    pub fn parse(text: &str) -> Result<Expr, ParseError> {
        let mut parser = Parser::new(text)?;
        let expr = parser.sum()?;
        parser.end()?;
        Ok(expr)
    }

    /// Reads `left <= right`, with `<=`, `<` or `==`.
    pub fn parse_relation(text: &str) -> Result<(Expr, Relation, Expr), ParseError> {
        let mut parser = Parser::new(text)?;
        let left = parser.sum()?;
        let relation = parser.relation()?;
        let right = parser.sum()?;
        parser.end()?;
        Ok((left, relation, right))
    }

    /// The number, with `lookup` giving the numbers of names.
    pub fn eval(&self, lookup: &dyn Fn(&str) -> Option<u64>) -> Result<u64, EvalError> {
        let operands = match self {
            Expr::Num(number) => return Ok(*number),
            Expr::Symbol(name) => return lookup(name).ok_or_else(|| self.fault(Vec::new(), Fault::Unknown)),
            Expr::Binary(_, left, right) => vec![left.eval(lookup)?, right.eval(lookup)?],
            Expr::Call(_, arguments) => {
                arguments.iter().map(|a| a.eval(lookup)).collect::<Result<Vec<_>, _>>()?
            }
        };
        self.apply(&operands).map_err(|fault| self.fault(operands, fault))
    }

    fn apply(&self, operands: &[u64]) -> Result<u64, Fault> {
        match self {
            Expr::Num(number) => Ok(*number),
            Expr::Symbol(_) => Err(Fault::Unknown),
            Expr::Call(function, _) => function.apply(operands),
            Expr::Binary(operator, ..) => match operator {
                Operator::Add => operands[0].checked_add(operands[1]).ok_or(Fault::Overflow),
                Operator::Subtract => operands[0].checked_sub(operands[1]).ok_or(Fault::Negative),
                Operator::Multiply => operands[0].checked_mul(operands[1]).ok_or(Fault::Overflow),
            },
        }
    }

    fn fault(&self, operands: Vec<u64>, fault: Fault) -> EvalError {
        EvalError { part: self.clone(), operands, fault }
    }

    /// This expression with names replaced, all at once; a name for which `replacement` has nothing stays.
    pub fn substitute(&self, replacement: &dyn Fn(&str) -> Option<Expr>) -> Expr {
        match self {
            Expr::Num(number) => Expr::Num(*number),
            Expr::Symbol(name) => replacement(name).unwrap_or_else(|| self.clone()),
            Expr::Binary(operator, left, right) => Expr::Binary(
                *operator,
                Box::new(left.substitute(replacement)),
                Box::new(right.substitute(replacement)),
            ),
            Expr::Call(function, arguments) => {
                Expr::Call(*function, arguments.iter().map(|a| a.substitute(replacement)).collect())
            }
        }
    }

    /// The names in it, from left to right, each as often as it occurs.
    pub fn symbols(&self) -> impl Iterator<Item = &str> {
        let mut pending = vec![self];
        std::iter::from_fn(move || {
            loop {
                match pending.pop()? {
                    Expr::Num(_) => {}
                    Expr::Symbol(name) => return Some(name.as_str()),
                    Expr::Binary(_, left, right) => pending.extend([right.as_ref(), left.as_ref()]),
                    Expr::Call(_, arguments) => pending.extend(arguments.iter().rev()),
                }
            }
        })
    }

    /// The number of literals, names and operations in it. Substituting repeatedly can grow this exponentially, so
    /// whoever does checks it.
    pub fn size(&self) -> usize {
        1 + match self {
            Expr::Num(_) | Expr::Symbol(_) => 0,
            Expr::Binary(_, left, right) => left.size() + right.size(),
            Expr::Call(_, arguments) => arguments.iter().map(Expr::size).sum(),
        }
    }

    /// The number, if no name is in it and it has one.
    pub fn constant(&self) -> Option<u64> {
        self.eval(&|_| None).ok()
    }

    /// A text that two expressions share only if they have the same number wherever both have one: a sorted sum of
    /// products with constants folded. None where that would grow out of bounds.
    pub fn normal_form(&self) -> Option<String> {
        Polynomial::of(self).map(|polynomial| polynomial.to_string())
    }

    /// Compares with another expression: by normal form, else on samples of a fixed seed that `admits` accepts. The
    /// samples give every name a number, whether or not an expression mentions it.
    pub fn compare(&self, other: &Expr, admits: &Admits<'_>) -> Comparison {
        if let (Some(left), Some(right)) = (self.normal_form(), other.normal_form())
            && left == right
        {
            return Comparison::Same;
        }
        let mut evaluated = false;
        for sample in 0..SAMPLES {
            let lookup = |name: &str| Some(sampled_number(sample, name));
            if !admits(&lookup) {
                continue;
            }
            let (Ok(left), Ok(right)) = (self.eval(&lookup), other.eval(&lookup)) else { continue };
            evaluated = true;
            if left != right {
                let names: BTreeSet<&str> = self.symbols().chain(other.symbols()).collect();
                let at = names.iter().map(|n| (n.to_string(), sampled_number(sample, n))).collect();
                return Comparison::Different { at, left, right };
            }
        }
        if evaluated { Comparison::Same } else { Comparison::Unknown }
    }
}

impl std::str::FromStr for Expr {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Expr, ParseError> {
        Expr::parse(text)
    }
}

impl From<u64> for Expr {
    fn from(number: u64) -> Expr {
        Expr::Num(number)
    }
}

/// Prints so that parsing gives the same tree again. Large powers of two are printed as such.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Num(number) if *number >= 1 << 16 && number.is_power_of_two() => {
                write!(f, "2^{}", number.ilog2())
            }
            Expr::Num(number) => write!(f, "{number}"),
            Expr::Symbol(name) => f.write_str(name),
            Expr::Binary(operator, left, right) => {
                let product = *operator == Operator::Multiply;
                write_operand(f, left, product && left.is_sum())?;
                f.write_str(match operator {
                    Operator::Add => " + ",
                    Operator::Subtract => " - ",
                    Operator::Multiply => " * ",
                })?;
                write_operand(f, right, right.is_sum() || (product && matches!(**right, Expr::Binary(..))))
            }
            Expr::Call(function, arguments) => {
                write!(f, "{}(", function.name())?;
                for (index, argument) in arguments.iter().enumerate() {
                    if index > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{argument}")?;
                }
                f.write_str(")")
            }
        }
    }
}

impl Expr {
    fn is_sum(&self) -> bool {
        matches!(self, Expr::Binary(Operator::Add | Operator::Subtract, ..))
    }
}

fn write_operand(f: &mut fmt::Formatter<'_>, operand: &Expr, parentheses: bool) -> fmt::Result {
    if parentheses { write!(f, "({operand})") } else { write!(f, "{operand}") }
}

// ---------------------------------------------------------------------------------------------- parsing

struct Parser<'a> {
    text: &'a str,
    position: usize,
    nesting: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Self, ParseError> {
        if text.len() > TEXT_BYTES_MAX {
            let message =
                format!("an expression is at most {TEXT_BYTES_MAX} bytes long, this one is {}", text.len());
            return Err(ParseError { at: 0..text.len(), message, help: None });
        }
        Ok(Parser { text, position: 0, nesting: 0 })
    }

    /// The next byte that is not blank, or 0 at the end.
    fn peek(&mut self) -> u8 {
        let rest = &self.text.as_bytes()[self.position..];
        self.position += rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
        self.text.as_bytes().get(self.position).copied().unwrap_or(0)
    }

    fn accept(&mut self, token: &str) -> bool {
        self.peek();
        let found = self.text[self.position..].starts_with(token);
        if found {
            self.position += token.len();
        }
        found
    }

    fn sum(&mut self) -> Result<Expr, ParseError> {
        let mut left = self.product()?;
        loop {
            let operator = match self.peek() {
                b'+' => Operator::Add,
                b'-' => Operator::Subtract,
                _ => return Ok(left),
            };
            self.position += 1;
            left = Expr::Binary(operator, Box::new(left), Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Expr, ParseError> {
        let mut left = self.operand()?;
        while self.accept("*") {
            left = Expr::Binary(Operator::Multiply, Box::new(left), Box::new(self.operand()?));
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Expr, ParseError> {
        match self.peek() {
            b'(' => {
                self.position += 1;
                self.nested(|parser| {
                    let inner = parser.sum()?;
                    parser.close()?;
                    Ok(inner)
                })
            }
            b'0'..=b'9' => self.literal().map(Expr::Num),
            b'a'..=b'z' | b'A'..=b'Z' => self.name_or_call(),
            b'-' => Err(self.unexpected("a number", Some("there are no negative numbers"))),
            _ => Err(self.unexpected("a number, a name or a parenthesis", None)),
        }
    }

    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, ParseError>) -> Result<T, ParseError> {
        if self.nesting == NESTING_MAX {
            let message = format!("parentheses nest more than {NESTING_MAX} deep");
            return Err(ParseError { at: self.position - 1..self.position, message, help: None });
        }
        self.nesting += 1;
        let result = inner(self);
        self.nesting -= 1;
        result
    }

    fn close(&mut self) -> Result<(), ParseError> {
        if self.accept(")") { Ok(()) } else { Err(self.unexpected("`)`", None)) }
    }

    fn word(&mut self, part: impl Fn(u8) -> bool) -> Range<usize> {
        let start = self.position;
        let rest = &self.text.as_bytes()[start..];
        self.position += rest.iter().take_while(|b| part(**b)).count();
        start..self.position
    }

    fn literal(&mut self) -> Result<u64, ParseError> {
        let at = self.word(|b| b.is_ascii_alphanumeric() || b == b'_');
        let word = &self.text[at.clone()];
        let (digits, radix) = match word.strip_prefix("0x") {
            Some(digits) => (digits, 16),
            None => (word, 10),
        };
        if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
            let message = format!("`{word}` is not a number");
            return Err(ParseError { at, message, help: None });
        }
        let too_large = |at: Range<usize>, word: &str| ParseError {
            at,
            message: format!("`{word}` does not fit 64 bits"),
            help: None,
        };
        let number = u64::from_str_radix(digits, radix).map_err(|_| too_large(at.clone(), word))?;
        if !self.accept("^") {
            return Ok(number);
        }
        self.peek();
        let exponent_at = self.word(|b| b.is_ascii_digit());
        let whole = at.start..self.position;
        let exponent = &self.text[exponent_at];
        if number != 2 || exponent.is_empty() {
            let message = "`^` only writes powers of two, such as `2^24`".to_string();
            return Err(ParseError { at: whole, message, help: None });
        }
        match exponent.parse::<u32>() {
            Ok(exponent @ 0..=63) => Ok(1 << exponent),
            _ => Err(too_large(whole.clone(), &self.text[whole])),
        }
    }

    fn name_or_call(&mut self) -> Result<Expr, ParseError> {
        let at = self.name();
        let name = &self.text[at.clone()];
        if self.peek() != b'(' {
            return Ok(Expr::Symbol(name.to_string()));
        }
        let Some(function) = Function::ALL.into_iter().find(|f| f.name() == name) else {
            let names = Function::ALL.map(Function::name);
            let help = match nearest(name, names) {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("there are {}", names.join(", ")),
            };
            return Err(ParseError {
                at,
                message: format!("there is no function `{name}`"),
                help: Some(help),
            });
        };
        self.position += 1;
        let arguments = self.nested(Self::arguments)?;
        let (least, most) = function.arity();
        if arguments.len() < least || arguments.len() > most {
            let message = format!("`{name}` takes {}, not {}", count_of_arguments(function), arguments.len());
            return Err(ParseError { at: at.start..self.position, message, help: None });
        }
        Ok(Expr::Call(function, arguments))
    }

    /// A name, with `/` only before another name: `keep_scan/total`.
    fn name(&mut self) -> Range<usize> {
        let start = self.position;
        loop {
            self.word(|b| b.is_ascii_alphanumeric() || b == b'_');
            let rest = &self.text.as_bytes()[self.position..];
            if rest.len() < 2 || rest[0] != b'/' || !rest[1].is_ascii_alphabetic() {
                return start..self.position;
            }
            self.position += 1;
        }
    }

    fn arguments(&mut self) -> Result<Vec<Expr>, ParseError> {
        let mut arguments = Vec::new();
        if self.accept(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.sum()?);
            if self.accept(",") {
                continue;
            }
            return match self.accept(")") {
                true => Ok(arguments),
                false => Err(self.unexpected("`,` or `)`", None)),
            };
        }
    }

    fn relation(&mut self) -> Result<Relation, ParseError> {
        let tokens = [("<=", Relation::AtMost), ("==", Relation::Equal), ("<", Relation::Below)];
        for (token, relation) in tokens {
            if self.accept(token) {
                return Ok(relation);
            }
        }
        let help = match self.peek() {
            b'>' => Some("turn the sides around"),
            _ => None,
        };
        Err(self.unexpected("`<=`, `<` or `==`", help))
    }

    fn end(&mut self) -> Result<(), ParseError> {
        match self.peek() {
            0 if self.position == self.text.len() => Ok(()),
            b'/' => {
                Err(self.unexpected("an operator", Some("there is no division; `ceil_div` and `shr` round")))
            }
            b'<' | b'=' | b'>' => {
                Err(self.unexpected("the end", Some("an expression is a number, not a condition")))
            }
            b')' => Err(self.unexpected("an operator or the end", None)),
            _ => Err(self.unexpected("an operator", None)),
        }
    }

    fn unexpected(&mut self, expected: &str, help: Option<&str>) -> ParseError {
        self.peek();
        let found = self.text[self.position..].chars().next();
        let (at, found) = match found {
            Some(c) => (self.position..self.position + c.len_utf8(), format!("`{c}`")),
            None => (self.text.len()..self.text.len(), "the end".to_string()),
        };
        let message = format!("expected {expected}, found {found}");
        ParseError { at, message, help: help.map(str::to_string) }
    }
}

fn count_of_arguments(function: Function) -> &'static str {
    match function.arity() {
        (1, 1) => "one argument",
        (2, 2) => "two arguments",
        _ => "two or more arguments",
    }
}

// ------------------------------------------------------------------------------------------- comparison

/// Terms a normal form may have before the comparison falls back to samples.
const TERMS_MAX: usize = 256;

/// A sum of products: factors, sorted, with their coefficient. A factor is a name or a call in normal form.
#[derive(Clone, PartialEq, Eq)]
struct Polynomial(BTreeMap<Vec<String>, i128>);

impl Polynomial {
    fn number(number: i128) -> Polynomial {
        Polynomial(BTreeMap::from([(Vec::new(), number)])).without_zeros()
    }

    fn factor(factor: String) -> Polynomial {
        Polynomial(BTreeMap::from([(vec![factor], 1)]))
    }

    fn without_zeros(mut self) -> Polynomial {
        self.0.retain(|_, coefficient| *coefficient != 0);
        self
    }

    fn of(expr: &Expr) -> Option<Polynomial> {
        match expr {
            Expr::Num(number) => Some(Polynomial::number(i128::from(*number))),
            Expr::Symbol(name) => Some(Polynomial::factor(name.clone())),
            Expr::Binary(operator, left, right) => {
                let (left, right) = (Polynomial::of(left)?, Polynomial::of(right)?);
                match operator {
                    Operator::Add => left.plus(right, 1),
                    Operator::Subtract => left.plus(right, -1),
                    Operator::Multiply => left.times(&right),
                }
            }
            Expr::Call(function, arguments) => Polynomial::of_call(*function, arguments),
        }
    }

    fn of_call(function: Function, arguments: &[Expr]) -> Option<Polynomial> {
        let arguments = arguments.iter().map(Polynomial::of).collect::<Option<Vec<_>>>()?;
        let constants: Option<Vec<u64>> = arguments.iter().map(Polynomial::as_number).collect();
        if let Some(number) = constants.and_then(|numbers| function.apply(&numbers).ok()) {
            return Some(Polynomial::number(i128::from(number)));
        }
        let mut texts: Vec<String> = arguments.iter().map(Polynomial::to_string).collect();
        if matches!(function, Function::Min | Function::Max) {
            texts.sort();
            texts.dedup();
            if texts.len() == 1 {
                return arguments.into_iter().next();
            }
        }
        let one = Some(1);
        match function {
            Function::CeilDiv | Function::Align if arguments[1].as_number() == one => {
                arguments.into_iter().next()
            }
            _ => Some(Polynomial::factor(format!("{}({})", function.name(), texts.join(", ")))),
        }
    }

    fn as_number(&self) -> Option<u64> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Vec::new()).and_then(|number| u64::try_from(*number).ok()),
            _ => None,
        }
    }

    fn plus(mut self, other: Polynomial, sign: i128) -> Option<Polynomial> {
        for (factors, coefficient) in other.0 {
            let term = self.0.entry(factors).or_insert(0);
            *term = term.checked_add(coefficient.checked_mul(sign)?)?;
        }
        (self.0.len() <= TERMS_MAX).then(|| self.without_zeros())
    }

    fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut product = Polynomial(BTreeMap::new());
        for (left_factors, left) in &self.0 {
            for (right_factors, right) in &other.0 {
                let mut factors = [left_factors.as_slice(), right_factors.as_slice()].concat();
                factors.sort();
                let term = product.0.entry(factors).or_insert(0);
                *term = term.checked_add(left.checked_mul(*right)?)?;
                if product.0.len() > TERMS_MAX {
                    return None;
                }
            }
        }
        Some(product.without_zeros())
    }
}

impl fmt::Display for Polynomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("0");
        }
        for (index, (factors, coefficient)) in self.0.iter().enumerate() {
            let separator = if index > 0 { " + " } else { "" };
            write!(f, "{separator}{coefficient}")?;
            for factor in factors {
                write!(f, "*{factor}")?;
            }
        }
        Ok(())
    }
}

/// Assignments tried by a comparison.
const SAMPLES: u64 = 512;

/// The seed of all samples: comparisons give the same verdict in every run.
const SEED: u64 = 0x5745_4654;

/// The number that a name stands for in a sample. Samples take turns between tiny numbers, small numbers, the
/// neighbourhoods of powers of two, and large numbers.
fn sampled_number(sample: u64, name: &str) -> u64 {
    let mut hash = mix(SEED ^ sample);
    for byte in name.bytes() {
        hash = mix(hash ^ u64::from(byte));
    }
    let (choice, hash) = (hash % 4, hash >> 2);
    match sample % 4 {
        0 => hash % 8,
        1 => hash % 1000,
        2 => ((1 << (hash % 27)) + choice).saturating_sub(1),
        _ => hash % (1 << (20 + choice * 4)),
    }
}

/// The output function of SplitMix64 (Steele, Lea and Flood, 2014).
fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Expr {
        Expr::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    fn always(_: &dyn Fn(&str) -> Option<u64>) -> bool {
        true
    }

    fn value(text: &str) -> Result<u64, String> {
        let lookup = |name: &str| match name {
            "n" => Some(10),
            "zero" => Some(0),
            "scan/total" => Some(7),
            _ => None,
        };
        parse(text).eval(&lookup).map_err(|error| error.to_string())
    }

    #[test]
    fn numbers() {
        for (text, number) in [
            ("2^24 - 1", 16_777_215),
            ("0x1f * 2", 62),
            ("10 - 3 - 2", 5),
            ("1 + 2 * n", 21),
            ("ceil_div(n, 4)", 3),
            ("ceil_div(0, 4)", 0),
            ("min(n, 3, 8) + max(1, 2)", 5),
            ("align(n, 8) + align(0, 8)", 16),
            ("next_pow2(0) + next_pow2(n) + next_pow2(16)", 33),
            ("log2(n)", 3),
            ("shr(n, 1) + shr(n, 64) + shr(n, 0x100000000)", 5),
            ("scan/total * 2", 14),
        ] {
            assert_eq!(value(text), Ok(number), "{text}");
        }
    }

    #[test]
    fn numbers_that_do_not_exist() {
        for (text, message) in [
            ("1 + (n - 11)", "`n - 11` is below zero (operands: 10, 11)"),
            ("2^63 * 2", "`2^63 * 2` does not fit 64 bits (operands: 9223372036854775808, 2)"),
            (
                "0xffffffffffffffff + n",
                "`18446744073709551615 + n` does not fit 64 bits (operands: 18446744073709551615, 10)",
            ),
            (
                "next_pow2(2^63 + 1)",
                "`next_pow2(2^63 + 1)` does not fit 64 bits (operands: 9223372036854775809)",
            ),
            ("ceil_div(n, zero)", "`ceil_div(n, zero)` divides by zero (operands: 10, 0)"),
            ("align(n, zero)", "`align(n, zero)` divides by zero (operands: 10, 0)"),
            ("log2(zero)", "`log2(zero)` takes the logarithm of zero (operands: 0)"),
            ("n + m", "`m` is not known here"),
        ] {
            assert_eq!(value(text), Err(message.to_string()), "{text}");
        }
    }

    #[test]
    fn texts_that_are_no_expressions() {
        let deep = format!("{}1{}", "(".repeat(65), ")".repeat(65));
        for (text, at, message) in [
            ("", 0..0, "expected a number, a name or a parenthesis, found the end"),
            ("n +", 3..3, "expected a number, a name or a parenthesis, found the end"),
            ("n + -1", 4..5, "expected a number, found `-`"),
            ("n / 2", 2..3, "expected an operator, found `/`"),
            ("(n", 2..2, "expected `)`, found the end"),
            ("n)", 1..2, "expected an operator or the end, found `)`"),
            ("n m", 2..3, "expected an operator, found `m`"),
            ("12ab", 0..4, "`12ab` is not a number"),
            ("99999999999999999999", 0..20, "`99999999999999999999` does not fit 64 bits"),
            ("2^64", 0..4, "`2^64` does not fit 64 bits"),
            ("3^2", 0..3, "`^` only writes powers of two, such as `2^24`"),
            ("1 + div(n, 2)", 4..7, "there is no function `div`"),
            ("log2(n, 2)", 0..10, "`log2` takes one argument, not 2"),
            ("max(n)", 0..6, "`max` takes two or more arguments, not 1"),
            ("n é", 2..4, "expected an operator, found `é`"),
            (deep.as_str(), 64..65, "parentheses nest more than 64 deep"),
        ] {
            let error = Expr::parse(text).expect_err(text);
            assert_eq!((error.at, error.message.as_str()), (at, message), "{text}");
        }
    }

    #[test]
    fn relations() {
        let (left, relation, right) = Expr::parse_relation("A + B <= 2^24 - 1").unwrap();
        assert_eq!(
            (left.to_string(), relation, right.to_string()),
            ("A + B".into(), Relation::AtMost, "2^24 - 1".into())
        );
        assert_eq!(Expr::parse_relation("a == b").unwrap().1, Relation::Equal);
        assert_eq!(Expr::parse_relation("a < b").unwrap().1, Relation::Below);
        assert_eq!(Expr::parse_relation("a > b").unwrap_err().help.as_deref(), Some("turn the sides around"));
        assert_eq!(Expr::parse_relation("a").unwrap_err().at, 1..1);
    }

    #[test]
    fn symbols_come_from_left_to_right() {
        let expr = parse("b + min(a, c * b, 3)");
        assert_eq!(expr.symbols().collect::<Vec<_>>(), ["b", "a", "c", "b"]);
        assert_eq!(expr.size(), 8);
    }

    #[test]
    fn substitution_is_simultaneous() {
        let swap = |name: &str| match name {
            "a" => Some(parse("b + 1")),
            "b" => Some(parse("a")),
            _ => None,
        };
        assert_eq!(parse("a * b - c").substitute(&swap), parse("(b + 1) * a - c"));
    }

    #[test]
    fn comparison() {
        for (left, right) in [
            ("n + n", "2 * n"),
            ("(a + b) * c", "c * b + a * c"),
            ("max(a, b)", "max(b, a, a)"),
            ("ceil_div(n + 1 - 1, 2 * 2)", "ceil_div(n, 4)"),
            ("ceil_div(n, 4)", "shr(n + 3, 2)"),
            ("align(n, 32)", "32 * ceil_div(n, 32)"),
            ("a - b", "a - b + 0"),
        ] {
            assert_eq!(parse(left).compare(&parse(right), &always), Comparison::Same, "{left} and {right}");
        }
        for (left, right) in
            [("n", "n + 1"), ("ceil_div(n, 4)", "shr(n, 2)"), ("min(a, b)", "a"), ("2^26", "n")]
        {
            let verdict = parse(left).compare(&parse(right), &always);
            let Comparison::Different { at, left: was_left, right: was_right } = verdict else {
                panic!("{left} and {right}: {verdict:?}");
            };
            let lookup = |name: &str| at.iter().find(|(n, _)| n == name).map(|(_, number)| *number);
            assert_eq!(parse(left).eval(&lookup), Ok(was_left));
            assert_eq!(parse(right).eval(&lookup), Ok(was_right));
            assert_ne!(was_left, was_right);
        }
        assert_eq!(parse("n - n - 1").compare(&parse("0 - n - 1"), &always), Comparison::Unknown);
        let a_is_less = |lookup: &dyn Fn(&str) -> Option<u64>| lookup("a") <= lookup("b");
        assert_eq!(parse("min(a, b)").compare(&parse("a"), &a_is_less), Comparison::Same);
    }

    fn expressions() -> impl Strategy<Value = Expr> {
        let leaf = prop_oneof![
            any::<u64>().prop_map(Expr::Num),
            (0..64u32).prop_map(|k| Expr::Num(1 << k)),
            "[a-zA-Z][a-z0-9_]{0,3}(/[a-z][a-z0-9_]{0,2})?".prop_map(Expr::Symbol),
        ];
        leaf.prop_recursive(5, 40, 3, |inner| {
            let operator =
                prop_oneof![Just(Operator::Add), Just(Operator::Subtract), Just(Operator::Multiply)];
            let function = proptest::sample::select(Function::ALL.to_vec());
            prop_oneof![
                (operator, inner.clone(), inner.clone()).prop_map(|(o, l, r)| Expr::Binary(
                    o,
                    Box::new(l),
                    Box::new(r)
                )),
                (function, prop::collection::vec(inner, 3)).prop_map(|(f, mut arguments)| {
                    arguments.truncate(f.arity().1.min(3));
                    Expr::Call(f, arguments)
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn printing_round_trips(expr in expressions()) {
            let text = expr.to_string();
            if text.len() <= TEXT_BYTES_MAX {
                prop_assert_eq!(Expr::parse(&text), Ok(expr));
            }
        }

        #[test]
        fn any_text_parses_or_fails_inside_itself(text in "[ a-c0-9()+*,^<=/-]{0,40}|.{0,20}") {
            if let Err(error) = Expr::parse(&text) {
                prop_assert!(error.at.start <= error.at.end && error.at.end <= text.len());
                prop_assert!(text.get(error.at).is_some());
            }
        }

        #[test]
        fn normal_form_keeps_the_number(expr in expressions(), sample in 0..SAMPLES) {
            let lookup = |name: &str| Some(sampled_number(sample, name));
            let twice = Expr::Binary(Operator::Add, Box::new(expr.clone()), Box::new(expr.clone()));
            let double = Expr::Binary(Operator::Multiply, Box::new(Expr::Num(2)), Box::new(expr.clone()));
            if let (Ok(a), Ok(b)) = (twice.eval(&lookup), double.eval(&lookup)) {
                prop_assert_eq!(a, b);
            }
            if expr.normal_form().is_some() {
                prop_assert_eq!(twice.normal_form(), double.normal_form());
            }
        }
    }
}
