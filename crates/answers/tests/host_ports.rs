//! Local ports of a watched host that run out: the start that the rule reports, if readings do not arrive every
//! second.
// Each test binary uses only a part of the module `situations`.
mod situations;

use answers::rules;
use answers::verdict::Finding;
use record::Record;
use situations::all::with_host;
use situations::{MS, about, bad, good, run, users};
use stats::Outcome;

/// Returns a run of one minute with a gateway whose 5000 ports run out after 12.5 s, in the second that ends at 0:13;
/// then most requests fail.
fn without_ports() -> Record {
    let record = run(&users(20).ramp(5).pause(80), |request, random| {
        if request.at > 12_500 * MS && random.uniform() < 0.6 {
            bad(2 * MS, Outcome::Status, "500", "Internal Server Error")
        } else {
            good(about(20 * MS, random))
        }
    });
    with_host(record, 5_000.0, 400.0, 0.0, true)
}

fn found(record: &Record) -> Finding {
    let mut findings = rules::verdict(record).findings.into_iter();
    findings.find(|finding| finding.id == "host_ports").expect("the ports are named")
}

fn failed(finding: &Finding) -> [f64; 2] {
    ["failed_before", "failed_since"].map(|metric| {
        finding.evidence.iter().find(|one| one.metric == metric).expect("the figure").value
    })
}

#[track_caller]
fn all_fail_since(record: &Record, second: &str) {
    let found = found(record);
    let words = &found.words.en;
    assert!(words.contains(&format!("ran out at about {second}: ")), "{words}");
    let errors: u64 = record.seconds.iter().map(|second| second.all.errors).sum();
    assert_eq!(failed(&found), [0.0, errors as f64], "{words}");
}

#[test]
fn a_second_may_begin_with_a_reading_and_end_with_failures() {
    all_fail_since(&without_ports(), "0:13");
}

#[test]
fn where_readings_lack_failures_tell_the_second() {
    let mut record = without_ports();
    record.seconds[12..16].iter_mut().for_each(|second| second.watched.clear());
    all_fail_since(&record, "0:13");
}

#[test]
fn a_reading_may_come_a_second_late() {
    let mut record = without_ports();
    for n in (12..20).rev() {
        record.seconds[n].watched = record.seconds[n - 1].watched.clone();
    }
    all_fail_since(&record, "0:13");
}

#[test]
fn failures_of_before_stay_there() {
    let mut record = without_ports();
    record.seconds[5].all.errors += 1;
    let found = found(&record);
    let [before, since] = failed(&found);
    assert_eq!(before, 1.0, "{}", found.words.en);
    assert!(since > 1_000.0, "{since}");
}
