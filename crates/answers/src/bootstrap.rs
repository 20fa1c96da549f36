//! Stationary block bootstrap of seconds: estimates how much every metric of a run varies by chance.
//!
//! Blocks of consecutive seconds, of geometric length with mean b, are drawn until the resample is as long as the run.
//! The histograms of the drawn seconds are merged, and rate, mean, percentiles and error ratio are all read from that
//! one resample (D. Politis and J. Romano, "The Stationary Bootstrap", JASA 89, 1994). So dependence within a block is
//! kept, and no distribution is assumed. b is Politis and White's ([`crate::autocorrelation::memory`]), the longest of
//! those of rate, mean and median. A mean with rare long times hides that neighbouring seconds have the same level,
//! which the median shows.
//!
//! Blocks of a short series vary less than the series does, and a block length that is estimated from it is often
//! too short. So intervals are widened to the error of an autoregression if that is larger
//! ([`crate::autocorrelation::autoregression`]), and by Student's t with the number of independent seconds. Cost:
//! resamples × seconds × groups of bins additions.

use std::borrow::Cow;

use stats::hist::{Bins, layout};

use crate::autocorrelation::{autoregression, memory};
use crate::distribution::{normal_quantile, student_quantile};
use crate::random::Random;
use crate::series::{mean, quantile};

/// Shortest run, in seconds, for which intervals are computed.
pub const LEAST_SECONDS: usize = 60;
/// Smallest number of independent seconds in a run (effective sample size) for which intervals are computed.
pub const LEAST_WORTH: f64 = 5.0;
/// Smallest number of blocks into which the errors of a run may divide it. Limits the block length, because a few
/// errors at regular intervals look like a long dependence.
const LEAST_BLOCKS: f64 = 10.0;
/// Largest number of units; the seconds of a longer run are merged into fewer units.
const MOST_UNITS: usize = 720;
/// Numbers of neighbouring units that are merged into one unit for a second and a third fit of the autoregression. In
/// noisy units, an autoregression underestimates how long units depend on each other; merged units have less noise.
const MERGED: [usize; 2] = [2, 3];
/// Width of a group of bins relative to its value; percentiles are interpolated within a group.
const GROUP: f64 = 0.004;

/// Samples of one second, or of several merged seconds, as the bootstrap needs them.
#[derive(Clone, Debug, Default)]
pub struct Unit<'a> {
    /// Length in seconds.
    pub seconds: f64,
    pub count: u64,
    pub errors: u64,
    /// Sum of the sample times in ns.
    pub elapsed: u64,
    /// Histogram of the sample times in µs.
    pub times: Option<Cow<'a, Bins>>,
}

impl Unit<'_> {
    /// Adds the samples and the length of another unit.
    pub(crate) fn add(&mut self, other: Self) {
        self.seconds += other.seconds;
        self.count += other.count;
        self.errors += other.errors;
        self.elapsed = self.elapsed.saturating_add(other.elapsed);
        self.times = match (self.times.take(), other.times) {
            (Some(mine), Some(theirs)) => {
                let mut bins = mine.into_owned();
                bins.merge(&theirs);
                Some(Cow::Owned(bins))
            }
            (mine, theirs) => mine.or(theirs),
        };
    }
}

/// Metrics of a run or of a resample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    Rate,
    Errors,
    Mean,
    P50,
    P90,
    P95,
    P99,
    P999,
}

impl Metric {
    pub const ALL: [Self; 8] = [
        Self::Rate,
        Self::Errors,
        Self::Mean,
        Self::P50,
        Self::P90,
        Self::P95,
        Self::P99,
        Self::P999,
    ];

    /// Returns the percentile as a share, 0 to 1; `None` for other metrics.
    pub fn percentile(self) -> Option<f64> {
        match self {
            Self::P50 => Some(0.5),
            Self::P90 => Some(0.9),
            Self::P95 => Some(0.95),
            Self::P99 => Some(0.99),
            Self::P999 => Some(0.999),
            Self::Rate | Self::Errors | Self::Mean => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Errors => "error%",
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P90 => "p90",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p99.9",
        }
    }
}

/// Values of all metrics in the order of [`Metric`]: rates per second, errors as a share, times in ms.
pub type Figures = [f64; 8];

