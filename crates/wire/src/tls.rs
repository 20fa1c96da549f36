//! Drives one TLS client connection over buffers that the caller owns.
//!
//! rustls does the handshake through its unbuffered interface. Then this module takes over the keys: it decrypts
//! records in place and encrypts into the send buffer. An idle connection holds keys and no buffers, and steady traffic
//! allocates nothing. This code never touches a socket and never blocks.

mod config;
mod identity;
pub mod keystore;
mod known;
mod name;
mod record;
mod sessions;
mod traffic;

#[cfg(test)]
mod tests;

pub use config::{Settings, Verify, client_config, suites, with_fresh_sessions};
pub use identity::{Identity, Present, presenting};
pub use rustls;
pub use sessions::Limits;

use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::pki_types::ServerName;
use rustls::unbuffered::{ConnectionState, EncodeError, EncodeTlsData, UnbufferedStatus};
use rustls::{ClientConfig, HandshakeKind, ProtocolVersion};
use std::fmt;
use std::sync::Arc;
use traffic::Traffic;

/// A TLS connection of a client.
pub struct Client {
    phase: Phase,
    kind: Option<Handshake>,
    version: Option<ProtocolVersion>,
    peer_closed: bool,
}

enum Phase {
    Handshake(Box<UnbufferedClientConnection>),
    Traffic(Box<Traffic>),
    Failed(Error),
}

/// The result of [`Client::advance`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Number of input bytes consumed. The caller must keep the bytes after them and append further bytes.
    pub used: usize,
    pub handshaking: bool,
    /// True if the peer sent close_notify, so that a close of the connection truncates no data.
    pub peer_closed: bool,
}

/// Kind of a TLS handshake: full or resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handshake {
    Full,
    Resumed,
}

impl Client {
    /// Creates a client. `server_name` is a host name or an IP address, with or without brackets. As in Java, the
    /// server name (SNI) is sent only for valid host names that have a dot inside and none at the end.
    pub fn new(config: &Arc<ClientConfig>, server_name: &str) -> Result<Self, Error> {
        let bare =
            server_name.strip_prefix('[').and_then(|s| s.strip_suffix(']')).unwrap_or(server_name);
        let mut config = Arc::clone(config);
        let (name, sends) = match ServerName::try_from(bare) {
            Ok(name) => (name.to_owned(), name::is_sent(bare)),
            Err(_) => (name::stand_in(bare)?, false),
        };
        if matches!(name, ServerName::DnsName(_)) && !sends {
            Arc::make_mut(&mut config).enable_sni = false;
        }
        let connection = UnbufferedClientConnection::new(config, name).map_err(Error::Tls)?;
        Ok(Self {
            phase: Phase::Handshake(Box::new(connection)),
            kind: None,
            version: None,
            peer_closed: false,
        })
    }

    /// Starts or continues the connection. `incoming` holds unread ciphertext, which is decrypted in place. `plain`
    /// gets each decrypted slice. Bytes to send are appended to `out`. After an error, these bytes are the alert for
    /// the peer.
    ///
    /// The caller must keep the bytes after [`Progress::used`] unchanged and append further bytes to them.
    pub fn advance(
        &mut self,
        incoming: &mut [u8],
        out: &mut Vec<u8>,
        plain: &mut dyn FnMut(&[u8]),
    ) -> Result<Progress, Error> {
        match self.try_advance(incoming, out, plain) {
            Ok(used) => Ok(Progress {
                used,
                handshaking: self.handshaking(),
                peer_closed: self.peer_closed,
            }),
            Err(error) => {
                self.phase = Phase::Failed(error.clone());
                Err(error)
            }
        }
    }

    /// Appends `plaintext` as encrypted TLS records.
    pub fn write(&mut self, plaintext: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        match &mut self.phase {
            Phase::Traffic(traffic) => traffic.write(plaintext, out),
            Phase::Handshake(_) => Err(Error::Handshaking),
            Phase::Failed(error) => Err(error.clone()),
        }
    }

    /// Appends close_notify, if the TLS handshake is complete.
    pub fn close(&mut self, out: &mut Vec<u8>) {
        if let Phase::Traffic(traffic) = &mut self.phase {
            traffic.close(out);
        }
    }

    pub fn handshaking(&self) -> bool {
        matches!(self.phase, Phase::Handshake(_))
    }

    /// Returns the kind of the TLS handshake; `None` before the handshake is complete.
    pub fn kind(&self) -> Option<Handshake> {
        self.kind
    }

    /// Returns the TLS version of the connection; `None` before the handshake is complete.
    pub fn version(&self) -> Option<ProtocolVersion> {
        self.version
    }

    fn try_advance(
        &mut self,
        incoming: &mut [u8],
        out: &mut Vec<u8>,
        plain: &mut dyn FnMut(&[u8]),
    ) -> Result<usize, Error> {
        let mut used = 0;
        if let Phase::Handshake(connection) = &mut self.phase {
            (used, self.peer_closed) = shake(connection, incoming, out, plain)?;
            if connection.is_handshaking() {
                return Ok(used);
            }
            self.take_over(&incoming[used..])?;
        }
        match &mut self.phase {
            Phase::Traffic(traffic) => {
                used += traffic.read(&mut incoming[used..], out, plain)?;
                self.peer_closed = traffic.peer_closed;
                Ok(used)
            }
            Phase::Handshake(_) => Ok(used),
            Phase::Failed(error) => Err(error.clone()),
        }
    }

