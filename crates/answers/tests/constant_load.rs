//! Constant loads, as most plans have them. The verdict says that a target makes users wait, and says nothing about
//! healthy targets.
// Each test binary uses only a part of the module `situations`.
mod situations;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use answers::random::Random;
use answers::rules;
use answers::verdict::Verdict;
use record::{Record, Series, Unit};
use situations::{Answer, MS, Request, S, Users, Workers, about, bad, good, run, users};
use stats::Outcome;

/// Returns a load whose users all start at the same time.
fn at_once(n: u64) -> Users {
    Users { at_once: n, ..users(n) }
}

fn spoken(record: &Record) -> (Verdict, String) {
    let verdict = rules::verdict(record);
    let said = verdict.findings.iter().find(|f| f.id == "constant_load");
    let said = said.map(|finding| finding.words.en.clone()).unwrap_or_default();
    (verdict, said)
}

fn assert_alone(record: &Record, words: &str) {
    let (verdict, said) = spoken(record);
    let ids: Vec<&str> = verdict.findings.iter().map(|f| f.id).collect();
    assert_eq!(ids, ["constant_load"], "{:?}", verdict.findings);
    assert!(said.contains(words), "{said}");
    assert!(said.contains("--ramp 30s") && said.contains("throng capacity"), "{said}");
}

/// Asserts that there is no finding and that no limit rule counts as checked.
fn assert_not_checked(record: &Record) {
    let (verdict, _) = spoken(record);
    assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    for id in ["concurrency_limit", "plateau", "rate_limit", "constant_load"] {
        assert!(!verdict.silent.contains(&id), "{id} is called checked");
        let lacks = verdict.unchecked.iter().find(|one| one.id == id).expect(id);
        assert!(lacks.lacks.en.starts_with("a light load"), "{:?}", lacks.lacks);
    }
}

fn workers(load: &Users, n: usize) -> Record {
    let mut workers = Workers::new(n);
    run(load, move |request, random| good(workers.work(request.at, about(20 * MS, random))))
}

#[test]
fn users_that_start_together_on_four_workers_wait() {
    let words = "200/s at 40 users. Most of the 200 ms is probably waiting: the first answers took";
    assert_alone(&workers(&at_once(40), 4), words);
    // JMeter's usual ramp takes one second, and a plan may have pauses.
    let short = workers(&users(40).ramp(1), 4);
    assert!(rules::verdict(&short).findings[0].words.en.contains("at 40 users"), "{short:?}");
    let thinking = workers(&at_once(60).pause(50), 4);
    assert_alone(&thinking, "probably waiting");
}

#[test]
fn a_pool_or_a_lock_behind_the_target_and_paced_answers_are_waiting_too() {
    let mut lock = Workers::new(1);
    let locked = run(&at_once(20), move |request, random| {
        let own = about(5 * MS, random);
        good(own + lock.work(request.at + own, 10 * MS))
    });
    assert_alone(&locked, "100/s at 20 users. Most of the 200 ms is probably waiting");
    let mut next = 0;
    let paced = run(&at_once(40), move |request, random| {
        next = request.at.max(next + 5 * MS);
        good(next - request.at + about(MS, random))
    });
    assert_alone(&paced, "200/s at 40 users. Most of the 20");
}

/// Returns a run with two fast labels and a third one, whose times come from `third`.
fn shop(third: impl FnMut(&Request, &mut Random) -> u64) -> Record {
    let mut third = third;
    let load = Users { labels: &["home", "cart", "pay"], ..at_once(15).seconds(30) };
    run(&load, move |request, random| {
        let is_third = request.label == 2;
        good(if is_third { third(request, random) } else { about(10 * MS, random) })
    })
}

#[test]
fn a_lock_behind_one_of_three_labels_is_named_with_the_label() {
    let mut lock = Workers::new(1);
    let record = shop(move |request, random| lock.work(request.at, about(50 * MS, random)));
    let words = "97 % of the response time passes in \"pay\". Most of its 72";
    assert_alone(&record, words);
    let mut pool = Workers::new(3);
    let record = shop(move |request, random| pool.work(request.at, about(150 * MS, random)));
    assert_alone(&record, "passes in \"pay\". Most of its 7");
    assert_alone(&record, "is probably waiting: the first answers took 1");
}

