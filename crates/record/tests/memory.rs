//! Memory of a record that was read: it grows with the number of seconds, not of samples. The test is a separate
//! program, because it measures the memory of its process.

#[path = "../../../tests/bars.rs"]
mod bars;

use record::{Around, Frame, Record, Recording};
use stats::process::Usage;
use stats::{Recorder, Sample, Snapshot};

const START: i64 = 1_700_000_000_000;
const SECONDS: i64 = 100;
const LABELS: u64 = 50;
const PER_SECOND: u64 = 2000;

/// Returns a record with service times spread over 5 to 40 ms, as `examples/timing.rs` makes it.
fn written() -> Vec<u8> {
    let mut recorder = Recorder::new();
    let ids: Vec<_> = (0..LABELS).map(|n| recorder.intern(&format!("label {n}"))).collect();
    let mut recording = Recording::new(Frame { start_ms: START, ..Frame::default() });
    let (mut snapshot, mut state) = (Snapshot::new(), 1_u64);
    let mut bytes = Vec::new();
    recorder.begin(START);
    for second in 0..SECONDS {
        for n in 0..PER_SECOND {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let elapsed = 5_000_000 + (state >> 33) % 35_000_000;
            let start_ms = START + second * 1000 + (n * 900 / PER_SECOND) as i64;
            let label = ids[(n % LABELS) as usize];
            recorder.record(&Sample { elapsed, received: 500, ..Sample::new(label, start_ms) });
        }
        recorder.drain(&mut snapshot);
        snapshot.at_ms = START + (second + 1) * 1000;
        recorder.begin(snapshot.at_ms);
        recording.second(&snapshot, Around { users: 50, started: 50, ..Around::default() });
        bytes.extend(recording.take());
    }
    bytes
}

#[test]
fn a_record_read_three_times_is_the_same_record() {
    let bytes = written();
    // The first read also pays for one-time allocations, which do not count.
    let first = Record::of_bytes(&bytes).expect("a record");
    let before = Usage::now().rss;
    let records: Vec<Record> =
        (0..3).map(|_| Record::of_bytes(&bytes).expect("a record")).collect();
    let grown = Usage::now().rss.saturating_sub(before) / (3 * SECONDS as u64);
    println!("{} bytes a second in the file", bytes.len() as u64 / SECONDS as u64);
    bars::bar("a second of 50 labels in memory", grown, 20_000, "bytes");
    for record in &records {
        assert_eq!(*record, first);
        let samples: u64 = record.seconds.iter().map(|second| second.all.count).sum();
        assert_eq!(samples, SECONDS as u64 * PER_SECOND);
        let of_labels = record.seconds.iter().flat_map(|second| second.labels.counts());
        assert_eq!(of_labels.map(|label| label.1).sum::<u64>(), samples);
    }
}
