//! The file of a record: reading returns the written data, from a whole file or one cut anywhere.

use std::sync::Arc;

use proptest::prelude::*;
use record::frame::{Change, Ending, Frame, Load, Mark};
use record::kept::{Kept, Why};
use record::second::{Class, Generator};
use record::{Around, ClassName, Fact, Flaw, Part, RatePeriod, Record, Recording, Series, Unit};
use stats::machine::Machine;
use stats::{Check, Checks, Counter, Outcome, Phases, Recorder, Sample, Snapshot};

const START: i64 = 1_700_000_000_000;

/// Returns a snapshot of `labels` labels with `samples` samples, every seventh failed.
fn snapshot(second: i64, labels: u64, samples: u64) -> Snapshot {
    let mut recorder = Recorder::new();
    recorder.begin(START + second * 1000);
    for n in 0..samples {
        let id = recorder.intern(&format!("label {}", n % labels));
        let failed = n % 7 == 3;
        let sample = Sample {
            elapsed: (n * 37 % 900 + 1) * 1_000_000,
            wait: (n % 3) * 500_000,
            lag: n * 1000,
            sent: 10,
            received: n,
            success: !failed,
            errors: u32::from(failed),
            outcome: if failed { Outcome::Status } else { Outcome::Ok },
            phases: Phases { wait: n * 1000, receive: 5000, ..Phases::default() },
            ..Sample::new(id, START + second * 1000)
        };
        recorder.record(&sample);
        if failed {
            recorder.error(&sample, "500", "Internal");
        }
    }
    let label = recorder.intern("label 0");
    recorder.record(&Sample { transaction: true, ..Sample::new(label, START) });
    recorder.add(Counter::ConnOpened, 4);
    recorder.span(stats::Span::Connect, 250_000);
    recorder.closed(stats::CloseCause::PeerFin, 1001, 30);
    let mut snapshot = Snapshot::new();
    recorder.drain(&mut snapshot);
    snapshot.at_ms = START + (second + 1) * 1000;
    snapshot
}

fn frame() -> Frame {
    Frame {
        version: "1".into(),
        plan: "a.jmx".into(),
        plan_hash: u64::MAX,
        start_ms: START,
        processors: 4,
        load: Load {
            users: 7,
            rate: Some(2.5),
            schedule: vec![RatePeriod { length_ms: 9, begin: 0.0, end: 2.5 }],
            length_ms: Some(9),
            open: true,
        },
        settings: vec![("keep_alive".into(), "true".into())],
        ..Frame::default()
    }
}

fn around() -> Around {
    let machine = Machine { load: 1.5, ..Machine::default() };
    Around {
        users: 3,
        started: 4,
        due: 10,
        missed: 1,
        generator: Generator { cpu_s: 0.5, ports_left: Some(1), ..Generator::default() },
        machine: Some(machine),
        classes: vec![(
            ClassName::Header { name: "X-Served-By".into(), value: "b".into() },
            Class { count: 2, errors: 1, ..Class::default() },
        )],
        watched: vec![(
            Series { host: "db".into(), metric: "cpu".into(), unit: Unit::Share },
            0.75,
        )],
    }
}

#[test]
fn facts_of_hosts_are_written_again_when_they_change_or_a_frame_is_lost() {
    let fact = |value: &str| Fact {
        host: "app".into(),
        name: Fact::COLLECTORS.into(),
        value: value.into(),
    };
    let mut recording = Recording::new(frame());
    recording.fact(fact("Serial"));
    recording.second(&snapshot(0, 5, 60), around());
    let mut bytes = recording.take();
    let length = bytes.len();
    recording.second(&snapshot(1, 5, 60), around());
    recording.fact(fact("G1"));
    recording.second(&snapshot(2, 5, 60), around());
    bytes.extend(recording.take());
    assert_eq!(Record::of_bytes(&bytes).expect("a record").facts, [fact("G1")]);
    assert_eq!(Record::of_bytes(&bytes[..length]).expect("a record").facts, [fact("Serial")]);
    // After a frame that could not be written, the facts are written with the next one.
    let mut recording = Recording::new(frame());
    recording.fact(fact("ZGC"));
    recording.second(&snapshot(0, 5, 60), around());
    drop(recording.take());
    recording.lost(true);
    recording.second(&snapshot(1, 5, 60), around());
    let record = Record::of_bytes(&recording.take()).expect("a record");
    assert_eq!(record.facts, [fact("ZGC")]);
    assert!(record.flaws.is_empty(), "{:?}", record.flaws);
}

