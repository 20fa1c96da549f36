use super::*;
use crate::frame::Frame;
use crate::{Around, Record, Recording};
use stats::{Outcome, Phases, Snapshot};

const START: i64 = 1_700_000_040_000;

fn slow(label: &str, end_ms: i64, elapsed_ms: u64) -> Example {
    Example {
        why: Why::Slow,
        rank: 0,
        label: label.into(),
        outcome: Outcome::Ok,
        start_ms: end_ms - elapsed_ms as i64,
        elapsed: elapsed_ms * 1_000_000,
        phases: Phases::default(),
        reused: true,
        sent: 1,
        received: 1,
        code: "200".into(),
        message: "OK".into(),
        address: "127.0.0.1:80".into(),
        trace: 0,
        request: "q".repeat(2048),
        response: "a".repeat(2048),
    }
}

/// In each minute of the run, each of 50 labels has five samples, each slower than the one before. The slowest sample
/// of the minute belongs to a different label each time.
#[test]
fn each_minute_of_a_long_run_keeps_its_slowest_within_the_bound() {
    const MINUTES: i64 = 90;
    let mut recording = Recording::new(Frame { start_ms: START, ..Frame::default() });
    let mut file = Vec::new();
    for minute in 0..MINUTES {
        for second in 1..=6_i64 {
            let at_ms = START + minute * 60_000 + second * 9_000;
            let examples = (0..50).map(|label| {
                let most = label == minute % 50 && second == 5;
                slow(
                    &format!("label-{}", word(label)),
                    at_ms - 5,
                    100 + second as u64 * 10 + u64::from(most) * 500,
                )
            });
            let kept = if second < 6 { examples.collect() } else { Vec::new() };
            let mut snapshot = Snapshot::default();
            (snapshot.at_ms, snapshot.kept) = (at_ms, kept);
            recording.second(&snapshot, Around::default());
        }
        file.extend(recording.take());
    }
    recording.end(START + MINUTES * 60_000, 0, &crate::frame::Ending::default());
    file.extend(recording.take());
    let record = Record::of_bytes(&file).expect("a record");
    let bytes: usize =
        record.kept.iter().map(|kept| kept.request.len() + kept.response.len()).sum();
    // Without a bound, three samples of each label and minute would be kept: 55 MB.
    assert!(bytes < MOST_SLOW + MINUTES as usize * (A_MINUTE + 8192), "{bytes} bytes");
    for minute in 0..MINUTES {
        let of_it = |ms: i64| (ms - START).div_euclid(60_000) == minute;
        let most =
            record.kept.iter().filter(|kept| of_it(kept.start_ms)).max_by_key(|kept| kept.elapsed);
        let most = most.unwrap_or_else(|| panic!("minute {minute} has no slow sample"));
        assert_eq!(most.elapsed, 650 * 1_000_000, "minute {minute}");
        assert_eq!(
            &*record.labels[most.label as usize].name,
            format!("label-{}", word(minute % 50))
        );
    }
    // In the last ten minutes every label has a sample.
    let late = record.kept.iter().filter(|kept| kept.start_ms >= START + (MINUTES - 10) * 60_000);
    let labels: std::collections::HashSet<u32> = late.map(|kept| kept.label).collect();
    assert_eq!(labels.len(), 50);
}

/// Returns a name without digits, because labels that differ only in numbers might be folded.
fn word(n: i64) -> String {
    ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
        .iter()
        .cycle()
        .skip(n as usize % 8)
        .take(1 + n as usize / 8)
        .collect()
}

#[test]
fn samples_by_chance_take_no_room_of_slow_ones() {
    let mut shelf = Shelf::default();
    let random = Example { why: Why::Random, ..slow("a", START, 1) };
    assert!(shelf.admits(&random));
    shelf.took(Why::Random, MOST_RANDOM + 1);
    assert!(!shelf.admits(&random), "no room is left for those by chance");
    assert!(shelf.admits(&slow("a", START, 1)), "slow ones have theirs");
    shelf.took(Why::Slow, MOST_SLOW + 1);
    assert!(!shelf.admits(&slow("a", START, 1)));
    assert!(!shelf.admits(&slow("a", START, 3)));
    assert!(!shelf.admits(&slow("a", START, 2)));
    let next = slow("a", START + 60_000, 7);
    assert!(!shelf.admits(&next), "it waits for the end of its own minute");
    let (waited, _) = shelf.ended(START + 60_000);
    assert_eq!(waited.iter().map(|one| one.elapsed).collect::<Vec<_>>(), [3_000_000]);
}
