//! Tests the rule about stops of the whole target. Users that send in step cause gaps as well.
mod situations;

use answers::random::Random;
use answers::rules;
use record::Record;
use situations::{MS, S, Users, about, good, run, users};

fn speaks(record: &Record) -> bool {
    rules::verdict(record).findings.iter().any(|finding| finding.id == "stalls")
}

/// Returns a load whose users all send at the same moments.
fn in_step() -> Users {
    Users { at_once: 20, ..users(20).pause(160) }
}

#[test]
fn gaps_between_users_in_step_are_no_stops() {
    // Now and then, other programs on the machine delay some requests.
    let record = run(&in_step(), |request, _| {
        let is_slow = request.at / S % 6 == 5 && request.at % S < 200 * MS && request.user < 5;
        good(if is_slow { 95 * MS } else { 20 * MS })
    });
    assert!(!speaks(&record));
}

#[test]
fn stops_are_found_among_users_in_step() {
    let record = run(&in_step(), |request, _| {
        let stop = request.at / (5 * S) * (5 * S) + 2 * S;
        let is_stopped = (stop..stop + 600 * MS).contains(&request.at);
        good(if is_stopped { stop + 620 * MS - request.at } else { 20 * MS })
    });
    assert!(speaks(&record));
}

/// Returns rows of 30 users that all pause six times for a while; for some of them, a request takes as long as the
/// pause. With `in_transactions`, each request is in a separate transaction.
fn pauses(waiting: u64, in_transactions: bool) -> Record {
    const PAUSES: [u64; 6] = [5000, 9300, 15_100, 19_000, 26_200, 31_000];
    let mut rows = Vec::new();
    for user in 0..30 {
        let mut at = 3 * user;
        while at < 40_000 {
            if let Some(pause) = PAUSES.iter().find(|pause| (**pause..**pause + 450).contains(&at))
            {
                at = pause + 450 + user;
            }
            let waits =
                user < waiting && PAUSES.iter().any(|pause| (at + 1..=at + 60).contains(pause));
            let ms = if waits { 500 } else { 20 };
            rows.push((at, ms, user, "Get", "OK"));
            if in_transactions {
                let message = "Number of samples in transaction : 1, number of failing samples : 0";
                rows.push((at, ms, user, "Order", message));
            }
            at += ms + 30;
        }
    }
    rows.sort_unstable();
    let mut text = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,allThreads\n".to_owned();
    for (at, ms, user, label, message) in rows {
        let at = 1_700_000_000_000 + at;
        text += &format!("{at},{ms},{label},200,\"{message}\",Users 1-{user},true,100,30\n");
    }
    Record::of_rows(text.as_bytes()).expect("rows")
}

#[test]
fn a_transaction_is_no_request_that_waited_beside_its_own() {
    let two = [false, true].map(|in_transactions| speaks(&pauses(2, in_transactions)));
    assert_eq!(two, [false; 2], "two requests that waited");
    let four = [false, true].map(|in_transactions| speaks(&pauses(4, in_transactions)));
    assert_eq!(four, [true; 2], "four of them");
}

/// Returns the record of rows of 50 users: start and duration in ms, and the number of users that have started.
fn record_of(rows: &mut [(u64, u64, u64)]) -> Record {
    rows.sort_unstable_by_key(|(at, took, _)| at + took);
    let mut text = "timeStamp,elapsed,label,responseCode,success,allThreads\n".to_owned();
    for (at, took, users) in rows {
        text += &format!("{},{took},a,200,true,{users}\n", 1_700_000_000_000 + *at);
    }
    Record::of_rows(text.as_bytes()).expect("rows")
}

