//! Requests whose connection was gone before there was an answer, and that are sent once more.

use plan::plan::SamplerId;
use stats::Counter;

use crate::context::Context;
use crate::http::conn::{Exchange, Stash};
use crate::http::requests::Requests;
use crate::ids::UserId;
use crate::net::routes::RouteId;
use crate::users::Wait;

/// A request that got no answer because its connection was gone.
#[derive(Debug)]
pub(crate) struct Unanswered {
    /// The number by which its completion names it.
    ticket: u64,
    pub(crate) sampler: SamplerId,
    pub(crate) route: RouteId,
    pub(crate) exchange: Exchange,
    pub(crate) stash: Box<Stash>,
    /// Time that opening that connection took in this process, nanoseconds.
    pub(crate) own: u64,
}

impl Requests {
    /// Whether a request that got no answer is sent once more, as HttpClient's retry handler has it: by default none is.
    pub(crate) fn repeats(
        &self,
        cx: &Context<'_>,
        id: SamplerId,
        exchange: &Exchange,
        stash: Option<&Stash>,
    ) -> bool {
        let settings = &cx.run.settings;
        if u32::from(exchange.retries) >= settings.http.retry_count {
            return false;
        }
        let own = stash.map_or(&[][..], |stash| &stash.request);
        let sent = match &self.fixed[id.0 as usize] {
            Some(fixed) if own.is_empty() => &fixed.bytes,
            _ => own,
        };
        let method = sent.split(|byte| *byte == b' ').next().unwrap_or_default();
        settings.http.retry_sent
            || [&b"GET"[..], b"HEAD", b"PUT", b"DELETE", b"OPTIONS", b"TRACE"].contains(&method)
    }

    /// The connection is gone and there was no answer: the request is to be sent anew.
    pub(crate) fn repeat(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        id: SamplerId,
        (route, own): (RouteId, u64),
        exchange: Exchange,
        stash: Option<Box<Stash>>,
    ) {
        cx.recorder.add(Counter::StaleRetried, 1);
        let mut stash = stash.unwrap_or_else(|| self.conns.stashes.take());
        if stash.request.is_empty()
            && let Some(fixed) = &self.fixed[id.0 as usize]
        {
            stash.request.extend_from_slice(&fixed.bytes);
        }
        let retries = exchange.retries.saturating_add(1);
        let exchange = Exchange { retries, reused: false, received: 0, ..exchange };
        cx.users.tickets += 1;
        let ticket = cx.users.tickets;
        let request = Unanswered { ticket, sampler: id, route, exchange, stash, own };
        self.unanswered.push_back(request);
        cx.push_unanswered(index, ticket);
    }

    /// A request that got no answer goes out anew. False: nobody waits for it any more.
    pub(crate) fn send_again(&mut self, cx: &mut Context<'_>, user: UserId, ticket: u64) -> bool {
        let Some(at) = self.unanswered.iter().position(|one| one.ticket == ticket) else {
            return false;
        };
        let Some(request) = self.unanswered.remove(at) else { return false };
        let waits = cx.users[user].alive && cx.users[user].wait == Wait::Done;
        if waits {
            self.open_again(cx, user, request);
        }
        waits
    }
}
