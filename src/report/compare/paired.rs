//! Statistics of paired differences: how far two things differ, and how sure that is, without a model of the noise.
//!
//! Measured times have outliers, long tails and drift. What is estimated here is the centre of differences between
//! neighbours in time, which drift hardly moves, by ranks, which outliers hardly move: the Hodges-Lehmann estimate with the
//! interval that belongs to Wilcoxon's signed-rank test (Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods",
//! 3.1 to 3.3). It is exact for differences that are independent and symmetric about their centre.

/// A centre and an interval about it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The median of all pairwise means.
    pub centre: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The interval that misses the centre of `differences` with at most probability `error`; `None` of so few differences
/// that no finite interval is as sure as that.
pub fn interval(differences: &[f64], error: f64) -> Option<Interval> {
    let below = critical(differences.len(), error)?;
    let mut means = Vec::with_capacity(differences.len() * (differences.len() + 1) / 2);
    for (index, one) in differences.iter().enumerate() {
        means.extend(differences[index..].iter().map(|other| (one + other) / 2.0));
    }
    means.sort_by(f64::total_cmp);
    let last = means.len() - 1;
    let centre = (means[last / 2] + means[means.len() / 2]) / 2.0;
    Some(Interval { centre, low: means[below], high: means[last - below] })
}

/// The fewest differences that have an interval with this probability of error.
pub fn fewest(error: f64) -> usize {
    (1..).find(|&differences| critical(differences, error).is_some()).unwrap_or(usize::MAX)
}

/// How many of the sorted pairwise means lie outside at either end: the largest number that the signed-rank statistic
/// reaches or falls below with at most half of `error`.
fn critical(differences: usize, error: f64) -> Option<usize> {
    let tail = error / 2.0;
    let mut cumulative = 0.0;
    let mut outside = None;
    for (statistic, probability) in signed_rank(differences).into_iter().enumerate() {
        cumulative += probability;
        if cumulative > tail {
            break;
        }
        outside = Some(statistic);
    }
    outside
}

/// The exact distribution of the signed-rank statistic without an effect: each rank counts or not with probability one half.
fn signed_rank(differences: usize) -> Vec<f64> {
    let mut probability = vec![0.0; differences * (differences + 1) / 2 + 1];
    probability[0] = 1.0;
    for rank in 1..=differences {
        for sum in (0..=rank * (rank + 1) / 2).rev() {
            let with = if sum >= rank { probability[sum - rank] } else { 0.0 };
            probability[sum] = (probability[sum] + with) / 2.0;
        }
    }
    probability
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn critical_values_are_those_of_published_tables() {
        // Two-sided 5 %: n = 5 has none, n = 6 has 0, n = 10 has 8, n = 20 has 52, n = 50 has 434.
        let table = [(5, None), (6, Some(0)), (10, Some(8)), (20, Some(52)), (50, Some(434))];
        for (differences, expected) in table {
            assert_eq!(critical(differences, 0.05), expected, "{differences} differences");
        }
        assert_eq!(fewest(0.05), 6);
        assert!((signed_rank(12).iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn intervals_hold_what_most_differences_say() {
        let differences: Vec<f64> =
            (0..20).map(|i| 1.0 + f64::from(i % 5) * 0.01).chain([900.0, -900.0]).collect();
        let found = interval(&differences, 0.05).unwrap();
        assert!((1.0..1.04).contains(&found.centre) && found.low > 0.99 && found.high < 1.05, "{found:?}");
        assert_eq!(interval(&differences[..5], 0.05), None);
    }
}
