//! Results of other threads that work for a core: addresses, programs, files.

use std::net::SocketAddr;
use std::time::Duration;

/// The answer of the system to the question for a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// At least one.
    Addresses(Vec<SocketAddr>),
    Unknown,
    /// Not asked for again: it was unknown a moment ago. Java words that differently.
    StillUnknown,
}

/// The result of a program.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) ticket: u64,
    pub(crate) result: Result<i32, Failure>,
    pub(crate) output: Output,
    pub(crate) elapsed: Duration,
}

/// The output of a program, as far as it is kept.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) kept: Vec<u8>,
    pub(crate) most: usize,
    pub(crate) dropped: usize,
}

#[derive(Debug)]
pub(crate) enum Failure {
    /// It could not be started, or its files not be opened.
    Io(String),
    Timeout(u64),
    /// The run ended at once.
    Cut,
}

/// The content of a file, as far as it was read.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) ticket: u64,
    /// The bytes that are kept, and how many there are; or JMeter's exception with its message.
    pub(crate) result: Result<(Vec<u8>, u64), (&'static str, String)>,
}
