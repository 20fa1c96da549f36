//! `--fix`: raises kernel settings, and prints the commands that revert the changes.
//!
//! Changes only what a finding requires, and only upwards. A value that was raised in the meantime, or that is already
//! larger than the change, is not touched.

use std::path::Path;

use super::finding::{Change, Finding};

/// Result of raising a kernel setting.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// The kernel setting is left unchanged, because it is already large enough.
    Left,
    Failed(String),
}

/// Returns the changes that the findings require.
pub(crate) fn changes(findings: &[Finding]) -> impl Iterator<Item = &Change> {
    findings.iter().filter_map(|finding| finding.change.as_ref())
}

/// Applies a change below `root`, which is /proc/sys outside of tests.
pub(crate) fn apply(change: &Change, root: &Path) -> Outcome {
    let file = root.join(change.file());
    let now = match std::fs::read_to_string(&file) {
        Ok(now) => now,
        Err(error) => return Outcome::Failed(error.to_string()),
    };
    if !raises(change, &now) {
        return Outcome::Left;
    }
    match std::fs::write(&file, &change.to) {
        Ok(()) => Outcome::Done,
        Err(error) => Outcome::Failed(error.to_string()),
    }
}

/// Returns true if the change only raises the current value. A range of ports is widened by lowering its first
/// port.
fn raises(change: &Change, now: &str) -> bool {
    let numbers = |text: &str| -> Option<Vec<u64>> {
        text.split_ascii_whitespace().map(|word| word.parse().ok()).collect()
    };
    let (Some(now), Some(to)) = (numbers(now), numbers(&change.to)) else { return false };
    if now.len() != to.len() || now == to {
        return false;
    }
    if change.key.ends_with("ip_local_port_range") {
        return to[0] <= now[0] && to[1] >= now[1];
    }
    now.iter().zip(&to).all(|(now, to)| to >= now)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(key: &'static str, to: &str) -> Change {
        Change::new(key, String::new(), to.into())
    }

    #[test]
    fn values_are_raised_and_never_lowered() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |key: &str| folder.path().join(key.replace('.', "/"));
        let table = [
            ("net.core.somaxconn", "4096\n", "65535", Outcome::Done),
            ("net.core.somaxconn", "70000\n", "65535", Outcome::Left),
            ("net.core.somaxconn", "65535\n", "65535", Outcome::Left),
            ("net.core.somaxconn", "odd\n", "65535", Outcome::Left),
            ("net.ipv4.ip_local_port_range", "32768\t60999\n", "1024 65535", Outcome::Done),
            ("net.ipv4.ip_local_port_range", "1000\t65000\n", "1024 65535", Outcome::Left),
            ("net.ipv4.tcp_mem", "1 2 3\n", "1 2 4", Outcome::Done),
            ("net.ipv4.tcp_mem", "1 2 3\n", "0 5 6", Outcome::Left),
            ("net.ipv4.tcp_mem", "1 2\n", "1 2 4", Outcome::Left),
        ];
        for (key, now, to, expected) in table {
            let path = file(key);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            std::fs::write(&path, now).expect("written");
            assert_eq!(apply(&change(key, to), folder.path()), expected, "{key} {now:?} to {to}");
            let after = std::fs::read_to_string(&path).expect("there");
            assert_eq!(after, if expected == Outcome::Done { to } else { now });
        }
    }

    #[test]
    fn what_is_not_there_cannot_be_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let outcome = apply(&change("net.core.somaxconn", "1"), folder.path());
        assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
    }
}
