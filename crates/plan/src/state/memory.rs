//! Memory of elements for one user. The memory of a user occupies 16 bytes until an element uses it.

use crate::element::counter::UserCounter;
use crate::element::csv_data_set::Handle;
use crate::element::java_sampler::Setup;
use crate::element::random_variable::JavaRandom;
use crate::http::{Page, SessionId};
use crate::java_backed::Values;
use crate::plan::GroupId;

/// Memory that elements keep for one user.
#[derive(Debug, Default)]
pub struct Memory {
    group: GroupId,
    notes: Option<Box<Notes>>,
}

#[derive(Debug, Default)]
struct Notes {
    csv: Vec<Option<Handle>>,
    counters: Vec<Option<UserCounter>>,
    randoms: Vec<JavaRandom>,
    /// Time at which the last sample of each throughput timer was due, in nanoseconds since 1970.
    previous: Vec<i64>,
    setups: Vec<Setup>,
    sessions: Vec<SessionId>,
    page: Page,
    java: Values,
}

impl Memory {
    /// Creates the memory of a user of `group`.
    pub fn of_group(group: GroupId) -> Self {
        Self { group, notes: None }
    }

    /// Returns the index of the user's group in the plan.
    pub fn group(&self) -> GroupId {
        self.group
    }

    /// Returns the latest values that Java computed for this user's templates.
    pub fn java(&self) -> Option<&Values> {
        self.notes.as_ref().map(|notes| &notes.java)
    }

    /// Returns the latest values that Java computed for this user's templates, for writing.
    pub fn java_mut(&mut self) -> &mut Values {
        &mut self.notes().java
    }

    fn notes(&mut self) -> &mut Notes {
        self.notes.get_or_insert_default()
    }

    pub(crate) fn csv(&mut self, at: usize) -> &mut Option<Handle> {
        grown(&mut self.notes().csv, at)
    }

    /// Returns the user's current positions in data files.
    pub(crate) fn csv_places(&self) -> impl Iterator<Item = &Handle> {
        self.notes.iter().flat_map(|notes| notes.csv.iter().flatten())
    }

    pub(crate) fn counter(&mut self, at: usize) -> &mut Option<UserCounter> {
        grown(&mut self.notes().counters, at)
    }

    pub(crate) fn random(&mut self, at: usize) -> &mut JavaRandom {
        grown(&mut self.notes().randoms, at)
    }

    pub(crate) fn setup(&self, element: u32) -> Option<&Setup> {
        self.notes.as_ref()?.setups.iter().find(|setup| setup.element == element)
    }

    pub(crate) fn keep(&mut self, setup: Setup) {
        self.notes().setups.push(setup);
    }

    pub(crate) fn session(&mut self, at: usize) -> &mut SessionId {
        grown(&mut self.notes().sessions, at)
    }

    pub(crate) fn page(&mut self) -> &mut Page {
        &mut self.notes().page
    }

    pub(crate) fn previous(&mut self, at: usize) -> &mut i64 {
        grown(&mut self.notes().previous, at)
    }
}

/// Returns the entry at an index; grows the vector if needed.
fn grown<T: Default>(entries: &mut Vec<T>, at: usize) -> &mut T {
    if entries.len() <= at {
        entries.resize_with(at + 1, T::default);
    }
    &mut entries[at]
}
