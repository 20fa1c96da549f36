//! A thread group at run time: its evaluated settings, and the user counts that result rows contain.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use plan::element::{Bounds, Span};
use plan::load::Rate;
use plan::plan::{GroupId, OnError};
use plan::state::Shard;

use crate::shared::polling::Polls;
use crate::time::clock::Nanos;

/// Settings of a group, evaluated when the run starts.
#[derive(Clone, Debug)]
pub(crate) struct GroupSettings {
    pub(crate) name: String,
    /// Prefix of the group's thread names: JMeter's host and a dash, or nothing.
    pub(crate) prefix: Arc<str>,
    /// Part of thread names after the group's name.
    pub(crate) tail: &'static str,
    /// Poll times of a group that replaces users which end early. The spans of all its users end at the same time.
    pub(crate) polls: Option<Polls>,
    /// The limits of arrivals, if each span is an arrival instead of a user.
    pub(crate) arrivals: Option<Bounds>,
    /// Rate of arrivals, used instead of the spans.
    pub(crate) rate: Option<Arc<Rate>>,
    /// Iterations per user that replace the plan's number; -1 is infinite.
    pub(crate) loops: Option<i32>,
    pub(crate) number: u32,
    pub(crate) users: u32,
    /// Time between the starts of two users, in nanoseconds.
    pub(crate) step: Nanos,
    /// Delay before the first user, in nanoseconds.
    pub(crate) delay: Nanos,
    /// Time from the end of the delay to the end of the group, in nanoseconds; `None` is unlimited.
    pub(crate) duration: Option<Nanos>,
    /// Start and end of each user with individual times, by its number, in milliseconds since the group's start.
    pub(crate) spans: Option<Arc<[Span]>>,
    pub(crate) on_error: OnError,
}

impl GroupSettings {
    /// Returns true if the group's end lets users finish their current sample, as in bzm's thread groups.
    pub(crate) fn ends_with_samples(&self) -> bool {
        self.polls.is_some() || self.arrivals.is_some()
    }
}

/// Counters of users, shared by all cores: written when a user starts or ends, read for each row.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) active: AtomicU32,
    pub(crate) started: AtomicU32,
    pub(crate) finished: AtomicU32,
    pub(crate) groups: Box<[AtomicU32]>,
    /// Per group: number of users in this process that have been numbered in the order of their starts.
    numbered: Box<[AtomicU32]>,
    /// Active users in other processes of the run, as last reported: per group, and in total.
    elsewhere: Box<[AtomicU32]>,
    all_elsewhere: AtomicU32,
}

impl Counts {
    pub(crate) fn new(groups: usize) -> Self {
        let many = || (0..groups).map(|_| AtomicU32::new(0)).collect();
        Self { groups: many(), numbered: many(), elsewhere: many(), ..Self::default() }
    }

    pub(crate) fn start(&self, group: GroupId) {
        self.active.fetch_add(1, Ordering::Relaxed);
        self.started.fetch_add(1, Ordering::Relaxed);
        self.groups[group.at()].fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of users started so far, and the number of users finished so far.
    pub(crate) fn user_counts(&self) -> [u32; 2] {
        [&self.started, &self.finished].map(|count| count.load(Ordering::Relaxed))
    }

    /// Returns the number of a group's next user, for groups that number users in the order of their starts. Processes
    /// use interleaved numbers.
    pub(crate) fn number(&self, group: GroupId, shard: Shard) -> u32 {
        let here = self.numbered[group.at()].fetch_add(1, Ordering::Relaxed);
        here.wrapping_mul(shard.count).wrapping_add(shard.index)
    }

    /// Subtracts a user that waits for the next arrival from the active users.
    pub(crate) fn pause(&self, group: GroupId) {
        self.active.fetch_sub(1, Ordering::Relaxed);
        self.groups[group.at()].fetch_sub(1, Ordering::Relaxed);
    }

    /// Adds a user to the active users again after its wait for an arrival.
    pub(crate) fn resume(&self, group: GroupId) {
        self.active.fetch_add(1, Ordering::Relaxed);
        self.groups[group.at()].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn finish(&self, group: GroupId) {
        self.active.fetch_sub(1, Ordering::Relaxed);
        self.finished.fetch_add(1, Ordering::Relaxed);
        self.groups[group.at()].fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn set_elsewhere(&self, groups: &[u32]) {
        for (held, users) in self.elsewhere.iter().zip(groups) {
            held.store(*users, Ordering::Relaxed);
        }
        self.all_elsewhere.store(groups.iter().sum(), Ordering::Relaxed);
    }

    /// Returns the active users of a group, and of all groups, in all processes.
    pub(crate) fn active(&self, group: GroupId) -> (u32, u32) {
        let sum = |here: &AtomicU32, there: &AtomicU32| {
            here.load(Ordering::Relaxed).saturating_add(there.load(Ordering::Relaxed))
        };
        let at = group.at();
        (sum(&self.groups[at], &self.elsewhere[at]), sum(&self.active, &self.all_elsewhere))
    }
}
