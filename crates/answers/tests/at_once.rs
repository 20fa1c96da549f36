//! Limits that show only as errors: a number of concurrent requests beyond which the target refuses requests, and a
//! pool that gives up after a short wait. Also cases that only look like such a limit.
mod situations;

use answers::random::Random;
use answers::rules;
use answers::verdict::Finding;
use record::Record;
use situations::{Answer, MS, Places, S, Users, Workers, about, bad, good, run, users};
use stats::Outcome;

fn finding(record: &Record, id: &str) -> Option<Finding> {
    rules::verdict(record).findings.into_iter().find(|finding| finding.id == id)
}

fn first(record: &Record) -> String {
    rules::verdict(record).findings.first().map(|found| found.words.en.clone()).unwrap_or_default()
}

fn error(takes: u64) -> Answer {
    bad(takes, Outcome::Status, "500", "Internal Server Error")
}

/// Returns a run against a target with `places` places; the users of the ramp arrive over 40 of 60 s.
fn semaphore(load: &Users, places: usize, refused: impl Fn() -> Answer) -> Record {
    let mut places = Places::new(places);
    run(load, move |request, random| {
        let takes = about(40 * MS, random);
        if places.take(request.at, takes) { good(takes) } else { refused() }
    })
}

fn number_of(record: &Record, id: &str, metric: &str) -> (f64, (f64, f64)) {
    let found = finding(record, id).expect(id);
    let piece = found.evidence.iter().find(|one| one.metric == metric).expect(metric);
    (piece.value, piece.interval.expect("an interval"))
}

#[test]
fn a_semaphore_is_found_from_statuses_and_from_resets() {
    let load = users(200).ramp(40);
    let statuses = semaphore(&load, 100, || error(4 * MS));
    let resets = semaphore(&load, 100, || {
        bad(
            4 * MS,
            Outcome::Reset,
            "Non HTTP response code: java.net.SocketException",
            "Connection reset",
        )
    });
    for record in [statuses, resets] {
        let said = first(&record);
        assert!(said.starts_with("Errors begin above about 100 requests in flight ("), "{said}");
        assert!(said.contains("a limit of 100 (semaphore, pool, queue)"), "{said}");
        let (_, (low, high)) = number_of(&record, "fails_above", "limit");
        assert!(low <= 100.0 && 100.0 <= high && high - low < 20.0, "{low} {high}");
        let advice = finding(&record, "fails_above").expect("found").advice.en;
        assert!(advice.contains("Zuul"), "{advice}");
    }
}

#[test]
fn a_semaphore_is_found_behind_users_that_pause() {
    let record = semaphore(&users(400).ramp(50).pause(100), 50, || error(2 * MS));
    let said = first(&record);
    assert!(said.starts_with("Errors begin above about 50 requests in flight ("), "{said}");
}

#[test]
fn a_full_queue_is_a_limit_of_all_that_wait() {
    let (mut workers, mut places) = (Workers::new(8), Places::new(40));
    let record = run(&users(90).ramp(45), move |request, random| {
        let waits = workers.queue(request.at);
        let takes = about(20 * MS, random);
        if places.take(request.at, waits + takes) {
            good(workers.work(request.at, takes))
        } else {
            bad(2 * MS, Outcome::Status, "503", "Service Unavailable")
        }
    });
    let (k, _) = number_of(&record, "fails_above", "limit");
    assert!((k - 40.0).abs() < 4.0, "{k}");
}

fn says(record: &Record, id: &str) -> String {
    finding(record, id).map(|found| found.words.en).unwrap_or_default()
}