/// Returns a file of `seconds` seconds, and the end offset of each frame.
fn written(seconds: i64) -> (Vec<u8>, Vec<usize>) {
    let mut recording = Recording::new(frame());
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    for second in 0..seconds {
        recording.second(&snapshot(second, 5, 60), around());
        recording.mark(&Mark { at_ms: START + second, change: Change::Phase("hold".into()) });
        bytes.extend(recording.take());
        ends.push(bytes.len());
    }
    (bytes, ends)
}

/// Returns a sample that was kept as a failure.
fn failed() -> Kept {
    Kept {
        why: Why::Error,
        label: 0,
        cause: None,
        outcome: Outcome::Status,
        start_ms: START,
        elapsed: 5,
        phases: Phases { dns: 3, ..Phases::default() },
        code: "500".into(),
        message: "Internal".into(),
        address: "127.0.0.1:80".into(),
        reused: true,
        sent: 1,
        received: 2,
        trace: 0,
        request: "GET / HTTP/1.1".into(),
        response: "HTTP/1.1 500".into(),
    }
}

#[test]
fn of_the_samples_that_were_slow_for_a_while_the_slowest_of_each_label_and_minute_is_read() {
    let mut recording = Recording::new(frame());
    for (label, start_ms, elapsed) in [
        ("a", 0, 7_000_000),
        ("a", 500, 9_000_000),
        ("b", 600, 5),
        ("a", 900, 8_000_000),
        ("a", 60_000, 1),
    ] {
        let kept = Kept { why: Why::Slow, start_ms: START + start_ms, elapsed, ..failed() };
        recording.keep(kept, &Arc::from(label));
    }
    let record = Record::of_bytes(&recording.take()).expect("a record");
    let kept = record.kept.iter().map(|kept| (kept.start_ms - START, kept.elapsed));
    assert_eq!(kept.collect::<Vec<_>>(), [(500, 9_000_000), (600, 5), (60_000, 1)]);
}

#[test]
fn what_was_recorded_is_read() {
    let (mut bytes, _) = written(3);
    let mut recording = Recording::new(frame());
    recording.second(&snapshot(0, 5, 60), around());
    let kept = failed();
    recording.keep(kept.clone(), &Arc::from("label 3"));
    recording.end(START + 3000, 2900, &Ending::StoppedByPlan);
    let one = Record::of_bytes(&recording.take()).expect("a record");
    let label = one.labels.iter().position(|label| &*label.name == "label 3").expect("it") as u32;
    assert_eq!(one.kept, [Kept { label, cause: Some(0), ..kept }]);
    assert_eq!((one.frame.length_ms, &one.frame.ending), (3000, &Ending::StoppedByPlan));
    assert!(one.has.kept && one.flaws.is_empty());

    let record = Record::of_bytes(&bytes).expect("a record");
    assert_eq!(record.flaws, []);
    assert_eq!(record.frame, Frame { length_ms: 3000, ..frame() });
    assert_eq!(record.seconds.len(), 3);
    let second = &record.seconds[1];
    assert_eq!((second.at_ms, second.ms, second.users), (START + 2000, 1000, 3));
    assert_eq!((second.due, second.missed, second.started), (10, 1, 4));
    assert_eq!(second.generator, around().generator);
    assert_eq!(second.machine.as_ref().map(|m| m.load), Some(1.5));
    assert_eq!(second.counters.get(Counter::ConnOpened), 4);
    assert_eq!((second.connect.total(), second.all.count, second.all.errors), (1, 60, 9));
    assert_eq!(second.closes, snapshot(1, 5, 60).closes);
    assert_eq!(second.lag.total(), 60);
    assert_eq!(second.all.failed.total(), 9);
    assert_eq!(second.all.slots.iter().sum::<u32>(), 60);
    assert_eq!(second.causes, [(0, 9)]);
    assert_eq!(record.causes[0].message.as_ref(), "Internal");
    assert_eq!(record.series[second.watched[0].0 as usize].host.as_ref(), "db");
    assert_eq!((record.classes.len(), second.classes[0].1.count), (1, 2));
    // Five labels, and a transaction with the name of one of them.
    assert_eq!((record.labels.len(), second.labels.len()), (6, 6));
    let taken = snapshot(1, 5, 60);
    for delta in &taken.labels {
        let number = record
            .labels
            .iter()
            .position(|l| l.name == delta.name && l.transaction == delta.transaction);
        let part = number.and_then(|number| second.labels.get(number as u32)).expect("it");
        assert_eq!(*part, Part::of(delta));
    }
    assert_eq!(record.marks.len(), 3);
    bytes.truncate(4);
    assert!(Record::of_bytes(&bytes).is_none());
}

