//! Dependence of neighbouring values: the number of independent values to which a series is equivalent, and how far
//! the dependence reaches.

use crate::series::mean;

/// Smallest number of batches in a level for the variance of the level to be used.
const LEAST_BATCHES: f64 = 8.0;
/// Ratio of a level's variance to the variance of single values, below which its batches have averaged the dependence
/// away.
const AVERAGED: f64 = 0.2;

/// Running sums of one level: means of 2^level values (Welford, 1962).
#[derive(Clone, Copy, Debug, Default)]
struct Level {
    n: f64,
    mean: f64,
    squares: f64,
    /// A mean without its neighbour, kept until the next mean arrives; the pair makes a mean of the next level.
    waiting: Option<f64>,
}

impl Level {
    fn variance(&self) -> f64 {
        if self.n < 2.0 { 0.0 } else { self.squares / (self.n - 1.0) }
    }
}

/// Computes the effective sample size in one pass by batch means. Level l holds the variance of means of 2^l values.
/// The autocorrelation time τ is the largest 2^l·Var_l/Var_0, up to the level that has averaged dependence away. The
/// load generator latte (Apache-2.0) by P. Kołaczkowski uses the same method. Memory is O(log n); parts of a series can
/// be merged.
#[derive(Clone, Debug, Default)]
pub struct Batches {
    levels: Vec<Level>,
}

impl Batches {
    pub fn add(&mut self, value: f64) {
        let mut value = value;
        for at in 0.. {
            if self.levels.len() == at {
                self.levels.push(Level::default());
            }
            let level = &mut self.levels[at];
            level.n += 1.0;
            let from = value - level.mean;
            level.mean += from / level.n;
            level.squares += from * (value - level.mean);
            match level.waiting.take() {
                None => {
                    level.waiting = Some(value);
                    return;
                }
                Some(other) => value = f64::midpoint(value, other),
            }
        }
    }

    /// Merges another part of the series; a pair of values across the boundary is not formed.
    pub fn merge(&mut self, other: &Self) {
        if self.levels.len() < other.levels.len() {
            self.levels.resize(other.levels.len(), Level::default());
        }
        for (mine, theirs) in self.levels.iter_mut().zip(&other.levels) {
            let n = mine.n + theirs.n;
            if theirs.n > 0.0 {
                let apart = theirs.mean - mine.mean;
                mine.mean += apart * theirs.n / n;
                mine.squares += theirs.squares + apart * apart * mine.n * theirs.n / n;
                mine.n = n;
            }
        }
    }

    /// Returns the autocorrelation time: the number of neighbouring values that contain as much information as one
    /// independent value, at least 1.
    pub fn time(&self) -> f64 {
        let Some(first) = self.levels.first().map(Level::variance).filter(|v| *v > 0.0) else {
            return 1.0;
        };
        let (mut time, mut size) = (1.0f64, 1.0);
        for level in self.levels.iter().take_while(|level| level.n >= LEAST_BATCHES) {
            let left = level.variance() / first;
            time = time.max(size * left);
            if left < AVERAGED {
                break;
            }
            size *= 2.0;
        }
        time
    }

    /// Returns the effective sample size: the number of independent values to which the series is equivalent.
    pub fn effective(&self) -> f64 {
        self.levels.first().map_or(0.0, |level| level.n / self.time())
    }
}

impl FromIterator<f64> for Batches {
    fn from_iter<T: IntoIterator<Item = f64>>(values: T) -> Self {
        let mut batches = Self::default();
        values.into_iter().for_each(|value| batches.add(value));
        batches
    }
}

/// Returns the effective sample size: the number of independent values to which the series is equivalent.
pub fn effective(values: &[f64]) -> f64 {
    values.iter().copied().collect::<Batches>().effective()
}

/// Long-run variance and block length of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// Variance of the mean, multiplied by n: the sum of all autocovariances.
    pub long_run_variance: f64,
    /// Best mean length of blocks for a stationary bootstrap, at least 1, at most min(3√n, n/3).
    pub block: f64,
}

/// Computes the block length by D. Politis and H. White, "Automatic Block-Length Selection for the Dependent
/// Bootstrap", Econometric Reviews 23, 2004, corrected by A. Patton, D. Politis and H. White, 28, 2009: b = (2g²/d ·
/// n)^⅓, g = Σ_{|k|≤2m} h(k/2m)|k|γ_k, d = 2(Σ h γ_k)², with the flat-top window h(x) = min(1, 2(1-|x|)) and m the last
/// lag before a row of max(5, log₁₀ n) autocorrelations within ±2√(log₁₀ n / n).
pub fn memory(values: &[f64]) -> Memory {
    let n = values.len();
    let none = Memory { long_run_variance: 0.0, block: 1.0 };
    if n < 10 {
        return none;
    }
    let count = n as f64;
    let centre = mean(values);
    let apart: Vec<f64> = values.iter().map(|v| v - centre).collect();
    let in_row = (count.log10() as usize).max(5);
    let most = (count.sqrt().ceil() as usize + in_row).min(n - 1);
    let covariance =
        |lag: usize| apart.iter().zip(&apart[lag..]).map(|(a, b)| a * b).sum::<f64>() / count;
    let covariances: Vec<f64> = (0..=most).map(covariance).collect();
    if covariances[0] <= f64::EPSILON * centre * centre {
        return none;
    }
    let within = 2.0 * (count.log10() / count).sqrt();
    let small = |lag: usize| (covariances[lag] / covariances[0]).abs() < within;
    let last = (1..=most + 1 - in_row).find(|from| (*from..from + in_row).all(small));
    let bandwidth = last.map_or(most, |from| (2 * (from - 1).max(1)).min(most));
    let (mut weighted, mut variance) = (0.0, covariances[0]);
    for (lag, covariance) in covariances.iter().enumerate().take(bandwidth + 1).skip(1) {
        let window = (2.0 * (1.0 - lag as f64 / bandwidth as f64)).min(1.0);
        weighted += 2.0 * window * lag as f64 * covariance;
        variance += 2.0 * window * covariance;
    }
    let longest = (3.0 * count.sqrt()).min(count / 3.0).ceil();
    // A window can make the sum negative. Then the plain variance is the better estimate.
    let variance = if variance > 0.0 { variance } else { covariances[0] };
    let block = (weighted * weighted / (variance * variance) * count).cbrt();
    Memory { long_run_variance: variance, block: block.clamp(1.0, longest.max(1.0)) }
}

