//! The measurements of one sample.

use stats::{ClassId, Draw, Phases};

use crate::time::clock::Nanos;

/// The number of a sample's trace among its core's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TraceId(pub(crate) u32);

impl TraceId {
    /// No trace.
    pub(crate) const NONE: Self = Self(0);
}

/// Times and sizes of a sample.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timing {
    pub(crate) start: Nanos,
    pub(crate) end: Nanos,
    pub(crate) idle: i64,
    pub(crate) latency: u64,
    pub(crate) connect: u64,
    /// Part of the elapsed time spent in this process.
    pub(crate) lag: u64,
    /// From the intended to the actual start.
    pub(crate) wait: u64,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// The time by what it was spent on, without lateness and lag, which are above.
    pub(crate) phases: Phases,
    /// Its address, and the value of the header that exchanges are told apart by.
    pub(crate) classes: [ClassId; 2],
    /// The number by which chance chooses the sample.
    pub(crate) draw: Draw,
    /// The trace of its requests.
    pub(crate) trace: TraceId,
    /// The core's result has the head of the answer, in case that chance chooses the sample.
    pub(crate) headed: bool,
}

impl Timing {
    /// All phases.
    pub(crate) fn all_phases(&self) -> Phases {
        Phases { late: self.wait, lag: self.lag, ..self.phases }
    }

    pub(crate) fn elapsed(&self) -> u64 {
        (self.end - self.start).max(0).saturating_sub(self.idle).max(0) as u64
    }
}
