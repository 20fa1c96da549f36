//! Failures that all lie within a second or two.
mod situations;

use answers::rules;
use record::Record;
use situations::{MS, Request, S, bad, good, run, users};
use stats::Outcome;

fn said(seconds: u64, fails: impl Fn(&Request) -> bool) -> String {
    let record: Record = run(&users(10).pause(50).seconds(seconds), move |request, _| {
        if fails(request) {
            bad(MS, Outcome::Refused, "refused", "Connection refused")
        } else {
            good(20 * MS)
        }
    });
    let found = rules::verdict(&record).findings;
    found
        .into_iter()
        .find(|one| one.id == "errors_named")
        .map(|one| one.words.en)
        .unwrap_or_default()
}

#[test]
fn failures_of_a_moment_are_told_as_such() {
    let words = said(30, |request| (12_200 * MS..12_800 * MS).contains(&request.at));
    assert!(words.contains(", all within 1 second, in which "), "{words}");
    assert!(words.contains("(from 0:12 to 0:13, with 10 users)"), "{words}");
    let words = said(30, |request| (12_700 * MS..13_300 * MS).contains(&request.at));
    assert!(words.contains(", all within 2 seconds, in which "), "{words}");
    // Near the end of the run as well.
    let words = said(30, |request| (28_200 * MS..28_800 * MS).contains(&request.at));
    assert!(words.contains("all within 1 second"), "{words}");
}

#[test]
fn failures_of_a_rate_of_a_short_run_or_of_its_end_are_no_event() {
    let words = said(30, |request| request.number % 50 == 7);
    assert!(words.contains("failed") && !words.contains("within"), "{words}");
    let words = said(5, |request| (2_200 * MS..2_800 * MS).contains(&request.at));
    assert!(words.contains("failed") && !words.contains("within"), "{words}");
    let words = said(30, |request| request.at > 28 * S);
    assert!(!words.contains("within"), "{words}");
}
