//! Limits that show only as errors: a number of requests at once beyond which the target turns requests away, and a pool that
//! gives up after a short wait. And what looks like one and is none.
mod situations;

use answers::random::Random;
use answers::rules;
use answers::verdict::Finding;
use record::Record;
use situations::{Answer, MS, Places, Users, Workers, about, bad, good, run, users};
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

/// Users that come over 40 s of 60, against so many places.
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
    // A limit of the rate, with bursts of its own.
    let mut let_through = 0;
    let rate = run(&ramp, |request, random| {
        if let_through as f64 > request.at as f64 / 1e6 * 800.0 {
            return error(2 * MS);
        }
        let_through += 1;
        good(about(40 * MS, random))
    });
    // Errors that grow with the load.
    let grows = run(&ramp, |request, random| {
        let share = (request.at as f64 / 60e6 - 0.3).max(0.0);
        if random.uniform() < share { error(2 * MS) } else { good(about(40 * MS, random)) }
    });
    // One of two instances dies while users come.
    let dies = run(&ramp, |request, random| {
        if request.at > 25_000 * MS && request.number % 2 == 0 {
            error(2 * MS)
        } else {
            good(about(40 * MS, random))
        }
    });
    // An overloaded target whose proxy gives up.
    let mut workers = Workers::new(20);
    let overload = run(&ramp, |request, random| {
        let takes = workers.work(request.at, about(40 * MS, random));
        if takes > 150 * MS {
            bad(150 * MS, Outcome::Status, "504", "Gateway Timeout")
        } else {
            good(takes)
        }
    });
    // Always as many users: below the limit nobody looked.
    let always = semaphore(&users(150), 100, || error(4 * MS));
    for (name, record) in [
        ("rate", rate),
        ("grows", grows),
        ("dies", dies),
        ("overload", overload),
        ("always", always),
    ] {
        assert_eq!(says(&record, "fails_above"), "", "{name}");
        assert_eq!(says(&record, "fixed_timeout"), "", "{name}");
    }
}

/// A pool of that many connections, of which requests wait for one for so long at most.
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
    assert!(first(&record) == said, "{}", first(&record));
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
    // A quick error of a target whose answers take longer.
    let quick = by_chance(0.05, |random| about(40 * MS, random));
    assert_eq!(says(&quick, "fixed_timeout"), "");
}

/// Rows of users that start no request after 60 s; the last of them ends after so many seconds.
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
