//! What must not be missed: said once more when the summary is out, for what was said during the run is far above it by then.

use std::collections::BTreeMap;

/// Warnings for the very end.
#[derive(Debug, Default)]
pub(crate) struct LastWords {
    lines: Vec<String>,
    /// Users that errors have ended, by what ended them.
    ended: BTreeMap<String, u64>,
}

impl LastWords {
    /// A sentence.
    pub(crate) fn add(&mut self, text: &str) {
        self.lines.push(text.to_owned());
    }

    /// An error has ended a user. True: it is the first of its kind.
    pub(crate) fn add_end(&mut self, text: &str) -> bool {
        let users = self.ended.entry(text.to_owned()).or_default();
        *users += 1;
        *users == 1
    }

    /// All of it.
    pub(crate) fn lines(self) -> impl Iterator<Item = String> {
        let ended = self.ended.into_iter().map(|(text, users)| {
            let who = if users == 1 { "1 user was" } else { &format!("{users} users were") };
            let full = text.contains("OutOfMemoryError");
            let advice = if full { "; Java's heap is made larger by --jvm-heap" } else { "" };
            format!("{who} ended by {text}{advice}")
        });
        ended.chain(self.lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_users_are_counted_by_what_ended_them() {
        let mut words = LastWords::default();
        words.add("5 rows could not be written");
        let oom = "java.lang.OutOfMemoryError: Java heap space in One";
        let told = ["Assertion failed in Two", oom, oom].map(|text| words.add_end(text));
        assert_eq!(told, [true, true, false]);
        let lines: Vec<_> = words.lines().collect();
        let expected = [
            "1 user was ended by Assertion failed in Two",
            "2 users were ended by java.lang.OutOfMemoryError: Java heap space in One; Java's heap is made larger by --jvm-heap",
            "5 rows could not be written",
        ];
        assert_eq!(lines, expected);
    }
}
