//! Intervals of percentiles by order statistics, which need no assumption about the distribution.
//!
//! The value of rank j is at most the percentile p, and the value of rank k is at least the percentile, with
//! probability Σ_{i=j}^{k-1} C(n,i) pⁱ (1-p)^{n-i}. Ranks are chosen so that each side errs with at most half of the
//! allowed probability. Source: J.-Y. Le Boudec, "Performance Evaluation of Computer and Communication Systems", 2010,
//! theorem 2.1. Samples of a load test depend on each other, so n is their effective sample size
//! ([`crate::autocorrelation`]).

use stats::hist::{Hist, layout};

use crate::distribution::{binomial_cdf, normal_quantile};

/// Confidence of every interval of this crate.
pub const CONFIDENCE: f64 = 0.95;

/// Number of samples from which the binomial is approximated by a normal distribution: the ranks differ by less
/// than one in a thousand.
const LARGE: u64 = 1_000_000;

/// A percentile with its interval. An end of the interval is `None` if there are too few samples for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Percentile {
    pub value: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
}

/// Returns the ranks, from 1, between whose values the percentile `p` (0 to 1) of `n` independent samples lies with
/// a probability of 95 %. A rank is `None` if even the smallest or largest sample is not extreme enough.
pub fn ranks(n: u64, p: f64) -> (Option<u64>, Option<u64>) {
    let aside = (1.0 - CONFIDENCE) / 2.0;
    if n == 0 {
        return (None, None);
    }
    if n >= LARGE {
        let (mean, wide) =
            (n as f64 * p, normal_quantile(1.0 - aside) * (n as f64 * p * (1.0 - p)).sqrt());
        let rank = |at: f64| (1.0..=n as f64).contains(&at).then_some(at as u64);
        return (rank((mean - wide).floor()), rank((mean + wide).ceil() + 1.0));
    }
    // The number of samples at or below the percentile is binomial: rank j lies above the percentile with probability
    // P(B < j).
    let low = last_true(n, |j| binomial_cdf(j - 1, n, p) <= aside);
    let high = last_true(n, |k| binomial_cdf(k - 1, n, p) < 1.0 - aside)
        .map_or(Some(1), |k| (k < n).then_some(k + 1));
    (low, high)
}

/// Returns the largest number from 1 to `n` for which `holds` is true; once false, `holds` must stay false.
fn last_true(n: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if holds(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    (low > 0).then_some(low)
}

/// Returns the percentile `p` (0 to 1) of a histogram in µs with an effective sample size of `effective`.
pub fn percentile(hist: &Hist, p: f64, effective: f64) -> Percentile {
    let n = effective.clamp(0.0, hist.total() as f64) as u64;
    let (low, high) = ranks(n, p);
    let at = |rank: u64| hist.quantile(rank as f64 / n as f64) as f64;
    Percentile { value: hist.quantile(p) as f64, low: low.map(at), high: high.map(at) }
}

/// Returns the smallest number of independent samples for which the interval of a percentile has an upper end.
pub fn least_samples(p: f64) -> u64 {
    (((1.0 - CONFIDENCE) / 2.0).ln() / p.ln()).ceil() as u64
}

/// Returns the share of values in a histogram in µs that are at most `limit`.
pub fn share_within(hist: &Hist, limit: u64) -> f64 {
    if hist.total() == 0 {
        return 1.0;
    }
    let within: u64 =
        hist.iter().take_while(|(bin, _)| layout::highest_of(*bin) <= limit).map(|(_, n)| n).sum();
    within as f64 / hist.total() as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::Random;

    #[test]
    fn ranks_of_a_median_are_those_of_le_boudecs_table() {
        for (n, j, k) in [(6, 1, 6), (9, 2, 8), (10, 2, 9), (20, 6, 15), (30, 10, 21), (70, 27, 44)]
        {
            assert_eq!(ranks(n, 0.5), (Some(j), Some(k)), "{n} samples");
        }
        assert_eq!(ranks(5, 0.5), (None, None));
    }

    #[test]
    fn an_upper_end_needs_so_many_samples() {
        for (p, n) in [(0.9, 36), (0.95, 72), (0.99, 368), (0.999, 3688)] {
            assert_eq!(least_samples(p), n);
            assert_eq!(ranks(n - 1, p).1, None);
            assert_eq!(ranks(n, p).1, Some(n));
        }
    }

    #[test]
    fn the_interval_covers_the_true_percentile() {
        let mut random = Random::new(7);
        let (rounds, truth) = (2000, 20.0f64.ln() * 1000.0);
        let mut covered = 0;
        for _ in 0..rounds {
            let mut hist = Hist::new();
            for _ in 0..400 {
                hist.record(random.exponential(1000.0) as u64, 1);
            }
            let found = percentile(&hist, 0.95, 400.0);
            covered += u32::from(found.low.unwrap() <= truth && truth <= found.high.unwrap());
        }
        let share = f64::from(covered) / f64::from(rounds);
        assert!((0.94..0.985).contains(&share), "covered in {share}");
    }

    proptest! {
        #[test]
        fn coverage_is_at_least_what_it_says(n in 1u64..3000, p in 0.01f64..0.999) {
            let (low, high) = ranks(n, p);
            let below = low.map_or(0.0, |j| binomial_cdf(j - 1, n, p));
            let above = high.map_or(0.0, |k| 1.0 - binomial_cdf(k - 1, n, p));
            prop_assert!(below <= 0.025 + 1e-9 && above <= 0.025 + 1e-9, "{below} {above}");
            if let (Some(low), Some(high)) = (low, high) {
                prop_assert!(low <= high);
            }
        }

        #[test]
        fn large_numbers_meet_the_exact_ones(p in 0.05f64..0.99) {
            let (low, high) = ranks(LARGE - 1, p);
            let (low_normal, high_normal) = ranks(LARGE, p);
            prop_assert!(low.unwrap().abs_diff(low_normal.unwrap()) <= 3);
            prop_assert!(high.unwrap().abs_diff(high_normal.unwrap()) <= 3);
        }
    }
}
