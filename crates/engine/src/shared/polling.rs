//! Schedule polling of a group that keeps a target number of users: it polls when a user ends, and otherwise once a
//! second.
//!
//! Only a poll starts users that are due, and only a poll detects the end of the group. All cores of a process
//! share the poll times. A poll on another core takes effect at the next check. The cost is an atomic read whenever
//! users of such groups check for their end.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::time::clock::{Nanos, SECOND};

/// The poll times of a group.
#[derive(Clone, Debug)]
pub(crate) struct Polls {
    /// Time of the last poll that the start or end of a user caused. Later polls follow at intervals of one second.
    last: Arc<AtomicI64>,
}

impl Polls {
    /// Returns the poll times of a group in which no user has started.
    pub(crate) fn new() -> Self {
        Self { last: Arc::new(Nanos::MIN.into()) }
    }

    /// Starts polling every second, from the start of the first user.
    pub(crate) fn begin(&self, at: Nanos) {
        let begun = (Nanos::MIN, at);
        let _ = self.last.compare_exchange(begun.0, begun.1, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Adds a poll, because a user ends.
    pub(crate) fn poll(&self, at: Nanos) {
        self.last.fetch_max(at, Ordering::Relaxed);
    }

    /// Returns the time of the first poll at or after `moment`. Before the first user starts, every time counts as
    /// a poll.
    pub(crate) fn after(&self, moment: Nanos) -> Nanos {
        let last = self.last.load(Ordering::Relaxed);
        if last >= moment || last == Nanos::MIN {
            return moment;
        }
        let seconds = (moment - last + SECOND - 1).div_euclid(SECOND);
        last + seconds * SECOND
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::clock::MS;

    #[test]
    fn polls_are_a_second_apart_from_the_last_that_was_set_off() {
        let polls = Polls::new();
        assert_eq!(polls.after(1_300 * MS), 1_300 * MS);
        polls.begin(100 * MS);
        polls.begin(200 * MS);
        assert_eq!(polls.after(1_300 * MS), 2_100 * MS);
        assert_eq!(polls.after(1_100 * MS), 1_100 * MS);
        polls.poll(1_250 * MS);
        assert_eq!(polls.after(1_300 * MS), 2_250 * MS);
        polls.poll(1_350 * MS);
        assert_eq!(polls.after(1_300 * MS), 1_300 * MS);
    }
}
