//! Rates that a plan sets, and loads that grow by other kinds of requests or in steps: tests whether the rules take
//! them for a limit of the target.
mod situations;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use answers::random::Random;
use answers::rules;
use answers::verdict::{Finding, Verdict};
use record::Record;
use situations::{MS, Request, S, Users, Workers, about, good, run, users};

const LIMITS: &[&str] = &["concurrency_limit", "plateau", "rate_limit", "constant_load"];

fn limits(verdict: &Verdict) -> Vec<&'static str> {
    let ids = verdict.findings.iter().map(|found| found.id);
    ids.filter(|id| LIMITS.contains(id)).collect()
}

fn finding<'v>(verdict: &'v Verdict, id: &str) -> Option<&'v Finding> {
    verdict.findings.iter().find(|found| found.id == id)
}

fn lacks(verdict: &Verdict, id: &str) -> String {
    let one = verdict.unchecked.iter().find(|one| one.id == id);
    one.map(|one| one.lacks.en.clone()).unwrap_or_default()
}

/// Removes the data that a result file does not contain.
fn file(mut record: Record) -> Record {
    record.has.load = false;
    record.has.generator = false;
    record.frame.load = record::Load::default();
    for second in &mut record.seconds {
        (second.due, second.missed, second.started) = (0, 0, 0);
    }
    record
}

/// Returns a run whose timers require 20 requests per second of all users together. `takes`: service time in µs at a
/// time.
fn timed(load: &Users, takes: impl Fn(u64) -> u64) -> Record {
    let load = Users { rate: Some(20.0), ..load.clone() };
    let mut record = run(&load, |request, random| good(about(takes(request.at), random)));
    (record.frame.load.open, record.frame.load.rate) = (false, Some(20.0));
    for second in &mut record.seconds {
        (second.due, second.missed, second.started) = (0, 0, 0);
    }
    record
}

fn ramp() -> Users {
    users(20).ramp(30).seconds(90)
}

fn slow_later(at: u64) -> u64 {
    if at < 45 * S { 40 * MS } else { 200 * MS }
}

#[test]
fn a_rate_of_timers_is_no_limit_of_a_target_that_gets_slower() {
    let verdict = rules::verdict(&timed(&ramp(), slow_later));
    assert!(limits(&verdict).is_empty(), "{:?}", verdict.findings);
    let step = finding(&verdict, "step_change").expect("a step");
    assert!(step.words.en.contains(", the rate stayed at 20/s."), "{}", step.words.en);
    // The record does not contain the rate of some timers, such as scripts.
    let mut record = timed(&ramp(), slow_later);
    record.frame.load.rate = None;
    let verdict = rules::verdict(&record);
    assert!(limits(&verdict).is_empty(), "{:?}", verdict.findings);
    assert!(lacks(&verdict, "concurrency_limit").starts_with("users that wait"));
}

#[test]
fn a_rate_that_is_the_same_under_any_load_is_not_judged_in_a_result_file() {
    let targets: [fn(u64) -> u64; 2] = [slow_later, |_| 40 * MS];
    for takes in targets {
        let verdict = rules::verdict(&file(timed(&ramp(), takes)));
        assert!(limits(&verdict).is_empty(), "{:?}", verdict.findings);
        for id in ["concurrency_limit", "plateau"] {
            assert_eq!(lacks(&verdict, id), "the rate that was asked for, if any", "{id}");
        }
        assert!(verdict.lacks_for_limit().is_some());
    }
}

#[test]
fn a_target_that_gives_no_more_than_timers_ask_for_has_a_limit() {
    let limited = |asked: f64| {
        let mut worker = Workers::new(1);
        let mut record = run(&ramp(), move |request, random| {
            good(worker.work(request.at, about(50 * MS, random)))
        });
        record.frame.load.rate = Some(asked);
        record
    };
    let verdict = rules::verdict(&limited(100.0));
    // Under the lightest load of a ramp, users already wait for a single worker by chance.
    let found = finding(&verdict, "plateau").unwrap_or_else(|| panic!("{verdict:#?}"));
    assert!(found.words.en.contains("does not grow beyond 20/s"), "{}", found.words.en);
    // A result file does not contain the rate that timers ask for.
    let verdict = rules::verdict(&file(limited(100.0)));
    assert_eq!(lacks(&verdict, "plateau"), "the rate that was asked for, if any");
}

#[test]
fn users_whose_requests_hang_until_the_end_do_not_pause() {
    // Of 60 users, 50 get no response: the rate of the other 10 does not grow, however many users arrive.
    let hangs = |user: u64| user >= 10;
    let mut record = run(&users(60).ramp(30).seconds(60), |request, random| {
        let takes = if hangs(request.user) { 1000 * S } else { about(40 * MS, random) };
        good(takes)
    });
    let paused = |record: &Record| {
        let verdict = rules::verdict(record);
        verdict.unchecked.iter().any(|one| one.lacks.en.contains("paused"))
    };
    // Without the requests that the end cut, the record looks like one of users that pause.
    assert!(paused(&record));
    record.seconds.last_mut().expect("seconds").all.cut = 50;
    let verdict = rules::verdict(&record);
    assert!(!paused(&record), "{:?}", verdict.unchecked);
    assert!(finding(&verdict, "constant_load").is_none(), "{:?}", verdict.findings);
}

