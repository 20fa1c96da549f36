//! Users that pause between requests, as in most plans. A ramp of such users shows the number of requests that a target
//! processes at the same time, although there are many more users than that.
mod situations;

use answers::rules;
use answers::verdict::Finding;
use record::Record;
use situations::{MS, Users, Workers, about, good, run, users};

fn limit(record: &Record) -> Option<Finding> {
    rules::verdict(record).findings.into_iter().find(|found| found.id == "concurrency_limit")
}

fn says(record: &Record, id: &str) -> bool {
    rules::verdict(record).findings.iter().any(|found| found.id == id)
}

/// Returns a run on a target with `workers` workers, each of which is busy for about `takes` ms per request.
fn answered(load: &Users, workers: usize, takes: u64) -> Record {
    let mut workers = Workers::new(workers);
    run(load, move |request, random| good(workers.work(request.at, about(takes * MS, random))))
}

/// Returns a load of users that pause for a second between requests. Their number is `factor` times the number that
/// keeps a target with `workers` workers busy.
fn pausing(workers: u64, takes: u64, factor: f64, seed: u64) -> Users {
    let full = workers as f64 / takes as f64 * (1000.0 + takes as f64);
    Users { seed, ..users((factor * full).ceil() as u64).ramp(30).seconds(75).pause(1000) }
}

#[test]
fn the_number_at_once_is_known_from_a_ramp_of_users_that_pause() {
    let (mut right, mut wrong, mut silent) = (0, Vec::new(), Vec::new());
    for workers in [1, 2, 4, 8] {
        for takes in [50, 100, 200] {
            for seed in 1..=5 {
                let record = answered(&pausing(workers, takes, 2.0, seed), workers as usize, takes);
                let what = format!("{workers} workers, {takes} ms, seed {seed}");
                let Some(found) = limit(&record) else {
                    // With one worker, users wait for each other by chance at every load but the smallest.
                    assert!(workers == 1, "{what}");
                    assert!(says(&record, "plateau"), "{what}: {:#?}", rules::verdict(&record));
                    silent.push(what);
                    continue;
                };
                let figure = found.evidence.iter().find(|one| one.metric == "concurrency");
                let interval = figure.and_then(|one| one.interval).expect("an interval");
                let (low, high) = (interval.0.floor(), interval.1.ceil());
                if low <= workers as f64 && workers as f64 <= high {
                    right += 1;
                } else {
                    wrong.push(format!("{what}: {}", found.words.en));
                }
            }
        }
    }
    println!("{right} right, {} silent", silent.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(right >= 40, "{silent:#?}");
}

#[test]
fn users_that_pause_and_do_not_fill_the_workers_show_no_limit() {
    for workers in [1, 2, 4, 8] {
        for seed in 1..=5 {
            let record = answered(&pausing(workers, 100, 0.7, seed), workers as usize, 100);
            let found = limit(&record).map(|found| found.words.en);
            assert_eq!(found, None, "{workers} workers, seed {seed}");
        }
    }
}

/// With 20 users from the start there is no light load, so the number of workers is unknown. The verdict still reports
/// that the rate stops growing.
#[test]
fn a_rate_that_does_not_grow_is_known_without_the_number() {
    for seed in 1..=5 {
        let load = Users { seed, ..users(60).ramp(40).seconds(60).pause(1000) };
        let record = answered(&Users { at_once: 20, ..load }, 2, 100);
        assert!(says(&record, "plateau") || says(&record, "concurrency_limit"), "seed {seed}");
    }
}
