//! The measurements of one sample.

use stats::{ClassId, Draw, Phases};

use crate::time::clock::Nanos;

/// Number of a sample's trace in its core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TraceId(pub(crate) u32);

impl TraceId {
    /// Stands for "no trace".
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
    /// Time by which this process delayed the sample, in nanoseconds: a late start, late reading, work on the
    /// connection.
    pub(crate) lag: u64,
    /// Time from the intended to the actual start, in nanoseconds.
    pub(crate) wait: u64,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// The elapsed time by phases, without lateness and lag, which are in `wait` and `lag`.
    pub(crate) phases: Phases,
    /// Classes under which the statistics count the sample: the class of its server address, and the class of the value
    /// of the configured response header.
    pub(crate) classes: [ClassId; 2],
    /// A random number that decides whether the sample's details are kept.
    pub(crate) draw: Draw,
    /// The trace id of the sample's requests.
    pub(crate) trace: TraceId,
    /// True if the sample's result contains the response head, because the sample's details may be kept.
    pub(crate) headed: bool,
}

impl Timing {
    /// Returns the phases including lateness and lag.
    pub(crate) fn all_phases(&self) -> Phases {
        Phases { late: self.wait, lag: self.lag, ..self.phases }
    }

    pub(crate) fn elapsed(&self) -> u64 {
        (self.end - self.start).max(0).saturating_sub(self.idle).max(0) as u64
    }
}
