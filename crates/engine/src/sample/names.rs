//! Names of samplers that are expressions: evaluated when JMeter reads them.
//!
//! That is when a sampler starts, behind its pre-processors and timers. HTTP samplers read theirs for each request, those of redirects and embedded
//! resources included, and once more when all is received, which is the name that the sample has. Before that somebody may ask for it (`__samplerName`,
//! scripts). It counts how often only where functions are called. A fixed name costs nothing.

use plan::action::Action;
use plan::plan::{Before, SamplerId, SamplerKind};

use crate::context::Context;
use crate::ids::UserId;

/// Evaluates the name of a sampler that is to be prepared, for whoever asks for it before it starts. One that counts is evaluated when asked for.
pub(crate) fn name_before(cx: &mut Context<'_>, index: UserId, id: SamplerId) {
    let sampler = &cx.plan.samplers[id.0 as usize];
    if !sampler.name.calls() || sampler.before.iter().any(|one| matches!(one, Before::Job(_))) {
        cx.name_sampler(index, id);
        // JMeter does not read it yet.
        cx.forget_thrown();
    } else if let Some(extra) = &mut cx.users[index].extra {
        extra.sampler_name.clear();
    }
}

/// Evaluates the name of a sampler that starts.
pub(crate) fn name_at_start(cx: &mut Context<'_>, index: UserId, id: SamplerId) {
    let sampler = &cx.plan.samplers[id.0 as usize];
    if sampler.name.fixed().is_some() {
        return;
    }
    let unread = match &sampler.kind {
        // It is read when the request is put together.
        SamplerKind::Http(_) => true,
        SamplerKind::Action(action) => matches!(action, Action::Pause(_)),
        _ => false,
    };
    if !(unread && sampler.name.calls()) {
        cx.name_sampler(index, id);
    }
}

/// Names the sample of an HTTP sampler, the core's result if it is `observed`, once all is received.
pub(crate) fn name_at_end(cx: &mut Context<'_>, index: UserId, id: SamplerId, observed: bool) {
    let sampler = &cx.plan.samplers[id.0 as usize];
    let is_http = matches!(sampler.kind, SamplerKind::Http(_));
    if !is_http || sampler.name.fixed().is_some() || cx.own_label(index).is_some() {
        return;
    }
    // What failed before it had its URL has no name, or has it already.
    let no_url = cx.result.url.is_empty();
    if observed && (no_url || cx.result.label != cx.sampler_name(index, id)) {
        return;
    }
    cx.name_sampler(index, id);
    if observed {
        let mut label = std::mem::take(&mut cx.result.label);
        label.clear();
        label.push_str(cx.sampler_name(index, id));
        cx.result.label = label;
    }
}
