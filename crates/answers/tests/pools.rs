//! Pools that give up after a wait, and semaphores that turn requests away: which limit the verdict names.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::fmt::Write as _;

use answers::random::Random;
use answers::rules;
use answers::verdict::Finding;
use record::Record;

/// A target with a limited number of places. A request without a place fails after `wait` ms.
struct Pool {
    places: usize,
    wait: u64,
    /// Time of a request's work in ms, from its random number.
    work: fn(u64) -> u64,
    users: u64,
    ramp: u64,
    length: u64,
    /// Mean pause between two requests of a user in ms.
    pause: u64,
    code: &'static str,
    message: &'static str,
}

const POOL: Pool = Pool {
    places: 5,
    wait: 3000,
    work: |random| 100 + random % 200,
    users: 100,
    ramp: 20_000,
    length: 60_000,
    pause: 0,
    code: "500",
    message: "Internal Server Error",
};

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Ask(u64),
    GiveUp(usize),
    Done { user: u64, start: u64 },
}

impl Pool {
    /// Runs users that repeat a request, and returns the record of their rows.
    fn run(&self) -> Record {
        let mut seed = 7_u64;
        let mut random = move || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            seed >> 33
        };
        let mut events: BinaryHeap<Reverse<(u64, u64, Event)>> = BinaryHeap::new();
        for user in 0..self.users {
            events.push(Reverse((user * self.ramp / self.users, user, Event::Ask(user))));
        }
        let (mut busy, mut order) = (0, self.users);
        // Each request that waits: its user, its start, and true while it waits.
        let (mut waiting, mut queue) = (Vec::<(u64, u64, bool)>::new(), VecDeque::<usize>::new());
        let mut rows = Vec::new();
        while let Some(Reverse((now, _, event))) = events.pop() {
            let mut push = |at: u64, event: Event| {
                order += 1;
                events.push(Reverse((at, order, event)));
            };
            let ended = match event {
                Event::Ask(_) if now >= self.length => None,
                Event::Ask(user) if busy < self.places => {
                    busy += 1;
                    push(now + 3 + (self.work)(random()), Event::Done { user, start: now });
                    None
                }
                Event::Ask(user) => {
                    waiting.push((user, now, true));
                    queue.push_back(waiting.len() - 1);
                    push(now + self.wait + 3 + random() % 3, Event::GiveUp(waiting.len() - 1));
                    None
                }
                Event::GiveUp(at) => {
                    let (user, start, waits) = waiting[at];
                    waiting[at].2 = false;
                    waits.then_some((user, start, false))
                }
                Event::Done { user, start } => {
                    busy -= 1;
                    while let Some(at) = queue.pop_front() {
                        let (user, start, waits) = waiting[at];
                        if waits {
                            waiting[at].2 = false;
                            busy += 1;
                            push(now + (self.work)(random()), Event::Done { user, start });
                            break;
                        }
                    }
                    Some((user, start, true))
                }
            };
            if let Some((user, start, is_good)) = ended {
                rows.push((start, now, is_good));
                let pause = if self.pause > 0 { random() % (2 * self.pause) } else { 0 };
                push(now + 1 + pause, Event::Ask(user));
            }
        }
        self.record(&rows)
    }

    /// Returns the record of rows: start and end in ms, and true for a success.
    fn record(&self, rows: &[(u64, u64, bool)]) -> Record {
        let mut text =
            "timeStamp,elapsed,label,responseCode,responseMessage,success,allThreads\n".to_owned();
        for &(start, end, is_good) in rows {
            let users = (start * self.users / self.ramp + 1).min(self.users);
            let (code, message) = if is_good { ("200", "OK") } else { (self.code, self.message) };
            let (at, took) = (1_700_000_000_000 + start, end - start);
            let _ = writeln!(text, "{at},{took},get,{code},\"{message}\",{is_good},{users}");
        }
        Record::of_rows(text.as_bytes()).expect("rows")
    }
}

fn found(record: &Record, id: &str) -> Option<Finding> {
    rules::verdict(record).findings.into_iter().find(|finding| finding.id == id)
}

