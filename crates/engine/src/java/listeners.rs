//! Delivers results to listeners in the plan's order. The changes that a Java listener makes are visible to later
//! listeners, and not to earlier ones.
//!
//! A user waits until the Java listeners of its sample have run. A transaction's sample is delivered before the
//! user's next sampler; until then no file contains it. A user that ends earlier does not wait: changes that its
//! listeners make are lost.

use std::ops::Range;

use plan::java_backed::{JavaBackedId, Job};
use plan::plan::{ListenerId, ListenerKind, Plan};
use plan::result::SampleResult;
use stats::Outcome;

use super::reply::{Failed, Reply};
use super::{Act, Closing, InFlight, Jobs, Then, amend};
use crate::context::Context;
use crate::ids::UserId;
use crate::time::timing::Timing;

/// A transaction's sample that has not been delivered to all its listeners.
#[derive(Debug)]
pub(crate) struct UndeliveredSample {
    pub(crate) result: Box<SampleResult>,
    pub(crate) listeners: Box<[ListenerId]>,
    /// Index of the listener that receives the sample next.
    pub(crate) next: usize,
    /// True if the sample's rows contain the name of the user's thread.
    pub(crate) named: bool,
}

impl UndeliveredSample {
    /// Returns the next group of consecutive Java listeners that have not received the sample.
    pub(crate) fn java_backed(&self, plan: &Plan) -> Option<Range<usize>> {
        java_backed_from(plan, &self.listeners, self.next, None)
    }
}

impl Jobs {
    /// Returns true if listeners in Java receive this sample.
    pub(crate) fn has_listeners_for(&self, closing: &Closing) -> bool {
        // If a listener marks the sample as ignored, the remaining listeners still receive it.
        let ignores = closing.result.as_deref().is_none_or(|result| result.ignore);
        let ignored = ignores && closing.told == 0;
        self.listens && !ignored && closing.outcome != Outcome::CutByEnd
    }

    /// Sends a sample to its listeners in Java; the user waits for them.
    pub(crate) fn deliver_sample(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        closing: &mut Closing,
        places: Range<usize>,
        heard: Option<&[ListenerId]>,
    ) {
        let plan = cx.plan;
        closing.told = places.end;
        let told = plan.samplers[closing.id.0 as usize].listeners[places].iter();
        let told = told.filter(|id| !heard.is_some_and(|heard| heard.contains(id)));
        let told = told.filter_map(|id| java_backed_listener(plan, *id)).map(Job::Run);
        self.hand_over_run(cx, index, closing.wait(), Act::Listener, told);
    }

    /// Keeps a copy of a transaction's sample until the user's next sampler, if Java listeners must receive it or an
    /// earlier sample that is still undelivered. Returns false if no copy is kept.
    pub(crate) fn keeps_for_listeners(
        &self,
        cx: &mut Context<'_>,
        index: UserId,
        listeners: &[ListenerId],
        named: bool,
        result: &SampleResult,
    ) -> bool {
        let waits = self.listens
            && (java_backed_from(cx.plan, listeners, 0, None).is_some()
                || !cx.users[index].java().untold.is_empty());
        if !waits {
            return false;
        }
        let mut copy = cx.take_result();
        result.duplicate_into(&mut copy);
        (copy.count, copy.errors) = (result.count, result.errors);
        let untold =
            UndeliveredSample { result: copy, listeners: listeners.into(), next: 0, named };
        cx.users[index].java().untold.push_back(untold);
        true
    }

    /// Sends a transaction's sample to its listeners in Java; the user waits for them.
    pub(crate) fn deliver_undelivered(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        then: Then,
        mut untold: UndeliveredSample,
        places: Range<usize>,
    ) {
        untold.next = places.end;
        let plan = cx.plan;
        let told = untold.listeners[places].to_vec();
        let told = told.into_iter().filter_map(|id| java_backed_listener(plan, id)).map(Job::Run);
        cx.users[index].java().untold.push_front(untold);
        self.hand_over_run(cx, index, then, Act::Listener, told);
    }

    /// Sends a transaction's sample to all its remaining listeners in Java; the user does not wait for them.
    pub(crate) fn deliver_without_wait(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        untold: UndeliveredSample,
    ) {
        let told = untold.listeners[untold.next..].iter();
        let told = told.filter_map(|id| java_backed_listener(cx.plan, *id));
        let told: Vec<u32> = told.map(|id| id.0).collect();
        if !told.is_empty() {
            self.send_to_listeners(cx, index, &told, &untold.result);
        }
        cx.give_result(untold.result);
    }
}

/// Returns the next consecutive Java listeners that must receive a sample, without the listeners in `heard`, which
/// receive the sample of the enclosing transaction instead.
pub(crate) fn next_listeners(
    plan: &Plan,
    closing: &Closing,
    heard: Option<&[ListenerId]>,
) -> Option<Range<usize>> {
    let listeners = &plan.samplers[closing.id.0 as usize].listeners;
    java_backed_from(plan, listeners, closing.told, heard)
}

/// Takes the user's first undelivered transaction sample.
pub(crate) fn next_undelivered(cx: &mut Context<'_>, index: UserId) -> Option<UndeliveredSample> {
    cx.users[index].extra.as_mut()?.parts.get_mut::<super::Java>()?.untold.pop_front()
}

/// Stores a transaction's sample with the changes of the Java listeners.
pub(super) fn take_told(
    cx: &mut Context<'_>,
    index: UserId,
    read: &Result<Reply<'_>, Failed>,
    job: &InFlight,
) {
    let Some(mut first) = next_undelivered(cx, index) else { return };
    match read {
        Ok(_) => amend::amend(cx, &mut first.result, &mut Timing::default(), read, job),
        // A listener's failure does not fail the transaction.
        Err(failed) => cx.log(format!("{}: {failed}", job.what)),
    }
    cx.users[index].java().untold.push_front(first);
}

/// Returns the next consecutive Java listeners from an index on, without the listeners in `heard`.
fn java_backed_from(
    plan: &Plan,
    listeners: &[ListenerId],
    from: usize,
    heard: Option<&[ListenerId]>,
) -> Option<Range<usize>> {
    let hears = |id: &ListenerId| !heard.is_some_and(|heard| heard.contains(id));
    let is_java_backed = |id: &ListenerId| java_backed_listener(plan, *id).is_some();
    let behind = listeners.get(from..)?;
    let at = from + behind.iter().position(|id| is_java_backed(id) && hears(id))?;
    let run = listeners[at..].iter().take_while(|id| is_java_backed(id)).count();
    Some(at..at + run)
}

fn java_backed_listener(plan: &Plan, id: ListenerId) -> Option<JavaBackedId> {
    match plan.listeners[id.0 as usize].kind {
        ListenerKind::JavaBacked(id) => Some(id),
        _ => None,
    }
}
