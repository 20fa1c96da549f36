//! Texts that controllers need before they can be asked: conditions, counts, names.
//!
//! A search for a sampler that comes to a controller with such texts ends there, with nothing changed, and the user waits; when they are known, the next search finds
//! the same way and uses them. They hold for that search alone, and only until the controller begins anew; a While Controller's hold for one question.

use std::sync::Arc;

use plan::plan::ControllerId;

use super::{Act, Jobs, Then};
use crate::context::Context;
use crate::ids::UserId;

/// Whether a controller's texts are known in the current search for a sampler, or it has none.
pub(crate) fn are_known(cx: &mut Context<'_>, index: UserId, id: ControllerId) -> bool {
    cx.controller(id).evaluates.is_empty() || cx.users[index].java().fresh.contains(&id)
}

/// The next question to a controller needs its texts evaluated anew.
#[inline]
pub(crate) fn forget_texts(cx: &mut Context<'_>, index: UserId, id: ControllerId) {
    if !cx.controller(id).evaluates.is_empty() {
        forget_known(cx, index, id);
    }
}

fn forget_known(cx: &mut Context<'_>, index: UserId, id: ControllerId) {
    if let Some(java) =
        cx.users[index].extra.as_mut().and_then(|extra| extra.parts.get_mut::<super::Java>())
    {
        java.fresh.retain(|known| *known != id);
    }
}

/// A search for a sampler has come to its end.
pub(crate) fn forget_all_texts(cx: &mut Context<'_>, index: UserId) {
    if let Some(java) =
        cx.users[index].extra.as_mut().and_then(|extra| extra.parts.get_mut::<super::Java>())
    {
        java.fresh.clear();
        java.questions.close();
    }
}

impl Jobs {
    /// Tells config elements in Java of an iteration of the group. False: the user waits for them.
    pub(crate) fn tell_iteration(&mut self, cx: &mut Context<'_>, index: UserId) -> bool {
        if cx.gives_up(index) {
            return true;
        }
        let plan = cx.plan;
        let group = cx.users[index].group;
        if !self.shared.hearing.starting.is_empty()
            && !std::mem::replace(&mut cx.users[index].java().started, true)
        {
            let starting = Arc::clone(&self.shared.hearing.starting);
            let mine = starting.iter().filter(|id| plan.java_backed.concerns(**id, group));
            let mut mine = mine.map(|id| plan::java_backed::Job::Run(*id)).peekable();
            if mine.peek().is_some() {
                self.hand_over_run(cx, index, Then::Started, Act::Start, mine);
                return false;
            }
        }
        if self.shared.hearing.iterating.is_empty() {
            return true;
        }
        let iterating = Arc::clone(&self.shared.hearing.iterating);
        let jobs = iterating.iter().filter(|id| plan.java_backed.concerns(**id, group));
        let mut jobs = jobs.map(|id| plan::java_backed::Job::Run(*id)).peekable();
        if jobs.peek().is_none() {
            return true;
        }
        self.hand_over_run(cx, index, Then::Pull(None), Act::Iteration, jobs);
        false
    }
}
