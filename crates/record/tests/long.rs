//! Records of long runs: old seconds are joined without losing counts, errors, extremes or marks.

use std::io::Cursor;

use proptest::prelude::*;
use record::coarse::LEVELS;
use record::compact::{Ages, compact};
use record::frame::{Change, Ending, Frame, Mark};
use record::second::Generator;
use record::{Around, Part, Record, Recording, Second, Series, Unit};
use stats::hist::Hist;
use stats::machine::Machine;
use stats::{Counter, Outcome, Recorder, Sample, Snapshot};

/// The content of one second: number of samples by label, number of failed samples, longest service time in ms.
#[derive(Clone, Copy, Debug)]
struct Shape {
    samples: [u8; 3],
    failed: u8,
    longest_ms: u16,
    users: u8,
    note: bool,
}

fn shape() -> impl Strategy<Value = Shape> {
    (any::<[u8; 3]>(), 0..4u8, any::<u16>(), any::<u8>(), prop::bool::weighted(0.1)).prop_map(
        |(samples, failed, longest_ms, users, note)| Shape {
            samples: samples.map(|n| n % 6),
            failed,
            longest_ms,
            users,
            note,
        },
    )
}

/// Returns the bytes of a record of these seconds, `apart` seconds apart.
fn written(shapes: &[Shape], apart: i64) -> Vec<u8> {
    let mut recording = Recording::new(Frame { start_ms: 1000, ..Frame::default() });
    let (mut recorder, mut snapshot) = (Recorder::new(), Snapshot::new());
    let mut bytes = Vec::new();
    for (at, shape) in (0i64..).zip(shapes) {
        let begin = 1000 + at * apart * 1000;
        recorder.begin(begin);
        let mut failed = shape.failed;
        for (n, samples) in shape.samples.into_iter().enumerate() {
            let label = recorder.intern(["a", "b", "c"][n]);
            for _ in 0..samples {
                let fails = failed > 0;
                failed = failed.saturating_sub(1);
                let sample = Sample {
                    elapsed: u64::from(shape.longest_ms) * 1_000_000 / (n as u64 + 1),
                    transaction: n == 2,
                    success: !fails,
                    errors: u32::from(fails),
                    outcome: if fails { Outcome::Status } else { Outcome::Ok },
                    ..Sample::new(label, begin)
                };
                recorder.record(&sample);
                if fails {
                    recorder.error(&sample, "500", "Internal");
                }
            }
        }
        recorder.add(Counter::ConnOpened, u64::from(shape.users));
        recorder.drain(&mut snapshot);
        snapshot.at_ms = begin + apart * 1000;
        let machine = Machine { resets_sent: 2, ..Machine::default() };
        let generator = Generator {
            cpu_s: 0.25,
            ports_left: Some(u64::from(shape.users)),
            ..Generator::default()
        };
        let series = Series { host: "db".into(), metric: "cpu".into(), unit: Unit::Share };
        let around = Around {
            users: shape.users.into(),
            due: 3,
            generator,
            machine: Some(machine),
            watched: vec![(series, f64::from(shape.users))],
            ..Around::default()
        };
        recording.second(&snapshot, around);
        if shape.note {
            let change = Change::Note(format!("note {at}"));
            recording.mark(&Mark { at_ms: begin, change });
        }
        bytes.extend(recording.take());
    }
    recording.end(snapshot.at_ms, 0, &Ending::Completed);
    bytes.extend(recording.take());
    bytes
}

fn shorter(bytes: &[u8], now_ms: i64, tight: u32) -> Vec<u8> {
    let mut to = Vec::new();
    compact(&mut Cursor::new(bytes), &mut to, Ages { now_ms, tight }).expect("memory");
    to
}

/// All metrics of a record that stay the same if its seconds are joined to longer intervals.
#[derive(Debug, PartialEq)]
struct Whole {
    all: Part,
    labels: Vec<(String, bool, Part)>,
    causes: Vec<u64>,
    opened: u64,
    resets: u64,
    due: u64,
    cpu_ms: i64,
    users: u64,
    ports_left: Option<u64>,
    watched: Option<(u64, u64)>,
    rates: Option<(u64, u64)>,
    ms: u64,
    marks: Vec<Mark>,
}

