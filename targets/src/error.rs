//! The reasons why a target cannot start. After the start there are no errors: misbehaviour is a target's purpose.

use std::io;
use std::net::SocketAddr;

/// The reasons why [`start`](crate::start) fails.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no target is called `{0}`; there are: {1}")]
    UnknownTarget(String, String),
    #[error("target `{target}` has no option `{option}`; it has: {known}")]
    UnknownOption { target: String, option: String, known: String },
    #[error("option {option}={value}: {why}")]
    BadOption { option: String, value: String, why: String },
    #[error("cannot listen on {0}: {1}")]
    Listen(SocketAddr, #[source] io::Error),
    #[error("cannot write {0}: {1}")]
    Log(String, #[source] io::Error),
    #[error("cannot set up TLS: {0}")]
    Tls(String),
    #[error("cannot start the event loop: {0}")]
    Loop(#[from] io::Error),
}
