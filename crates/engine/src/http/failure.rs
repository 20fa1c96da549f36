//! Exchanges that fail: the connection is closed, and the sample concluded with what JMeter would report.

use plan::plan::{Needs, SamplerId};
use stats::{Counter, Outcome, Phase};

use crate::context::Context;
use crate::http::conn::{ConnId, NO_CONN, State};
use crate::http::redirect;
use crate::http::requests::Requests;
use crate::ids::UserId;
use crate::net::driver;
use crate::net::outcome::Failure;
use crate::time::timing::Timing;
use crate::users::Wait;

impl Requests {
    /// An exchange failed: the connection is closed and the sample concluded, unless the request may be sent again.
    pub(crate) fn fail(&mut self, cx: &mut Context<'_>, conn: ConnId, failure: &Failure) {
        let now = cx.clock.now();
        let entry = &mut self.conns[conn];
        let (exchange, index, route) = (entry.exchange, entry.user, entry.route);
        let (via, own) = (entry.opening.route, entry.opening.own());
        if entry.state == State::Connecting {
            self.classify(cx, conn);
        }
        let entry = &mut self.conns[conn];
        let class = entry.class;
        let stash = entry.stash.take();
        let dead =
            matches!(failure, Failure::Socket(_) | Failure::Http(wire::http1::Error::NoResponse));
        let untouched = !exchange.head_seen && entry.tail.is_empty();
        let by_peer = matches!(failure, Failure::Socket(_) | Failure::Http(_) | Failure::TlsClosed);
        if self.conns[conn].state == State::Connecting {
            self.conns.drop_connection(cx, conn, Counter::ConnFailed);
        } else {
            if !by_peer && let Some(fd) = self.conns[conn].transport.fd.as_ref() {
                driver::reset(fd);
            }
            self.conns.drop_connection(
                cx,
                conn,
                if by_peer { Counter::ConnClosedByPeer } else { Counter::ConnClosedByUs },
            );
        }
        let (Wait::Exchange(id) | Wait::Resolve(id)) = cx.users[index].wait else { return };
        if dead && untouched {
            let first = exchange.retries == 0;
            // Java's own client sends every request once more.
            let stale =
                first && (exchange.java || exchange.reused && cx.run.settings.http.retry_stale);
            if stale || self.repeats(cx, id, &exchange, stash.as_deref()) {
                return self.repeat(cx, index, id, (route, own), exchange, stash);
            }
        }
        cx.users[index].wait = Wait::Ready;
        let timing = Timing {
            start: exchange.start,
            end: now,
            connect: exchange.connect as u64,
            latency: exchange.latency as u64,
            wait: (exchange.start - exchange.intended).max(0) as u64,
            phases: exchange.phases(now),
            classes: [class, exchange.header],
            ..Timing::default()
        };
        cx.result.clear();
        if let Some(stash) = stash {
            crate::http::fill::show_request(&mut cx.result, &stash);
            self.conns.stashes.give(stash);
        }
        let route = &cx.net.routes[via];
        let result = &mut *cx.result;
        let describe = if exchange.java {
            crate::net::outcome::describe_java
        } else {
            crate::net::outcome::describe
        };
        let outcome = describe(failure, route, &mut result.code, &mut result.message);
        fail_result(cx, index, id, timing, outcome, true);
    }

    /// The run ends at once while an exchange is under way. False: it has no connection yet.
    pub(crate) fn cut(&mut self, cx: &mut Context<'_>, index: UserId) -> bool {
        let conn = cx.users[index].conn;
        if conn == NO_CONN {
            return false;
        }
        self.fail(cx, conn, &Failure::Cut);
        true
    }

    /// Interrupts the exchange of a user, which takes too long.
    pub(crate) fn interrupt(&mut self, cx: &mut Context<'_>, index: UserId) {
        let conn = cx.users[index].conn;
        if conn == NO_CONN || !matches!(cx.users[index].wait, Wait::Exchange(_) | Wait::Resolve(_))
        {
            return;
        }
        let entry = &self.conns[conn];
        let phase = match entry.state {
            State::Connecting => Phase::Connect,
            State::Handshaking | State::Tunnelling => Phase::Tls,
            _ => Phase::Response,
        };
        let (generation, start) = (entry.transport.generation, entry.exchange.start);
        if phase != Phase::Connect && self.takes_what_lies_there(cx, index, conn) {
            let entry = &self.conns[conn];
            let same = entry.transport.generation == generation && entry.exchange.start == start;
            let waits = matches!(cx.users[index].wait, Wait::Exchange(_));
            if !(same && waits && cx.users[index].conn == conn) {
                return;
            }
        }
        self.fail(cx, conn, &Failure::Interrupted(phase));
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
