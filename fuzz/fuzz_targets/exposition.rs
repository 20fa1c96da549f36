//! Fuzzes the text of Prometheus exporters and the lines of PerfMon agents: no panic, metrics are numbers, and
//! their count is bounded.

#![no_main]

use libfuzzer_sys::fuzz_target;
use watch::perfmon::{Agent, Metric, read};
use watch::reader::{MOST_OWN, Reader};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let half = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let (before, after) = text.split_at(half);
    let mut reader = Reader::default();
    for (second, text) in [before, after, &*text].into_iter().enumerate() {
        let figures = reader.read(text, second as f64);
        assert!(figures.len() <= MOST_OWN + 200);
        assert!(figures.iter().all(|figure| figure.value.is_finite()));
    }
    let metrics = vec![Metric::new(0, "h", before, after), Metric::new(0, "h", "CPU", after)];
    let agent = Agent { metrics, ..Agent::default() };
    let (figures, samples) = read(&agent, &text, 0);
    assert!(figures.len() <= samples.len() && samples.len() <= 2);
});
