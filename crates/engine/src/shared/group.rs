//! A thread group at run time: its evaluated settings and the counts that result rows show.

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
    /// The text before the name in the names of users: JMeter's host and a dash, or nothing.
    pub(crate) prefix: Arc<str>,
    /// The text behind the name in the names of users.
    pub(crate) tail: &'static str,
    /// Poll times of a group that replaces users that end early. All spans end together then.
    pub(crate) polls: Option<Polls>,
    /// Its spans are arrivals, and this is what bounds them.
    pub(crate) arrivals: Option<Bounds>,
    /// Arrivals come at this rate, not at the spans.
    pub(crate) rate: Option<Arc<Rate>>,
    /// Iterations of each user, in place of the plan's: -1 is without end.
    pub(crate) loops: Option<i32>,
    pub(crate) number: u32,
    pub(crate) users: u32,
    /// Time between the starts of two users.
    pub(crate) step: Nanos,
    /// Before the first user.
    pub(crate) delay: Nanos,
    /// From the end of the delay to the end; `None` is no limit.
    pub(crate) duration: Option<Nanos>,
    /// Where each user has a start and an end of its own: these, by its number; milliseconds after the group's start.
    pub(crate) spans: Option<Arc<[Span]>>,
    pub(crate) on_error: OnError,
}

impl GroupSettings {
    /// Nothing but the end of a sample ends its users when the group does: it is one of bzm's.
    pub(crate) fn ends_with_samples(&self) -> bool {
        self.polls.is_some() || self.arrivals.is_some()
    }
}

/// Numbers of users, shared by all cores: written when a user starts or ends, read when a row is written.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) active: AtomicU32,
    pub(crate) started: AtomicU32,
    pub(crate) finished: AtomicU32,
    pub(crate) groups: Box<[AtomicU32]>,
    /// Users of each group that had a number in the order of their starts so far, here.
    numbered: Box<[AtomicU32]>,
    /// Active in other processes of the run, as last heard: of each group, and in all.
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

    /// Users that have started so far, and those of them that have finished.
    pub(crate) fn so_far(&self) -> [u32; 2] {
        [&self.started, &self.finished].map(|count| count.load(Ordering::Relaxed))
    }

    /// The number of a group's next user, where users are numbered as they start. Processes take turns.
    pub(crate) fn number(&self, group: GroupId, shard: Shard) -> u32 {
        let here = self.numbered[group.at()].fetch_add(1, Ordering::Relaxed);
        here.wrapping_mul(shard.count).wrapping_add(shard.index)
    }

    /// A user waits for the next arrival, and is none of those who are active.
    pub(crate) fn pause(&self, group: GroupId) {
        self.active.fetch_sub(1, Ordering::Relaxed);
        self.groups[group.at()].fetch_sub(1, Ordering::Relaxed);
    }

    /// It is one again.
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

    /// Active users of a group, and of all, in all processes.
    pub(crate) fn active(&self, group: GroupId) -> (u32, u32) {
        let sum = |here: &AtomicU32, there: &AtomicU32| {
            here.load(Ordering::Relaxed).saturating_add(there.load(Ordering::Relaxed))
        };
        let at = group.at();
        (sum(&self.groups[at], &self.elsewhere[at]), sum(&self.active, &self.all_elsewhere))
    }
}
