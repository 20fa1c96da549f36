//! Tests the sentences about the result of a capacity search and of a sweep: the limit always comes first.

use answers::scaling::Choice;
use answers::search::{Answer, Limit, Purpose};
use answers::shared::Shared;
use report::model::capacity::{Held, JudgedTime, Probe, Searched};
use report::model::sweep::{Axis, Point, StoppedBy, sentences};
use report::model::words;

/// Returns a probe of a service with 4 workers that need 20 ms per request.
fn probe(purpose: Purpose, load: f64, holds: bool) -> Probe {
    let rate_per_s = 50.0 * load.min(4.0);
    let p50_us = load / rate_per_s * 1e6;
    Probe {
        load,
        kind: words("", ""),
        verdict: if holds { Held::Good } else { Held::Bad },
        good: 1,
        bad: 0,
        rate_per_s,
        in_flight: load,
        p50_us,
        p99_us: p50_us,
        judged_us: None,
        samples: 1000,
        length_s: 20.0,
        stopped_by: StoppedBy::Time,
        words: words(format!("p99 < 200ms: {:.0} ms", p50_us / 1000.0), ""),
        run: String::new(),
        failed: 0.0,
        purpose,
        holds,
        undecided: false,
        judged: Vec::new(),
        generator: None,
        shared: None,
    }
}

fn probes() -> Vec<Probe> {
    vec![
        probe(Purpose::Light, 1.0, true),
        probe(Purpose::Overload, 100.0, false),
        probe(Purpose::Narrow, 44.0, false),
        probe(Purpose::Confirm, 38.0, true),
    ]
}

fn answer(lower: Option<f64>, upper: Option<f64>, limit: Limit) -> Answer {
    Answer {
        lower,
        upper,
        limit,
        confirmed: true,
        narrow: true,
        irregular: false,
        doubtful: false,
        undecided: false,
        together: None,
    }
}

/// Returns the English sentences about a search with this result.
fn said(
    probes: &[Probe],
    answer: &Answer,
    (unfinished, not_recovered_from): (bool, Option<f64>),
) -> Vec<String> {
    let criteria = ["p99 < 200ms".to_owned()];
    let searched = Searched {
        axis: Axis::Users,
        criteria: &criteria,
        answer,
        unfinished,
        not_recovered_from,
        probes,
    };
    searched.sentences().into_iter().map(|words| words.en).collect()
}

const ENDED: (bool, Option<f64>) = (false, None);

#[test]
fn the_limit_is_the_first_sentence_of_every_ending() {
    let known = answer(Some(38.0), Some(44.0), Limit::Criteria);
    let limit = "about 200 requests/s (4 at once, 20.0 ms each). p99 < 200ms held up to 38 users";
    let sentences = said(&probes(), &known, ENDED);
    assert_eq!(sentences[0], format!("Limit: {limit}; at 44 it did not."));

    let sentences = said(&probes(), &known, (false, Some(44.0)));
    assert_eq!(sentences[0], format!("Limit: {limit} at least; at 44 it did not."));
    assert!(sentences[1].starts_with("The target did not recover from the probe at 44 users: "));

    let shared = Shared { full_seconds: 9, seconds: 20, machine: 0.97, generator: 0.1 };
    let mut full = probes();
    full[2].shared = Some(shared);
    let sentences = said(&full, &known, ENDED);
    assert_eq!(sentences[0], format!("Limit on this machine: {limit} at least; at 44 it did not."));
    assert!(sentences.last().is_some_and(|last| last.contains("on a machine of its own")));

    let mut busy = probes();
    busy[2].verdict = Held::Doubtful;
    busy[2].generator = Some(words("Other programs filled the generator's machine", ""));
    let sentences = said(&busy, &answer(Some(38.0), Some(44.0), Limit::Generator), ENDED);
    assert_eq!(sentences[0], format!("Limit: {limit} at least."));
    let why = "At 44 users the generator or its machine was overloaded, so the target may take more. Other programs filled";
    assert!(sentences.len() == 2 && sentences[1].starts_with(why), "{sentences:?}");
}

#[test]
fn without_a_known_limit_the_load_that_held_is_the_first_sentence() {
    let held = "At least 38 users (200 requests/s, 38 in flight): p99 < 200ms held";
    // The result of the overload probe is doubtful, so the limit of the service is unknown.
    let mut unknown = probes();
    unknown[1].verdict = Held::Doubtful;
    let known = answer(Some(38.0), Some(44.0), Limit::Criteria);
    let sentences = said(&unknown, &known, ENDED);
    let limit = "Limit: 38 users (200 requests/s, 38 in flight). p99 < 200ms held up to 38 users; at 44 it did not.";
    assert_eq!(sentences[0], limit);
    let sentences = said(&unknown, &known, (false, Some(44.0)));
    assert_eq!(sentences[0], format!("{held}; at 44 it did not."));

    // The overload broke the target: what still succeeds says nothing about its limit.
    let mut broken = probes();
    broken[1].failed = 0.5;
    let sentences = said(&broken, &known, (false, Some(44.0)));
    assert_eq!(sentences[0], format!("{held}; at 44 it did not."));

    let only = [probe(Purpose::Light, 1.0, true), probe(Purpose::Confirm, 38.0, true)];
    for (unfinished, why) in [
        (true, "The search ended before anything larger was tried."),
        (false, "Nothing larger was to be tried (--at-most)."),
    ] {
        let sentences = said(&only, &answer(Some(38.0), None, Limit::Most), (unfinished, None));
        assert_eq!(sentences, [format!("{held}."), why.to_owned()]);
    }
    let never = [probe(Purpose::Light, 1.0, false)];
    let sentences = said(&never, &answer(None, Some(1.0), Limit::Criteria), ENDED);
    assert_eq!(sentences, ["Not even 1 user holds: p99 < 200ms: 20 ms."]);
}

#[test]
fn the_time_of_one_label_is_named_after_it() {
    let named = |text: &str| JudgedTime::of(text).map(|of| (of.name, of.limit_us));
    let of_all = words("Response p95", "响应时间 p95");
    assert_eq!(named("p95 < 200ms"), Some((of_all, 200_000.0)));
    let of_pay = words("Response p95 for Pay", "Pay 的响应时间 p95");
    assert_eq!(named("p95 < 200ms for label Pay"), Some((of_pay, 200_000.0)));
    assert_eq!(named("rate > 10"), None);
}

/// Returns a point that does not count for the model, with this share of failed requests.
fn point(load: f64, error_share: f64) -> Point {
    Point {
        load,
        in_flight: load,
        rate_per_s: 50.0 * load.min(4.0),
        rate_low: None,
        rate_high: None,
        mean_us: 20_000.0,
        mean_low: None,
        mean_high: None,
        quantiles: Vec::new(),
        error_share,
        length_s: 20.0,
        ramp_s: 0.0,
        warmup_s: 0.0,
        steady: None,
        stopped_by: StoppedBy::Time,
        excluded: Some(words("errors", "错误")),
        notes: Vec::new(),
        run: String::new(),
        is_generator: false,
    }
}

#[test]
fn a_sweep_without_a_point_that_counts_says_what_succeeded() {
    let first = |share: f64| {
        let points = [point(1.0, share), point(8.0, share)];
        sentences(&points, &Choice::default(), Axis::Users)[0].en.clone()
    };
    let some = "No answer: no point counts (see the notes below). The most that succeeded was 100 requests/s, at 8 users.";
    assert_eq!(first(0.5), some);
    let none = "No answer: no request succeeded at any load (see the notes below).";
    assert_eq!(first(1.0), none);
}
