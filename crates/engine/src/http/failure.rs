//! Exchanges that fail: the connection is closed, and the sample concluded with what JMeter would report.

use plan::plan::{Needs, SamplerId};
use stats::{Counter, Outcome};

use crate::completions::Unanswered;
use crate::core::Core;
use crate::http::conn::ConnId;
use crate::http::conn::{Exchange, Stash, State};
use crate::ids::UserId;
use crate::net::driver;
use crate::net::outcome::Failure;
use crate::net::routes::RouteId;
use crate::time::timing::Timing;
use crate::users::Wait;

impl Core<'_> {
    /// An exchange failed: the connection is closed and the sample concluded, unless the request may be sent again.
    pub(crate) fn fail(&mut self, conn: ConnId, failure: &Failure) {
        let now = self.cx.clock.now();
        let entry = &mut self.http.conns[conn];
        let (exchange, index, route) = (entry.exchange, entry.user, entry.route);
        let (via, own) = (entry.opening.route, entry.opening.own());
        let stash = entry.stash.take();
        let dead =
            matches!(failure, Failure::Socket(_) | Failure::Http(wire::http1::Error::NoResponse));
        let untouched = !exchange.head_seen && entry.tail.is_empty();
        let by_peer = matches!(failure, Failure::Socket(_) | Failure::Http(_) | Failure::TlsClosed);
        if self.http.conns[conn].state == State::Connecting {
            self.drop_connection(conn, Counter::ConnFailed);
        } else {
            if !by_peer && let Some(fd) = self.http.conns[conn].transport.fd.as_ref() {
                driver::reset(fd);
            }
            self.drop_connection(
                conn,
                if by_peer { Counter::ConnClosedByPeer } else { Counter::ConnClosedByUs },
            );
        }
        let (Wait::Exchange(id) | Wait::Resolve(id)) = self.cx.users[index].wait else { return };
        if dead && untouched {
            let first = exchange.retries == 0;
            // Java's own client sends every request once more.
            let stale =
                first && (exchange.java || exchange.reused && self.cx.run.settings.retry_stale);
            if stale || self.repeats(id, &exchange, stash.as_deref()) {
                return self.repeat(index, id, (route, own), exchange, stash);
            }
        }
        self.cx.users[index].wait = Wait::Ready;
        let timing = Timing {
            start: exchange.start,
            end: now,
            connect: exchange.connect as u64,
            latency: exchange.latency as u64,
            wait: (exchange.start - exchange.intended).max(0) as u64,
            ..Timing::default()
        };
        self.cx.result.clear();
        if let Some(stash) = stash {
            crate::http::fill::show_request(&mut self.cx.result, &stash);
            self.http.stashes.push(stash);
        }
        let route = &self.cx.net.routes[via];
        let result = &mut *self.cx.result;
        let describe = if exchange.java {
            crate::net::outcome::describe_java
        } else {
            crate::net::outcome::describe
        };
        let outcome = describe(failure, route, &mut result.code, &mut result.message);
        self.fail_result(index, id, timing, outcome, true);
    }

    /// Whether a request that got no answer is sent once more, as HttpClient's retry handler has it: by default none is.
    fn repeats(&self, id: SamplerId, exchange: &Exchange, stash: Option<&Stash>) -> bool {
        let settings = &self.cx.run.settings;
        if u32::from(exchange.retries) >= settings.retry_count {
            return false;
        }
        let own = stash.map_or(&[][..], |stash| &stash.request);
        let sent = match &self.http.fixed[id.0 as usize] {
            Some(fixed) if own.is_empty() => &fixed.bytes,
            _ => own,
        };
        let method = sent.split(|byte| *byte == b' ').next().unwrap_or_default();
        settings.retry_sent
            || [&b"GET"[..], b"HEAD", b"PUT", b"DELETE", b"OPTIONS", b"TRACE"].contains(&method)
    }

    /// A request that got no answer goes out anew.
    pub(crate) fn send_again(&mut self, request: Unanswered) {
        let Unanswered { user, sampler, .. } = request;
        if self.cx.users[user].alive && self.cx.users[user].wait == Wait::Done {
            self.open_again(request);
            if self.cx.stop.now {
                self.cut(user, sampler);
            }
        }
    }

    /// The connection is gone and there was no answer: the request is to be sent anew.
    fn repeat(
        &mut self,
        index: UserId,
        id: SamplerId,
        (route, own): (RouteId, u64),
        exchange: Exchange,
        stash: Option<Box<Stash>>,
    ) {
        self.cx.recorder.add(Counter::StaleRetried, 1);
        let mut stash = stash.unwrap_or_else(|| {
            let mut stash = self.http.stashes.pop().unwrap_or_default();
            stash.clear();
            stash
        });
        if stash.request.is_empty()
            && let Some(fixed) = &self.http.fixed[id.0 as usize]
        {
            stash.request.extend_from_slice(&fixed.bytes);
        }
        let retries = exchange.retries.saturating_add(1);
        let exchange = Exchange { retries, reused: false, received: 0, ..exchange };
        self.cx.push_unanswered(Unanswered {
            user: index,
            sampler: id,
            route,
            exchange,
            stash,
            own,
        });
    }

    /// Fails the sample of a request in whose texts a function has thrown; before the URL is known, it has neither that nor a name. False: none has.
    pub(crate) fn fails_by_exception(
        &mut self,
        index: UserId,
        id: SamplerId,
        request: Option<&plan::http::Request>,
    ) -> bool {
        // What none of JMeter's samplers catches ends its thread.
        if self.cx.texts.thrown.as_ref().is_some_and(plan::text::Thrown::is_error) {
            return self.ends_by_exception(index);
        }
        let Some(thrown) = self.cx.texts.thrown.take() else { return false };
        self.cx.result.clear();
        if let Some(request) = request {
            self.cx.result.url.push_str(&request.url);
        }
        let code = format!("Non HTTP response code: {}", thrown.class);
        let message = format!("Non HTTP response message: {}", thrown.message);
        self.unsendable(index, id, &code, &message, request.is_some());
        true
    }

    /// A request that could not even be made.
    pub(crate) fn unsendable(
        &mut self,
        index: UserId,
        id: SamplerId,
        code: &str,
        message: &str,
        named: bool,
    ) {
        let now = self.cx.clock.now();
        self.cx.result.code.push_str(code);
        self.cx.result.message.push_str(message);
        let timing = Timing { start: now, end: now, ..Timing::default() };
        self.fail_result(index, id, timing, Outcome::Other, named);
    }

    /// Concludes a sample that failed before it had an answer; code, message and URL stand in the result.
    pub(crate) fn fail_result(
        &mut self,
        index: UserId,
        id: SamplerId,
        timing: Timing,
        outcome: Outcome,
        named: bool,
    ) {
        let mut label = std::mem::take(&mut self.cx.result.label);
        // JMeter labels a sample only after its URL is put together.
        if named {
            label.push_str(self.cx.sampler_name(index, id));
        }
        self.cx.result.label = label;
        self.cx.result.start_ms = self.cx.clock.wall_ms(timing.start);
        self.cx.result.success = false;
        self.cx.result.data_type = "text";
        self.cx.result.http =
            matches!(self.cx.plan.samplers[id.0 as usize].kind, plan::plan::SamplerKind::Http(_));
        self.put_exception_text(id);
        let chain =
            self.cx.users[index].extra.as_ref().is_some_and(|extra| extra.redirect.is_some());
        if chain {
            return self.fail_chain(index, id, timing, outcome);
        }
        self.cx.conclude(index, id, timing, outcome);
    }

    /// Where JMeter has the stack trace of the exception, its first line stands as the body.
    pub(crate) fn put_exception_text(&mut self, id: SamplerId) {
        if !self.cx.plan.samplers[id.0 as usize].needs.intersects(Needs::BODY | Needs::TEXT) {
            return;
        }
        let result = &mut *self.cx.result;
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

    /// The run ends at once while an exchange is under way.
    pub(crate) fn cut(&mut self, index: UserId, _id: SamplerId) {
        let conn = self.cx.users[index].conn;
        if conn == crate::http::conn::NO_CONN {
            self.end_wait(index);
        } else {
            self.fail(conn, &Failure::Cut);
        }
    }
}
