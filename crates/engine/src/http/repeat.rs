//! Failed exchanges: closes the connection, and resends the request or completes its sample with JMeter's error
//! messages.

use stats::{ClassId, Counter};
use wire::session::Ticket;

use crate::context::Context;
use crate::http::failure::fail_result;
use crate::http::fill::show_request;
use crate::http::fixed::FixedRequests;
use crate::http::opening;
use crate::net::driver;
use crate::net::outcome::{Failure, describe, describe_java};
use crate::session::Sessions;
use crate::session::exchange::{Call, Exchange};
use crate::session::http1::HttpCall;
use crate::session::line::State;
use crate::time::timing::Timing;
use crate::time::timing::TraceId;
use crate::users::Wait;

/// Handles a failed exchange: closes its connection, and completes the sample unless the request may be resent.
pub(super) fn fail(
    requests: &FixedRequests,
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    ticket: Ticket,
    failure: &Failure,
) {
    let exchange = &sessions.exchanges[ticket];
    let line = &sessions.lines[exchange.line];
    let (via, own) = (line.opening.route, line.opening.own());
    let untouched = !exchange.began && line.is_drained();
    let id = exchange.line;
    if line.state == State::Connecting {
        sessions.classify(&mut cx.around(), id);
    }
    let line = &sessions.lines[id];
    let class = line.class;
    let by_peer = matches!(failure, Failure::Socket(_) | Failure::Http(_) | Failure::TlsClosed);
    let counter = if matches!(line.state, State::Naming | State::Connecting) {
        Counter::ConnFailed
    } else if by_peer {
        Counter::ConnClosedByPeer
    } else {
        if let Some(fd) = line.transport.fd.as_ref() {
            driver::reset(fd);
        }
        Counter::ConnClosedByUs
    };
    sessions.close(&mut cx.around(), ticket, counter);
    if was_closed(failure) && untouched && repeats(requests, cx, &sessions.exchanges[ticket]) {
        return repeat(requests, cx, sessions, ticket, own);
    }
    let exchange = &mut sessions.exchanges[ticket];
    let (index, Some(id)) = (exchange.user, exchange.sampler()) else { return };
    cx.users[index].wait = Wait::Ready;
    let (header, trace) = match &exchange.call {
        Call::Http(http) => (http.facts.header, http.trace()),
        _ => (ClassId::NONE, TraceId::NONE),
    };
    let timing = Timing {
        start: exchange.start,
        end: exchange.ended,
        connect: exchange.connect as u64,
        latency: exchange.latency as u64,
        wait: (exchange.start - cx.users[index].intended).max(0) as u64,
        phases: exchange.phases(),
        classes: [class, header],
        trace,
        ..Timing::default()
    };
    let Call::Http(HttpCall { facts, stash }) = &mut exchange.call else { return };
    let (facts, stash) = (*facts, stash.take());
    sessions.exchanges.end(ticket);
    let mut result = cx.take_result();
    if let Some(mut stash) = stash.or_else(|| facts.fixed.then(|| sessions.stashes.take())) {
        if facts.fixed {
            requests.show(cx, id, &facts, &mut stash);
        }
        show_request(&mut result, &stash);
        sessions.stashes.give(stash);
    }
    let describe = if facts.java { describe_java } else { describe };
    let route = &cx.net.routes[via];
    let outcome = describe(failure, route, &mut result.code, &mut result.message);
    fail_result(cx, index, id, timing, outcome, true, result);
}

/// Returns true if the failure shows that the peer had closed the connection.
fn was_closed(failure: &Failure) -> bool {
    matches!(failure, Failure::Socket(_) | Failure::Http(wire::http1::Error::NoResponse))
}

/// Returns true if a request that got no response is resent: by Java's own client, because of the property
/// `throng.http.retry_stale`, or by HttpClient's retry handler.
fn repeats(requests: &FixedRequests, cx: &Context<'_>, exchange: &Exchange) -> bool {
    let Call::Http(http) = &exchange.call else { return false };
    let settings = &cx.run.settings;
    // Java's own client resends a request without a response once, whatever its method.
    let stale = http.facts.retries == 0
        && (http.facts.java || exchange.reused && settings.http.retry_stale);
    stale || is_retried(requests, cx, exchange, http.facts.retries)
}

/// Returns true if HttpClient's retry handler resends the request. By default the handler resends no request.
fn is_retried(
    requests: &FixedRequests,
    cx: &Context<'_>,
    exchange: &Exchange,
    retries: u8,
) -> bool {
    let settings = &cx.run.settings;
    if u32::from(retries) >= settings.http.retry_count {
        return false;
    }
    let own = &exchange.request;
    let sent = match exchange.sampler().and_then(|id| requests.of(id)) {
        Some(fixed) if own.is_empty() => &fixed.bytes.0[..],
        _ => own,
    };
    let method = sent.split(|byte| *byte == b' ').next().unwrap_or_default();
    settings.http.retry_sent
        || [&b"GET"[..], b"HEAD", b"PUT", b"DELETE", b"OPTIONS", b"TRACE"].contains(&method)
}

/// Resends a request whose connection was closed without a response. `own` is the time that this process spent on
/// opening that connection.
fn repeat(
    requests: &FixedRequests,
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    ticket: Ticket,
    own: u64,
) {
    cx.recorder.add(Counter::StaleRetried, 1);
    let exchange = &mut sessions.exchanges[ticket];
    if exchange.request.is_empty()
        && let Some(fixed) = exchange.sampler().and_then(|id| requests.of(id))
    {
        exchange.fixed = Some(fixed.bytes.clone());
    }
    if let Call::Http(http) = &mut exchange.call {
        http.facts.retries = http.facts.retries.saturating_add(1);
        http.facts.received = 0;
    }
    sessions.renew(&mut cx.around(), ticket);
    opening::open(cx, sessions, ticket, own);
    if cx.stop.now {
        sessions.fail(&mut cx.around(), ticket, Failure::Cut);
    }
}
