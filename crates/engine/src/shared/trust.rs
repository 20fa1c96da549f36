//! Whether HTTPS that scripts open is trusted: in JMeter from the first sampler on that needs TLS.
//!
//! JMeter then sets up TLS for its whole process, and with it every `HttpsURLConnection` takes any certificate. Samplers are native here, so that jobs carry the
//! news. With `throng.tls.verify` Java's own checks stay.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether JMeter would have set up TLS by now.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    /// Certificates are not checked in this run.
    applies: bool,
    begun: AtomicBool,
}

impl Trust {
    pub(crate) fn new(applies: bool, begun: bool) -> Self {
        Self { applies, begun: begun.into() }
    }

    /// A native sampler has needed TLS, or another user's connections were dropped.
    pub(crate) fn begin(&self) {
        // Most find that it has been said: a line that nobody writes to stays in all caches.
        if !self.begun.load(Ordering::Relaxed) {
            self.begun.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn holds(&self) -> bool {
        self.applies && self.begun.load(Ordering::Relaxed)
    }
}
