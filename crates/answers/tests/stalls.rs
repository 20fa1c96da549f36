//! The rule on stops of the whole target: users in step make gaps of their own.
mod situations;

use answers::rules;
use record::Record;
use situations::{MS, S, Users, good, run, users};

fn speaks(record: &Record) -> bool {
    rules::verdict(record).findings.iter().any(|finding| finding.id == "stalls")
}

/// Users that all ask at the same moments.
fn in_step() -> Users {
    Users { at_once: 20, ..users(20).pause(160) }
}

#[test]
fn gaps_between_users_in_step_are_no_stops() {
    // Now and then a machine that is busy with other things makes some of them wait.
    let record = run(&in_step(), |request, _| {
        let is_slow = request.at / S % 6 == 5 && request.at % S < 200 * MS && request.user < 5;
        good(if is_slow { 95 * MS } else { 20 * MS })
    });
    assert!(!speaks(&record));
}

#[test]
fn stops_are_found_among_users_in_step() {
    let record = run(&in_step(), |request, _| {
        let stop = request.at / (5 * S) * (5 * S) + 2 * S;
        let is_stopped = (stop..stop + 600 * MS).contains(&request.at);
        good(if is_stopped { stop + 620 * MS - request.at } else { 20 * MS })
    });
    assert!(speaks(&record));
}
