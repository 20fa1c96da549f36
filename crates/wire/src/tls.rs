//! Drives one TLS client connection over buffers that the caller owns.

use std::sync::Arc;

pub use rustls;

/// Whom to trust.
#[derive(Clone, Debug, Default)]
pub enum Verify {
    /// Neither chain, name nor signature is checked.
    #[default]
    AcceptAll,
    SystemRoots,
    /// Certificates in PEM form.
    Roots(Vec<u8>),
}

/// How connections of a run are made.
#[derive(Clone, Debug)]
pub struct Settings {
    pub verify: Verify,
    /// TLS 1.2, TLS 1.3.
    pub versions: (bool, bool),
    /// Tickets and session ids.
    pub resumption: bool,
    /// Offer `http/1.1` by ALPN.
    pub alpn_http1: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            verify: Verify::AcceptAll,
            versions: (true, true),
            resumption: true,
            alpn_http1: false,
        }
    }
}

/// Builds the configuration that connections share, with its session cache.
pub fn client_config(_settings: &Settings) -> Result<Arc<rustls::ClientConfig>, Error> {
    Err(Error::NoVersions)
}

/// One TLS client connection.
#[derive(Debug)]
pub struct Client {}

impl Client {
    pub fn new(_config: &Arc<rustls::ClientConfig>, _server_name: &str) -> Result<Self, Error> {
        Ok(Self {})
    }

    /// Starts or continues. `incoming` holds unread ciphertext and is decrypted in place; `plain` gets each decrypted
    /// slice; what must be sent is appended to `out`. The caller keeps what is past `used`.
    pub fn advance(
        &mut self,
        _incoming: &mut [u8],
        _out: &mut Vec<u8>,
        _plain: &mut dyn FnMut(&[u8]),
    ) -> Result<Progress, Error> {
        Ok(Progress { used: 0, handshaking: true, peer_closed: false })
    }

    /// Appends TLS records.
    pub fn write(&mut self, _plaintext: &[u8], _out: &mut Vec<u8>) -> Result<(), Error> {
        Ok(())
    }

    /// Appends close_notify.
    pub fn close(&mut self, _out: &mut Vec<u8>) {}

    pub fn handshaking(&self) -> bool {
        true
    }

    pub fn kind(&self) -> Option<Handshake> {
        None
    }

    pub fn version(&self) -> Option<rustls::ProtocolVersion> {
        None
    }
}

/// What [`Client::advance`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub used: usize,
    pub handshaking: bool,
    pub peer_closed: bool,
}

/// How keys were agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    Full,
    Resumed,
}

/// Why a connection or a configuration failed.
#[derive(Debug)]
pub enum Error {
    NoVersions,
    BadName,
    BadRoots,
    Tls(rustls::Error),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Error {}
