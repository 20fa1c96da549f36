//! Exceptions of functions: the end of a sample or of a user, by what JMeter's thread does when one is thrown.
//!
//! Evaluating leaves an exception in the core's buffers ([`plan::env::Scratch::thrown`]). On the way to the next sampler, and while a user begins,
//! it ends the user; while a sampler is prepared or runs, its sample is lost and the user goes on. Assertions and HTTP samplers make it their
//! result, extractors do nothing ([`plan::extract`]). Costs a comparison for each sample where nothing throws.

use plan::plan::{Child, ControllerId, ControllerKind, SamplerId, SamplerKind};
use plan::result::Request;

use crate::context::Context;
use crate::core::Core;
use crate::ids::UserId;
use crate::sample::Asked;
use crate::users::Given;

impl Core<'_> {
    /// Ends a user on whose way to its next sampler a function has thrown. False: none has.
    pub(crate) fn ends_by_exception(&mut self, index: UserId) -> bool {
        let Some(thrown) = self.cx.texts.thrown.take() else { return false };
        self.cx.log(format!("user stopped: {}: {thrown}", self.cx.thread_name(index)));
        self.end_of_plan(index);
        true
    }

    /// Loses the sample of a sampler in which a function has thrown: it has no result, and its user goes on. False: none has.
    pub(crate) fn loses_sample(&mut self, index: UserId, id: SamplerId) -> bool {
        let Some(thrown) = self.cx.texts.thrown.take() else { return false };
        let thread = self.cx.thread_name(index);
        // JMeter names the sampler in its log, and its thread fails where that throws.
        let text = &self.cx.plan.samplers[id.0 as usize].name;
        let mut name = self.cx.texts.take();
        self.cx.texts.naming = true;
        text.eval(&mut self.cx.env(index, ""), &mut name);
        self.cx.texts.naming = false;
        if !self.cx.has_thrown() {
            self.cx.log(format!("sample lost: {thread}: {name}: {thrown}"));
        }
        self.cx.texts.give(name);
        let mut asked = Asked::default();
        if thrown.stops_user() {
            asked.add(Request::StopUser);
        }
        if let Some(extra) = self.cx.users[index].extra.as_deref_mut()
            && let Some(java) = extra.parts.get_mut::<crate::java::Java>()
        {
            asked.add(java.end_sample());
            extra.given = Given::default();
        }
        if !self.cx.plan.samplers[id.0 as usize].timeouts.is_empty() {
            self.samples.watch.remove(index);
        }
        if thrown.is_error() {
            self.cx.texts.thrown.get_or_insert(thrown);
        }
        if !self.ends_by_exception(index) {
            self.after_sample(index, id, true, asked);
        }
        true
    }
}

/// Evaluates the names of transactions in a controller whose functions may count, as JMeter does for each user that begins: what is inside comes
/// first.
pub(crate) fn read_names(cx: &mut Context<'_>, index: UserId, id: ControllerId) {
    let plan = cx.plan;
    let controller = cx.controller(id);
    for child in &controller.children {
        match child {
            Child::Controller(inner) => read_names(cx, index, *inner),
            Child::Sampler(sampler) => {
                let kind = &plan.samplers[sampler.0 as usize].kind;
                if let SamplerKind::Parallel(parallel) = kind {
                    parallel.lanes.iter().for_each(|lane| read_names(cx, index, *lane));
                }
            }
        }
    }
    if matches!(controller.kind, ControllerKind::Transaction(_)) && controller.name.calls() {
        let mut name = cx.texts.take();
        controller.name.eval(&mut cx.env(index, ""), &mut name);
        cx.texts.give(name);
    }
}
