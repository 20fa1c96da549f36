//! One finished sample, as the engine hands it to the recorder.
//!
//! A plain `Copy` value of three cache lines; the label is a number given out by the recorder of
//! the same core. Durations are nanoseconds. JMeter's formulas need whole milliseconds:
//! [`millis`] is the one place that rounds, so that result rows and reports agree.
use serde::{Deserialize, Serialize};

use crate::checks::Check;
use crate::class::ClassId;
use crate::kept::Draw;
use crate::phases::Phases;

/// A label as one core's recorder knows it; meaningless on another core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LabelId(pub u32);

/// The part of an exchange a time limit ran out in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Phase {
    Connect,
    Tls,
    Response,
}

/// The result of a sample, by kind. The caller has the wording for result files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Outcome {
    Ok,
    /// The server answered with a status of 400 or above.
    Status,
    Assertion,
    Dns,
    Refused,
    Reset,
    /// The peer closed before or within the answer.
    Closed,
    Tls,
    Timeout(Phase),
    PortsExhausted,
    FilesExhausted,
    Unreachable,
    Protocol,
    Script,
    File,
    /// The run ended while the sample was in flight: says nothing about the server.
    CutByEnd,
    Other,
}

impl Outcome {
    /// Failed before there was a connection: none was used again.
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

    /// An answer was received whole, whatever its status.
    pub fn is_answered(self) -> bool {
        matches!(self, Self::Ok | Self::Status | Self::Assertion)
    }

    /// A short name for tables and JSON.
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
    /// Start, in milliseconds since the epoch.
    pub start_ms: i64,
    /// Nanoseconds from start to end, without `idle`.
    pub elapsed: u64,
    /// Nanoseconds to the first byte of the answer's body, as JMeter counts it.
    pub latency: u64,
    /// Nanoseconds until the connection was open, TLS included; 0 when it was reused.
    pub connect: u64,
    /// Nanoseconds of `elapsed` that were spent in this process.
    pub lag: u64,
    /// Nanoseconds from the intended to the actual start.
    pub wait: u64,
    /// Nanoseconds of deliberate pauses inside the sample.
    pub idle: i64,
    /// Bytes.
    pub sent: u64,
    /// Bytes.
    pub received: u64,
    /// Number of samples that this one represents; 1 except for aggregated results.
    pub count: u32,
    pub errors: u32,
    /// Made by a transaction, not by a request of its own.
    pub transaction: bool,
    /// The time by what it was spent on, as far as that is known.
    pub phases: Phases,
    /// Its address, and the value of the chosen header.
    pub classes: [ClassId; 2],
    /// Drawn when it began, by [`crate::Recorder::draw`].
    pub draw: Draw,
}

impl Sample {
    /// A successful sample of nothing: the start of struct updates.
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

    /// `elapsed` in milliseconds, as result rows print it and JMeter's formulas take it.
    pub const fn elapsed_ms(&self) -> u64 {
        millis(self.elapsed)
    }

    /// End in milliseconds since the epoch: start plus elapsed plus idle.
    pub const fn end_ms(&self) -> i64 {
        self.start_ms + self.elapsed_ms() as i64 + signed_millis(self.idle)
    }
}

/// Nanoseconds to the nearest millisecond. JMeter subtracts two clock readings cut to whole
/// milliseconds, which is right on average; rounding is so too, and does not depend on the phase.
pub const fn millis(nanos: u64) -> u64 {
    nanos.saturating_add(500_000) / 1_000_000
}

/// Nanoseconds as milliseconds, to the nearest, which may be below zero.
pub const fn signed_millis(nanos: i64) -> i64 {
    let ms = millis(nanos.unsigned_abs()) as i64;
    if nanos < 0 { -ms } else { ms }
}
