//! The streaming engine: one pass over all inputs, on one core, without rebuilding key sets.
//!
//! A tournament tree over the inputs' current keys in which every comparison starts where the last one ended. Each
//! contestant carries the number of bits it shares with the key taken last; of two contestants the one that shares
//! more is the smaller, and only those that share the same compare further, from there on (the LCP loser tree of
//! Bingmann, Eberle and Sanders, "Engineering Parallel String Sorting", 2013, in bits). The winner's number is at once
//! what its record shares with its predecessor in the output. As no key is dropped, that is never less than what the record
//! retains in its own file, so literal and value are copied as one span of bits.
//!
//! Memory: the inputs' current keys, one word per 15 records of output, and constants.

use std::io;

use crate::format::FormatError;
use crate::format::Output;
use crate::format::bits::{bit, shared_bits};
use crate::format::kv03::{Cursor, FileWriter, Kv03, Summary};

/// How to merge.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether the inputs' body checksums are computed and compared. Everything else is always checked.
    pub verify: bool,
}

/// Why a merge stopped. The output is then no valid file.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// An input is not what it should be.
    #[error("input {input}: {error}")]
    Input {
        /// Which one, from 0, oldest first.
        input: usize,
        /// What is wrong with it.
        error: FormatError,
    },
    /// The output could not be written.
    #[error("{0}")]
    Output(#[from] io::Error),
}

/// Merges `inputs`, oldest first, into `out`. One input is rewritten canonically; none give the empty file.
///
/// Checks of every input what [`Kv03::scan`] does.
pub fn merge(inputs: &[Kv03<'_>], options: Options, out: impl Output) -> Result<Summary, MergeError> {
    let mut writer = FileWriter::new(out);
    let mut tournament = Tournament::new(inputs, options)?;
    let mut taken_any = false;
    while let Some(contestant) = tournament.winner() {
        let record = contestant.cursor.record();
        let shared = contestant.shared as u64;
        // A key that shares all of itself with a key not above it is that key again, and older.
        let superseded = taken_any && shared == record.key_bits;
        if !superseded {
            debug_assert!(shared >= record.retained_bits, "no key is dropped");
            writer.copy_record(
                shared,
                record.key_bits,
                contestant.cursor.payload(),
                record.literal_at + (shared - record.retained_bits),
                record.value_bits(),
            )?;
            taken_any = true;
        }
        tournament.advance_winner()?;
    }
    Ok(writer.finish()?)
}

/// An input, at its current record.
struct Contestant<'a> {
    cursor: Cursor<'a>,
    /// Bits that its key shares with the key taken last; [`EXHAUSTED`] at its end.
    shared: i64,
}

/// Less than any number of bits, so that an input at its end loses to all others.
const EXHAUSTED: i64 = -1;

impl Contestant<'_> {
    #[inline(always)]
    fn advance(&mut self, input: usize) -> Result<(), MergeError> {
        let more = self.cursor.advance().map_err(|error| MergeError::Input { input, error })?;
        self.shared = if more { self.cursor.record().shared_bits as i64 } else { EXHAUSTED };
        Ok(())
    }
}

/// A loser tree: `losers[1..]` are its inner nodes in heap order, each with the contestant that lost there.
struct Tournament<'a> {
    contestants: Vec<Contestant<'a>>,
    losers: Vec<usize>,
    winner: usize,
}

impl<'a> Tournament<'a> {
    fn new(inputs: &[Kv03<'a>], options: Options) -> Result<Tournament<'a>, MergeError> {
        let mut contestants = Vec::with_capacity(inputs.len());
        for (input, &file) in inputs.iter().enumerate() {
            let mut contestant = Contestant { cursor: Cursor::new(file, options.verify), shared: 0 };
            contestant.advance(input)?;
            contestants.push(contestant);
        }
        let mut tournament = Tournament { losers: vec![0; contestants.len()], contestants, winner: 0 };
        if tournament.contestants.len() > 1 {
            tournament.winner = tournament.play(1);
        }
        Ok(tournament)
    }

    /// Plays the subtree at `node` for the first time; gives its winner.
    fn play(&mut self, node: usize) -> usize {
        let count = self.contestants.len();
        if node >= count {
            return node - count;
        }
        let (left, right) = (self.play(2 * node), self.play(2 * node + 1));
        let (winner, loser) = self.compete(left, right);
        self.losers[node] = loser;
        winner
    }

    #[inline(always)]
    fn winner(&self) -> Option<&Contestant<'a>> {
        self.contestants.get(self.winner).filter(|contestant| contestant.shared != EXHAUSTED)
    }

    /// Moves the winner to its next record and finds the new winner along its path.
    #[inline(always)]
    fn advance_winner(&mut self) -> Result<(), MergeError> {
        let mut champion = self.winner;
        self.contestants[champion].advance(champion)?;
        let mut node = (champion + self.contestants.len()) / 2;
        while node >= 1 {
            let (winner, loser) = self.compete(champion, self.losers[node]);
            self.losers[node] = loser;
            champion = winner;
            node /= 2;
        }
        self.winner = champion;
        Ok(())
    }

    /// The smaller of two contestants, then the other, who now shares with the smaller what they have in common. Of equal
    /// keys the newer comes first.
    #[inline(always)]
    fn compete(&mut self, a: usize, b: usize) -> (usize, usize) {
        let (one, other) = (&self.contestants[a], &self.contestants[b]);
        if one.shared != other.shared {
            return if one.shared > other.shared { (a, b) } else { (b, a) };
        }
        if one.shared == EXHAUSTED {
            return (a, b);
        }
        let (one_key, other_key) = (one.cursor.key_storage(), other.cursor.key_storage());
        let (one_bits, other_bits) = (one.cursor.record().key_bits, other.cursor.record().key_bits);
        let from = one.shared as u64;
        let limit = one_bits.min(other_bits) - from;
        let more = shared_bits(one_key, from, other_key, from, limit);
        let one_first = if more < limit {
            !bit(one_key, from + more)
        } else if one_bits != other_bits {
            one_bits < other_bits
        } else {
            a > b
        };
        let (winner, loser) = if one_first { (a, b) } else { (b, a) };
        self.contestants[loser].shared = (from + more) as i64;
        (winner, loser)
    }
}
