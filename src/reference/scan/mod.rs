//! Exclusive prefix sums modulo 2^32: reduce, then scan (Merrill and Grimshaw's reduce-then-scan).

mod apply;
mod span_sums;
mod tile_sums;

pub(super) use apply::apply;
pub(super) use span_sums::span_sums;
pub(super) use tile_sums::tile_sums;

use super::{Call, Fault};

/// Items in a tile.
fn tile_items(call: &Call<'_>) -> Result<u64, Fault> {
    Ok(call.number("GROUP")?.max(1).saturating_mul(16))
}

/// Tiles in a span.
fn span_tiles(call: &Call<'_>) -> Result<u64, Fault> {
    Ok(call.number("GROUP")?.max(1).saturating_mul(4))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::reference::call::testing::run;

    /// The three passes one after another: sums and total.
    fn scan(items: &[u32], group: u64) -> Result<(Vec<u32>, u32), Fault> {
        let numbers = [("GROUP", group)];
        let n_items = [items.len() as u32];
        let tiles = items.len().div_ceil(16 * group as usize);
        let spans = tiles.div_ceil(4 * group as usize).max(1) - 1;
        let [tiles] =
            run(tile_sums, &numbers, &[("n_items", &n_items), ("items", items)], [("sums", tiles)])?;
        let reads: [(&str, &[u32]); 2] = [("n_items", &n_items), ("tiles", &tiles)];
        let [spans] = run(span_sums, &numbers, &reads, [("spans", spans)])?;
        let reads: [(&str, &[u32]); 4] =
            [("n_items", &n_items), ("items", items), ("tiles", &tiles), ("spans", &spans)];
        let [sums, total] = run(apply, &numbers, &reads, [("sums", items.len()), ("total", 1)])?;
        Ok((sums, total[0]))
    }

    proptest! {
        #[test]
        fn is_the_prefix_sum(items in prop::collection::vec(any::<u32>(), 0..200), group in 1u64..4) {
            let mut sum = 0u32;
            let before: Vec<u32> = items.iter().map(|&item| {
                let before = sum;
                sum = sum.wrapping_add(item);
                before
            }).collect();
            prop_assert_eq!(scan(&items, group), Ok((before, sum)));
        }
    }

    #[test]
    fn of_nothing_is_nothing() {
        assert_eq!(scan(&[], 256), Ok((Vec::new(), 0)));
    }
}