#[test]
fn a_file_that_is_cut_anywhere_is_read_up_to_its_last_whole_second() {
    let (bytes, ends) = written(4);
    for cut in 8..bytes.len() {
        let record = Record::of_bytes(&bytes[..cut]).expect("a record");
        let whole = ends.iter().filter(|end| **end <= cut).count();
        assert_eq!(record.seconds.len(), whole, "{cut}");
        let torn = cut > 8 && !ends.contains(&cut);
        assert_eq!(!record.flaws.is_empty(), torn, "{cut}: {:?}", record.flaws);
    }
}

/// Returns the flaw of a file that is damaged in one place.
fn damaged(bytes: usize, missing_ms: i64) -> [Flaw; 1] {
    [Flaw::Damaged { bytes: bytes as u64, places: 1, missing_ms }]
}

#[test]
fn a_damaged_second_is_left_out_and_counted() {
    let (bytes, ends) = written(4);
    // Damage in the frame's head is included: the next second is found nevertheless.
    for at in ends[1]..ends[2] {
        let mut bytes = bytes.clone();
        bytes[at] ^= 0x10;
        let record = Record::of_bytes(&bytes).expect("a record");
        assert_eq!(record.seconds.len(), 3, "{at}");
        assert_eq!(record.flaws, damaged(ends[2] - ends[1], 1000), "{at}");
    }
}

#[test]
fn bytes_of_zero_or_of_chance_count_as_the_seconds_that_they_replaced() {
    let (bytes, ends) = written(9);
    let mut state = 1_u64;
    let chance = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 56) as u8
    });
    let filler: Vec<u8> = chance.take(2_500_000).collect();
    for longer in [0, 2_000_000] {
        for filler in [&vec![0; filler.len()], &filler] {
            // The hole reaches from within the third second into the fifth.
            let mut bytes = bytes.clone();
            let hole = ends[1] + 5..ends[4] - 5;
            let length = hole.len() + longer;
            bytes.splice(hole, filler[..length].iter().copied());
            let record = Record::of_bytes(&bytes).expect("a record");
            assert_eq!(record.seconds.len(), 6);
            assert_eq!(record.flaws, damaged(length + 10, 3000));
        }
    }
}

