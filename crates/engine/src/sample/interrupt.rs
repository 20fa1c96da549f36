//! Sample Timeouts: samples that take too long are interrupted, as JMeter has it done by a thread of its own.
//!
//! Each user that runs such a sample has an entry in a wheel beside the others', from the sampler's start to its end; what is
//! interrupted is whatever the user waits for then, once. A sampler that cannot be interrupted goes on.

use plan::plan::SamplerKind;

use crate::core::Core;
use crate::http::page;
use crate::ids::UserId;
use crate::time::clock::{MS, Nanos};
use crate::time::wheel::{Links, Waiting, Wheel};
use crate::users::Wait;

/// Samples that may be interrupted, by user.
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

    /// Moves the users whose samples are to be interrupted to `due`.
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

    fn remove(&mut self, index: UserId) {
        if index.at() < self.entries.0.len() {
            self.wheel.remove(index, &mut self.entries);
        }
    }
}

impl Core<'_> {
    /// A sampler starts that Sample Timeouts apply to; the first of them counts.
    pub(crate) fn watch(&mut self, index: UserId, timeouts: &[u32]) {
        let plan = self.cx.plan;
        let mut first = None;
        for timeout in timeouts {
            let limit = self.cx.java_number(index, &plan.timeouts[*timeout as usize]);
            if limit > 0 {
                first = Some(first.map_or(limit, |first: i64| first.min(limit)));
            }
        }
        if let Some(limit) = first {
            let now = self.cx.clock.now();
            self.samples.watch.insert(index, now.saturating_add(limit.saturating_mul(MS)));
        }
    }

    /// The sampler has ended, or its user has.
    pub(crate) fn unwatch(&mut self, index: UserId) {
        self.samples.watch.remove(index);
    }

    /// A user's sampler has taken too long.
    pub(crate) fn interrupt(&mut self, index: UserId) {
        let user = &self.cx.users[index];
        if !user.alive {
            return;
        }
        match user.wait {
            Wait::Exchange(_) | Wait::Resolve(_) => self.http.interrupt(&mut self.cx, index),
            Wait::Session(ticket) => {
                let (sessions, mut around) = self.sessions();
                sessions.interrupt(&mut around, ticket);
            }
            Wait::Page(_) => {
                // What is loaded side by side is loaded by samplers that JMeter does not see.
                if let Some(branch) = page::only_branch(&mut self.cx, index) {
                    self.http.interrupt(&mut self.cx, branch);
                }
            }
            Wait::Pause(_) => {
                self.cx.timers.wheel.remove(index, &mut self.cx.users);
                self.resume(index);
            }
            Wait::Sleep(id) => {
                let own = self.cx.own_sampler(index).cloned();
                let kind = own.as_deref().unwrap_or(&self.cx.plan.samplers[id.0 as usize].kind);
                let SamplerKind::Java(java) = kind else { return };
                self.cx.timers.wheel.remove(index, &mut self.cx.users);
                let now = self.cx.clock.now();
                let user = &mut self.cx.users[index];
                user.links.deadline = now;
                if let Some(pending) = user.extra().pending.as_deref_mut() {
                    java.interrupt(pending);
                }
                self.resume(index);
            }
            Wait::Java => self.interrupt_hosted(index),
            Wait::Lanes(id) => {
                // The plug-in starts nothing more in this thread, and does not end what runs.
                let closed = &mut self.cx.users[index].extra().closed;
                if !closed.contains(&id) {
                    closed.push(id);
                }
            }
            _ => {}
        }
    }
}
