//! Warm-up of a run: the beginning, which differs from the rest.
//!
//! MSER-5 (K. P. White, "An Effective Truncation Heuristic", Simulation 69, 1997; S. Spratt, 1998): of means of 5
//! values, cut d* = argmin_{d ≤ m} Σ_{i>d}(Y_i - Ȳ_{n,d})² / (n-d)². White's m is n/2. A warm-up hardly takes half
//! of a run, so here m is n/3, or 10 s in a short run. A minimum at m means that the series is not steady. The rule
//! depends on the measure and fails on some queues (R. Wang and P. Glynn, TOMACS 26, 2016). So it is applied to the
//! rate and to the p95. A cut counts only if the part before it differs from the rest by more than chance and by at
//! least 2 %. This module drops no seconds: the caller shows metrics with and without the warm-up.
//!
//! An outage is not a warm-up, even at the start of the run. Seconds whose share of failures is far above the median
//! are treated as if they were like the others.
//!
//! After a warm-up, a run is better: it has a higher rate or shorter times, and not more failures. A cut before a
//! change for the worse is not a warm-up. Such a run is unsteady, and all of it is used.
//!
//! Limits. In runs of 100 s and more the values are seconds, in batches of 5. In shorter runs, from 20 s on, the
//! rate is read in slots of 100 ms (batches of half a second), and the p95 in single seconds (MSER of 1997, without
//! batches). There a warm-up is not found if it takes less than 2 s or changes the metric by less than about 5 %. A
//! target that still fills caches after minutes looks steady in a run of 20 s.

use std::borrow::Cow;

use crate::autocorrelation::effective;
use crate::distribution::student_two_sided;
use crate::series::{block_means, mean, median, variance};

/// Values per batch of MSER-5.
pub const BATCH: usize = 5;
/// Shortest run in seconds in which a warm-up is searched for.
pub const LEAST_SECONDS: usize = 20;
/// Shortest run in seconds whose seconds are batched.
pub const LONG_SECONDS: usize = 100;
/// Slots of 100 ms per second.
const SLOTS: usize = 10;
/// Smallest relative difference of means that counts as a warm-up.
const LEAST_SIZE: f64 = 0.02;
/// Probability of finding a warm-up in a steady series.
const CHANCE: f64 = 0.001;
/// Longest warm-up in seconds that is searched for in a run shorter than three times this length; it is never more than
/// half of the run.
const SHORT: usize = 10;
/// Difference between the shares of failures before and after a cut above which the shares decide which side is worse.
const FAILURES: f64 = 0.01;
/// Excess over the median share of failures from which a second belongs to an outage.
const OUTAGE: f64 = 0.1;

/// The cut that MSER-5 finds in a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// Number of values before the cut.
    pub at: usize,
    /// True if the minimum lies at the last cut that was tried, so that the series has not become steady.
    pub unsteady: bool,
}

/// Applies MSER to means of `batch` values each; `None` if there are fewer than four batches. `most`: the largest
/// number of values before the cut.
pub fn mser(values: &[f64], batch: usize, most: usize) -> Option<Cut> {
    let batches = block_means(values, batch);
    let n = batches.len();
    if n < 4 {
        return None;
    }
    let most = most / batch;
    let (mut sum, mut squares) = (0.0, 0.0);
    // The loop sums from the end, so that each step adds one batch. Values are taken relative to their mean, for
    // precision.
    let centre = mean(&batches);
    let mut best: Option<(f64, usize)> = None;
    for d in (0..n).rev() {
        let value = batches[d] - centre;
        sum += value;
        squares += value * value;
        let left = (n - d) as f64;
        let criterion = (squares - sum * sum / left).max(0.0) / (left * left);
        if d <= most && best.is_none_or(|(least, _)| criterion <= least) {
            best = Some((criterion, d));
        }
    }
    best.map(|(_, d)| Cut { at: d * batch, unsteady: d == most })
}

