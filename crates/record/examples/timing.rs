//! Time and memory of reading a record or a result file: `cargo run --release -p throng-record --example timing FILE`. With
//! `--make FILE SECONDS LABELS PER_SECOND` it first makes the record of such a run.

// An example prints.
#![allow(clippy::print_stdout)]

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use record::{Around, Frame, Record, Recording};
use stats::{Recorder, Sample, Snapshot};

const START: i64 = 1_700_000_000_000;

/// Writes the record of a run with so many seconds, labels, and samples a second.
fn make(path: &str, [seconds, labels, per_s]: [u64; 3]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    let mut recorder = Recorder::new();
    let ids: Vec<_> = (0..labels).map(|n| recorder.intern(&format!("label {n}"))).collect();
    let mut recording = Recording::new(Frame { start_ms: START, ..Frame::default() });
    let (mut snapshot, mut state) = (Snapshot::new(), 1_u64);
    recorder.begin(START);
    for second in 0..seconds as i64 {
        for n in 0..per_s {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Times whose logarithm is spread: 5 to 40 ms.
            let elapsed = (5.0 * 8_f64.powf((state >> 33) as f64 / 2_f64.powi(31)) * 1e6) as u64;
            let start_ms = START + second * 1000 + (n * 900 / per_s) as i64;
            let label = ids[(n % labels) as usize];
            recorder.record(&Sample { elapsed, received: 500, ..Sample::new(label, start_ms) });
        }
        recorder.drain(&mut snapshot);
        snapshot.at_ms = START + (second + 1) * 1000;
        recorder.begin(snapshot.at_ms);
        recording.second(&snapshot, Around { users: 50, started: 50, ..Around::default() });
        file.write_all(&recording.take())?;
    }
    Ok(())
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut path = arguments.next();
    if path.as_deref() == Some("--make") {
        path = arguments.next();
        let numbers: Vec<u64> = arguments.filter_map(|text| text.parse().ok()).collect();
        let (Some(path), Ok(size)) = (&path, <[u64; 3]>::try_from(numbers)) else {
            println!("--make wants a file, seconds, labels and samples a second");
            return;
        };
        if let Err(error) = make(path, size) {
            println!("{path}: {error}");
            return;
        }
    }
    let Some(path) = path else {
        println!("the path of a run's folder, a record or a result file is wanted");
        return;
    };
    let bytes = std::fs::metadata(&path).map_or(0, |about| about.len());
    let begun = Instant::now();
    match Record::open(Path::new(&path), &stats::jtl::Columns::default()) {
        Err(error) => println!("{error}"),
        Ok(record) => {
            let took = begun.elapsed().as_secs_f64();
            let samples: u64 = record.seconds.iter().map(|second| second.all.count).sum();
            let usage = stats::process::Usage::now();
            println!(
                "{samples} samples in {} seconds: {took:.2} s, {:.0} samples/s, {:.1} MB/s, CPU {:.2} s, at most {} MiB",
                record.seconds.len(),
                samples as f64 / took,
                bytes as f64 / 1e6 / took,
                usage.cpu_s(),
                usage.rss_peak >> 20
            );
        }
    }
}
