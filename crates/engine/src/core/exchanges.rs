//! Between samplers and the seam for protocols: which room begins a sample, and which makes the result of an exchange.

use plan::plan::{SamplerId, SamplerKind};
use stats::{Counter, Outcome};
use wire::session::Ticket;

use crate::core::Core;
use crate::ids::UserId;
use crate::session::exchange::Call;
use crate::sse;
use crate::time::timing::Timing;
use crate::users::Wait;

impl Core<'_> {
    /// Begins a sample of a protocol on the seam.
    pub(crate) fn begin_exchange(&mut self, index: UserId, id: SamplerId, kind: &SamplerKind) {
        match kind {
            SamplerKind::Tcp(sampler) => self.begin_tcp(index, id, sampler),
            SamplerKind::HttpRaw(sampler) => self.begin_raw(index, id, sampler),
            SamplerKind::Udp(sampler) => self.begin_datagram(index, id, sampler),
            SamplerKind::Sse(sampler) => self.begin_sse(index, id, sampler),
            _ => {}
        }
    }

    /// Makes a sample of an exchange that is over.
    pub(crate) fn end_exchange(&mut self, ticket: Ticket) {
        let exchange = &self.sessions.exchanges[ticket];
        let user = &self.cx.users[exchange.user];
        if !user.alive || user.wait != Wait::Done {
            let (sessions, mut around) = self.sessions();
            sessions.leave_pool(&mut around, ticket, false);
            return sessions.exchanges.end(ticket);
        }
        match exchange.call {
            Call::Tcp(_) => self.end_tcp(ticket),
            Call::Raw(_) => self.end_raw(ticket),
            Call::Udp(_) => self.end_datagram(ticket),
            Call::Redis(_) => self.end_redis(ticket),
            Call::Sse(_) => self.end_sse(ticket),
            Call::None => self.sessions.exchanges.end(ticket),
        }
    }

    pub(crate) fn start_exchange(&mut self, ticket: Ticket) {
        let (sessions, mut around) = self.sessions();
        sessions.start(&mut around, ticket);
    }

    pub(crate) fn close_line(&mut self, ticket: Ticket, counter: Counter) {
        let (sessions, mut around) = self.sessions();
        sessions.close(&mut around, ticket, counter);
    }

    /// Ends a sample, whose result is filled.
    pub(crate) fn close_exchange(
        &mut self,
        index: UserId,
        id: SamplerId,
        timing: Timing,
        outcome: Outcome,
    ) {
        self.cx.result.start_ms = self.cx.clock.wall_ms(timing.start);
        let outcome = if self.cx.result.success || outcome != Outcome::Ok {
            outcome
        } else {
            Outcome::Status
        };
        self.cx.conclude(index, id, timing, outcome);
    }

    /// Begins a sample of events.
    fn begin_sse(&mut self, index: UserId, id: SamplerId, sampler: &plan::element::SseSampler) {
        let call = self.with_env(index, id, |env, _| sampler.call(env));
        if self.loses_sample(index, id) {
            return;
        }
        let tls = match &call.request {
            Ok(request) if request.secure => Some(self.tls_config(self.cx.users.owner(index))),
            _ => None,
        };
        let ticket = self.sessions.exchange(index, id);
        let exchange = &mut self.sessions.exchanges[ticket];
        exchange.intended = self.cx.users[index].intended;
        exchange.start = self.cx.clock.now();
        exchange.answer.most = self.cx.run.settings.max_response;
        if sse::make_up(exchange, &mut self.cx.net.routes, call, tls) {
            self.start_exchange(ticket);
        } else {
            self.end_sse(ticket);
        }
    }

    /// The exchange of events is over: its line is closed, and its sample ends.
    fn end_sse(&mut self, ticket: Ticket) {
        let exchange = &mut self.sessions.exchanges[ticket];
        let (index, id) = (exchange.user, exchange.sampler);
        if exchange.ended == 0 {
            exchange.ended = self.cx.clock.now();
        }
        let counter =
            if exchange.sent_at > 0 { Counter::ConnClosedByUs } else { Counter::ConnFailed };
        self.close_line(ticket, counter);
        let mut result = self.cx.lend_result();
        result.clear();
        result.label.push_str(self.cx.sampler_name(index, id));
        let exchange = &mut self.sessions.exchanges[ticket];
        let outcome = sse::show(exchange, &self.cx.net.routes, &mut result);
        let mut timing = exchange.timing();
        timing.received =
            exchange.answer.dropped as u64 + result.text.encode_utf16().count() as u64;
        self.cx.return_result(result);
        self.sessions.exchanges.end(ticket);
        self.close_exchange(index, id, timing, outcome);
    }
}
