//! The summary's block on connection pools: how often and how long users waited for a connection.
//!
//! A Redis Data Set is no sampler, so these waits are not part of any response time. Absent in runs without pools.
use serde::Serialize;

use crate::counter::Counter;
use crate::grouped::{count, things};
use crate::span::Span;
use crate::totals::Totals;

use super::{Spread, digits};

/// Counts and times of requests for a pooled connection, over the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PoolWaits {
    pub requests: u64,
    /// Number of requests that found no idle connection.
    pub waited: u64,
    /// Time in ms until a connection was free or the wait was given up, over all requests for a connection.
    pub time: Spread,
}

impl PoolWaits {
    pub fn new(totals: &Totals) -> Option<Self> {
        let times = totals.span(Span::Room);
        let max = times.quantile(1.0).saturating_mul(1000);
        (times.total() > 0).then(|| Self {
            requests: times.total(),
            waited: totals.counters.get(Counter::PoolWaits),
            time: Spread::new(times, max),
        })
    }

    pub(super) fn text(&self) -> String {
        let (requests, waited) = (things(self.requests, "request"), count(self.waited));
        let mut out = format!("Pools           {requests}, {waited} waited for a connection\n");
        if self.waited > 0 {
            out.push_str(&format!(
                "  wait          p50 {}  p90 {}  p99 {}  max {} ms\n",
                digits(self.time.p50),
                digits(self.time.p90),
                digits(self.time.p99),
                digits(self.time.max)
            ));
        }
        out
    }
}
