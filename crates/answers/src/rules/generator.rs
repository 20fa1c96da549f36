//! Detects a generator at its limit (its processors are saturated, or responses wait in it), and a machine that
//! other programs saturate.

use record::{Record, Second};
use stats::grouped::percent;

use super::down::seconds_there;
use super::figures::{hist, length_s, ms, requests, seconds_in, span};
use super::machine::is_stall;
use super::reading;
use super::say::{found, lacks, number, time, words};
use crate::shared;
use crate::verdict::{About, Confidence, Said, Words};

const ID: &str = "generator_limit";
const ID_OF_MACHINE: &str = "machine_busy";
/// Rules whose findings are consequences of saturated processors.
const EXPLAINS: &[&str] = &[
    "generator_limit",
    "generator_stalled",
    "unread_growing",
    "zero_windows",
    "late_starts",
    "bimodal",
    "stalls",
];

/// Use of the generator's processors, as a share, from which they count as saturated.
const FULL: f64 = 0.95;
/// Use of all processors of the machine, as a share, from which they count as saturated.
const MACHINE_FULL: f64 = 0.98;
/// Smallest number of seconds with saturated processors for a finding; shorter bursts are noise.
const FULL_SECONDS: usize = 3;
/// Smallest share of the run's seconds with saturated processors for a finding.
const FULL_SHARE: f64 = 0.25;
/// Shortest partial second in ms that is evidence of processor use.
const LEAST_MS: u32 = 500;
/// Smallest number of samples of a run for which its percentiles are judged.
const LEAST_SAMPLES: u64 = 100;
/// Number of samples that must lie beyond a meaningful percentile.
const BEYOND: f64 = 10.0;
/// Lag in ms at the p99 above which the lag is a problem, if `LAG_LEAST` also holds.
const LAG_BAD: f64 = 100.0;
/// Smallest ratio of the p99 of the lag to the p99 of the response time at which a lag above `LAG_BAD` is a problem.
const LAG_LEAST: f64 = 0.1;
/// Lag in ms at the p99 below which the lag is harmless, even if it is most of a short response time.
const LAG_FLOOR: f64 = 10.0;
/// Smallest ratio of the p99 of the lag to the p99 of the response time at which the lag distorts response times.
const LAG_SHARE: f64 = 0.25;
/// Smallest share of the lag in all response time at which the lag distorts means, if `LAG_MEAN` also holds.
const LAG_OF_ALL: f64 = 0.1;
/// Smallest mean lag in ms at which the lag distorts means. With a target that answers within a millisecond, the cost
/// of one system call is a tenth of the response time, so a share alone shows nothing.
const LAG_MEAN: f64 = 1.0;
/// Time in ms after a pause of the process. Seconds that end within this time contain samples that the pause delayed.
const AFTER_STALL: i64 = 1500;
/// Largest share of seconds that may be excluded because of pauses. Any run may have a single pause.
const EXCEPTIONS: f64 = 0.1;

pub(super) fn generator_limit(record: &Record) -> Said {
    if !record.has.generator {
        return lacks!(run: figures_of_generator);
    }
    full_of_itself(record).or_else(|| lag(record)).unwrap_or(Said::Nothing)
}

/// Returns the finding about other programs that saturate the generator's machine and make the generator wait.
pub(super) fn machine_busy(record: &Record) -> Said {
    if !record.has.generator {
        return lacks!(run: figures_of_generator);
    }
    if full_of_itself(record).is_some() {
        return Said::Nothing;
    }
    full_of_others(record).unwrap_or(Said::Nothing)
}

/// Returns the number of processors that the run's threads can use fully.
pub(super) fn usable(record: &Record, second: &Second) -> f64 {
    let threads = second.generator.threads.max(record.frame.threads).max(1);
    f64::from(threads.min(record.frame.processors.max(1)))
}

/// Returns the share of its processors that the run used in a second.
pub(super) fn used(record: &Record, second: &Second) -> f64 {
    second.generator.cpu_s * 1000.0 / f64::from(second.ms.max(1)) / usable(record, second)
}

/// Returns the share of its processors that the run used over its whole length.
pub(super) fn used_in_all(record: &Record) -> f64 {
    let cpu: f64 = record.seconds.iter().map(|s| s.generator.cpu_s).sum();
    let usable = record.seconds.iter().map(|s| usable(record, s)).fold(1.0, f64::max);
    cpu / (usable * length_s(&record.seconds)).max(1e-3)
}

/// Returns the seconds that are long enough to judge processors, and in which the target accepted connections.
fn looked(record: &Record) -> Vec<&Second> {
    seconds_there(record).into_iter().filter(|s| s.ms >= LEAST_MS).collect()
}

/// True if `full` of `seconds` are enough for a finding; both are lengths in s.
fn is_enough(full: usize, seconds: usize) -> bool {
    full >= FULL_SECONDS && full as f64 >= FULL_SHARE * seconds as f64
}

/// Returns a phrase about a target that runs on the same machine.
fn here(record: &Record) -> Words {
    if shared::target_is_here(record) { words!(target_on_same_machine) } else { Words::default() }
}

/// True if the generator used all of its processors.
pub(super) fn is_full(record: &Record) -> bool {
    record.has.generator && full_of_itself(record).is_some()
}

