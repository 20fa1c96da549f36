//! Response times over a run: which changes are reported under the same load, and with which figures.
mod situations;

use answers::random::Random;
use answers::rules;
use answers::verdict::{Finding, Verdict};
use record::Record;
use situations::{MS, S, START, Users, Workers, about, good, run, users};

/// Rules that compare times of a run under the same load.
const CHANGES: [&str; 4] = ["step_change", "slow_phase", "drift", "warmup_unfinished"];

fn finding<'v>(verdict: &'v Verdict, id: &str) -> Option<&'v Finding> {
    verdict.findings.iter().find(|finding| finding.id == id)
}

fn says(verdict: &Verdict, id: &str) -> String {
    finding(verdict, id).map(|finding| finding.words.en.clone()).unwrap_or_default()
}

fn with_seed(load: Users, seed: u64) -> Users {
    Users { seed, ..load }
}

/// Returns a random time in µs around `ms` with a lognormal distribution.
fn near(ms: f64, random: &mut Random) -> u64 {
    (ms * 1000.0 * (0.3 * random.normal()).exp()) as u64
}

/// Returns the verdict on a run of 10 users that pause. `takes`: median service time in ms at a time in seconds.
fn paced(seconds: u64, seed: u64, takes: impl Fn(f64) -> f64) -> Verdict {
    let load = with_seed(users(10).pause(200).seconds(seconds), seed);
    let record =
        run(&load, |request, random| good(near(takes(request.at as f64 / S as f64), random)));
    rules::verdict(&record)
}

/// Returns the number in front of the first occurrence of `behind`.
fn number_before(words: &str, behind: &str) -> f64 {
    let (before, _) = words.split_once(behind).expect(words);
    let from = before.rfind([' ', '(']).expect(words) + 1;
    before[from..].parse().expect(words)
}

/// Returns a run on a lock that lets one request through at a time; the last user joins after a minute.
fn one_joins(n: u64, seed: u64) -> Record {
    let load = Users { alone: 60 * S, at_once: n - 1, ..with_seed(users(n).seconds(150), seed) };
    let mut lock = Workers::new(1);
    run(&load, move |request, random| good(lock.work(request.at, about(50 * MS, random))))
}

#[test]
fn one_user_more_is_another_load() {
    for seed in 1..=4 {
        for n in [2, 3, 5, 8] {
            let verdict = rules::verdict(&one_joins(n, seed));
            for id in CHANGES {
                assert_eq!(says(&verdict, id), "", "{n} users, {seed}");
            }
            let ruled_out = verdict.findings.iter().flat_map(|finding| &finding.exonerates);
            let of_load = ruled_out.filter(|cause| cause.en.starts_with("more load"));
            assert_eq!(of_load.count(), 0, "{n} users, {seed}: {:?}", verdict.findings);
        }
    }
}

#[test]
fn a_change_under_few_users_is_still_reported() {
    for seed in 1..=4 {
        let record = run(&with_seed(users(2).seconds(150), seed), |request, random| {
            good(about(if request.at < 75 * S { 50 * MS } else { 100 * MS }, random))
        });
        let verdict = rules::verdict(&record);
        let words =
            "Response times changed at about 1:15, under the same load: the median went from 5";
        assert!(says(&verdict, "step_change").starts_with(words), "{seed}: {verdict:?}");
        let step = finding(&verdict, "step_change").expect("a step");
        assert!(step.exonerates[0].en.starts_with("more load"), "{:?}", step.exonerates);
    }
}

#[test]
fn a_smooth_course_has_no_moment_of_change() {
    for seed in 1..=3 {
        for (more, decay) in [(4.0, 40.0), (1.0, 40.0), (4.0, 60.0), (4.0, 25.0), (9.0, 100.0)] {
            let warms = paced(300, seed, |at| 50.0 * (1.0 + more * (-at / decay).exp()));
            assert_eq!(says(&warms, "step_change"), "", "{seed} {more} {decay}");
            let grows = paced(300, seed, |at| 50.0 * (1.0 + more * ((at - 300.0) / decay).exp()));
            assert_eq!(says(&grows, "step_change"), "", "{seed} {more} {decay}");
        }
        let falls = paced(300, seed, |at| 50.0 * (1.0 + 4.0 * (1.0 - at / 100.0).max(0.0)));
        assert_eq!(says(&falls, "step_change"), "", "{seed}");
    }
}

