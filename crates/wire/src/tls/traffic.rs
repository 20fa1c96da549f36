//! A TLS connection after its handshake: application data, alerts, tickets, key updates.
//!
//! An established connection holds two keys and, for TLS 1.3, the state of rustls for tickets and key updates. The
//! connection has no buffers, except for a handshake message that the peer splits over records.

use super::Error;
use super::record::{self, ALERT, DATA, HANDSHAKE, Keys};
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::kernel::KernelConnection;
use rustls::{AlertDescription, HandshakeType, ProtocolVersion};

const NEW_SESSION_TICKET: u8 = 4;
const KEY_UPDATE: u8 = 24;
/// Maximum number of records under one key; AES-GCM should not encrypt more than 2^24.5 (RFC 8446, 5.5).
const RECORDS_PER_KEY: u64 = 1 << 23;
/// Maximum length in bytes of a handshake message that the peer splits over records.
const FRAGMENT: usize = 1 << 16;

pub(super) struct Traffic {
    seal: Keys,
    open: Keys,
    /// State of rustls that derives updated keys and stores tickets; `None` for TLS 1.2.
    kernel: Option<Box<KernelConnection<ClientConnectionData>>>,
    /// The received part of an incomplete handshake message.
    fragment: Vec<u8>,
    pub(super) peer_closed: bool,
    closed: bool,
    /// Number of TLS records that may still be encrypted with the current key.
    pub(super) key_lasts: u64,
}

impl Traffic {
    /// Takes over a TLS connection whose handshake is complete and whose handshake messages are sent.
    pub(super) fn new(
        connection: UnbufferedClientConnection,
        peer_closed: bool,
    ) -> Result<Self, Error> {
        let (secrets, kernel) =
            connection.dangerous_into_kernel_connection().map_err(Error::Tls)?;
        let tls13 = kernel.protocol_version() == ProtocolVersion::TLSv1_3;
        Ok(Self {
            seal: Keys::new(tls13, secrets.tx)?,
            open: Keys::new(tls13, secrets.rx)?,
            kernel: tls13.then(|| Box::new(kernel)),
            fragment: Vec::new(),
            peer_closed,
            closed: false,
            key_lasts: RECORDS_PER_KEY,
        })
    }

    /// Decrypts all whole records; returns their total length. After an error, `out` has the alert for the peer.
    pub(super) fn read(
        &mut self,
        incoming: &mut [u8],
        out: &mut Vec<u8>,
        plain: &mut dyn FnMut(&[u8]),
    ) -> Result<usize, Error> {
        self.records(incoming, out, plain).map_err(|error| {
            let alert = match error {
                rustls::Error::DecryptError => AlertDescription::BadRecordMac,
                rustls::Error::PeerSentOversizedRecord => AlertDescription::RecordOverflow,
                rustls::Error::InvalidMessage(_) => AlertDescription::DecodeError,
                rustls::Error::AlertReceived(_) => return Error::Tls(error),
                _ => AlertDescription::UnexpectedMessage,
            };
            // Errors of sending the alert are ignored; the first error is returned.
            let _ = self.seal.seal(ALERT, &[2, alert.into()], out);
            Error::Tls(error)
        })
    }

    pub(super) fn write(&mut self, plaintext: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        if self.closed {
            return Err(Error::Closed);
        }
        for piece in plaintext.chunks(record::PLAINTEXT) {
            if self.key_lasts == 0 {
                self.update_own_keys(out)?;
            }
            self.key_lasts -= 1;
            self.seal.seal(DATA, piece, out)?;
        }
        Ok(())
    }

    /// Appends close_notify, unless this was already done.
    pub(super) fn close(&mut self, out: &mut Vec<u8>) {
        if !self.closed {
            self.closed = true;
            // If close_notify cannot be encrypted, the connection closes without it.
            let _ = self.seal.seal(ALERT, &[1, AlertDescription::CloseNotify.into()], out);
        }
    }

