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
    /// Number of requests served, and of requests failed on purpose.
    pub(crate) answered: AtomicU64,
    pub(crate) errors: AtomicU64,
    /// Number of requests that a limiter refused, and that it delayed.
    pub(crate) refused: AtomicU64,
    pub(crate) delayed: AtomicU64,
    /// Number of requests that waited for a worker, and the longest wait in nanoseconds.
    waited: AtomicU64,
    longest_wait: AtomicU64,
    /// Number of connections accepted, open now, reset because of the limit, and cut because they were idle.
    pub(crate) accepted: AtomicU64,
    pub(crate) open: AtomicU64,
    pub(crate) reset: AtomicU64,
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

/// Answers `/stats`; false for any other request.
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
