//! HTTP requests of a core: those that never change, and buffers for the one under work.

use plan::plan::{Plan, SamplerKind};

use crate::http::exchange::Fixed;
use crate::net::routes::RouteId;

/// Requests of a core.
pub(crate) struct Requests {
    pub(super) request: plan::http::Request,
    /// A user's cookies for a request.
    pub(super) cookie_line: Vec<u8>,
    /// Requests that never change, rendered at their first use.
    pub(super) fixed: Vec<Option<Box<Fixed>>>,
    pub(super) inflater: wire::coding::Inflater,
    /// The plan has Parallel Controllers, whose branches have connections of their own.
    pub(super) has_branches: bool,
}

impl Requests {
    pub(crate) fn new(plan: &Plan) -> Self {
        let is_parallel = |kind: &SamplerKind| matches!(kind, SamplerKind::Parallel(_));
        Self {
            request: plan::http::Request::default(),
            cookie_line: Vec::new(),
            fixed: (0..plan.samplers.len()).map(|_| None).collect(),
            inflater: wire::coding::Inflater::new(),
            has_branches: plan.samplers.iter().any(|sampler| is_parallel(&sampler.kind)),
        }
    }

    /// The routes that requests of the core lead to.
    pub(crate) fn routes(&self) -> impl Iterator<Item = RouteId> + '_ {
        self.fixed.iter().flatten().map(|fixed| fixed.route)
    }
}
