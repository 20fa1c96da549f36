//! A run as rules see it: its record, and what several of them ask for, which is found once.
//!
//! Some rules are silent where another one speaks, and a few read the courses of all labels. To find that anew for each of
//! them took as long as all else on a record of many labels.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ops::Deref;

use record::Record;

use super::ALL;
use super::courses::Courses;
use crate::verdict::{Rule, Said};

/// A record while rules look at it.
pub struct Run<'r> {
    record: &'r Record,
    said: RefCell<BTreeMap<&'static str, Said>>,
    courses: OnceCell<Option<Courses<'r>>>,
}

impl Deref for Run<'_> {
    type Target = Record;

    fn deref(&self) -> &Record {
        self.record
    }
}

impl<'r> Run<'r> {
    pub fn new(record: &'r Record) -> Self {
        Self { record, said: RefCell::default(), courses: OnceCell::new() }
    }

    pub(super) fn record(&self) -> &'r Record {
        self.record
    }

    /// The word of a rule, which looks once.
    pub(crate) fn said(&self, rule: &Rule) -> Said {
        if let Some(said) = self.said.borrow().get(rule.id) {
            return said.clone();
        }
        let said = (rule.judge)(self);
        self.said.borrow_mut().insert(rule.id, said.clone());
        said
    }

    /// Whether the rule of that name has a finding.
    pub(super) fn finds(&self, id: &str) -> bool {
        let rule = ALL.iter().find(|rule| rule.id == id);
        debug_assert!(rule.is_some(), "there is no rule {id}");
        rule.is_some_and(|rule| self.said(rule).is_found())
    }

    /// The courses of the seconds whose times can be compared with each other.
    pub(super) fn courses(&self) -> Option<&Courses<'r>> {
        self.courses.get_or_init(|| Courses::of(self)).as_ref()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_rule_looks_once_however_many_ask() {
        static LOOKS: AtomicUsize = AtomicUsize::new(0);
        let judge = |run: &Run<'_>| {
            LOOKS.fetch_add(1, Ordering::Relaxed);
            assert!(run.seconds.is_empty());
            Said::Nothing
        };
        let rule = Rule { id: "one", looks_for: ("", ""), judge };
        let record = Record::default();
        let run = Run::new(&record);
        assert!((0..3).all(|_| !run.said(&rule).is_found()));
        assert_eq!(LOOKS.load(Ordering::Relaxed), 1);
        assert!(!run.finds("stalls") && !run.finds("step_change"));
        assert!(["stalls", "step_change"].iter().all(|id| run.said.borrow().contains_key(id)));
    }
}
