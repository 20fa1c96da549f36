//! One finished sample, as the engine passes it to the recorder.
//!
//! A plain `Copy` value of three cache lines. The label is a number assigned by the recorder of the same core.
//! Durations are nanoseconds. JMeter's formulas need whole milliseconds: only [`millis`] rounds, so that result rows
//! and reports agree.
use serde::{Deserialize, Serialize};

use crate::checks::Check;
use crate::class::ClassId;
use crate::kept::Draw;
use crate::phases::Phases;

/// Number of a label within one core's recorder; it has no meaning on another core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelId(pub u32);

/// The part of an exchange in which a time limit expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Phase {
    Connect,
    Tls,
    Response,
}

/// The result of a sample by kind. The caller builds the wording for result files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Outcome {
    Ok,
    /// The server answered with a status of 400 or above.
    Status,
    Assertion,
    Dns,
    Refused,
    Reset,
    /// The peer closed the connection before or within the response.
    Closed,
    Tls,
    Timeout(Phase),
    PortsExhausted,
    FilesExhausted,
    Unreachable,
    Protocol,
    Script,
    File,
    /// The run ended while the sample was in flight, so the sample tells nothing about the server.
    CutByEnd,
    Other,
}

impl Outcome {
    /// True if the sample failed before a connection was open, so that it cannot have reused a connection.
    pub fn is_without_connection(self) -> bool {
        matches!(
            self,
            Self::Dns
                | Self::Refused
                | Self::Tls
                | Self::Timeout(Phase::Connect | Phase::Tls)
                | Self::PortsExhausted
                | Self::FilesExhausted
                | Self::Unreachable
        )
    }

    /// True if a complete response was received, whatever its status.
    pub fn is_answered(self) -> bool {
        matches!(self, Self::Ok | Self::Status | Self::Assertion)
    }

    /// Returns a short name for tables and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Status => "status",
            Self::Assertion => "assertion",
            Self::Dns => "dns",
            Self::Refused => "refused",
            Self::Reset => "reset",
            Self::Closed => "closed",
            Self::Tls => "tls",
            Self::Timeout(Phase::Connect) => "timeout (connect)",
            Self::Timeout(Phase::Tls) => "timeout (tls)",
            Self::Timeout(Phase::Response) => "timeout (response)",
            Self::PortsExhausted => "ports exhausted",
            Self::FilesExhausted => "files exhausted",
            Self::Unreachable => "unreachable",
            Self::Protocol => "protocol",
            Self::Script => "script",
            Self::File => "file",
            Self::CutByEnd => "cut by end",
            Self::Other => "other",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub label: LabelId,
    pub outcome: Outcome,
    pub check: Check,
    pub success: bool,
    /// Start of the sample in milliseconds since 1970.
    pub start_ms: i64,
    /// Elapsed time: nanoseconds from start to end, without `idle`.
    pub elapsed: u64,
    /// Nanoseconds from the start to the first byte of the response body, as JMeter defines latency.
    pub latency: u64,
    /// Nanoseconds from the start until the connection was open, including TLS; 0 for a reused connection.
    pub connect: u64,
    /// Part of `elapsed` that was spent in this process, in nanoseconds.
    pub lag: u64,
    /// Delay from the intended start to the actual start, in nanoseconds.
    pub wait: u64,
    /// Deliberate pauses inside the sample, in nanoseconds.
    pub idle: i64,
    /// Bytes sent.
    pub sent: u64,
    /// Bytes received.
    pub received: u64,
    /// Number of samples that this sample stands for; 1 except for aggregated results.
    pub count: u32,
    /// Number of failed samples among the samples that this sample stands for.
    pub errors: u32,
    /// True if the sample is the sum of a transaction and not a request.
    pub transaction: bool,
    /// The elapsed time by phase, as far as it is known.
    pub phases: Phases,
    /// Classes in which the sample is counted: the class of the server's address, and the class of the chosen header's
    /// value.
    pub classes: [ClassId; 2],
    /// Random number drawn at the start by [`crate::Recorder::draw`]; it decides whether the sample is stored as
    /// evidence.
    pub draw: Draw,
}

impl Sample {
    /// Returns an empty successful sample, as the base of struct updates.
    pub const fn new(label: LabelId, start_ms: i64) -> Self {
        Self {
            label,
            outcome: Outcome::Ok,
            check: Check::Unchecked,
            success: true,
            start_ms,
            elapsed: 0,
            latency: 0,
            connect: 0,
            lag: 0,
            wait: 0,
            idle: 0,
            sent: 0,
            received: 0,
            count: 1,
            errors: 0,
            transaction: false,
            phases: Phases::of_times(0, 0, 0),
            classes: [ClassId::NONE; 2],
            draw: Draw::NONE,
        }
    }

    /// Returns `elapsed` in milliseconds, as result rows and JMeter's formulas use it.
    pub const fn elapsed_ms(&self) -> u64 {
        millis(self.elapsed)
    }

    /// Returns the end in milliseconds since the epoch: start plus elapsed plus idle.
    pub const fn end_ms(&self) -> i64 {
        self.start_ms + self.elapsed_ms() as i64 + signed_millis(self.idle)
    }
}

/// Rounds nanoseconds to the nearest millisecond. JMeter subtracts two clock readings truncated to milliseconds, which
/// is right on average. Rounding is also right on average, and does not depend on the phase of the clock.
pub const fn millis(nanos: u64) -> u64 {
    nanos.saturating_add(500_000) / 1_000_000
}

/// Rounds nanoseconds, which may be negative, to the nearest millisecond.
pub const fn signed_millis(nanos: i64) -> i64 {
    let ms = millis(nanos.unsigned_abs()) as i64;
    if nanos < 0 { -ms } else { ms }
}