#[test]
fn a_queue_of_many_users_is_not_called_a_pause() {
    for (count, ramp, workers, takes) in
        [(300, 60, 8, 2 * S), (100, 60, 1, S), (300, 30, 4, S), (500, 60, 10, S)]
    {
        let mut target = Workers::new(workers);
        let load = users(count).ramp(ramp).seconds(60);
        let record =
            run(&load, move |request, random| good(target.work(request.at, about(takes, random))));
        let verdict = rules::verdict(&record);
        let paused: Vec<_> =
            verdict.unchecked.iter().filter(|one| one.lacks.en.contains("paused")).collect();
        assert!(paused.is_empty(), "{count} users, ramp of {ramp} s: {paused:?}");
    }
}

#[test]
fn a_timer_of_one_sampler_does_not_set_the_rate_of_all() {
    let mut target = Workers::new(2);
    let mut record =
        run(&ramp(), move |request, random| good(target.work(request.at, about(40 * MS, random))));
    // One sampler of five has a timer of 20/s; the target allows 50/s of all samplers together.
    record.frame.load.rate = Some(20.0);
    let verdict = rules::verdict(&record);
    for id in ["concurrency_limit", "plateau", "rate_limit"] {
        let is_checked = verdict.silent.contains(&id);
        assert!(!limits(&verdict).is_empty() || !is_checked, "{id}: {verdict:#?}");
    }
}

/// Returns a load with users from the start, and others that join after a time.
fn joined(first: u64, later: u64, after: u64, pause: u64) -> Users {
    Users { at_once: first, alone: after * S, ramp: MS, ..users(first + later).pause(pause) }
        .seconds(2 * after)
}

#[test]
fn users_with_other_work_under_the_same_name_are_no_limit() {
    let heavy = |request: &Request| if request.user < 6 { 40 * MS } else { 400 * MS };
    let load = joined(6, 6, 45, 100);
    let record = run(&load, |request, random| good(about(heavy(request), random)));
    for record in [file(record.clone()), record] {
        let verdict = rules::verdict(&record);
        assert!(limits(&verdict).is_empty(), "{:?}", verdict.findings);
    }
}

#[test]
fn a_group_with_other_work_that_starts_over_a_time_is_no_limit() {
    for seed in 1..=5 {
        let load = Users { at_once: 5, alone: 30 * S, ramp: 10 * S, seed, ..users(15).pause(100) };
        let heavy = |request: &Request| if request.user < 5 { 30 * MS } else { 800 * MS };
        let record = run(&load.seconds(100), |request, random| good(about(heavy(request), random)));
        for record in [file(record.clone()), record] {
            let verdict = rules::verdict(&record);
            assert!(limits(&verdict).is_empty(), "{seed}: {:?}", verdict.findings);
        }
    }
}

#[test]
fn the_same_rate_at_each_step_of_users_is_a_limit_in_a_result_file() {
    for pause in [0, 10] {
        let mut workers = Workers::new(4);
        let record = file(run(&joined(5, 15, 60, pause), move |request, random| {
            good(workers.work(request.at, about(50 * MS, random)))
        }));
        let verdict = rules::verdict(&record);
        let found = finding(&verdict, "plateau").map(|found| &*found.words.en).unwrap_or_default();
        assert!(found.contains("from 5 to 20 users"), "{pause}: {:?}", verdict.findings);
    }
    // The plan sets the rate.
    let verdict = rules::verdict(&file(timed(&joined(5, 15, 60, 0), |_| 40 * MS)));
    assert!(limits(&verdict).is_empty(), "{:?}", verdict.findings);
    assert_eq!(lacks(&verdict, "plateau"), "the rate that was asked for, if any");
}

/// Returns the result file of users that arrive in steps of `step` users, 30 s each, and pause for `pause` ms. Four
/// workers take 50 ms per request.
fn in_steps(step: u64, steps: u64, pause: u64) -> Record {
    let (mut workers, mut random) = (Workers::new(4), Random::new(5));
    let starts = (0..step * steps).map(|user| Reverse((user / step * 30 * S + user * 300, user)));
    let mut ready: BinaryHeap<_> = starts.collect();
    let mut rows = Vec::new();
    while let Some(Reverse((at, user))) = ready.pop() {
        if at < steps * 30 * S {
            let took = workers.work(at, about(50 * MS, &mut random));
            let users = (at / (30 * S) + 1) * step;
            rows.push((at / MS, took / MS, user, users));
            ready.push(Reverse((at + took + pause.max(1) * MS, user)));
        }
    }
    let row = |(at, took, user, users): &(u64, u64, u64, u64)| {
        format!("{},{took},page,200,OK,Users 1-{user},true,500,{users}\n", 1_700_000_000_000 + at)
    };
    let head = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,allThreads\n";
    let text = head.to_owned() + &rows.iter().map(row).collect::<String>();
    Record::of_rows(text.as_bytes()).expect("rows")
}

