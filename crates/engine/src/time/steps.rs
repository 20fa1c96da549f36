//! The time up to which a test allows the clock of a run to advance.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::time::clock::Nanos;

/// The time up to which the clock of a run may advance.
#[derive(Debug, Default)]
pub struct Steps(AtomicI64);

impl Steps {
    /// Creates the state in which the clock may not advance: the run stays at its start.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Allows the clock to advance to this time after the run's start.
    pub fn allow(&self, until: Duration) {
        self.0.store(i64::try_from(until.as_nanos()).unwrap_or(i64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn allowed(&self) -> Nanos {
        self.0.load(Ordering::Relaxed)
    }
}
