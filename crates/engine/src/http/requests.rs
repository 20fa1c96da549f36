//! HTTP requests of a core: those that never change, and buffers for the one under work.

use plan::plan::Plan;

use crate::http::conn::{Conns, Stash};
use crate::http::exchange::Fixed;

/// Requests of a core, and the connections they go out on.
#[allow(clippy::vec_box)] // Stashes move between pool and connections by their pointer.
pub(crate) struct Requests {
    pub(crate) conns: Conns,
    pub(crate) stashes: Vec<Box<Stash>>,
    pub(crate) request: plan::http::Request,
    /// A user's cookies for a request.
    pub(crate) cookie_line: Vec<u8>,
    /// Requests that never change, rendered at their first use.
    pub(crate) fixed: Vec<Option<Box<Fixed>>>,
    pub(crate) inflater: wire::coding::Inflater,
    /// The last response head.
    pub(crate) memo: wire::http1::Memo,
}

impl Requests {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            conns: Conns::default(),
            stashes: Vec::new(),
            request: plan::http::Request::default(),
            cookie_line: Vec::new(),
            fixed: (0..plan.samplers.len()).map(|_| None).collect(),
            inflater: wire::coding::Inflater::new(),
            memo: wire::http1::Memo::default(),
        }
    }
}