/// Metrics of a run, and of its resamples.
#[derive(Clone, Debug)]
pub struct Resampled {
    pub figures: Figures,
    /// Number of samples of the run.
    pub count: u64,
    /// Mean length of a block in units.
    pub block: f64,
    /// Number of units of the run.
    pub units: usize,
    /// Widening of the interval of the rate.
    rate: Widening,
    /// Widening of the interval of the median.
    median: Widening,
    /// Widening of the intervals of all other metrics.
    times: Widening,
    /// Metrics of each resample; empty if there is no interval.
    pub resamples: Vec<Figures>,
    /// Reason why there is no interval.
    pub refusal: Option<Refusal>,
}

/// A reason why a run has no intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Refusal {
    /// The run is shorter than an interval needs: it has only `seconds` seconds.
    Short { seconds: f64 },
    /// The run is equivalent to only `blocks` independent seconds, because neighbouring seconds depend on each
    /// other for too long.
    FewBlocks { blocks: f64 },
}

/// Factor and degrees of freedom that widen an interval of resamples to one of the run.
#[derive(Clone, Copy, Debug)]
struct Widening {
    /// Factor by which the deviations of resamples from their centre are multiplied.
    factor: f64,
    /// Degrees of freedom of the interval.
    df: f64,
    /// Effective sample size of the units.
    worth: f64,
}

impl Widening {
    /// Computes the widening for a series of units, with blocks of mean length `block`.
    fn of(series: &[f64], block: f64) -> Self {
        let n = series.len() as f64;
        let short = (n / (n - 2.0 * block).max(1.0)).sqrt();
        let Some(found) = autoregression(series, block) else {
            return Self { factor: short, df: (n / block - 1.0).max(2.0), worth: n };
        };
        let longer = |parts: usize| {
            let means: Vec<f64> = series.chunks_exact(parts).map(mean).collect();
            autoregression(&means, block / parts as f64).map_or(0.0, |found| found.error)
        };
        let error = MERGED.into_iter().map(longer).fold(found.error, f64::max);
        let apart = if found.by_blocks > 0.0 { error / found.by_blocks } else { 1.0 };
        let df = (found.worth - 1.0).min(n / block - 1.0).max(2.0);
        Self { factor: short.max(apart), df, worth: found.worth }
    }
}

/// A run in the form that the bootstrap uses: one row per unit, with the same groups of bins for all.
struct Table {
    seconds: Vec<f64>,
    count: Vec<f64>,
    errors: Vec<f64>,
    elapsed: Vec<f64>,
    /// Counts of each unit: group and number of samples.
    times: Vec<Vec<(u32, f64)>>,
    /// Lower and upper end of each group, ms.
    groups: Vec<(f64, f64)>,
}

