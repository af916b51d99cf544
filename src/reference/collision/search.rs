//! Where a record's key lies among the keys of the other input.

use std::cmp::Ordering;
use std::ops::Range;

use crate::reference::Fault;
use crate::reference::keys::Comparer;

/// Records that search the whole other input once, for their first key.
const TILE_RECORDS: u32 = 32;

/// What a search found.
pub(super) struct Found {
    /// The first record whose key is not below the one that is looked for.
    pub(super) at: u32,
    /// Whether it has the same key.
    pub(super) equal: bool,
}

/// Searches for the keys of one input among those of the other one.
///
/// Where inputs do not ascend, what is found depends on the search: the kernel's, which halves.
pub(super) struct Search<'a> {
    pub(super) keys: Comparer<'a>,
    /// The records that are looked for.
    pub(super) own: Range<u32>,
    /// The records among which they are.
    pub(super) other: Range<u32>,
    /// Whether a record is looked for only between where its tile begins and where the next one does.
    pub(super) in_tiles: bool,
}

impl Search<'_> {
    /// Looks for the key of a record.
    pub(super) fn find(&self, record: u32) -> Result<Found, Fault> {
        if !self.in_tiles {
            return self.lower_bound(record, self.other.clone());
        }
        let tile = record - (record - self.own.start) % TILE_RECORDS;
        let [low, high] = [self.tile_bound(tile)?, self.tile_bound(tile + TILE_RECORDS)?];
        self.lower_bound(record, low..high)
    }

    /// Where the first key of a tile lies, which may be behind the last.
    fn tile_bound(&self, first: u32) -> Result<u32, Fault> {
        match self.own.contains(&first) {
            true => Ok(self.lower_bound(first, self.other.clone())?.at),
            false => Ok(self.other.end),
        }
    }

    fn lower_bound(&self, record: u32, among: Range<u32>) -> Result<Found, Fault> {
        let (mut low, mut high) = (among.start, among.end);
        let (mut low_shared, mut high_shared) = (0, 0);
        while low < high {
            let middle = low + (high - low) / 2;
            let found = self.keys.compare_order(middle, record, low_shared.min(high_shared))?;
            match found.order {
                Ordering::Less => (low, low_shared) = (middle + 1, found.shared_bits),
                Ordering::Greater => (high, high_shared) = (middle, found.shared_bits),
                Ordering::Equal => return Ok(Found { at: middle, equal: true }),
            }
        }
        Ok(Found { at: low, equal: false })
    }
}
