//! Requests without a response: until the end of the run, for some seconds, or at a stop of the run.
mod situations;

use answers::rules;
use answers::verdict::Finding;
use record::{Change, Ending, Label, Mark, Record};
use situations::{MS, S, START, Users, Workers, bad, good, run, users};
use stats::{Outcome, Phase};

fn findings(record: &Record) -> Vec<Finding> {
    rules::verdict(record).findings
}

fn said(record: &Record, id: &str) -> String {
    let found = findings(record).into_iter().find(|finding| finding.id == id);
    found.map(|finding| finding.words.en).unwrap_or_default()
}

/// Returns a run without responses between two seconds; the plan's time limit is `limit` ms.
fn without_answer(from: u64, to: u64, limit: u64) -> Record {
    run(&users(10).pause(50).seconds(20), move |request, _| {
        if (from * S..to * S).contains(&request.at) {
            bad(limit * MS, Outcome::Timeout(Phase::Response), "Read timed out", "Read timed out")
        } else {
            good(20 * MS)
        }
    })
}

/// Returns a run without responses from second `from` on; it is stopped at second `stop`, and its end cuts the
/// requests.
fn cut_at_end(from: u64, stop: i64) -> Record {
    let mut record = without_answer(from, 20, 100_000);
    record.seconds[19].all.cut = 10;
    let all = record.seconds[19].all.clone();
    record.seconds[19].labels = vec![(0, all)].into();
    record.frame.ending = Ending::Interrupted;
    let change = Change::Stop { at_once: false };
    record.marks = vec![Mark { at_ms: START + 1000 * stop, change }];
    record
}

/// Adds a second label with the metrics of `of`.
fn beside(mut record: Record, of: &Record) -> Record {
    record.labels.push(Label { name: "other".into(), transaction: false, folded: 0 });
    for (second, other) in record.seconds.iter_mut().zip(&of.seconds) {
        let labels = vec![(0, second.all.clone()), (1, other.all.clone())];
        second.labels = labels.into();
        second.all.merge(&other.all);
    }
    record
}

/// Returns a run of a growing number of users on two workers. The plan's time limit is a second, but the target still
/// processes a request after its limit.
fn overloaded_beyond_the_limit(load: &Users) -> Record {
    let mut workers = Workers::new(2);
    run(load, move |request, _| {
        let takes = workers.work(request.at, 100 * MS);
        if takes > S {
            bad(S, Outcome::Timeout(Phase::Response), "Read timed out", "Read timed out")
        } else {
            good(takes)
        }
    })
}

#[test]
fn an_overload_beyond_the_time_limit_is_no_target_that_stops() {
    for load in
        [users(40).ramp(12).pause(100).seconds(30), users(80).ramp(20).pause(50).seconds(30)]
    {
        let record = overloaded_beyond_the_limit(&load);
        let first = &findings(&record)[0];
        let words = &first.words.en;
        assert!(words.starts_with("Answers took longer and longer, from "), "{words}");
        assert!(words.contains("longer than the plan's time limit of 1.0 s"), "{words}");
        assert!(first.advice.en.contains("throng capacity"), "{}", first.advice.en);
    }
}

#[test]
fn a_target_that_answers_nothing_until_the_end_is_named_first() {
    let record = without_answer(6, 20, 3000);
    let first = &findings(&record)[0];
    let words = "The target answered nothing from 0:06 until the end: 40 requests waited until the plan's time limit.";
    assert_eq!((first.id, &*first.words.en), ("target_down", words));
    assert_eq!(said(&record, "stalls"), "");
    let record = cut_at_end(6, 12);
    let words = "The target answered nothing from 0:06 until the end: 10 requests waited until the run ended.";
    assert_eq!(findings(&record)[0].words.en, words);
    assert_eq!(said(&record, "cut_by_end"), "");
}

