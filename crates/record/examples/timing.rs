//! Time and memory of reading a record or a result file: `cargo run --release -p throng-record --example timing FILE`.

// An example prints.
#![allow(clippy::print_stdout)]

use std::path::Path;
use std::time::Instant;

use record::Record;

fn main() {
    let Some(path) = std::env::args().nth(1) else {
        println!("the path of a run's folder, a record or a result file is wanted");
        return;
    };
    let bytes = std::fs::metadata(&path).map_or(0, |about| about.len());
    let begun = Instant::now();
    match Record::open(Path::new(&path)) {
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
