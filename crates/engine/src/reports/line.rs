//! Lines that a run has for its user: typed by their kind, so that no reader takes a text apart.

use std::fmt;

use plan::function::{Level, Said};
use serde::{Deserialize, Serialize};

/// Something that a run has to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Line {
    /// A line of the log, by the plan's functions and scripts, by classes in Java, or about users and samples.
    Log {
        /// Its level.
        level: LogLevel,
        /// Its logger; `None`: the plan.
        logger: Option<String>,
        /// Milliseconds since 1970; `None`: now.
        at_ms: Option<i64>,
        /// Its text.
        text: String,
    },
    /// A line that the plan prints to standard output.
    Printed(String),
    /// A line that the plan prints to standard error.
    PrintedAsError(String),
    /// An `Error` of Java's has ended a user: its words, and where it was thrown.
    UserEnded(String),
    /// Rows or responses that could not be written.
    Lost {
        /// Rows or responses; 0: something that is not counted.
        count: u64,
        /// Their kind, and the reason.
        what: String,
    },
    /// A message of the engine's own, which concerns the user at once.
    Engine(String),
}

/// The level of a line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LogLevel {
    /// All details.
    Trace,
    /// Details.
    Debug,
    /// Worth knowing.
    Info,
    /// Something may not be as meant.
    Warn,
    /// Something does not work.
    Error,
}

impl Line {
    /// A line of the plan's log.
    pub(crate) fn log(level: LogLevel, logger: Option<&str>, text: String) -> Self {
        Self::Log { level, logger: logger.map(str::to_owned), at_ms: None, text }
    }
}

impl From<Said> for Line {
    fn from(said: Said) -> Self {
        match said {
            Said::Log { level, logger, text } => {
                Self::Log { level: level.into(), logger, at_ms: None, text }
            }
            Said::Printed(text) => Self::Printed(text),
            Said::PrintedAsError(text) => Self::PrintedAsError(text),
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
