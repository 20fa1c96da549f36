//! Requests whose connection was gone before there was an answer, and that are sent once more.

use stats::Counter;
use wire::session::Ticket;

use crate::context::Context;
use crate::http::opening;
use crate::http::requests::Requests;
use crate::net::outcome::Failure;
use crate::session::Sessions;
use crate::session::exchange::{Call, Exchange};

impl Requests {
    /// Whether a request that got no answer is sent once more.
    pub(super) fn repeats(&self, cx: &Context<'_>, exchange: &Exchange) -> bool {
        let Call::Http(http) = &exchange.call else { return false };
        let settings = &cx.run.settings;
        // Java's own client sends every request once more.
        let stale = http.facts.retries == 0
            && (http.facts.java || exchange.reused && settings.http.retry_stale);
        stale || self.is_retried(cx, exchange, http.facts.retries)
    }

    /// Whether HttpClient's retry handler sends a request once more: by default it sends none.
    fn is_retried(&self, cx: &Context<'_>, exchange: &Exchange, retries: u8) -> bool {
        let settings = &cx.run.settings;
        if u32::from(retries) >= settings.http.retry_count {
            return false;
        }
        let own = &exchange.request;
        let sent = match &self.fixed[exchange.sampler.0 as usize] {
            Some(fixed) if own.is_empty() => &fixed.bytes.0[..],
            _ => own,
        };
        let method = sent.split(|byte| *byte == b' ').next().unwrap_or_default();
        settings.http.retry_sent
            || [&b"GET"[..], b"HEAD", b"PUT", b"DELETE", b"OPTIONS", b"TRACE"].contains(&method)
    }

    /// The connection is gone and there was no answer: the request is sent anew. Opening that connection took so much of this process's
    /// time.
    pub(super) fn repeat(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        ticket: Ticket,
        own: u64,
    ) {
        cx.recorder.add(Counter::StaleRetried, 1);
        let exchange = &mut sessions.exchanges[ticket];
        if exchange.request.is_empty()
            && let Some(fixed) = &self.fixed[exchange.sampler.0 as usize]
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
}
