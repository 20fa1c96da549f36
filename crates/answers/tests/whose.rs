//! Failures that look like a limit, but have another cause: threads that always fail, an event, a periodic job, or
//! errors that grow with the load.
mod situations;

use answers::random::Random;
use answers::rules;
use answers::verdict::{Verdict, Words};
use record::Record;
use situations::{Answer, MS, Places, Request, S, Users, about, bad, good, run, users};
use stats::Outcome;

const LIMITS: [&str; 4] = ["rate_limit", "fails_above", "reset_under_load", "circuit_breaker"];

fn error(takes: u64) -> Answer {
    bad(takes, Outcome::Status, "500", "Internal Server Error")
}

fn reset(takes: u64) -> Answer {
    bad(takes, Outcome::Reset, "Non HTTP response code", "Connection reset")
}

fn says(verdict: &Verdict, id: &str) -> String {
    let found = verdict.findings.iter().find(|finding| finding.id == id);
    found.map(|finding| finding.words.en.clone()).unwrap_or_default()
}

fn limits(verdict: &Verdict) -> Vec<String> {
    LIMITS.iter().map(|id| says(verdict, id)).filter(|words| !words.is_empty()).collect()
}

/// Removes the names of threads from a record: a run of Throng does not record them, unlike a result file.
fn unnamed(mut record: Record) -> Record {
    record.threads.clear();
    record
}

/// Returns a run in which all users from number `good_users` on always get `answer`.
fn with_bad_users(load: &Users, good_users: u64, answer: impl Fn() -> Answer) -> Record {
    run(
        load,
        move |request, random| {
            if request.user >= good_users { answer() } else { good(about(50 * MS, random)) }
        },
    )
}

#[test]
fn users_that_always_fail_are_no_limit_and_are_named() {
    let forbidden = || bad(5 * MS, Outcome::Status, "403", "Forbidden");
    for pause in [0, 100, 500] {
        let load = users(30).ramp(60).seconds(90).pause(pause);
        for answer in [&forbidden as &dyn Fn() -> Answer, &|| error(5 * MS), &|| reset(3 * MS)] {
            let record = with_bad_users(&load, 20, answer);
            let verdict = rules::verdict(&record);
            assert_eq!(limits(&verdict), [""; 0], "{pause}");
            let words = says(&verdict, "errors_named");
            let whose = "10 of 30 threads (Users 1-21 to Users 1-30) have all of these failures: \
                         each of their requests fails, and hardly any of the others.";
            assert!(words.ends_with(whose), "{words}");
            // Without names of threads, each finding about a limit mentions users that always fail.
            let verdict = rules::verdict(&unnamed(record));
            for words in limits(&verdict) {
                assert!(words.contains("Users that always fail"), "{pause}: {words}");
            }
            assert!(!says(&verdict, "errors_named").contains("threads"));
        }
        let record = unnamed(with_bad_users(&load, 20, forbidden));
        assert_eq!(limits(&rules::verdict(&record)), [""; 0], "{pause}: 403 is no limiter's word");
    }
}

#[test]
fn a_limit_that_all_users_meet_names_no_threads() {
    let mut places = Places::new(50);
    let record = run(&users(100).ramp(40), move |request, random| {
        let takes = about(40 * MS, random);
        if places.take(request.at, takes) { good(takes) } else { error(4 * MS) }
    });
    let verdict = rules::verdict(&record);
    let words = says(&verdict, "fails_above");
    assert!(words.contains("a limit of 50") && !words.contains("always fail"), "{words}");
    assert!(!says(&verdict, "errors_named").contains("threads"));
    let words = says(&rules::verdict(&unnamed(record)), "fails_above");
    assert!(words.contains("a limit of 50") && words.contains("Users that always fail"), "{words}");
}

#[test]
fn a_group_that_always_fails_is_named() {
    let mut record = with_bad_users(&users(20).ramp(40).pause(100), 10, || error(6 * MS));
    for sum in &mut record.threads {
        let number: u64 = sum.thread.rsplit_once('-').expect("a number").1.parse().expect("one");
        if number > 10 {
            sum.thread = format!("Admins 2-{}", number - 10).into();
        }
    }
    let verdict = rules::verdict(&record);
    assert_eq!(limits(&verdict), [""; 0]);
    let words = says(&verdict, "errors_named");
    assert!(words.contains("10 of 20 threads (all of group \"Admins 2\") have all"), "{words}");
}

/// Returns a run of 90 s in which `n` users start within a minute. Above `from` users, the failed share of requests
/// grows with the number of users. `fast`: failures are faster than successful responses.
fn growing(seed: u64, (n, from, slope): (u64, f64, f64), fast: bool) -> Record {
    let mut load = users(n).ramp(60).seconds(90).pause(100);
    load.seed = seed;
    run(&load, move |request, random| {
        let active = (request.at as f64 / 60e6).min(1.0) * n as f64;
        let takes = about(50 * MS, random);
        if random.uniform() < ((active - from) / slope).max(0.0) {
            error(if fast { 4 * MS } else { takes })
        } else {
            good(takes)
        }
    })
}