#[test]
fn four_steps_of_users_on_few_workers_are_a_limit_in_a_result_file() {
    for (step, pause) in [(5, 0), (10, 0), (10, 100)] {
        let verdict = rules::verdict(&in_steps(step, 4, pause));
        let said = verdict.findings.iter().find(|found| LIMITS.contains(&found.id));
        let words = said.map(|found| &*found.words.en).unwrap_or_default();
        assert!(words.contains("only the response time does"), "{step}, {pause}: {verdict:?}");
    }
}

/// Returns the verdict on stops of 300 ms every 5 s, on a machine whose CPU usage is `cpu`.
fn stops(cpu: f64) -> Verdict {
    let load = Users { at_once: 30, ..users(30).pause(30) };
    let mut record = run(&load, |request, random| {
        let since = request.at % (5 * S);
        let waits = (350 * MS).saturating_sub(since);
        good(waits + about(20 * MS, random))
    });
    for second in &mut record.seconds {
        second.machine = Some(stats::machine::Machine { cpu, ..Default::default() });
    }
    rules::verdict(&record)
}

#[test]
fn short_stops_on_a_full_machine_are_not_called_checked() {
    assert!(finding(&stops(0.4), "stalls").is_some());
    let full = stops(1.0);
    assert!(finding(&full, "stalls").is_none() && !full.silent.contains(&"stalls"));
    assert!(lacks(&full, "stalls").contains("gaps of less than 400 ms may be its own"));
}

/// Returns the record of a result file of `n` users whose timer starts a request every 500 ms. Requests take about
/// `takes` ms; `spread` is the standard deviation of the logarithm of their times.
fn started_evenly(seed: u64, n: u64, takes: f64, spread: f64) -> Record {
    let mut random = Random::new(seed);
    let mut row = |at: u64| (500 * at, (takes * (spread * random.normal()).exp()) as u64, at % n);
    let mut rows: Vec<(u64, u64, u64)> = (0..600).map(&mut row).collect();
    rows.sort_unstable_by_key(|(at, took, _)| at + took);
    let mut text =
        "timeStamp,elapsed,label,responseCode,threadName,success,allThreads\n".to_owned();
    for (at, took, user) in rows {
        let at = 1_700_000_000_000 + at;
        text += &format!("{at},{took},a,200,Users 1-{user},true,{n}\n");
    }
    Record::of_rows(text.as_bytes()).expect("rows")
}

#[test]
fn even_starts_of_a_timer_are_no_single_worker() {
    for seed in 1..=5 {
        for (n, takes, spread) in [(10, 1500.0, 0.1), (20, 3000.0, 0.1), (10, 4000.0, 0.03)] {
            let record = started_evenly(seed, n, takes, spread);
            let verdict = rules::verdict(&record);
            assert!(limits(&verdict).is_empty(), "{seed} {n}: {:?}", verdict.findings);
            assert!(!lacks(&verdict, "concurrency_limit").is_empty(), "{seed} {n}");
        }
        // Here all users wait for a single worker.
        let mut worker = Workers::new(1);
        let load = Users { at_once: 10, seed, ..users(10).seconds(300) };
        let record =
            run(&load, |request, random| good(worker.work(request.at, about(500 * MS, random))));
        let verdict = rules::verdict(&record);
        let found = finding(&verdict, "concurrency_limit").expect("a single worker");
        assert!(found.words.en.starts_with("The target works on about 1 request at once"));
    }
}

#[test]
fn a_limit_of_the_rate_that_delays_requests_is_named_beside_the_number_at_once() {
    const OR: &str = " A limit of the rate that delays requests to 100/s";
    let words = |record: &Record| {
        let verdict = rules::verdict(record);
        let found = finding(&verdict, "concurrency_limit").map(|found| found.words.clone());
        found.unwrap_or_else(|| panic!("{:?}", verdict.findings))
    };
    for seed in 1..=5 {
        let load = Users { seed, ..users(40).ramp(60).seconds(120).pause(50) };
        let mut free = 0;
        let said = words(&run(&load, |request, random| {
            let start = request.at.max(free);
            free = start + 10 * MS;
            good(start - request.at + about(20 * MS, random))
        }));
        assert!(said.en.contains(OR), "{}", said.en);
        assert!(said.zh.contains("把请求延迟到 100/s 的限流"), "{}", said.zh);
        // Times of four workers vary.
        let mut workers = Workers::new(4);
        let said = words(&run(&load, |request, random| {
            let takes = 1000.0 * random.exponential(40.0);
            good(workers.work(request.at, takes as u64))
        }));
        assert!(!said.en.contains("limit of the rate"), "{}", said.en);
    }
}
