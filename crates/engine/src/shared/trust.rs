//! Certificate checks for HTTPS connections that scripts open. JMeter disables these checks when the first sampler
//! needs TLS.
//!
//! At that time JMeter sets up TLS for its whole process, and every `HttpsURLConnection` accepts any certificate.
//! Throng's samplers are native, so jobs tell Java when to disable the checks. With `throng.tls.verify`, Java's own
//! checks stay enabled.

use std::sync::atomic::{AtomicBool, Ordering};

/// State that tells whether JMeter would have disabled certificate checks by now.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    /// True if the run does not verify certificates.
    applies: bool,
    begun: AtomicBool,
}

impl Trust {
    pub(crate) fn new(applies: bool, begun: bool) -> Self {
        Self { applies, begun: begun.into() }
    }

    /// Sets the flag `begun` when a native sampler needs TLS, or when the connections of a different user were dropped.
    pub(crate) fn begin(&self) {
        // In most calls the flag is already set. Without a write, its cache line stays in the caches of all cores.
        if !self.begun.load(Ordering::Relaxed) {
            self.begun.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn holds(&self) -> bool {
        self.applies && self.begun.load(Ordering::Relaxed)
    }
}