#[test]
fn users_that_send_at_the_same_moments_leave_gaps_that_are_no_stops() {
    for seed in 1..=10 {
        for spread in [0.3, 0.4, 0.6] {
            let mut random = Random::new(seed);
            let mut takes = || (250.0 * (spread * random.normal()).exp()) as u64;
            // A timer lets each user send once per second. Users start one per second, or all at once.
            let mut ramp = Vec::new();
            for user in 0..50 {
                ramp.extend((user..120).map(|s| (1000 * s, takes(), 50.min(s + 1))));
            }
            let mut at_once: Vec<_> = (0..6000).map(|n| (n / 50 * 1000, takes(), 50)).collect();
            // A Synchronizing Timer lets all users send when all of them have an answer.
            let (mut together, mut at) = (Vec::new(), 0);
            while at < 120_000 {
                let round: Vec<_> = (0..50).map(|_| (at, takes(), 50)).collect();
                at += round.iter().map(|row| row.1).max().unwrap_or(0);
                together.extend(round);
            }
            for (name, rows) in
                [("ramp", &mut ramp), ("at once", &mut at_once), ("together", &mut together)]
            {
                let mut record = record_of(rows);
                assert!(!speaks(&record), "{name} {seed} {spread}");
                record.has.generator = true;
                assert!(!speaks(&record), "{name} {seed} {spread}, in a run");
            }
        }
    }
}

/// Returns rows of users that send together, each round when all have their answers, with the times in which the target
/// is slow: its factor at a time in ms.
fn rounds(users: u64, seed: u64, factor: impl Fn(u64) -> f64) -> Record {
    let mut random = Random::new(seed);
    let (mut rows, mut at) = (Vec::new(), 0);
    while at < 120_000 {
        let slow = factor(at) * (1.0 + 0.1 * random.normal()).clamp(0.7, 1.3);
        let mut takes = || (100.0 * slow * (1.0 + 0.04 * random.normal()).max(0.5)) as u64;
        let round: Vec<_> = (0..users).map(|_| (at, takes(), users)).collect();
        at += round.iter().map(|row| row.1).max().unwrap_or(0) + 1;
        rows.extend(round);
    }
    record_of(&mut rows)
}

#[test]
fn users_in_step_leave_gaps_in_slow_times_that_are_no_stops() {
    for seed in 1..=10 {
        for users in [5, 10, 20] {
            for (every, slow) in [(10_000, 2000), (13_000, 3000), (17_000, 4000)] {
                let is_slow = |at: u64| at > 5000 && at % every < slow;
                let mut record = rounds(users, seed, |at| if is_slow(at) { 5.0 } else { 1.0 });
                assert!(!speaks(&record), "{seed} {users} {every}");
                record.has.generator = true;
                assert!(!speaks(&record), "{seed} {users} {every}, in a run");
            }
        }
    }
}

#[test]
fn stops_between_rounds_of_users_in_step_are_found() {
    for seed in 1..=10 {
        for users in [10, 20] {
            // One round waits for the end of the stop.
            let record = rounds(users, seed, |at| if at % 10_000 < 100 { 8.0 } else { 1.0 });
            assert!(speaks(&record), "{seed} {users}");
        }
    }
}

#[test]
fn a_long_stop_is_found_among_times_that_vary_widely() {
    let (stop, end) = (90 * S, 100 * S);
    for seed in 1..=5 {
        let load = Users { at_once: 20, seed, ..users(20).seconds(180) };
        let record = run(&load, |request, random| {
            let (at, takes) = (request.at, (500_000.0 * random.normal().exp()) as u64);
            good(match at {
                _ if at < stop && at + takes > stop => takes + (end - stop),
                _ if (stop..end).contains(&at) => end - at + takes,
                _ => takes,
            })
        });
        assert!(speaks(&record), "{seed}");
    }
}

#[test]
fn stops_in_each_second_are_found_among_users_that_do_not_pause() {
    for seed in 1..=5 {
        let load = Users { at_once: 20, seed, ..users(20) };
        let record = run(&load, |request, random| {
            let stop = request.at / S * S + 250 * MS;
            let takes = about(20 * MS, random);
            good(if request.at < stop { stop - request.at + takes } else { takes })
        });
        assert!(speaks(&record), "{seed}");
    }
}
