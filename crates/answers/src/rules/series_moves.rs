//! Detects a series that changes together with the response time from second to second, under constant load.
//!
//! Both may follow a third quantity, so the finding is a hint and never a cause. The measure is Spearman's rank
//! correlation. The number of independent seconds is reduced by the autocorrelations of both series. So two series that
//! merely grow during the run, or change once, do not count as related (M. S. Bartlett, Journal of the Royal
//! Statistical Society 98, 1935). Only seconds under the same load count: during a ramp, the number of users changes
//! both series. This check is not in the list of rules: only runs with `--series` have its data.

use super::courses::Courses;
use super::figures::span;
use super::run::Run;
use super::say::{found, number, time, words};
use crate::distribution::student_two_sided;
use crate::series::{mean, quantile};
use crate::verdict::{About, Confidence, Finding, Verdict, in_order};

pub(super) const ID: &str = "series_moves";

/// Smallest number of seconds under the same load that have a value of the series and a response.
const SECONDS: usize = 30;
/// Smallest absolute rank correlation for a finding.
const ALIKE: f64 = 0.5;
/// Largest p value of a correlation, after multiplication by the number of series, at which the correlation is
/// significant.
const SURE: f64 = 0.001;
/// Smallest ratio of the response time in slow seconds to the response time in fast seconds, for a finding.
const VARIES: f64 = 1.3;
/// Quantile of the seconds' response times that represents slow seconds.
const SLOW: f64 = 0.95;
/// Quantile of the seconds' response times that represents fast seconds.
const FAST: f64 = 0.05;
/// Ratio of the number of seconds to the largest lag of the autocorrelations.
const MEMORY: usize = 3;
/// Smallest number of independent seconds, for a correlation.
const INDEPENDENT: f64 = 3.0;

/// Adds a finding for each series that moves with the response time, unless the generator is in doubt.
pub(super) fn add(verdict: &mut Verdict, run: &Run<'_>) {
    let names: Vec<&str> = run.frame.series().map(|one| one.0).collect();
    if names.is_empty() || verdict.doubts_generator() {
        return;
    }
    let Some(courses) = run.courses() else { return };
    let of_series = |(at, name): (usize, &&str)| moves(courses, at as u32, name, names.len());
    let found: Vec<Finding> = names.iter().enumerate().filter_map(of_series).collect();
    verdict.findings.extend(found);
    verdict.findings = in_order(std::mem::take(&mut verdict.findings));
}

fn moves(courses: &Courses<'_>, at: u32, name: &str, series: usize) -> Option<Finding> {
    let course = courses.each.first()?;
    let (mut numbers, mut times, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
    for (second, time) in courses.seconds.iter().zip(&course.values) {
        let of_series = second.numbers.iter().find(|one| one.0 == at).map(|one| one.1);
        if let (Some(number), Some(time)) = (of_series.filter(|one| one.count > 0), time) {
            numbers.push(number.sum / number.count as f64);
            times.push(*time);
            seconds.push(second.clone());
        }
    }
    let varies = (quantile(&times, SLOW) - quantile(&times, FAST)).exp();
    if seconds.len() < SECONDS || varies < VARIES {
        return None;
    }
    let (alike, chance) = related(&numbers, &times)?;
    if alike.abs() < ALIKE || chance * series as f64 > SURE {
        return None;
    }
    // Compare the quarter of the seconds with the lowest values of the series and the quarter with the highest.
    let (low, high) = (quantile(&numbers, 0.25), quantile(&numbers, 0.75));
    let of = |is: &dyn Fn(f64) -> bool| {
        let chosen = seconds.iter().zip(&numbers).filter(|(_, number)| is(**number));
        let chosen: Vec<_> = chosen.map(|(second, _)| second.clone()).collect();
        course.of.mean(&chosen)
    };
    let (at_low, at_high) = (of(&|one| one <= low), of(&|one| one >= high));
    let rises = if alike > 0.0 { words!(series_rises) } else { words!(series_falls) };
    let alike_words = format!("{alike:.2}");
    let (low, high) = (shown(low), shown(high));
    let (low_ms, high_ms, n) = (time(at_low), time(at_high), seconds.len());
    Some(
        found(
            ID,
            About::Target,
            Confidence::Hint,
            words!(series_moves_found(name, rises, low_ms, low, high_ms, high, alike_words, n)),
        )
        .on_series(name)
        .with(name, alike, "rank correlation", span(&seconds))
        .advise(words!(series_moves_advice(name))),
    )
}

/// Formats a value reported by a service. It may be negative.
fn shown(value: f64) -> String {
    let text = number(value.abs());
    let text = text.strip_suffix(".00").or_else(|| text.strip_suffix(".0")).unwrap_or(&text);
    format!("{}{text}", if value < 0.0 { "-" } else { "" })
}

/// Returns Spearman's rank correlation of two series, and the probability of a correlation as far from 0 in unrelated
/// series with the same autocorrelations. `None` if one of them does not vary, or if too few independent values are
/// left.
fn related(a: &[f64], b: &[f64]) -> Option<(f64, f64)> {
    let (a, b) = (standard(&ranks(a))?, standard(&ranks(b))?);
    let lagged =
        |of: &[f64], lag: usize| of.iter().zip(&of[lag..]).map(|(x, y)| x * y).sum::<f64>();
    let both: f64 = (1..=a.len() / MEMORY).map(|lag| lagged(&a, lag) * lagged(&b, lag)).sum();
    let n = a.len() as f64;
    let independent = n / (1.0 + 2.0 * both).max(1.0);
    if independent < INDEPENDENT {
        return None;
    }
    let alike = a.iter().zip(&b).map(|(x, y)| x * y).sum::<f64>().clamp(-1.0, 1.0);
    let rest = (1.0 - alike * alike).max(1e-12);
    let t = alike * ((independent - 2.0) / rest).sqrt();
    Some((alike, student_two_sided(t, independent - 2.0)))
}

/// Returns the ranks, from 0 on; equal values get the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let (mut ranks, mut first) = (vec![0.0; values.len()], 0);
    for same in order.chunk_by(|a, b| values[*a].total_cmp(&values[*b]).is_eq()) {
        let rank = first as f64 + (same.len() - 1) as f64 / 2.0;
        for at in same {
            ranks[*at] = rank;
        }
        first += same.len();
    }
    ranks
}

