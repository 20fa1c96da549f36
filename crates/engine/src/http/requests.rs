//! HTTP requests of a core: those that never change, and buffers for the one under work.

use std::collections::VecDeque;

use plan::plan::{Plan, SamplerKind};

use crate::context::Context;
use crate::http::conn::{Conns, State};
use crate::http::exchange::Fixed;
use crate::http::repeat::Unanswered;
use crate::ids::UserId;
use crate::net::routes::RouteId;

/// Requests of a core, and the connections they go out on.
pub(crate) struct Requests {
    pub(super) conns: Conns,
    pub(super) request: plan::http::Request,
    /// A user's cookies for a request.
    pub(super) cookie_line: Vec<u8>,
    /// Requests that never change, rendered at their first use.
    pub(super) fixed: Vec<Option<Box<Fixed>>>,
    pub(super) inflater: wire::coding::Inflater,
    /// The last response head.
    pub(super) memo: wire::http1::Memo,
    /// Requests that are to be sent again.
    pub(super) unanswered: VecDeque<Unanswered>,
}

impl Requests {
    pub(crate) fn new(plan: &Plan) -> Self {
        let is_parallel = |kind: &SamplerKind| matches!(kind, SamplerKind::Parallel(_));
        Self {
            conns: Conns::new(plan.samplers.iter().any(|sampler| is_parallel(&sampler.kind))),
            request: plan::http::Request::default(),
            cookie_line: Vec::new(),
            fixed: (0..plan.samplers.len()).map(|_| None).collect(),
            inflater: wire::coding::Inflater::new(),
            memo: wire::http1::Memo::default(),
            unanswered: VecDeque::new(),
        }
    }

    /// Closes all of a user's connections, which ends.
    pub(crate) fn close_connections(&mut self, cx: &mut Context<'_>, index: UserId) {
        self.conns.close_connections(cx, index);
    }

    /// The routes that connections and requests of the core lead to.
    pub(crate) fn routes(&self) -> impl Iterator<Item = RouteId> + '_ {
        let fixed = self.fixed.iter().flatten().map(|fixed| fixed.route);
        let open = self.conns.all.iter().filter(|conn| conn.state != State::Closed);
        let open = open.flat_map(|conn| [conn.route, conn.opening.route]);
        let unanswered = self.unanswered.iter().map(|request| request.route);
        fixed.chain(open).chain(unanswered)
    }
}
