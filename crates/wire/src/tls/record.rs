//! Encrypts and decrypts TLS records of an established connection, in place.
//!
//! rustls can do this too, but it allocates a buffer for every record in either direction. Record layouts follow RFC
//! 8446 (5.2), RFC 5288 and RFC 7905; keys come from rustls. A call costs the cipher and about 50 ns, and allocates
//! only what the output lacks in capacity.

use super::Error;
use aws_lc_rs::aead::{
    AES_128_GCM, AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey,
};
use rustls::ConnectionTrafficSecrets;
use rustls::crypto::cipher::{AeadKey, Iv};

pub(super) const ALERT: u8 = 21;
pub(super) const HANDSHAKE: u8 = 22;
pub(super) const DATA: u8 = 23;

/// Maximum length of a TLS record's plaintext in bytes.
pub(super) const PLAINTEXT: usize = 1 << 14;
/// Length of a TLS record's header in bytes.
const HEADER: usize = 5;
/// Length of the authentication tag of a record in bytes.
const TAG: usize = 16;
/// Length in bytes of the part of the nonce that TLS 1.2 sends in each AES-GCM record.
const EXPLICIT: usize = 8;
/// Maximum length of a record's ciphertext in bytes. This is the limit of TLS 1.2, which is above the limit of TLS 1.3.
const CIPHERTEXT: usize = PLAINTEXT + 2048;

/// Keys and record counter of one direction of a connection.
pub(super) struct Keys {
    key: LessSafeKey,
    iv: [u8; 12],
    /// Number of TLS records encrypted or decrypted with these keys so far.
    sequence: u64,
    layout: Layout,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    Tls13,
    Tls12Gcm,
    Tls12ChaCha,
}

impl Keys {
    pub(super) fn new(
        tls13: bool,
        (sequence, secrets): (u64, ConnectionTrafficSecrets),
    ) -> Result<Self, Error> {
        let tls12 = |layout| if tls13 { Layout::Tls13 } else { layout };
        let (algorithm, layout, key, iv): (_, _, AeadKey, Iv) = match secrets {
            ConnectionTrafficSecrets::Aes128Gcm { key, iv } => {
                (&AES_128_GCM, tls12(Layout::Tls12Gcm), key, iv)
            }
            ConnectionTrafficSecrets::Aes256Gcm { key, iv } => {
                (&AES_256_GCM, tls12(Layout::Tls12Gcm), key, iv)
            }
            ConnectionTrafficSecrets::Chacha20Poly1305 { key, iv } => {
                (&CHACHA20_POLY1305, tls12(Layout::Tls12ChaCha), key, iv)
            }
            _ => return Err(Error::Tls(rustls::Error::EncryptError)),
        };
        let key = UnboundKey::new(algorithm, key.as_ref())
            .map_err(|_| Error::Tls(rustls::Error::EncryptError))?;
        let iv = iv.as_ref().try_into().map_err(|_| Error::Tls(rustls::Error::EncryptError))?;
        Ok(Self { key: LessSafeKey::new(key), iv, sequence, layout })
    }

    /// Encrypts and appends one TLS record of at most [`PLAINTEXT`] bytes.
    pub(super) fn seal(
        &mut self,
        kind: u8,
        plaintext: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let nonce = self.nonce();
        out.reserve(HEADER + EXPLICIT + plaintext.len() + 1 + TAG);
        let start = out.len();
        let (outer, extra) = match self.layout {
            Layout::Tls13 => (DATA, 1 + TAG),
            Layout::Tls12Gcm => (kind, EXPLICIT + TAG),
            Layout::Tls12ChaCha => (kind, TAG),
        };
        out.extend_from_slice(&header(outer, plaintext.len() + extra));
        if self.layout == Layout::Tls12Gcm {
            out.extend_from_slice(&nonce[4..]);
        }
        let text = out.len();
        out.extend_from_slice(plaintext);
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = if self.layout == Layout::Tls13 {
            out.push(kind);
            let aad: [u8; HEADER] = header(outer, plaintext.len() + extra);
            self.key.seal_in_place_separate_tag(nonce, Aad::from(aad), &mut out[text..])
        } else {
            let aad = self.tls12_aad(kind, plaintext.len());
            self.key.seal_in_place_separate_tag(nonce, Aad::from(aad), &mut out[text..])
        };
        match tag {
            Ok(tag) => {
                out.extend_from_slice(tag.as_ref());
                self.sequence += 1;
                Ok(())
            }
            Err(_) => {
                out.truncate(start);
                Err(Error::Tls(rustls::Error::EncryptError))
            }
        }
    }