    /// Takes over the keys of a complete handshake whose output is already in the caller's buffer.
    fn take_over(&mut self, unread: &[u8]) -> Result<(), Error> {
        // rustls decrypted a whole record but did not consume it: the record has a part of a handshake message, which
        // is not allowed after the handshake.
        if !self.peer_closed && record::whole(unread).map_err(Error::Tls)?.is_some() {
            return Err(Error::Tls(rustls::Error::InvalidMessage(
                rustls::InvalidMessage::MessageTooShort,
            )));
        }
        match std::mem::replace(&mut self.phase, Phase::Failed(Error::Handshaking)) {
            Phase::Handshake(connection) => {
                self.version = connection.protocol_version();
                self.kind = connection.handshake_kind().map(|kind| match kind {
                    HandshakeKind::Resumed => Handshake::Resumed,
                    HandshakeKind::Full | HandshakeKind::FullWithHelloRetryRequest => {
                        Handshake::Full
                    }
                });
                self.phase = Phase::Traffic(Box::new(Traffic::new(*connection, self.peer_closed)?));
            }
            other => self.phase = other,
        }
        Ok(())
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("version", &self.version)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// Runs rustls on all of the input during the handshake; returns the number of bytes consumed, and whether the peer
/// sent close_notify.
fn shake(
    connection: &mut UnbufferedClientConnection,
    incoming: &mut [u8],
    out: &mut Vec<u8>,
    plain: &mut dyn FnMut(&[u8]),
) -> Result<(usize, bool), Error> {
    let mut used = 0;
    let mut peer_closed = false;
    loop {
        let UnbufferedStatus { mut discard, state } =
            connection.process_tls_records(&mut incoming[used..]);
        let mut wait = false;
        let mut failed = None;
        match state {
            Ok(ConnectionState::ReadTraffic(mut traffic)) => {
                while let Some(Ok(record)) = traffic.next_record() {
                    discard += record.discard;
                    plain(record.payload);
                }
            }
            Ok(ConnectionState::EncodeTlsData(data)) => encode(data, out)?,
            Ok(ConnectionState::TransmitTlsData(data)) => data.done(),
            Ok(ConnectionState::PeerClosed) => peer_closed = true,
            Ok(_) => wait = true,
            Err(error) => failed = Some(error),
        }
        used += discard;
        if let Some(error) = failed {
            let old = old_version(&error, incoming);
            // Sends the alert that rustls has queued for the peer.
            if let Ok(ConnectionState::EncodeTlsData(data)) =
                connection.process_tls_records(&mut incoming[used..]).state
            {
                encode(data, out)?;
            }
            return Err(old.unwrap_or(Error::Tls(error)));
        }
        if wait {
            return Ok((used, peer_closed));
        }
    }
}

/// Returns the error for a server that chose a TLS version older than 1.2, with the version from its first message.
fn old_version(error: &rustls::Error, incoming: &[u8]) -> Option<Error> {
    use rustls::PeerIncompatible::ServerDoesNotSupportTls12Or13;
    if !matches!(error, rustls::Error::PeerIncompatible(ServerDoesNotSupportTls12Or13)) {
        return None;
    }
    let version = incoming.get(9..11)?;
    Some(Error::OldVersion(u16::from_be_bytes([version[0], version[1]])))
}

fn encode(
    mut data: EncodeTlsData<'_, ClientConnectionData>,
    out: &mut Vec<u8>,
) -> Result<(), Error> {
    let start = out.len();
    let mut room = 512;
    loop {
        out.resize(start + room, 0);
        match data.encode(&mut out[start..]) {
            Ok(written) => {
                out.truncate(start + written);
                return Ok(());
            }
            Err(EncodeError::InsufficientSize(size)) if size.required_size > room => {
                room = size.required_size;
            }
            Err(_) => {
                out.truncate(start);
                return Err(Error::Tls(rustls::Error::EncryptError));
            }
        }
    }
}

/// The reason why a TLS connection or configuration failed.
#[derive(Clone, Debug)]
pub enum Error {
    /// The settings allow no TLS version.
    NoVersions,
    /// The server name is neither a host name nor an address.
    BadName,
    /// There is no usable root certificate.
    BadRoots,
    /// Application data was written before the end of the handshake.
    Handshaking,
    /// Application data was written after close_notify.
    Closed,
    /// The server chose a version that is too old; 0x0301 is TLS 1.0.
    OldVersion(u16),
    /// The peer or its certificate is not acceptable.
    Tls(rustls::Error),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoVersions => f.write_str("no TLS version is allowed"),
            Self::BadName => f.write_str("not a host name or address"),
            Self::BadRoots => f.write_str("no usable root certificate"),
            Self::Handshaking => f.write_str("the TLS handshake is not finished"),
            Self::Closed => f.write_str("the TLS connection is closed"),
            Self::OldVersion(version) => {
                write!(f, "the server chose the TLS version {version:#06x}")
            }
            Self::Tls(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}
