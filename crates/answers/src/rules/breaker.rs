//! Detects failures in periods of equal length: a circuit breaker, or load shedding. As evidence, status codes or
//! messages must name it, or each period of fast failures must follow slower responses. Without this evidence,
//! failures at equal intervals may come from a periodic job.

use record::{CauseName, Record, Second};
use stats::Outcome;
use stats::grouped::{count, percent};

use super::errors::{reads, sheds};
use super::failing_time::{period, runs};
use super::figures::{
    causes, deviation, hist, median, mix_differs, ms, requests, service, span, whole,
};
use super::say::{found, time, words};
use crate::verdict::{About, Confidence, Said, Words};

/// Failed share of a second's requests from which the second counts as failing.
const FAILING: f64 = 0.5;
/// Failed share of a second's requests below which the second counts as good.
const GOOD: f64 = 0.05;
/// Smallest number of periods of failing seconds, for a finding.
const RUNS: usize = 3;
/// Largest standard deviation of the lengths of periods of failing seconds at which the lengths count as equal, as a
/// share of their median.
const ALIKE: f64 = 0.15;
/// Largest standard deviation of the lengths of periods of failing seconds at which the lengths count as equal, in
/// seconds; the larger of `ALIKE` and this limit counts.
const ALIKE_S: f64 = 1.0;
/// Largest ratio of the median time of failed requests to the median response time in seconds without failures at which
/// failures count as fast.
const FASTER: f64 = 0.5;
/// Number of seconds directly before a period of failures whose response time is compared with the usual response time.
const BEFORE: usize = 2;
/// Smallest ratio of the response time in the seconds before a period of failures to the usual response time
/// at which these seconds count as slow.
const SLOWER: f64 = 1.5;
/// Smallest share of the periods of failures that must follow slow seconds, for slow responses to be a sign of a
/// breaker.
const MOST: f64 = 0.7;
/// Words in error messages that name a circuit breaker.
const NAMES: [&str; 4] = ["circuit", "breaker", "hystrix", "not permitted"];
/// Largest z of the runs test for a finding: p < .001, one-sided.
const CHANCE: f64 = -3.1;
/// Smallest number of requests of a run for a finding.
const SAMPLES: u64 = 1000;
/// Smallest number of seconds of a run for a finding.
const SECONDS: usize = 30;

pub(super) fn circuit_breaker(record: &Record) -> Said {
    let seconds = whole(record);
    if requests(seconds) < SAMPLES || seconds.len() < SECONDS {
        return Said::Nothing;
    }
    let share = |s: &Second| s.all.errors as f64 / s.all.count.max(1) as f64;
    let is_failing: Vec<bool> = seconds.iter().map(|s| share(s) >= FAILING).collect();
    let between = seconds.iter().filter(|s| (GOOD..FAILING).contains(&share(s))).count();
    let runs = runs(&is_failing);
    // A period at an end of the record may be cut off.
    let whole_runs: Vec<f64> = runs
        .iter()
        .filter(|run| run.0 > 0 && run.0 + run.1 < is_failing.len())
        .map(|run| run.1 as f64)
        .collect();
    let length = median(&whole_runs);
    let alike = deviation(&whole_runs) <= (ALIKE * length).max(ALIKE_S);
    let failed = ms(&hist(seconds, |s| &s.all.failed), 0.5);
    let good = {
        let calm = seconds.iter().filter(|s| s.all.errors == 0);
        ms(&service(calm), 0.5)
    };
    let codes = causes(seconds);
    let first = codes.first().and_then(|(cause, _)| record.causes.get(*cause));
    let shed = first.is_some_and(names_breaker);
    if is_of_other_kind(record, seconds, &is_failing) {
        return Said::Nothing;
    }
    let fast = failed < FASTER * good;
    let few_between = between <= 2 * whole_runs.len().max(1);
    let clear = z(&is_failing) < CHANCE;
    let is_breaker = shed || fast && follows_slow_answers(seconds, &runs, good);
    if whole_runs.len() < RUNS || !alike || !few_between || !clear || !is_breaker {
        return Said::Nothing;
    }
    let text = codes.first().map(|(cause, _)| reads(record, *cause)).unwrap_or_default();
    let (n, each) = (count(runs.len() as u64), time(length * 1000.0));
    let (quick, usual) = (time(failed), time(good));
    let part = percent(is_failing.iter().filter(|f| **f).count() as f64 / is_failing.len() as f64);
    let even = even_intervals(seconds);
    found(
        "circuit_breaker",
        About::Target,
        Confidence::Statistical,
        words!(breaker_found(n, each, part, quick, usual, even, text)),
    )
    .with("runs", runs.len() as f64, "times", span(seconds))
    .with("length", length, "s", span(seconds))
    .advise(words!(breaker_advice))
    .explaining(&["errors_named", "bimodal", "step_change", "reset_under_load", "plan_fault"])
    .said()
}

/// Returns true if the error says that load is shed: its message names a breaker, or its status is that of an
/// overloaded server.
fn names_breaker(cause: &CauseName) -> bool {
    let message = cause.message.to_lowercase();
    NAMES.iter().any(|word| message.contains(word)) || sheds(cause) && &*cause.code != "429"
}

/// Returns the sentence about failures at even intervals; empty if the intervals are not even.
fn even_intervals(seconds: &[Second]) -> Words {
    let Some(period) = period(seconds, |second| second.all.errors) else {
        return Words::default();
    };
    let every = time(period.every_s * 1000.0);
    words!(breaker_at_intervals(every))
}

/// True if responses are slower than usual just before most periods of failures: slow responses open a breaker.
fn follows_slow_answers(seconds: &[Second], runs: &[(usize, usize)], usual_ms: f64) -> bool {
    let is_slower = |(at, _): &&(usize, usize)| {
        let before = &seconds[at.saturating_sub(BEFORE)..*at];
        let before = before.iter().filter(|second| 2 * second.all.errors < second.all.count);
        ms(&service(before), 0.5) >= SLOWER * usual_ms
    };
    runs.iter().filter(is_slower).count() as f64 >= MOST * runs.len() as f64
}

/// Returns true if the failures have another cause: refused connections mean that the target is gone, and failures
/// of other requests than the successful ones are caused by the plan.
fn is_of_other_kind(record: &Record, seconds: &[Second], is_failing: &[bool]) -> bool {
    let is_away = causes(seconds).first().is_some_and(|(cause, _)| {
        let outcome = record.causes.get(*cause).map(|cause| cause.outcome);
        matches!(outcome, Some(Outcome::Refused | Outcome::Unreachable | Outcome::Assertion))
    });
    let of = |failing: bool| -> Vec<Second> {
        let picked = seconds.iter().zip(is_failing).filter(|(_, is)| **is == failing);
        picked.map(|(second, _)| second.clone()).collect()
    };
    is_away || mix_differs(record, &of(true), &of(false))
}

/// Returns z of the runs test by A. Wald and J. Wolfowitz (1940): negative if there are fewer runs than chance
/// predicts.
fn z(values: &[bool]) -> f64 {
    let (n, yes) = (values.len() as f64, values.iter().filter(|v| **v).count() as f64);
    let no = n - yes;
    let expected = 2.0 * yes * no / n + 1.0;
    let variance = (expected - 1.0) * (expected - 2.0) / (n - 1.0);
    (values.chunk_by(|a, b| a == b).count() as f64 - expected) / variance.max(1e-9).sqrt()
}
