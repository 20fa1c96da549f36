//! Settings of a target: its name, address, TLS, and `key=value` options as a user types them.
//!
//! Options stay text until the target reads them through [`Config::read`], which names the option and the value when they do not fit.

use std::ffi::OsString;
use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;

use crate::error::Error;

/// TLS as a target offers it. The certificate is self-signed (P-256) and made at the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsConfig {
    pub tls12: bool,
    pub tls13: bool,
    /// Whether the server issues session tickets. Without them every handshake is a full one.
    pub tickets: bool,
    /// The certificate's names and addresses, separated by commas.
    pub names: String,
    /// The certificate is past its time.
    pub expired: bool,
    /// A file for the certificate, as PEM, of an authority that issues the server's; empty: that is self-signed.
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

/// Input of [`start`](crate::start).
#[derive(Debug, Clone)]
pub struct Config {
    pub name: String,
    /// Port 0 takes any free port.
    pub listen: SocketAddr,
    pub tls: Option<TlsConfig>,
    pub options: Vec<(String, String)>,
    /// The arguments with which this program becomes the same target again. Targets with several processes need them; what is
    /// appended are further `--option KEY=VALUE`.
    pub respawn: Option<Vec<OsString>>,
}

impl Config {
    /// The named target on any free loopback port, without TLS, with every option at its default.
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

    /// Lets the target start processes: this program, with these arguments.
    pub fn respawn(mut self, arguments: impl IntoIterator<Item = OsString>) -> Self {
        self.respawn = Some(arguments.into_iter().collect());
        self
    }

    /// Sets one option; the last of several values for the same key counts.
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

    /// The options that ask for TLS, which every target has.
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
