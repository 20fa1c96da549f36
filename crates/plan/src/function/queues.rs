//! Queues between users, by name: what `__fifoPut` and its kin and the FIFO elements of the jp@gc plug-ins share.
//!
//! They belong to the process; each holds what was put in and not yet taken out. Every access takes one lock for as
//! long as a text is copied.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

type Queue = VecDeque<Box<str>>;

/// Queues by name.
#[derive(Debug, Default)]
pub(crate) struct Queues(Mutex<HashMap<Box<str>, Queue>>);

impl Queues {
    /// Puts a text at the end of a queue.
    pub(crate) fn put(&self, name: &str, text: &str) {
        let mut queues = self.lock();
        if let Some(queue) = queues.get_mut(name) {
            return queue.push_back(text.into());
        }
        queues.insert(name.into(), VecDeque::from([text.into()]));
    }

    /// Takes the first text out of a queue.
    pub(crate) fn take(&self, name: &str) -> Option<Box<str>> {
        self.lock().get_mut(name)?.pop_front()
    }

    /// The first text of a queue, which stays there.
    pub(crate) fn first(&self, name: &str) -> Option<Box<str>> {
        self.lock().get(name)?.front().cloned()
    }

    /// Number of texts in a queue.
    pub(crate) fn len(&self, name: &str) -> usize {
        self.lock().get(name).map_or(0, VecDeque::len)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Box<str>, Queue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
