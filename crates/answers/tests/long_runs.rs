//! Long runs, whose seconds are merged into intervals: rules report nothing that they would not report on the seconds.
// Each test binary uses only a part of the module `situations`.
mod situations;

use std::collections::BTreeSet;

use answers::rules;
use record::Record;
use situations::{MS, bad, good, run, users};
use stats::Outcome;

fn ids(record: &Record) -> BTreeSet<String> {
    rules::verdict(record).findings.iter().map(|finding| finding.id.to_string()).collect()
}

#[test]
fn intervals_say_nothing_that_their_seconds_do_not() {
    let even = run(&users(8).seconds(1800), |_, random| good((180 + random.below(40) as u64) * MS));
    let failing = run(&users(8).seconds(1800), |request, random| {
        let time = (180 + random.below(40) as u64) * MS;
        let fails = (600..660).contains(&(request.at / (1000 * MS))) && random.below(2) == 0;
        if fails { bad(time, Outcome::Status, "500", "Internal") } else { good(time) }
    });
    let drifting = run(&users(8).seconds(1800), |request, random| {
        good((150 + request.at / (1000 * MS) / 10 + random.below(40) as u64) * MS)
    });
    for (name, fine) in [("even", even), ("failing", failing), ("drifting", drifting)] {
        let of_seconds = ids(&fine);
        for step_ms in [10_000, 60_000] {
            let joined = fine.clone().joined(step_ms);
            assert_eq!(joined.step_ms(), Some(step_ms));
            let of_intervals = ids(&joined);
            println!("{name} {step_ms}: {of_intervals:?} of {of_seconds:?}");
            assert!(of_intervals.is_subset(&of_seconds), "{name}: {of_intervals:?} {of_seconds:?}");
        }
    }
}

/// Returns the growth rate from the sentence about a drift.
fn pace(record: &Record) -> String {
    let verdict = rules::verdict(record);
    let drift = verdict.findings.iter().find(|finding| finding.id == "drift").expect("a drift");
    let (_, behind) = drift.words.en.rsplit_once(", by ").expect("a pace");
    behind.trim_end_matches(" a minute.").to_owned()
}

#[test]
fn the_pace_of_a_drift_is_one_of_minutes_however_long_the_intervals_are() {
    // Four hours, in which times grow from 100 ms to 196 ms.
    let run = run(&users(1).pause(900).seconds(4 * 3600), |request, _| {
        good(100 * MS + request.at / 150_000)
    });
    assert_eq!(pace(&run), "0.40 ms");
    for step_ms in [10_000, 60_000] {
        assert_eq!(pace(&run.clone().joined(step_ms)), "0.40 ms", "{step_ms}");
    }
}
