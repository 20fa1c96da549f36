//! The number of requests that a slow target processes at the same time, estimated from few samples: a single user,
//! then many. The test counts how often the number is reported, and how often it is wrong.
// Each test binary uses only a part of the module `situations`.
mod situations;

use answers::rules;
use record::Record;
use situations::{MS, S, Users, Workers, good, run, users};

/// Returns the load of the demo: a single user, then 20 users over a ramp.
fn demo(seed: u64) -> Users {
    let mut load = users(20).ramp(5).seconds(70);
    (load.alone, load.seed) = (20 * S, seed);
    load
}

/// Returns a run against the published service, which sleeps for `nextInt(1500) % 1401 + 100` ms.
fn fitness(workers: usize, load: &Users) -> Record {
    let mut workers = Workers::new(workers);
    run(load, move |request, random| {
        let sleep = random.below(1500) % 1401 + 100;
        good(workers.work(request.at, sleep as u64 * MS))
    })
}

#[test]
fn two_workers_are_named_from_a_hundred_samples_and_seldom_another_number() {
    const RUNS: u64 = 200;
    for (workers, least) in [(2, 150), (3, 5), (4, 0)] {
        let (mut named, mut wrong, mut numbers, mut silent) = (0, 0, 0, 0);
        for seed in 0..RUNS {
            let verdict = rules::verdict(&fitness(workers, &demo(seed)));
            let found = verdict.findings.iter().find(|found| found.id == "concurrency_limit");
            let Some(found) = found else {
                silent += 1;
                continue;
            };
            let word = found.words.en.split_whitespace().nth(5).expect("the number");
            match word.parse::<usize>() {
                Ok(number) if number == workers => named += 1,
                Ok(_) => wrong += 1,
                Err(_) => numbers += 1,
            }
        }
        println!(
            "{workers} workers: named {named}, wrongly {wrong}, an interval {numbers}, silent {silent}"
        );
        assert!(named >= least && wrong <= 6, "{workers}: {named} named, {wrong} wrong");
    }
}

#[test]
fn who_is_left_at_the_end_was_not_alone() {
    let record = fitness(2, &demo(1));
    let mut drained = record.clone();
    let last = drained.seconds.len() - 8;
    for second in &mut drained.seconds[last..] {
        second.users = 1;
    }
    let said =
        |record: &Record| rules::verdict(record).findings.first().map(|f| f.words.en.clone());
    assert_eq!(said(&record), said(&drained));
}

#[test]
fn the_rate_of_a_slow_target_is_that_of_all_seconds() {
    for seed in 0..20 {
        let record = fitness(2, &demo(seed));
        let verdict = rules::verdict(&record);
        let Some(found) = verdict.findings.iter().find(|f| f.id == "concurrency_limit") else {
            continue;
        };
        let rate = found.evidence.iter().find(|e| e.metric == "rate").expect("the rate").value;
        let busy = &record.seconds[35..];
        let all = busy.iter().map(|s| s.all.count).sum::<u64>() as f64 / busy.len() as f64;
        assert!((rate / all - 1.0).abs() < 0.15, "seed {seed}: {rate} of {all}");
    }
}
