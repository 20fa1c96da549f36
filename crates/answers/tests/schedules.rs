//! Rates set by a schedule: they are not a limit of the target, and users of other groups do not follow them.
mod situations;

use answers::rules;
use record::Record;
use record::frame::RATE_USERS;
use situations::{MS, Workers, about, good, run, users};

const HEAD: &str = "timeStamp,elapsed,label,responseCode,responseMessage,success,allThreads\n";

/// Returns the rules that report a limit of the target.
fn limits(record: &Record) -> Vec<&'static str> {
    let found = rules::verdict(record).findings.into_iter().map(|one| one.id);
    found.filter(|id| matches!(*id, "plateau" | "concurrency_limit" | "constant_load")).collect()
}

/// Returns rows of 50 users per second for a minute; `takes` returns the time of a request at each moment, in ms.
fn rows(takes: impl Fn(u64) -> u64) -> String {
    let starts: Vec<(u64, u64)> =
        (0..3000).map(|n| n * 20).map(|at| (at, at + takes(at))).collect();
    let mut ends = starts.clone();
    ends.sort_by_key(|(_, end)| *end);
    let active = |at: u64| starts.iter().filter(|(from, to)| *from <= at && at <= *to).count();
    let row = |(from, to): &(u64, u64)| {
        let start = 1_700_000_000_000 + from;
        format!("{start},{},a,200,OK,true,{}\n", to - from, active(*to))
    };
    HEAD.to_owned() + &ends.iter().map(row).collect::<String>()
}

#[test]
fn the_rate_of_a_schedule_is_no_limit_in_a_result_file() {
    let wave = |at: u64| (150.0 + 100.0 * (at as f64 / 5000.0).sin()) as u64;
    let slower = |at: u64| 60 + at / 250 + at % 7;
    let files: [(&str, &dyn Fn(u64) -> u64); 2] = [("a wave", &wave), ("slower", &slower)];
    for (name, takes) in files {
        let record = Record::of_rows(rows(takes).as_bytes()).expect("rows");
        assert!(limits(&record).is_empty(), "{name}: {:?}", limits(&record));
    }
}

#[test]
fn the_rate_of_a_schedule_is_no_limit_in_a_run() {
    let wave = |at: u64| (150.0 + 100.0 * (at as f64 / 5000.0).sin()) as u64;
    let mut record = Record::of_rows(rows(wave).as_bytes()).expect("rows");
    record.has.load = true;
    (record.frame.load.open, record.frame.load.rate) = (true, Some(50.0));
    record.seconds.iter_mut().for_each(|second| second.due = 50);
    assert!(limits(&record).is_empty(), "{:?}", limits(&record));
}

#[test]
fn users_that_keep_their_number_still_show_a_limit_in_a_result_file() {
    let mut workers = Workers::new(4);
    let mut record = run(&users(40).ramp(40).seconds(80), move |request, random| {
        good(workers.work(request.at, about(20 * MS, random)))
    });
    record.has.load = false;
    record.frame.load = record::Load::default();
    assert_eq!(limits(&record), ["concurrency_limit"]);
}

#[test]
fn users_of_groups_without_a_rate_do_not_count() {
    let mut record = run(&users(25), |_, random| good(about(100 * MS, random)));
    record.frame.settings.push((RATE_USERS.to_owned(), "5".to_owned()));
    (record.frame.load.users, record.frame.load.rate) = (25, Some(50.0));
    record.seconds.iter_mut().for_each(|second| (second.due, second.missed) = (50, 20));
    let found = rules::verdict(&record).findings;
    let words = &found.iter().find(|one| one.id == "late_starts").expect("late starts").words.en;
    let users =
        "because all 5 users that the schedule may start were busy: 50/s asked for, 30/s made.";
    assert!(words.contains(users), "{words}");
    // The rate of a timer does not apply to the samples of other groups.
    record.seconds.iter_mut().for_each(|second| (second.due, second.missed) = (0, 0));
    record.frame.load.rate = Some(400.0);
    assert_eq!(rules::missed_starts(&record), None);
}
