//! The labels that the finding on a number of concurrent requests names.
mod situations;

use answers::rules;
use record::Record;
use situations::{MS, Users, Workers, about, good, run, users};

/// Returns the words of the finding, up to "at once".
fn number(record: &Record) -> Option<String> {
    let found =
        rules::verdict(record).findings.into_iter().find(|one| one.id == "concurrency_limit");
    found.map(|found| found.words.en.split(" at once").next().unwrap_or_default().to_owned())
}

fn shop() -> Users {
    Users { labels: &["home", "cart", "pay"], ..users(20).ramp(40).seconds(90) }
}

/// Returns a run of a shop in which requests of these labels share `workers` workers.
fn limited(workers: usize, labels: &'static [usize], takes: [u64; 3]) -> Record {
    let mut workers = Workers::new(workers);
    run(&shop(), move |request, random| {
        let takes = about(takes[request.label] * MS, random);
        let is_limited = labels.contains(&request.label);
        good(if is_limited { workers.work(request.at, takes) } else { takes })
    })
}

#[test]
fn a_limit_that_two_labels_share_names_them() {
    let record = limited(2, &[1, 2], [60, 50, 50]);
    let words = number(&record).expect("a limit");
    assert_eq!(words, "The target works on about 2 requests of \"cart\" and 1 more label");
}
