//! Exceptions of functions: the end of a sample or of a user, by what JMeter's thread does when one is thrown.
//!
//! Evaluating leaves an exception in the core's buffers ([`plan::env::Scratch::thrown`]). On the way to the next sampler, and while a user begins,
//! it ends the user; while a sampler is prepared or runs, its sample is lost and the user goes on. Assertions and HTTP samplers make it their
//! result, extractors do nothing ([`plan::extract`]). Costs a comparison for each sample where nothing throws.

use plan::plan::{Child, ControllerId, ControllerKind, SamplerId, SamplerKind};
use plan::result::Request;

use crate::context::Context;
use crate::ids::UserId;
use crate::sample::finish::forget_given;
use crate::sample::outcome::{Asked, after_sample};
use crate::sample::reporting::Reporting;
use crate::sample::samples::Samples;
use crate::sample::step::Step;

impl Samples {
    /// Loses the sample of a sampler in which a function has thrown: it has no result, and its user goes on.
    pub(crate) fn lose(
        &mut self,
        on: &mut Reporting<'_, '_>,
        index: UserId,
        id: SamplerId,
    ) -> Step {
        let cx = &mut *on.cx;
        let Some(thrown) = cx.texts.thrown.take() else { return Step::Done };
        let thread = cx.thread_name(index);
        // JMeter names the sampler in its log, and its thread fails where that throws.
        let text = &cx.plan.samplers[id.0 as usize].name;
        let mut name = cx.texts.take();
        cx.texts.naming = true;
        text.eval(&mut cx.env(index, ""), &mut name);
        cx.texts.naming = false;
        if !cx.has_thrown() {
            cx.log(format!("sample lost: {thread}: {name}: {thrown}"));
        }
        cx.texts.give(name);
        let mut asked = Asked::default();
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
        after_sample(on, (index, id), true, asked)
    }
}

/// Whether a function has thrown what ends its user, which the log says.
pub(crate) fn ends_user(cx: &mut Context<'_>, index: UserId) -> bool {
    let Some(thrown) = cx.texts.thrown.take() else { return false };
    cx.log(format!("user stopped: {}: {thrown}", cx.thread_name(index)));
    true
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