    /// Decrypts one whole TLS record; returns its content type and content.
    pub(super) fn open<'b>(
        &mut self,
        record: &'b mut [u8],
    ) -> Result<(u8, &'b [u8]), rustls::Error> {
        let (head, body) = record.split_at_mut(HEADER);
        let outer = head[0];
        let text = match self.layout {
            Layout::Tls13 => {
                if outer != DATA {
                    return Err(rustls::Error::InappropriateMessage {
                        expect_types: vec![rustls::ContentType::ApplicationData],
                        got_type: outer.into(),
                    });
                }
                let aad = Aad::from(<[u8; HEADER]>::try_from(&*head).unwrap_or_default());
                let nonce = Nonce::assume_unique_for_key(self.nonce());
                self.key.open_in_place(nonce, aad, body)
            }
            Layout::Tls12Gcm | Layout::Tls12ChaCha => {
                let mut nonce = self.nonce();
                let explicit = if self.layout == Layout::Tls12Gcm { EXPLICIT } else { 0 };
                let Some(plain) = body.len().checked_sub(explicit + TAG) else {
                    return Err(rustls::Error::DecryptError);
                };
                if explicit != 0 {
                    nonce[..4].copy_from_slice(&self.iv[..4]);
                    nonce[4..].copy_from_slice(&body[..EXPLICIT]);
                }
                let aad = Aad::from(self.tls12_aad(outer, plain));
                self.key.open_in_place(
                    Nonce::assume_unique_for_key(nonce),
                    aad,
                    &mut body[explicit..],
                )
            }
        };
        let text: &[u8] = text.map_err(|_| rustls::Error::DecryptError)?;
        self.sequence += 1;
        let (kind, text) = if self.layout == Layout::Tls13 {
            // The content type of a TLS 1.3 record is the last byte that is not zero; zero padding follows it.
            let last = text.iter().rposition(|&b| b != 0).ok_or(rustls::Error::DecryptError)?;
            (text[last], &text[..last])
        } else {
            (outer, text)
        };
        if text.len() > PLAINTEXT {
            Err(rustls::Error::PeerSentOversizedRecord)
        } else {
            Ok((kind, text))
        }
    }

    fn nonce(&self) -> [u8; 12] {
        let mut nonce = self.iv;
        for (byte, sequence) in nonce[4..].iter_mut().zip(self.sequence.to_be_bytes()) {
            *byte ^= sequence;
        }
        nonce
    }

    fn tls12_aad(&self, kind: u8, plaintext: usize) -> [u8; 13] {
        let mut aad = [0; 13];
        aad[..8].copy_from_slice(&self.sequence.to_be_bytes());
        aad[8..].copy_from_slice(&header(kind, plaintext));
        aad
    }
}

/// Returns the length of the first record including its header; `None` if the record is incomplete.
pub(super) fn whole(input: &[u8]) -> Result<Option<usize>, rustls::Error> {
    let [_, _, _, high, low, ..] = *input else { return Ok(None) };
    let body = usize::from(u16::from_be_bytes([high, low]));
    if body > CIPHERTEXT {
        return Err(rustls::Error::PeerSentOversizedRecord);
    }
    Ok(Some(HEADER + body).filter(|&len| len <= input.len()))
}

fn header(kind: u8, length: usize) -> [u8; HEADER] {
    let [high, low] = (length as u16).to_be_bytes();
    [kind, 3, 3, high, low]
}
