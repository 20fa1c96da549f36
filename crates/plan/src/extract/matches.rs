//! Matches of a search, copied into one buffer, because variables may be overwritten while the matches are used.

use std::cell::RefCell;

use lang::work;

/// Number of work steps counted per group of a match, which also limits the memory of the variables.
const GROUP: u64 = 10;

/// List of matches; each match has the same number of groups.
#[derive(Debug, Default)]
pub(super) struct Matches {
    text: String,
    spans: Vec<Option<(usize, usize)>>,
    groups: usize,
}

thread_local! {
    static SPARE: RefCell<Vec<Matches>> = RefCell::default();
}

impl Matches {
    /// Takes an empty list from this thread's pool; return it with [`Matches::end`].
    pub(super) fn new(groups: usize) -> Self {
        let mut spare = SPARE.with_borrow_mut(Vec::pop).unwrap_or_default();
        spare.text.clear();
        spare.spans.clear();
        spare.groups = groups;
        spare
    }

    /// Removes all matches if the current evaluation exceeded its work limit, because the matches are incomplete.
    pub(super) fn complete(mut self) -> Self {
        if work::gave_up().is_some() {
            self.text.clear();
            self.spans.clear();
        }
        self
    }

    pub(super) fn end(self) {
        SPARE.with_borrow_mut(|spares| spares.push(self));
    }

    /// Appends the next group of the current match.
    pub(super) fn push(&mut self, group: Option<&str>) {
        work::spend(GROUP);
        let group = group.filter(|group| work::spend_bytes(group.len()));
        self.spans.push(group.map(|group| {
            let start = self.text.len();
            self.text.push_str(group);
            (start, self.text.len())
        }));
    }

    /// Appends the next group of the current match, written by `write`. If `write` returns false, the group is
    /// undefined.
    pub(super) fn push_with(&mut self, write: impl FnOnce(&mut String) -> bool) {
        let start = self.text.len();
        let is_some = write(&mut self.text);
        work::spend(GROUP);
        work::spend_bytes(self.text.len() - start);
        self.spans.push(is_some.then_some((start, self.text.len())));
    }

    /// Returns the number of matches.
    pub(super) fn len(&self) -> usize {
        self.spans.len() / self.groups.max(1)
    }

    /// Returns the number of groups of each match.
    pub(super) fn groups(&self) -> usize {
        self.groups
    }

    /// Returns a group of a match, both counted from 0.
    pub(super) fn get(&self, index: usize, group: usize) -> Option<&str> {
        if group >= self.groups {
            return None;
        }
        let (start, end) = (*self.spans.get(index * self.groups + group)?)?;
        Some(&self.text[start..end])
    }
}
