//! Rates that a plan sets, and loads that grow by other work or in steps: what is a limit of the target, and what is none.
mod situations;

use answers::rules;
use answers::verdict::{Finding, Verdict};
use record::Record;
use situations::{MS, S, Users, Workers, about, good, run, users};

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

/// As a result file knows a run.
fn file(mut record: Record) -> Record {
    record.has.load = false;
    record.has.generator = false;
    record.frame.load = record::Load::default();
    for second in &mut record.seconds {
        (second.due, second.missed, second.started) = (0, 0, 0);
    }
    record
}

/// A load whose timers ask for 20 requests a second of all users together; the target takes so long at a time.
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
    // A timer that the record does not know, such as a script.
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
            assert_eq!(lacks(&verdict, id), "the rate that was asked for", "{id}");
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
    for record in [limited(100.0), file(limited(100.0))] {
        let verdict = rules::verdict(&record);
        let found = finding(&verdict, "concurrency_limit").expect("a limit");
        assert!(found.words.en.contains("works on about 1 request at once"), "{}", found.words.en);
    }
}

/// Users that are there from the start, and others that join them.
fn joined(first: u64, later: u64, after: u64, pause: u64) -> Users {
    Users { at_once: first, alone: after * S, ramp: MS, ..users(first + later).pause(pause) }
        .seconds(2 * after)
}

#[test]
fn users_with_other_work_under_the_same_name_are_no_limit() {
    let heavy = |request: &situations::Request| if request.user < 6 { 40 * MS } else { 400 * MS };
    let load = joined(6, 6, 45, 100);
    let record = run(&load, |request, random| good(about(heavy(request), random)));
    for record in [file(record.clone()), record] {
        let verdict = rules::verdict(&record);
        assert!(limits(&verdict).is_empty(), "{:?}", verdict.findings);
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
    // The same of a rate that the plan sets.
    let verdict = rules::verdict(&file(timed(&joined(5, 15, 60, 0), |_| 40 * MS)));
    assert!(limits(&verdict).is_empty(), "{:?}", verdict.findings);
    assert_eq!(lacks(&verdict, "plateau"), "the rate that was asked for");
}

/// Stops of 300 ms every 5 s, on a machine whose processors are used to this share.
fn stops(cpu: f64) -> Verdict {
    let load = Users { at_once: 30, ..users(30).pause(30) };
    let mut record = run(&load, |request, random| {
        let since = request.at % (5 * S);
        let waits = if since < 350 * MS { 350 * MS - since } else { 0 };
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