#[test]
fn a_slow_minute_is_no_lasting_change() {
    for seed in 1..=4 {
        let slow = |ms: f64| move |at: f64| if (100.0..160.0).contains(&at) { ms } else { 50.0 };
        let verdict = paced(300, seed, slow(200.0));
        assert_eq!(says(&verdict, "step_change"), "", "{seed}");
        let words = says(&verdict, "slow_phase");
        assert!(words.contains("Then they were as fast as before."), "{seed}: {words}");
        let little = paced(300, seed, slow(65.0));
        assert_eq!(says(&little, "step_change"), "", "{seed}");
    }
}

#[test]
fn a_lasting_change_is_reported_behind_a_slow_beginning_and_behind_a_slow_minute() {
    for seed in 1..=4 {
        let warms =
            |at: f64| [100.0, 50.0, 100.0][usize::from(at >= 30.0) + usize::from(at >= 160.0)];
        let words = says(&paced(300, seed, warms), "step_change");
        assert!(words.starts_with("Response times changed at about 2:"), "{seed}: {words}");
        let slow =
            |at: f64| [50.0, 300.0, 100.0][usize::from(at >= 100.0) + usize::from(at >= 160.0)];
        let words = says(&paced(300, seed, slow), "step_change");
        assert!(words.starts_with("Response times changed at about 1:"), "{seed}: {words}");
    }
}

#[test]
fn figures_of_a_change_cover_the_time_up_to_the_changes_around_it() {
    for seed in 1..=4 {
        let levels = |at: f64| [50.0, 100.0, 300.0][(at / 100.0) as usize];
        let verdict = paced(300, seed, levels);
        let step = finding(&verdict, "step_change").expect("a step");
        let words = &step.words.en;
        assert!(words.starts_with("Response times changed at about 3:20, "), "{words}");
        // 10 users with 100 ms and a pause of 200 ms, and then with 300 ms. A lognormal mean is above its median.
        let (_, rates) = words.split_once("the rate from ").expect(words);
        let rates = format!(" {rates}");
        let (before, after) = (number_before(&rates, "/s to "), number_before(&rates, "/s."));
        assert!((before - 33.0).abs() <= 1.0 && (after - 20.0).abs() <= 1.0, "{words}");
        let of =
            |metric: &str| step.evidence.iter().find(|one| one.metric == metric).expect(metric);
        let from_s = (of("before").from_ms - START) / 1000;
        assert!((97..=103).contains(&from_s), "{seed}: {from_s}");
        assert_eq!(of("before").to_ms, of("after").from_ms);
    }
}

#[test]
fn a_slow_phase_is_told_with_the_times_and_the_rate_of_its_whole_seconds() {
    for seed in 1..=4 {
        for from in [0, 50] {
            let slow = from * S..(from + 20) * S;
            let load = with_seed(users(10).seconds(120), seed);
            let verdict = rules::verdict(&run(&load, |request, random| {
                good(about(if slow.contains(&request.at) { S } else { 50 * MS }, random))
            }));
            let phase = finding(&verdict, "slow_phase").unwrap_or_else(|| panic!("{verdict:?}"));
            let of = |metric: &str| phase.evidence.iter().find(|one| one.metric == metric);
            let slower = of("slower").expect("a time");
            assert!((900.0..1100.0).contains(&slower.value), "{seed} {from}: {phase:?}");
            let rate = number_before(&phase.words.en, "/s");
            assert!((9.0..=11.0).contains(&rate), "{seed} {from}: {}", phase.words.en);
        }
    }
}

#[test]
fn a_target_that_is_warm_at_the_end_was_warm_before_the_run_ended() {
    let warms = |decay: f64| move |at: f64| 50.0 * (1.0 + 4.0 * (-at / decay).exp());
    for seed in 1..=4 {
        for decay in [25.0, 30.0] {
            assert_eq!(says(&paced(180, seed, warms(decay)), "warmup_unfinished"), "", "{seed}");
        }
        let words = says(&paced(180, seed, warms(100.0)), "warmup_unfinished");
        assert!(words.starts_with("The run ended before the target was warm: "), "{seed}: {words}");
    }
}
