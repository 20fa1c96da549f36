//! Listeners are told of results, each at its place: what one in Java changes is in the rows of those behind it, and not in the rows of those before.
//!
//! A sample's user waits for listeners in Java where they stand. Of a transaction's sample they are told before the user's next sampler; until then the
//! sample is in no file. A user that ends on the way waits for nobody: what its listeners change is lost.

use plan::hosted::{HostedId, Job};
use plan::plan::{ControllerId, ControllerKind, ListenerId, ListenerKind, Plan};
use plan::result::SampleResult;
use stats::Outcome;

use super::reply::{Failed, Reply};
use super::{Act, Closing, Then, UnderWay};
use crate::core::Core;
use crate::ids::UserId;
use crate::sample::record::Part;
use crate::time::timing::Timing;

/// A transaction's sample that listeners are yet to be told of.
#[derive(Debug)]
pub(super) struct Untold {
    /// `None` while it is with its user, who waits for one of them.
    result: Option<Box<SampleResult>>,
    listeners: Box<[ListenerId]>,
    /// Which of them is next.
    next: usize,
    /// Its rows have the user's name.
    named: bool,
}

impl<'p> Core<'p> {
    /// Tells Java's listeners of a sample, and others as far as they stand before them. True: the user waits for one.
    pub(super) fn tell_java(&mut self, index: UserId, closing: &mut Closing) -> bool {
        // One that a listener has ignored is too late for that: the others are told all the same.
        let ignored = self.cx.result.ignore && closing.told == 0;
        if !self.jobs.listens || ignored || closing.outcome == Outcome::CutByEnd {
            return false;
        }
        let plan = self.cx.plan;
        let sampler = &plan.samplers[closing.id.0 as usize];
        // Those that hear of a transaction with a parent sample do not hear of its parts.
        let heard = self.heard_around(index, sampler.controller);
        let from = closing.told;
        let Some((at, end)) = self.hosted_from(&sampler.listeners, from, heard) else {
            return false;
        };
        if heard.is_none() && !(self.cx.users[index].lane && self.cx.is_silent(index)) {
            self.write_rows(index, &sampler.listeners, Part::Between(from, at), true);
        }
        let told = sampler.listeners[at..end].iter();
        let told = told.filter(|id| !heard.is_some_and(|heard| heard.contains(id)));
        let told = told.filter_map(|id| hosted_listener(plan, *id)).map(Job::Run);
        closing.told = end;
        self.hand_over_run(index, Then::Close(*closing), Act::Listener, told);
        true
    }

