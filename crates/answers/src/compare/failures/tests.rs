//! Decisions by counts of failures, and their error rates.

use super::*;
use crate::random::Random;

/// Returns a run of 50 samples per second; `share` returns the failed share of each second.
fn course(seed: u64, seconds: usize, share: impl Fn(usize) -> f64) -> Course {
    let mut random = Random::new(seed);
    let unit = |at: usize| Unit {
        end_ms: (at as i64 + 1) * 1000,
        ms: 1000,
        all: 50,
        failed: (0..50).filter(|_| random.uniform() < share(at)).count() as u64,
        ..Unit::default()
    };
    Course((0..seconds).map(unit).collect())
}

fn of(a: &Course, b: &Course) -> Failures {
    Failures::of(&[a], &[b], Counted::Failed).expect("samples")
}

#[test]
fn an_outage_of_one_side_is_beyond_chance_and_has_its_time() {
    let good = course(1, 100, |_| 0.0);
    for (from, to, when) in [
        (0, 20, "0:00 to 0:20: one event does not say how often it happens"),
        (40, 60, "0:40 to 1:00: one event does not say how often it happens"),
        (80, 100, "1:20 until the end"),
    ] {
        let bad = course(2, 100, |at| if (from..to).contains(&at) { 1.0 } else { 0.0 });
        let found = of(&good, &bad);
        assert!(found.is_beyond && (found.change - 0.2).abs() < 1e-9, "{found:?}");
        let expected = format!(
            "B: 1 000 of 5 000 samples failed in the whole run, all of them from {when}; A: none of 5 000"
        );
        assert_eq!(found.words().en, expected);
        let other = of(&bad, &good);
        assert!(other.is_beyond && other.change < 0.0, "{other:?}");
    }
    let spread = of(&good, &course(3, 100, |_| 0.03));
    assert!(spread.is_beyond && spread.event_ms.is_none(), "{spread:?}");
    let few = Course(vec![Unit { all: 1, failed: 1, ms: 1000, end_ms: 1000, ..Unit::default() }]);
    assert!(!of(&good, &Course([good.0[..3].to_vec(), few.0].concat())).is_beyond);
}

/// Returns true if the counts show a difference between the sides when each failure counts as independent, even in
/// a burst.
fn is_called_by_each(a: &Course, b: &Course) -> bool {
    let sides = [a, b].map(|side| (counted(&[side]), design_effect(&[side]), side));
    let share = |at: usize| sides[at].0.1 as f64 / sides[at].0.0 as f64;
    let (more, less) = if share(1) >= share(0) { (1, 0) } else { (0, 1) };
    let effect = match event(std::slice::from_ref(sides[more].2)) {
        Some(_) => sides[less].1,
        None => (sides[less].1 * sides[more].1.max(sides[less].1)).sqrt(),
    };
    let counts = |at: usize| Counts { all: sides[at].0.0, failed: sides[at].0.1 };
    chance(counts(more), counts(less), effect) < CHANCE
}

#[test]
fn sides_that_fail_alike_are_hardly_ever_called_different() {
    // Three kinds of failures: independent ones, a share that lasts for some seconds, and outages of a second, with
    // the same average number.
    let bursts = |each: f64, seed: u64| {
        let mut random = Random::new(seed);
        let down: Vec<bool> = (0..100).map(|_| random.uniform() < each / 100.0).collect();
        course(seed, 100, move |at| if down[at] { 1.0 } else { 0.0 })
    };
    let wanders = |seed: u64| {
        let mut random = Random::new(seed);
        let mut level = 0.0;
        let levels: Vec<f64> = (0..100)
            .map(|_| {
                level = 0.8 * level + 0.6 * random.normal();
                0.01 * f64::exp(0.7 * level)
            })
            .collect();
        course(seed, 100, move |at| levels[at])
    };
    let called = |name: &str, most: usize, make: &dyn Fn(u64) -> Course| {
        let (mut by_events, mut by_each) = (0, 0);
        for seed in 0..2000 {
            let (a, b) = (make(2 * seed + 1), make(2 * seed + 2));
            by_events += usize::from(of(&a, &b).is_beyond);
            by_each += usize::from(is_called_by_each(&a, &b));
        }
        println!(
            "{name}: {by_events} of 2000 pairs called different; {by_each} if each failure counts"
        );
        assert!(by_events <= most, "{name}: {by_events}");
    };
    for share in [0.001, 0.01, 0.2, 0.9] {
        called(&format!("share {share}"), 8, &|seed| course(seed, 100, |_| share));
    }
    for outages in [0.5, 1.0, 2.0, 5.0, 10.0] {
        let name = format!("{outages} outages of a second in a run");
        called(&name, 20, &|seed| bursts(outages, seed));
    }
    called("a wandering share", 60, &wanders);
}

