//! Seals a request: signs its plain body, compresses and encrypts it, and builds the envelope. Decrypts the response.
//!
//! Once buffers are warm, only RSA and SM2 encryption allocate. The counters of the request cache contain the time
//! spent on sealing.

use std::time::Instant;

use crate::agreed::{Material, Vector};
use crate::block::{BLOCK, BlockKey};
use crate::cache::{Cache, Counts};
use crate::gzip::Gzip;
use crate::recipient::{self, Recipient};
use crate::settings::{Encryption, Ephemeral, Settings};
use crate::{envelope, stamp};

/// A sealed (signed and encrypted) request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sealed {
    /// Time stamp of the request in the gateway's encoding.
    pub stamp: String,
    /// Value of the sign header; empty if the request is not signed.
    pub sign: String,
    /// Encrypted body of the request; empty if its plain body is sent.
    pub body: Vec<u8>,
    /// Key for decrypting the response; `None` if the request's plain body is sent.
    pub key: Option<SessionKey>,
}

/// The key that encrypts one request and its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionKey {
    pub key: BlockKey,
    /// True if the initialisation vector is sent in front of the ciphertext.
    pub sends_vector: bool,
    /// True if the plain text is compressed by gzip.
    pub gzip: bool,
}

/// The result of a key transport that all requests share, because the settings demand one secret for all requests.
#[derive(Debug)]
struct Prepared {
    /// Value of the envelope's key field.
    value: Vec<u8>,
    key: BlockKey,
}

/// Signs and encrypts requests for one gateway.
#[derive(Debug)]
pub struct Sealer {
    settings: Settings,
    recipient: Option<Recipient>,
    prepared: Option<Prepared>,
    gzip: Gzip,
    /// Buffer for the sign string.
    room: Vec<u8>,
    cache: Cache,
}

