//! The difference between the outcomes of a plan in JMeter and Throng, and its kind.

use crate::engines::{END, Outcome};
use parity::diff;
use std::fmt::Write as _;

/// A difference between JMeter's outcome and Throng's.
pub(crate) struct Difference {
    /// Kind of the difference in a few words: the files that differ, and their differing columns.
    pub(crate) kind: String,
    /// The lines that differ between the programs, JMeter's with `-` and Throng's with `+`.
    pub(crate) text: String,
    /// Description of an abnormal end of Throng; `None` for a normal end.
    pub(crate) ended: Option<String>,
    /// True if a sample failed in both programs because a file could not be read.
    pub(crate) files_missing: bool,
}

impl Difference {
    /// Compares the outcomes of two runs; `None` if they do not differ.
    pub(crate) fn between(jmeter: &Outcome, throng: &Outcome) -> Option<Self> {
        if jmeter == throng {
            return None;
        }
        let ended = throng.get(END).cloned();
        if let (Some(jmeter), Some(ended)) = (jmeter.get(END), &ended) {
            // Both programs refused the plan, so their messages are not compared. If only one of the programs never
            // ended, that is a difference.
            let refused = |text: &str| !text.starts_with("did not end");
            if refused(jmeter) == refused(ended)
                && !ended.starts_with("exit a signal")
                && !ended.starts_with("exit 101")
            {
                return None;
            }
        }
        let nothing_written =
            jmeter.get("result.jtl").is_some_and(|rows| rows.starts_with("not written"));
        if nothing_written && ended.as_deref().is_some_and(|ended| ended.starts_with("exit 3\n")) {
            // JMeter does not run a plan that it cannot compile, and says so only in its log.
            return None;
        }
        let mut text = String::new();
        let mut kinds = Vec::new();
        let names: std::collections::BTreeSet<_> = jmeter.keys().chain(throng.keys()).collect();
        for name in names {
            let (theirs, ours) = (jmeter.get(name), throng.get(name));
            let lines =
                |text: Option<&String>| text.cloned().unwrap_or_else(|| "(nothing)\n".to_owned());
            let (theirs, ours) = (lines(theirs), lines(ours));
            if let Some(lines) = diff::between(&theirs, &ours) {
                let _ = write!(text, "--- {name}\n{lines}");
                kinds.push(match name.as_str() {
                    END => format!("end {}", first_words(&theirs, &ours)),
                    "result.jtl" => columns(&theirs, &ours),
                    _ if name.ends_with("requests.txt") => "requests".to_owned(),
                    _ => "files".to_owned(),
                });
            }
        }
        if jmeter.contains_key(END) || throng.contains_key(END) {
            kinds.retain(|kind| kind.starts_with("end"));
        }
        let missing = |outcome: &Outcome| {
            outcome.get("result.jtl").is_some_and(|rows| rows.contains("FileNotFoundException"))
        };
        let files_missing = missing(jmeter) && missing(throng);
        Some(Self { kind: kinds.join(", "), text, ended, files_missing })
    }

    /// True if every part of this difference also occurs in a difference of kind `kind`.
    pub(crate) fn is_part_of(&self, kind: &str) -> bool {
        let words = |kind| str::split(kind, [' ', ',', '+']);
        words(&self.kind).all(|word| words(kind).any(|other| other == word))
    }

    /// Returns Throng's message if it refused the plan.
    pub(crate) fn refused(&self) -> Option<&str> {
        self.ended.as_deref().filter(|text| text.starts_with("exit 3\n"))
    }
}

fn first_words(theirs: &str, ours: &str) -> String {
    let first = |text: &str| text.split([':', '\n']).next().unwrap_or_default().to_owned();
    format!("({} / {})", first(theirs), first(ours))
}

/// Names the columns in which rows differ, or says that the number of rows differs.
fn columns(theirs: &str, ours: &str) -> String {
    let (theirs, ours): (Vec<&str>, Vec<&str>) = (theirs.lines().collect(), ours.lines().collect());
    if theirs.len() != ours.len() {
        return if theirs.len() > ours.len() { "rows missing" } else { "rows too many" }.to_owned();
    }
    let header: Vec<&str> = theirs.first().map_or(Vec::new(), |line| line.split(',').collect());
    let mut found = Vec::new();
    for (a, b) in theirs.iter().zip(&ours) {
        let (a, b): (Vec<&str>, Vec<&str>) = (a.split(',').collect(), b.split(',').collect());
        if a.len() != b.len() {
            found.push("text");
        }
        let differing = header.iter().enumerate().filter(|(n, _)| a.get(*n) != b.get(*n));
        found.extend(differing.map(|(_, name)| *name).filter(|_| a.len() == b.len()));
    }
    found.sort_unstable();
    found.dedup();
    format!("rows {}", found.join("+"))
}
