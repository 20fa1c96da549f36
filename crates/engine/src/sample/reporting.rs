//! Delivery of results to listeners in order: result files and Backend Listeners on this core, and listeners in Java.

use plan::plan::ListenerId;
use plan::result::SampleResult;

use crate::context::Context;
use crate::ids::UserId;
use crate::java::listeners::UndeliveredSample;
use crate::java::{Closing, Java, Jobs, Then, listeners};
use crate::results::Sinks;
use crate::sample::record::Part;

/// The parts of a core that deliver a result to listeners.
pub(crate) struct Reporting<'c, 'p> {
    pub(crate) cx: &'c mut Context<'p>,
    pub(crate) jobs: &'c mut Jobs,
    pub(crate) sinks: &'c mut Sinks,
}

impl Reporting<'_, '_> {
    /// Passes a sample to Java listeners, and to native listeners before them in the order. Returns true if the
    /// user waits for a Java listener.
    pub(crate) fn deliver_to_java(&mut self, index: UserId, closing: &mut Closing) -> bool {
        if !self.jobs.has_listeners_for(closing) {
            return false;
        }
        let sampler = &self.cx.plan.samplers[closing.id.0 as usize];
        // Listeners of a transaction with a parent sample do not receive its sub-results.
        let heard = self.transaction_listeners(index, sampler.controller);
        let plan = self.cx.plan;
        let Some(places) = listeners::next_listeners(plan, closing, heard) else { return false };
        if heard.is_none()
            && !self.cx.is_silent(index)
            && let Some(result) = closing.result.as_deref_mut()
        {
            let part = Part::Between(closing.told, places.start);
            self.write_rows(index, &sampler.listeners, part, true, result);
        }
        self.jobs.deliver_sample(self.cx, index, closing, places, heard);
        true
    }

    /// Passes a transaction's sample to its listeners: at once, or before the user's next sampler if some listeners are
    /// in Java.
    pub(crate) fn deliver_transaction(
        &mut self,
        index: UserId,
        listeners: &[ListenerId],
        named: bool,
        result: &mut SampleResult,
    ) {
        if !self.jobs.keeps_for_listeners(self.cx, index, listeners, named, result) {
            self.write_rows(index, listeners, Part::From(0), named, result);
        }
    }

    /// Delivers results that listeners have not received yet. Returns true if the user waits for listeners.
    pub(crate) fn catch_up(&mut self, index: UserId, then: Then) -> bool {
        while let Some(mut untold) = listeners::next_undelivered(self.cx, index) {
            let Some(places) = untold.java_backed(self.cx.plan) else {
                self.write_undelivered(index, Part::From(untold.next), &mut untold);
                self.cx.give_result(untold.result);
                continue;
            };
            let part = Part::Between(untold.next, places.start);
            self.write_undelivered(index, part, &mut untold);
            self.jobs.deliver_undelivered(self.cx, index, then, untold, places);
            return true;
        }
        false
    }

    /// Delivers all remaining results to listeners when the user ends, without waiting.
    pub(crate) fn deliver_rest(&mut self, index: UserId) {
        let extra = self.cx.users[index].extra.as_ref();
        if extra.is_none_or(|extra| extra.parts.get::<Java>().is_none()) {
            return;
        }
        while let Some(mut untold) = listeners::next_undelivered(self.cx, index) {
            self.write_undelivered(index, Part::From(untold.next), &mut untold);
            self.jobs.deliver_without_wait(self.cx, index, untold);
        }
    }

    /// Writes a transaction's sample for the listeners that are not in Java.
    fn write_undelivered(&mut self, index: UserId, part: Part, untold: &mut UndeliveredSample) {
        let UndeliveredSample { result, listeners, named, .. } = untold;
        self.write_rows(index, listeners, part, *named, result);
    }
}