#[test]
fn one_label_without_answers_is_named_beside_others_that_answer() {
    let healthy = without_answer(0, 0, 0);
    let record = beside(without_answer(6, 20, 3000), &healthy);
    let words = "\"request\" got no answer from 0:06 until the end: 40 requests waited until the plan's time limit.";
    assert_eq!(said(&record, "target_down"), words);
    let record = beside(healthy, &without_answer(6, 20, 3000));
    assert_eq!(said(&record, "target_down"), "");
}

#[test]
fn a_label_that_nobody_asks_any_more_waits_for_nothing() {
    let mut login = without_answer(0, 0, 0);
    for second in &mut login.seconds[6..] {
        second.all = record::Part::default();
        second.causes.clear();
    }
    assert_eq!(said(&beside(without_answer(0, 0, 0), &login), "target_down"), "");
    // All users have left the login.
    let mut left = login;
    left.seconds.iter_mut().for_each(|second| second.labels = vec![(0, second.all.clone())].into());
    assert_eq!(said(&left, "target_down"), "");
}

#[test]
fn time_limits_are_no_answers_that_came_at_once() {
    for (from, to, limit) in [(6, 9, 1000), (6, 10, 2000), (6, 7, 900)] {
        let words = said(&without_answer(from, to, limit), "stalls");
        assert!(!words.contains("at once"), "{from} {to} {limit}: {words}");
    }
    // A silence of the same length after which all requests are answered.
    let held = run(&users(10).pause(50).seconds(20), |request, _| {
        let is_held = (6 * S..8 * S).contains(&request.at);
        good(if is_held { 8 * S + 20 * MS - request.at } else { 20 * MS })
    });
    assert!(said(&held, "stalls").starts_with("The target stood still for about 1.9 s"));
}

#[test]
fn requests_that_wait_for_long_behind_the_stop_are_said() {
    // Two of ten users wait; the others get responses until the stop.
    let mut record = without_answer(0, 0, 0);
    for second in &mut record.seconds[12..] {
        second.all = record::Part::default();
        second.labels = Vec::new().into();
    }
    record.seconds[19].all.cut = 2;
    record.frame.ending = Ending::Interrupted;
    let at = |s: i64| {
        let change = Change::Stop { at_once: false };
        vec![Mark { at_ms: START + 1000 * s, change }]
    };
    record.marks = at(12);
    let words = said(&record, "cut_by_end");
    assert!(
        words.starts_with("2 requests still had no answer 8.0 s after the run was stopped"),
        "{words}"
    );
    // A run that is stopped just before its end.
    record.marks = at(19);
    let words = said(&record, "cut_by_end");
    assert!(words.starts_with("2 requests were in flight when the run ended"), "{words}");
}

/// Parses a result file with these samples: start and length in ms, label, and code.
fn of_rows(samples: impl IntoIterator<Item = (u64, u64, &'static str, &'static str)>) -> Record {
    let head = "timeStamp,elapsed,label,responseCode,responseMessage,success,allThreads\n";
    let row = |(at, ms, label, code): (u64, u64, &str, &str)| {
        let code = if code.is_empty() { LIMIT } else { code };
        let words = if code == LIMIT { "Non HTTP response message: Read timed out" } else { "m" };
        format!("{},{ms},{label},{code},{words},{},10\n", START as u64 + at, code == "200")
    };
    let rows: String = samples.into_iter().map(row).collect();
    Record::of_rows((head.to_owned() + &rows).as_bytes()).expect("rows")
}

const LIMIT: &str = "Non HTTP response code: java.net.SocketTimeoutException";

#[test]
fn errors_of_a_label_are_no_time_limits_of_another() {
    let fails = (0..3000).map(|n| (n * 10, 20, "a", if n < 1000 { "200" } else { "500" }));
    let waits = (0..6000).map(|n| {
        let is_late = n > 2400 && n % 2 == 0;
        (n * 5, if is_late { 100 } else { 20 }, "b", if is_late { "" } else { "200" })
    });
    let mut samples: Vec<_> = fails.chain(waits).collect();
    samples.sort_by_key(|(at, ms, ..)| at + ms);
    assert_eq!(said(&of_rows(samples), "target_down"), "");
}

