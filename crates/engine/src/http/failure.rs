//! Exchanges that fail: the connection is closed, and the sample concluded with what JMeter would report.

use plan::plan::{Needs, SamplerId};
use stats::{ClassId, Counter, Outcome};
use wire::session::Ticket;

use crate::context::Context;
use crate::http::redirect;
use crate::http::requests::Requests;
use crate::ids::UserId;
use crate::net::driver;
use crate::net::outcome::Failure;
use crate::session::Sessions;
use crate::session::exchange::Call;
use crate::session::http1::HttpCall;
use crate::session::line::State;
use crate::time::timing::Timing;
use crate::users::Wait;

impl Requests {
    /// An exchange failed: its line is closed and the sample concluded, unless the request may be sent again.
    pub(super) fn fail(
        &mut self,
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
        let dead =
            matches!(failure, Failure::Socket(_) | Failure::Http(wire::http1::Error::NoResponse));
        if dead && untouched && self.repeats(cx, &sessions.exchanges[ticket]) {
            return self.repeat(cx, sessions, ticket, own);
        }
        let exchange = &mut sessions.exchanges[ticket];
        let (index, id) = (exchange.user, exchange.sampler);
        cx.users[index].wait = Wait::Ready;
        let header = match &exchange.call {
            Call::Http(http) => http.facts.header,
            _ => ClassId::NONE,
        };
        let timing = Timing {
            start: exchange.start,
            end: exchange.ended,
            connect: exchange.connect as u64,
            latency: exchange.latency as u64,
            wait: (exchange.start - cx.users[index].intended).max(0) as u64,
            phases: exchange.phases(),
            classes: [class, header],
            ..Timing::default()
        };
        cx.result.clear();
        let Call::Http(HttpCall { facts, stash }) = &mut exchange.call else { return };
        let (facts, stash) = (*facts, stash.take());
        sessions.exchanges.end(ticket);
        if let Some(mut stash) = stash.or_else(|| facts.fixed.then(|| sessions.stashes.take())) {
            if facts.fixed {
                self.show_fixed(cx, id, &facts, &mut stash);
            }
            crate::http::fill::show_request(&mut cx.result, &stash);
            sessions.stashes.give(stash);
        }
        let result = &mut *cx.result;
        let describe = if facts.java {
            crate::net::outcome::describe_java
        } else {
            crate::net::outcome::describe
        };
        let route = &cx.net.routes[via];
        let outcome = describe(failure, route, &mut result.code, &mut result.message);
        fail_result(cx, index, id, timing, outcome, true);
    }
}

/// Fails the sample of a request in whose texts a function has thrown; before the URL is known, it has neither that nor a name. False: none has.
pub(crate) fn fails_by_exception(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    request: Option<&plan::http::Request>,
) -> bool {
    let Some(thrown) = cx.texts.thrown.take() else { return false };
    // What none of JMeter's samplers catches ends its thread.
    if thrown.is_error() {
        cx.push_thrown(index, thrown);
        return true;
    }
    cx.result.clear();
    if let Some(request) = request {
        cx.result.url.push_str(&request.url);
    }
    let code = format!("Non HTTP response code: {}", thrown.class);
    let message = format!("Non HTTP response message: {}", thrown.message);
    unsendable(cx, index, id, &code, &message, request.is_some());
    true
}

/// A request that could not even be made.
pub(crate) fn unsendable(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    code: &str,
    message: &str,
    named: bool,
) {
    let now = cx.clock.now();
    cx.result.code.push_str(code);
    cx.result.message.push_str(message);
    let timing = Timing { start: now, end: now, ..Timing::default() };
    fail_result(cx, index, id, timing, Outcome::Other, named);
}

/// Concludes a sample that failed before it had an answer; code, message and URL stand in the result.
pub(crate) fn fail_result(
    cx: &mut Context<'_>,
    index: UserId,
    id: SamplerId,
    timing: Timing,
    outcome: Outcome,
    named: bool,
) {
    let mut label = std::mem::take(&mut cx.result.label);
    // JMeter labels a sample only after its URL is put together.
    if named {
        label.push_str(cx.sampler_name(index, id));
    }
    cx.result.label = label;
    cx.result.start_ms = cx.clock.wall_ms(timing.start);
    cx.result.success = false;
    cx.result.data_type = "text";
    cx.result.http =
        matches!(cx.plan.samplers[id.0 as usize].kind, plan::plan::SamplerKind::Http(_));
    put_exception_text(cx, id);
    let chain = cx.users[index].extra.as_ref().is_some_and(|extra| extra.redirect.is_some());
    if chain {
        return redirect::fail_chain(cx, index, id, timing, outcome);
    }
    cx.conclude(index, id, timing, outcome);
}

/// Where JMeter has the stack trace of the exception, its first line stands as the body.
pub(crate) fn put_exception_text(cx: &mut Context<'_>, id: SamplerId) {
    if !cx.plan.samplers[id.0 as usize].needs.intersects(Needs::BODY | Needs::TEXT) {
        return;
    }
    let result = &mut *cx.result;
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
