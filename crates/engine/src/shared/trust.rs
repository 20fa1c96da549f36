//! Certificate checks of HTTPS connections that scripts open: JMeter disables them when the first sampler needs TLS.
//!
//! JMeter then sets up TLS for its whole process, and every `HttpsURLConnection` accepts any certificate. Throng's
//! samplers are native, so jobs tell Java when to do this. With `throng.tls.verify`, Java's own checks stay enabled.

use std::sync::atomic::{AtomicBool, Ordering};

/// State that tells whether JMeter would have set up TLS by now.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    /// True if the run does not check certificates.
    applies: bool,
    begun: AtomicBool,
}

impl Trust {
    pub(crate) fn new(applies: bool, begun: bool) -> Self {
        Self { applies, begun: begun.into() }
    }

    /// Notes that a native sampler needs TLS, or that a different user's connections were dropped.
    pub(crate) fn begin(&self) {
        // The flag is mostly set already. Without a write, its cache line stays in the caches of all cores.
        if !self.begun.load(Ordering::Relaxed) {
            self.begun.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn holds(&self) -> bool {
        self.applies && self.begun.load(Ordering::Relaxed)
    }
}
