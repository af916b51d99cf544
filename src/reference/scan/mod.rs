//! Exclusive prefix sums modulo 2^32: reduce, then scan (Merrill and Grimshaw's reduce-then-scan).

mod apply;
mod apply_direct;
mod tile_bases;
mod tile_sums;

pub(super) use apply::apply;
pub(super) use apply_direct::{apply_direct, direct_bases};
pub(super) use tile_bases::tile_bases;
pub(super) use tile_sums::tile_sums;

use super::{Call, Fault};

/// Items in a tile.
fn tile_items(call: &Call<'_>) -> Result<u64, Fault> {
    Ok(call.number("GROUP")?.max(1).saturating_mul(16))
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
        let [tile_sums] =
            run(tile_sums, &numbers, &[("n_items", &n_items), ("items", items)], [("sums", tiles)])?;
        let reads: [(&str, &[u32]); 2] = [("n_items", &n_items), ("sums", &tile_sums)];
        let [bases, total] = run(tile_bases, &numbers, &reads, [("bases", tiles), ("total", 1)])?;
        let reads: [(&str, &[u32]); 3] = [("n_items", &n_items), ("items", items), ("bases", &bases)];
        let [sums] = run(apply, &numbers, &reads, [("sums", items.len())])?;
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
