//! A connection after its handshake: application data, alerts, tickets, key updates.
//!
//! Holds two keys and, for TLS 1.3, what rustls needs to take tickets and to derive the next keys. No buffers, but for a
//! handshake message that the peer splits over records.

use super::Error;
use super::record::{self, ALERT, DATA, HANDSHAKE, Keys};
use rustls::client::{ClientConnectionData, UnbufferedClientConnection};
use rustls::kernel::KernelConnection;
use rustls::{AlertDescription, HandshakeType, ProtocolVersion};

const NEW_SESSION_TICKET: u8 = 4;
const KEY_UPDATE: u8 = 24;
/// Records under one key; AES-GCM should not protect more than 2^24.5 (RFC 8446, 5.5).
const RECORDS_PER_KEY: u64 = 1 << 23;
/// Bytes of a handshake message that is split over records.
const FRAGMENT: usize = 1 << 16;

pub(super) struct Traffic {
    seal: Keys,
    open: Keys,
    /// Only for TLS 1.3: later versions of the keys come from here, and tickets go there.
    kernel: Option<Box<KernelConnection<ClientConnectionData>>>,
    /// The start of a handshake message.
    fragment: Vec<u8>,
    pub(super) peer_closed: bool,
    closed: bool,
    /// Records that may yet be sealed with this key.
    pub(super) key_lasts: u64,
}

impl Traffic {
    /// Takes over a connection whose handshake is over and whose output is sent.
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

    /// Opens all whole records; returns the bytes they cover. After an error the alert is in `out`.
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
            // The first error is the one to report.
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

    /// Appends close_notify once.
    pub(super) fn close(&mut self, out: &mut Vec<u8>) {
        if !self.closed {
            self.closed = true;
            // A connection that cannot say goodbye is closed without.
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
        // What follows close_notify is not part of the connection.
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
                    // New keys begin with a new record.
                    let ([answer @ (0 | 1)], []) = (body, rest) else { return Err(garbled()) };
                    self.open = Keys::new(true, kernel.update_rx_secret()?).map_err(own)?;
                    if *answer == 1 && !self.closed {
                        self.update_own_keys(out).map_err(own)?;
                    }
                }
                (0, None) => {
                    // HelloRequest: answered with "no renegotiation".
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

    /// Tells the peer and takes the next key; nothing can be done about it in TLS 1.2, where the nonces last on.
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
