//! Listeners are told of results, each at its place: what one in Java changes is in the rows of those behind it, and not in the rows of those before.
//!
//! A sample's user waits for listeners in Java where they stand. Of a transaction's sample they are told before the user's next sampler; until then the
//! sample is in no file. A user that ends on the way waits for nobody: what its listeners change is lost.

use std::ops::Range;

use plan::java_backed::{JavaBackedId, Job};
use plan::plan::{ListenerId, ListenerKind, Plan};
use plan::result::SampleResult;
use stats::Outcome;

use super::reply::{Failed, Reply};
use super::{Act, Closing, InFlight, Jobs, Then, amend, closing};
use crate::context::Context;
use crate::ids::UserId;
use crate::time::timing::Timing;

/// A transaction's sample that listeners are yet to be told of.
#[derive(Debug)]
pub(crate) struct Untold {
    /// `None` while it is with its user, who waits for one of them.
    result: Option<Box<SampleResult>>,
    listeners: Box<[ListenerId]>,
    /// Which of them is next.
    next: usize,
    /// Its rows have the user's name.
    named: bool,
}

impl Untold {
    /// The place behind those that have been told of it.
    pub(crate) fn next(&self) -> usize {
        self.next
    }

    pub(crate) fn listeners(&self) -> &[ListenerId] {
        &self.listeners
    }

    pub(crate) fn is_named(&self) -> bool {
        self.named
    }

    /// The next listeners of Java's among those that are yet to be told.
    pub(crate) fn java_backed(&self, plan: &Plan) -> Option<Range<usize>> {
        java_backed_from(plan, &self.listeners, self.next, None)
    }
}

impl Jobs {
    /// Whether Java's listeners are told of a sample at all.
    pub(crate) fn tells_of(&self, cx: &Context<'_>, closing: &Closing) -> bool {
        // One that a listener has ignored is too late for that: the others are told all the same.
        let ignored = cx.result.ignore && closing.told == 0;
        self.listens && !ignored && closing.outcome != Outcome::CutByEnd
    }

    /// Tells those of a sample's listeners that are Java's; the user waits for them.
    pub(crate) fn tell_of_sample(
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
        self.hand_over_run(cx, index, Then::Close(*closing), Act::Listener, told);
    }

    /// Keeps a transaction's sample, the core's result, for its listeners until the user's next sampler, if there are some in Java. False: nobody has to wait.
    pub(crate) fn keeps_for_listeners(
        &self,
        cx: &mut Context<'_>,
        index: UserId,
        listeners: &[ListenerId],
        named: bool,
    ) -> bool {
        let waits = self.listens
            && (java_backed_from(cx.plan, listeners, 0, None).is_some()
                || !cx.users[index].java().untold.is_empty());
        if !waits {
            return false;
        }
        let mut copy = cx.spare_results.pop().unwrap_or_default();
        copy.clear();
        cx.result.duplicate_into(&mut copy);
        (copy.count, copy.errors) = (cx.result.count, cx.result.errors);
        let untold = Untold { result: Some(copy), listeners: listeners.into(), next: 0, named };
        cx.users[index].java().untold.push_back(untold);
        true
    }

    /// Tells those of a transaction's listeners that are Java's; the user waits for them.
    pub(crate) fn tell_of_untold(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        then: Then,
        mut untold: Untold,
        places: Range<usize>,
    ) {
        untold.next = places.end;
        let plan = cx.plan;
        let told = untold.listeners[places].to_vec();
        let told = told.into_iter().filter_map(|id| java_backed_listener(plan, id)).map(Job::Run);
        cx.users[index].java().untold.push_front(untold);
        self.hand_over_run(cx, index, then, Act::Listener, told);
    }

    /// Tells all of a transaction's listeners that are Java's and were not yet; nobody waits for them.
    pub(crate) fn tell_in_passing(&mut self, cx: &mut Context<'_>, index: UserId, untold: &Untold) {
        let told = untold.listeners[untold.next..].iter();
        let told = told.filter_map(|id| java_backed_listener(cx.plan, *id));
        let told: Vec<u32> = told.map(|id| id.0).collect();
        if !told.is_empty() {
            self.tell_listeners(cx, index, &told);
        }
    }
}

/// The next listeners of Java's that are to be told of a sample; those in `heard` are not.
pub(crate) fn next_told(
    plan: &Plan,
    closing: &Closing,
    heard: Option<&[ListenerId]>,
) -> Option<Range<usize>> {
    let listeners = &plan.samplers[closing.id.0 as usize].listeners;
    java_backed_from(plan, listeners, closing.told, heard)
}

/// The transaction's sample that is to be told first; its result is the core's.
pub(crate) fn next_untold(cx: &mut Context<'_>, index: UserId) -> Option<Untold> {
    let java = cx.users[index].extra.as_mut()?.parts.get_mut::<super::Java>()?;
    let mut untold = java.untold.pop_front()?;
    if let Some(result) = untold.result.take().or_else(|| java.result.take()) {
        let used = std::mem::replace(&mut cx.result, result);
        cx.spare_results.push(used);
    }
    Some(untold)
}

/// Listeners in Java have been told of a transaction; it is kept as they have made it.
pub(super) fn take_told(
    cx: &mut Context<'_>,
    index: UserId,
    read: &Result<Reply<'_>, Failed>,
    job: &InFlight,
) {
    closing::take_kept(cx, index);
    match read {
        Ok(_) => amend::amend(cx, &mut Timing::default(), read, job),
        // It is no matter of the transaction's.
        Err(failed) => cx.log(format!("{}: {failed}", job.what)),
    }
    let fresh = cx.spare_results.pop().unwrap_or_default();
    let told = std::mem::replace(&mut cx.result, fresh);
    if let Some(first) = cx.users[index].java().untold.front_mut() {
        first.result = Some(told);
    }
}

/// The next listeners of Java's that follow each other, and are not among those that have `heard`.
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