#[test]
fn a_label_that_is_slow_by_itself_beside_fast_ones_is_not_waiting() {
    assert_not_checked(&shop(|_, random| about(700 * MS, random)));
    // A long poll that ends when an event happens, and an export with a few slow requests.
    assert_not_checked(&shop(|_, random| (random.uniform() * 1_400_000.0) as u64 + MS));
    assert_not_checked(&shop(
        |_, random| {
            if random.uniform() < 0.02 { 5 * S } else { about(20 * MS, random) }
        },
    ));
    // Work that grows with the contents of each user's cart.
    let mut carts = [0; 15];
    let (_, said) = spoken(&shop(move |request, random| {
        let cart = &mut carts[request.user as usize];
        *cart = (*cart + 10 * MS).min(100 * MS);
        about(*cart, random)
    }));
    assert!(said.is_empty(), "{said}");
}

#[test]
fn healthy_targets_under_a_constant_load_get_no_sentence() {
    let healthy = |load: &Users, takes: fn(&Request, &mut Random) -> u64| {
        run(load, move |request, random| good(takes(request, random)))
    };
    assert_not_checked(&healthy(&at_once(20).pause(80), |_, random| about(20 * MS, random)));
    assert_not_checked(&healthy(&at_once(40), |_, random| about(200 * MS, random)));
    // Targets with a long tail of response times, and a target that is slow while it is cold.
    assert_not_checked(&healthy(&at_once(20), |_, random| {
        (-(random.uniform().max(1e-6)).ln() * 20_000.0) as u64 + MS
    }));
    assert_not_checked(&healthy(&at_once(20).pause(50), |request, random| {
        about(if request.at < S { 400 * MS } else { 20 * MS }, random)
    }));
}

#[test]
fn answers_that_grow_with_the_data_are_not_waiting() {
    let grows = run(&at_once(20).pause(50), |request, random| {
        good(about(5 * MS + request.at / 1000, random))
    });
    let (_, said) = spoken(&grows);
    assert!(said.is_empty(), "{said}");
}

#[test]
fn cheap_first_requests_are_no_answers_of_an_idle_target() {
    // The first request of each user is cheap, or the first rows of the data are.
    let mut seen = std::collections::BTreeSet::new();
    let of_users = run(&at_once(20), move |request, random| {
        let is_first = seen.insert(request.user);
        good(about(if is_first { 10 * MS } else { 100 * MS }, random))
    });
    assert_not_checked(&of_users);
    let of_data = run(&at_once(20), |request, random| {
        good(about(if request.number < 6 { 10 * MS } else { 100 * MS }, random))
    });
    assert_not_checked(&of_data);
}

#[test]
fn first_answers_that_are_smaller_are_other_work() {
    // A page that is empty until the users have filled it.
    let of = |bytes: u64| {
        let mut workers = Workers::new(2);
        run(&at_once(40), move |request, random| {
            let is_early = request.number < 30;
            let takes = workers.work(request.at, about(10 * MS, random));
            Answer { bytes: if is_early { bytes } else { 20_000 }, ..good(takes) }
        })
    };
    let (_, said) = spoken(&of(20_000));
    assert!(said.contains("probably waiting"), "{said}");
    let (_, said) = spoken(&of(100));
    assert!(said.is_empty(), "{said}");
}

#[test]
fn fast_failures_at_the_start_are_no_answers_of_an_idle_target() {
    let failing = run(&at_once(20), |request, random| {
        if request.at < S / 2 {
            bad(MS, Outcome::Status, "503", "Service Unavailable")
        } else {
            good(about(50 * MS, random))
        }
    });
    let (_, said) = spoken(&failing);
    assert!(said.is_empty(), "{said}");
}

#[test]
fn a_rate_of_the_plan_is_no_limit() {
    let rate = Users { rate: Some(100.0), ..at_once(20) };
    let (verdict, said) = spoken(&run(&rate, |_, random| good(about(20 * MS, random))));
    assert!(said.is_empty() && verdict.findings.is_empty(), "{:?}", verdict.findings);
}

#[test]
fn one_user_alone_shows_no_limit() {
    let verdict = rules::verdict(&run(&at_once(1), |_, random| good(about(20 * MS, random))));
    let lacks = verdict.unchecked.iter().find(|one| one.id == "concurrency_limit").expect("lacks");
    assert_eq!(lacks.lacks.en, "more than one user");
}

