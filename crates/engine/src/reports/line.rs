//! Messages of a run for its user, as typed values, so that no receiver has to parse strings.

use std::fmt;

use plan::function::{Level, OutputLine};
use serde::{Deserialize, Serialize};

/// A message of a run for its user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Line {
    /// A log line: from functions and scripts of the plan, from Java classes, or about users and samples.
    Log {
        /// Level of the log line.
        level: LogLevel,
        /// Logger of the line; `None` stands for the plan.
        logger: Option<String>,
        /// Time in milliseconds since 1970; `None` stands for the current time.
        at_ms: Option<i64>,
        /// Message of the log line.
        text: String,
    },
    /// A line that the plan prints to standard output.
    Printed(String),
    /// A line that the plan prints to standard error.
    PrintedAsError(String),
    /// A Java `Error` has ended a user. Contains its message and the place where it was thrown.
    UserEnded(String),
    /// Rows or responses that could not be written.
    Lost {
        /// Number of rows or responses; 0 if the lost data are not counted.
        count: u64,
        /// Kind of the lost data, and the reason.
        what: String,
    },
    /// A message of the engine itself that the person running the test needs at once.
    Engine(String),
}

/// The level of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LogLevel {
    /// Log lines with the most details.
    Trace,
    /// Log lines with details for debugging.
    Debug,
    /// Log lines about normal events.
    Info,
    /// Log lines about possible problems.
    Warn,
    /// Log lines about failures.
    Error,
}

impl Line {
    /// Creates a line of the plan's log.
    pub(crate) fn log(level: LogLevel, logger: Option<&str>, text: String) -> Self {
        Self::Log { level, logger: logger.map(str::to_owned), at_ms: None, text }
    }
}

impl From<OutputLine> for Line {
    fn from(said: OutputLine) -> Self {
        match said {
            OutputLine::Log { level, logger, text } => {
                Self::Log { level: level.into(), logger, at_ms: None, text }
            }
            OutputLine::Printed(text) => Self::Printed(text),
            OutputLine::PrintedAsError(text) => Self::PrintedAsError(text),
        }
    }
}

impl From<Level> for LogLevel {
    fn from(level: Level) -> Self {
        match level {
            Level::Trace => Self::Trace,
            Level::Debug => Self::Debug,
            Level::Info => Self::Info,
            Level::Warn => Self::Warn,
            Level::Error => Self::Error,
        }
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Self::Engine(text)
    }
}

impl fmt::Display for Line {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { count: 0, what } => out.write_str(what),
            Self::Lost { count, what } => write!(out, "{count} {what}"),
            Self::Log { text, .. }
            | Self::Printed(text)
            | Self::PrintedAsError(text)
            | Self::UserEnded(text)
            | Self::Engine(text) => out.write_str(text),
        }
    }
}
