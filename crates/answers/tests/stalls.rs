//! Tests the rule about stops of the whole target. Users that send in step cause gaps as well.
mod situations;

use answers::rules;
use record::Record;
use situations::{MS, S, Users, good, run, users};

fn speaks(record: &Record) -> bool {
    rules::verdict(record).findings.iter().any(|finding| finding.id == "stalls")
}

/// Returns a load whose users all send at the same moments.
fn in_step() -> Users {
    Users { at_once: 20, ..users(20).pause(160) }
}

#[test]
fn gaps_between_users_in_step_are_no_stops() {
    // Now and then, other programs on the machine delay some requests.
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

/// Returns rows of 30 users that all pause six times for a while; for some of them, a request takes as long as the
/// pause. With `in_transactions`, each request is in a separate transaction.
fn pauses(waiting: u64, in_transactions: bool) -> Record {
    const PAUSES: [u64; 6] = [5000, 9300, 15_100, 19_000, 26_200, 31_000];
    let mut rows = Vec::new();
    for user in 0..30 {
        let mut at = 3 * user;
        while at < 40_000 {
            if let Some(pause) = PAUSES.iter().find(|pause| (**pause..**pause + 450).contains(&at))
            {
                at = pause + 450 + user;
            }
            let waits =
                user < waiting && PAUSES.iter().any(|pause| (at + 1..=at + 60).contains(pause));
            let ms = if waits { 500 } else { 20 };
            rows.push((at, ms, user, "Get", "OK"));
            if in_transactions {
                let message = "Number of samples in transaction : 1, number of failing samples : 0";
                rows.push((at, ms, user, "Order", message));
            }
            at += ms + 30;
        }
    }
    rows.sort_unstable();
    let mut text = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,allThreads\n".to_owned();
    for (at, ms, user, label, message) in rows {
        let at = 1_700_000_000_000 + at;
        text += &format!("{at},{ms},{label},200,\"{message}\",Users 1-{user},true,100,30\n");
    }
    Record::of_rows(text.as_bytes()).expect("rows")
}

#[test]
fn a_transaction_is_no_request_that_waited_beside_its_own() {
    let two = [false, true].map(|in_transactions| speaks(&pauses(2, in_transactions)));
    assert_eq!(two, [false; 2], "two requests that waited");
    let four = [false, true].map(|in_transactions| speaks(&pauses(4, in_transactions)));
    assert_eq!(four, [true; 2], "four of them");
}
