//! Checks every plan of a corpus in a folder next to the repository, if there is one. Prints how many plans run
//! natively, how many need Java, and the unsupported parts of the other plans. The test starts no Java.

mod program;

use std::path::Path;

use program::Program;

#[test]
fn every_plan_of_the_corpus_is_checked_without_a_crash() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/jmx");
    let Ok(files) = std::fs::read_dir(&folder) else {
        return program::skip(format!("no corpus at {}", folder.display()));
    };
    let program = Program::new();
    let (mut plans, mut native, mut with_java) = (0, 0, 0);
    let mut missing = std::collections::BTreeMap::new();
    for file in files {
        let path = file.expect("a readable folder").path();
        if path.extension().is_none_or(|end| end != "jmx") {
            continue;
        }
        let path = path.to_string_lossy();
        let ended = program.run(&["check", "--json", "--java-home", "nowhere", &path]);
        assert!([0, 3].contains(&ended.code), "{path}: {ended:?}");
        let report: serde_json::Value =
            serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(report["runs"].as_bool(), Some(ended.code == 0), "{path}");
        plans += 1;
        let findings = report["findings"].as_array().expect("findings");
        // A missing Java installation is not a fault of the plan.
        let errors = findings
            .iter()
            .filter(|finding| finding["severity"] == "error" && finding["code"] != "java")
            .count();
        match (errors, report["unsupported"].as_u64(), report["jvm"].as_u64()) {
            (0, Some(0), Some(0)) => native += 1,
            (0, Some(0), _) => with_java += 1,
            _ => {}
        }
        if errors > 0 {
            *missing.entry("(errors in the plan)".to_owned()).or_insert(0) += 1;
        }
        let elements = report["elements"].as_array().expect("elements");
        let obstacles = elements.iter().filter(|element| element["level"] == "unsupported");
        let classes: std::collections::BTreeSet<_> =
            obstacles.filter_map(|element| element["class"].as_str()).collect();
        for class in classes {
            *missing.entry(class.to_string()).or_insert(0) += 1;
        }
    }
    let mut missing: Vec<_> = missing.into_iter().collect();
    missing.sort_by_key(|(_, plans)| std::cmp::Reverse(*plans));
    eprintln!(
        "of {plans} plans {native} run natively, {with_java} with Java; what the others name, in plans: {:?}",
        &missing[..missing.len().min(20)]
    );
    assert!(plans > 0, "an empty corpus");
}
