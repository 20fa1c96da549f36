//! Results on their way to those who hear of them: result files and Backend Listeners on this core, listeners in Java, each in its turn.

use plan::plan::ListenerId;

use crate::context::Context;
use crate::ids::UserId;
use crate::java::{Closing, Ended, Java, Jobs, Then, listeners};
use crate::results::Sinks;
use crate::sample::record::Part;

/// The parts of a core that a result passes on its way to those who hear of it.
pub(crate) struct Reporting<'c, 'p> {
    pub(crate) cx: &'c mut Context<'p>,
    pub(crate) jobs: &'c mut Jobs,
    pub(crate) sinks: &'c mut Sinks,
}

impl Reporting<'_, '_> {
    /// Tells Java's listeners of a sample, and others as far as they stand before them. True: the user waits for one.
    pub(crate) fn tell_java(&mut self, index: UserId, closing: &mut Closing) -> bool {
        if !self.jobs.tells_of(self.cx, closing) {
            return false;
        }
        let sampler = &self.cx.plan.samplers[closing.id.0 as usize];
        // Those that hear of a transaction with a parent sample do not hear of its parts.
        let heard = self.heard_around(index, sampler.controller);
        let plan = self.cx.plan;
        let Some(places) = listeners::next_told(plan, closing, heard) else { return false };
        if heard.is_none() && !self.cx.is_silent(index) {
            let part = Part::Between(closing.told, places.start);
            self.write_rows(index, &sampler.listeners, part, true);
        }
        self.jobs.tell_of_sample(self.cx, index, closing, places, heard);
        true
    }

    /// Checks a transaction's sample, the core's result, and reports it.
    pub(crate) fn check_in_turn(&mut self, index: UserId, ended: Ended, from: usize) {
        if let Some(ended) = self.jobs.check_in_turn(self.cx, index, ended, from) {
            self.report_complete(index, &ended);
        }
    }

    /// Gives a transaction's sample, the core's result, to its listeners: at once, or if there are some in Java before the user's next sampler.
    pub(crate) fn tell_of_transaction(
        &mut self,
        index: UserId,
        listeners: &[ListenerId],
        named: bool,
    ) {
        if !self.jobs.keeps_for_listeners(self.cx, index, listeners, named) {
            self.write_rows(index, listeners, Part::From(0), named);
        }
    }

    /// Tells listeners of what they have not been told of yet. True: the user waits for them.
    pub(crate) fn catch_up(&mut self, index: UserId, then: Then) -> bool {
        while let Some(untold) = listeners::next_untold(self.cx, index) {
            let (next, named) = (untold.next(), untold.is_named());
            let Some(places) = untold.java_backed(self.cx.plan) else {
                self.write_rows(index, untold.listeners(), Part::From(next), named);
                continue;
            };
            self.write_rows(index, untold.listeners(), Part::Between(next, places.start), named);
            self.jobs.tell_of_untold(self.cx, index, then, untold, places);
            return true;
        }
        false
    }

    /// Tells listeners of all that is left; the user ends, and does not wait.
    pub(crate) fn tell_the_rest(&mut self, index: UserId) {
        let extra = self.cx.users[index].extra.as_ref();
        if extra.is_none_or(|extra| extra.parts.get::<Java>().is_none()) {
            return;
        }
        let fresh = self.cx.spare_results.pop().unwrap_or_default();
        let kept = std::mem::replace(&mut self.cx.result, fresh);
        while let Some(untold) = listeners::next_untold(self.cx, index) {
            let part = Part::From(untold.next());
            self.write_rows(index, untold.listeners(), part, untold.is_named());
            self.jobs.tell_in_passing(self.cx, index, &untold);
        }
        let used = std::mem::replace(&mut self.cx.result, kept);
        self.cx.spare_results.push(used);
    }
}
