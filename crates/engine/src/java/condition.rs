//! Expressions that Java must evaluate before a controller can choose its next child: conditions, counts, names.
//!
//! When the search for a sampler reaches a controller with such expressions, the search stops without changing
//! anything, and the user waits. Once the values are known, the next search takes the same path and uses them. The
//! values are valid for that search only, and only until the controller restarts. The values of a While Controller are
//! valid for one evaluation of its condition.

use std::sync::Arc;

use plan::plan::ControllerId;

use super::{Act, Jobs, Then};
use crate::context::Context;
use crate::ids::UserId;

/// Returns true if the controller needs no expressions from Java, or if they were evaluated for the current search
/// for a sampler.
pub(crate) fn are_known(cx: &mut Context<'_>, index: UserId, id: ControllerId) -> bool {
    cx.controller(id).evaluates.is_empty() || cx.users[index].java().fresh.contains(&id)
}

/// Discards the values of a controller's expressions, so that Java evaluates them anew for its next child selection.
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

/// Discards the values that Java evaluated for controllers, once the next sampler is found.
pub(crate) fn forget_all_texts(cx: &mut Context<'_>, index: UserId) {
    if let Some(java) =
        cx.users[index].extra.as_mut().and_then(|extra| extra.parts.get_mut::<super::Java>())
    {
        java.fresh.clear();
        java.questions.close();
    }
}

impl Jobs {
    /// Notifies config elements in Java of a new iteration of the group. Returns false if the user waits for them.
    pub(crate) fn notify_config_elements(&mut self, cx: &mut Context<'_>, index: UserId) -> bool {
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
