//! Checks every plan of a corpus beside the repository, if there is one, and prints how many run fully.

mod program;

use std::path::Path;

use program::Program;

#[test]
fn every_plan_of_the_corpus_is_checked_without_a_crash() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/jmx");
    let Ok(files) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no corpus at {}", folder.display());
        return;
    };
    let program = Program::new();
    let (mut plans, mut run) = (0, 0);
    let mut missing = std::collections::BTreeMap::new();
    for file in files {
        let path = file.expect("a readable folder").path();
        if path.extension().is_none_or(|end| end != "jmx") {
            continue;
        }
        let path = path.to_string_lossy();
        let ended = program.run(&["check", "--json", &path]);
        assert!([0, 3].contains(&ended.code), "{path}: {ended:?}");
        let report: serde_json::Value =
            serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(report["runs"].as_bool(), Some(ended.code == 0), "{path}");
        plans += 1;
        run += u32::from(ended.code == 0);
        let elements = report["elements"].as_array().expect("elements");
        let obstacles = elements.iter().filter(|element| {
            ["jvm", "unsupported"].contains(&element["level"].as_str().unwrap_or(""))
        });
        let classes: std::collections::BTreeSet<_> =
            obstacles.filter_map(|element| element["class"].as_str()).collect();
        for class in classes {
            *missing.entry(class.to_string()).or_insert(0) += 1;
        }
    }
    let mut missing: Vec<_> = missing.into_iter().collect();
    missing.sort_by_key(|(_, plans)| std::cmp::Reverse(*plans));
    eprintln!(
        "{run} of {plans} plans run fully; what the others lack most, in plans: {:?}",
        &missing[..missing.len().min(20)]
    );
    assert!(plans > 0, "an empty corpus");
}
