//! Numbers of users in result rows.
//!
//! A row has the number of users (column `allThreads`) of the process that made it. If several JMeter servers ran the
//! plan, the users of a second are the sum over the servers. The names of a server's threads begin with the server's
//! address and a hyphen.

use std::collections::BTreeMap;

use super::Closed;

/// Thread group of rows whose group is unknown, and of users that are a sum over servers.
pub(super) const NO_GROUP: usize = usize::MAX;

/// The users of a second: the last number in the rows of each thread group, in the order of those rows in the file.
#[derive(Debug, Default)]
pub(super) struct Users(Vec<Last>);

/// The number of users in the last row of a thread group.
#[derive(Debug, Clone, Copy)]
struct Last {
    group: usize,
    /// End of the row's sample, epoch ms.
    at_ms: i64,
    users: u64,
}

impl Users {
    /// Adds the number of users of a row of this thread group. The row's sample ended at `at_ms`, epoch ms.
    pub(super) fn add(&mut self, group: usize, at_ms: i64, users: u64) {
        if let Some(known) = self.0.iter().position(|last| last.group == group) {
            if self.0[known].at_ms > at_ms {
                return;
            }
            self.0.remove(known);
        }
        self.0.push(Last { group, at_ms, users });
    }

    /// Adds the users of rows that came later in the file.
    pub(super) fn merge(&mut self, late: &Self) {
        for last in &late.0 {
            self.add(last.group, last.at_ms, last.users);
        }
    }

    /// Returns the number of users in the last row; 0 without rows.
    pub(super) fn last(&self) -> u64 {
        self.0.iter().max_by_key(|last| last.at_ms).map_or(0, |last| last.users)
    }
}

/// A thread group of result rows, as thread names have it: with the server's address, and the group's number.
pub(super) struct Group<'a> {
    pub(super) name: &'a str,
    /// Start of the group's first sample and of its last one, epoch ms.
    pub(super) span_ms: (i64, i64),
}

/// Returns the server's address in the name of each thread group, in the order of `groups`. The address is empty if the
/// name has none, and for all groups if fewer than two servers ran at the same time.
///
/// A plan numbers its thread groups, so two names with the same number, which differ only before a hyphen, are the same
/// group on two servers.
pub(super) fn addresses<'a>(groups: &[Group<'a>]) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for (at, one) in groups.iter().enumerate() {
        for other in &groups[..at] {
            let together = one.span_ms.0 < other.span_ms.1 && other.span_ms.0 < one.span_ms.1;
            if let Some((one, other)) = differing(one.name, other.name).filter(|_| together) {
                found.extend([one, other]);
            }
        }
    }
    let address = |name: &'a str| {
        let fits = found.iter().filter_map(|address| {
            let rest = name.strip_prefix(address)?;
            rest.starts_with('-').then_some(&name[..address.len()])
        });
        fits.max_by_key(|address| address.len()).unwrap_or("")
    };
    groups.iter().map(|group| address(group.name)).collect()
}

/// Returns the beginnings of two names of thread groups, if they differ only in these, and the beginnings can be
/// addresses that end before a hyphen.
fn differing<'a>(one: &'a str, other: &'a str) -> Option<(&'a str, &'a str)> {
    let same = one.bytes().rev().zip(other.bytes().rev()).take_while(|(a, b)| a == b).count();
    // A hyphen is a character of its own, so this index is a boundary of characters.
    let hyphen = one.as_bytes()[one.len() - same..].iter().position(|byte| *byte == b'-')?;
    let behind = same - hyphen;
    let both = (&one[..one.len() - behind], &other[..other.len() - behind]);
    let number = one.rsplit_once(' ')?.1;
    let is_numbered = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let is_address = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    (is_numbered && both.0 != both.1 && is_address(both.0) && is_address(both.1)).then_some(both)
}

/// Sets the users of each second to the sum over several servers. A server without a row in a second has its last
/// number until its last row. `servers` has the number of each thread group's server.
pub(super) fn sum(closed: &mut BTreeMap<i64, Closed>, servers: &[usize]) {
    let server = |last: &Last| servers.get(last.group).copied();
    let mut ends = BTreeMap::new();
    for (second, closed) in &*closed {
        ends.extend(closed.users.0.iter().filter_map(server).map(|server| (server, *second)));
    }
    let mut now: BTreeMap<usize, Last> = BTreeMap::new();
    for (second, closed) in closed {
        now.retain(|server, _| ends[server] >= *second);
        for last in &closed.users.0 {
            let Some(server) = server(last) else { continue };
            let known = now.entry(server).or_insert(*last);
            if known.at_ms <= last.at_ms {
                *known = *last;
            }
        }
        let Some(at_ms) = now.values().map(|last| last.at_ms).max() else { continue };
        let users = now.values().map(|last| last.users).sum();
        closed.users = Users(vec![Last { group: NO_GROUP, at_ms, users }]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(names: &[&'static str]) -> Vec<&'static str> {
        let groups: Vec<_> = names.iter().map(|name| Group { name, span_ms: (0, 9000) }).collect();
        addresses(&groups)
    }

    #[test]
    fn names_that_differ_before_a_hyphen_are_of_two_servers() {
        assert_eq!(of(&["10.0.0.1-Users 1", "10.0.0.2-Users 1"]), ["10.0.0.1", "10.0.0.2"]);
        assert_eq!(of(&["load-1-Users 1", "load-2-Users 1"]), ["load-1", "load-2"]);
        assert_eq!(
            of(&["a:1099-bzm - Arrivals 1", "b:1099-bzm - Arrivals 1", "a:1099-Rest 2"]),
            ["a:1099", "b:1099", "a:1099"]
        );
        assert_eq!(of(&["a-setUp 1", "b-setUp 1", "a-Users 1", "b-Users 1"]), ["a", "b", "a", "b"]);
        assert_eq!(of(&["一-用户 1", "二-用户 1"]), ["一", "二"]);
    }

    #[test]
    fn other_names_are_of_one_server() {
        for names in [
            &["Users 1", "Others 2"][..],
            &["A-Users 1", "B-Users 2"],
            &["setUp Thread Group 1", "Thread Group 1"],
            &["10.0.0.1-Users 1", "10.0.0.1-Others 2"],
            &["the first-Users 1", "the second-Users 1"],
            &["-Users 1", "A-Users 1"],
            &["a-1 1", "a-1 1"],
            &["x", "y", ""],
        ] {
            assert!(of(names).iter().all(|address| address.is_empty()), "{names:?}");
        }
        // One after the other: a group for the preparation, or two runs in one file.
        let groups = [("one-Users 1", (0, 5000)), ("two-Users 1", (5000, 9000))];
        let groups = groups.map(|(name, span_ms)| Group { name, span_ms });
        assert_eq!(addresses(&groups), ["", ""]);
    }
}