/// The warm-up of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarmUp {
    /// Length of the warm-up in seconds; 0 if none was found.
    pub seconds: usize,
    /// True if the run did not become steady, so that it has no steady part for metrics.
    pub unsteady: bool,
    /// True if the run is too short for a search for a warm-up.
    pub too_short: bool,
}

/// Per-second metrics of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Course<'a> {
    pub rates: &'a [f64],
    /// p95 of each second; a second without samples repeats the p95 of the second before.
    pub p95: &'a [f64],
    /// Share of failures of each second; empty if failures are unknown.
    pub errors: &'a [f64],
    /// Completions in each tenth of a second, for the rate of a short run; empty if they were not counted.
    pub slots: &'a [f64],
}

/// Finds the warm-up from the rate and the p95 of each second; the later of the two ends counts.
pub fn warm_up(course: &Course<'_>) -> WarmUp {
    let fails = outages(course.errors);
    let [rates, p95] = [course.rates, course.p95].map(|values| without(values, &fails));
    let slots = without(course.slots, &fails);
    warm_up_of(&Course { rates: &rates, p95: &p95, slots: &slots, ..*course })
}

/// Returns true for each second of an outage: the share of failures is far above the median.
fn outages(errors: &[f64]) -> Vec<bool> {
    let usual = if errors.is_empty() { 0.0 } else { median(errors) };
    errors.iter().map(|share| share - usual > OUTAGE).collect()
}

/// Replaces the values of outage seconds by the median of the other values. `values` may hold several values per
/// second.
fn without<'v>(values: &'v [f64], outages: &[bool]) -> Cow<'v, [f64]> {
    let each = values.len() / outages.len().max(1);
    if each == 0 || !outages.contains(&true) {
        return Cow::Borrowed(values);
    }
    let is_out = |at: usize| outages.get(at / each) == Some(&true);
    let others: Vec<f64> =
        values.iter().enumerate().filter(|(at, _)| !is_out(*at)).map(|(_, value)| *value).collect();
    if others.is_empty() {
        return Cow::Borrowed(values);
    }
    let usual = median(&others);
    let taken =
        values.iter().enumerate().map(|(at, value)| if is_out(at) { usual } else { *value });
    Cow::Owned(taken.collect())
}

fn warm_up_of(course: &Course<'_>) -> WarmUp {
    let Course { rates, p95, slots, .. } = *course;
    if rates.len() < LEAST_SECONDS {
        return WarmUp { too_short: true, ..WarmUp::default() };
    }
    let n = rates.len();
    let most = (n / 3).max(SHORT.min(n / 2));
    let cut = |values: &[f64], batch: usize| {
        let most = most * values.len() / n;
        mser(values, batch, most).filter(|cut| cut.at > 0 && differs(values, cut.at))
    };
    let cuts = if rates.len() >= LONG_SECONDS {
        [cut(rates, BATCH), cut(p95, BATCH)]
    } else {
        let of_slots = |cut: Cut| Cut { at: cut.at.div_ceil(SLOTS), ..cut };
        let by_slots = slots.len() >= rates.len() * SLOTS;
        let rate = if by_slots { cut(slots, BATCH).map(of_slots) } else { cut(rates, 1) };
        // A cut within the first two seconds is ignored: it is shorter than any batch.
        [rate, cut(p95, 1)].map(|cut| cut.filter(|cut| cut.at >= 2))
    };
    let is_better =
        [|(before, after)| before < after, |(before, after): (f64, f64)| before > after];
    let mut found = WarmUp::default();
    for ((cut, values), is_better) in cuts.into_iter().zip([rates, p95]).zip(is_better) {
        let Some(cut) = cut else { continue };
        let fails = means(course.errors, cut.at).filter(|(a, b)| (a - b).abs() > FAILURES);
        let improves = match fails {
            Some((before, after)) if before < after => false,
            _ => means(values, cut.at).is_some_and(is_better),
        };
        if improves && !cut.unsteady {
            found.seconds = found.seconds.max(cut.at);
        } else {
            found.unsteady = true;
        }
    }
    if found.unsteady {
        found.seconds = 0;
    }
    found
}