#[test]
fn other_errors_under_load_are_no_limit_at_once() {
    let ramp = users(120).ramp(40);
    // A rate limit that allows bursts.
    let mut let_through = 0;
    let rate = run(&ramp, |request, random| {
        if let_through as f64 > request.at as f64 / 1e6 * 800.0 {
            return error(2 * MS);
        }
        let_through += 1;
        good(about(40 * MS, random))
    });
    // Errors that become more frequent with the load.
    let grows = run(&ramp, |request, random| {
        let share = (request.at as f64 / 60e6 - 0.3).max(0.0);
        if random.uniform() < share { error(2 * MS) } else { good(about(40 * MS, random)) }
    });
    // One of two instances dies while users arrive.
    let dies = run(&ramp, |request, random| {
        if request.at > 25_000 * MS && request.number % 2 == 0 {
            error(2 * MS)
        } else {
            good(about(40 * MS, random))
        }
    });
    // An overloaded target whose proxy has a time limit.
    let mut workers = Workers::new(20);
    let overload = run(&ramp, |request, random| {
        let takes = workers.work(request.at, about(40 * MS, random));
        if takes > 150 * MS {
            bad(150 * MS, Outcome::Status, "504", "Gateway Timeout")
        } else {
            good(takes)
        }
    });
    // Requests that fail by chance, under a constant number of users.
    let chance = run(&users(400).pause(100), |_, random| {
        if random.uniform() < 0.3 { error(2 * MS) } else { good(about(60 * MS, random)) }
    });
    // One of two instances is dead from the start, and requests alternate between both.
    let dead = run(&users(400).pause(100), |request, random| {
        if request.number % 2 == 0 { error(2 * MS) } else { good(about(60 * MS, random)) }
    });
    for (name, record) in [
        ("dead", dead),
        ("rate", rate),
        ("grows", grows),
        ("dies", dies),
        ("overload", overload),
        ("chance", chance),
    ] {
        assert_eq!(says(&record, "fails_above"), "", "{name}");
        assert_eq!(says(&record, "fixed_timeout"), "", "{name}");
    }
}

#[test]
fn a_semaphore_is_found_as_jmeters_users_come() {
    // All users start within 10 of 60 s, so the load is below the limit for a short time only.
    let record = semaphore(&users(500).ramp(10).pause(100), 100, || error(2 * MS));
    let said = first(&record);
    assert!(said.starts_with("Errors begin above about 100 requests in flight ("), "{said}");
    assert!(said.contains("a limit of 100 (semaphore, pool, queue)"), "{said}");
}

#[test]
fn a_semaphore_is_found_under_a_load_that_is_always_above_it() {
    let record = semaphore(&users(400).pause(100), 100, || error(2 * MS));
    let said = first(&record);
    assert!(said.starts_with("About 100 requests at once ("), "{said}");
    assert!(said.contains("are answered, and what is beyond fails: a limit of 100"), "{said}");
    let (_, (low, high)) = number_of(&record, "fails_above", "limit");
    assert!(low <= 100.0 && 100.0 <= high && high - low < 20.0, "{low} {high}");
}

#[test]
fn failures_that_take_a_while_do_not_make_the_limit_smaller() {
    let mut places = Places::new(100);
    let record = run(&users(200).ramp(40), move |request, random| {
        let takes = about(80 * MS, random);
        if places.take(request.at, takes) {
            good(takes)
        } else {
            error(20 * MS + (40_000.0 * random.uniform()) as u64)
        }
    });
    let said = first(&record);
    assert!(said.starts_with("Errors begin above about 100 requests in flight ("), "{said}");
}

#[test]
fn a_pool_that_gives_up_after_most_of_the_time_of_an_answer_is_no_limit_at_once() {
    let record = pool(&users(60).ramp(40), 10, 5 * MS);
    assert_eq!(says(&record, "fails_above"), "");
    let said = says(&record, "fixed_timeout");
    assert!(said.starts_with("A wait of about 5.0 ms precedes the failures"), "{said}");
}

/// Returns a run against a pool of `size` connections; a request waits for a connection for at most `wait`.
fn pool(load: &Users, size: usize, wait: u64) -> Record {
    let mut pool = Workers::new(size);
    run(load, move |request, random| {
        let work = about(4 * MS, random);
        if pool.queue(request.at) > wait {
            error(wait + 300 + (200.0 * random.uniform()) as u64)
        } else {
            good(pool.work(request.at, work))
        }
    })
}

#[test]
fn a_pool_that_fails_fast_is_known_by_its_wait() {
    let record = pool(&users(60).ramp(50).pause(10), 8, 8 * MS);
    let said = says(&record, "fixed_timeout");
    assert!(said.starts_with("A wait of about 8.0 ms precedes the failures"), "{said}");
    assert!(first(&record) == said && !said.contains("time limit"), "{}", first(&record));
    let (_, (low, high)) = number_of(&record, "fixed_timeout", "wait");
    assert!(low <= 8.0 && 8.0 <= high, "{low} {high}");
}

