//! Names of samplers that contain expressions: evaluates them when JMeter reads them.
//!
//! JMeter reads the name when the sampler starts, after its pre-processors and timers. HTTP samplers read it for each
//! request, including redirects and embedded resources. They read it once more when all responses have arrived, and
//! this value is the name of the sample. Other elements may read the name earlier (`__samplerName`, scripts). The
//! number of evaluations matters only if the name calls functions. A constant name costs nothing.

use plan::action::Action;
use plan::plan::{Before, SamplerId, SamplerKind};
use plan::result::SampleResult;

use crate::context::Context;
use crate::ids::UserId;

/// Evaluates the name of a sampler before it starts, for elements that read it. A name that calls functions is
/// evaluated at this point only if a pre-processor runs in Java, otherwise when it is read.
pub(crate) fn name_before(cx: &mut Context<'_>, index: UserId, id: SamplerId) {
    let sampler = &cx.plan.samplers[id.0 as usize];
    if !sampler.name.calls() || sampler.before.iter().any(|one| matches!(one, Before::Job(_))) {
        cx.name_sampler(index, id);
        // JMeter does not read the name yet, so an exception is ignored.
        cx.forget_thrown();
    } else if let Some(extra) = &mut cx.users[index].extra {
        extra.sampler_name.clear();
    }
}

/// Evaluates the name of a sampler that starts, unless JMeter does not read the name at this point.
pub(crate) fn name_at_start(cx: &mut Context<'_>, index: UserId, id: SamplerId) {
    let sampler = &cx.plan.samplers[id.0 as usize];
    if sampler.name.fixed().is_some() {
        return;
    }
    let unread = match &sampler.kind {
        // The name is evaluated when the request is built.
        SamplerKind::Http(_) => true,
        SamplerKind::Action(action) => matches!(action, Action::Pause(_)),
        _ => false,
    };
    if !(unread && sampler.name.calls()) {
        cx.name_sampler(index, id);
    }
}

/// Sets the name of an HTTP sample after all responses have arrived. `observed` is the sample's result, if anything
/// reads it.
pub(crate) fn name_at_end(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    observed: Option<&mut SampleResult>,
) {
    let sampler = &cx.plan.samplers[id.0 as usize];
    let is_http = matches!(sampler.kind, SamplerKind::Http(_));
    if !is_http || sampler.name.fixed().is_some() || cx.own_label(index).is_some() {
        return;
    }
    // A sample that failed before its URL was built has no name, or already has it.
    if let Some(result) = &observed
        && (result.url.is_empty() || result.label != cx.sampler_name(index, id))
    {
        return;
    }
    cx.name_sampler(index, id);
    if let Some(result) = observed {
        result.label.clear();
        result.label.push_str(cx.sampler_name(index, id));
    }
}
