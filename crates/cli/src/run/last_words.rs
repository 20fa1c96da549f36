//! Important messages that are repeated after the summary, because the originals have scrolled out of view. Lost
//! results are also listed before the summary.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value, json};

/// Largest number of different warnings that are counted. Further warnings are printed each time.
const MOST_SAID: usize = 1000;

/// Messages that are collected for the end of the run.
#[derive(Debug, Default)]
pub(crate) struct LastWords {
    /// Number of lost items, by kind and reason. Each process of a run reports its losses separately.
    lost: BTreeMap<String, u64>,
    /// Number of users that were ended by an error, by error.
    ended: BTreeMap<String, u64>,
    /// Number of failed scripts, and the message of the first failure.
    failures: Option<(u64, String)>,
    /// Number of times that each warning of the engine occurred.
    said: BTreeMap<String, u64>,
}

impl LastWords {
    /// Adds a loss: a count with a description like `rows …`, or a count of 0 with a whole sentence.
    pub(crate) fn add_lost(&mut self, count: u64, what: &str) {
        *self.lost.entry(what.to_owned()).or_default() += count;
    }

    /// True if no results of the run were lost.
    pub(crate) fn is_whole(&self) -> bool {
        self.lost.is_empty()
    }

    /// Returns sentences about the lost results.
    pub(crate) fn losses(&self) -> impl Iterator<Item = String> {
        self.lost.iter().map(|(text, n)| match n {
            0 => text.clone(),
            n => format!("{n} {text}"),
        })
    }

    /// Returns the first section of the text summary. It is empty if nothing was lost.
    pub(crate) fn text(&self) -> String {
        if self.is_whole() {
            return String::new();
        }
        let mut out = String::from("Lost            the results are incomplete\n");
        for line in self.losses() {
            out.push_str(&format!("                {line}\n"));
        }
        out.push('\n');
        out
    }

    /// Adds losses and failed scripts to the summary's JSON, if there are any.
    pub(crate) fn add_to_json(&self, summary: &mut Map<String, Value>) {
        if !self.is_whole() {
            summary.insert("lost".into(), self.losses().collect());
        }
        if let Some((count, first)) = &self.failures {
            summary.insert("script_failures".into(), json!({ "count": count, "first": first }));
        }
    }

    /// Counts a user that was ended by an error. Returns true if this error is new.
    pub(crate) fn add_end(&mut self, text: &str) -> bool {
        let users = self.ended.entry(text.to_owned()).or_default();
        *users += 1;
        *users == 1
    }

    /// Counts a failed script. Returns true if it is the first.
    pub(crate) fn add_failure(&mut self, words: String) -> bool {
        let (count, _) = self.failures.get_or_insert((0, words));
        *count += 1;
        *count == 1
    }

    /// Counts a warning of the engine, which may occur for each user. Returns true if this warning is new.
    pub(crate) fn add_said(&mut self, text: &str) -> bool {
        if let Some(count) = self.said.get_mut(text) {
            *count += 1;
            return false;
        }
        if self.said.len() < MOST_SAID {
            self.said.insert(text.to_owned(), 1);
        }
        true
    }

    /// Returns all messages. `log` is the file that contains all individual messages.
    pub(crate) fn lines(self, log: Option<&Path>) -> impl Iterator<Item = String> {
        let all = log.map(|log| format!("; see all in {}", log.display()));
        let all = all.unwrap_or_default();
        let again: Vec<String> = self
            .said
            .iter()
            .filter(|(_, count)| **count > 1)
            .map(|(text, count)| format!("{count} times: {text}"))
            .collect();
        let failures = self.failures.as_ref().map(|(count, first)| match count {
            1 => format!("a script failed: {first}{all}"),
            count => format!("scripts failed {count} times, the first: {first}{all}"),
        });
        let losses: Vec<String> = self.losses().map(|line| format!("lost: {line}")).collect();
        let ended = self.ended.into_iter().map(|(text, users)| {
            let who = if users == 1 { "1 user was" } else { &format!("{users} users were") };
            let full = text.contains("OutOfMemoryError");
            let advice = if full { "; --jvm-heap sets a larger heap" } else { "" };
            format!("{who} ended by {text}{advice}")
        });
        again.into_iter().chain(failures).chain(ended).chain(losses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_users_are_counted_by_what_ended_them() {
        let mut words = LastWords::default();
        words.add_lost(2, "rows could not be written");
        words.add_lost(3, "rows could not be written");
        words.add_lost(0, "the end tag");
        let json = |words: &LastWords| {
            let mut summary = Map::new();
            words.add_to_json(&mut summary);
            Value::Object(summary)
        };
        assert_eq!(json(&words)["lost"][0], "5 rows could not be written");
        assert!(words.text().starts_with("Lost "), "{}", words.text());
        let oom = "java.lang.OutOfMemoryError: Java heap space in One";
        let told = ["Assertion failed in Two", oom, oom].map(|text| words.add_end(text));
        assert_eq!(told, [true, true, false]);
        let failed =
            ["Problem in One: x", "Problem in Two: y"].map(|text| words.add_failure(text.into()));
        assert_eq!(failed, [true, false]);
        let said = ["user stopped: end of a.csv"; 3].map(|text| words.add_said(text));
        assert_eq!(said, [true, false, false]);
        assert!(words.add_said("once"));
        assert_eq!(json(&words)["script_failures"]["count"], 2);
        let lines: Vec<_> = words.lines(Some(Path::new("run/throng.log"))).collect();
        let expected = [
            "3 times: user stopped: end of a.csv",
            "scripts failed 2 times, the first: Problem in One: x; see all in run/throng.log",
            "1 user was ended by Assertion failed in Two",
            "2 users were ended by java.lang.OutOfMemoryError: Java heap space in One; --jvm-heap sets a larger heap",
            "lost: 5 rows could not be written",
            "lost: the end tag",
        ];
        assert_eq!(lines, expected);
    }
}
