//! Samples that fail before a response arrives: completes them with JMeter's error messages.

use plan::plan::{Needs, SamplerId};
use plan::result::SampleResult;
use stats::Outcome;

use crate::context::Context;
use crate::http::chain;
use crate::ids::UserId;
use crate::time::timing::Timing;

/// Fails the sample of a request if a function in its templates has thrown an exception. Without `request`, the URL
/// is not known yet, and the sample has neither URL nor name. Returns false if no function has thrown.
pub(crate) fn fails_by_exception(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    request: Option<&plan::http::Request>,
) -> bool {
    let Some(thrown) = cx.texts.thrown.take() else { return false };
    // A Java `Error` that no sampler of JMeter catches ends the user.
    if thrown.is_error() {
        cx.push_thrown(index, thrown);
        return true;
    }
    let mut result = cx.take_result();
    if let Some(request) = request {
        result.url.push_str(&request.url);
    }
    let code = format!("Non HTTP response code: {}", thrown.class);
    let message = format!("Non HTTP response message: {}", thrown.message);
    unsendable(cx, index, id, &code, &message, request.is_some(), result);
    true
}

/// Fails the sample of a request that could not be built.
pub(crate) fn unsendable(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    code: &str,
    message: &str,
    named: bool,
    mut result: Box<SampleResult>,
) {
    let now = cx.clock.now();
    result.code.push_str(code);
    result.message.push_str(message);
    let timing = Timing { start: now, end: now, ..Timing::default() };
    fail_result(cx, index, id, timing, Outcome::Other, named, result);
}

/// Completes a sample that failed before it had a response. The caller has put code, message and URL into the result.
pub(crate) fn fail_result(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    timing: Timing,
    outcome: Outcome,
    named: bool,
    mut result: Box<SampleResult>,
) {
    // JMeter labels a sample only after its URL is built.
    if named {
        result.label.push_str(cx.sampler_name(index, id));
    }
    result.start_ms = cx.clock.wall_ms(timing.start);
    result.success = false;
    result.data_type = "text";
    result.http = matches!(cx.plan.samplers[id.0 as usize].kind, plan::plan::SamplerKind::Http(_));
    put_exception_text(cx, id, &mut result);
    let redirected = cx.users[index].extra.as_ref().is_some_and(|extra| extra.redirect.is_some());
    if redirected {
        return chain::fail_chain(cx, index, id, timing, outcome, result);
    }
    cx.conclude(index, id, timing, outcome, Some(result));
}

/// Puts the first line of the exception's stack trace into the body. JMeter puts the whole trace there.
pub(crate) fn put_exception_text(cx: &Context<'_>, id: SamplerId, result: &mut SampleResult) {
    if !cx.plan.samplers[id.0 as usize].needs.intersects(Needs::BODY | Needs::TEXT) {
        return;
    }
    let class = result.code.strip_prefix("Non HTTP response code: ").unwrap_or(&result.code);
    let message =
        result.message.strip_prefix("Non HTTP response message: ").unwrap_or(&result.message);
    result.text.push_str(class);
    if message != "null" {
        result.text.push_str(": ");
        result.text.push_str(message);
    }
    result.text.push('\n');
    result.body.extend_from_slice(result.text.as_bytes());
}