/// Returns a result file with a login for 10 s and then `n` lost login requests, in addition to pages of which a
/// third fails.
fn lost(n: u64) -> Record {
    let login = (0..100).map(|n| (n * 100, 20, "login", "200"));
    let lost = (0..n).map(|n| (10_050 + n * 100, 6000, "login", ""));
    let pages = (0..6000).map(|n| (n * 10, 30, "page", if n % 3 == 0 { "500" } else { "200" }));
    let mut samples: Vec<_> = login.chain(lost).chain(pages).collect();
    samples.sort_by_key(|(at, ms, ..)| at + ms);
    of_rows(samples)
}

#[test]
fn a_few_lost_requests_are_no_end_of_a_target_and_hide_no_other_errors() {
    assert_eq!(said(&lost(1), "target_down"), "");
    let record = lost(6);
    assert!(said(&record, "target_down").starts_with("\"login\" got no answer"));
    assert!(said(&record, "errors_named").contains("500"), "{}", said(&record, "errors_named"));
}

#[test]
fn a_target_that_answered_with_an_error_answered() {
    let mut answers = 1;
    let record = run(&users(10).pause(50).seconds(20), |request, _| match request.at / S {
        0..6 => good(20 * MS),
        15.. if answers > 0 => {
            answers -= 1;
            bad(MS, Outcome::Status, "500", "Error")
        }
        _ => bad(3 * S, Outcome::Timeout(Phase::Response), "Read timed out", "Read timed out"),
    });
    assert_eq!(said(&record, "target_down"), "");
}

/// Returns a run without any response that is stopped at 12 s; its end cuts the requests.
fn never_answered() -> Record {
    let mut record = without_answer(0, 0, 0);
    for second in &mut record.seconds {
        second.all = record::Part::default();
        second.labels = Vec::new().into();
    }
    record.seconds[19].all.cut = 2;
    record.frame.ending = Ending::Interrupted;
    let change = Change::Stop { at_once: false };
    record.marks = vec![Mark { at_ms: START + 12_000, change }];
    record
}

#[test]
fn a_target_without_any_answer_is_what_is_known_of_a_run_without_samples() {
    let verdict = rules::verdict(&never_answered());
    let words = "The target answered no request in 20 s: 2 requests waited until the run ended.";
    let said: Vec<&str> = verdict.findings.iter().map(|one| &*one.words.en).collect();
    assert_eq!((said, verdict.undecided), (vec![words], None));
    // A short run without responses gets no such finding.
    let mut short = never_answered();
    short.seconds.drain(..17);
    short.marks.clear();
    let verdict = rules::verdict(&short);
    assert!(verdict.undecided.is_some() && !verdict.findings.iter().any(|f| f.id == "target_down"));
}

#[test]
fn a_target_that_lets_all_requests_run_into_their_time_limit_is_named_first() {
    let record = without_answer(0, 20, 3000);
    let first = &findings(&record)[0];
    let words =
        "The target answered no request in 20 s: 60 requests waited until the plan's time limit.";
    assert_eq!((first.id, &*first.words.en), ("target_down", words));
}

#[test]
fn a_run_without_samples_names_the_file_that_is_missing() {
    let mut record = Record::default();
    record.frame.ending = record::Ending::Completed;
    let first = |record: &Record| rules::verdict(record).findings[0].words.en.clone();
    assert!(first(&record).starts_with("The run has no sample at all"));
    let files = "the file a.csv is not there (Plan > Users > Names, p.jmx:7)\nthe file b.csv is not there (Plan > Users > Ids, p.jmx:9)";
    record.frame.settings = vec![(record::frame::MISSING_FILES.into(), files.into())];
    let words = "No request was sent: the file a.csv is not there (Plan > Users > Names, p.jmx:7), and 1 other file missing.";
    assert!(first(&record).starts_with(words), "{}", first(&record));
}