fn full_of_itself(record: &Record) -> Option<Said> {
    let looked = looked(record);
    let seconds = seconds_in(looked.iter().copied());
    let full = seconds_in(looked.iter().copied().filter(|s| used(record, s) >= FULL));
    if !is_enough(full, seconds) {
        return None;
    }
    let span = span(&record.seconds);
    let cpus = looked.iter().map(|s| usable(record, s)).fold(1.0, f64::max);
    let here = here(record);
    Some(
        found(
            ID,
            About::Generator,
            Confidence::Arithmetic,
            words!(generator_limit_found(cpus, full, seconds)),
        )
        .with("generator_full_seconds", full as f64, "s", span)
        .with("generator_cpu", used_in_all(record), "share", span)
        .advise(words!(generator_limit_advice(here)))
        .explaining(EXPLAINS)
        .said(),
    )
}

fn full_of_others(record: &Record) -> Option<Said> {
    let looked = looked(record);
    let other = |s: &&Second| {
        let full = |machine: &stats::machine::Machine| machine.cpu >= MACHINE_FULL;
        used(record, s) < FULL && s.machine.as_ref().is_some_and(full)
    };
    let seconds = seconds_in(looked.iter().copied());
    let others = seconds_in(looked.iter().copied().filter(other));
    if !is_enough(others, seconds) || !harmed(record) {
        return None;
    }
    let span = span(&record.seconds);
    let own = percent(used_in_all(record));
    let here = here(record);
    Some(
        found(
            ID_OF_MACHINE,
            About::Generator,
            Confidence::Arithmetic,
            words!(machine_busy_found(others, seconds, own, here)),
        )
        .with("machine_full_seconds", others as f64, "s", span)
        .with("generator_cpu", used_in_all(record), "share", span)
        .advise(words!(machine_busy_advice))
        .explaining(EXPLAINS)
        .said(),
    )
}

/// Returns true if other programs slowed the generator down. Programs that only use the processor time that the
/// generator leaves idle do not, nor does a socket that the plan leaves unread.
fn harmed(record: &Record) -> bool {
    let on_purpose = reading::reading_stopped(record).is_found();
    let unread =
        || reading::unread_growing(record).is_found() || reading::zero_windows(record).is_found();
    lag(record).is_some() || !on_purpose && unread() || late(record)
}

/// Returns the seconds in which the process ran. A pause of the whole process is a finding of its own, and no evidence
/// about the other seconds.
fn awake(record: &Record) -> Vec<&Second> {
    let all = seconds_there(record);
    let stalls: Vec<i64> = all.iter().filter(|s| is_stall(s)).map(|s| s.at_ms).collect();
    let held = |s: &Second| stalls.iter().any(|at| (0..=AFTER_STALL).contains(&(s.at_ms - at)));
    let awake: Vec<&Second> = all.iter().copied().filter(|s| !held(s)).collect();
    let are_exceptions = (all.len() - awake.len()) as f64 <= EXCEPTIONS * all.len() as f64;
    let is_one = stalls.first().zip(stalls.last()).is_some_and(|(a, b)| b - a <= AFTER_STALL);
    if are_exceptions || is_one && !awake.is_empty() { awake } else { all }
}

/// True if samples started late by more than half of their response time, and by more than 100 ms.
pub(super) fn late(record: &Record) -> bool {
    let (service, response) = p99s(record);
    let late = response - service;
    requests(&record.seconds) >= LEAST_SAMPLES && late > LAG_BAD && late >= 0.5 * response
}

/// Returns the p99 of the service time and of the response time, in ms.
pub(super) fn p99s(record: &Record) -> (f64, f64) {
    let seconds = awake(record);
    let service = hist(seconds.iter().copied(), |s| &s.all.service);
    let response = hist(seconds, |s| s.all.response());
    (ms(&service, 0.99), ms(&response, 0.99))
}

fn lag(record: &Record) -> Option<Said> {
    let seconds = awake(record);
    let sum = |of: fn(&Second) -> u64| seconds.iter().map(|s| of(s)).sum::<u64>();
    let count = sum(|s| s.all.count);
    // Few samples have no meaningful p99: the tenth largest value takes its place.
    let tail = (1.0 - BEYOND / count.max(1) as f64).clamp(0.5, 0.99);
    let p99 = ms(&hist(seconds.iter().copied(), |s| &s.lag), tail);
    let response = ms(&hist(seconds.iter().copied(), |s| s.all.response()), tail);
    let in_lag = sum(|s| s.all.phases.lag) as f64;
    let all = sum(|s| s.all.overhead().1) as f64;
    let (share, mean) = (in_lag / all.max(1.0), in_lag / 1e6 / count.max(1) as f64);
    let spoils_tail = p99 >= LAG_FLOOR && p99 >= LAG_SHARE * response
        || p99 > LAG_BAD && p99 >= LAG_LEAST * response;
    let spoils_mean = share >= LAG_OF_ALL && mean >= LAG_MEAN;
    if count < LEAST_SAMPLES || !(spoils_tail || spoils_mean) {
        return None;
    }
    let (part, of, in_all) = (time(p99), time(response), percent(share));
    let span = span(&record.seconds);
    Some(
        found(
            ID,
            About::Generator,
            Confidence::Arithmetic,
            words!(own_share_found(in_all, part, of)),
        )
        .with("lag_p99", p99, "ms", span)
        .with("lag_share", share, "share", span)
        .with("response_p99", response, "ms", span)
        .advise(words!(own_share_advice))
        .explaining(&["late_starts"])
        .said(),
    )
}

/// Returns a sentence that the generator was not the limit, with the metrics that show it.
pub(super) fn cleared(record: &Record) -> crate::verdict::Words {
    let cpu = percent(used_in_all(record));
    let lag = number(ms(&hist(&record.seconds, |s| &s.lag), 0.99));
    words!(generator_not_cause(cpu, lag))
}
