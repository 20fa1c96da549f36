//! Texts found by a search: copied into one buffer, as variables may be overwritten while they are read.

use std::cell::RefCell;

use lang::work;

/// Steps that a group of a match costs, which also bounds the memory of its variable.
const GROUP: u64 = 10;

/// Found texts; each match has the same number of groups.
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
    /// An empty list from this thread's store; give it back with [`Matches::end`].
    pub(super) fn new(groups: usize) -> Self {
        let mut spare = SPARE.with_borrow_mut(Vec::pop).unwrap_or_default();
        spare.text.clear();
        spare.spans.clear();
        spare.groups = groups;
        spare
    }

    /// Forgets all, if the current evaluation gave up: what it found is not all there is.
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

    /// Adds the next group of the match being added.
    pub(super) fn push(&mut self, group: Option<&str>) {
        work::spend(GROUP);
        let group = group.filter(|group| work::spend_bytes(group.len()));
        self.spans.push(group.map(|group| {
            let start = self.text.len();
            self.text.push_str(group);
            (start, self.text.len())
        }));
    }

    /// Adds the next group, as written by `write`; it is none if that says `false`.
    pub(super) fn push_with(&mut self, write: impl FnOnce(&mut String) -> bool) {
        let start = self.text.len();
        let is_some = write(&mut self.text);
        work::spend(GROUP);
        work::spend_bytes(self.text.len() - start);
        self.spans.push(is_some.then_some((start, self.text.len())));
    }

    /// Number of matches.
    pub(super) fn len(&self) -> usize {
        self.spans.len() / self.groups.max(1)
    }

    /// Number of groups of each match.
    pub(super) fn groups(&self) -> usize {
        self.groups
    }

    /// A group of a match, both counted from 0.
    pub(super) fn get(&self, index: usize, group: usize) -> Option<&str> {
        if group >= self.groups {
            return None;
        }
        let (start, end) = (*self.spans.get(index * self.groups + group)?)?;
        Some(&self.text[start..end])
    }
}
