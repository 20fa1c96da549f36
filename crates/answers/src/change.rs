//! Change points of a series: positions at which its mean changes.
//!
//! Candidates come from the energy distance of the parts left and right of a point (D. Matteson and N. James, "A
//! Nonparametric Approach for Multiple Change Point Analysis", JASA 109, 2014), within windows of 50 values. Then
//! candidates are removed, the weakest first, if the parts left and right of them do not differ by Welch's t test (M.
//! Fleming and others, "Hunter", ICPE 2023). The test becomes stricter with the number of possible change points. The
//! result is deterministic; cost O(n·50²).
//!
//! The test assumes independent, normal values: pass means of 5 to 10 seconds ([`crate::series::block_means`]). A
//! significant test alone is often wrong; also require a size and a duration ([`lasting`]).

use crate::repeats::welch;
use crate::series::mean;

/// Number of values in a window that is searched for candidates.
const WINDOW: usize = 50;
/// Smallest number of values that must lie on each side of a change point.
const LEAST: usize = 3;

/// A change of the mean of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Index of the first value after the step.
    pub at: usize,
    /// Mean of the values from the previous step, or from the start of the series, to this step.
    pub before: f64,
    /// Mean of the values from this step to the next step, or to the end of the series.
    pub after: f64,
    /// Number of values in the part before the step.
    pub values_before: usize,
    /// Number of values in the part after the step.
    pub values_after: usize,
    /// Probability of a difference at least as large as the step if both parts have the same mean.
    pub p: f64,
}

impl Step {
    /// Returns the change relative to the mean before the step.
    pub fn size(&self) -> f64 {
        if self.before == 0.0 {
            self.after.signum() * f64::INFINITY
        } else {
            self.after / self.before - 1.0
        }
    }
}

/// Returns the steps of a series whose p is below `chance` (0.001 is usual).
pub fn steps(values: &[f64], chance: f64) -> Vec<Step> {
    let mut at = Vec::new();
    let mut start = 0;
    while start + 2 * LEAST <= values.len() {
        let end = (start + WINDOW).min(values.len());
        candidates(values, start, end, (chance * 10.0).min(0.05), &mut at);
        if end == values.len() {
            break;
        }
        start = at.last().map_or(0, |last| *last).max(start + WINDOW / 2);
    }
    at.sort_unstable();
    at.dedup();
    loop {
        let found: Vec<Step> = (0..at.len()).map(|i| step(values, &at, i)).collect();
        let weakest = (0..found.len()).max_by(|a, b| found[*a].p.total_cmp(&found[*b].p));
        match weakest {
            Some(i) if found[i].p.is_nan() || found[i].p >= chance => {
                at.remove(i);
            }
            _ => return found,
        }
    }
}

/// Returns the steps of at least `size` (relative to the mean before) for which both parts hold at least `values`
/// values each.
pub fn lasting(steps: &[Step], size: f64, values: usize) -> impl Iterator<Item = &Step> {
    let lasts = move |step: &&Step| step.values_before >= values && step.values_after >= values;
    steps.iter().filter(move |step| step.size().abs() >= size).filter(lasts)
}

fn step(values: &[f64], at: &[usize], i: usize) -> Step {
    let from = if i == 0 { 0 } else { at[i - 1] };
    let to = at.get(i + 1).copied().unwrap_or(values.len());
    let (before, after) = (&values[from..at[i]], &values[at[i]..to]);
    Step {
        at: at[i],
        before: mean(before),
        after: mean(after),
        values_before: before.len(),
        values_after: after.len(),
        p: p_of(before, after),
    }
}

/// Returns the p of Welch's test, multiplied by the number of positions from which the step was chosen
/// (Bonferroni): the best of many positions looks significant by chance. Without this factor, one in ten series of
/// noise has a step.
fn p_of(before: &[f64], after: &[f64]) -> f64 {
    if before.len() < 2 || after.len() < 2 {
        return 1.0;
    }
    let places = (before.len() + after.len()).saturating_sub(2 * LEAST) + 1;
    (welch(before, after).p * places as f64).min(1.0)
}

