//! Names of HTTP samplers that contain expressions: JMeter evaluates them for each request, including redirects and
//! embedded resources.

use plan::plan::SamplerId;

use crate::context::Context;
use crate::ids::UserId;

/// Evaluates a sampler's name that calls functions, when the first request of a sample is built: functions may have
/// side effects. If sub-results keep their URL as label, JMeter evaluates the name at this point only if it cannot
/// create an HTTP client for the sample, as with an unknown implementation (`no_client`).
pub(crate) fn begin(cx: &mut Context<'_>, index: UserId, id: SamplerId, no_client: bool) {
    let counts = cx.plan.samplers[id.0 as usize].name.calls();
    if counts && (no_client || !cx.run.settings.results.keep_sub_labels) {
        cx.name_sampler(index, id);
    }
}

/// Evaluates a sampler's name that calls functions, for a further request of its sample: functions may have side
/// effects. The value is not used.
pub(crate) fn read(cx: &mut Context<'_>, index: UserId, id: SamplerId) {
    let plan = cx.plan;
    let name = &plan.samplers[id.0 as usize].name;
    if cx.run.settings.results.keep_sub_labels || !name.calls() || cx.own_label(index).is_some() {
        return;
    }
    let mut value = cx.texts.take();
    cx.texts.naming = true;
    name.eval(&mut cx.env(index, ""), &mut value);
    cx.texts.naming = false;
    cx.texts.give(value);
}
