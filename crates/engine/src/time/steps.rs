//! How far a test lets the clock of a run go.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use crate::time::clock::Nanos;

/// How far the clock of a run may go.
#[derive(Debug, Default)]
pub struct Steps(AtomicI64);

impl Steps {
    /// An allowance that is used up: the run stands at its start.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Allows the clock to go on to so long after the run's start.
    pub fn allow(&self, until: Duration) {
        self.0.store(i64::try_from(until.as_nanos()).unwrap_or(i64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn allowed(&self) -> Nanos {
        self.0.load(Ordering::Relaxed)
    }
}
