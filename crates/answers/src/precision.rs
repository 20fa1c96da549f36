//! Precision of the mean time while a run continues, and the effective number of independent samples.
//!
//! The mean is a ratio: the sum of times by the number of samples. Its error comes from the residuals of the seconds:
//! the sum of times minus the mean times the number of samples. Their long-run variance is used, so that dependence
//! between seconds counts ([`crate::autocorrelation::memory`]).

use stats::hist::Hist;

use crate::autocorrelation::{autoregression, memory};
use crate::bootstrap::Unit;
use crate::distribution::student_quantile;
use crate::interval::CONFIDENCE;
use crate::series::variance;

/// Smallest number of seconds for which a precision is returned.
pub const LEAST_SECONDS: usize = 10;

/// Precision of the mean time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Mean time in ms.
    pub mean: f64,
    /// Half of the 95 % interval's width, ms.
    pub half: f64,
    /// Number of independent samples that give the mean with the same precision; at most the number of samples.
    pub effective: f64,
}

impl Precision {
    /// Returns half of the interval's width relative to the mean.
    pub fn relative(&self) -> f64 {
        if self.mean > 0.0 { self.half / self.mean } else { f64::INFINITY }
    }
}

/// Returns the precision of the mean over the given seconds; `None` for too few seconds or samples.
pub fn precision(units: &[Unit<'_>]) -> Option<Precision> {
    let n = units.len();
    let count: u64 = units.iter().map(|unit| unit.count).sum();
    if n < LEAST_SECONDS || count < 2 {
        return None;
    }
    let elapsed: f64 = units.iter().map(|unit| unit.elapsed as f64).sum();
    let mean = elapsed / count as f64;
    let residuals: Vec<f64> =
        units.iter().map(|unit| unit.elapsed as f64 - mean * unit.count as f64).collect();
    let memory = memory(&residuals);
    let plain = memory.long_run_variance.max(variance(&residuals));
    // Blocks of a short series miss a part of its dependence. An autoregression finds that part.
    let regressed = autoregression(&residuals, memory.block);
    let (by_regression, worth) =
        regressed.map_or((0.0, n as f64), |found| (found.error.powi(2) * n as f64, found.worth));
    let long_run = plain.max(by_regression);
    let each = count as f64 / n as f64;
    let error = (long_run / n as f64).sqrt() / each;
    let df = (n as f64 / memory.block - 1.0).min(worth - 1.0).max(1.0);
    let mut hist = Hist::new();
    units.iter().filter_map(|unit| unit.times.as_deref()).for_each(|times| hist.add(times));
    let spread = squares(&hist, mean / 1e3);
    let effective = if error > 0.0 { spread * 1e6 / (error * error) } else { count as f64 };
    let half = student_quantile(f64::midpoint(1.0, CONFIDENCE), df) * error / 1e6;
    Some(Precision { mean: mean / 1e6, half, effective: effective.clamp(1.0, count as f64) })
}

/// Returns the variance of the values of a histogram in µs around `mean` in µs, in µs².
fn squares(hist: &Hist, mean: f64) -> f64 {
    let middle = |bin| stats::hist::layout::middle_of(bin) as f64;
    let sum: f64 = hist.iter().map(|(bin, n)| (middle(bin) - mean).powi(2) * n as f64).sum();
    sum / (hist.total().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use stats::hist::{Bins, layout};

    use super::*;
    use crate::random::Random;

    fn seconds(n: usize, drift: f64, seed: u64) -> Vec<(u64, Bins)> {
        let mut random = Random::new(seed);
        let mut level = 0.0;
        (0..n)
            .map(|_| {
                level = 0.8 * level + drift * random.normal();
                let times: Vec<u64> = (0..50)
                    .map(|_| (random.exponential(10_000.0) * (1.0 + level)).max(1.0) as u64)
                    .collect();
                let mut bins = std::collections::BTreeMap::new();
                for us in &times {
                    *bins.entry(layout::index_of(*us)).or_insert(0u64) += 1;
                }
                (
                    times.iter().sum::<u64>() * 1000,
                    Bins::try_from(bins.into_iter().collect::<Vec<_>>()).expect("in order"),
                )
            })
            .collect()
    }

    fn of(made: &[(u64, Bins)]) -> Precision {
        let unit = |second: &'_ (u64, Bins)| second.1.total();
        let units: Vec<Unit<'_>> = made
            .iter()
            .map(|s| Unit {
                seconds: 1.0,
                count: unit(s),
                errors: 0,
                elapsed: s.0,
                times: Some(Cow::Borrowed(&s.1)),
            })
            .collect();
        precision(&units).expect("long enough")
    }

    #[test]
    fn the_interval_covers_the_mean_and_dependence_makes_it_wider() {
        let covered = (0..200).filter(|seed| {
            let found = of(&seconds(60, 0.0, *seed));
            (found.mean - 10.0).abs() <= found.half
        });
        let covered = covered.count();
        assert!(covered >= 180, "{covered} of 200");
        let (independent, dependent) = (of(&seconds(100, 0.0, 1)), of(&seconds(100, 0.1, 1)));
        assert!(independent.effective > 2500.0, "{independent:?}");
        assert!(
            dependent.effective < 1000.0 && dependent.half > 1.5 * independent.half,
            "{dependent:?}"
        );
        assert!(precision(&[]).is_none());
    }
}
