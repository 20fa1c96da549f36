//! Results of threads that work for a core: name lookups, programs, file reads.

use std::net::SocketAddr;
use std::time::Duration;

/// The system resolver's answer for a host name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// One or more addresses of the name.
    Addresses(Vec<SocketAddr>),
    Unknown,
    /// The name was unknown a moment ago and was not looked up a second time. Java reports this with another
    /// message.
    StillUnknown,
}

/// The result of a program that the plan ran.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) ticket: u64,
    pub(crate) result: Result<i32, Failure>,
    pub(crate) output: Output,
    pub(crate) elapsed: Duration,
}

/// The kept part of a program's output.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) kept: Vec<u8>,
    pub(crate) most: usize,
    pub(crate) dropped: usize,
}

#[derive(Debug)]
pub(crate) enum Failure {
    /// The program could not be started, or its files could not be opened.
    Io(String),
    Timeout(u64),
    /// The program was killed because the run ended at once.
    Cut,
}

/// The part of a file that was read.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) ticket: u64,
    /// The kept bytes and the total size; or JMeter's exception with its message.
    pub(crate) result: Result<(Vec<u8>, u64), (&'static str, String)>,
}
