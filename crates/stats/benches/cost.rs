//! Measures the cost of recording, draining, merging and writing a row: `cargo bench -p throng-stats`.
//!
//! Plain loops over a fixed sequence of pseudo-random samples. Prints nanoseconds per operation, the best of several
//! rounds.
use std::hint::black_box;
use std::time::Instant;

use stats::jtl::{Columns, Row};
use stats::{LabelId, Recorder, Sample, Snapshot, Totals};

const ROUNDS: usize = 7;
const N: usize = 200_000;

fn main() {
    for labels in [1, 12, 1000] {
        let (mut recorder, samples) = warm(labels);
        let mut snapshot = Snapshot::new();
        let mut totals = Totals::new();
        let record = best(|| {
            recorder.drain(&mut snapshot);
            let start = Instant::now();
            for sample in &samples {
                recorder.record(black_box(sample));
            }
            start.elapsed().as_nanos() as f64 / N as f64
        });
        let drain = best(|| {
            for sample in &samples {
                recorder.record(sample);
            }
            let start = Instant::now();
            recorder.drain(&mut snapshot);
            start.elapsed().as_nanos() as f64 / 1000.0
        });
        let add = best(|| {
            let start = Instant::now();
            totals.add(black_box(&snapshot));
            start.elapsed().as_nanos() as f64 / 1000.0
        });
        println!(
            "{labels:>5} labels: record {record:.1} ns, drain of {N} samples {drain:.0} µs, \
             add to totals {add:.0} µs"
        );
    }
    let columns = Columns::default();
    let row = Row {
        timestamp_ms: 1_700_000_000_000,
        elapsed_ms: 123,
        label: "GET /api/items",
        code: "200",
        message: "OK",
        thread_name: "Thread Group 1-17",
        data_type: "text",
        success: true,
        bytes: 1234,
        sent_bytes: 222,
        grp_threads: 50,
        all_threads: 50,
        url: Some("http://localhost:8080/api/items?page=2"),
        latency_ms: 120,
        ..Row::default()
    };
    let mut out = Vec::with_capacity(64 << 20);
    let write = best(|| {
        out.clear();
        let start = Instant::now();
        for _ in 0..N {
            columns.row(black_box(&row), &mut out);
        }
        start.elapsed().as_nanos() as f64 / N as f64
    });
    println!("result row of 17 columns: {write:.1} ns");
}

/// Returns a recorder that has already recorded its samples once. Response times spread over a few octaves.
fn warm(labels: u32) -> (Recorder, Vec<Sample>) {
    let mut recorder = Recorder::new();
    for n in 0..labels {
        recorder.intern(&format!("label {n}"));
    }
    let mut state = 1u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        state >> 33
    };
    let samples: Vec<Sample> = (0..N)
        .map(|n| Sample {
            elapsed: 200_000 + (random() % 3_000_000) * (1 + random() % 8),
            lag: random() % 20_000,
            received: 1200,
            sent: 200,
            ..Sample::new(LabelId(random() as u32 % labels), 1_700_000_000_000 + n as i64 / 200)
        })
        .collect();
    for sample in &samples {
        recorder.record(sample);
    }
    (recorder, samples)
}

fn best(mut round: impl FnMut() -> f64) -> f64 {
    (0..ROUNDS).map(|_| round()).fold(f64::INFINITY, f64::min)
}