#[test]
fn errors_that_grow_with_the_load_are_no_limit() {
    let shares = [
        (30, 10.0, 60.0),
        (30, 10.0, 30.0),
        (30, 5.0, 100.0),
        (30, 20.0, 40.0),
        (30, 20.0, 20.0),
        (40, 20.0, 35.0),
        (100, 20.0, 200.0),
        (100, 50.0, 90.0),
        (100, 60.0, 70.0),
    ];
    for seed in 1..=3 {
        for share in shares {
            for fast in [false, true] {
                let verdict = rules::verdict(&growing(seed, share, fast));
                assert_eq!(limits(&verdict), [""; 0], "{seed} {share:?} {fast}");
                let words = says(&verdict, "errors_named");
                assert!(words.contains("(since 0:"), "{seed} {share:?} {fast}: {words}");
            }
        }
    }
}

#[test]
fn resets_that_begin_while_users_come_are_not_those_of_a_number_of_users() {
    let from = |at: u64| {
        move |request: &Request, random: &mut Random| {
            if request.at > at * S && random.uniform() < 0.05 {
                reset(30 * MS)
            } else {
                good(about(30 * MS, random))
            }
        }
    };
    let load = users(50).ramp(60).seconds(90).pause(300);
    let verdict = rules::verdict(&run(&load, from(35)));
    assert_eq!(limits(&verdict), [""; 0]);
    assert!(verdict.unchecked.iter().any(|one| one.id == "reset_under_load"));
    // Here the share of resets grows with the number of users.
    let record = run(&load, |request, random| {
        let active = (request.at as f64 / 60e6).min(1.0) * 50.0;
        if random.uniform() < (active - 30.0) / active { reset(MS) } else { good(30 * MS) }
    });
    let words = says(&rules::verdict(&record), "reset_under_load");
    assert!(words.starts_with("From about 3") && words.contains("users on"), "{words}");
}

/// Returns a run in which all requests get `answer` for two seconds, every 15 s. `slow_before`: responses are slow in
/// the three seconds before.
fn every_15_s(answer: impl Fn() -> Answer, slow_before: bool) -> Record {
    run(&users(10).pause(100).seconds(90), move |request, random| match request.at % (15 * S) {
        at if request.at > 15 * S && at < 2 * S => answer(),
        at if slow_before && at > 12 * S => good(about(150 * MS, random)),
        _ => good(about(30 * MS, random)),
    })
}

#[test]
fn failures_at_even_intervals_are_those_of_a_job() {
    let verdict = rules::verdict(&every_15_s(|| error(5 * MS), false));
    assert_eq!(limits(&verdict), [""; 0]);
    let words = says(&verdict, "errors_named");
    assert!(words.contains("(every 15 s for about 2."), "{words}");
    assert!(words.contains(", 5 times from 0:15 on, with 10 users)"), "{words}");
}

#[test]
fn a_breaker_is_told_by_its_code_its_message_or_slow_answers() {
    let shed = || bad(5 * MS, Outcome::Status, "503", "Service Unavailable");
    let named = || bad(5 * MS, Outcome::Status, "500", "CircuitBreaker 'stock' is OPEN");
    for record in
        [every_15_s(shed, false), every_15_s(named, false), every_15_s(|| error(5 * MS), true)]
    {
        let words = says(&rules::verdict(&record), "circuit_breaker");
        assert!(words.contains("They begin every 15 s, as those of a job would."), "{words}");
    }
}

#[test]
fn a_breaker_that_is_open_at_the_end_is_counted() {
    for seed in 1..=3 {
        let load = Users { seed, ..users(10).pause(100).seconds(120) };
        let verdict =
            rules::verdict(&run(&load, |request, random| match request.at / (10 * S) % 3 {
                2 => bad(2 * MS, Outcome::Status, "503", "Service Unavailable"),
                _ => good(about(50 * MS, random)),
            }));
        let words = says(&verdict, "circuit_breaker");
        assert!(words.starts_with("Failures come in 4 bursts of about 10"), "{words}");
        assert!(says(&verdict, "errors_named").contains("4 times"), "{:?}", verdict.findings);
    }
}

