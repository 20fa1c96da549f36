//! Targets that become slower by themselves while the load grows: no finding may report a limit for an effect of time.
mod situations;

use answers::rules;
use answers::verdict::Verdict;
use record::Record;
use situations::{MS, S, Users, Workers, about, good, run, users};

/// Rules that report a limit of concurrent requests, or of the rate.
const LIMITS: &[&str] = &["concurrency_limit", "plateau", "rate_limit", "constant_load"];

/// Returns loads whose ramps last for the whole run, or for a part of it.
fn loads() -> Vec<Users> {
    let mut loads = vec![
        users(20).ramp(30),
        users(20).ramp(60),
        users(20).ramp(45),
        users(20).ramp(60).pause(100),
        users(20).ramp(55).pause(100),
        users(30).ramp(60).pause(200).seconds(90),
        users(40).ramp(60).pause(300),
    ];
    loads.iter_mut().zip(1..).for_each(|(load, seed)| load.seed = seed);
    loads
}

/// Returns a run on a target that takes 100 ms at first, and becomes slower by `each_s` per second until time `until`.
fn slower(load: &Users, each_s: f64, until: u64) -> Record {
    run(load, |request, random| {
        let since = request.at.min(until) as f64 / S as f64;
        good(about((100.0 * MS as f64 * (1.0 + each_s * since)) as u64, random))
    })
}

fn limits(verdict: &Verdict) -> Vec<&'static str> {
    let found = verdict.findings.iter().map(|finding| finding.id);
    found.filter(|id| LIMITS.contains(id)).collect()
}

#[test]
fn a_target_that_gets_slower_while_users_come_has_no_limit() {
    for load in loads() {
        for (each_s, until) in [(0.05, load.length), (0.1, load.length), (0.1, load.ramp)] {
            let verdict = rules::verdict(&slower(&load, each_s, until));
            assert!(limits(&verdict).is_empty(), "{load:?} {each_s}: {:?}", verdict.findings);
        }
    }
}

#[test]
fn the_time_is_named_as_what_keeps_a_limit_from_being_told() {
    let verdict = rules::verdict(&slower(&users(20).ramp(60), 0.1, 60 * S));
    let lacks = verdict.unchecked.iter().find(|one| one.id == "concurrency_limit");
    let lacks = &lacks.expect("not checked").lacks.en;
    assert!(lacks.contains("slower with the time as well"), "{lacks}");
}

#[test]
fn workers_are_found_under_the_same_loads() {
    for load in loads() {
        let mut workers = Workers::new(4);
        let record = run(&load, move |request, random| {
            good(workers.work(request.at, about(100 * MS, random)))
        });
        let verdict = rules::verdict(&record);
        assert_eq!(limits(&verdict), ["concurrency_limit"], "{load:?}: {:?}", verdict.findings);
    }
}
