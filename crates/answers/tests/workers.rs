//! The labels that the finding about a number of concurrent requests names.
mod situations;

use answers::random::Random;
use answers::rules;
use record::Record;
use situations::{Answer, MS, Request, S, Users, Workers, about, bad, good, run, users};
use stats::Outcome;

/// Returns the finding on concurrent requests, up to "at once". The error lists all other findings and unchecked rules.
fn number(record: &Record) -> Result<String, String> {
    let verdict = rules::verdict(record);
    let found = verdict.findings.iter().find(|one| one.id == "concurrency_limit");
    let others = || format!("{:?} {:?}", verdict.findings, verdict.unchecked);
    let found = found.ok_or_else(others)?;
    Ok(found.words.en.split(" at once").next().unwrap_or_default().to_owned())
}

/// Returns the load of a shop: one user alone for 10 s, then a ramp to 20 users within 30 s.
fn shop(seed: u64) -> Users {
    let load = users(20).ramp(30).seconds(100);
    Users { labels: &["home", "cart", "pay"], alone: 10 * S, seed, ..load }
}

/// Runs the users. Counts each user only from its start on, as a real run does.
fn counted(load: &Users, target: impl FnMut(&Request, &mut Random) -> Answer) -> Record {
    let mut record = run(load, target);
    let starts = |user: u64| load.alone + (user - 1) * load.ramp / (load.users - 1);
    for (n, second) in (1u64..).zip(&mut record.seconds) {
        second.users = 1 + (1..load.users).filter(|user| starts(*user) < n * S).count() as u64;
    }
    record
}

/// Returns a run of a shop in which requests of these labels share `workers` workers.
fn limited(load: &Users, workers: usize, labels: &'static [usize], takes: [u64; 3]) -> Record {
    let mut workers = Workers::new(workers);
    counted(load, move |request, random| {
        let takes = about(takes[request.label] * MS, random);
        let is_limited = labels.contains(&request.label);
        good(if is_limited { workers.work(request.at, takes) } else { takes })
    })
}

#[test]
fn a_limit_that_two_labels_share_names_them() {
    for seed in 1..=5 {
        let record = limited(&shop(seed), 2, &[1, 2], [60, 50, 50]);
        let words = number(&record);
        let of = "The target works on about 2 requests of \"cart\" and 1 more label";
        assert_eq!(words.as_deref(), Ok(of), "{seed}");
    }
}

#[test]
fn few_workers_of_one_label_alone_are_those_of_that_label() {
    for (workers, takes) in [(1, [60, 50, 50]), (2, [20, 30, 100]), (3, [20, 30, 150])] {
        for seed in 1..=5 {
            let record = limited(&shop(seed), workers, &[2], takes);
            let noun = if workers == 1 { "request" } else { "requests" };
            let of = format!("The target works on about {workers} {noun} of \"pay\"");
            assert_eq!(number(&record), Ok(of), "{seed}");
        }
    }
}

#[test]
fn a_lock_that_all_labels_share_is_one_of_all() {
    for seed in 1..=5 {
        for takes in [[60, 50, 50], [10, 30, 90]] {
            let record = limited(&shop(seed), 1, &[0, 1, 2], takes);
            let words = number(&record);
            assert_eq!(words.as_deref(), Ok("The target works on about 1 request"), "{seed}");
        }
    }
}

#[test]
fn labels_that_never_wait_have_no_limit() {
    let silent = |record: Record| {
        let found = number(&record);
        assert!(found.is_err(), "{found:?}");
    };
    let slow = |load: &Users, takes: fn(&Request, &mut Random) -> u64| {
        silent(counted(load, |request, random| good(takes(request, random))));
    };
    for seed in 1..=5 {
        let load = shop(seed);
        // First, one label is slow without a limit. Second, there are as many workers as users.
        slow(&load, |of, random| about([20, 30, 400][of.label] * MS, random));
        silent(limited(&load, 20, &[2], [60, 50, 50]));
        // Each request holds a lock for a small part of its time.
        let mut lock = Workers::new(1);
        silent(counted(&load, move |request, random| {
            let own = about(100 * MS, random);
            good(own + lock.work(request.at + own, MS))
        }));
        // Responses of one label get slower during the run, for every user.
        slow(&load, |of, random| {
            let grown = if of.label == 2 { of.at / 400 } else { 0 };
            about(50 * MS, random) + grown
        });
    }
}

#[test]
fn requests_whose_assertions_fail_occupy_workers() {
    for seed in 1..=5 {
        let mut workers = Workers::new(4);
        let record = counted(&shop(seed), move |request, random| {
            let takes = workers.work(request.at, about(50 * MS, random));
            match request.label {
                2 => bad(takes, Outcome::Assertion, "200", "OK"),
                _ => good(takes),
            }
        });
        let of = "The target works on about 4 requests";
        assert_eq!(number(&record).as_deref(), Ok(of), "{seed}");
    }
}