#[test]
fn a_pool_that_gives_up_after_a_long_wait_is_named() {
    for (wait, users, words) in [(1000, 40, "1.0 s"), (3000, 100, "3.0 s")] {
        for code in ["500", "503"] {
            let record = Pool { wait, users, code, ..POOL }.run();
            let said = found(&record, "fixed_timeout").map(|of| of.words.en).unwrap_or_default();
            let begin = format!("A wait of about {words} precedes the failures: ");
            assert!(said.starts_with(&begin), "{wait} {code}: {said}");
            assert!(said.contains("this is typical of a pool or a queue that gives up"), "{said}");
        }
    }
    // The message names the pool, and the load never grew.
    let message = "Timeout waiting for idle object";
    let record = Pool { ramp: 100, message, ..POOL }.run();
    assert!(found(&record, "fixed_timeout").is_some());
    // The pool of a JDBC Request belongs to the plan.
    let code = "Non HTTP response code: java.sql.SQLTransientConnectionException";
    let record = Pool { ramp: 100, code, message, ..POOL }.run();
    let said = found(&record, "fixed_timeout").map(|of| of.words.en).unwrap_or_default();
    assert!(!said.contains("a pool or a queue"), "{said}");
}

#[test]
fn a_time_limit_that_no_answer_exceeds_is_no_pool() {
    // The work itself is cut at 3 s: a proxy in front of a slow target.
    let record = Pool { code: "504", message: "Gateway Time-out", ..POOL }.run();
    let said = found(&record, "fixed_timeout").map(|of| of.words.en).unwrap_or_default();
    assert!(!said.contains("a pool or a queue"), "{said}");
}

#[test]
fn a_semaphore_of_equal_times_is_never_a_rate_limit_alone() {
    let said = |(users, ramp, pause)| {
        let (code, message) = ("503", "Service Unavailable");
        let record =
            Pool { wait: 0, work: |_| 50, users, ramp, pause, code, message, ..POOL }.run();
        found(&record, "rate_limit").map(|finding| finding.words.en)
    };
    let loads = [(30, 20_000, 100), (30, 20_000, 20), (60, 30_000, 300)];
    let said: Vec<String> = loads.into_iter().filter_map(said).collect();
    assert!(!said.is_empty());
    for words in said {
        assert!(words.contains(" requests at once (semaphore, pool, queue)"), "{words}");
    }
}

#[test]
fn failed_requests_are_no_work_of_the_target() {
    let work = |random: u64| 180 + random % 40;
    let (ramp, length) = (60_000, 120_000);
    let record = Pool { places: 2, wait: 1000, work, users: 20, ramp, length, ..POOL }.run();
    let said = found(&record, "concurrency_limit").expect("a limit").words.en;
    assert!(said.starts_with("The target works on about 2 requests at once"), "{said}");
}

#[test]
fn failures_begin_with_the_first_that_began() {
    let mut text =
        "timeStamp,elapsed,label,responseCode,responseMessage,success,allThreads\n".to_owned();
    let mut rows = Vec::new();
    for user in 0..10_u64 {
        let mut at = user * 30;
        while at < 60_000 {
            // From 20 s on requests fail, the first of them after the longest time.
            let took = if at < 20_000 { 40 } else { 9000 - 900 * ((at - 20_000) / 30 % 8) };
            rows.push((at + took, at, took, at < 20_000));
            at += took + 100;
        }
    }
    rows.sort_unstable();
    let first = rows.iter().filter(|row| !row.3).map(|row| row.1).min().expect("a failure");
    for (_, at, took, is_good) in rows {
        let code = if is_good { 200 } else { 500 };
        let _ = writeln!(text, "{},{took},get,{code},m,{is_good},10", 1_700_000_000_000 + at);
    }
    let record = Record::of_rows(text.as_bytes()).expect("rows");
    let said = found(&record, "errors_named").expect("errors").words.en;
    assert!((20_000..20_200).contains(&first) && said.contains("(since 0:20"), "{said}");
}

#[test]
fn requests_that_failed_were_in_flight_too() {
    let work = |random: u64| 120 + random % 200;
    let (ramp, length) = (90_000, 180_000);
    let pool = Pool { places: 10, wait: 1000, work, users: 120, ramp, length, pause: 100, ..POOL };
    let found = found(&pool.run(), "concurrency_limit").expect("a limit");
    let flying = found.evidence.iter().find(|one| one.metric == "in_flight").expect("in flight");
    // Of 120 users 110 wait after the ramp; the plateau begins within it.
    assert!((75.0..=112.0).contains(&flying.value), "{}", found.words.en);
}

