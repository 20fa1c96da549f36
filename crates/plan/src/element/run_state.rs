//! What elements share between all users of a run. Nothing in here is locked on the way of a sample but the first
//! look at a data file.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use super::csv_data_set::Sources;
use super::throughput_timer::Turns;
use super::{counter, random_variable};
use crate::plan::Plan;

/// Shared state of a run.
#[derive(Debug, Default)]
pub struct RunState {
    pub(super) csv: Sources,
    counters: Box<[counter::Shared]>,
    randoms: Box<[random_variable::JavaRandom]>,
    turns: Turns,
    groups: Box<[Group]>,
}

/// What the users of one group share.
#[derive(Debug, Default)]
struct Group {
    active: AtomicU32,
    turns: Turns,
}

fn many<T: Default>(count: usize) -> Box<[T]> {
    std::iter::repeat_with(T::default).take(count).collect()
}

impl RunState {
    /// State of a run that has not started. Data files whose names are known are read now, so that no user waits for
    /// them; what is wrong with one is told to the users who need it.
    pub fn new(plan: &Plan, folder: &Path) -> Self {
        let csv = Sources::new(folder);
        plan.csv.iter().for_each(|element| element.preload(&csv));
        Self {
            csv,
            counters: many(plan.counters.len()),
            randoms: many(plan.randoms.len()),
            turns: Turns::default(),
            groups: many(plan.groups.len()),
        }
    }

    /// A user of the group with that index in the plan has started.
    pub fn user_started(&self, group: u32) {
        if let Some(group) = self.groups.get(group as usize) {
            group.active.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A user of the group with that index in the plan has ended.
    pub fn user_ended(&self, group: u32) {
        if let Some(group) = self.groups.get(group as usize) {
            let _ = group
                .active
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        }
    }

    /// Users that run.
    pub fn active(&self) -> u32 {
        self.groups.iter().map(|group| group.active.load(Ordering::Relaxed)).sum()
    }

    /// Users of a group that run.
    pub fn active_in(&self, group: u32) -> u32 {
        self.groups.get(group as usize).map_or(0, |group| group.active.load(Ordering::Relaxed))
    }

    pub(super) fn counter(&self, at: usize) -> Option<&counter::Shared> {
        self.counters.get(at)
    }

    pub(super) fn random(&self, at: usize) -> Option<&random_variable::JavaRandom> {
        self.randoms.get(at)
    }

    /// Turns of all users, or of those of a group.
    pub(super) fn turns(&self, group: Option<u32>) -> Option<&Turns> {
        match group {
            None => Some(&self.turns),
            Some(group) => self.groups.get(group as usize).map(|group| &group.turns),
        }
    }
}
