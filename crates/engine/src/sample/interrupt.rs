//! Sample Timeouts: samples that take too long are interrupted, as JMeter does with a separate thread.
//!
//! Each user that runs such a sample has an entry in a separate timer wheel, from the sampler's start to its end.
//! An interruption ends the user's current wait, once. A sampler that cannot be interrupted continues.

use crate::context::Context;
use crate::ids::UserId;
use crate::sample::samples::Samples;
use crate::time::clock::{MS, Nanos};
use crate::time::wheel::{Links, Waiting, Wheel};

/// Users whose samples may be interrupted.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) wheel: Wheel,
    entries: Entries,
}

#[derive(Debug, Default)]
struct Entries(Vec<Links>);

impl Waiting for Entries {
    type Id = UserId;

    fn links(&mut self, index: UserId) -> &mut Links {
        &mut self.0[index.at()]
    }
}

impl Watch {
    pub(crate) fn new(now: Nanos) -> Self {
        Self { wheel: Wheel::new(now), entries: Entries::default() }
    }

    /// Moves users to `due` whose Sample Timeouts have expired at the time `now`.
    pub(crate) fn expire(&mut self, now: Nanos, due: &mut Vec<UserId>) {
        self.wheel.expire(now, &mut self.entries, due);
    }

    fn insert(&mut self, index: UserId, at: Nanos) {
        let entries = &mut self.entries.0;
        if entries.len() <= index.at() {
            entries.resize_with(index.at() + 1, Links::default);
        }
        self.wheel.insert(index, at, &mut self.entries);
    }

    /// Removes a user whose sampler has ended, or that has itself ended.
    pub(crate) fn remove(&mut self, index: UserId) {
        if index.at() < self.entries.0.len() {
            self.wheel.remove(index, &mut self.entries);
        }
    }
}

impl Samples {
    /// Starts the Sample Timeouts of a sampler. The shortest timeout applies.
    pub(crate) fn watch_sample(&mut self, cx: &mut Context<'_>, index: UserId, timeouts: &[u32]) {
        let plan = cx.plan;
        let mut first = None;
        for timeout in timeouts {
            let limit = cx.java_number(index, &plan.timeouts[*timeout as usize]);
            if limit > 0 {
                first = Some(first.map_or(limit, |first: i64| first.min(limit)));
            }
        }
        if let Some(limit) = first {
            let now = cx.clock.now();
            self.watch.insert(index, now.saturating_add(limit.saturating_mul(MS)));
        }
    }
}