/// Returns rows of `users` users: start and end in ms, and true for a success. `takes` returns how long a request takes
/// that starts at a time, and whether it succeeds.
fn rows(
    (users, ramp, length): (u64, u64, u64),
    mut takes: impl FnMut(u64) -> (u64, bool),
) -> Vec<(u64, u64, bool)> {
    let mut rows = Vec::new();
    for user in 0..users {
        let mut at = user * ramp / users;
        while at < length {
            let (took, is_good) = takes(at);
            rows.push((at, at + took, is_good));
            at += took + 200;
        }
    }
    rows.sort_unstable_by_key(|row| row.1);
    rows
}

#[test]
fn a_pool_that_refuses_at_once_has_no_wait() {
    for seed in 1..=5 {
        let mut random = Random::new(seed);
        let rows = rows((20, 400, 60_000), |at| {
            let is_good = at < 5000 || random.uniform() > 0.2;
            (if is_good { 20 + random.exponential(40.0) as u64 } else { 3 }, is_good)
        });
        let message = "Could not get a resource from the pool";
        let mut record = Pool { users: 20, ramp: 400, message, ..POOL }.record(&rows);
        for is_run in [false, true] {
            record.has.generator = is_run;
            let found = found(&record, "fixed_timeout").expect("the pool");
            let words = &found.words;
            assert!(words.en.starts_with("A pool had no free connection: "), "{}", words.en);
            assert!(words.en.contains("failed after 3.0 ms"), "{}", words.en);
            assert!(words.zh.starts_with("连接池没有空闲连接："), "{}", words.zh);
            assert!(found.evidence.iter().all(|one| one.value >= 0.0), "{:?}", found.evidence);
        }
    }
}

/// Returns the sentence about a pool whose failures take 3.0 s and whose fastest answers take `fastest` ms.
fn pool_beside_slow_answers(fastest: u64, message: &'static str) -> String {
    let mut random = Random::new(3);
    let rows = rows((40, 400, 120_000), |at| {
        let is_good = at < 5000 || random.uniform() > 0.2;
        let takes = if is_good {
            fastest + random.below(400) as u64
        } else {
            3000 + random.below(5) as u64
        };
        (takes, is_good)
    });
    let record = Pool { users: 40, ramp: 400, message, ..POOL }.record(&rows);
    found(&record, "fixed_timeout").expect("the pool").words.en
}

#[test]
fn a_pool_that_waits_nearly_as_long_as_answers_take_is_not_said_to_refuse() {
    // The pool itself states its wait.
    let hikari = "HikariPool-1 - Connection is not available, request timed out after 3000ms.";
    for fastest in [2800, 4000] {
        let words = pool_beside_slow_answers(fastest, hikari);
        let end = "They name a pool, which gave up after 3 000 ms, as they say.";
        assert!(words.ends_with(end), "{fastest}: {words}");
    }
    // The pool does not state a wait.
    let jedis = "Could not get a resource from the pool";
    let words = pool_beside_slow_answers(2800, jedis);
    assert!(words.ends_with("They name a pool, which waits for 3.0 s at most."), "{words}");
    let words = pool_beside_slow_answers(4000, jedis);
    assert!(words.ends_with("which waits for 3.0 s at most, or not at all."), "{words}");
    // A stated wait that the failures did not take is not believed.
    let other = "HikariPool-1 - Connection is not available, request timed out after 30000ms.";
    let words = pool_beside_slow_answers(2800, other);
    assert!(words.ends_with("They name a pool, which waits for 3.0 s at most."), "{words}");
}

#[test]
fn a_wait_that_no_answer_exceeds_may_be_a_time_limit() {
    for (seed, limit) in [(1, 300), (2, 500), (3, 500), (4, 500), (5, 800)] {
        let mut random = Random::new(seed);
        let rows = rows((40, 120_000, 120_000), |at| {
            let users = (at / 3000 + 1) as f64;
            let takes = 30.0 * (1.0 + users / 6.0) * (0.6 * random.normal()).exp();
            match takes as u64 * limit / 500 {
                ms if ms > limit => (limit + 1 + random.below(5) as u64, false),
                ms => (ms.max(1), true),
            }
        });
        let record = Pool { users: 40, ramp: 120_000, ..POOL }.record(&rows);
        let found = found(&record, "fixed_timeout").expect("a limit");
        let words = &found.words;
        assert!(words.en.contains(", or of a time limit of that length."), "{}", words.en);
        assert!(words.zh.contains("，或该时长的时间限制的特征"), "{}", words.zh);
        assert!(found.advice.en.starts_with("Look for a time limit"), "{}", found.advice.en);
    }
}