#[test]
fn damage_is_told_with_the_time_that_it_took() {
    let (mut bytes, ends) = written(9);
    bytes[ends[0] + 20] ^= 1;
    bytes[ends[3]..ends[5]].fill(0);
    let length = (ends[1] - ends[0]) + (ends[5] - ends[3]);
    let flaw = Flaw::Damaged { bytes: length as u64, places: 2, missing_ms: 3000 };
    let words = flaw.to_string();
    assert_eq!(Record::of_bytes(&bytes).expect("a record").flaws, [flaw]);
    assert!(words.ends_with("in 2 places could not be read and are left out: 3.0 s of the run; its rates are too low by that"), "{words}");
    // A copy in which all seconds were joined into intervals has the same flaw.
    let mut copy = Vec::new();
    let ages = record::compact::Ages { now_ms: START + 100 * 3_600_000, tight: 0 };
    record::compact::compact(&mut &bytes[..], &mut copy, ages).expect("a copy");
    let flaws = Record::of_bytes(&copy).expect("a record").flaws;
    assert_eq!(flaws, [Flaw::Damaged { bytes: length as u64, places: 2, missing_ms: 3000 }]);
    // After the last second, no time is known to be missing.
    let (mut bytes, _) = written(3);
    bytes.extend([0; 4096]);
    let record = Record::of_bytes(&bytes).expect("a record");
    assert_eq!((record.seconds.len(), &record.flaws[..]), (3, &damaged(4096, 0)[..]));
    assert_eq!(
        record.flaws[0].to_string(),
        "4 096 bytes in 1 place could not be read and are left out"
    );
}

#[test]
fn a_run_whose_beginning_is_damaged_starts_with_its_first_second() {
    let (mut bytes, ends) = written(4);
    let whole = Record::of_bytes(&bytes).expect("a record");
    bytes[30] ^= 0x10;
    let record = Record::of_bytes(&bytes).expect("a record");
    assert!(ends[0] > 30 && record.flaws.contains(&Flaw::NoStart), "{:?}", record.flaws);
    assert!(record.flaws.iter().any(|flaw| matches!(flaw, Flaw::Damaged { .. })));
    let first = &record.seconds[0];
    assert_eq!(record.frame.start_ms, first.at_ms - i64::from(first.ms));
    assert_eq!(record.seconds.last().map(|s| s.at_ms), whole.seconds.last().map(|s| s.at_ms));
    assert!(record.frame.length_ms <= whole.frame.length_ms, "{}", record.frame.length_ms);
}

#[test]
fn a_frame_that_could_not_be_written_takes_no_names_with_it() {
    let mut recording = Recording::new(frame());
    recording.second(&snapshot(0, 5, 60), around());
    assert!(!recording.take().is_empty());
    recording.lost(true);
    recording.second(&snapshot(1, 5, 60), around());
    let record = Record::of_bytes(&recording.take()).expect("a record");
    assert_eq!(record.seconds.len(), 1);
    assert_eq!(record.labels.len(), 6);
    assert!(record.labels.iter().all(|label| label.name.starts_with("label ")));
    assert_eq!(record.causes[0].code.as_ref(), "500");
    assert_eq!(record.frame.plan, "a.jmx");
}

#[test]
fn labels_beyond_the_bound_are_folded_and_nothing_is_lost() {
    let mut recording = Recording::new(frame());
    let mut bytes = Vec::new();
    let mut longest = 0;
    for second in 0..10 {
        let mut recorder = Recorder::new();
        for n in 0..1000 {
            let id = recorder.intern(&format!("/item/{}", second * 1000 + n));
            recorder.record(&Sample { elapsed: 5_000_000, ..Sample::new(id, START) });
        }
        let login = recorder.intern("Login");
        recorder.record(&Sample { elapsed: 5_000_000, ..Sample::new(login, START) });
        let mut snapshot = Snapshot::new();
        recorder.drain(&mut snapshot);
        snapshot.at_ms = START + (second + 1) * 1000;
        recording.second(&snapshot, Around::default());
        let frame = recording.take();
        longest = longest.max(frame.len());
        bytes.extend(frame);
    }
    let words = recording.warning().expect("a warning");
    assert!(words.contains("/item/#"), "{words}");
    assert_eq!(recording.warning(), None);
    let record = Record::of_bytes(&bytes).expect("a record");
    assert!(record.labels.len() <= record::MOST_LABELS, "{}", record.labels.len());
    let names: Vec<&str> = record.labels.iter().map(|label| &*label.name).collect();
    assert_eq!(names, ["/item/#", "Login"]);
    assert_eq!(record.labels[0].folded, 10_000);
    for second in &record.seconds {
        let counts: Vec<_> = second.labels.iter().map(|(n, part)| (n, part.count)).collect();
        assert_eq!(counts, [(0, 1000), (1, 1)]);
        assert_eq!(second.all.count, 1001);
    }
    println!("10 000 labels: {} bytes in 10 s, {longest} at most in one", bytes.len());
}

