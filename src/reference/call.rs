//! What a reference is given: the numbers and ports of one dispatch.

use std::cell::Cell;

/// What was wrong with a call or with the reference itself.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The call has no such number.
    #[error("there is no symbol or override `{0}`")]
    NoNumber(String),
    /// The call has no such port.
    #[error("there is no port `{0}`")]
    NoPort(String),
    /// A port was accessed outside its elements.
    #[error("port `{port}`: element {element} is past its {len} elements")]
    PastEnd {
        /// The port.
        port: String,
        /// The element that was asked for.
        element: u64,
        /// How many there are.
        len: u64,
    },
    /// A port was accessed as if its elements had another number of words.
    #[error("port `{port}`: elements have {lanes} words, not {asked}")]
    Lanes {
        /// The port.
        port: String,
        /// Words in an element.
        lanes: usize,
        /// Words that were asked for.
        asked: usize,
    },
    /// A port that is only read was written to.
    #[error("port `{0}` is read only")]
    ReadOnly(String),
    /// A port holds what the pass cannot work on.
    #[error("port `{port}`: {what}")]
    Content {
        /// The port.
        port: String,
        /// What is wrong with it.
        what: String,
    },
}

impl Fault {
    /// A port that holds what the pass cannot work on.
    pub(super) fn content(port: &str, what: String) -> Fault {
        Fault::Content { port: port.to_owned(), what }
    }
}

/// A bound port: the whole value, as words.
///
/// Words are cells so that memory of several ports may come from one arena: a wrong plan then gives wrong numbers, not
/// undefined behaviour.
#[derive(Clone, Copy, Debug)]
pub struct Port<'a> {
    name: &'a str,
    words: &'a [Cell<u32>],
    lanes: usize,
    writable: bool,
}

impl<'a> Port<'a> {
    /// A port called `name` whose elements take `lanes` words each; `writable` unless its access is `read`.
    pub fn new(name: &'a str, words: &'a [Cell<u32>], lanes: usize, writable: bool) -> Self {
        Port { name, words, lanes: lanes.max(1), writable }
    }

    /// All its words.
    pub(super) fn words(&self) -> &'a [Cell<u32>] {
        self.words
    }

    /// Number of elements.
    pub fn len(&self) -> u64 {
        (self.words.len() / self.lanes) as u64
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Element `index` of a port of one-word elements.
    pub fn get(&self, index: u64) -> Result<u32, Fault> {
        self.get_lanes::<1>(index).map(|[word]| word)
    }

    /// Element `index` of a port of `N`-word elements.
    pub fn get_lanes<const N: usize>(&self, index: u64) -> Result<[u32; N], Fault> {
        let cells = self.element::<N>(index)?;
        Ok(std::array::from_fn(|lane| cells[lane].get()))
    }

    /// Sets element `index` of a port of one-word elements.
    pub fn set(&self, index: u64, word: u32) -> Result<(), Fault> {
        self.set_lanes(index, [word])
    }

    /// Sets element `index` of a port of `N`-word elements.
    pub fn set_lanes<const N: usize>(&self, index: u64, words: [u32; N]) -> Result<(), Fault> {
        if !self.writable {
            return Err(Fault::ReadOnly(self.name.to_owned()));
        }
        for (cell, word) in self.element::<N>(index)?.iter().zip(words) {
            cell.set(word);
        }
        Ok(())
    }

    fn element<const N: usize>(&self, index: u64) -> Result<&'a [Cell<u32>], Fault> {
        if N != self.lanes {
            return Err(Fault::Lanes { port: self.name.to_owned(), lanes: self.lanes, asked: N });
        }
        usize::try_from(index)
            .ok()
            .and_then(|index| index.checked_mul(N))
            .and_then(|start| self.words.get(start..start.checked_add(N)?))
            .ok_or_else(|| Fault::PastEnd { port: self.name.to_owned(), element: index, len: self.len() })
    }
}