impl Sealer {
    /// Creates a sealer; fails if the public key is invalid. The cache size is divided by `share`, the number of
    /// sealers.
    pub fn new(settings: Settings, share: usize) -> Result<Self, String> {
        let encryption = settings.encryption.as_ref();
        let recipient = encryption
            .map(|encryption| Recipient::read(encryption.transport, &encryption.public_key))
            .transpose()?;
        let mut sealer = Self {
            recipient,
            prepared: None,
            gzip: Gzip::new(encryption.map_or(1, |encryption| encryption.gzip)),
            room: Vec::new(),
            cache: Cache::new(settings.cache_bytes / share.max(1), settings.window_ms),
            settings,
        };
        let (Some(encryption), Some(recipient)) = (&sealer.settings.encryption, &sealer.recipient)
        else {
            return Ok(sealer);
        };
        let secret = match encryption.ephemeral {
            // Even for `Fresh`, a secret is used now, so that an invalid key fails before the first request.
            Ephemeral::Fresh | Ephemeral::Once => recipient.draw(),
            Ephemeral::Fixed(given) => {
                let mut secret = [0; 48];
                secret[..given.len()].copy_from_slice(&given);
                secret
            }
        };
        let mut value = Vec::new();
        let key = transport(encryption, recipient, &secret, &mut value)?;
        if encryption.ephemeral != Ephemeral::Fresh {
            sealer.prepared = Some(Prepared { value, key });
        }
        Ok(sealer)
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the counters of the request cache and of sealing.
    pub fn counts(&self) -> Counts {
        self.cache.counts
    }

    /// Signs and encrypts a request, or copies it from the cache. `now_ms` is in milliseconds since 1970.
    pub fn seal(
        &mut self,
        operation: &str,
        body: &[u8],
        now_ms: u64,
        out: &mut Sealed,
    ) -> Result<(), String> {
        out.clear();
        let caches = self.cache.is_on();
        if caches && self.cache.get(operation, body, now_ms, out) {
            return Ok(());
        }
        let begun = Instant::now();
        stamp::push(now_ms.saturating_add_signed(self.settings.clock_offset_ms), &mut out.stamp);
        if let Some(signing) = &self.settings.signing {
            let signed = (operation.as_bytes(), body, out.stamp.as_str());
            signing.sign(signed, &mut self.room, &mut out.sign);
        }
        self.encrypt(body, out)?;
        let cost = begun.elapsed().as_nanos() as u64;
        self.cache.counts.sealed += 1;
        self.cache.counts.spent_ns += cost;
        if caches {
            self.cache.put(operation, body, (now_ms, cost), out);
        }
        Ok(())
    }

    fn encrypt(&mut self, body: &[u8], out: &mut Sealed) -> Result<(), String> {
        let (Some(encryption), Some(recipient)) = (&self.settings.encryption, &self.recipient)
        else {
            return Ok(());
        };
        // A request with an empty body is not encrypted.
        if body.is_empty() {
            return Ok(());
        }
        let sealed = &mut out.body;
        let from = envelope::begin_field(encryption.key_tag, sealed);
        let mut key = match &self.prepared {
            Some(prepared) => {
                sealed.extend_from_slice(&prepared.value);
                prepared.key
            }
            None => transport(encryption, recipient, &recipient.draw(), sealed)?,
        };
        envelope::end_field(from, sealed);
        let from = envelope::begin_field(encryption.body_tag, sealed);
        let sends_vector = encryption.vector == Vector::Fresh;
        if sends_vector {
            recipient::fill(&mut key.iv);
            sealed.extend_from_slice(&key.iv);
        }
        let text = sealed.len();
        if encryption.gzip > 0 {
            self.gzip.compress(body, sealed)?;
        } else {
            sealed.extend_from_slice(body);
        }
        key.encrypt(text, sealed);
        if !envelope::end_field(from, sealed) {
            return Err("the body is too large for the envelope: at most 16 MiB".into());
        }
        out.key = Some(SessionKey { key, sends_vector, gzip: encryption.gzip > 0 });
        Ok(())
    }

    /// Decrypts `body` in place and appends the plain text of the response, at most `most` bytes.
    pub fn open(
        &mut self,
        key: &SessionKey,
        body: &mut [u8],
        most: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        open(key, &mut self.gzip, body, most, out)
    }
}

impl Sealed {
    /// Clears a sealed request and keeps its buffers.
    pub fn clear(&mut self) {
        self.stamp.clear();
        self.sign.clear();
        self.body.clear();
        self.key = None;
    }
}

/// Appends the value of the envelope's key field; returns the key with which the request is encrypted.
fn transport(
    encryption: &Encryption,
    recipient: &Recipient,
    secret: &recipient::Secret,
    out: &mut Vec<u8>,
) -> Result<BlockKey, String> {
    let cipher = encryption.cipher;
    let behind = if encryption.vector == Vector::Derived { BLOCK } else { 0 };
    let material = recipient.transport(secret, cipher.key_length() + behind, out)?;
    Ok(match recipient {
        Recipient::Ecc(_) | Recipient::Sm2(_) => {
            Material::derive(encryption.derivation, material.as_bytes(), cipher)
        }
        Recipient::Rsa(..) | Recipient::Sm2Encrypted(_) => material,
    }
    .block_key(cipher, encryption.vector))
}

/// Decrypts `body` in place with a request's key and appends the plain text, at most `most` bytes.
pub fn open(
    key: &SessionKey,
    gzip: &mut Gzip,
    body: &mut [u8],
    most: usize,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    let mut block = key.key;
    let mut text = body;
    if key.sends_vector {
        let length = text.len();
        let Some((iv, rest)) = text.split_at_mut_checked(BLOCK) else {
            return Err(format!(
                "it has {length} bytes, less than the 16 bytes of its initialisation vector"
            ));
        };
        block.iv.copy_from_slice(iv);
        text = rest;
    }
    let length = text.len();
    if length == 0 || !length.is_multiple_of(BLOCK) {
        return Err(format!("its length of {length} bytes is not a multiple of the 16-byte block"));
    }
    let Some(plain) = block.decrypt(text) else {
        return Err("its padding is wrong: another key, vector or cipher was used".into());
    };
    let text = &text[..plain];
    if key.gzip {
        return gzip.decompress(text, most, out);
    }
    out.extend_from_slice(&text[..plain.min(most)]);
    if plain > most { Err(format!("it has more than {most} bytes")) } else { Ok(()) }
}
