//! Radix sort, the lowest of four 8-bit digits first; for each digit: counts by tile, their scan, a stable scatter
//! (Satish, Harris and Garland, "Designing efficient sorting algorithms for manycore GPUs", 2009).

mod digit_counts;
mod scatter;

pub(super) use digit_counts::digit_counts;
pub(super) use scatter::scatter;

use super::{Call, Fault};

/// Values of a digit.
const DIGITS: u64 = 256;

/// Keys in a tile.
fn tile_keys(call: &Call<'_>) -> Result<u64, Fault> {
    Ok(call.number("GROUP")?.max(1).saturating_mul(8))
}

/// The digit of a key at bit `shift`.
fn digit_of(key: u32, shift: u64) -> u64 {
    (u64::from(key) >> shift.min(63)) % DIGITS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::reference::call::testing::run;

    /// One digit: counts, a plain prefix sum in place of the scan, scatter.
    fn sort_digit(keys: &[u32], shift: u64, group: u64) -> Result<Vec<u32>, Fault> {
        let numbers = [("GROUP", group), ("shift", shift)];
        let n_keys = [keys.len() as u32];
        let counts_len = DIGITS as usize * keys.len().div_ceil(8 * group as usize);
        let reads: [(&str, &[u32]); 2] = [("n_keys", &n_keys), ("keys", keys)];
        let [counts] = run(digit_counts, &numbers, &reads, [("counts", counts_len)])?;
        let bases: Vec<u32> =
            counts.iter().scan(0, |sum, count| Some(std::mem::replace(sum, *sum + count))).collect();
        let reads: [(&str, &[u32]); 3] = [("n_keys", &n_keys), ("keys", keys), ("bases", &bases)];
        let [moved] = run(scatter, &numbers, &reads, [("moved", keys.len())])?;
        Ok(moved)
    }

    proptest! {
        #[test]
        fn one_digit_is_a_stable_sort(keys in prop::collection::vec(any::<u32>(), 0..100), byte in 0u64..4, group in 1u64..4) {
            let mut expected = keys.clone();
            expected.sort_by_key(|&key| (key >> (8 * byte)) & 0xff);
            prop_assert_eq!(sort_digit(&keys, 8 * byte, group), Ok(expected));
        }

        #[test]
        fn four_digits_sort(keys in prop::collection::vec(any::<u32>(), 0..100)) {
            let mut sorted = keys.clone();
            for shift in [0, 8, 16, 24] {
                sorted = sort_digit(&sorted, shift, 2)?;
            }
            let mut expected = keys;
            expected.sort_unstable();
            prop_assert_eq!(sorted, expected);
        }
    }
}
