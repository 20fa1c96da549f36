//! When users start: a pure sequence of start times, one per user of the group.
//!
//! A core takes every number n with n mod cores = its rank, where the cores of all processes of the run count: cores
//! need no coordination.

use crate::clock::Nanos;
use crate::group::GroupSettings;

/// The starts of one group on one core.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) group: u32,
    first_at: Nanos,
    step: Nanos,
    next: u32,
    stride: u32,
    users: u32,
}

impl Start {
    /// The group starts at `at`; its first user after the group's delay.
    pub(crate) fn new(
        group: u32,
        settings: &GroupSettings,
        at: Nanos,
        core: u32,
        cores: u32,
    ) -> Self {
        let first_at = at + settings.delay;
        Self {
            group,
            first_at,
            step: settings.step,
            next: core,
            stride: cores,
            users: settings.users,
        }
    }

    /// When the next user is due.
    pub(crate) fn next_at(&self) -> Nanos {
        if self.finished() {
            Nanos::MAX
        } else {
            self.first_at + self.step * Nanos::from(self.next)
        }
    }

    /// The next user, if due: its number and its time.
    pub(crate) fn take(&mut self, now: Nanos) -> Option<(u32, Nanos)> {
        let at = self.next_at();
        if at > now {
            return None;
        }
        let number = self.next;
        self.next += self.stride;
        Some((number, at))
    }

    pub(crate) fn finished(&self) -> bool {
        self.next >= self.users
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::plan::OnError;

    fn settings(users: u32, step: Nanos) -> GroupSettings {
        GroupSettings {
            name: String::new(),
            number: 1,
            users,
            step,
            delay: 5,
            duration: None,
            on_error: OnError::Continue,
        }
    }

    #[test]
    fn cores_share_the_users_without_gap_or_overlap() {
        let settings = settings(10, 100);
        let mut all = Vec::new();
        for core in 0..3 {
            let mut start = Start::new(0, &settings, 1_000, core, 3);
            while let Some(user) = start.take(Nanos::MAX - 1) {
                all.push(user);
            }
        }
        all.sort_unstable();
        let expected: Vec<_> = (0..10).map(|n| (n, 1_005 + 100 * Nanos::from(n))).collect();
        assert_eq!(all, expected);
    }

    #[test]
    fn nobody_starts_early() {
        let mut start = Start::new(0, &settings(2, 100), 0, 0, 1);
        assert_eq!(start.take(4), None);
        assert_eq!(start.take(5), Some((0, 5)));
        assert_eq!(start.take(104), None);
        assert_eq!(start.next_at(), 105);
        assert_eq!(start.take(105), Some((1, 105)));
        assert!(start.finished());
    }
}
