//! Ports of the generator towards each destination, in a healthy run of one minute whose closed connections stay in
//! TIME_WAIT.
// Each test binary uses only a part of the module `situations`.
mod situations;

use answers::rules;
use answers::verdict::Finding;
use record::frame::{PORTS_EACH, TIME_WAIT_REUSE};
use record::{Class, ClassName, Record};
use situations::all::quiet;
use stats::Counter;

/// Returns the first minute of a run planned for three. It closes `per_s` connections per second to each of two
/// destinations.
fn closing(addresses: [&str; 2], per_s: [u64; 2], reuse: u64) -> Record {
    let mut record = quiet();
    record.frame.load.length_ms = Some(180_000);
    let setting = |name: &str, value: u64| (name.to_owned(), value.to_string());
    record.frame.settings = vec![setting(PORTS_EACH, 28_000), setting(TIME_WAIT_REUSE, reuse)];
    record.classes = addresses.map(|address| ClassName::Address(address.into())).into();
    let all = per_s[0] + per_s[1];
    for (second, n) in record.seconds.iter_mut().zip(1..) {
        let class = |at: usize| Class { opened: per_s[at], ..Class::default() };
        second.classes = vec![(0, class(0)), (1, class(1))];
        second.counters.add(Counter::ConnClosedByUs, all);
        second.generator.time_wait = all * n.min(60);
    }
    record
}

/// Cuts a record after `seconds` seconds.
fn until(mut record: Record, seconds: usize) -> Record {
    record.seconds.truncate(seconds);
    record
}

fn found(record: &Record) -> Option<Finding> {
    rules::verdict(record).findings.into_iter().find(|finding| finding.id == "ports")
}

fn value(finding: &Finding, metric: &str) -> f64 {
    finding.evidence.iter().find(|one| one.metric == metric).expect("the figure").value
}

const AWAY: [&str; 2] = ["10.0.0.1:80", "10.0.0.2:80"];

#[test]
fn the_destination_that_runs_out_first_is_named_with_the_second() {
    let record = until(closing(AWAY, [50, 700], 2), 30);
    let found = found(&record).expect("700 a second take 28 000 ports in 40 s");
    let words = &found.words.en;
    assert!(words.contains("towards 10.0.0.2:80 run out at about 0:4"), "{words}");
    let at = (value(&found, "ports_run_out_at") - record.frame.start_ms as f64) / 1000.0;
    assert!((39.0..=44.0).contains(&at), "{at}");
    // The other destination can have at most 1500 of 22 500 connections in TIME_WAIT.
    assert_eq!(value(&found, "time_wait"), 21_000.0);
}

#[test]
fn what_the_range_bears_is_silent() {
    assert_eq!(found(&until(closing(AWAY, [50, 450], 2), 50)), None, "27 000 of 28 000 at 60 s");
    assert_eq!(found(&until(closing(AWAY, [240, 240], 2), 50)), None, "each its own range");
    assert_eq!(found(&closing(AWAY, [50, 450], 2)), None, "as many come back as go");
}

#[test]
fn ports_that_the_kernel_gives_again_are_silent() {
    let here = ["127.0.0.1:80", "[::1]:80"];
    for (addresses, reuse, speaks) in [(here, 2, false), (here, 0, true), (AWAY, 1, false)] {
        let record = until(closing(addresses, [50, 700], reuse), 30);
        assert_eq!(found(&record).is_some(), speaks, "{addresses:?} {reuse}");
    }
}

#[test]
fn connections_that_the_target_closes_hold_no_port() {
    let mut record = until(closing(AWAY, [50, 700], 2), 30);
    record.seconds.iter_mut().for_each(|second| second.counters.clear());
    assert_eq!(found(&record), None);
}

#[test]
fn a_run_that_ends_before_is_silent() {
    let mut record = until(closing(AWAY, [50, 700], 2), 30);
    record.frame.load.length_ms = Some(35_000);
    assert_eq!(found(&record), None);
}