/// Normalizes histograms, so that they are equal regardless of the order of additions.
fn settled(mut part: Part) -> Part {
    part.slots = Default::default();
    for bins in [&mut part.service, &mut part.response, &mut part.failed] {
        let mut hist = Hist::new();
        hist.add(bins);
        *bins = hist.iter().collect::<Vec<_>>().try_into().expect("in order");
    }
    if part.response.is_empty() {
        part.response = part.service.clone();
    }
    part
}

fn whole(record: &Record) -> Whole {
    let seconds = &record.seconds;
    let sum = |of: fn(&Second) -> u64| seconds.iter().map(of).sum::<u64>();
    let mut all = Part::default();
    let mut labels = vec![Part::default(); record.labels.len()];
    let mut causes = vec![0; record.causes.len()];
    for second in seconds {
        all.merge(&second.all);
        second.labels.iter().for_each(|(n, part)| labels[n as usize].merge(&part));
        second.causes.iter().for_each(|(n, count)| causes[*n as usize] += count);
    }
    let range = |second: &Second| match &second.coarse {
        Some(coarse) => coarse.watched.first().map(|range| (range.least, range.most)),
        None => second.watched.first().map(|one| (one.1, one.1)),
    };
    let widest = |of: &dyn Fn(&Second) -> Option<(f64, f64)>| {
        let found = seconds.iter().filter_map(of);
        let (least, most) = found.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))?;
        Some((least.to_bits(), most.to_bits()))
    };
    let names = record.labels.iter().zip(labels);
    Whole {
        all: settled(all),
        labels: names
            .map(|(label, part)| (label.name.to_string(), label.transaction, settled(part)))
            .collect(),
        causes,
        opened: sum(|second| second.counters.get(Counter::ConnOpened)),
        resets: sum(|second| second.machine.as_ref().map_or(0, |machine| machine.resets_sent)),
        due: sum(|second| second.due),
        cpu_ms: (seconds.iter().map(|s| s.generator.cpu_s).sum::<f64>() * 1000.0).round() as i64,
        users: seconds.iter().map(|second| second.users).max().unwrap_or_default(),
        ports_left: seconds.iter().filter_map(|second| second.generator.ports_left).min(),
        watched: widest(&range),
        rates: widest(&Second::rates),
        ms: sum(|second| second.ms.into()),
        marks: record.marks.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_shorter_record_has_the_same_figures(
        shapes in prop::collection::vec(shape(), 1..150),
        apart in prop::sample::select(vec![1i64, 60, 3600]),
        tight in 6u32..12,
    ) {
        let bytes = written(&shapes, apart);
        let expected = whole(&Record::as_written(&bytes).expect("a record"));
        let mut now_ms = 1000 + shapes.len() as i64 * apart * 1000;
        let mut shorter_bytes = bytes;
        // Compacting the same file repeatedly joins intervals into longer ones.
        for _ in 0..3 {
            shorter_bytes = shorter(&shorter_bytes, now_ms, tight);
            let written = Record::as_written(&shorter_bytes).expect("a record");
            prop_assert_eq!(&written.flaws, &[]);
            prop_assert_eq!(&whole(&written), &expected);
            let read = Record::of_bytes(&shorter_bytes).expect("a record");
            prop_assert_eq!(&whole(&read), &expected);
            let steps: Vec<_> = read.seconds.iter().map(|s| s.coarse.as_ref().map(|one| one.step_ms)).collect();
            prop_assert!(steps.windows(2).all(|pair| pair[0] == pair[1]), "{:?}", steps);
            prop_assert_eq!(read.has.slots, steps.iter().all(Option::is_none));
            prop_assert_eq!(read.frame.ending, Ending::Completed);
            now_ms += 40 * 24 * 3_600_000;
        }
        // The whole frames of a truncated file are readable.
        let cut = Record::of_bytes(&shorter_bytes[..shorter_bytes.len() * 2 / 3]);
        prop_assert!(cut.is_none_or(|cut| cut.flaws.len() <= 1));
    }
}

