//! Thread groups of result rows, found in thread names: "Buyers 1-12" is the twelfth thread of the first group,
//! "Buyers". The start of another group changes the load, even if the file has the same number of threads as
//! before.

use crate::frame::{Change, Mark};

/// Largest number of thread groups that are distinguished in a file.
const MOST: usize = 64;

/// The thread groups that have samples.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// Names of the groups with the start of their first sample, epoch ms.
    seen: Vec<(Box<str>, i64)>,
    /// Index of the thread group of the last row.
    last: usize,
}

impl Groups {
    pub(super) fn add(&mut self, thread: &str, start_ms: i64) {
        let Some((group, _)) = thread.rsplit_once('-') else { return };
        if self.seen.get(self.last).is_none_or(|(name, _)| **name != *group) {
            match self.seen.iter().position(|(name, _)| **name == *group) {
                Some(at) => self.last = at,
                None if self.seen.len() < MOST => {
                    self.last = self.seen.len();
                    self.seen.push((group.into(), start_ms));
                }
                None => return,
            }
        }
        let first_ms = &mut self.seen[self.last].1;
        *first_ms = start_ms.min(*first_ms);
    }

    /// Returns a mark at the start of each thread group except the first.
    pub(super) fn marks(mut self) -> Vec<Mark> {
        self.seen.sort_by_key(|(_, first_ms)| *first_ms);
        let later = self.seen.into_iter().skip(1);
        later
            .map(|(name, at_ms)| Mark { at_ms, change: Change::Phase(without_number(&name)) })
            .collect()
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
