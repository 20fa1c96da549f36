//! The golden files of a case: JMeter's results in `golden/`, and Throng's deliberate differences in `throng/`.
//!
//! If Throng differs, `differs.md` says why. A missing file counts as empty, so empty files need not be stored. A file
//! that exists but that a run does not write is a difference.

use crate::diff;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The files that a run wrote, by name, normalised.
pub(crate) type Outcome = BTreeMap<String, String>;

/// Entry of the outcome for a plan that Throng refuses: the named elements. Nothing else is compared then.
pub(crate) const REFUSAL: &str = "refusal.txt";

const REASONS: &str = "differs.md";

/// Returns the differences between a run and its golden files as text; empty if there are none.
pub(crate) fn compare(case: &Path, shared: Outcome, outcome: &Outcome) -> String {
    let (golden, own) = (golden(case, shared), files(&case.join("throng")));
    let mut names: BTreeSet<&String> = outcome.keys().chain(own.keys()).collect();
    if !outcome.contains_key(REFUSAL) {
        names.extend(golden.keys());
    }
    let mut complaints = String::new();
    let none = String::new();
    for name in names {
        let jmeter = golden.get(name).unwrap_or(&none);
        let throng = own.get(name);
        if let Some(throng) = throng {
            assert!(case.join(REASONS).exists(), "a difference without a reason in {REASONS}");
            assert!(throng != jmeter, "{name} no longer differs from JMeter: remove throng/{name}");
        }
        let as_in = throng.map_or("", |_| " (as in throng/)");
        match outcome.get(name) {
            Some(got) => {
                if let Some(lines) = diff::between(throng.unwrap_or(jmeter), got) {
                    complaints += &format!("--- {name}{as_in}\n{lines}");
                }
            }
            None => complaints += &format!("--- {name}{as_in}: the run does not make this file\n"),
        }
    }
    complaints
}

/// Stores Throng's results as its deliberate differences in the case.
pub(crate) fn accept(case: &Path, shared: Outcome, outcome: &Outcome) {
    assert!(case.join(REASONS).exists(), "write the reason into {REASONS} first");
    let golden = golden(case, shared);
    let differing = outcome.iter().filter(|(name, got)| golden.get(*name) != Some(got));
    replace(&case.join("throng"), &differing.map(owned).collect());
}

/// Stores JMeter's results as the golden files of the case. A file that equals one shared from another case is not
/// stored.
pub(crate) fn record(case: &Path, shared: &Outcome, outcome: &Outcome) {
    let says = outcome.iter().filter(|(_, text)| !text.is_empty());
    let says = says.filter(|(name, text)| shared.get(*name) != Some(text));
    replace(&case.join("golden"), &says.map(owned).collect());
}

/// Returns JMeter's golden files: the case's own files, and files that are shared from other cases.
fn golden(case: &Path, shared: Outcome) -> Outcome {
    let mut golden = shared;
    golden.extend(files(&case.join("golden")));
    golden
}

fn owned((name, text): (&String, &String)) -> (String, String) {
    (name.clone(), text.clone())
}

/// Returns the files below a folder, by relative path.
fn files(folder: &Path) -> Outcome {
    let mut found = Outcome::new();
    let mut open = vec![folder.to_owned()];
    while let Some(inner) = open.pop() {
        for path in fs::read_dir(inner).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy();
                let text = fs::read_to_string(&path);
                let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                found.insert(name.into_owned(), text);
            }
        }
    }
    found
}

/// Replaces the content of a folder with these files.
fn replace(folder: &Path, files: &Outcome) {
    let _ = fs::remove_dir_all(folder);
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder to record into");
        fs::write(path, text).expect("a file to record into");
    }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, REASONS, REFUSAL, accept, compare, record};
    use std::path::PathBuf;

    /// A temporary folder for a case.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let folder = std::env::temp_dir().join(format!("golden-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir_all(&folder).expect("a folder");
            Self(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn outcome(files: &[(&str, &str)]) -> Outcome {
        files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn what_is_recorded_compares_equal() {
        let case = Folder::new("equal");
        let run = outcome(&[("result.jtl", "a\nb\n"), ("sub/one.csv", "1\n"), ("empty", "")]);
        record(&case.0, &Outcome::new(), &run);
        assert!(!case.0.join("golden/empty").exists());
        assert_eq!(compare(&case.0, Outcome::new(), &run), "");
    }

    #[test]
    fn every_difference_is_found() {
        let case = Folder::new("differs");
        record(
            &case.0,
            &Outcome::new(),
            &outcome(&[("result.jtl", "a\nb\n"), ("sub/one.csv", "1\n")]),
        );
        let changed = outcome(&[("result.jtl", "a\nc\n"), ("sub/one.csv", "1\n")]);
        assert_eq!(
            compare(&case.0, Outcome::new(), &changed),
            "--- result.jtl\n  a\n- b\n+ c\n  \n"
        );
        let further = outcome(&[("result.jtl", "a\nb\n"), ("sub/one.csv", "1\n"), ("two", "2\n")]);
        assert_eq!(compare(&case.0, Outcome::new(), &further), "--- two\n+ 2\n  \n");
        let fewer = outcome(&[("result.jtl", "a\nb\n")]);
        assert_eq!(
            compare(&case.0, Outcome::new(), &fewer),
            "--- sub/one.csv: the run does not make this file\n"
        );
    }

    #[test]
    fn a_golden_file_may_be_that_of_another_case() {
        let case = Folder::new("shared");
        let shared = outcome(&[("requests.txt", "GET\n")]);
        let run = outcome(&[("result.jtl", "a\n"), ("requests.txt", "GET\n")]);
        record(&case.0, &shared, &run);
        assert!(!case.0.join("golden/requests.txt").exists());
        assert_eq!(compare(&case.0, shared.clone(), &run), "");
        let other = outcome(&[("result.jtl", "a\n"), ("requests.txt", "PUT\n")]);
        let differs = "--- requests.txt\n- GET\n+ PUT\n  \n";
        assert_eq!(compare(&case.0, shared.clone(), &other), differs);
        record(&case.0, &shared, &other);
        assert_eq!(compare(&case.0, shared, &other), "");
    }

    #[test]
    fn what_throng_does_on_purpose_is_compared_as_exactly() {
        let case = Folder::new("purpose");
        record(
            &case.0,
            &Outcome::new(),
            &outcome(&[("result.jtl", "a\n"), ("requests.txt", "GET\n")]),
        );
        std::fs::write(case.0.join(REASONS), "because\n").expect("a reason");
        let own = outcome(&[("result.jtl", "b\n"), ("requests.txt", "GET\n")]);
        accept(&case.0, Outcome::new(), &own);
        assert_eq!(compare(&case.0, Outcome::new(), &own), "");
        let other = outcome(&[("result.jtl", "c\n"), ("requests.txt", "GET\n")]);
        assert_eq!(
            compare(&case.0, Outcome::new(), &other),
            "--- result.jtl (as in throng/)\n- b\n+ c\n  \n"
        );
        let refused = outcome(&[(REFUSAL, "  plan.jmx:1\n")]);
        accept(&case.0, Outcome::new(), &refused);
        assert_eq!(compare(&case.0, Outcome::new(), &refused), "");
        let ran = outcome(&[("result.jtl", "a\n"), ("requests.txt", "GET\n")]);
        let missing = "--- refusal.txt (as in throng/): the run does not make this file\n";
        assert_eq!(compare(&case.0, Outcome::new(), &ran), missing);
    }
}