#[test]
fn an_hour_with_fifty_labels() {
    let mut recording = Recording::new(frame());
    let mut size = 0;
    for second in 0..60 {
        recording.second(&snapshot(second, 50, 2000), around());
        size += recording.take().len();
    }
    println!(
        "50 labels, 2 000 samples a second: {} bytes a second, {} MB an hour",
        size / 60,
        size * 60 / 1_000_000
    );
    assert!(size / 60 < 20_000, "{size}");
}

proptest! {
    #[test]
    fn parts_merge_in_any_order(a in 1u64..200, b in 1u64..200, c in 1u64..200) {
        let part = |n: u64| Part::of(&snapshot(0, 1, n).labels[0]);
        let (a, b, c) = (part(a), part(b), part(c));
        let sum = |parts: &[&Part]| {
            let mut sum = Part::default();
            for part in parts {
                sum.merge(part);
            }
            sum
        };
        let mut left = sum(&[&a, &b]);
        left.merge(&c);
        let mut right = sum(&[&b, &c]);
        let right_first = right.clone();
        right = a.clone();
        right.merge(&right_first);
        prop_assert_eq!(&left, &right);
        prop_assert_eq!(left, sum(&[&c, &b, &a]));
    }

    #[test]
    fn bytes_of_any_kind_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..600), at in 0usize..4000, with in any::<u8>()) {
        let _ = Record::of_bytes(&[b"throngR1".as_slice(), &bytes].concat());
        let _ = Record::of_entries(&bytes);
        let (mut good, _) = written(1);
        let at = at % good.len();
        good[at] = with;
        let _ = Record::of_bytes(&good);
    }
}

/// A result file is distinguished from a record by its first bytes, because it may be larger than memory.
#[test]
fn a_huge_file_that_is_no_record_is_not_read_whole() {
    let path = std::env::temp_dir().join(format!("throng-rows-{}.jtl", std::process::id()));
    let file = std::fs::File::create(&path).unwrap();
    // A sparse file, which occupies no disk space.
    let is_huge = file.set_len(1 << 43).is_ok();
    let read = Record::read(&path);
    std::fs::remove_file(&path).unwrap();
    if !is_huge {
        return;
    }
    assert!(matches!(read, Err(record::ReadError::NotARecord(_))), "{read:?}");
}

#[test]
fn response_times_of_their_own_are_merged_with_those_of_the_service() {
    let bins = |list: &[(u32, u64)]| stats::hist::Bins::try_from(list.to_vec()).expect("in order");
    let plain = Part { count: 2, service: bins(&[(10, 2)]), ..Part::default() };
    let late = Part { response: bins(&[(20, 1)]), service: bins(&[(10, 1)]), ..Part::default() };
    for (first, second) in [(&plain, &late), (&late, &plain)] {
        let mut all = Part::default();
        all.merge(first);
        all.merge(second);
        assert_eq!((&all.service, all.response()), (&bins(&[(10, 3)]), &bins(&[(10, 2), (20, 1)])));
    }
    let mut all = plain.clone();
    all.merge(&plain);
    assert_eq!(all.response(), &bins(&[(10, 4)]));
    assert_eq!(plain, Part { response: plain.service.clone(), ..plain.clone() });
    assert_ne!(plain, Part { response: bins(&[(11, 2)]), ..plain.clone() });
}

