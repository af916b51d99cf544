//! Repeated measurements: order statistics, which outliers do not move.

use serde::Serialize;

/// What a number of measurements of one thing say.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stats {
    /// How many there are.
    pub runs: usize,
    /// Half are below it, half above.
    pub median: f64,
    /// The median distance from the median.
    pub mad: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Stats {
    /// The statistics of some measurements; `None` of none.
    pub fn of(measured: &[f64]) -> Option<Stats> {
        let mut sorted = measured.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        let middle = median(&sorted);
        let mut distances: Vec<f64> = sorted.iter().map(|one| (one - middle).abs()).collect();
        distances.sort_by(f64::total_cmp);
        Some(Stats { runs: sorted.len(), median: middle, mad: median(&distances), min, max })
    }
}

/// The median of sorted numbers, of which there is at least one.
fn median(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[half] } else { (sorted[half - 1] + sorted[half]) / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_statistics() {
        let stats = Stats::of(&[5.0, 1.0, 2.0, 100.0]).expect("some");
        assert_eq!((stats.median, stats.mad, stats.min, stats.max, stats.runs), (3.5, 2.0, 1.0, 100.0, 4));
        let one = Stats::of(&[7.0]).expect("some");
        assert_eq!((one.median, one.mad), (7.0, 0.0));
        assert_eq!(Stats::of(&[]), None);
    }
}
