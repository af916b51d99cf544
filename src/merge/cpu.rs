//! The streaming engine: one pass over all inputs, on one core, without rebuilding key sets.
//!
//! A tournament tree over the inputs' current keys in which every comparison starts where the last one ended. Each
//! contestant carries the number of bits it shares with the key taken last; of two contestants the one that shares
//! more is the smaller, and only those that share the same compare further, from there on (the LCP loser tree of
//! Bingmann, Eberle and Sanders, "Engineering Parallel String Sorting", 2013, in bits). The winner's number is at once
//! what its record shares with its predecessor in the output. As no key is dropped, that is never less than what the record
//! retains in its own file, so literal and value are copied as one span of bits.
//!
//! In the byte profile everything shared is rounded down to whole bytes, which keeps the order and is what records retain.
//!
//! A file of the byte profile frames its values differently when all have one width. Where the inputs' headers leave that
//! open, the tournament is first played until two survivors differ, which is soon unless none do.
//!
//! Memory: the inputs' current keys, one word per 15 records of output, and constants.

use std::io;
use std::marker::PhantomData;

use crate::format::FormatError;
use crate::format::Output;
use crate::format::bits::{bit, shared_bits};
use crate::format::kv::{Bits, Bytes, Cursor, File, FileWriter, Framing, Grammar, Profile, Summary};

use super::MixedProfiles;

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
    /// The inputs are not of one profile.
    #[error("{0}")]
    Profiles(#[from] MixedProfiles),
    /// The output could not be written.
    #[error("{0}")]
    Output(#[from] io::Error),
}

/// Merges `inputs`, all of one profile, oldest first, into `out`. One input is rewritten canonically; none give the empty
/// file of the bit profile.
///
/// Checks of every input what [`File::scan`] does.
pub fn merge(inputs: &[File<'_>], options: Options, out: impl Output) -> Result<Summary, MergeError> {
    match super::common_profile(inputs)? {
        Some(Profile::Kv02) => {
            let width = common_width(inputs, options)?;
            merge_as::<Bytes>(inputs, options, FileWriter::new(Framing::Kv02 { width }, out))
        }
        Some(Profile::Kv03) | None => merge_as::<Bits>(inputs, options, FileWriter::new(Framing::Kv03, out)),
    }
}

fn merge_as<G: Grammar>(
    inputs: &[File<'_>],
    options: Options,
    mut writer: FileWriter<impl Output>,
) -> Result<Summary, MergeError> {
    let mut tournament = Tournament::<G>::new(inputs, options)?;
    while let Some(contestant) = tournament.next_survivor()? {
        let record = contestant.cursor.record();
        let shared = contestant.shared as u64;
        debug_assert!(shared >= record.retained_bits, "no key is dropped");
        writer.copy_record::<G>(
            shared,
            record.key_bits,
            contestant.cursor.payload(),
            record.literal_at + (shared - record.retained_bits),
            record.value_bits(),
        )?;
    }
    Ok(writer.finish()?)
}

/// The width in bytes that all values of a merge of byte-profile files have, if they do; 0 without records.
fn common_width(inputs: &[File<'_>], options: Options) -> Result<Option<u64>, MergeError> {
    let mut declared =
        inputs.iter().filter(|input| input.records() > 0).map(|input| input.header.common_width);
    let Some(first) = declared.next() else { return Ok(Some(0)) };
    if first.is_some() && declared.all(|width| width == first) {
        return Ok(first);
    }
    let mut tournament = Tournament::<Bytes>::new(inputs, options)?;
    let mut width = None;
    while let Some(contestant) = tournament.next_survivor()? {
        let found = contestant.cursor.record().value_bits();
        if *width.get_or_insert(found) != found {
            return Ok(None);
        }
    }
    Ok(width.map(|bits| bits / Bytes::UNIT))
}

/// An input, at its current record.
struct Contestant<'a> {
    cursor: Cursor<'a>,
    /// Bits that its key shares with the key taken last, in whole units; [`EXHAUSTED`] at its end.
    shared: i64,
}

/// Less than any number of bits, so that an input at its end loses to all others.
const EXHAUSTED: i64 = -1;

impl Contestant<'_> {
    #[inline(always)]
    fn advance<G: Grammar>(&mut self, input: usize) -> Result<(), MergeError> {
        let more = self.cursor.advance_as::<G>().map_err(|error| MergeError::Input { input, error })?;
        self.shared = if more { self.cursor.record().shared_bits as i64 } else { EXHAUSTED };
        Ok(())
    }
}

/// A loser tree: `losers[1..]` are its inner nodes in heap order, each with the contestant that lost there.
struct Tournament<'a, G> {
    contestants: Vec<Contestant<'a>>,
    losers: Vec<usize>,
    winner: usize,
    /// Whether the winner has been looked at, and is to move on first.
    seen: bool,
    /// Whether any record has been taken.
    taken_any: bool,
    grammar: PhantomData<G>,
}

impl<'a, G: Grammar> Tournament<'a, G> {
    fn new(inputs: &[File<'a>], options: Options) -> Result<Tournament<'a, G>, MergeError> {
        let mut contestants = Vec::with_capacity(inputs.len());
        for (input, &file) in inputs.iter().enumerate() {
            let mut contestant = Contestant { cursor: Cursor::new(file, options.verify), shared: 0 };
            contestant.advance::<G>(input)?;
            contestants.push(contestant);
        }
        let mut tournament = Tournament {
            losers: vec![0; contestants.len()],
            contestants,
            winner: 0,
            seen: false,
            taken_any: false,
            grammar: PhantomData,
        };
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

    /// The next record that no newer one of its key supersedes, in ascending order of keys; `None` once all inputs have ended.
    #[inline(always)]
    fn next_survivor(&mut self) -> Result<Option<&Contestant<'a>>, MergeError> {
        loop {
            if self.seen {
                self.advance_winner()?;
            }
            self.seen = true;
            let Some(contestant) = self.contestants.get(self.winner) else { return Ok(None) };
            let shared = contestant.shared;
            if shared == EXHAUSTED {
                return Ok(None);
            }
            // A key that shares all of itself with a key not above it is that key again, and older.
            if !(self.taken_any && shared as u64 == contestant.cursor.record().key_bits) {
                self.taken_any = true;
                return Ok(self.contestants.get(self.winner));
            }
        }
    }

    /// Moves the winner to its next record and finds the new winner along its path.
    #[inline(always)]
    fn advance_winner(&mut self) -> Result<(), MergeError> {
        let mut champion = self.winner;
        self.contestants[champion].advance::<G>(champion)?;
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
        self.contestants[loser].shared = (from + more - more % G::UNIT) as i64;
        (winner, loser)
    }
}
