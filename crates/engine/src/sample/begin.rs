//! The last steps before a sampler begins: expressions that only Java can evaluate, its time limit, its name. Hot.

use plan::plan::SamplerId;

use crate::context::Context;
use crate::ids::UserId;
use crate::java::{Jobs, Then};
use crate::sample::names;
use crate::sample::samples::Samples;
use crate::sample::step::Step;

/// Begins a sampler once its expressions are evaluated.
pub(crate) fn begin(cx: &mut Context<'_>, jobs: &mut Jobs, index: UserId, id: SamplerId) -> Step {
    if cx.users[index].stopping {
        return Step::Stop { cut: cx.stop.asked };
    }
    let evaluates = cx.plan.samplers[id.0 as usize].evaluates;
    if !evaluates.is_empty() {
        jobs.hand_over_texts(cx, index, Then::Begin(id), evaluates);
        return Step::Done;
    }
    Step::Begin(id)
}

impl Samples {
    /// Sets a sampler's name and starts its Sample Timeouts. Returns false if a function has thrown an exception.
    pub(crate) fn begin(&mut self, cx: &mut Context<'_>, index: UserId, id: SamplerId) -> bool {
        let timeouts = &cx.plan.samplers[id.0 as usize].timeouts;
        if !timeouts.is_empty() {
            self.watch_sample(cx, index, timeouts);
        }
        names::name_at_start(cx, index, id);
        !cx.has_thrown()
    }
}
