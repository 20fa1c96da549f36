//! Records of real runs against bundled targets (`tests/records/make`): the rule of their situation speaks, whatever the
//! machine that recorded them was doing beside. Where its processors were full with other programs, the finding on the
//! target is held back, as it must be.
use std::path::Path;

use answers::rules;
use record::Record;

const RUNS: [(&str, &str); 4] = [
    ("workers", "concurrency_limit"),
    ("limiter", "rate_limit"),
    ("churn", "connection_churn"),
    ("bimodal", "bimodal"),
];
/// Rules that may speak beside: about the generator's machine, and errors that are explained.
const BESIDE: [&str; 3] = ["generator_limit", "generator_stalled", "errors_named"];

#[test]
fn the_rule_of_a_real_run_speaks_and_no_other_on_its_target() {
    for (name, right) in RUNS {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/records/{name}.record"));
        let record = Record::read(&path).expect("a record");
        assert!(record.flaws.is_empty(), "{name}: {:?}", record.flaws);
        let verdict = rules::verdict(&record);
        let spoke: Vec<&str> =
            verdict.findings.iter().chain(&verdict.hidden).map(|finding| finding.id).collect();
        println!("{name:12} {}", spoke.join(", "));
        let others = spoke.iter().filter(|id| **id != right && !BESIDE.contains(id)).count();
        assert!(spoke.contains(&right) && others == 0, "{name}: {spoke:?}");
        assert_eq!(verdict.hidden.is_empty(), !verdict.doubts_generator(), "{name}: {spoke:?}");
    }
}
