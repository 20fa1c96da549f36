//! Samples are stored for each reason independently of the others, and storing allocates nothing after the first
//! seconds.

use super::*;
use crate::sample::LabelId;
use crate::{Recorder, Snapshot};

const START: i64 = 1_700_000_000_000 / 60_000 * 60_000;
const MS: u64 = 1_000_000;

/// Records a sample of `ms` milliseconds that ended `end_ms` after [`START`], as a core records its samples.
fn take(recorder: &mut Recorder, label: LabelId, end_ms: i64, ms: u64, error: Option<&str>) {
    let outcome = error.map_or(Outcome::Ok, |_| Outcome::Status);
    let (success, errors) = (error.is_none(), u32::from(error.is_some()));
    let start = START + end_ms - ms as i64;
    let sample = Sample { elapsed: ms * MS, outcome, success, errors, ..Sample::new(label, start) };
    let mut reasons = recorder.record(&sample);
    if let Some(message) = error {
        reasons.error = recorder.error(&sample, "500", message);
    }
    if reasons.any() {
        let texts = Texts { code: "200", response: ["head", "\n", "body"], ..Texts::default() };
        recorder.keep(reasons, &sample, &texts);
    }
}

fn second(recorder: &mut Recorder, at_ms: i64) -> Snapshot {
    let mut snapshot = Snapshot::new();
    recorder.drain(&mut snapshot);
    recorder.begin(START + at_ms);
    snapshot
}

fn begun() -> Recorder {
    let mut recorder = Recorder::new();
    recorder.begin(START);
    recorder
}

fn of(snapshot: &Snapshot, why: Why) -> Vec<(&str, u64)> {
    let kept = snapshot.kept.iter().filter(|kept| kept.why == why);
    kept.map(|kept| (&*kept.label, kept.elapsed / MS)).collect()
}

#[test]
fn many_samples_of_one_reason_leave_room_for_the_others() {
    let mut recorder = begun();
    let (much, late) = (recorder.intern("much"), recorder.intern("late"));
    for n in 0..10_000 {
        take(&mut recorder, much, n / 20, 5, None);
    }
    take(&mut recorder, late, 900, 40, None);
    take(&mut recorder, late, 901, 30, None);
    (0..7).for_each(|_| take(&mut recorder, much, 902, 1, Some("no")));
    let snapshot = second(&mut recorder, 1000);
    assert_eq!(of(&snapshot, Why::Slow), [("much", 5), ("late", 40)]);
    assert_eq!(of(&snapshot, Why::Error), [("much", 1); 5]);
    assert_eq!(of(&snapshot, Why::Random).len(), AT_RANDOM);
}

#[test]
fn a_failed_sample_can_be_the_slowest_too() {
    let mut recorder = begun();
    let label = recorder.intern("one");
    take(&mut recorder, label, 10, 10, Some("no"));
    let snapshot = second(&mut recorder, 1000);
    assert_eq!(of(&snapshot, Why::Slow), [("one", 10)]);
    assert_eq!(of(&snapshot, Why::Error), [("one", 10)]);
    assert_eq!(of(&snapshot, Why::Random), [("one", 10)]);
}

#[test]
fn each_minute_has_its_slowest_by_the_end_of_samples() {
    let mut recorder = begun();
    let label = recorder.intern("one");
    recorder.begin(START + 59_500);
    take(&mut recorder, label, 59_900, 300, None);
    take(&mut recorder, label, 60_100, 20, None);
    take(&mut recorder, label, 60_200, 10, None);
    let snapshot = second(&mut recorder, 60_500);
    assert_eq!(of(&snapshot, Why::Slow), [("one", 20)], "the second minute's took its place");
    take(&mut recorder, label, 60_600, 15, None);
    assert_eq!(of(&second(&mut recorder, 61_500), Why::Slow), []);
    // The system clock is set back.
    recorder.begin(START - 600_000);
    take(&mut recorder, label, -599_000, 15, None);
    assert_eq!(of(&second(&mut recorder, -598_000), Why::Slow), [("one", 15)]);
}