/// Adds the change points between `start` and `end`: the best split if its sides differ, then the splits of its sides.
fn candidates(values: &[f64], start: usize, end: usize, chance: f64, found: &mut Vec<usize>) {
    let Some(at) = best_split(&values[start..end]).map(|at| start + at) else { return };
    if p_of(&values[start..at], &values[at..end]) < chance {
        candidates(values, start, at, chance, found);
        found.push(at);
        candidates(values, at, end, chance, found);
    }
}

/// Returns the index with the largest energy distance between the values left and right of it.
fn best_split(values: &[f64]) -> Option<usize> {
    let n = values.len();
    if n < 2 * LEAST {
        return None;
    }
    let distance = |i: usize, range: std::ops::Range<usize>| -> f64 {
        values[range].iter().map(|v| (v - values[i]).abs()).sum()
    };
    // Sums of the distances within the left part, within the right part, and between them. Each step moves one value
    // from the right part to the left part.
    let (mut left, mut between) = (0.0, 0.0);
    let mut right: f64 = (0..n).map(|i| distance(i, i + 1..n)).sum();
    let mut best: Option<(f64, usize)> = None;
    for at in 1..n {
        let (to_left, to_right) = (distance(at - 1, 0..at - 1), distance(at - 1, at..n));
        left += to_left;
        right -= to_right;
        between += to_right - to_left;
        if at < LEAST || n - at < LEAST {
            continue;
        }
        let (m, k) = (at as f64, (n - at) as f64);
        let pairs = |n: f64| n * (n - 1.0) / 2.0;
        let energy =
            m * k / (m + k) * (2.0 * between / (m * k) - left / pairs(m) - right / pairs(k));
        if best.is_none_or(|(most, _)| energy > most) {
            best = Some((energy, at));
        }
    }
    best.map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::random::Random;

    fn noise(n: usize, seed: u64, level: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut random = Random::new(seed);
        (0..n).map(|i| level(i) + random.normal()).collect()
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let mut others = 0;
        for seed in 0..50 {
            let found = steps(&noise(120, seed, |i| if i < 60 { 20.0 } else { 24.0 }), 0.001);
            let there = found.iter().find(|step| step.at.abs_diff(60) <= 2).expect("the step");
            assert!((there.size() - 0.2).abs() < 0.1, "{found:?}");
            others += found.len() - 1;
        }
        assert!(others <= 2, "{others} steps that are none");
    }

    #[test]
    fn a_pulse_is_two_steps_and_a_short_one_does_not_last() {
        let found =
            steps(&noise(200, 3, |i| if (80..110).contains(&i) { 30.0 } else { 20.0 }), 0.001);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(lasting(&found, 0.1, 25).count(), 2);
        assert_eq!(lasting(&found, 0.1, 40).count(), 0);
        assert_eq!(lasting(&found, 0.9, 25).count(), 0);
    }

    #[test]
    fn noise_has_no_steps() {
        let with: usize =
            (0..300).filter(|seed| !steps(&noise(120, *seed, |_| 20.0), 0.001).is_empty()).count();
        println!("steps found in {with} of 300 series of noise");
        assert!(with <= 15, "{with} of 300");
    }

    #[test]
    fn constant_series_have_none() {
        assert!(steps(&[5.0; 100], 0.001).is_empty());
        assert!(steps(&[], 0.001).is_empty());
        let exact: Vec<f64> = (0..100).map(|i| if i < 50 { 5.0 } else { 6.0 }).collect();
        assert_eq!(steps(&exact, 0.001).iter().map(|step| step.at).collect::<Vec<_>>(), [50]);
    }

    proptest! {
        #[test]
        fn steps_are_in_order_and_do_not_depend_on_units(
            values in prop::collection::vec(0.0f64..100.0, 0..150), factor in 0.01f64..100.0,
        ) {
            let found = steps(&values, 0.001);
            prop_assert!(found.windows(2).all(|pair| pair[0].at < pair[1].at));
            let scaled: Vec<f64> = values.iter().map(|v| v * factor).collect();
            let places = |steps: &[Step]| steps.iter().map(|step| step.at).collect::<Vec<_>>();
            prop_assert_eq!(places(&found), places(&steps(&scaled, 0.001)));
        }
    }
}
