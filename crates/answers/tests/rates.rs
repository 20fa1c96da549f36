//! A rate set by the plan's timers, compared with the samples of a healthy run of one minute.
mod situations;

use answers::rules;
use record::{Change, Mark, RatePeriod, Record};
use situations::all::quiet;

/// Returns a healthy run whose timers require `times` times its actual rate.
fn asking(times: f64) -> Record {
    let mut record = quiet();
    let length: f64 = record.seconds.iter().map(|second| f64::from(second.ms) / 1000.0).sum();
    let requests: u64 = record.seconds.iter().map(|second| second.all.count).sum();
    record.frame.load.rate = Some(times * requests as f64 / length);
    record.frame.load.users = record.seconds.iter().map(|second| second.users).max().unwrap_or(0);
    record
}

fn speaks(record: &Record) -> bool {
    rules::verdict(record).findings.iter().any(|finding| finding.id == "late_starts")
}

#[test]
fn missing_samples_count_from_a_twentieth_on() {
    assert!(!speaks(&asking(0.5)), "more than was asked for");
    assert!(!speaks(&asking(1.03)), "jitter");
    assert!(speaks(&asking(1.15)), "a rate that was not reached");
}

#[test]
fn a_rate_that_is_not_that_of_samples_says_nothing_of_them() {
    let mut record = asking(1.5);
    record.frame.load.open = true;
    assert!(!speaks(&record), "a rate of iterations");
    let mut record = asking(1.5);
    let at_ms = record.seconds[30].at_ms;
    record.marks.insert(0, Mark { at_ms, change: Change::Users(10) });
    assert!(!speaks(&record), "a load that somebody changed");
    let mut record = asking(1.5);
    record.frame.load.users *= 2;
    assert!(!speaks(&record), "half of the users");
}

#[test]
fn a_schedule_is_held_against_each_second() {
    let scheduled = |first: f64, second: f64| {
        let mut record = asking(1.0);
        let rate = record.frame.load.rate.expect("a rate");
        let period = |rate| RatePeriod { length_ms: 30_000, begin: rate, end: rate };
        record.frame.load.schedule = vec![period(first * rate), period(second * rate)];
        record.frame.load.rate = Some(first.max(second) * rate);
        record
    };
    assert!(!speaks(&scheduled(1.0, 1.0)), "what was asked for");
    assert!(!speaks(&scheduled(0.5, 1.03)), "the highest rate is not that of all seconds");
    assert!(speaks(&scheduled(1.0, 1.5)), "a part that was not reached");
}

/// Returns a run of 25 s with these numbers of responses in turn, for a plan with two users that requires 10
/// requests per second.
fn short(counts: &[u64]) -> Record {
    let mut record = quiet();
    let from = record.seconds.len() - 30;
    record.seconds.drain(..from);
    record.seconds.truncate(25);
    for (second, count) in record.seconds.iter_mut().zip(counts.iter().cycle()) {
        (second.all.count, second.users) = (*count, 2);
    }
    record.frame.start_ms = record.seconds[0].at_ms - 1000;
    record.marks.clear();
    (record.frame.load.rate, record.frame.load.users) = (Some(10.0), 2);
    record
}

#[test]
fn a_timer_that_makes_no_scatter_is_missed_within_seconds() {
    assert!(speaks(&short(&[8, 8, 10])), "13 % are missing in each second");
    assert!(!speaks(&short(&[10, 9, 10, 10])), "within a twentieth");
    assert!(!speaks(&short(&[3, 15, 6, 12, 8])), "as much by chance");
}