#[test]
fn a_short_outage_of_one_side_decides_nothing_and_many_do() {
    let good = course(1, 120, |_| 0.0);
    let down =
        |every: usize| course(2, 120, move |at| f64::from(u8::from(at % every == 34 % every)));
    let one = of(&good, &down(120));
    assert!(!one.is_beyond && !one.excludes(0.01) && one.short_events == Some(1), "{one:?}");
    assert_eq!(
        one.undecided().en,
        "B: 50 of 6 000 samples failed in the whole run, all of them between 0:34 and 0:35: one short event; A: none of \
         6 000; one event cannot tell a difference from chance: run longer, or repeat the runs"
    );
    let few = of(&good, &down(40));
    assert!(!few.is_beyond && few.short_events == Some(3), "{few:?}");
    assert!(few.words().en.contains("all of them in 3 short events; A: none"), "{few:?}");
    let many = of(&good, &down(8));
    assert!(many.is_beyond && many.short_events == Some(15), "{many:?}");
    // An outage on one side, with a base rate of failures on both sides.
    let usual = |seed| course(seed, 120, |_| 0.005);
    let with_outage = course(9, 120, |at| if at == 60 { 1.0 } else { 0.005 });
    assert!(!of(&usual(7), &with_outage).is_beyond);
    let lasting = course(9, 120, |at| if (60..80).contains(&at) { 1.0 } else { 0.005 });
    assert!(of(&usual(7), &lasting).is_beyond);
}

#[test]
fn an_event_in_each_of_three_runs_is_a_difference() {
    let good: Vec<Course> = (0..3).map(|seed| course(seed, 120, |_| 0.0)).collect();
    let bad: Vec<Course> = (3..6)
        .map(|seed| course(seed, 120, |at| f64::from(u8::from(at == 30 + 7 * seed as usize))))
        .collect();
    let of = |a: &[Course], b: &[Course]| {
        let (a, b): (Vec<_>, Vec<_>) = (a.iter().collect(), b.iter().collect());
        Failures::of(&a, &b, Counted::Failed).expect("samples")
    };
    assert!(of(&good, &bad).is_beyond && of(&bad, &good).is_beyond);
    let once = [good[0].clone(), good[1].clone(), bad[0].clone()];
    assert!(!of(&good, &once).is_beyond);
    // The runs differ from each other, so each run is one unit.
    let shares = |seed: u64, shares: [f64; 3]| -> Vec<Course> {
        (seed..).zip(shares).map(|(seed, share)| course(seed, 120, move |_| share)).collect()
    };
    let (a, b) = (shares(20, [0.01, 0.02, 0.03]), shares(30, [0.02, 0.03, 0.04]));
    assert!(!of(&a, &b).is_beyond, "{:?}", of(&a, &b));
    let died =
        [good[0].clone(), good[1].clone(), course(8, 120, |at| f64::from(u8::from(at >= 60)))];
    assert!(of(&good, &died).is_beyond);
}

#[test]
fn answers_not_as_expected_have_words_of_their_own() {
    let (good, bad) = (course(1, 120, |_| 0.0), course(2, 120, |_| 0.1));
    let found = Failures::of(&[&good], &[&bad], Counted::Unexpected).expect("answers");
    let words = "of 6 000 checked answers were not as expected in the whole run; A: none of 6 000";
    assert!(found.is_beyond && found.words().en.ends_with(words), "{}", found.words().en);
}

#[test]
fn intervals_by_counts_hold_the_true_change() {
    let held = |a: f64, b: f64| {
        let pair = |seed: u64| of(&course(2 * seed, 20, |_| a), &course(2 * seed + 1, 20, |_| b));
        let holds = |found: &Failures| found.interval.0 <= b - a && b - a <= found.interval.1;
        (0..1000).map(pair).filter(holds).count()
    };
    for (a, b) in [(0.0, 0.0), (0.01, 0.01), (0.01, 0.04), (0.5, 0.4)] {
        assert!(held(a, b) >= 930, "{a} {b}: {}", held(a, b));
    }
}
