//! Exceptions of functions: they end a sample or a user, as they do in JMeter's threads.
//!
//! An evaluation leaves an exception in the core's buffers ([`plan::env::Scratch::thrown`]). In the search for the
//! next sampler, and at a user's start, the exception ends the user. While a sampler is prepared or runs, its
//! sample is dropped and the user continues. Assertions and HTTP samplers turn the exception into a failed result.
//! Extractors ignore it ([`plan::extract`]). The cost without an exception is one comparison per sample.

use plan::plan::{Child, ControllerId, ControllerKind, SamplerId, SamplerKind};
use plan::result::Request;

use crate::context::Context;
use crate::ids::UserId;
use crate::sample::finish::forget_given;
use crate::sample::outcome::{RequestedActions, after_sample};
use crate::sample::reporting::Reporting;
use crate::sample::samples::Samples;
use crate::sample::step::Step;

impl Samples {
    /// Drops the sample of a sampler in which a function has thrown an exception: the sample has no result, and the
    /// user continues.
    pub(crate) fn drop_sample(
        &mut self,
        on: &mut Reporting<'_, '_>,
        index: UserId,
        id: SamplerId,
    ) -> Step {
        let cx = &mut *on.cx;
        let Some(thrown) = cx.texts.thrown.take() else { return Step::Done };
        let thread = cx.thread_name(index);
        // JMeter evaluates the sampler's name for its log, and its thread fails if the evaluation throws an
        // exception.
        let text = &cx.plan.samplers[id.0 as usize].name;
        let mut name = cx.texts.take();
        cx.texts.naming = true;
        text.eval(&mut cx.env(index, ""), &mut name);
        cx.texts.naming = false;
        if !cx.has_thrown() {
            cx.log(format!("sample lost: {thread}: {name}: {thrown}"));
        }
        cx.texts.give(name);
        let mut asked = RequestedActions::default();
        if thrown.stops_user() {
            asked.add(Request::StopUser);
        }
        asked.add(forget_given(cx, index));
        self.unwatch(cx, index, id);
        if thrown.is_error() {
            cx.texts.thrown.get_or_insert(thrown);
        }
        if ends_user(cx, index) {
            return Step::EndOfPlan;
        }
        after_sample(on, index, id, true, asked)
    }
}

/// Logs the exception that ends the user, if there is one. Returns true if the user ends.
pub(crate) fn ends_user(cx: &mut Context<'_>, index: UserId) -> bool {
    let Some(thrown) = cx.texts.thrown.take() else { return false };
    cx.log(format!("user stopped: {}: {thrown}", cx.thread_name(index)));
    true
}

/// Evaluates the names of transactions in a controller. JMeter does this for each user that starts, and functions
/// in names have side effects. Inner transactions come first.
pub(crate) fn read_names(cx: &mut Context<'_>, index: UserId, id: ControllerId) {
    let plan = cx.plan;
    let controller = cx.controller(id);
    for child in &controller.children {
        match child {
            Child::Controller(inner) => read_names(cx, index, *inner),
            Child::Sampler(sampler) => {
                let kind = &plan.samplers[sampler.0 as usize].kind;
                if let SamplerKind::Parallel(parallel) = kind {
                    parallel.branches.iter().for_each(|branch| read_names(cx, index, *branch));
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
