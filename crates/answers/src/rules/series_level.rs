//! Detects a series that stops growing at one value while users still arrive and responses become slower.
//!
//! The service itself reports the metric. That its value is a limit is a guess, so the finding is a hint. The rule
//! is silent for a metric that does not depend on the load, for one that still grows, and if the users stop growing
//! together with the metric. It is not in the list of rules, because only runs with `--series` have its data.

use record::{Record, Second};

use super::figures::{span, whole};
use super::say::{clock, found, number, time, words};
use crate::verdict::{About, Confidence, Finding, Verdict};

pub(super) const ID: &str = "series_level";

/// Smallest number of seconds with a value of the series before the level is reached, for a finding.
const BEFORE: usize = 5;
/// Smallest number of seconds on the level, for a finding.
const ON_IT: usize = 10;
/// Smallest share of seconds on the level among all seconds after the level is first reached, for a finding.
const STAYS: f64 = 0.95;
/// Largest value of the series in the first `BEFORE` seconds, as a share of the level, for a finding.
const BEGINS: f64 = 0.6;
/// Smallest ratio by which both users and response times must grow on the level, for a finding.
const GROWS: f64 = 1.3;
/// Number of seconds at each end of the level whose mean response times are compared.
const END: usize = 5;

/// Adds the findings from the series of a run, unless the generator is in doubt.
pub(super) fn add(verdict: &mut Verdict, record: &Record) {
    if !verdict.doubts_generator() {
        let series = record.frame.series().enumerate();
        verdict
            .findings
            .extend(series.filter_map(|(at, (name, _))| level(record, at as u32, name)));
    }
}

fn level(record: &Record, at: u32, name: &str) -> Option<Finding> {
    let of = |second: &Second| {
        let (_, number) = second.numbers.iter().find(|one| one.0 == at)?;
        (number.count > 0).then_some(number.most)
    };
    let seconds: Vec<(&Second, f64)> =
        whole(record).iter().filter_map(|second| Some((second, of(second)?))).collect();
    let most = seconds.iter().map(|one| one.1).fold(0.0, f64::max);
    let first = seconds.iter().position(|one| one.1 >= most)?;
    let (before, on_it) = seconds.split_at(first);
    if most < 2.0 || most.fract() != 0.0 || before.len() < BEFORE || on_it.len() < ON_IT {
        return None;
    }
    let stays = on_it.iter().filter(|one| one.1 >= most).count() as f64;
    let begin = before[..BEFORE.min(before.len())].iter().map(|one| one.1).fold(0.0, f64::max);
    let (from, to) = (on_it[0].0.users, on_it.iter().map(|one| one.0.users).max()?);
    let grew = to as f64 >= GROWS * from as f64 && to >= from + 2 && before[0].0.users < from;
    let (early, late) = (mean(&on_it[..END]), mean(&on_it[on_it.len() - END..]));
    let is_level = stays >= STAYS * on_it.len() as f64 && begin <= BEGINS * most;
    if !is_level || !grew || early <= 0.0 || late < GROWS * early {
        return None;
    }
    let since = clock(on_it[0].0.at_ms - record.frame.start_ms);
    let (level, early_ms, late_ms) = (number(most).replace(".0", ""), time(early), time(late));
    let level = level.strip_suffix(".00").map_or(level.clone(), str::to_owned);
    let asked: Vec<Second> = on_it.iter().map(|one| one.0.clone()).collect();
    Some(
        found(
            ID,
            About::Target,
            Confidence::Hint,
            words!(series_level_found(name, level, since, from, to, early_ms, late_ms)),
        )
        .on_series(name)
        .with(name, most, "count", span(&asked))
        .advise(words!(series_level_advice(level))),
    )
}

/// Returns the mean elapsed time in ms.
fn mean(seconds: &[(&Second, f64)]) -> f64 {
    let sum = |of: fn(&Second) -> u64| seconds.iter().map(|one| of(one.0)).sum::<u64>() as f64;
    sum(|second| second.all.elapsed) / 1e6 / sum(|second| second.all.count).max(1.0)
}

#[cfg(test)]
mod tests {
    use stats::Number;

    use super::*;

    /// Returns the finding for a ramp over 40 s. `value`, `ms` and `users`: number in the responses, response time in
    /// ms and users.
    fn said(
        value: impl Fn(u64) -> f64,
        ms: impl Fn(u64) -> u64,
        users: impl Fn(u64) -> u64,
    ) -> Option<String> {
        let mut record = Record::default();
        record.frame.settings = vec![("-Jthrong.series".into(), "threads=header:X".into())];
        for n in 1..=40 {
            let mut second = Second { at_ms: n * 1000, ms: 1000, ..Second::default() };
            let (n, value) = (n as u64, value(n as u64));
            (second.users, second.all.count) = (users(n), 100);
            second.all.elapsed = 100 * ms(n) * 1_000_000;
            let number = Number { count: 1, sum: value, least: value, most: value, odd: 0 };
            second.numbers = vec![(0, number)];
            record.seconds.push(second);
        }
        let mut verdict = Verdict::default();
        add(&mut verdict, &record);
        verdict.findings.into_iter().next().map(|finding| finding.words.en)
    }

    #[test]
    fn a_number_that_stops_growing_while_users_come_is_named() {
        let words = said(|n| n.min(16) as f64, |n| if n < 16 { 20 } else { 20 + n }, |n| n);
        let expected = "threads stays at 16 from 0:16 on, while users went from 16 to 40 and the mean response time from 38 ms to 58 ms.";
        assert_eq!(words.as_deref(), Some(expected));
    }

    #[test]
    fn ordinary_numbers_are_no_level() {
        let slower = |n: u64| 20 + 2 * n;
        assert_eq!(said(|_| 16.0, slower, |n| n), None, "it never depended on the load");
        assert_eq!(said(|n| n as f64, slower, |n| n), None, "it still grows");
        assert_eq!(said(|n| n.min(16) as f64, slower, |n| n.min(16)), None, "users stop as well");
        assert_eq!(
            said(|n| n.min(16) as f64, |_| 20, |n| n),
            None,
            "answers are as fast as before"
        );
        let falls = |n: u64| if n.is_multiple_of(3) { 15.0 } else { n.min(16) as f64 };
        assert_eq!(said(falls, slower, |n| n), None, "it does not stay");
        assert_eq!(said(|n| 2.5 * n.min(5) as f64, slower, |n| n), None, "no number of things");
    }
}
