//! Thread groups of result rows, found in thread names: "Buyers 1-12" is the twelfth thread of the first group,
//! "Buyers". The start of another group changes the load, even if the file has the same number of threads as
//! before.

use std::collections::BTreeMap;

use super::Closed;
use super::servers::{self, Group, NO_GROUP};
use crate::frame::{Change, Mark};

/// Largest number of thread groups that are distinguished in a file.
const MOST: usize = 256;

/// The thread groups that have samples.
#[derive(Debug, Default)]
pub(super) struct Groups {
    seen: Vec<Seen>,
    /// Index of the thread group of the last row.
    last: usize,
}

/// A thread group that has samples.
#[derive(Debug)]
struct Seen {
    name: Box<str>,
    /// Starts of the group's first sample and of its last one, epoch ms.
    first_ms: i64,
    last_ms: i64,
}

impl Groups {
    /// Adds a row of this thread, with the start of its sample. Returns the number of the thread group.
    pub(super) fn add(&mut self, thread: &str, start_ms: i64) -> usize {
        let Some((group, _)) = thread.rsplit_once('-') else { return NO_GROUP };
        if self.seen.get(self.last).is_none_or(|seen| *seen.name != *group) {
            match self.seen.iter().position(|seen| *seen.name == *group) {
                Some(at) => self.last = at,
                None if self.seen.len() < MOST => {
                    self.last = self.seen.len();
                    self.seen.push(Seen {
                        name: group.into(),
                        first_ms: start_ms,
                        last_ms: start_ms,
                    });
                }
                None => return NO_GROUP,
            }
        }
        let seen = &mut self.seen[self.last];
        seen.first_ms = start_ms.min(seen.first_ms);
        seen.last_ms = start_ms.max(seen.last_ms);
        self.last
    }

    /// Sets the users of each second to the sum over all JMeter servers, if the rows come from several.
    pub(super) fn sum_users(&self, closed: &mut BTreeMap<i64, Closed>) {
        let addresses = self.addresses();
        let mut servers = addresses.clone();
        servers.sort_unstable();
        servers.dedup();
        if servers.len() > 1 {
            let number = |address| servers.partition_point(|other| *other < address);
            let numbers: Vec<_> = addresses.into_iter().map(number).collect();
            servers::sum(closed, &numbers);
        }
    }

    /// Returns a mark at the start of each thread group except the first. A group on several servers is one group.
    pub(super) fn marks(&self) -> Vec<Mark> {
        let mut starts: Vec<(&str, i64)> = Vec::new();
        for (seen, address) in self.seen.iter().zip(self.addresses()) {
            let name =
                if address.is_empty() { &seen.name } else { &seen.name[address.len() + 1..] };
            match starts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, first_ms)) => *first_ms = seen.first_ms.min(*first_ms),
                None => starts.push((name, seen.first_ms)),
            }
        }
        starts.sort_by_key(|(_, first_ms)| *first_ms);
        let later = starts.into_iter().skip(1);
        later
            .map(|(name, at_ms)| Mark { at_ms, change: Change::Phase(without_number(name)) })
            .collect()
    }

    /// Returns the address of the JMeter server in the name of each thread group; empty without several servers.
    fn addresses(&self) -> Vec<&str> {
        let groups = self
            .seen
            .iter()
            .map(|seen| Group { name: &seen.name, span_ms: (seen.first_ms, seen.last_ms) });
        servers::addresses(&groups.collect::<Vec<_>>())
    }
}

/// Returns the name of a group without its number.
fn without_number(group: &str) -> String {
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    group
        .rsplit_once(' ')
        .filter(|(_, word)| is_number(word))
        .map_or(group, |(name, _)| name)
        .to_owned()
}
