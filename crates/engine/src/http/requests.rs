//! HTTP state of a core: sending requests, handling responses, and pages.

use plan::http::Http;
use plan::plan::{Plan, SamplerId};
use plan::result::SampleResult;
use stats::Outcome;
use wire::session::Ticket;

use crate::context::Context;
use crate::http::answer::Answers;
use crate::http::exchange::{BeginResult, Outgoing};
use crate::http::resources;
use crate::ids::UserId;
use crate::net::routes::RouteId;
use crate::session::Sessions;
use crate::time::timing::Timing;

/// HTTP state of a core. A response may cause another request, so response handling gets the sending state as an
/// argument; sending does not use response handling.
pub(crate) struct Requests {
    outgoing: Outgoing,
    answers: Answers,
}

impl Requests {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self { outgoing: Outgoing::new(plan), answers: Answers::new() }
    }

    /// Returns the routes that the core's constant requests use.
    pub(crate) fn routes(&self) -> impl Iterator<Item = RouteId> + '_ {
        self.outgoing.fixed.routes()
    }

    /// Builds the request of a user's sampler and sends it.
    pub(crate) fn begin(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        index: UserId,
        id: SamplerId,
        http: &Http,
    ) -> BeginResult {
        self.outgoing.begin(cx, sessions, index, id, http)
    }

    /// Handles the end of an exchange, with a response or a failure: continues or completes the sample.
    #[inline]
    pub(crate) fn end(&mut self, cx: &mut Context<'_>, sessions: &mut Sessions, ticket: Ticket) {
        self.answers.end(&mut self.outgoing, cx, sessions, ticket);
    }

    /// Loads the embedded resources of a page. Returns the completed sample if there is nothing to load.
    pub(crate) fn load_page(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        index: UserId,
        id: SamplerId,
        timing: Timing,
        result: Box<SampleResult>,
    ) -> Option<(Timing, Outcome, Box<SampleResult>)> {
        resources::load_page(&mut self.outgoing, cx, sessions, index, id, timing, result)
    }

    /// Handles the end of a download: adds its result to the page, and starts further downloads.
    pub(crate) fn branch_done(
        &mut self,
        cx: &mut Context<'_>,
        sessions: &mut Sessions,
        branch: UserId,
        timing: &Timing,
        outcome: Outcome,
        result: Box<SampleResult>,
    ) {
        resources::branch_done(&mut self.outgoing, cx, sessions, branch, timing, outcome, result);
    }
}
