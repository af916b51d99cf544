//! `rank/classes_of_bits`, `rank/classes_of_bytes`, `rank/classes_of_origins` and `rank/checkpoints`: rank directories of
//! groups of K items, K one below a power of two.

use super::is_set;
use crate::reference::{Call, Fault, Port};

/// Groups between two checkpoints.
const RUN_GROUPS: usize = 128;

/// Codes of the status words.
const ABOVE_WIDTH: u32 = 1;
const NO_ORIGIN: u32 = 1;

/// The number K of items in a group.
fn group_items(call: &Call<'_>) -> Result<u64, Fault> {
    Ok(call.number("K")?.clamp(1, u64::from(u32::MAX >> 1)))
}

/// Writes the population of each group in as many bits as K needs, lowest first, and that of every 128 groups.
fn write(k: u64, populations: &[u32], classes: &Port<'_>, counts: &Port<'_>) -> Result<(), Fault> {
    let width = u64::from((k + 1).ilog2());
    let mut words = vec![0u32; 2 * (populations.len() as u64 * width).div_ceil(64) as usize];
    for (group, &population) in populations.iter().enumerate() {
        for bit in 0..width {
            let at = group as u64 * width + bit;
            words[at as usize / 32] |= (population >> bit & 1) << (at % 32);
        }
    }
    for (place, &word) in words.iter().enumerate() {
        classes.set(place as u64, word)?;
    }
    for (run, populations) in populations.chunks(RUN_GROUPS).enumerate() {
        counts.set(run as u64, populations.iter().sum())?;
    }
    Ok(())
}

/// Counts the marked items of each group of K of `n`.
fn populations(
    k: u64,
    n: u64,
    mut is_marked: impl FnMut(u64) -> Result<bool, Fault>,
) -> Result<Vec<u32>, Fault> {
    let mut populations = vec![0; n.div_ceil(k) as usize];
    for item in 0..n {
        populations[(item / k) as usize] += u32::from(is_marked(item)?);
    }
    Ok(populations)
}

/// The ones in each group of bits.
pub(in crate::reference) fn classes_of_bits(call: &Call<'_>) -> Result<(), Fault> {
    let (k, bitmap) = (group_items(call)?, call.port("bitmap")?);
    let populations = populations(k, call.number("bits")?, |bit| is_set(&bitmap, bit))?;
    write(k, &populations, &call.port("classes")?, &call.port("counts")?)
}

/// Populations that are given; only the low bits of one that is above K.
pub(in crate::reference) fn classes_of_bytes(call: &Call<'_>) -> Result<(), Fault> {
    let (k, n) = (group_items(call)?, call.number("n")?);
    let (given, status) = (call.port("populations")?, call.port("status")?);
    let mut worst = status.get(0)?;
    let mut populations = Vec::new();
    for group in 0..n.div_ceil(k) {
        let population = given.get(group / 4)? >> (8 * (group % 4)) & 0xff;
        if u64::from(population) > k.min(n - group * k) {
            worst = worst.min((group as u32) << 7 | ABOVE_WIDTH);
        }
        populations.push(population & k as u32);
    }
    status.set(0, worst)?;
    write(k, &populations, &call.port("classes")?, &call.port("counts")?)
}

/// How many occurrences of each group come from either target. What has no origin counts for neither.
pub(in crate::reference) fn classes_of_origins(call: &Call<'_>) -> Result<(), Fault> {
    let (k, n) = (group_items(call)?, call.number("n")?);
    let (origins, status) = (call.port("origins")?, call.port("status")?);
    let mut worst = status.get(0)?;
    for occurrence in 0..n {
        if origins.get(occurrence)? > 2 {
            worst = worst.min((occurrence as u32) << 7 | NO_ORIGIN);
        }
    }
    status.set(0, worst)?;
    for (origin, route) in [(1, "main"), (2, "secondary")] {
        let populations = populations(k, n, |occurrence| Ok(origins.get(occurrence)? == origin))?;
        let classes = call.port(&format!("{route}_classes"))?;
        write(k, &populations, &classes, &call.port(&format!("{route}_counts"))?)?;
    }
    Ok(())
}

/// Numbers of 64 bits from numbers of 32.
pub(in crate::reference) fn checkpoints(call: &Call<'_>) -> Result<(), Fault> {
    let (before, checkpoints) = (call.port("before")?, call.port("checkpoints")?);
    (0..call.number("n")?).try_for_each(|i| checkpoints.set_lanes(i, [before.get(i)?, 0]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::call::testing::run;

    #[test]
    fn classes_of_three_bits_straddle_words() {
        // Ten groups of 7 and one of 5: eleven classes of 3 bits are 33 bits.
        let (bitmap, numbers) = ([u32::MAX, u32::MAX, u32::MAX], [("K", 7), ("bits", 75)]);
        let written = run(classes_of_bits, &numbers, &[("bitmap", &bitmap)], [("classes", 2), ("counts", 1)]);
        assert_eq!(written, Ok([vec![0x7fff_ffff, 1], vec![75]]));
    }

    #[test]
    fn a_population_above_the_groups_width_is_reported() {
        let numbers = [("K", 15), ("n", 31)];
        let reads: [(&str, &[u32]); 1] = [("populations", &[0xff_02_0f_0f])];
        let [classes, counts, status] =
            run(classes_of_bytes, &numbers, &reads, [("classes", 2), ("counts", 1), ("status", 1)]).unwrap();
        assert_eq!((classes, counts), (vec![0x2ff, 0], vec![32]));
        // The word that was there before was 0xdeadbeef.
        assert_eq!(status, [2 << 7 | 1]);
    }
}