/// One dispatch of a pass.
#[derive(Clone, Debug, Default)]
pub struct Call<'a> {
    /// Symbols and overrides with their numbers.
    pub numbers: Vec<(&'a str, u64)>,
    /// Which dispatch of a node with several it is, from 0.
    pub step: u32,
    /// The ports.
    pub ports: Vec<Port<'a>>,
}

impl<'a> Call<'a> {
    /// The number of a symbol or override.
    pub fn number(&self, name: &str) -> Result<u64, Fault> {
        let found = self.numbers.iter().find(|(known, _)| *known == name);
        found.map(|&(_, number)| number).ok_or_else(|| Fault::NoNumber(name.to_owned()))
    }

    /// A port by name.
    pub fn port(&self, name: &str) -> Result<Port<'a>, Fault> {
        let found = self.ports.iter().find(|port| port.name == name);
        found.copied().ok_or_else(|| Fault::NoPort(name.to_owned()))
    }

    /// The number in the first element of a port: what a port that carries a symbol holds.
    pub fn carried(&self, port: &str) -> Result<u64, Fault> {
        self.port(port)?.get(0).map(u64::from)
    }
}

/// Runs a reference over plain vectors, for tests.
#[cfg(test)]
pub(crate) mod testing {
    use super::{Call, Cell, Fault, Port};
    use crate::reference::Reference;

    /// Numbers, ports to read, and ports of one-word elements to write with their lengths; gives what was written.
    pub(crate) fn run<const W: usize>(
        reference: Reference,
        numbers: &[(&str, u64)],
        reads: &[(&str, &[u32])],
        writes: [(&str, usize); W],
    ) -> Result<[Vec<u32>; W], Fault> {
        let cells = |words: &[u32]| words.iter().copied().map(Cell::new).collect::<Vec<_>>();
        let inputs: Vec<_> = reads.iter().map(|&(_, words)| cells(words)).collect();
        // Whatever a reference leaves undefined shows as this word.
        let outputs = writes.map(|(_, len)| cells(&vec![0xdead_beef; len]));
        let mut ports = Vec::new();
        for (&(name, _), words) in reads.iter().zip(&inputs) {
            ports.push(Port::new(name, words, 1, false));
        }
        for ((name, _), words) in writes.iter().zip(&outputs) {
            ports.push(Port::new(name, words, 1, true));
        }
        reference(&Call { numbers: numbers.to_vec(), step: 0, ports })?;
        Ok(outputs.map(|words| words.iter().map(Cell::get).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_checked() {
        let words: Vec<_> = (0..6).map(Cell::new).collect();
        let pairs = Port::new("pairs", &words, 2, true);
        assert_eq!(pairs.len(), 3);
        assert_eq!(pairs.get_lanes::<2>(2), Ok([4, 5]));
        assert_eq!(pairs.set_lanes(1, [8, 9]), Ok(()));
        assert_eq!(pairs.get_lanes::<2>(1), Ok([8, 9]));
        let past_end = |element| Err(Fault::PastEnd { port: "pairs".into(), element, len: 3 });
        assert_eq!(pairs.set_lanes(3, [0, 0]), past_end(3));
        assert_eq!(pairs.set_lanes(u64::MAX, [0, 0]), past_end(u64::MAX));
        assert_eq!(pairs.get(0), Err(Fault::Lanes { port: "pairs".into(), lanes: 2, asked: 1 }));
        let fixed = Port::new("fixed", &words, 1, false);
        assert_eq!(fixed.set(0, 1), Err(Fault::ReadOnly("fixed".into())));
    }

    #[test]
    fn missing_names_are_faults() {
        let call = Call { numbers: vec![("n", 3)], ..Call::default() };
        assert_eq!(call.number("n"), Ok(3));
        assert_eq!(call.number("m"), Err(Fault::NoNumber("m".into())));
        assert_eq!(call.carried("n_items"), Err(Fault::NoPort("n_items".into())));
    }
}
