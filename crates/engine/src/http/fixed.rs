//! Constant requests: rendered once per core, and copied into a result only after the request has ended.

use std::sync::Arc;

use plan::http::{Request, show_lines};
use plan::plan::{Needs, SamplerId};

use crate::context::Context;
use crate::http::basic;
use crate::net::routes::RouteId;
use crate::session::exchange::Rendered;
use crate::session::http1::{HttpExchange, Stash};

/// A request that never changes.
#[derive(Debug)]
pub(crate) struct Fixed {
    pub(crate) request: Request,
    /// The request's bytes as sent, without cookies.
    pub(crate) bytes: Arc<Rendered>,
    pub(crate) route: RouteId,
    pub(crate) facts: HttpExchange,
}

/// Constant requests of a core by sampler, rendered at their first use.
#[derive(Debug)]
pub(super) struct FixedRequests(Vec<Option<Box<Fixed>>>);

impl FixedRequests {
    pub(super) fn new(samplers: usize) -> Self {
        Self((0..samplers).map(|_| None).collect())
    }

    #[inline]
    pub(super) fn of(&self, id: SamplerId) -> Option<&Fixed> {
        self.0[id.0 as usize].as_deref()
    }

    /// Removes and returns a sampler's constant request, so that the caller can borrow the table of requests meanwhile.
    /// [`Self::put`] puts the request back.
    #[inline]
    pub(super) fn take(&mut self, id: SamplerId) -> Option<Box<Fixed>> {
        self.0[id.0 as usize].take()
    }

    #[inline]
    pub(super) fn put(&mut self, id: SamplerId, fixed: Box<Fixed>) {
        self.0[id.0 as usize] = Some(fixed);
    }

    /// Returns the routes of all constant requests.
    pub(super) fn routes(&self) -> impl Iterator<Item = RouteId> + '_ {
        self.0.iter().flatten().map(|fixed| fixed.route)
    }

    /// Adds the description of a sampler's constant request to the stash of its ended exchange. Until then, no copy of
    /// the request is kept per user.
    pub(super) fn show(
        &self,
        cx: &Context<'_>,
        id: SamplerId,
        facts: &HttpExchange,
        stash: &mut Stash,
    ) {
        if let Some(fixed) = self.of(id).filter(|_| stash.url.is_empty()) {
            let needs = cx.plan.samplers[id.0 as usize].needs;
            show(stash, needs, facts, &fixed.request, &fixed.bytes.0, b"");
        }
    }
}

/// Stores in a stash those parts of a request that the result shows.
pub(super) fn show(
    stash: &mut Stash,
    needs: Needs,
    facts: &HttpExchange,
    request: &Request,
    bytes: &[u8],
    cookies: &[u8],
) {
    stash.url.push_str(&request.url);
    stash.method.push_str(&request.method);
    stash.connection_fault.push_str(&request.connection_fault);
    if needs.contains(Needs::REQUEST_HEADERS) || facts.caches {
        if request.java {
            plan::http::show_set_lines(request, &mut stash.request_headers);
            basic::show(request, bytes, &mut stash.request_headers);
        } else {
            show_lines(bytes, &mut stash.request_headers);
            request.show_as_written(&mut stash.request_headers);
        }
    }
    if needs.contains(Needs::SAMPLER_DATA) {
        stash.cookies.push_str(&String::from_utf8_lossy(cookies));
        if cookies.is_empty() {
            request.write_own_cookie(&mut stash.cookies);
        }
        stash.query_string.push_str(&request.query_string);
        request.write_sampler_data(&stash.cookies, &mut stash.sampler_data);
    }
}
