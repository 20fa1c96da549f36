//! Named queues that users share, for `__fifoPut` and related functions and for the FIFO elements of the jp@gc
//! plug-ins.
//!
//! The queues belong to the process. Each access holds a lock while one string is copied.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

type Queue = VecDeque<Box<str>>;

/// Queues by name.
#[derive(Debug, Default)]
pub(crate) struct Queues(Mutex<HashMap<Box<str>, Queue>>);

impl Queues {
    /// Puts a string at the end of a queue.
    pub(crate) fn put(&self, name: &str, text: &str) {
        let mut queues = self.lock();
        if let Some(queue) = queues.get_mut(name) {
            return queue.push_back(text.into());
        }
        queues.insert(name.into(), VecDeque::from([text.into()]));
    }

    /// Removes and returns the first string of a queue.
    pub(crate) fn take(&self, name: &str) -> Option<Box<str>> {
        self.lock().get_mut(name)?.pop_front()
    }

    /// Returns the first string of a queue without removing it.
    pub(crate) fn first(&self, name: &str) -> Option<Box<str>> {
        self.lock().get(name)?.front().cloned()
    }

    /// Returns the number of strings in a queue.
    pub(crate) fn len(&self, name: &str) -> usize {
        self.lock().get(name).map_or(0, VecDeque::len)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Box<str>, Queue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