/// Centres values around 0 and scales them so that their squares add up to 1; `None` for equal values.
fn standard(values: &[f64]) -> Option<Vec<f64>> {
    let centre = mean(values);
    let length = values.iter().map(|value| (value - centre).powi(2)).sum::<f64>().sqrt();
    (length > 0.0).then(|| values.iter().map(|value| (value - centre) / length).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Returns an autoregressive series: each value is `part` times the one before, plus noise.
    fn remembering(part: f64, n: usize, random: &mut Random) -> Vec<f64> {
        let mut last = 0.0;
        let mut next = |_| {
            last = part * last + random.normal();
            last
        };
        (0..n).map(&mut next).collect()
    }

    fn is_related(a: &[f64], b: &[f64]) -> bool {
        related(a, b).is_some_and(|(alike, chance)| alike.abs() >= ALIKE && chance <= SURE)
    }

    #[test]
    fn ranks_share_those_of_equal_values() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 2.0]), [2.5, 0.0, 2.5, 1.0]);
        let (alike, chance) =
            related(&[1.0, 2.0, 3.0, 4.0, 5.0], &[2.0, 1.0, 4.0, 3.0, 5.0]).expect("a figure");
        // The expected correlation is 1 - 6·4 / (5·24) = 0.8.
        assert!((alike - 0.8).abs() < 1e-12 && chance > 0.05, "{alike} {chance}");
        assert_eq!(related(&[1.0; 40], &[2.0; 40]), None);
    }

    /// The bound of 2 % is 20 times the expected share. If the number of independent values were too large, the
    /// share would exceed it.
    #[test]
    fn series_that_are_not_related_are_not_found_however_long_they_remember() {
        let mut random = Random::new(11);
        for n in [30, 60, 240] {
            for part in [0.0, 0.7, 0.9, 0.97, 1.0] {
                let found = (0..100).filter(|_| {
                    let (a, b) =
                        (remembering(part, n, &mut random), remembering(part, n, &mut random));
                    is_related(&a, &b)
                });
                assert!(found.count() <= 2, "{n} {part}");
            }
        }
    }

    #[test]
    fn series_that_grow_or_change_once_are_no_relation() {
        let mut random = Random::new(12);
        let mut shape = |of: &dyn Fn(f64) -> f64| -> Vec<f64> {
            (0..120).map(|at| of(f64::from(at) / 120.0) + 0.3 * random.normal()).collect()
        };
        let grows = |x: f64| 4.0 * x;
        let steps = |x: f64| if x > 0.4 { 4.0 } else { 0.0 };
        for (a, b) in [(shape(&grows), shape(&grows)), (shape(&steps), shape(&steps))] {
            assert!(!is_related(&a, &b));
        }
        let counter: Vec<f64> = (0..120).map(f64::from).collect();
        assert!(!is_related(&counter, &shape(&grows)));
    }

    #[test]
    fn series_that_follow_the_same_thing_are_found() {
        let mut random = Random::new(13);
        let mut found = 0;
        for _ in 0..50 {
            let common = remembering(0.8, 90, &mut random);
            let mut noisy =
                || common.iter().map(|x| x + 0.5 * random.normal()).collect::<Vec<f64>>();
            let (a, b) = (noisy(), noisy());
            let inverse: Vec<f64> = b.iter().map(|x| -x).collect();
            found += usize::from(is_related(&a, &b) && is_related(&a, &inverse));
        }
        assert!(found >= 45, "{found} of 50");
    }
}
