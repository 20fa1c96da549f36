//! Connections for HTTP requests: finds an idle connection of the user or opens one, and decides whether a
//! connection can be reused.

use plan::plan::{Plan, SamplerKind};
use stats::Counter;
use wire::session::Ticket;

use crate::context::Context;
use crate::http::dns_cache;
use crate::ids::{RouteId, UserId};
use crate::session::Sessions;
use crate::session::idle::Found;
use crate::session::line::{ConnectionScope, LineId};
use crate::time::clock::Nanos;
use crate::users::Wait;

/// Finds the connection pool to which a user's request belongs.
#[derive(Debug)]
pub(super) struct PoolFinder {
    /// True if the plan has Parallel Controllers, whose branches may have connections of their own.
    has_branches: bool,
}

impl PoolFinder {
    pub(super) fn new(plan: &Plan) -> Self {
        let is_parallel = |kind: &SamplerKind| matches!(kind, SamplerKind::Parallel(_));
        Self { has_branches: plan.samplers.iter().any(|sampler| is_parallel(&sampler.kind)) }
    }

    /// Returns the connection pool for a user's requests. Java's own client and HttpClient have separate pools, and
    /// HttpClient has one per connection owner.
    #[inline]
    pub(super) fn of(&self, cx: &Context<'_>, index: UserId, java: bool) -> ConnectionScope {
        let owner = if self.has_branches {
            let root = &cx.users[cx.users.root(index)];
            root.extra.as_ref().map_or(0, |extra| extra.owner)
        } else {
            0
        };
        ConnectionScope::Client { java, owner }
    }
}

/// Returns an idle connection of the user to a route.
#[inline]
pub(super) fn idle_line(
    cx: &mut Context<'_>,
    sessions: &mut Sessions,
    index: UserId,
    place: ConnectionScope,
    route: RouteId,
    now: Nanos,
) -> Option<LineId> {
    let owner = cx.users.owner(index);
    let validate_after = cx.run.settings.http.validate_after;
    match sessions.idle(owner, place, route, now, validate_after)? {
        Found::Sound(line) => Some(line),
        Found::Stale(line) => {
            cx.recorder.add(Counter::ConnStale, 1);
            Some(line)
        }
        Found::Over(line, counter) => {
            sessions.drop_line(&mut cx.around(), line, counter);
            None
        }
    }
}

/// Opens a connection for a request that waits in its exchange. `own` is the time that this process has already
/// spent on opening connections for the request.
pub(super) fn open(cx: &mut Context<'_>, sessions: &mut Sessions, ticket: Ticket, own: u64) {
    let exchange = &sessions.exchanges[ticket];
    let (index, start) = (exchange.user, exchange.start);
    let id = sessions.add_line(ticket, cx.users.owner(index));
    let line = &mut sessions.lines[id];
    line.opening.set_own(own);
    line.end = start.saturating_add(cx.run.settings.http.time_to_live);
    cx.users[index].wait = Wait::Session(ticket);
    if dns_cache::look_up_name(cx, sessions, ticket) {
        return;
    }
    if sessions.resolve(&mut cx.around(), ticket) {
        dns_cache::keep_name(cx, sessions, ticket);
        sessions.connect(&mut cx.around(), id);
    }
}

/// The state of a connection after a complete response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closing {
    /// The connection can be reused.
    No,
    /// The connection cannot be reused, because the peer has closed it.
    ByPeer,
    /// The connection cannot be reused: bytes follow the response, or the response ended only with the connection.
    Broken,
}

impl Closing {
    pub(super) fn of(rest: bool, hangup: bool) -> Self {
        match (rest, hangup) {
            (true, _) => Self::Broken,
            (false, true) => Self::ByPeer,
            (false, false) => Self::No,
        }
    }
}
