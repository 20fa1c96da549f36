//! Settings of a target: name, address, TLS, and `key=value` options as the user wrote them.
//!
//! Options are text until the target reads them with [`Config::read`]. Its error names the option and the invalid
//! value.

use std::ffi::OsString;
use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;

use crate::error::Error;

/// TLS settings of a target. The target creates a P-256 certificate at the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsConfig {
    pub tls12: bool,
    pub tls13: bool,
    /// True if the server issues session tickets. Without tickets, every handshake is a full one.
    pub tickets: bool,
    /// Names and addresses in the server's certificate, separated by commas.
    pub names: String,
    /// True if the server's certificate is expired.
    pub expired: bool,
    /// File to which the PEM certificate of the issuing authority is written. If empty, the server's certificate is
    /// self-signed.
    pub certificate: String,
}

impl Default for TlsConfig {
    fn default() -> Self {
        Self {
            tls12: true,
            tls13: true,
            tickets: true,
            names: "localhost,127.0.0.1,::1".to_owned(),
            expired: false,
            certificate: String::new(),
        }
    }
}

/// The settings of a target, the input of [`start`](crate::start).
#[derive(Debug, Clone)]
pub struct Config {
    pub name: String,
    /// Address on which the target listens. Port 0 means any free port.
    pub listen: SocketAddr,
    pub tls: Option<TlsConfig>,
    pub options: Vec<(String, String)>,
    /// Command-line arguments with which this program starts the same target, for targets with several processes. The
    /// target appends further `--option KEY=VALUE`.
    pub respawn: Option<Vec<OsString>>,
}

impl Config {
    /// Creates the settings of a target on a free loopback port, without TLS, with default options.
    pub fn new(name: impl Into<String>) -> Self {
        let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        Self { name: name.into(), listen, tls: None, options: Vec::new(), respawn: None }
    }

    pub fn listen(mut self, listen: SocketAddr) -> Self {
        self.listen = listen;
        self
    }

    pub fn port(mut self, port: u16) -> Self {
        self.listen.set_port(port);
        self
    }

    pub fn tls(mut self, tls: TlsConfig) -> Self {
        self.tls = Some(tls);
        self
    }

    /// Sets the command-line arguments with which a target with several processes starts this program again.
    pub fn respawn(mut self, arguments: impl IntoIterator<Item = OsString>) -> Self {
        self.respawn = Some(arguments.into_iter().collect());
        self
    }

    /// Sets an option of the target. If a key is set several times, the last value counts.
    pub fn option(mut self, key: impl Into<String>, value: impl Display) -> Self {
        self.options.push((key.into(), value.to_string()));
        self
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        self.options.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    pub(crate) fn all<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        self.options.iter().filter(move |(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    pub(crate) fn read<T>(&self, key: &str, default: T) -> Result<T, Error>
    where
        T: FromStr,
        T::Err: Display,
    {
        match self.text(key) {
            None => Ok(default),
            Some(text) => text.parse().map_err(|why: T::Err| bad(key, text, why)),
        }
    }

    /// Reads the TLS options, which every target has.
    pub(crate) fn tls_options(&self) -> Result<Option<TlsConfig>, Error> {
        let base = self.tls.clone().unwrap_or_default();
        let wanted = self.read("tls", self.tls.is_some())?;
        let tls = TlsConfig {
            tls12: self.read("tls12", base.tls12)?,
            tls13: self.read("tls13", base.tls13)?,
            tickets: self.read("tickets", base.tickets)?,
            names: self.read("names", base.names)?,
            expired: self.read("expired", base.expired)?,
            certificate: self.read("certificate", base.certificate)?,
        };
        if wanted && !tls.tls12 && !tls.tls13 {
            return Err(Error::Tls("both TLS 1.2 and TLS 1.3 are switched off".to_owned()));
        }
        Ok(wanted.then_some(tls))
    }
}

pub(crate) fn bad(option: &str, value: &str, why: impl Display) -> Error {
    Error::BadOption { option: option.to_owned(), value: value.to_owned(), why: why.to_string() }
}
