//! Logins that all arrive at once at the beginning of a run.
mod situations;

use answers::random::Random;
use answers::rules;
use answers::verdict::Verdict;
use record::Record;
use situations::{MS, Workers, about};

const HEAD: &str =
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes,allThreads\n";

/// Returns the verdict on rows of 40 users that start `apart_ms` apart, log in once, and then request a page twice a
/// second. `login`: time of a login in µs.
fn verdict(apart_ms: u64, login: impl FnMut(u64, &mut Random) -> u64) -> Verdict {
    verdict_of(apart_ms, login, |_| 500)
}

/// Does the same as [`verdict`], with responses of different sizes. `bytes` returns the size of a response from its
/// time in ms.
fn verdict_of(
    apart_ms: u64,
    mut login: impl FnMut(u64, &mut Random) -> u64,
    bytes: impl Fn(u64) -> u64,
) -> Verdict {
    let mut random = Random::new(11);
    let mut rows = Vec::new();
    for user in 0..40 {
        let start = user * apart_ms * MS;
        let took = login(start, &mut random);
        rows.push((start / MS, took / MS, "login", user));
        let mut at = start / MS + took / MS;
        while at < 40_000 {
            let took = about(20 * MS, &mut random) / MS;
            rows.push((at, took, "home", user));
            at += took + 480;
        }
    }
    rows.sort_unstable();
    let row = |(at, took, label, user): &(u64, u64, &str, u64)| {
        let (at, bytes) = (1_700_000_000_000 + at, bytes(*took));
        format!("{at},{took},{label},200,OK,Users 1-{user},true,{bytes},40\n")
    };
    let text = HEAD.to_owned() + &rows.iter().map(row).collect::<String>();
    rules::verdict(&Record::of_rows(text.as_bytes()).expect("rows"))
}

fn said(verdict: &Verdict) -> &str {
    let found = verdict.findings.iter().find(|found| found.id == "slow_phase");
    found.map(|found| &*found.words.en).unwrap_or_default()
}

#[test]
fn logins_behind_two_places_are_told() {
    let mut places = Workers::new(2);
    let verdict = verdict(0, move |at, random| places.work(at, about(250 * MS, random)));
    let words = said(&verdict);
    assert!(words.starts_with("The first answers of \"login\" took 2"), "{words}");
    assert!(words.contains("40 requests came at once, and about 2 were worked on"), "{words}");
}

#[test]
fn logins_that_do_not_wait_for_each_other_are_none() {
    let all_at_once = verdict(0, |_, random| about(250 * MS, random));
    let one_by_one = verdict(150, |_, random| about(250 * MS, random));
    // Each login takes a random time.
    let scattered = verdict(0, |_, random| 250 * MS + (4.75e6 * random.uniform()) as u64);
    for verdict in [all_at_once, one_by_one, scattered] {
        assert_eq!(said(&verdict), "", "{:?}", verdict.findings);
    }
}

#[test]
fn uploads_that_take_as_long_as_they_are_large_are_none() {
    let evenly = || {
        let mut n = 0;
        move |_: u64, _: &mut Random| {
            n += 1;
            (300 + 90 * n) * MS
        }
    };
    let by_size = verdict_of(0, evenly(), |ms| 1000 * ms);
    assert_eq!(said(&by_size), "", "{:?}", by_size.findings);
    // Requests of one size wait for each other, and so do those whose size is not known.
    assert!(said(&verdict(0, evenly())).starts_with("The first answers of"));
    let unknown = verdict_of(0, evenly(), |_| 0);
    assert!(said(&unknown).starts_with("The first answers of"), "{:?}", unknown.findings);
}
