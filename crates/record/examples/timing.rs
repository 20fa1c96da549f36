//! Measures time and memory of reading a record or a result file: `cargo run --release -p throng-record --example
//! timing FILE`. With `--make FILE SECONDS LABELS PER_SECOND [MARKS]` it first writes the record of such a run, with
//! `MARKS` marks in each second, and compacts it every half hour from 2.5 h on, as a run does. Then it prints the
//! length of the file and the memory after 1, 2, 4, 8 … hours.

// Printing is allowed in an example.
#![allow(clippy::print_stdout)]

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use record::compact::{Ages, compact};
use record::{Around, Frame, Record, Recording};
use stats::{Recorder, Sample, Snapshot};

const START: i64 = 1_700_000_000_000;

/// Writes the record of a run with this number of seconds, labels, samples per second and marks per second.
fn make(path: &str, [seconds, labels, per_s, marks]: [u64; 4]) -> std::io::Result<()> {
    let mut file = File::create(path)?;
    let mut recorder = Recorder::new();
    let ids: Vec<_> = (0..labels).map(|n| recorder.intern(&format!("label {n}"))).collect();
    let mut recording = Recording::new(Frame { start_ms: START, ..Frame::default() });
    let (mut snapshot, mut state) = (Snapshot::new(), 1_u64);
    recorder.begin(START);
    for second in 0..seconds as i64 {
        for n in 0..per_s {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            // Service times whose logarithm is evenly spread over 5 to 40 ms.
            let elapsed = (5.0 * 8_f64.powf((state >> 33) as f64 / 2_f64.powi(31)) * 1e6) as u64;
            let start_ms = START + second * 1000 + (n * 900 / per_s) as i64;
            let label = ids[(n % labels) as usize];
            recorder.record(&Sample { elapsed, received: 500, ..Sample::new(label, start_ms) });
        }
        recorder.drain(&mut snapshot);
        snapshot.at_ms = START + (second + 1) * 1000;
        recorder.begin(snapshot.at_ms);
        for n in 0..marks {
            let change = record::Change::Users(50 + (second as u64 + n) % 2);
            recording.mark(&record::Mark { at_ms: snapshot.at_ms - 500, change });
        }
        recording.second(&snapshot, around(second));
        file.write_all(&recording.take())?;
        if second > 9000 && second % 1800 == 0 {
            file = shorter(path, snapshot.at_ms)?;
        }
        if second > 0 && second % HOUR == 0 && (second / HOUR).count_ones() == 1 {
            let (length, usage) = (file.metadata()?.len(), stats::process::Usage::now());
            println!("{} h: file {length} bytes, memory {} KiB", second / HOUR, usage.rss >> 10);
        }
    }
    recording.end(snapshot.at_ms, snapshot.at_ms - START, &record::Ending::Completed);
    file.write_all(&recording.take())
}

const HOUR: i64 = 3600;

/// Returns the metrics beside the samples, which vary from second to second as in a run.
fn around(second: i64) -> Around {
    let machine = stats::machine::Machine {
        segments_out: 1000 + second as u64 * 7919 % 500,
        load: (second % 37) as f64 / 10.0,
        cpu: (second % 29) as f64 / 100.0,
        memory_available: (1 << 30) + second as u64 * 104_729 % (1 << 20) * 4096,
        ..stats::machine::Machine::default()
    };
    let generator = record::Generator {
        cpu_s: (second % 31) as f64 / 100.0,
        memory: 20 << 20,
        threads: 2,
        ..record::Generator::default()
    };
    Around { users: 50, started: 50, generator, machine: Some(machine), ..Around::default() }
}

/// Compacts the file. Returns the file that replaced it.
fn shorter(path: &str, now_ms: i64) -> std::io::Result<File> {
    let copy = format!("{path}.part");
    let mut to = std::io::BufWriter::new(File::create(&copy)?);
    let mut from = std::io::BufReader::new(File::open(path)?);
    compact(&mut from, &mut to, Ages { now_ms, tight: 0 })?;
    let file = to.into_inner()?;
    std::fs::rename(copy, path)?;
    Ok(file)
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut path = arguments.next();
    if path.as_deref() == Some("--make") {
        path = arguments.next();
        let numbers: Vec<u64> = arguments.filter_map(|text| text.parse().ok()).collect();
        let (Some(path), [seconds, labels, per_s, marks @ ..]) = (&path, &numbers[..]) else {
            println!("--make wants a file, seconds, labels and samples a second");
            return;
        };
        let size = [*seconds, *labels, *per_s, marks.first().copied().unwrap_or(0)];
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
