//! Severities of the lines that scripts write into the log, whatever their language.

/// Severity of a line in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Something does not work.
    Error,
    /// Something may not be as meant.
    Warn,
    /// Worth knowing.
    Info,
    /// Details.
    Debug,
    /// All details.
    Trace,
}
