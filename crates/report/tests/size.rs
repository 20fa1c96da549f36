//! The size of a page is bounded for any length of the run and any number of labels.

use std::sync::Arc;

use answers::random::Random;
use answers::verdict::{Language, Verdict};
use record::{Frame, Has, Label, Part, Record, Second};
use report::model::{Agents, Given, RunPage};

/// Number of distinct seconds. A run repeats them in random order, because building each second takes long.
const KINDS: usize = 12;

/// Returns a run with these numbers of seconds and labels, and 10 samples per second and label.
fn record(seconds: usize, labels: u32) -> Record {
    let mut random = Random::new(1);
    let kinds: Vec<Second> = (0..KINDS).map(|_| second(&mut random, labels)).collect();
    let seconds = (0..seconds).map(|i| Second {
        at_ms: 1_700_000_000_000 + (i as i64 + 1) * 1000,
        ..kinds[random.below(KINDS)].clone()
    });
    let seconds: Vec<Second> = seconds.collect();
    Record {
        frame: Frame { length_ms: seconds.len() as i64 * 1000, ..Frame::default() },
        seconds,
        labels: (0..labels)
            .map(|n| Label { name: Arc::from(format!("Page {n}")), transaction: false, folded: 0 })
            .collect(),
        has: Has { phases: true, users: true, ..Has::default() },
        ..Record::default()
    }
}

fn second(random: &mut Random, labels: u32) -> Second {
    let parts: Vec<(u32, Part)> = (0..labels).map(|label| (label, part(random))).collect();
    let mut all = Part::default();
    for (_, part) in &parts {
        all.merge(part);
    }
    Second { ms: 1000, users: 100, all, labels: parts.into(), ..Second::default() }
}

fn part(random: &mut Random) -> Part {
    let mut part = Part::default();
    let mut times: Vec<u64> = (0..10).map(|_| 2000 + random.exponential(30_000.0) as u64).collect();
    times.sort_unstable();
    for us in times {
        part.count += 1;
        part.elapsed += us * 1000;
        part.longest = part.longest.max(us * 1000);
        part.phases.wait += us * 1000;
        part.service.add(stats::hist::layout::index_of(us), 1);
    }
    part
}

fn page(record: &Record) -> String {
    let verdict = Verdict::default();
    let given = Given {
        record,
        verdict: &verdict,
        run: "run",
        criteria: &[],
        properties: &[],
        notes: &[],
        jmeter: None,
        agents: &Agents::default(),
        live: false,
    };
    report::run(&RunPage::new(&given), Language::English)
}

#[test]
fn an_hour_with_fifty_labels_is_less_than_a_megabyte() {
    let size = page(&record(3600, 50)).len();
    assert!(size < 1_000_000, "{size} bytes");
}

#[test]
fn many_labels_and_a_long_run_are_bounded() {
    let size = page(&record(600, 450)).len();
    assert!(size < 1_500_000, "{size} bytes with many labels");
    let size = page(&record(20_000, 2)).len();
    assert!(size < 1_000_000, "{size} bytes of a long run");
}