    fn records(
        &mut self,
        incoming: &mut [u8],
        out: &mut Vec<u8>,
        plain: &mut dyn FnMut(&[u8]),
    ) -> Result<usize, rustls::Error> {
        let mut used = 0;
        while !self.peer_closed {
            let Some(len) = record::whole(&incoming[used..])? else { return Ok(used) };
            let (kind, text) = self.open.open(&mut incoming[used..used + len])?;
            used += len;
            match kind {
                DATA if text.is_empty() => {}
                DATA => plain(text),
                ALERT => self.alert(text)?,
                HANDSHAKE if self.fragment.is_empty() => self.messages(text, out)?,
                HANDSHAKE => {
                    let mut joined = std::mem::take(&mut self.fragment);
                    joined.extend_from_slice(text);
                    self.messages(&joined, out)?;
                }
                _ => return Err(unexpected_record(kind)),
            }
        }
        // Bytes after close_notify do not belong to the connection.
        Ok(incoming.len())
    }

    pub(super) fn alert(&mut self, text: &[u8]) -> Result<(), rustls::Error> {
        let &[level, description] = text else { return Err(garbled()) };
        match AlertDescription::from(description) {
            AlertDescription::CloseNotify => self.peer_closed = true,
            AlertDescription::UserCanceled if self.kernel.is_some() => {}
            _ if level == 1 && self.kernel.is_none() => {}
            description => return Err(rustls::Error::AlertReceived(description)),
        }
        Ok(())
    }

    pub(super) fn messages(
        &mut self,
        mut text: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), rustls::Error> {
        while !text.is_empty() {
            let message = match *text {
                [kind, a, b, c, ref rest @ ..] => {
                    let len = u32::from_be_bytes([0, a, b, c]) as usize;
                    rest.get(..len).map(|body| (kind, body, &rest[len..]))
                }
                _ => None,
            };
            let Some((kind, body, rest)) = message else {
                if text.len() > FRAGMENT {
                    return Err(garbled());
                }
                self.fragment.extend_from_slice(text);
                return Ok(());
            };
            match (kind, &mut self.kernel) {
                (NEW_SESSION_TICKET, Some(kernel)) => kernel.handle_new_session_ticket(body)?,
                (KEY_UPDATE, Some(kernel)) => {
                    // A key update must be the last message of its record.
                    let ([answer @ (0 | 1)], []) = (body, rest) else { return Err(garbled()) };
                    self.open = Keys::new(true, kernel.update_rx_secret()?).map_err(own)?;
                    if *answer == 1 && !self.closed {
                        self.update_own_keys(out).map_err(own)?;
                    }
                }
                (0, None) => {
                    // A HelloRequest is answered with the alert "no renegotiation".
                    let _ =
                        self.seal.seal(ALERT, &[1, AlertDescription::NoRenegotiation.into()], out);
                }
                _ => {
                    return Err(rustls::Error::InappropriateHandshakeMessage {
                        expect_types: vec![
                            HandshakeType::NewSessionTicket,
                            HandshakeType::KeyUpdate,
                        ],
                        got_type: kind.into(),
                    });
                }
            }
            text = rest;
        }
        Ok(())
    }

    /// Sends a key update and switches to the next key. TLS 1.2 has no key updates; it keeps its key, as its nonces do
    /// not repeat.
    fn update_own_keys(&mut self, out: &mut Vec<u8>) -> Result<(), Error> {
        self.key_lasts = RECORDS_PER_KEY;
        if let Some(kernel) = &mut self.kernel {
            self.seal.seal(HANDSHAKE, &[KEY_UPDATE, 0, 0, 1, 0], out)?;
            self.seal = Keys::new(true, kernel.update_tx_secret().map_err(Error::Tls)?)?;
        }
        Ok(())
    }
}

fn unexpected_record(kind: u8) -> rustls::Error {
    rustls::Error::InappropriateMessage {
        expect_types: vec![rustls::ContentType::ApplicationData],
        got_type: kind.into(),
    }
}

fn garbled() -> rustls::Error {
    rustls::Error::InvalidMessage(rustls::InvalidMessage::MessageTooShort)
}

fn own(error: Error) -> rustls::Error {
    match error {
        Error::Tls(error) => error,
        _ => rustls::Error::EncryptError,
    }
}
