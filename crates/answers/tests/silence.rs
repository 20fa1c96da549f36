//! Periods in which a target answers nothing and later continues, and waits that resemble them.
mod situations;

use answers::rules;
use answers::verdict::Finding;
use record::Record;
use situations::{MS, S, Users, Workers, about, bad, good, run, users};
use stats::{Outcome, Phase};

fn findings(record: &Record) -> Vec<Finding> {
    rules::verdict(record).findings
}

fn said(record: &Record) -> String {
    let found = findings(record).into_iter().find(|finding| finding.id == "stalls");
    found.map(|finding| finding.words.en).unwrap_or_default()
}

/// Returns a run whose target answers nothing for `length` seconds; requests that wait longer than `limit` are given
/// up.
fn hang(load: &Users, from: u64, length: u64, limit: u64) -> Record {
    let (from, to) = (from * S, (from + length) * S);
    run(load, move |request, random| {
        let usual = about(20 * MS, random);
        let waits = if (from..to).contains(&request.at) { to - request.at } else { 0 };
        if waits + usual > limit * MS {
            let phase = Phase::Response;
            bad(limit * MS, Outcome::Timeout(phase), "Read timed out", "Read timed out")
        } else {
            good(waits + usual)
        }
    })
}

fn load() -> Users {
    users(10).pause(50).seconds(25)
}

#[test]
fn a_target_that_hangs_and_goes_on_is_named_first_with_the_time() {
    for (length, words) in [
        (3, "from 0:12 to 0:15 (about 3.0 s): 10 requests waited and were answered then."),
        (5, "from 0:12 to 0:17 (about 5.0 s): 10 requests waited and were answered then."),
        (9, "from 0:12 to 0:21 (about 9.0 s): 10 requests waited and were answered then."),
    ] {
        let record = hang(&load(), 12, length, 100_000);
        let found = findings(&record);
        let words = format!("The target answered nothing {words}");
        assert_eq!((found[0].id, &*found[0].words.en), ("stalls", &*words), "{found:?}");
    }
}

#[test]
fn requests_that_the_plan_gives_up_meanwhile_waited_as_well() {
    let record = hang(&load(), 12, 5, 1000);
    let found = findings(&record);
    let words = &found[0].words.en;
    assert!(words.starts_with("The target answered nothing from 0:12 to 0:1"), "{words}");
    assert!(words.contains("of them until the plan's time limit"), "{words}");
    let ids: Vec<&str> = found.iter().map(|finding| finding.id).collect();
    assert!(ids[1..].contains(&"errors_named"), "{ids:?}");
}

#[test]
fn a_backlog_that_is_worked_off_slowly_is_no_reason_to_be_silent() {
    let mut workers = Workers::new(2);
    let record = run(&users(30).pause(400).seconds(25), move |request, random| {
        let waits = (10 * S..15 * S).contains(&request.at).then(|| 15 * S - request.at);
        let start = request.at + waits.unwrap_or(0);
        good(start - request.at + workers.work(start, about(20 * MS, random)))
    });
    let words = said(&record);
    assert!(words.starts_with("The target answered nothing from 0:10 to 0:1"), "{words}");
}

#[test]
fn one_user_who_waits_and_a_generator_that_stood_still_are_no_hang() {
    assert_eq!(said(&hang(&users(1).seconds(25), 12, 5, 100_000)), "");
    let mut record = hang(&load(), 12, 5, 100_000);
    record.seconds[13].generator.stall = 4_000_000_000;
    assert_eq!(said(&record), "");
    let mut record = hang(&load(), 12, 5, 100_000);
    for second in &mut record.seconds[17..] {
        second.all.phases.lag = second.all.elapsed / 2;
    }
    assert_eq!(said(&record), "");
}

#[test]
fn pauses_of_users_and_answers_that_always_take_as_long_are_no_hang() {
    let in_step = Users { at_once: 20, ..users(20).pause(5000).seconds(40) };
    assert_eq!(said(&run(&in_step, |_, random| good(about(20 * MS, random)))), "");
    let polls = Users { at_once: 20, ..users(20).seconds(40) };
    assert_eq!(said(&run(&polls, |_, _| good(5 * S))), "");
}

/// Returns a run in which a share of the responses takes `slow` seconds.
fn with_slow(n: u64, share: f64, slow: u64, seed: u64) -> Record {
    let load = Users { seed, ..users(n).pause(30).seconds(90) };
    run(&load, move |_, random| {
        let is_slow = random.uniform() < share;
        good(if is_slow { slow * S } else { about(20 * MS, random) })
    })
}

#[test]
fn users_who_all_wait_for_slow_answers_by_chance_are_no_stop() {
    let mut spoke = Vec::new();
    for (n, share, slow) in [
        (10, 0.1, 5),
        (10, 0.2, 5),
        (10, 0.4, 5),
        (5, 0.2, 5),
        (20, 0.3, 5),
        (15, 0.15, 3),
        (8, 0.5, 8),
    ] {
        for seed in 1..=20 {
            let words = said(&with_slow(n, share, slow, seed));
            if !words.is_empty() {
                spoke.push(format!("{n} users, {share} of {slow} s, {seed}: {words}"));
            }
        }
    }
    assert!(spoke.is_empty(), "{} of 140: {}", spoke.len(), spoke.join("\n"));
}