#[test]
fn threads_that_always_fail_after_the_same_time_are_no_time_limit() {
    for seed in 1..=3 {
        // A ramp in which the threads that fail come last, and no ramp.
        for load in [users(20).ramp(60).seconds(90), Users { at_once: 20, ..users(20) }] {
            for failed in [300, 3000] {
                let load = Users { seed, ..load.clone().pause(200) };
                let record = run(&load, |request, random| match request.user {
                    15.. => error(failed * MS + (50_000.0 * random.uniform()) as u64),
                    _ => good(about(50 * MS, random)),
                });
                let verdict = rules::verdict(&record);
                assert_eq!(says(&verdict, "fixed_timeout"), "", "{seed} {failed}");
                assert!(says(&verdict, "errors_named").contains("5 of 20 threads"), "{seed}");
            }
        }
    }
}

#[test]
fn fast_failures_are_no_faster_answers() {
    let half = |failed: u64| {
        run(&users(10).ramp(10).pause(100).seconds(90), move |request, random| {
            if request.at > 40 * S && request.number % 2 == 0 {
                bad(failed, Outcome::Status, "502", "Bad Gateway")
            } else {
                good(about(30 * MS, random))
            }
        })
    };
    for failed in [2 * MS, 400 * MS] {
        let verdict = rules::verdict(&half(failed));
        for id in ["step_change", "drift", "warmup_unfinished", "slow_phase"] {
            assert_eq!(says(&verdict, id), "", "{failed}");
        }
        assert!(says(&verdict, "errors_named").contains("(since 0:40, with 10 users)"));
    }
}

#[test]
fn a_time_in_which_each_request_fails_is_told() {
    let denied = || bad(20 * MS, Outcome::Status, "401", "Unauthorized");
    let record = |fails: fn(&Request) -> bool| {
        let load = Users { labels: &["a", "b"], ..users(8).pause(50) };
        run(
            &load,
            move |request, random| {
                if fails(request) { denied() } else { good(about(20 * MS, random)) }
            },
        )
    };
    let words = |fails| says(&rules::verdict(&record(fails)), "errors_named");
    let said = words(|request| request.at >= 40 * S);
    assert!(said.contains(" requests failed (33 %): every request from 0:40 on. The"), "{said}");
    let said = words(|request| request.at >= 40 * S && request.label == 1);
    assert!(said.contains("% of all): each one from 0:40 on. The"), "{said}");
    let said = words(|request| (20 * S..30 * S).contains(&request.at));
    assert!(said.contains(": every request from 0:20 until 0:30. The"), "{said}");
    let said = words(|request| request.at >= 40 * S && request.number % 20 > 0);
    assert!(said.contains("failed") && !said.contains("every request"), "{said}");
}

/// Returns the finding on errors for a result file of 40 threads that send one request per second each. `name`: returns
/// the name of a thread. `fails`: selects the threads with failing requests.
fn rows(name: impl Fn(u64) -> String, fails: impl Fn(u64) -> bool) -> Words {
    let head =
        "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,allThreads\n";
    let row = |n: u64| {
        let (thread, at) = (n % 40, 1_700_000_000_000 + n * 25);
        let code = if fails(thread) { 403 } else { 200 };
        format!("{at},10,a,{code},m,{},{},40\n", name(thread), code == 200)
    };
    let rows: String = (0..2000).map(row).collect();
    let record = Record::of_rows((head.to_owned() + &rows).as_bytes()).expect("rows");
    let found = rules::verdict(&record).findings.into_iter().find(|one| one.id == "errors_named");
    found.expect("errors").words
}

fn numbered(thread: u64) -> String {
    format!("Users 1-{}", thread + 1)
}

#[test]
fn a_result_file_says_which_threads_fail() {
    let rows = |name: fn(u64) -> String, fails: fn(u64) -> bool| rows(name, fails).en;
    let words = rows(numbered, |thread| thread == 7);
    assert!(words.contains("1 of 40 threads (Users 1-8) has all of these failures"), "{words}");
    let words = rows(numbered, |thread| (8..12).contains(&thread) || thread == 1);
    assert!(words.contains("5 of 40 threads (Users 1-2, Users 1-9 to Users 1-12) have"), "{words}");
    let words = rows(numbered, |thread| thread % 2 == 0);
    assert!(words.contains("20 of 40 threads (Users 1-1, Users 1-3, Users 1-5 …) have"), "{words}");
    // All threads fail; some rows have no thread name; all threads have the same name.
    for words in [
        rows(numbered, |_| true),
        rows(|thread| if thread == 3 { String::new() } else { numbered(thread) }, |n| n == 7),
        rows(|_| "main".into(), |thread| thread == 7),
    ] {
        assert!(words.contains("failed") && !words.contains("threads ("), "{words}");
    }
}

#[test]
fn threads_and_a_single_cause_are_named_in_chinese_words() {
    let fails = |thread| (8..12).contains(&thread) || thread == 1;
    let words = rows(numbered, fails).zh;
    assert!(words.contains("（Users 1-2、Users 1-9 至 Users 1-12）"), "{words}");
    assert!(words.contains("。原因，250 次：") && !words.contains("最常见"), "{words}");
}