#[test]
fn bytes_that_stay_the_same_are_named_and_called_a_full_line_only_when_something_shows_it() {
    // Each response has 60 KB, which take time to transfer: 3 MB/s, unlike any usual line.
    let slow = |load: &Users| {
        run(load, |_, random| {
            let receive = about(390 * MS, random);
            Answer { receive, bytes: 60_000, ..good(receive + 10 * MS) }
        })
    };
    let record = slow(&at_once(20));
    assert_alone(&record, "per second that stay the same: 9");
    let (verdict, said) = spoken(&record);
    assert!(said.contains("The line may be full"), "{said}");
    assert!(verdict.unchecked.iter().any(|one| one.id == "bandwidth"));
}

#[test]
fn full_processors_of_a_watched_host_come_first() {
    let mut record = workers(&at_once(40), 4);
    record.series = vec![Series { host: "app".into(), metric: "cpu".into(), unit: Unit::Share }];
    record.seconds.iter_mut().for_each(|second| second.watched = vec![(0, 0.97)]);
    record.has.targets = true;
    let (_, said) = spoken(&record);
    let words = "200/s at 40 users, and the processors of app are full (97 %)";
    assert!(said.starts_with(words), "{said}");
}

#[test]
fn a_load_that_grew_has_been_looked_at() {
    let verdict = rules::verdict(&run(&users(20).ramp(30).pause(80), |_, random| {
        good(about(20 * MS, random))
    }));
    assert!(verdict.silent.contains(&"concurrency_limit"), "{:?}", verdict.unchecked);
    assert!(verdict.silent.contains(&"plateau"), "{:?}", verdict.unchecked);
}

/// A target with workers that all users share, and with a queue that is not fair, like an unfair lock: a worker
/// that becomes free sometimes takes the next new request instead of the one that has waited longest.
struct Unfair {
    /// Mean service time in µs.
    takes: u64,
    workers: usize,
    /// Share of the cases in which a free worker waits for a new request.
    share: f64,
    /// Largest factor of the service time. Each quarter of a second has a random factor from 1 to this one, as on a
    /// machine that is busy with other programs.
    slower: f64,
    /// Time in µs at which the target stops for a second; 0 for no stop.
    stops_at: u64,
}

impl Unfair {
    /// Returns the end of work that begins at `at` and takes `takes` µs.
    fn end(&self, at: u64, takes: u64) -> u64 {
        let (stop, done) = (self.stops_at, at + takes);
        match stop {
            0 => done,
            _ if (stop..stop + S).contains(&at) => stop + S + takes,
            _ if at < stop && done > stop => done + S,
            _ => done,
        }
    }

    /// Returns the response times of each user's requests, in order, in µs.
    fn times(&self, load: &Users) -> Vec<VecDeque<u64>> {
        let (mut random, mut busy) = (Random::new(load.seed), Random::new(load.seed + 100));
        let factors: Vec<f64> = (0..=load.length / (S / 4))
            .map(|_| 1.0 + (self.slower - 1.0) * busy.uniform())
            .collect();
        let mut times = vec![VecDeque::new(); load.users as usize];
        // Arrivals and completions of requests: time, true for a completion, user.
        let mut events: BinaryHeap<_> =
            (0..load.users).map(|user| Reverse((user * 500, false, user))).collect();
        let mut queue: VecDeque<(u64, u64)> = VecDeque::new();
        let mut free = self.workers;
        while let Some(Reverse((at, is_end, user))) = events.pop() {
            if at > load.length {
                break;
            }
            let next = if is_end {
                let first = if times[user as usize].len() == 1 { 100 } else { 0 };
                events.push(Reverse((at + first + 200, false, user)));
                free += 1;
                if random.uniform() < self.share { None } else { queue.pop_front() }
            } else if free > 0 {
                Some((user, at))
            } else {
                queue.push_back((user, at));
                None
            };
            if let Some((user, since)) = next {
                free -= 1;
                let factor = factors[(at / (S / 4)) as usize];
                let takes = (about(self.takes, &mut random) as f64 * factor) as u64;
                let done = self.end(at, takes);
                times[user as usize].push_back(done - since);
                events.push(Reverse((done, true, user)));
            }
        }
        times
    }