#[test]
fn what_finds_no_room_is_kept_later() {
    let mut recorder = begun();
    let labels: Vec<_> =
        (0..MOST_SLOW + 10).map(|n| recorder.intern(&format!("label {n}"))).collect();
    let mut all = |at_ms: i64, ms: u64, messages: usize| {
        for (n, label) in labels.iter().enumerate() {
            let message = format!("cause {}", n % messages);
            take(&mut recorder, *label, at_ms, ms, Some(&message));
        }
        let snapshot = second(&mut recorder, at_ms + 1000);
        let slow: Vec<_> =
            of(&snapshot, Why::Slow).into_iter().map(|one| one.0.to_owned()).collect();
        (slow, of(&snapshot, Why::Error).len())
    };
    let (slow, errors) = all(100, 7, labels.len());
    assert_eq!((slow.len(), errors), (MOST_SLOW, MOST_ERRORS));
    let (slow, errors) = all(1100, 7, labels.len());
    let left: Vec<_> = (MOST_SLOW..MOST_SLOW + 10).map(|n| format!("label {n}")).collect();
    assert_eq!(
        (slow, errors),
        (left, MOST_ERRORS),
        "those that had no room, and second ones of causes"
    );
}

/// Of 64 000 samples in a second, the randomly chosen samples are spread evenly: about as many from the first half as
/// from the second.
#[test]
fn those_at_random_are_not_the_first() {
    let mut recorder = begun();
    let (early, late) = (recorder.intern("early"), recorder.intern("late"));
    (0..32_000).for_each(|_| take(&mut recorder, early, 100, 5, None));
    (0..32_000).for_each(|_| take(&mut recorder, late, 800, 5, None));
    let snapshot = second(&mut recorder, 1000);
    let random = of(&snapshot, Why::Random);
    let first = random.iter().filter(|one| one.0 == "early").count();
    assert_eq!(random.len(), AT_RANDOM);
    // Binomial distribution with n = 64 and p = 1/2: a fair choice misses these limits once in 10^11 runs.
    assert!((5..=59).contains(&first), "{first}");
    let texts: Vec<_> = snapshot.kept.iter().filter(|kept| kept.why == Why::Random).collect();
    assert!(texts.iter().all(|kept| kept.code == "200" && kept.response == "head"));
}

/// The random choice is also even if a random number is drawn a thousand samples before its sample is recorded, as for
/// samples in flight.
#[test]
fn those_that_were_drawn_when_they_began_are_a_fair_choice_too() {
    let mut recorder = begun();
    let (early, late) = (recorder.intern("early"), recorder.intern("late"));
    let mut in_flight: std::collections::VecDeque<_> = (0..1000).map(|_| recorder.draw()).collect();
    let mut small = 0;
    for n in 0..64_000 {
        let (label, at) = if n < 32_000 { (early, 100) } else { (late, 800) };
        in_flight.push_back(recorder.draw());
        let draw = in_flight.pop_front().expect("a number");
        small += u32::from(draw.is_small());
        let sample = Sample { draw, elapsed: 5_000_000, ..Sample::new(label, START + at) };
        let reasons = recorder.record(&sample);
        if reasons.random {
            assert!(draw.is_small());
            recorder.keep(reasons, &sample, &Texts::default());
        }
    }
    let snapshot = second(&mut recorder, 1000);
    let random = of(&snapshot, Why::Random);
    let first = random.iter().filter(|one| one.0 == "early").count();
    assert_eq!(random.len(), AT_RANDOM);
    assert!((5..=59).contains(&first), "{first}");
    // Only few response heads are kept unnecessarily.
    assert!(small < 4000, "{small}");
}

#[test]
fn a_drawn_number_comes_back_but_for_its_last_bits() {
    let mut number = 0x9e37_79b9_7f4a_7c15_u64;
    for zeros in 0..64 {
        number = number.rotate_left(7) | 1 << 63;
        let small = number >> zeros;
        for others in [0, u64::MAX] {
            let back = Draw::of(small, u64::MAX).number(others);
            let apart = back.abs_diff(small) as f64 / small as f64;
            assert!(apart <= 1.0 / 1000.0 && back.leading_zeros() == zeros, "{small:x} {back:x}");
        }
    }
    assert!(!Draw::of(500, 500).is_small() && Draw::of(499, 500).is_small());
    assert!(!Draw::NONE.is_small());
}

#[test]
fn a_warm_keeper_allocates_nothing() {
    let mut recorder = begun();
    let labels: Vec<_> = (0..40).map(|n| recorder.intern(&format!("label {n}"))).collect();
    let mut snapshot = Snapshot::new();
    let round = |recorder: &mut Recorder, minute: i64| {
        recorder.begin(START + minute * 60_000);
        for (n, label) in labels.iter().enumerate() {
            take(recorder, *label, minute * 60_000 + 10, 5 + n as u64, None);
        }
    };
    round(&mut recorder, 0);
    recorder.drain(&mut snapshot);
    let used = allocation_counter::measure(|| round(&mut recorder, 1));
    assert_eq!(used.count_total, 0, "{used:?}");
    recorder.drain(&mut snapshot);
    assert!(of(&snapshot, Why::Slow).len() == 40);
}
