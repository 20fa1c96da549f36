//! Splits and resolves addresses.

use std::fmt;

/// The parts of an address; borrows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Url<'a> {
    pub scheme: &'a str,
    /// Without the brackets of an IPv6 address.
    pub host: &'a str,
    pub port: Option<u16>,
    /// Begins with `/` or `?`, or is empty.
    pub path_and_query: &'a str,
    pub fragment: Option<&'a str>,
}

/// Splits an absolute address.
pub fn split(_url: &str) -> Result<Url<'_>, Error> {
    Err(Error::NoScheme)
}

/// Resolves a reference against an absolute address.
pub fn resolve(_base: &str, reference: &str) -> Result<String, Error> {
    Ok(reference.to_owned())
}

/// Why an address cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    NoScheme,
    NoHost,
    BadPort,
    BadHost,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Error {}
