//! What gives a graph's symbols their numbers: an option, or two files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use weft::graph::expr::Expr;
use weft::graph::model::Graph;

use super::Failure;

/// Numbers of symbols.
#[derive(clap::Args)]
pub struct SymbolArgs {
    /// The number of a symbol, as `n=1000` or `n=2^20`; once for each symbol
    #[arg(long = "set", value_name = "NAME=N", value_parser = assignment)]
    set: Vec<(String, u64)>,
}

/// Two key-value files in place of numbers and inputs.
#[derive(clap::Args)]
pub struct PairArgs {
    /// For a graph that merges key-value files: the older one, in place of --set and --in
    #[arg(requires = "newer", conflicts_with = "set")]
    older: Option<PathBuf>,
    /// The newer one
    newer: Option<PathBuf>,
}

impl PairArgs {
    /// The older and the newer file; clap has seen to it that there are two or none.
    pub fn files(&self) -> Option<(&Path, &Path)> {
        self.older.as_deref().zip(self.newer.as_deref())
    }
}

/// Reads `NAME=N`, where N is an expression without names.
pub fn assignment(argument: &str) -> Result<(String, u64), String> {
    let (name, number) = argument.split_once('=').ok_or("write NAME=N")?;
    let expr = Expr::parse(number.trim()).map_err(|error| error.to_string())?;
    let number = expr.eval(&|_| None).map_err(|error| error.to_string())?;
    Ok((name.trim().to_owned(), number))
}

impl SymbolArgs {
    /// The numbers by name; a name given twice is refused.
    pub fn numbers(&self) -> Result<BTreeMap<String, u64>, Failure> {
        let mut symbols = BTreeMap::new();
        for (name, number) in &self.set {
            if symbols.insert(name.clone(), *number).is_some() {
                return Err(Failure::Usage(format!("--set gives `{name}` twice")));
            }
        }
        Ok(symbols)
    }
}

/// Refuses a number whose name no graph knows.
pub fn known_to<'g>(
    symbols: &BTreeMap<String, u64>,
    graphs: impl Iterator<Item = &'g Graph> + Clone,
) -> Result<(), Failure> {
    let known =
        |name: &String| graphs.clone().any(|graph| graph.symbols.iter().any(|symbol| symbol.name == *name));
    match symbols.keys().find(|name| !known(name)) {
        Some(name) => Err(Failure::Usage(format!("--set {name}: none of the graphs has this symbol"))),
        None => Ok(()),
    }
}

/// Those numbers that a graph knows.
pub fn numbers_for(graph: &Graph, symbols: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let known = |name: &str| graph.symbols.iter().any(|symbol| symbol.name == name);
    symbols.iter().filter(|(name, _)| known(name)).map(|(name, &number)| (name.clone(), number)).collect()
}
