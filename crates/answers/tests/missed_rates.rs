//! A rate set by timers that the run did not reach: tests whether the advice to add users is right.
mod situations;

use answers::random::Random;
use answers::rules;
use record::Record;
use situations::{Answer, MS, Request, S, Users, Workers, about, good, run, users};

fn said(record: &Record) -> String {
    let found = rules::verdict(record).findings.into_iter().find(|one| one.id == "late_starts");
    found.map(|finding| finding.words.en).unwrap_or_default()
}

/// Returns a run whose timers require 100 requests per second, against `n` workers that take 100 ms per request.
fn timers(load: &Users, n: usize) -> Record {
    let mut workers = Workers::new(n);
    let mut record =
        run(load, move |request, random| good(workers.work(request.at, about(100 * MS, random))));
    record.frame.load.rate = Some(100.0);
    record
}

#[test]
fn too_few_users_are_told_how_many_would_do() {
    let words = said(&timers(&Users { at_once: 2, ..users(2) }, 1000));
    assert!(words.contains("all 2 users were waiting for answers of 100 ms"), "{words}");
    assert!(words.contains("the rate needs about 10 users"), "{words}");
    // More users with a timer each would raise the required rate.
    let found = rules::verdict(&timers(&Users { at_once: 2, ..users(2) }, 1000)).findings;
    let advice = &found.iter().find(|one| one.id == "late_starts").expect("late starts").advice;
    assert!(advice.en.contains("and keep the total rate"), "{}", advice.en);
}

#[test]
fn a_target_at_its_limit_is_not_asked_for_more_users() {
    for n in [49, 113] {
        for load in [Users { at_once: n, ..users(n) }, users(n).ramp(20)] {
            let words = said(&timers(&load, 2));
            assert!(words.contains("the target answers about 20/s and not more"), "{words}");
            assert!(words.contains("More users would only wait longer"), "{words}");
            assert!(!words.contains("at least"), "{words}");
        }
    }
}

#[test]
fn a_rate_that_is_missed_by_a_seventh_is_known_in_a_short_run() {
    // Users that only wait for responses vary less than chance.
    let missed = |rate: f64, length: u64| {
        let load = Users { at_once: 2, ..users(2) }.seconds(length);
        let mut record = run(&load, |_, random| good(about(230 * MS, random)));
        record.frame.load.rate = Some(rate);
        rules::missed_starts(&record)
    };
    for length in [13, 16, 20, 25, 60] {
        assert!(missed(10.2, length).is_some(), "{length} s");
        assert_eq!(missed(8.4, length), None, "{length} s");
    }
    // There are too few seconds to know how much they vary.
    assert_eq!(missed(10.2, 6), None);
}

#[test]
fn a_short_stop_of_the_generator_does_not_explain_a_rate_that_was_never_reached() {
    let mut record = timers(&Users { at_once: 10, ..users(10) }, 2);
    record.seconds[20].generator.stall = 250_000_000;
    let words = said(&record);
    assert!(!words.is_empty() && !words.contains("the generator"), "{words}");
}

/// Returns a run of users that pause for `pause` ms between responses of 20 ms; a timer requires 20 requests per
/// second.
fn pausing(n: u64, pause: u64) -> Record {
    let mut record = run(&Users { at_once: n, ..users(n).pause(pause) }, |_, _| good(20 * MS));
    record.frame.load.rate = Some(20.0);
    record
}

#[test]
fn pauses_count_in_the_number_of_users_that_a_rate_needs() {
    let words = said(&pausing(3, 400));
    assert!(words.contains("all 3 users were busy: "), "{words}");
    assert!(words.contains("passed in waiting for answers of 20 ms"), "{words}");
    assert!(words.contains("the rate needs about 9 users"), "{words}");
    assert_eq!(said(&pausing(9, 400)), "", "as many as it needs");
    let words = said(&pausing(1, 400));
    assert!(words.contains("the only user was busy: "), "{words}");
}

/// Returns a run that requires 300 starts per second of one user, on a machine that is full of other programs.
fn of_one_user(lag_ms: u64) -> Record {
    let load = Users { at_once: 1, rate: Some(300.0), ..users(1).pause(50) };
    let mut record = run(&load, |_, _| good(5 * MS));
    for second in &mut record.seconds {
        second.all.phases.lag = second.all.count * lag_ms * 1_000_000;
        second.machine = Some(stats::machine::Machine { cpu: 1.0, ..Default::default() });
    }
    record
}

#[test]
fn a_generator_is_not_to_blame_for_users_that_are_too_few_without_it() {
    let words = said(&of_one_user(2));
    assert!(words.contains("the only user was busy"), "{words}");
    assert!(
        words.contains("the rate needs about 17 users")
            || words.contains("the rate needs about 18 users"),
        "{words}"
    );
    // Most of the time passes in the generator.
    let words = said(&of_one_user(54));
    assert!(words.contains("because other programs filled the generator's machine"), "{words}");
}

/// Returns the finding on a run whose timers require 100 requests per second of 10 users that come within 10 s.
fn said_of_timers(seed: u64, target: impl FnMut(&Request, &mut Random) -> Answer) -> String {
    let load = Users { rate: Some(100.0), seed, ..users(10).ramp(10).seconds(60) };
    let mut record = run(&load, target);
    for second in &mut record.seconds {
        (second.due, second.missed, second.started) = (0, 0, 0);
    }
    said(&record)
}

#[test]
fn slow_answers_are_no_pause_of_the_target() {
    for seed in 1..=5 {
        // Users wait in step if all requests take the same time.
        for spread in [0.0, 0.2] {
            let words = said_of_timers(seed, |request, random| {
                let is_slow = (20 * S..40 * S).contains(&request.at);
                let takes = if is_slow { 1000.0 } else { 50.0 };
                let factor = 1.0 + spread * (2.0 * random.uniform() - 1.0);
                good((1000.0 * takes * factor) as u64)
            });
            assert!(words.contains("because its answers got slower: 100/s asked for"), "{words}");
            let is_long = ["waited 9", "waited 1.0 s"].iter().any(|time| words.contains(time));
            assert!(is_long, "{words}");
        }
        // A pause is as long as the gap, although other requests take longer.
        let words = said_of_timers(seed, |request, random| {
            let (stop, end) = (20 * S, 28 * S);
            match request.at {
                at if (stop..end).contains(&at) => good(end - at + about(50 * MS, random)),
                _ if request.number % 3000 == 2500 => good(15 * S),
                _ => good(about(50 * MS, random)),
            }
        });
        let is_right = ["7.9", "8.0", "8.1"].iter().any(|length| {
            words.contains(&format!(
                "The target gave no answers for up to {length} s (first at 0:20)"
            ))
        });
        assert!(is_right, "{words}");
    }
}
