//! The time up to which a test lets the clock of a run advance.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::time::clock::Nanos;

/// The time up to which the clock of a run may advance.
#[derive(Debug, Default)]
pub struct Steps(AtomicI64);

impl Steps {
    /// Creates an allowance of zero: the run stays at its start.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Lets the clock advance to this time after the run's start.
    pub fn allow(&self, until: Duration) {
        self.0.store(i64::try_from(until.as_nanos()).unwrap_or(i64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn allowed(&self) -> Nanos {
        self.0.load(Ordering::Relaxed)
    }
}