#[test]
fn seconds_become_coarser_by_their_age() {
    let shape = Shape { samples: [1; 3], failed: 0, longest_ms: 5, users: 1, note: false };
    // A day of seconds that are a minute apart.
    let bytes = written(&[shape; 1440], 60);
    let day = 24 * 3_600_000;
    let of = |bytes: &[u8]| Record::as_written(bytes).expect("a record").seconds;
    let after = |days: i64| of(&shorter(&bytes, 1000 + day * days, 0));
    let steps = |seconds: &[Second]| {
        let mut steps: Vec<_> =
            seconds.iter().map(|s| s.coarse.as_ref().map_or(0, |one| one.step_ms)).collect();
        steps.dedup();
        steps
    };
    assert_eq!(steps(&after(1)), [60_000, 10_000, 0]);
    assert_eq!((steps(&after(3)), after(3).len()), (vec![600_000], 144));
    assert_eq!((steps(&after(40)), after(40).len()), (vec![LEVELS[3].0], 24));
}

#[test]
fn a_record_of_old_seconds_is_read_in_intervals_of_one_length() {
    let shape = Shape { samples: [2, 0, 1], failed: 1, longest_ms: 5, users: 1, note: false };
    let bytes = written(&vec![shape; 12_000], 1);
    let record = Record::of_bytes(&bytes).expect("a record");
    assert_eq!((record.step_ms(), record.seconds.len()), (Some(10_000), 1200));
    assert_eq!(whole(&record), whole(&Record::as_written(&bytes).expect("a record")));
}

#[test]
fn many_labels_share_the_bins_of_an_interval() {
    let mut recorder = Recorder::new();
    let mut recording = Recording::new(Frame::default());
    let (mut snapshot, mut bytes, mut state) = (Snapshot::new(), Vec::new(), 1_u64);
    for second in 0..60 {
        recorder.begin(second * 1000);
        for n in 0..3000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let label = recorder.intern(&format!("label {}", n % 100));
            let elapsed = 5_000_000 + (state >> 33) % 900_000_000;
            recorder.record(&Sample { elapsed, ..Sample::new(label, second * 1000) });
        }
        recorder.drain(&mut snapshot);
        snapshot.at_ms = (second + 1) * 1000;
        recording.second(&snapshot, Around::default());
        bytes.extend(recording.take());
    }
    let fine = Record::as_written(&bytes).expect("a record");
    let short = shorter(&bytes, 40 * 24 * 3_600_000, 0);
    let coarse = Record::as_written(&short).expect("a record");
    let [second] = &coarse.seconds[..] else { panic!("{}", coarse.seconds.len()) };
    let bins: usize = second.labels.iter().map(|(_, part)| part.service.len()).sum();
    assert!(bins <= 8192, "{bins} bins");
    assert_eq!(second.all.count, 180_000);
    let mut all = Hist::new();
    fine.seconds.iter().for_each(|second| all.add(&second.all.service));
    assert_eq!(second.all.service.quantile(0.99), all.quantile(0.99), "of all requests: exact");
    assert!(short.len() * 10 < bytes.len(), "{} of {} bytes", short.len(), bytes.len());
}

#[test]
fn an_interval_that_goes_on_drops_tenths_of_seconds_and_shares_bins_again() {
    let part = |second: u32| {
        let mut part = Part { count: 4000, slots: [400; 10], ..Part::default() };
        (0..4000).for_each(|bin| part.service.add(bin * 4 + second % 4, 1));
        part
    };
    let second = |at: u32| Second {
        at_ms: i64::from(at + 1) * 1000,
        ms: 1000,
        all: part(at),
        labels: vec![(0, part(at)), (1, part(at)), (7, part(at))].into(),
        ..Second::default()
    };
    let mut record = Record { seconds: (0..5).map(second).collect(), ..Record::default() };
    record = record.joined(10_000);
    let begun = record.clone().joined(10_000);
    assert_eq!(begun, record, "nothing is to be joined");
    record.seconds.extend((5..10).map(second));
    record = record.joined(10_000);
    let [whole] = &record.seconds[..] else { panic!("{} intervals", record.seconds.len()) };
    assert_eq!(
        (whole.all.count, whole.all.slots, whole.all.service.len()),
        (40_000, [0; 10], 16_000)
    );
    let labels: Vec<_> = whole.labels.iter().collect();
    assert_eq!(labels.iter().map(|label| label.0).collect::<Vec<_>>(), [0, 1, 7]);
    for (_, label) in labels {
        assert_eq!((label.count, label.slots, label.service.total()), (40_000, [0; 10], 40_000));
        assert!(label.service.len() <= 8192 / 3, "{}", label.service.len());
    }
}
