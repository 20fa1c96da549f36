//! Severities of log lines that scripts write, in any language.

/// Severity of a log line that a script writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Level of lines about failures.
    Error,
    /// Level of lines about possible problems.
    Warn,
    /// Level of lines with useful information.
    Info,
    /// Level of lines with details for debugging.
    Debug,
    /// Level of lines with the most details.
    Trace,
}