/// First-order autoregression of a series: x_i = φ x_{i-1} + noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Autoregression {
    /// Coefficient φ, at least 0, corrected for its bias in short series: (nφ + 1)/(n - 3) (M. G. Kendall, Biometrika
    /// 41, 1954).
    pub phi: f64,
    /// Standard error of the series' mean.
    pub error: f64,
    /// Standard error of the mean by a stationary bootstrap with blocks of mean length `block` (D. Politis and J.
    /// Romano, JASA 89, 1994).
    pub by_blocks: f64,
    /// Effective sample size: the number of independent values to which the series is equivalent.
    pub worth: f64,
}

/// Fits an autoregression to a series, for a bootstrap with blocks of mean length `block`. Returns `None` for fewer
/// than 10 values, and for equal values.
pub fn autoregression(values: &[f64], block: f64) -> Option<Autoregression> {
    let (n, count) = (values.len(), values.len() as f64);
    if n < 10 {
        return None;
    }
    let centre = mean(values);
    let apart: Vec<f64> = values.iter().map(|v| v - centre).collect();
    let covariance =
        |lag: usize| apart.iter().zip(&apart[lag..]).map(|(a, b)| a * b).sum::<f64>() / count;
    let variance = covariance(0);
    if variance <= f64::EPSILON * centre * centre {
        return None;
    }
    let phi = ((count * covariance(1) / variance + 1.0) / (count - 3.0)).clamp(0.0, MOST_PHI);
    let worth = count * (1.0 - phi) / (1.0 + phi);
    let goes_on = 1.0 - 1.0 / block.max(1.0);
    let mut blocks = variance;
    for lag in 1..n {
        let (k, wraps) = (lag as f64, (n - lag) as f64);
        let weight = wraps / count * goes_on.powf(k) + k / count * goes_on.powf(wraps);
        if weight < 1e-6 {
            continue;
        }
        blocks += 2.0 * weight * covariance(lag);
    }
    Some(Autoregression {
        phi,
        error: (variance * count / (count - 1.0) / worth).sqrt(),
        by_blocks: (blocks.max(0.0) / count).sqrt(),
        worth,
    })
}

/// Largest φ. A series with a larger φ cannot be distinguished from one that drifts without limit.
const MOST_PHI: f64 = 0.97;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Returns an autoregressive series: each value is `phi` times the previous value, plus noise.
    fn autoregressive(phi: f64, n: usize, seed: u64) -> Vec<f64> {
        let mut random = Random::new(seed);
        let mut last = 0.0;
        (0..n)
            .map(|_| {
                last = phi * last + random.normal();
                last + 100.0
            })
            .collect()
    }

    #[test]
    fn independent_values_count_in_full_and_dependent_ones_less() {
        let n = 20_000;
        let independent = effective(&autoregressive(0.0, n, 1)) / n as f64;
        assert!((0.8..=1.0).contains(&independent), "{independent}");
        // An AR(1) series has τ = (1+φ)/(1-φ) = 9 for φ = 0.8.
        let time = n as f64 / effective(&autoregressive(0.8, n, 2));
        assert!((6.5..11.0).contains(&time), "{time}");
        let long_run = memory(&autoregressive(0.8, n, 2)).long_run_variance;
        // The long-run variance of this series is 1/(1-φ)² = 25.
        assert!((20.0..30.0).contains(&long_run), "{long_run}");
    }

    #[test]
    fn merged_parts_are_the_whole() {
        let values = autoregressive(0.5, 4096, 3);
        let whole: Batches = values.iter().copied().collect();
        let mut merged: Batches = values[..2048].iter().copied().collect();
        merged.merge(&values[2048..].iter().copied().collect());
        assert!((whole.time() - merged.time()).abs() < 0.05 * whole.time());
        assert!((whole.effective() - merged.effective()).abs() < 0.05 * whole.effective());
    }

    #[test]
    fn blocks_are_as_long_as_theory_says() {
        // For AR(1), g = 2φ/(1-φ)³(1+φ)…, so b = (n·(2φ/(1-φ²))²)^⅓: 1 for φ = 0, and 12.1 for φ = 0.5 and n = 1000.
        let theory = |phi: f64, n: f64| (n * (2.0 * phi / (1.0 - phi * phi)).powi(2)).cbrt();
        let mean_of = |phi: f64| {
            (0..20).map(|seed| memory(&autoregressive(phi, 1000, seed)).block).sum::<f64>() / 20.0
        };
        assert!(mean_of(0.0) < 5.0, "{}", mean_of(0.0));
        let (found, right) = (mean_of(0.5), theory(0.5, 1000.0));
        assert!((0.6..1.6).contains(&(found / right)), "{found}, in theory {right}");
        assert!(mean_of(0.9) > mean_of(0.5));
        let constant = memory(&[3.0; 50]);
        assert_eq!((constant.block, constant.long_run_variance), (1.0, 0.0));
    }
}
