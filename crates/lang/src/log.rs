//! Severities of log lines that scripts write, in any language.

/// Severity of a log line that a script writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Log lines about failures.
    Error,
    /// Log lines about possible problems.
    Warn,
    /// Log lines with useful information.
    Info,
    /// Log lines with details for debugging.
    Debug,
    /// Log lines with the most details.
    Trace,
}
