//! Failures that all occur within a second or two.
mod situations;

use answers::rules;
use answers::verdict::Finding;
use record::Record;
use situations::{Answer, MS, Request, S, Users, about, bad, good, run, users};
use stats::{Outcome, Phase};

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
    assert!(words.contains("(at 0:12, for less than a second, with 10 users)"), "{words}");
    let words = said(30, |request| (12_700 * MS..13_300 * MS).contains(&request.at));
    assert!(words.contains(", all within 2 seconds, in which "), "{words}");
    assert!(words.contains("(at 0:12, for less than "), "{words}");
    // An event near the end of the run.
    let words = said(30, |request| (28_200 * MS..28_800 * MS).contains(&request.at));
    assert!(words.contains("all within 1 second"), "{words}");
}

#[test]
fn failures_in_intervals_of_a_long_run_end_at_the_latest_with_their_interval() {
    let record: Record = run(&users(10).pause(50).seconds(300), |request, _| {
        if (100 * S..160 * S).contains(&request.at) { unavailable() } else { good(20 * MS) }
    });
    let said = |record: &Record| {
        let found = rules::verdict(record).findings;
        let errors = found.into_iter().find(|one| one.id == "errors_named");
        errors.expect("errors").words.en
    };
    let words = said(&record);
    assert!(words.contains("(from 1:40 until 2:40, with 10 users)"), "{words}");
    let words = said(&record.joined(60_000));
    assert!(words.contains(" until 3:00 at the latest, with 10 users)"), "{words}");
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

fn findings(load: &Users, answer: impl Fn(&Request) -> Answer) -> Vec<Finding> {
    rules::verdict(&run(load, move |request, _| answer(request))).findings
}

fn unavailable() -> Answer {
    bad(MS, Outcome::Status, "503", "Service Unavailable")
}

#[test]
fn a_target_that_goes_away_is_no_change_of_its_times() {
    // A connect that fails starts 5 s before its failure is known.
    let no_answer = Outcome::Timeout(Phase::Connect);
    for gone in [bad(5 * S, no_answer, "timeout", "Connect timed out"), unavailable()] {
        let found = findings(&users(10).pause(50).seconds(70), |request| {
            if request.at < 35 * S { good(80 * MS) } else { gone.clone() }
        });
        let ids: Vec<&str> = found.iter().map(|one| one.id).collect();
        assert!(ids.contains(&"errors_named") && !ids.contains(&"step_change"), "{found:?}");
        assert_eq!(ids.contains(&"target_down"), gone.outcome == no_answer, "{found:?}");
    }
}

#[test]
fn errors_of_a_time_are_told_with_the_least_and_the_most_users_of_it() {
    let fails = |request: &Request| if request.at < 8 * S { unavailable() } else { good(20 * MS) };
    let found = findings(&users(20).ramp(10).pause(50).seconds(30), fails);
    let words = &found.iter().find(|one| one.id == "errors_named").expect("errors").words;
    assert!(words.en.contains("(from 0:00 until 0:08, with 2 to 16 users)"), "{}", words.en);
    assert!(words.zh.contains("当时有 2 到 16 个用户"), "{}", words.zh);
}

#[test]
fn the_share_of_errors_of_one_label_is_that_of_its_requests() {
    let load = Users { labels: &["home", "cart", "pay"], ..users(10).pause(50).seconds(30) };
    let found = findings(&load, |request| {
        if request.label == 2 && request.number % 2 == 0 { unavailable() } else { good(20 * MS) }
    });
    let words = &found.iter().find(|one| one.id == "errors_named").expect("errors").words.en;
    let (_, share) = words.split_once("requests failed, all of \"pay\" (").expect(words);
    let percent = |text: &str| text.split(" %").next().and_then(|n| n.parse::<f64>().ok());
    let (own, all) = share.split_once(" % of its requests, ").expect(words);
    let (own, all) = (percent(own).expect(words), percent(all).expect(words));
    assert!((own / all - 3.0).abs() < 0.3, "{words}");
}

#[test]
fn a_load_that_is_full_from_the_start_is_not_ruled_out_for_errors_that_it_can_make() {
    let at_once = Users { at_once: 30, ..users(30).pause(50).seconds(20) };
    for (load, code, of_load) in [
        (&at_once, "500", true),
        (&at_once, "404", false),
        (&users(30).ramp(15).pause(50).seconds(20), "500", false),
        (&users(1).pause(50).seconds(20), "500", false),
    ] {
        let found = findings(load, |_| bad(20 * MS, Outcome::Status, code, "Error"));
        let fault = found.iter().find(|one| one.id == "plan_fault").expect("a fault");
        let words = &fault.words.en;
        assert_eq!(words.contains("or a load that is too high"), of_load, "{code}: {words}");
        assert_eq!(words.contains("the load is not the cause"), !of_load, "{code}: {words}");
        assert_eq!(fault.exonerates.is_empty(), of_load, "{code}: {words}");
    }
}

#[test]
fn what_is_certain_of_errors_stands_before_what_may_be_their_reason() {
    let load = Users { labels: &["home", "cart"], at_once: 5, ..users(5).pause(50).seconds(20) };
    let failing = |answer: fn() -> Answer| {
        let found =
            findings(&load, |request| if request.label == 1 { answer() } else { good(20 * MS) });
        found.into_iter().map(|one| (one.id, one.words.en)).collect::<Vec<_>>()
    };
    let refused = failing(|| bad(MS, Outcome::Refused, "refused", "Connection refused"));
    let ids: Vec<&str> = refused.iter().map(|one| one.0).collect();
    assert_eq!(ids, ["errors_named", "plan_fault"]);
    let words = &refused[1].1;
    let says = "Each connection for \"cart\" was refused, from its first request on: nothing accepts connections at that address, and the load is not the cause.";
    assert!(words.starts_with(says), "{words}");
    let overloaded = failing(|| bad(20 * MS, Outcome::Status, "500", "Error"));
    assert_eq!(overloaded[0].0, "errors_named", "{overloaded:?}");
    assert!(overloaded[1].1.contains("or a load that is too high"), "{overloaded:?}");
    // A missing page cannot come from overload, so the fault of the plan is certain and comes first.
    let missing = failing(|| bad(20 * MS, Outcome::Status, "404", "Not Found"));
    assert_eq!(missing[0].0, "plan_fault", "{missing:?}");
}

#[test]
fn a_service_that_starts_after_the_run_is_told_as_that() {
    let advice = |fails: fn(u64) -> bool| {
        let record = run(&users(10).seconds(30), move |request, _| {
            if fails(request.at) {
                bad(MS, Outcome::Refused, "refused", "Connection refused")
            } else {
                good(20 * MS)
            }
        });
        let found = rules::verdict(&record).findings;
        found.into_iter().find(|one| one.id == "errors_named").map(|one| one.advice.en)
    };
    let late = advice(|at| at < 1200 * MS).expect("errors");
    assert!(late.contains("when the run began"), "{late}");
    let restart = advice(|at| (12_200 * MS..13_400 * MS).contains(&at)).expect("errors");
    assert!(restart.contains("restarted at that time"), "{restart}");
}

#[test]
fn connects_that_are_refused_at_first_are_no_requests_alone() {
    let record = run(&users(10).ramp(5).pause(75), |request, random| {
        if request.at < 3400 * MS {
            bad(MS, Outcome::Refused, "refused", "Connection refused")
        } else {
            good(about(20 * MS, random))
        }
    });
    let ids: Vec<&str> = rules::verdict(&record).findings.iter().map(|one| one.id).collect();
    assert_eq!(ids, ["errors_named"]);
}

#[test]
fn two_short_outages_are_not_told_as_one_long_one() {
    let words = said(60, |request| {
        let at = request.at / MS;
        (20_100..20_700).contains(&at) || (40_100..40_700).contains(&at)
    });
    assert!(words.contains("(in 2 of 21 seconds between 0:20 and 0:41, with 10 users)"), "{words}");
}
