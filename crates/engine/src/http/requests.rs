//! HTTP of a core: requests that go out, answers that come, and pages.

use plan::http::Http;
use plan::plan::{Plan, SamplerId};
use stats::Outcome;
use wire::session::Ticket;

use crate::context::Context;
use crate::http::answer::Answers;
use crate::http::exchange::{Begun, Outgoing};
use crate::http::resources;
use crate::ids::UserId;
use crate::net::routes::RouteId;
use crate::session::Sessions;
use crate::time::timing::Timing;

/// Requests of a core. An answer may make another request, so that it gets those that go out; these know of no answer.
pub(crate) struct Requests {
    outgoing: Outgoing,
    answers: Answers,
}

impl Requests {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self { outgoing: Outgoing::new(plan), answers: Answers::new() }
    }

    /// The routes that requests of the core lead to.
    pub(crate) fn routes(&self) -> impl Iterator<Item = RouteId> + '_ {
        self.outgoing.fixed.routes()
    }

    /// Puts the request of a user's sampler together and sends it.
    pub(crate) fn begin(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        of: (UserId, SamplerId),
        http: &Http,
    ) -> Begun {
        self.outgoing.begin(cx, sessions, of, http)
    }

    /// The exchange of a request is over: its answer has come, or it failed.
    #[inline]
    pub(crate) fn end(&mut self, cx: &mut Context<'_>, sessions: &mut Sessions, ticket: Ticket) {
        self.answers.end(&mut self.outgoing, cx, sessions, ticket);
    }

    /// Loads what is embedded in the page that stands in the core's result. `Some`: there is nothing to load, and its sample is to be closed with that.
    pub(crate) fn load_page(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        of: (UserId, SamplerId),
        timing: Timing,
    ) -> Option<(Timing, Outcome)> {
        resources::load_page(&mut self.outgoing, cx, sessions, of, timing)
    }

    /// A branch has its result, which stands in the core's.
    pub(crate) fn branch_done(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        branch: UserId,
        ended: (&Timing, Outcome),
    ) {
        resources::branch_done(&mut self.outgoing, cx, sessions, branch, ended);
    }
}
