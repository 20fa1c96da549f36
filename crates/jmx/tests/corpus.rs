//! Reads every plan of a corpus in a folder next to the repository, if there is one, and expects no error.

#[path = "../../../tests/skipped.rs"]
mod skipped;

use std::path::Path;

#[test]
fn every_plan_of_the_corpus_is_read_without_an_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/jmx");
    let Ok(files) = std::fs::read_dir(&folder) else {
        return skipped::skip(format!("no corpus at {}", folder.display()));
    };
    let mut plans = 0;
    for file in files {
        let path = file.expect("a readable folder").path();
        if path.extension().is_none_or(|end| end != "jmx") {
            continue;
        }
        let name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let bytes = std::fs::read(&path).expect("a readable file");
        let (document, diags) =
            jmx::parse(&name, bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(!document.is_empty(), "{name}: no elements");
        for diag in &diags {
            eprintln!("{name}: {diag}");
        }
        assert!(diags.iter().all(|diag| diag.severity < jmx::Severity::Error), "{name}");
        plans += 1;
    }
    eprintln!("{plans} plans read");
    assert!(plans > 0, "an empty corpus");
}
