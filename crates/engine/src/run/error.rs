//! Errors that prevent the start of a run.

use std::io;

/// Reason why a run could not start.
#[derive(Debug)]
pub enum StartError {
    /// A result file cannot be written.
    Results(String),
    /// A setting is invalid.
    Setting(String),
    /// The JVM failed.
    Java(String),
    /// The operating system refused threads or file descriptors.
    System(io::Error),
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Results(text) => write!(f, "cannot write results: {text}"),
            Self::Setting(text) => f.write_str(text),
            Self::Java(text) => write!(f, "cannot start the JVM: {text}"),
            Self::System(error) => write!(f, "cannot start: {error}"),
        }
    }
}

impl std::error::Error for StartError {}