/// Returns the means of both sides of a cut; `None` if a side has no values.
fn means(values: &[f64], at: usize) -> Option<(f64, f64)> {
    let (before, after) = values.split_at_checked(at)?;
    (!before.is_empty() && !after.is_empty()).then(|| (mean(before), mean(after)))
}

/// True if the mean of the values before the cut differs from the mean of the values after the cut.
fn differs(values: &[f64], at: usize) -> bool {
    let (before, after) = values.split_at(at);
    if before.is_empty() || after.len() < 2 {
        return false;
    }
    let (first, rest) = (mean(before), mean(after));
    if (first - rest).abs() < LEAST_SIZE * rest.abs() {
        return false;
    }
    // The variance after the cut is that of the steady run. The variance of the warm-up is part of the difference
    // itself.
    let effective = effective(after).max(2.0);
    let worth = (before.len() as f64 * effective / after.len() as f64).max(1.0);
    let error = (variance(after) * (1.0 / worth + 1.0 / effective)).sqrt();
    error == 0.0 || student_two_sided((first - rest) / error, (effective - 1.0).max(1.0)) < CHANCE
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::Random;

    fn of(rates: &[f64], p95: &[f64], slots: &[f64]) -> WarmUp {
        warm_up(&Course { rates, p95, slots, ..Course::default() })
    }

    fn noise(n: usize, seed: u64, level: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..n).map(|i| level(i) * (1.0 + 0.05 * random.normal())).collect()
    }

    /// Computes the cut of MSER directly from its definition, as a reference.
    fn by_definition(batches: &[f64], most: usize) -> usize {
        let of = |d: usize| {
            let rest = &batches[d..];
            let mean = mean(rest);
            rest.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / (rest.len() as f64).powi(2)
        };
        (0..=most).min_by(|a, b| of(*a).total_cmp(&of(*b))).unwrap()
    }

    proptest! {
        #[test]
        fn the_cut_is_that_of_the_definition(values in prop::collection::vec(0.0f64..100.0, 20..200)) {
            let batches = block_means(&values, BATCH);
            let most = values.len() / 3;
            let found = mser(&values, BATCH, most).unwrap().at;
            prop_assert_eq!(found, by_definition(&batches, most / BATCH) * BATCH);
        }
    }

    #[test]
    fn a_slow_start_is_found_and_its_end_is_near() {
        let mut near = 0;
        for seed in 0..20 {
            // The rate climbs to 100/s with a time constant of 8 s: after 30 s it is within 2.5 %.
            let rates = noise(300, seed, |i| 100.0 * (1.0 - (-(i as f64) / 8.0).exp()));
            let p95 = noise(300, seed + 99, |_| 40.0);
            let end = of(&rates, &p95, &[]);
            near += u32::from((10..=45).contains(&end.seconds));
            assert!((10..=100).contains(&end.seconds) && !end.unsteady, "{end:?}");
            // The later end is used: that by rate, or that by p95.
            let slow = noise(300, seed, |i| if i < 60 { 80.0 } else { 40.0 });
            assert!(of(&rates, &slow, &[]).seconds >= 55);
        }
        assert!(near >= 14, "{near} of 20");
    }

    #[test]
    fn a_steady_run_has_none() {
        let found = (0..200).filter(|seed| {
            let p95 = noise(200, seed + 1000, |_| 40.0);
            of(&noise(200, *seed, |_| 100.0), &p95, &[]).seconds > 0
        });
        let found = found.count();
        assert!(found <= 6, "{found} of 200 steady runs have a warm-up");
    }

    #[test]
    fn an_outage_at_the_start_is_no_warm_up() {
        for (seed, seconds) in [(1, 120), (2, 120), (3, 300), (4, 60)] {
            let errors: Vec<f64> = (0..seconds).map(|at| if at < 10 { 1.0 } else { 0.0 }).collect();
            // Failures that are retried at once raise the rate; the rate falls if users wait before they retry.
            for rate in [4.0, 1.0, 0.3] {
                let rates = noise(seconds, seed, |at| if at < 10 { 100.0 * rate } else { 100.0 });
                let p95 = noise(seconds, seed + 9, |at| if at < 10 { 5.0 } else { 140.0 });
                let course = Course { rates: &rates, p95: &p95, errors: &errors, slots: &[] };
                let found = warm_up(&course);
                assert_eq!((found.seconds, found.unsteady), (0, false), "{seconds} {rate}");
                // A slow start next to an outage is still a warm-up.
                let slow: Vec<f64> = p95
                    .iter()
                    .enumerate()
                    .map(|(at, ms)| if (10..30).contains(&at) { 2.0 * ms } else { *ms })
                    .collect();
                let found = warm_up(&Course { p95: &slow, ..course });
                assert!(seconds < 300 || found.seconds >= 25, "{seconds} {rate}: {found:?}");
            }
        }
    }

    #[test]
    fn drift_is_unsteady_and_short_runs_are_not_judged() {
        let drift = noise(300, 1, |i| 100.0 + i as f64);
        assert!(of(&drift, &noise(300, 2, |_| 1.0), &[]).unsteady);
        assert!(of(&drift[..19], &drift[..19], &[]).too_short);
        assert!(!of(&drift[..20], &drift[..20], &[]).too_short);
    }

    /// Returns rates, p95 and slots of a run. Completions are Poisson, and their level wanders by 3 %, as in the tests
    /// of `compare`.
    fn short(n: usize, seed: u64, level: impl Fn(f64) -> f64) -> [Vec<f64>; 3] {
        let mut random = Random::new(seed);
        let mut wander = 0.0;
        let (mut rates, mut p95, mut slots) = (Vec::new(), Vec::new(), Vec::new());
        for second in 0..n {
            wander = 0.5 * wander + 0.026 * random.normal();
            let mut sum = 0.0;
            for slot in 0..SLOTS {
                let speed = level(second as f64 + slot as f64 / 10.0) * (1.0 + wander);
                let mean = 20.0 * speed;
                let count = (mean + mean.sqrt() * random.normal()).round().max(0.0);
                sum += count;
                slots.push(count);
            }
            rates.push(sum);
            let speed = level(second as f64 + 0.5) * (1.0 + wander);
            p95.push(40.0 / speed * (1.0 + 0.05 * random.normal()));
        }
        [rates, p95, slots]
    }

    #[test]
    fn a_short_run_shows_its_warm_up() {
        for n in [20, 25, 30, 60, 90] {
            let (mut found, mut near) = (0, 0);
            for seed in 0..100 {
                // Half of the speed at first; after 6 s the speed is within 2.5 % of the full speed.
                let [rates, p95, slots] = short(n, seed, |t| 1.0 - 0.5 * (-t / 2.0).exp());
                let seconds = of(&rates, &p95, &slots).seconds;
                found += u32::from(seconds > 0);
                near += u32::from((2..=8).contains(&seconds));
            }
            println!(
                "warm-up of 6 s in {n} s: found in {found} of 100 runs, near its end in {near}"
            );
            assert!(found >= 80 && near >= 70, "{n} s: {found}, {near}");
        }
    }

    #[test]
    fn a_short_steady_run_has_none() {
        for n in [20, 25, 30, 60, 90] {
            let found = |seed: &u64| {
                let [rates, p95, slots] = short(n, *seed, |_| 1.0);
                of(&rates, &p95, &slots).seconds > 0
            };
            let found = (0..400).filter(found).count();
            println!("no warm-up in {n} s: one is found in {found} of 400 runs");
            assert!(found <= 12, "{n} s: {found} of 400");
        }
    }
}
