//! Users that end, or are cut while Java works for them.
//!
//! When the run ends at once, nobody waits for a job any more: Java is asked to break it off, and the user ends with its sample cut. A core stays until Java has
//! been told of its users' ends, but not for ever.

use std::sync::Arc;

use stats::Outcome;

use super::{Jobs, Then};
use crate::clock::{Nanos, SECOND};
use crate::core::Core;
use crate::sample::Timing;
use crate::wheel::Index;

/// How long a core waits for Java when its users have ended.
pub(crate) const PATIENCE: Nanos = 10 * SECOND;

impl Jobs {
    /// Whether the result of the sample before is kept.
    pub(super) fn keeps(&self) -> bool {
        self.keeps_previous
    }

    /// Whether something is under way that the end must wait for.
    pub(crate) fn are_open(&self) -> bool {
        self.under_way.values().any(|job| !job.abandoned)
    }
}

impl Core<'_> {
    /// A user ends: Java is told, if it knows it.
    pub(crate) fn end_java(&mut self, index: Index) {
        self.tell_the_rest(index);
        let Some(java) = self.users[index].extra.as_mut().and_then(|extra| extra.java.take())
        else {
            return;
        };
        for result in java.result.into_iter().chain(java.previous) {
            self.results.push(result);
        }
        if java.number == 0 {
            return;
        }
        // Of a user that Java still works for it is told when that is done.
        if let Some(job) = self.jobs.under_way.get_mut(&java.ticket) {
            job.abandoned = true;
            return;
        }
        let group = self.users[index].group;
        let what = Arc::from(&*self.run.groups[group as usize].name);
        self.say_goodbye(index, java.number, what);
    }

    /// The run ends at once: what Java does for a user is broken off.
    pub(crate) fn cut_java(&mut self, index: Index) {
        let number = self.users[index].java().number;
        if let Some(offload) = &self.jobs.offload {
            offload.interrupt(number);
        }
        let then = self.users[index].java().then.take();
        let ticket = self.users[index].java().ticket;
        let since = self.jobs.under_way.get(&ticket).map(|job| job.since);
        self.users[index].wait = crate::user::Wait::Ready;
        match then {
            Some(Then::Sampled(id)) => {
                let mut timing: Timing = self.begin_plain(index, id);
                timing.start = since.unwrap_or(timing.start);
                self.result.start_ms = self.clock.wall_ms(timing.start);
                self.result.success = false;
                self.result.code.push_str("500");
                self.result.message.push_str("Interrupted: the run has ended");
                self.close_sample(index, id, timing, Outcome::CutByEnd);
            }
            Some(Then::Close(mut closing)) => {
                self.take_kept(index);
                closing.outcome = Outcome::CutByEnd;
                self.close_on(index, closing);
            }
            Some(Then::Ended(ended, _)) => {
                self.take_kept(index);
                self.report_complete(index, &ended);
                self.end_user(index);
            }
            _ => self.end_user(index),
        }
        if self.users[index].alive {
            self.step(index);
        }
    }

    /// A sample takes longer than its Sample Timeout allows.
    pub(crate) fn interrupt_hosted(&mut self, index: Index) {
        let java = self.users[index].java();
        if matches!(java.then, Some(Then::Sampled(_))) {
            let number = java.number;
            if let Some(offload) = &self.jobs.offload {
                offload.interrupt_sample(number);
            }
        }
    }
}
