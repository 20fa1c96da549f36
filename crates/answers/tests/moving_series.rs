//! Series of numbers from responses that move with the response time during a run. In counterexamples the series do
//! not, or both follow the number of users.
mod situations;

use answers::random::Random;
use answers::rules;
use answers::verdict::{Confidence, Subject};
use record::Record;
use situations::{MS, S, Users, Workers, about, good, run, users};
use stats::Number;

/// Adds a series to a run; `numbers` returns its value in each second.
fn with_series(mut record: Record, numbers: impl Fn(usize) -> f64) -> Record {
    record.frame.settings.push(("-Jthrong.series".into(), "load=serverLoad".into()));
    for (at, second) in record.seconds.iter_mut().enumerate() {
        let value = numbers(at);
        let number = Number { count: 1, sum: value, least: value, most: value, odd: 0 };
        second.numbers = vec![(0, number)];
    }
    record
}

fn says(record: &Record) -> Option<String> {
    let verdict = rules::verdict(record);
    let found = verdict.findings.iter().find(|finding| finding.id == "series_moves")?;
    assert_eq!(found.confidence, Confidence::Hint);
    assert_eq!(found.subjects, [Subject::Series("load".to_owned())]);
    assert_eq!(verdict.findings.last().map(|last| last.id), Some("series_moves"));
    Some(found.words.en.clone())
}

/// Returns an autoregressive series: one value per second, which depends on the value before.
fn wandering(seed: u64, seconds: usize) -> Vec<f64> {
    let mut random = Random::new(seed);
    let mut last = 0.0;
    let mut next = |_| {
        last = 0.7 * last + random.normal();
        last
    };
    (0..seconds).map(&mut next).collect()
}

/// Returns a run under constant load in which the level of each second determines the response times.
fn under_level(load: &Users, level: &[f64]) -> Record {
    run(load, |request, random| {
        let level = level.get((request.at / S) as usize).copied().unwrap_or_default();
        good(about((20_000.0 * (0.25 * level).exp()) as u64, random))
    })
}

fn steady() -> Users {
    users(20).pause(80).seconds(120)
}

#[test]
fn a_series_that_moves_with_the_response_time_is_a_hint() {
    let level = wandering(1, 120);
    let record = with_series(under_level(&steady(), &level), |at| 10.0 + level[at]);
    let said = says(&record).expect("a hint");
    let words = "load rises in the seconds in which answers take longer, under the same load: ";
    assert!(said.starts_with(words), "{said}");
    assert!(said.ends_with("That is no cause: both may follow something else."), "{said}");
    let record = with_series(under_level(&steady(), &level), |at| 10.0 - level[at]);
    assert!(says(&record).expect("a hint").starts_with("load falls in the seconds"));
}

#[test]
fn other_series_are_none() {
    let level = wandering(1, 120);
    let slow = under_level(&steady(), &level);
    let noise = wandering(2, 120);
    assert_eq!(says(&with_series(slow.clone(), |_| 7.0)), None, "a constant");
    assert_eq!(says(&with_series(slow.clone(), |at| noise[at])), None, "something else");
    assert_eq!(says(&with_series(slow, |at| at as f64)), None, "a counter");
    let even = run(&steady(), |_, random| good(about(20 * MS, random)));
    assert_eq!(says(&with_series(even, |at| level[at])), None, "answers take the same time");
    let short = under_level(&users(20).pause(80).seconds(25), &level);
    assert_eq!(says(&with_series(short, |at| level[at])), None, "too few seconds");
}

#[test]
fn a_series_and_response_times_that_only_follow_the_users_are_none() {
    for ramp in [60, 89] {
        let mut workers = Workers::new(4);
        let load = users(60).ramp(ramp).seconds(90);
        let record =
            run(&load, |request, random| good(workers.work(request.at, about(20 * MS, random))));
        let of_users: Vec<f64> = record.seconds.iter().map(|second| second.users as f64).collect();
        assert_eq!(says(&with_series(record, |at| of_users[at])), None, "{ramp}");
    }
}
