//! Counters of a target, which `/stats` returns as JSON.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;

use crate::answer::Answer;
use crate::request::Request;
use crate::service::Nanos;

/// Counters that the service and the event loop share; both run on one thread.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) requests: AtomicU64,
    /// Number of requests that were served.
    pub(crate) answered: AtomicU64,
    /// Number of requests that failed on purpose or exceeded their maximum duration.
    pub(crate) errors: AtomicU64,
    /// Number of requests that a limiter refused.
    pub(crate) refused: AtomicU64,
    /// Number of requests that a limiter delayed.
    pub(crate) delayed: AtomicU64,
    /// Number of requests that waited for a worker.
    waited: AtomicU64,
    /// Longest wait of a request for a worker, in nanoseconds.
    longest_wait: AtomicU64,
    /// Number of connections accepted.
    pub(crate) accepted: AtomicU64,
    /// Number of connections that are open now.
    pub(crate) open: AtomicU64,
    /// Number of connections reset because the limit of open connections was reached.
    pub(crate) reset: AtomicU64,
    /// Number of connections cut because they were idle.
    pub(crate) idle_cut: AtomicU64,
    pub(crate) stalls: AtomicU64,
}

impl Counts {
    pub(crate) fn add(count: &AtomicU64) {
        count.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn waited(&self, time: Nanos) {
        if time > 0 {
            Self::add(&self.waited);
            self.longest_wait.fetch_max(time, Ordering::Relaxed);
        }
    }

    fn json(&self) -> String {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        json!({
            "requests": of(&self.requests), "answered": of(&self.answered), "errors": of(&self.errors),
            "refused": of(&self.refused), "delayed": of(&self.delayed),
            "waited": of(&self.waited), "longest_wait_ms": of(&self.longest_wait) as f64 / 1e6,
            "accepted": of(&self.accepted), "open": of(&self.open), "reset": of(&self.reset),
            "idle_cut": of(&self.idle_cut), "stalls": of(&self.stalls),
        })
        .to_string()
    }
}

/// Answers a request for `/stats`; returns false for any other request.
pub(super) fn reply_stats(
    counts: &Arc<Counts>,
    request: &Request<'_>,
    answer: &mut Answer,
) -> bool {
    if request.path() != b"/stats" {
        return false;
    }
    let body = counts.json();
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length:";
    answer.send(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes());
    if !request.keeps_alive() {
        answer.close();
    }
    true
}
