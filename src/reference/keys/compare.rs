//! What two keys share, and which comes first.

use std::cmp::Ordering;

use super::{Keys, Run};
use crate::reference::{Call, Fault, Port};

/// What a comparison of two keys found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::reference) struct Comparison {
    /// Leading bits that both keys have: at most the length of the shorter one.
    pub(in crate::reference) shared_bits: u32,
    /// How the first key stands to the second.
    pub(in crate::reference) order: Ordering,
}

/// The keys of both inputs with what is known of them besides: the prefix and, in a pass that has them, the windows.
#[derive(Clone, Copy, Debug)]
pub(in crate::reference) struct Comparer<'a> {
    keys: Keys<'a>,
    prefix_bits: u32,
    windows: Option<Port<'a>>,
}

impl<'a> Comparer<'a> {
    /// Keys, prefix and windows of a call.
    pub(in crate::reference) fn new(call: &Call<'a>) -> Result<Self, Fault> {
        let prefix_bits = call.port("prefix")?.get(0)?.wrapping_mul(8);
        Ok(Comparer { keys: Keys::new(call)?, prefix_bits, windows: call.port("windows").ok() })
    }

    /// Length of a record's key, in bits.
    pub(in crate::reference) fn key_bits(&self, record: u32) -> Result<u32, Fault> {
        self.keys.key_bits(record)
    }

    /// Bits that a key is known to share with the one before it in its input, as far as the call says.
    pub(in crate::reference) fn inherited(&self, record: u32) -> Result<u32, Fault> {
        self.keys.inherited(record)
    }

    /// Compares the keys of two records that share their first `known` bits, and the prefix.
    ///
    /// Between keys of inputs that do not ascend, what is taken as known may not be shared. So that the result is that of
    /// the kernel all the same, windows are looked at just when it does.
    pub(in crate::reference) fn compare(&self, a: u32, b: u32, known: u32) -> Result<Comparison, Fault> {
        let (found, by_windows) = self.compare_with_windows(a, b, known)?;
        if by_windows {
            let shorter = self.keys.key_bits(a)?.min(self.keys.key_bits(b)?);
            return Ok(Comparison { shared_bits: found.shared_bits.min(shorter), ..found });
        }
        Ok(found)
    }

    /// The same for a search, where some of the shared bits will do: none where windows decide.
    pub(in crate::reference) fn compare_order(
        &self,
        a: u32,
        b: u32,
        known: u32,
    ) -> Result<Comparison, Fault> {
        let (found, by_windows) = self.compare_with_windows(a, b, known)?;
        Ok(if by_windows { Comparison { shared_bits: 0, ..found } } else { found })
    }

    /// What keys and zeros behind them share, and whether windows said so.
    fn compare_with_windows(&self, a: u32, b: u32, known: u32) -> Result<(Comparison, bool), Fault> {
        let Some(windows) = self.windows else {
            return Ok((self.compare_bits(a, b, known.max(self.prefix_bits))?, false));
        };
        let end = self.prefix_bits.wrapping_add(64);
        if known < end {
            let [a_window, b_window] = [window(&windows, a)?, window(&windows, b)?];
            if a_window != b_window {
                let shared_bits = self.prefix_bits.wrapping_add((a_window ^ b_window).leading_zeros());
                return Ok((Comparison { shared_bits, order: a_window.cmp(&b_window) }, true));
            }
        }
        Ok((self.compare_bits(a, b, known.max(end))?, false))
    }

    /// Compares the keys of two records from bit `known` on.
    fn compare_bits(&self, a: u32, b: u32, known: u32) -> Result<Comparison, Fault> {
        let [a_bits, b_bits] = [self.keys.key_bits(a)?, self.keys.key_bits(b)?];
        let shorter = a_bits.min(b_bits);
        let mut at = known.min(shorter);
        let [mut a_run, mut b_run] = [Run::default(); 2];
        while at < shorter {
            if a_run.bits == 0 {
                a_run = self.keys.run(a, at)?;
            }
            if b_run.bits == 0 {
                b_run = self.keys.run(b, at)?;
            }
            let bits = a_run.bits.min(b_run.bits).min(shorter - at).min(32);
            let [a_word, b_word] = [self.keys.word(a_run)?, self.keys.word(b_run)?];
            let same = (a_word ^ b_word).leading_zeros();
            if same < bits {
                return Ok(Comparison { shared_bits: at + same, order: a_word.cmp(&b_word) });
            }
            (a_run, b_run, at) = (a_run.after(bits), b_run.after(bits), at + bits);
        }
        Ok(Comparison { shared_bits: shorter, order: a_bits.cmp(&b_bits) })
    }
}

fn window(windows: &Port<'_>, record: u32) -> Result<u64, Fault> {
    let [first, second] = windows.get_lanes::<2>(u64::from(record))?;
    Ok(u64::from(first) << 32 | u64::from(second))
}
