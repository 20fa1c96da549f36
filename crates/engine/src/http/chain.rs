//! Chains of redirects as samples: adds hops, and completes the sample with the last hop, successful or failed.

use std::fmt::Write;

use plan::plan::SamplerId;
use plan::result::SampleResult;
use stats::{Outcome, Phases};

use crate::context::Context;
use crate::ids::UserId;
use crate::time::timing::{Timing, TraceId};
use crate::users::Redirect;

/// Creates a redirect chain, which begins with the request and the start time of its first hop.
pub(super) fn begin_chain(
    cx: &mut Context<'_>,
    timing: &Timing,
    url: &str,
    method: &str,
    hop: &SampleResult,
) -> Redirect {
    let mut result = cx.take_result();
    result.start_ms = hop.start_ms;
    (result.latency, result.connect) = (timing.latency, timing.connect);
    result.has_location = hop.has_location;
    result.label.push_str(&hop.label);
    for (to, from) in [
        (&mut result.method, &hop.method),
        (&mut result.cookies, &hop.cookies),
        (&mut result.request_headers, &hop.request_headers),
        (&mut result.query_string, &hop.query_string),
        (&mut result.redirect_location, &hop.redirect_location),
    ] {
        to.push_str(from);
    }
    Redirect {
        result,
        hops: 0,
        start: timing.start,
        lag: 0,
        phases: Phases::default(),
        classes: timing.classes,
        trace: timing.trace,
        wait: timing.wait,
        first_url: url.to_owned(),
        silent: false,
        java: false,
        stripped: false,
        visited: Vec::new(),
        url: url.to_owned(),
        method: method.to_owned(),
    }
}

/// Returns the URL of the first request in a user's redirect chain, if the chain is followed without sub-results.
pub(super) fn first_url(cx: &Context<'_>, index: UserId) -> Option<String> {
    let chain = cx.users[index].extra.as_ref()?.redirect.as_ref()?;
    chain.silent.then(|| chain.first_url.clone())
}

/// Returns the trace id of a user's open redirect chain.
pub(super) fn open_trace(cx: &Context<'_>, index: UserId) -> Option<TraceId> {
    Some(cx.users[index].extra.as_ref()?.redirect.as_ref()?.trace)
}

/// Adds the last hop to the open chain of a user.
pub(crate) fn last_hop(cx: &mut Context<'_>, index: UserId, timing: &Timing, hop: &SampleResult) {
    if let Some(mut chain) = cx.users[index].extra().redirect.take() {
        add_hop(cx, &mut chain, timing, false, hop);
        cx.users[index].extra().redirect = Some(chain);
    }
}

/// Adds a hop to a redirect chain: its times and sizes, and its result as a sub-result unless the chain is `silent`.
pub(super) fn add_hop(
    cx: &Context<'_>,
    chain: &mut Redirect,
    timing: &Timing,
    silent: bool,
    hop: &SampleResult,
) {
    chain.lag += timing.lag;
    chain.phases.add(&timing.phases);
    chain.classes = timing.classes;
    chain.silent = silent;
    let whole = &mut chain.result;
    whole.elapsed = (timing.end - chain.start).max(0) as u64;
    if silent {
        (whole.bytes, whole.sent) = (timing.received, timing.sent);
        whole.headers_size = hop.headers_size;
    } else {
        whole.bytes += timing.received;
        whole.sent += timing.sent;
        whole.headers_size += hop.headers_size;
        let n = whole.sub_count;
        let mut label = std::mem::take(&mut whole.label);
        let length = label.len();
        let _ = write!(label, "-{n}");
        let sub = whole.add_sub();
        hop.show_in(sub);
        sub.raw = n == 0;
        sub.label.clear();
        sub.label.push_str(if cx.run.settings.results.keep_sub_labels { &sub.url } else { &label });
        label.truncate(length);
        whole.label = label;
    }
}

/// Completes the sample of a redirect chain, whose last hop has the result `hop`.
pub(crate) fn conclude_chain(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    hop: Box<SampleResult>,
) {
    let outcome = if hop.success { Outcome::Ok } else { Outcome::Status };
    end_chain(cx, index, id, outcome, hop);
}

/// Completes the sample of a redirect chain as failed, because a hop has failed.
pub(crate) fn fail_chain(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    timing: Timing,
    outcome: Outcome,
    mut hop: Box<SampleResult>,
) {
    let Some(mut chain) = cx.users[index].extra().redirect.take() else { return };
    hop.elapsed = timing.elapsed();
    hop.connect = timing.connect;
    let silent = chain.silent;
    add_hop(cx, &mut chain, &timing, silent, &hop);
    cx.users[index].extra().redirect = Some(chain);
    end_chain(cx, index, id, outcome, hop);
}

/// Completes the sample of a redirect chain with the result of its last hop.
fn end_chain(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    outcome: Outcome,
    mut result: Box<SampleResult>,
) {
    let Some(mut chain) = cx.users[index].extra().redirect.take() else { return };
    if chain.silent && result.code.starts_with("Non HTTP") {
        // HttpClient threw the exception, so the sampler has only the data of its first request.
        chain.result.sent = 0;
        result.url.clone_from(&chain.first_url);
    }
    let whole = &mut chain.result;
    // The sample shows the cookies and location of the first request. If HttpClient followed the chain itself, it shows
    // all data of the first request.
    std::mem::swap(&mut result.cookies, &mut whole.cookies);
    std::mem::swap(&mut result.redirect_location, &mut whole.redirect_location);
    result.has_location = whole.has_location && !chain.silent;
    if chain.silent {
        std::mem::swap(&mut result.method, &mut whole.method);
        std::mem::swap(&mut result.query_string, &mut whole.query_string);
        result.redirect_location.clear();
    }
    if chain.java {
        std::mem::swap(&mut result.request_headers, &mut whole.request_headers);
    }
    let timing = Timing {
        start: chain.start,
        end: chain.start + whole.elapsed as i64,
        idle: 0,
        latency: whole.latency,
        connect: whole.connect,
        lag: chain.lag,
        wait: chain.wait,
        sent: whole.sent,
        received: whole.bytes,
        phases: chain.phases,
        classes: chain.classes,
        trace: chain.trace,
        ..Timing::default()
    };
    // The sample shows the data of the last hop. Its sub-results and sums are those of the whole chain.
    std::mem::swap(&mut result.subs, &mut whole.subs);
    result.sub_count = whole.sub_count;
    result.start_ms = whole.start_ms;
    result.headers_size = whole.headers_size;
    result.label.clear();
    result.label.push_str(&whole.label);
    cx.give_result(chain.result);
    cx.conclude(index, id, timing, outcome, Some(result));
}

/// Returns true if JMeter treats a response as a redirect.
pub(crate) fn is_redirect(status: u16, method: &str) -> bool {
    match status {
        301..=303 | 308 => true,
        307 => method == "GET" || method == "HEAD",
        _ => false,
    }
}