    fn record(&self, load: &Users) -> Record {
        let mut times = self.times(load);
        run(load, move |request, _| {
            good(times[request.user as usize].pop_front().unwrap_or(load.length))
        })
    }
}

#[test]
fn a_queue_that_is_not_fair_is_waiting_too() {
    let lock = Unfair { takes: 12 * MS, workers: 1, share: 0.15, slower: 1.0, stops_at: 0 };
    let pool = Unfair { takes: 20 * MS, workers: 4, share: 0.15, slower: 1.0, stops_at: 0 };
    for (users, target) in [(15, &lock), (40, &pool), (200, &pool)] {
        for (seed, slower) in [(1, 1.0), (2, 1.0), (3, 1.4), (4, 1.4), (5, 1.8)] {
            let load = Users { seed, ..at_once(users).seconds(20) };
            let record = Unfair { slower, ..*target }.record(&load);
            let first = rules::verdict(&record).findings.into_iter().next();
            let words = first.map(|first| first.words.en).unwrap_or_default();
            let place = format!("{users} users, {seed}, {slower}: {words}");
            assert!(words.contains(&format!("/s at {users} users. Most of the ")), "{place}");
            assert!(words.contains("is probably waiting: the first answers took "), "{place}");
            assert!(words.ends_with("or throng capacity, to see the limit."), "{place}");
        }
    }
}

#[test]
fn the_same_queue_of_a_fair_target_on_a_busy_machine_is_waiting() {
    for (seed, slower) in [(1, 1.4), (2, 1.8), (3, 2.5)] {
        for (users, workers, takes) in [(40, 4, 20 * MS), (15, 1, 12 * MS)] {
            let target = Unfair { takes, workers, share: 0.0, slower, stops_at: 0 };
            let record = target.record(&Users { seed, ..at_once(users).seconds(20) });
            let said = spoken(&record).1;
            assert!(said.contains("is probably waiting"), "{users}, {seed}, {slower}: {said}");
        }
    }
}

#[test]
fn one_stop_of_the_target_does_not_hide_a_queue_that_is_not_fair() {
    for seed in 1..=5 {
        for length in [20, 60] {
            let load = Users { seed, ..at_once(40).seconds(length) };
            let lock = Unfair {
                takes: 12 * MS,
                workers: 1,
                share: 0.15,
                slower: 1.0,
                stops_at: 12_400 * MS,
            };
            let said = spoken(&lock.record(&load)).1;
            assert!(said.contains("is probably waiting"), "{seed}, {length} s: {said}");
        }
    }
}

#[test]
fn one_stop_of_a_target_without_a_queue_is_no_queue() {
    for seed in 1..=10 {
        let load = Users { seed, ..at_once(40).seconds(40) };
        // The first requests of each user are fast.
        let record = run(&load, |request, random| {
            let since = request.at.wrapping_sub(12_400 * MS);
            let waits = S.saturating_sub(since);
            let is_fast = request.number < 120 || random.uniform() < 0.1;
            good(waits + about(if is_fast { 20 * MS } else { 220 * MS }, random))
        });
        assert_eq!(spoken(&record).1, "", "{seed}");
    }
}

#[test]
fn answers_of_two_kinds_to_users_that_do_not_wait_are_no_queue() {
    for seed in 1..=10 {
        let load = Users { seed, ..at_once(40).seconds(40) };
        // Three targets: a cache that hits 15 % of the requests by chance, one that hits every seventh request, and one
        // with exponential response times.
        let by_chance = run(&load, |_, random| {
            let is_hit = random.uniform() < 0.15;
            good(about(if is_hit { 20 * MS } else { 220 * MS }, random))
        });
        let in_turn = run(&load, |request, random| {
            good(about(if request.number % 7 == 0 { 20 * MS } else { 220 * MS }, random))
        });
        let spread = run(&load, |_, random| {
            good((-(random.uniform().max(1e-6)).ln() * 200_000.0) as u64 + 5 * MS)
        });
        for (name, record) in [("chance", by_chance), ("turn", in_turn), ("spread", spread)] {
            assert_eq!(spoken(&record).1, "", "{name}, {seed}");
        }
    }
}