/// Returns a snapshot of samples with these labels and destination ports.
fn served(pairs: &[(&str, u16)]) -> Snapshot {
    let mut recorder = Recorder::new();
    recorder.begin(START);
    for (label, port) in pairs {
        let label = recorder.intern(label);
        let class = recorder.class_of(([10, 0, 0, 1], *port).into());
        let classes = [class, stats::ClassId::NONE];
        recorder.record(&Sample { classes, ..Sample::new(label, START) });
    }
    let mut snapshot = Snapshot::new();
    recorder.drain(&mut snapshot);
    snapshot.at_ms = START + 1000;
    snapshot
}

#[test]
fn labels_are_known_by_the_address_that_served_them() {
    let mut recording = Recording::new(frame());
    let pairs = [("a", 80), ("b", 80), ("a", 80), ("c", 81)];
    // Two cores report the same pairs.
    let mut both = served(&pairs);
    both.merge(&served(&pairs[..1]));
    recording.second(&both, Around::default());
    let mut bytes = recording.take();
    recording.second(&served(&[("c", 80), ("a", 80)]), Around::default());
    bytes.extend(recording.take());
    let record = Record::of_bytes(&bytes).expect("a record");
    let names = |pair: &(u32, u32)| {
        let ClassName::Address(address) = &record.classes[pair.0 as usize] else { panic!() };
        format!("{} {address}", record.labels[pair.1 as usize].name)
    };
    let mut known: Vec<String> = record.served.iter().map(names).collect();
    known.sort();
    let right = ["a 10.0.0.1:80", "b 10.0.0.1:80", "c 10.0.0.1:80", "c 10.0.0.1:81"];
    assert_eq!(known, right);
}

/// Returns a second of 18 samples. Of 10 checked responses, one failed its assertion, and one has an error status that
/// its assertion accepts. 4 requests were refused. 4 responses are unchecked, one of which a script failed.
fn checked(second: i64) -> Snapshot {
    let mut recorder = Recorder::new();
    recorder.begin(START + second * 1000);
    let mut add = |label: &str, outcome, check, failed: bool| {
        let id = recorder.intern(label);
        let errors = u32::from(failed);
        let start = Sample::new(id, START + second * 1000);
        recorder.record(&Sample { outcome, check, success: !failed, errors, ..start });
    };
    (0..8).for_each(|_| add("checked", Outcome::Ok, Check::Expected, false));
    add("checked", Outcome::Assertion, Check::Unexpected, true);
    add("checked", Outcome::Status, Check::Expected, false);
    (0..4).for_each(|_| add("refused", Outcome::Refused, Check::Unchecked, true));
    (0..3).for_each(|_| add("free", Outcome::Ok, Check::Unchecked, false));
    add("free", Outcome::Assertion, Check::Unchecked, true);
    let mut snapshot = Snapshot::new();
    recorder.drain(&mut snapshot);
    snapshot.at_ms = START + (second + 1) * 1000;
    snapshot
}

#[test]
fn checked_answers_are_read_by_label_and_add_up_over_intervals() {
    let mut recording = Recording::new(frame());
    (0..20).for_each(|second| recording.second(&checked(second), around()));
    let record = Record::of_bytes(&recording.take()).expect("a record");
    let of = |record: &Record, label: Option<&str>| {
        let number = |name: &str| record.labels.iter().position(|one| *one.name == *name);
        let label = label.map(|name| number(name).expect("a label") as u32);
        let mut sum = Checks::default();
        for second in &record.seconds {
            sum.merge(&second.checks_of(label, &record.labels));
        }
        [sum.checked, sum.unexpected, sum.failed]
    };
    for record in [&record.clone().joined(10_000), &record] {
        assert_eq!(of(record, None), [200, 20, 100]);
        assert_eq!(of(record, Some("checked")), [200, 20, 20]);
        assert_eq!(of(record, Some("refused")), [0, 0, 80]);
        assert_eq!(of(record, Some("free")), [0, 0, 0], "what a script failed had an answer");
    }
}