#[test]
fn failures_of_one_length_are_no_wait_where_the_load_does_not_matter() {
    let by_chance = |share: f64, takes: fn(&mut Random) -> u64| {
        run(&users(60).ramp(50).pause(10), move |_, random| {
            if random.uniform() < share { error(8 * MS) } else { good(takes(random)) }
        })
    };
    let even = by_chance(0.02, |random| (2.0 + 20.0 * random.uniform()) as u64 * MS);
    assert_eq!(says(&even, "fixed_timeout"), "");
    // A fast error of a target whose responses take longer.
    let quick = by_chance(0.05, |random| about(40 * MS, random));
    assert_eq!(says(&quick, "fixed_timeout"), "");
}

#[test]
fn a_pool_that_fails_fast_is_known_under_a_load_that_does_not_change() {
    let mut record = pool(&users(60).pause(10), 8, 8 * MS);
    let said = says(&record, "fixed_timeout");
    assert!(said.starts_with("A wait of about 8.0 ms precedes the failures"), "{said}");
    // Times of a result file are whole milliseconds.
    record.has.generator = false;
    let said = says(&record, "fixed_timeout");
    assert!(said.contains(" to 8 ms precedes the failures"), "{said}");
}

#[test]
fn failures_of_one_length_that_begin_at_some_moment_are_no_wait() {
    // A deployment after 30 s, while users arrive: from then on the same share fails under any load.
    for ramp in [50, 20] {
        let record = run(&users(60).ramp(ramp).pause(10), |request, random| {
            let fails = request.at > 30_000 * MS && random.uniform() < 0.3;
            let takes = (2.0 + 20.0 * random.uniform()) as u64 * MS;
            if fails { error(10 * MS) } else { good(takes) }
        });
        assert_eq!(says(&record, "fixed_timeout"), "", "{ramp}");
        assert_eq!(says(&record, "fails_above"), "", "{ramp}");
    }
}

/// Returns a run of 300 users that arrive within 10 s at a service which processes two requests at the same time.
fn filling_queue(seed: u64, slower_from_s: u64) -> Record {
    let mut workers = Workers::new(2);
    let load = Users { seed, ..users(300).ramp(10).seconds(300) };
    run(&load, move |request, random| {
        let factor = if request.at > slower_from_s * S { 3 } else { 1 };
        let work = (20.0 + 260.0 * random.uniform()) as u64 * factor * MS;
        good(workers.work(request.at, work))
    })
}

#[test]
fn a_queue_that_fills_is_no_change_of_the_target() {
    for seed in 1..=5 {
        let record = filling_queue(seed, 1000);
        for id in ["step_change", "drift", "slow_phase", "warmup_unfinished"] {
            assert_eq!(says(&record, id), "", "{seed}");
        }
    }
    let said = says(&filling_queue(1, 150), "step_change");
    assert!(said.starts_with("Response times changed at about "), "{said}");
}

/// Returns a run whose users send no request after 60 s; the last request ends `over` seconds later.
fn outlasting(over: u64) -> Record {
    let mut record = run(&users(20).ramp(5).pause(80), |_, random| good(about(20 * MS, random)));
    let last = record.seconds.last().expect("seconds").clone();
    for n in 1..=over {
        let mut second = record::Second {
            at_ms: last.at_ms + 1000 * n as i64,
            ms: 1000,
            ..record::Second::default()
        };
        if n == over {
            second.all.count = 1;
            second.all.longest = (over + 10) * 1_000_000_000;
        }
        record.seconds.push(second);
    }
    record
}

#[test]
fn a_run_that_outlasts_its_schedule_has_a_figure() {
    let said = says(&outlasting(50), "cut_by_end");
    assert!(
        said.starts_with("The run went on for 50 s after its planned end at 1:00: 1 request"),
        "{said}"
    );
    assert!(said.ends_with("the longest took 60 s."), "{said}");
    assert_eq!(says(&outlasting(2), "cut_by_end"), "");
}
