//! Lines that a run has for its user: typed by their kind, so that no reader takes a text apart.

use std::fmt;

use plan::function::{Level, parts_of};
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

    /// A line of a function or a native script.
    pub(crate) fn of_plan(level: Level, text: String) -> Self {
        let level = match level {
            Level::Stdout => return Self::Printed(text),
            Level::Stderr => return Self::PrintedAsError(text),
            Level::Trace => LogLevel::Trace,
            Level::Debug => LogLevel::Debug,
            Level::Info => LogLevel::Info,
            Level::Warn => LogLevel::Warn,
            Level::Error => LogLevel::Error,
        };
        let Some((logger, at_ms, text)) = parts_of(&text) else {
            return Self::log(level, None, text);
        };
        Self::Log { level, logger: Some(logger.to_owned()), at_ms, text: text.to_owned() }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_plan_are_told_apart_by_their_level() {
        let of = |level, text: &str| Line::of_plan(level, text.to_owned());
        assert_eq!(of(Level::Stdout, "Error: a"), Line::Printed("Error: a".into()));
        assert_eq!(of(Level::Stderr, "Lost: a"), Line::PrintedAsError("Lost: a".into()));
        let plain = Line::log(LogLevel::Warn, None, "Ended: a".into());
        assert_eq!(of(Level::Warn, "Ended: a"), plain);
        let with_logger = plan::function::line_of("l", Some(5), "a: b");
        let Line::Log { level, logger, at_ms, text } = of(Level::Debug, &with_logger) else {
            panic!("no line of the log");
        };
        assert_eq!((level, at_ms), (LogLevel::Debug, Some(5)));
        assert_eq!((logger.as_deref(), &*text), (Some("l"), "a: b"));
    }
}