    /// The listeners that hear of the transaction around what stands in a controller, in place of its parts.
    pub(crate) fn heard_around(
        &self,
        index: UserId,
        inside: ControllerId,
    ) -> Option<&'p [ListenerId]> {
        let at = self.parent_around(index, inside)?;
        let open = self.cx.users[index].extra.as_ref()?.transactions.get(at)?.controller;
        let plan = self.cx.plan;
        match &plan.controllers[open.0 as usize].kind {
            ControllerKind::Transaction(settings) => Some(&settings.listeners),
            _ => None,
        }
    }

    /// The next listeners of Java's that follow each other, and are not among those that have `heard`: from and to.
    fn hosted_from(
        &self,
        listeners: &[ListenerId],
        from: usize,
        heard: Option<&[ListenerId]>,
    ) -> Option<(usize, usize)> {
        let hears = |id: &ListenerId| !heard.is_some_and(|heard| heard.contains(id));
        let is_hosted = |id: &ListenerId| hosted_listener(self.cx.plan, *id).is_some();
        let behind = listeners.get(from..)?;
        let at = from + behind.iter().position(|id| is_hosted(id) && hears(id))?;
        let run = listeners[at..].iter().take_while(|id| is_hosted(id)).count();
        Some((at, at + run))
    }

    /// Gives a transaction's sample, the core's result, to its listeners: at once, or if there are some in Java before the user's next sampler.
    pub(crate) fn tell_of_transaction(
        &mut self,
        index: UserId,
        listeners: &[ListenerId],
        named: bool,
    ) {
        let waits = self.jobs.listens
            && (self.hosted_from(listeners, 0, None).is_some()
                || !self.cx.users[index].java().untold.is_empty());
        if !waits {
            return self.write_rows(index, listeners, Part::From(0), named);
        }
        let mut copy = self.cx.spare_results.pop().unwrap_or_default();
        copy.clear();
        self.cx.result.duplicate_into(&mut copy);
        (copy.count, copy.errors) = (self.cx.result.count, self.cx.result.errors);
        let untold = Untold { result: Some(copy), listeners: listeners.into(), next: 0, named };
        self.cx.users[index].java().untold.push_back(untold);
    }

    /// Tells listeners of what they have not been told of yet. True: the user waits for them.
    pub(crate) fn catch_up(&mut self, index: UserId, then: Then) -> bool {
        while let Some(mut untold) = self.next_untold(index) {
            let Untold { listeners, next, named, .. } = &mut untold;
            let Some((at, end)) = self.hosted_from(listeners, *next, None) else {
                self.write_rows(index, listeners, Part::From(*next), *named);
                continue;
            };
            self.write_rows(index, listeners, Part::Between(*next, at), *named);
            *next = end;
            let plan = self.cx.plan;
            let told = untold.listeners[at..end].to_vec();
            let told = told.into_iter().filter_map(|id| hosted_listener(plan, id)).map(Job::Run);
            self.cx.users[index].java().untold.push_front(untold);
            self.hand_over_run(index, then, Act::Listener, told);
            return true;
        }
        false
    }

    /// What is to be told first; its result is the core's.
    fn next_untold(&mut self, index: UserId) -> Option<Untold> {
        let java = self.cx.users[index].extra.as_mut()?.parts.get_mut::<super::Java>()?;
        let mut untold = java.untold.pop_front()?;
        if let Some(result) = untold.result.take().or_else(|| java.result.take()) {
            let used = std::mem::replace(&mut self.cx.result, result);
            self.cx.spare_results.push(used);
        }
        Some(untold)
    }

    /// Listeners in Java have been told of a transaction; it is kept as they have made it.
    pub(super) fn take_told(
        &mut self,
        index: UserId,
        read: &Result<Reply<'_>, Failed>,
        job: &UnderWay,
    ) {
        self.take_kept(index);
        match read {
            Ok(_) => self.put(&mut Timing::default(), read, job),
            // It is no matter of the transaction's.
            Err(failed) => self.cx.log(format!("{}: {failed}", job.what)),
        }
        let fresh = self.cx.spare_results.pop().unwrap_or_default();
        let told = std::mem::replace(&mut self.cx.result, fresh);
        if let Some(first) = self.cx.users[index].java().untold.front_mut() {
            first.result = Some(told);
        }
    }

    /// Tells listeners of all that is left; the user ends, and does not wait.
    pub(crate) fn tell_the_rest(&mut self, index: UserId) {
        if self.cx.users[index]
            .extra
            .as_ref()
            .is_none_or(|extra| extra.parts.get::<super::Java>().is_none())
        {
            return;
        }
        let fresh = self.cx.spare_results.pop().unwrap_or_default();
        let kept = std::mem::replace(&mut self.cx.result, fresh);
        while let Some(untold) = self.next_untold(index) {
            let Untold { listeners, next, named, .. } = untold;
            self.write_rows(index, &listeners, Part::From(next), named);
            let told = listeners[next..].iter().filter_map(|id| hosted_listener(self.cx.plan, *id));
            let told: Vec<u32> = told.map(|id| id.0).collect();
            if !told.is_empty() {
                self.tell_listeners(index, &told);
            }
        }
        let used = std::mem::replace(&mut self.cx.result, kept);
        self.cx.spare_results.push(used);
    }
}

fn hosted_listener(plan: &Plan, id: ListenerId) -> Option<HostedId> {
    match plan.listeners[id.0 as usize].kind {
        ListenerKind::Hosted(id) => Some(id),
        _ => None,
    }
}
