//! Severities of log lines that scripts write, in any language.

/// Severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// A failure.
    Error,
    /// A possible problem.
    Warn,
    /// Useful information.
    Info,
    /// Details for debugging.
    Debug,
    /// The most detailed information.
    Trace,
}
