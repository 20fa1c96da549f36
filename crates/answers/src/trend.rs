//! Drift of a series: a slope that is robust against outliers, and a test of its significance.
//!
//! Slope by H. Theil (1950) and P. K. Sen (JASA 63, 1968): the median of the slopes of all pairs. Test by H. B. Mann
//! (1945) and M. Kendall, with the correction for ties; interval of the slope by Sen, as in R. O. Gilbert, "Statistical
//! Methods for Environmental Pollution Monitoring", 1987, 16.4. Cost O(n²): above [`MOST`] values, the series is
//! replaced by means of blocks.

use crate::distribution::{normal_cdf, normal_quantile};
use crate::interval::CONFIDENCE;
use crate::series::{median, quantile_of_sorted};

/// Largest number of values whose pairs are all taken: half a million pairs, 4 MB. A day in windows of 5 s would need a
/// gigabyte.
const MOST: usize = 1000;

/// Drift of a series whose values have equal distances in time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Change of the value from one value to the next.
    pub slope: f64,
    /// Lower end of the 95 % interval of the slope.
    pub low: f64,
    /// Upper end of the 95 % interval of the slope.
    pub high: f64,
    /// Value of the fitted line at the first value.
    pub start: f64,
    /// Probability of a drift at least as large in a series without drift.
    pub p: f64,
}

/// Computes the drift; `None` for fewer than eight values.
pub fn trend(values: &[f64]) -> Option<Trend> {
    let size = values.len().div_ceil(MOST);
    if size <= 1 {
        return of_pairs(values);
    }
    // An incomplete last block would lie at a different distance, so it is dropped.
    let blocks: Vec<f64> =
        values.chunks_exact(size).map(|block| block.iter().sum::<f64>() / size as f64).collect();
    let Trend { slope, low, high, start, p } = of_pairs(&blocks)?;
    let [slope, low, high] = [slope, low, high].map(|per_block| per_block / size as f64);
    Some(Trend { slope, low, high, start: start - slope * (size - 1) as f64 / 2.0, p })
}

/// Computes the drift from the slopes of all pairs.
fn of_pairs(values: &[f64]) -> Option<Trend> {
    let n = values.len();
    if n < 8 {
        return None;
    }
    let mut slopes = Vec::with_capacity(n * (n - 1) / 2);
    let mut score = 0.0;
    for (i, a) in values.iter().enumerate() {
        for (j, b) in values.iter().enumerate().skip(i + 1) {
            slopes.push((b - a) / (j - i) as f64);
            score += if b > a {
                1.0
            } else if b < a {
                -1.0
            } else {
                0.0
            };
        }
    }
    slopes.sort_by(f64::total_cmp);
    let pairs = |t: f64| t * (t - 1.0) * (2.0 * t + 5.0);
    let variance = (pairs(n as f64) - ties(values).into_iter().map(pairs).sum::<f64>()) / 18.0;
    let deviation = variance.max(0.0).sqrt();
    // Continuity correction: the score moves in steps of 2.
    let z = if score == 0.0 || deviation == 0.0 {
        0.0
    } else {
        (score - f64::signum(score)) / deviation
    };
    let aside =
        normal_quantile(f64::midpoint(1.0, CONFIDENCE)) * deviation / slopes.len() as f64 / 2.0;
    let slope = median(&slopes);
    let ends: Vec<f64> = values.iter().enumerate().map(|(i, v)| v - slope * i as f64).collect();
    Some(Trend {
        slope,
        low: quantile_of_sorted(&slopes, 0.5 - aside),
        high: quantile_of_sorted(&slopes, 0.5 + aside),
        start: median(&ends),
        p: (2.0 * (1.0 - normal_cdf(z.abs()))).min(1.0),
    })
}

/// Returns the sizes of the groups of equal values.
fn ties(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(|same| same.len() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn a_worked_example() {
        // 1…10 in order: S = 45, variance 125, z = 44/√125 = 3.935.
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let found = trend(&values).unwrap();
        assert_eq!((found.slope, found.low, found.high, found.start), (1.0, 1.0, 1.0, 1.0));
        assert!((found.p - 8.3e-5).abs() < 1e-6, "{}", found.p);
        assert_eq!(trend(&[1.0; 20]).unwrap().p, 1.0);
        assert!(trend(&values[..7]).is_none());
    }

    #[test]
    fn a_long_series_has_the_drift_of_its_blocks() {
        let values: Vec<f64> = (0..4500).map(|i| 7.0 + 0.5 * f64::from(i)).collect();
        let found = trend(&values).unwrap();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(
            near(found.slope, 0.5) && near(found.low, 0.5) && near(found.high, 0.5),
            "{found:?}"
        );
        assert!(near(found.start, 7.0) && found.p < 1e-9, "{found:?}");
    }

    #[test]
    fn drift_is_found_and_noise_is_not() {
        let series = |slope: f64, seed: u64| -> Vec<f64> {
            let mut random = Random::new(seed);
            (0..60).map(|i| 100.0 + slope * f64::from(i) + 5.0 * random.normal()).collect()
        };
        let found = (0..400).filter(|seed| trend(&series(0.0, *seed)).unwrap().p < 0.05).count();
        assert!((8..=34).contains(&found), "{found} of 400 without drift");
        for seed in 0..50 {
            let drift = trend(&series(0.5, seed)).unwrap();
            assert!(drift.p < 0.001 && drift.low < drift.slope && drift.slope < drift.high);
            assert!((drift.slope - 0.5).abs() < 0.2);
        }
    }
}
