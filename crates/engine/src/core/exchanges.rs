//! Connects samplers to the modules of small protocols: finds the module that begins a sample, and the module that
//! builds its result.

use std::sync::Arc;

use plan::element::OsProcess;
use plan::plan::{SamplerId, SamplerKind};
use wire::session::Ticket;

use crate::core::Core;
use crate::http::{dns_cache, tunnel};
use crate::ids::{RouteId, UserId};
use crate::net::outcome::Failure;
use crate::sample::step::Step;
use crate::session::exchange::Call;
use crate::tcp::{datagram, raw, stream};
use crate::users::Wait;
use crate::{process, redis, sse};

impl Core<'_> {
    /// Begins a sample of a protocol that runs as a session.
    pub(crate) fn begin_exchange(
        &mut self,
        index: UserId,
        id: SamplerId,
        kind: &SamplerKind,
    ) -> Step {
        match kind {
            SamplerKind::Tcp(sampler) => {
                let ticket = stream::evaluate(&mut self.cx, &mut self.sessions, index, id, sampler);
                if self.cx.has_thrown() {
                    self.sessions.exchanges.end(ticket);
                    return Step::Lose(id);
                }
                stream::begin(&mut self.cx, &mut self.sessions, ticket);
            }
            SamplerKind::HttpRaw(sampler) => {
                let call = self.cx.with_env(index, id, |env| sampler.call(env));
                if self.cx.has_thrown() {
                    return Step::Lose(id);
                }
                raw::begin(&mut self.cx, &mut self.sessions, index, id, call);
            }
            SamplerKind::Udp(sampler) => {
                let call = self.cx.with_env(index, id, |env| sampler.call(env));
                if self.cx.has_thrown() {
                    return Step::Lose(id);
                }
                datagram::begin(&mut self.cx, &mut self.sessions, index, id, call);
            }
            SamplerKind::Sse(sampler) => {
                let call = self.cx.with_env(index, id, |env| sampler.call(env));
                if self.cx.has_thrown() {
                    return Step::Lose(id);
                }
                sse::begin(&mut self.cx, &mut self.sessions, index, id, call);
            }
            _ => {}
        }
        Step::Done
    }

    /// Connects an exchange whose host name was resolved, or fails the exchange if the name could not be resolved.
    pub(crate) fn on_resolved(
        &mut self,
        ticket: Ticket,
        route: RouteId,
        known: Result<(), Failure>,
    ) {
        if known.is_ok() && self.sessions.naming(ticket, route).is_some() {
            dns_cache::keep_name(&mut self.cx, &mut self.sessions, ticket);
        }
        let (sessions, mut around) = self.sessions();
        sessions.on_resolved(&mut around, ticket, route, known);
    }

    /// Sends a `CONNECT` request to the proxy of an exchange's connection.
    pub(crate) fn ask_for_tunnel(&mut self, ticket: Ticket) {
        let Self { cx, sessions, .. } = self;
        if sessions.exchanges.has(ticket)
            && matches!(sessions.exchanges[ticket].call, Call::Http(_))
        {
            tunnel::ask_for_tunnel(cx, sessions, ticket);
        }
    }

    /// Starts the TLS handshake on the connection of an exchange, with the TLS settings of its user.
    pub(crate) fn secure(&mut self, ticket: Ticket) {
        if !self.sessions.exchanges.has(ticket) {
            return;
        }
        let user = self.sessions.exchanges[ticket].user;
        let settings = self.cx.tls_config(self.cx.users.owner(user));
        // The TCP connection was established at the last poll at the latest. Other users have run since then.
        let since = self.cx.net.woke;
        let (sessions, mut around) = self.sessions();
        sessions.secure(&mut around, ticket, settings, since);
    }

    /// Builds the sample of an exchange that has ended.
    #[inline]
    pub(crate) fn end_exchange(&mut self, ticket: Ticket) {
        let Self { cx, sessions, http, .. } = self;
        if !sessions.exchanges.has(ticket) {
            return;
        }
        let exchange = &sessions.exchanges[ticket];
        let index = exchange.user;
        if !cx.users[index].alive || cx.users[index].wait != Wait::Done {
            sessions.leave_pool(&mut cx.around(), ticket, false);
            return sessions.exchanges.end(ticket);
        }
        match exchange.call {
            Call::Tcp(_) => stream::end(cx, sessions, ticket),
            Call::Raw(_) => raw::end(cx, sessions, ticket),
            Call::Udp(_) => datagram::end(cx, sessions, ticket),
            Call::Redis(_) => {
                if !redis::end(cx, sessions, ticket) {
                    self.end_user(index);
                }
            }
            Call::Sse(_) => sse::end(cx, sessions, ticket),
            Call::Http(_) => http.end(cx, sessions, ticket),
            Call::None => sessions.exchanges.end(ticket),
        }
    }

    /// Begins a sample that runs a program.
    pub(crate) fn begin_process(
        &mut self,
        index: UserId,
        id: SamplerId,
        process: &OsProcess,
    ) -> Step {
        let timing = self.cx.begin_timing(index);
        let command = Arc::new(self.cx.with_env(index, id, |env| process.command(env)));
        if self.cx.has_thrown() {
            return Step::Lose(id);
        }
        match process::begin(&mut self.cx, index, id, command, timing) {
            Ok(()) => Step::Done,
            Err(failed) => {
                let (samples, mut on) = self.sampling();
                samples.end_plain(&mut on, index, id, timing, failed)
            }
        }
    }
}
