//! Names of HTTP samplers that are expressions: JMeter reads them for each request, those of redirects and embedded resources included.

use plan::plan::SamplerId;

use crate::context::Context;
use crate::ids::UserId;

/// The request of an HTTP sampler is put together: functions in its name count. Nobody may be there to send it (`no_client`): then the sample is
/// named all the same, once.
pub(crate) fn begin(cx: &mut Context<'_>, index: UserId, id: SamplerId, no_client: bool) {
    let counts = cx.plan.samplers[id.0 as usize].name.calls();
    if counts && (no_client || !cx.run.settings.results.keep_sub_labels) {
        cx.name_sampler(index, id);
    }
}

/// An HTTP sampler sends another request: functions in its name count.
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
