//! When a group that keeps a number of users reads the clock: as soon as one of them ends, and else once a second.
//!
//! Only then are users started that are wanted by now, and only then is the end found to have come. A poll is shared by all cores of a process; one of
//! another core is heard of at the next occasion. Costs an atomic read where users of such groups ask when they must end.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::time::clock::{Nanos, SECOND};

/// The polls of a group.
#[derive(Clone, Debug)]
pub(crate) struct Polls {
    /// The last that somebody's end or start set off; the others follow from it.
    last: Arc<AtomicI64>,
}

impl Polls {
    /// Nobody is there yet.
    pub(crate) fn new() -> Self {
        Self { last: Arc::new(Nanos::MIN.into()) }
    }

    /// The first user starts: a poll every second from now on.
    pub(crate) fn begin(&self, at: Nanos) {
        let begun = (Nanos::MIN, at);
        let _ = self.last.compare_exchange(begun.0, begun.1, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// A user ends.
    pub(crate) fn poll(&self, at: Nanos) {
        self.last.fetch_max(at, Ordering::Relaxed);
    }

    /// The first poll at or after `moment`. Before the first user there is one at any time.
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