/// Iterates over the bins of all units.
fn bins<'a>(units: &'a [Unit<'_>]) -> impl Iterator<Item = (u32, u64)> + 'a {
    units.iter().filter_map(|unit| unit.times.as_deref()).flat_map(Bins::iter)
}

/// Bootstraps a run. A usual number of `resamples` is 2000.
pub fn resample(units: &[Unit<'_>], resamples: usize, seed: u64) -> Resampled {
    let table = Table::new(units);
    let n = table.count.len();
    let block = table.block();
    let (rates, means, medians) = (table.rates(), table.means(), table.medians());
    let mut found = Resampled {
        figures: table.figures((0..n).map(|i| (i, 1.0))),
        count: units.iter().map(|unit| unit.count).sum(),
        block,
        rate: Widening::of(&rates, block),
        median: Widening::of(&medians, block),
        times: Widening::of(&means, block),
        units: n,
        resamples: Vec::new(),
        refusal: None,
    };
    let seconds: f64 = table.seconds.iter().sum();
    let blocks = found.rate.worth.min(found.times.worth).min(found.median.worth);
    if seconds + 0.5 < LEAST_SECONDS as f64 {
        found.refusal = Some(Refusal::Short { seconds });
    } else if blocks < LEAST_WORTH {
        found.refusal = Some(Refusal::FewBlocks { blocks });
    } else {
        let mut random = Random::new(seed);
        let mut times = vec![0u32; n];
        found.resamples = (0..resamples)
            .map(|_| {
                draw(&mut times, found.block, &mut random);
                table.figures(
                    times
                        .iter()
                        .enumerate()
                        .filter(|t| *t.1 > 0)
                        .map(|(i, times)| (i, f64::from(*times))),
                )
            })
            .collect();
    }
    found
}

/// Draws as many units as the run has, in blocks; writes to `times` how often each unit was drawn.
fn draw(times: &mut [u32], block: f64, random: &mut Random) {
    let n = times.len();
    times.fill(0);
    let ends = 1.0 / block;
    let mut at = random.below(n);
    for _ in 0..n {
        times[at] += 1;
        // After the last unit, the first one follows.
        at = if random.uniform() < ends { random.below(n) } else { (at + 1) % n };
    }
}

impl Table {
    fn new(units: &[Unit<'_>]) -> Self {
        let each = units.len().div_ceil(MOST_UNITS).max(1);
        // A long run has many bins in total, but few distinct ones.
        let mut touched = vec![false; layout::BINS as usize];
        for (bin, _) in bins(units) {
            if let Some(touched) = touched.get_mut(bin as usize) {
                *touched = true;
            }
        }
        let touched = (0..layout::BINS).filter(|bin| touched[*bin as usize]);
        let mut groups: Vec<(u32, u32)> = Vec::new();
        let mut of_bin = Vec::new();
        for bin in touched {
            match groups.last_mut() {
                Some((first, last))
                    if layout::highest_of(bin) as f64
                        <= layout::lowest_of(*first) as f64 * (1.0 + GROUP) =>
                {
                    *last = bin;
                }
                _ => groups.push((bin, bin)),
            }
            of_bin.push((bin, groups.len() as u32 - 1));
        }
        let ms = |(first, last): &(u32, u32)| {
            (layout::lowest_of(*first) as f64 / 1e3, (layout::highest_of(*last) + 1) as f64 / 1e3)
        };
        let mut table = Self {
            seconds: Vec::new(),
            count: Vec::new(),
            errors: Vec::new(),
            elapsed: Vec::new(),
            times: Vec::new(),
            groups: groups.iter().map(ms).collect(),
        };
        let mut row = vec![0.0; groups.len()];
        for merged in units.chunks(each) {
            table.seconds.push(merged.iter().map(|unit| unit.seconds).sum());
            table.count.push(merged.iter().map(|unit| unit.count as f64).sum());
            table.errors.push(merged.iter().map(|unit| unit.errors as f64).sum());
            table.elapsed.push(merged.iter().map(|unit| unit.elapsed as f64).sum());
            for (bin, n) in bins(merged) {
                if let Ok(at) = of_bin.binary_search_by_key(&bin, |b| b.0) {
                    row[of_bin[at].1 as usize] += n as f64;
                }
            }
            let filled = row.iter().enumerate().filter(|(_, n)| **n > 0.0);
            table.times.push(filled.map(|(group, n)| (group as u32, *n)).collect());
            row.fill(0.0);
        }
        table
    }

    fn rates(&self) -> Vec<f64> {
        let each = self.count.iter().zip(&self.seconds);
        each.map(|(n, s)| if *s > 0.0 { n / s } else { 0.0 }).collect()
    }

    /// Returns the mean time of each unit; a unit without samples gets the mean of the run.
    fn means(&self) -> Vec<f64> {
        let all = self.elapsed.iter().sum::<f64>() / self.count.iter().sum::<f64>().max(1.0);
        let each = self.elapsed.iter().zip(&self.count);
        each.map(|(t, n)| if *n > 0.0 { t / n } else { all }).collect()
    }

    /// Returns the median time of each unit in ms; a unit without times gets the median of the run.
    fn medians(&self) -> Vec<f64> {
        let whole = self.figures((0..self.count.len()).map(|unit| (unit, 1.0)));
        let all = whole[Metric::P50 as usize];
        let each = self.times.iter().map(|groups| self.median(groups).unwrap_or(all));
        each.collect()
    }

    /// Returns the median of counts per group, in ms.
    fn median(&self, groups: &[(u32, f64)]) -> Option<f64> {
        let mut left = groups.iter().map(|(_, n)| n).sum::<f64>() / 2.0;
        for (group, n) in groups {
            if left <= *n {
                let (low, high) = self.groups[*group as usize];
                return Some(low + (high - low) * left / n);
            }
            left -= n;
        }
        None
    }

    /// Returns the mean length of blocks: the longest of the lengths that rate, mean, median and errors need. The
    /// length for errors is at most the length of the run divided by [`LEAST_BLOCKS`].
    fn block(&self) -> f64 {
        let (rates, means, medians) = (self.rates(), self.means(), self.medians());
        let block = |series: &[f64]| memory(series).block;
        // A few errors at regular intervals look like a long dependence. They must not prevent the intervals of all
        // other metrics.
        let errors = block(&self.errors).min(self.count.len() as f64 / LEAST_BLOCKS);
        block(&rates).max(block(&means)).max(block(&medians)).max(errors)
    }

    /// Computes the metrics of units, each counted the given number of times.
    fn figures(&self, taken: impl Iterator<Item = (usize, f64)>) -> Figures {
        let mut merged = vec![0.0; self.groups.len()];
        let (mut seconds, mut count, mut errors, mut elapsed) = (0.0, 0.0, 0.0, 0.0);
        for (unit, times) in taken {
            seconds += times * self.seconds[unit];
            count += times * self.count[unit];
            errors += times * self.errors[unit];
            elapsed += times * self.elapsed[unit];
            for (group, n) in &self.times[unit] {
                merged[*group as usize] += times * n;
            }
        }
        let share = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        let mut figures = [
            share(count, seconds),
            share(errors, count),
            share(elapsed, count) / 1e6,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
        ];
        let total: f64 = merged.iter().sum();
        let (mut below, mut group) = (0.0, 0);
        for (at, p) in Metric::ALL
            .iter()
            .enumerate()
            .filter_map(|(at, metric)| Some((at, metric.percentile()?)))
        {
            // A rank at the end of a group belongs to that group, even if the product is rounded up.
            let rank = p * total * (1.0 - 1e-9);
            while group < merged.len() && below + merged[group] < rank {
                below += merged[group];
                group += 1;
            }
            if let Some((low, high)) = self.groups.get(group) {
                figures[at] =
                    low + (high - low) * share(rank - below, merged[group]).clamp(0.0, 1.0);
            }
        }
        figures
    }
}

impl Resampled {
    /// Returns a metric with its 95 % interval.
    pub fn figure(&self, metric: Metric) -> (f64, Option<(f64, f64)>) {
        let at = metric as usize;
        let drawn = self.spread(metric);
        let (value, ends) = (self.figures[at], |p| quantile(&drawn, p));
        let interval = || (ends(0.025).min(value), ends(0.975).max(value));
        (value, (!drawn.is_empty()).then(interval))
    }

    /// Returns the resampled values of a metric for an interval: widened to the error of the run, and by the ratio of
    /// Student's t to the normal distribution.
    pub fn spread(&self, metric: Metric) -> Vec<f64> {
        let student = student_quantile(0.975, self.df(metric)) / normal_quantile(0.975);
        self.drawn(metric, student)
    }

    /// Returns the resampled values without the factor of Student's t: their deviation is the standard error of the
    /// metric, with the degrees of freedom of [`Resampled::df`].
    pub fn errors(&self, metric: Metric) -> Vec<f64> {
        self.drawn(metric, 1.0)
    }

    /// Returns the degrees of freedom of the error of a metric.
    pub fn df(&self, metric: Metric) -> f64 {
        self.widening(metric).df
    }

    fn widening(&self, metric: Metric) -> Widening {
        match metric {
            Metric::Rate => self.rate,
            Metric::P50 => self.median,
            _ => self.times,
        }
    }

    fn drawn(&self, metric: Metric, wider: f64) -> Vec<f64> {
        let at = metric as usize;
        let drawn: Vec<f64> = self.resamples.iter().map(|figures| figures[at]).collect();
        let wider = wider * self.widening(metric).factor;
        // Times and rates are positive and vary by factors, so a wide spread must not reach below 0.
        if metric != Metric::Errors && drawn.iter().all(|v| *v > 0.0) {
            let logs: Vec<f64> = drawn.iter().map(|v| v.ln()).collect();
            let centre = mean(&logs);
            return logs.into_iter().map(|v| (centre + (v - centre) * wider).exp()).collect();
        }
        let centre = mean(&drawn);
        let most = if metric == Metric::Errors { 1.0 } else { f64::INFINITY };
        drawn.into_iter().map(|v| (centre + (v - centre) * wider).clamp(0.0, most)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns seconds of `rate` samples each, whose times are exponential with mean 10 ms.
    fn made(seconds: usize, rate: usize, seed: u64) -> Vec<(u64, Bins)> {
        let mut random = Random::new(seed);
        (0..seconds)
            .map(|_| {
                let mut bins = std::collections::BTreeMap::new();
                let mut sum = 0;
                for _ in 0..rate {
                    let us = random.exponential(10_000.0) as u64;
                    sum += us * 1000;
                    *bins.entry(layout::index_of(us)).or_insert(0u64) += 1;
                }
                (sum, Bins::try_from(bins.into_iter().collect::<Vec<_>>()).expect("in order"))
            })
            .collect()
    }

    fn units(made: &[(u64, Bins)]) -> Vec<Unit<'_>> {
        let unit = |(elapsed, times): &'_ (u64, Bins)| (*elapsed, times.total());
        made.iter()
            .map(|second| {
                let (elapsed, count) = unit(second);
                Unit {
                    seconds: 1.0,
                    count,
                    errors: count / 50,
                    elapsed,
                    times: Some(Cow::Borrowed(&second.1)),
                }
            })
            .collect()
    }

    #[test]
    fn figures_are_those_of_the_distribution() {
        let made = made(200, 200, 1);
        let found = resample(&units(&made), 200, 1);
        let expected = [200.0, 0.02, 10.0, 6.93, 23.03, 29.96, 46.05, 69.08];
        for (metric, expected) in Metric::ALL.into_iter().zip(expected) {
            let (value, interval) = found.figure(metric);
            assert!((value / expected - 1.0).abs() < 0.05, "{metric:?} {value}, not {expected}");
            let (low, high) = interval.unwrap();
            assert!(low <= value && value <= high, "{metric:?} {low} {value} {high}");
        }
        assert!((found.figure(Metric::Mean).1.unwrap().1 - 10.0).abs() < 0.3);
    }

    #[test]
    fn intervals_cover_the_truth() {
        let (mut covered, mut blocks) = ([0u32; 3], 0.0);
        for seed in 0..200 {
            let made = made(80, 40, seed + 500);
            let found = resample(&units(&made), 300, seed);
            blocks += found.block;
            for (i, (metric, truth)) in
                [(Metric::Mean, 10.0), (Metric::P50, 6.931), (Metric::P95, 29.957)]
                    .into_iter()
                    .enumerate()
            {
                let drawn = found.spread(metric);
                let ends = [0.025, 0.975].map(|p| quantile(&drawn, p));
                covered[i] += u32::from(ends[0] <= truth && truth <= ends[1]);
            }
        }
        println!("covered of 200: {covered:?}; blocks of {:.1}", blocks / 200.0);
        assert!(covered.iter().all(|n| *n >= 172), "{covered:?}");
    }

    /// Returns seconds of ten requests each, whose times are an autoregression around 10 ms with a deviation of 3 %.
    fn autoregressive(phi: f64, seconds: usize, seed: u64) -> Vec<(u64, Bins)> {
        let mut random = Random::new(seed);
        let mut level = random.normal();
        (0..seconds)
            .map(|_| {
                level = phi * level + (1.0 - phi * phi).sqrt() * random.normal();
                let us = (10_000.0 * (1.0 + 0.03 * level)) as u64;
                let bins = vec![(layout::index_of(us), 10)];
                (us * 10_000, Bins::try_from(bins).expect("one bin"))
            })
            .collect()
    }

    #[test]
    fn intervals_of_dependent_seconds_cover_the_truth() {
        const RUNS: u64 = 300;
        for (phi, least) in [(0.0, 0.93), (0.5, 0.92), (0.8, 0.88)] {
            for seconds in [80, 120, 300] {
                let (mut covered, mut refused) = (0u64, 0u64);
                for seed in 0..RUNS {
                    let made = autoregressive(phi, seconds, seed * 31 + 90_001);
                    let found = resample(&units(&made), 200, seed);
                    match found.figure(Metric::Mean).1 {
                        Some((low, high)) => covered += u64::from(low <= 10.0 && 10.0 <= high),
                        None => refused += 1,
                    }
                }
                let share = covered as f64 / (RUNS - refused) as f64;
                println!(
                    "φ = {phi}, {seconds} s: covered in {:.1} %; no interval in {:.1} % of {RUNS} runs",
                    share * 100.0,
                    refused as f64 / RUNS as f64 * 100.0
                );
                assert!(share >= least, "φ = {phi}, {seconds} s: {share}");
            }
        }
    }

    #[test]
    fn short_runs_have_no_intervals() {
        let made = made(40, 10, 1);
        let found = resample(&units(&made), 100, 1);
        assert!(matches!(found.refusal, Some(Refusal::Short { .. })) && found.resamples.is_empty());
        assert_eq!(found.figure(Metric::Mean).1, None);
        assert_eq!(resample(&[], 10, 1).figures[0], 0.0);
    }

    #[test]
    fn long_runs_are_merged_and_count_the_same() {
        let made = made(2000, 3, 1);
        let found = resample(&units(&made), 10, 1);
        assert_eq!((found.units, found.count), (667, 6000));
        assert!((found.figures[0] - 3.0).abs() < 1e-9);
    }
}
