//! Decodes an encrypted body: envelope, key, cipher, gzip. Encrypts the answer.
//!
//! The output of every step is limited by its input, except gzip, which the option `inflated` limits.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;

use super::cipher::{BLOCK, Cipher, Session};
use super::derivation::Derivation;
use super::envelope::Envelope;
use super::keys::{Keys, Secret, Transport};
use super::options::{byte, choice, filled};
use crate::config::{Config, bad};
use crate::error::Error;

/// Setting that says where the initialization vector is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Iv {
    Fixed([u8; BLOCK]),
    /// The initialization vector follows the key, in the same derived or transmitted bytes.
    Derived,
    /// The initialization vector is the first bytes of the key.
    Key,
    /// The initialization vector is in front of the ciphertext.
    Sent,
}

pub(super) struct Decoder {
    keys: Keys,
    key_tags: [(u8, Transport); 3],
    body_tags: [(u8, Cipher); 2],
    /// Function that derives the key from a shared point. `None` selects the default: SM3 for SM2 keys, SHA-256 for
    /// others.
    derivation: Option<Derivation>,
    both_coordinates: bool,
    iv: Iv,
    gzip: bool,
    /// Maximum length in bytes of a decompressed body.
    inflated: u64,
}

/// A decrypted request.
pub(super) struct Opened {
    pub(super) plain: Vec<u8>,
    pub(super) session: Session,
    pub(super) transport: Transport,
}

impl Decoder {
    pub(super) fn new(config: &Config) -> Result<Self, Error> {
        let aes = [("128", Cipher::Aes128), ("256", Cipher::Aes256)];
        let aes = choice(config, "aes", &aes, Cipher::Aes128)?;
        let derivation = match filled(config, "kdf") {
            None => None,
            Some(_) => Some(choice(config, "kdf", &Derivation::WORDS, Derivation::Sha256)?),
        };
        let decoder = Self {
            keys: Keys::new(config)?,
            key_tags: [
                (byte(config, "tag_rsa", 1)?, Transport::Rsa),
                (byte(config, "tag_ecc", 2)?, Transport::Ecc),
                (byte(config, "tag_sm2", 3)?, Transport::Sm2),
            ],
            body_tags: [
                (byte(config, "tag_aes", 0x0f)?, aes),
                (byte(config, "tag_sm4", 0x0d)?, Cipher::Sm4),
            ],
            derivation,
            both_coordinates: choice(config, "shared", &[("x", false), ("xy", true)], false)?,
            iv: iv(config)?,
            gzip: config.read("gzip", true)?,
            inflated: config.read("inflated", 8 << 20)?,
        };
        decoder.check(aes)?;
        Ok(decoder)
    }

    fn check(&self, aes: Cipher) -> Result<(), Error> {
        let tags = self.key_tags.map(|(tag, _)| tag);
        if tags[0] == tags[1] || tags[1] == tags[2] || tags[0] == tags[2] {
            return Err(bad(
                "tag_rsa",
                &format!("{:02x}", tags[0]),
                "three tags of keys must differ",
            ));
        }
        if self.body_tags[0].0 == self.body_tags[1].0 {
            let tag = format!("{:02x}", self.body_tags[0].0);
            return Err(bad("tag_aes", &tag, "the tags of AES and SM4 must differ"));
        }
        let shared = if self.both_coordinates { 64 } else { 32 };
        let most = self.derivation.unwrap_or(Derivation::Sha256).most(shared);
        let wanted = self.wanted(aes);
        if wanted > most {
            let why = format!(
                "{most} bytes are derived, and key and initialization vector have {wanted}"
            );
            return Err(bad("kdf", "", why));
        }
        Ok(())
    }

    /// Returns the number of bytes needed for the key, and for the initialization vector if that follows the key.
    fn wanted(&self, cipher: Cipher) -> usize {
        cipher.key() + if self.iv == Iv::Derived { BLOCK } else { 0 }
    }

    pub(super) fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Decrypts a body. The error says which step failed.
    pub(super) fn open(&self, bytes: &[u8]) -> Result<Opened, String> {
        let envelope = Envelope::read(bytes)?;
        let transport = known(&self.key_tags, envelope.key_tag, "the key")?;
        let cipher = known(&self.body_tags, envelope.body_tag, "the ciphertext")?;
        let wanted = self.wanted(cipher);
        let mut key = match self.keys.receive(transport, envelope.key)? {
            Secret::Key(key) => key,
            Secret::Point { mut x, y } => {
                if self.both_coordinates {
                    x.extend_from_slice(&y);
                }
                let usual =
                    if transport == Transport::Sm2 { Derivation::Sm3 } else { Derivation::Sha256 };
                self.derivation.unwrap_or(usual).derive(&x, wanted)
            }
        };
        if key.len() != wanted {
            return Err(format!("the key has {} bytes, where {wanted} are wanted", key.len()));
        }
        let (iv, ciphertext) = match self.iv {
            Iv::Fixed(iv) => (iv, envelope.body),
            Iv::Derived => (block(&key.split_off(cipher.key())), envelope.body),
            Iv::Key => (block(&key[..BLOCK]), envelope.body),
            Iv::Sent => match envelope.body.split_at_checked(BLOCK) {
                Some((iv, ciphertext)) => (block(iv), ciphertext),
                None => return Err("the ciphertext has no initialization vector".to_owned()),
            },
        };
        let session = Session { cipher, key, iv };
        let Some(plain) = session.decrypt(ciphertext) else {
            return Err(format!(
                "{} bytes of ciphertext do not decrypt to padded blocks: another key, cipher or \
                 initialization vector",
                ciphertext.len()
            ));
        };
        let plain = if self.gzip { self.inflate(&plain)? } else { plain };
        Ok(Opened { plain, session, transport })
    }

    fn inflate(&self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut plain = Vec::new();
        MultiGzDecoder::new(bytes)
            .take(self.inflated + 1)
            .read_to_end(&mut plain)
            .map_err(|error| format!("the decrypted body is no gzip: {error}"))?;
        if plain.len() as u64 > self.inflated {
            return Err(format!("the body has more than {} bytes decompressed", self.inflated));
        }
        Ok(plain)
    }

    /// Encrypts an answer with the key of its request. Unlike a request, an answer has no envelope.
    pub(super) fn seal(&self, session: &Session, plain: Vec<u8>) -> Vec<u8> {
        let plain = if self.gzip {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            // Writing to a vector cannot fail.
            let _ = encoder.write_all(&plain);
            encoder.finish().unwrap_or_default()
        } else {
            plain
        };
        session.encrypt(&plain).unwrap_or_default()
    }
}

fn known<T: Copy>(tags: &[(u8, T)], tag: u8, name: &str) -> Result<T, String> {
    let found = tags.iter().find(|(known, _)| *known == tag);
    found.map(|(_, what)| *what).ok_or_else(|| format!("{tag:02x} is no tag of {name}"))
}

fn iv(config: &Config) -> Result<Iv, Error> {
    let text = match config.text("iv") {
        None => return Ok(Iv::Fixed([0; BLOCK])),
        Some("derived") => return Ok(Iv::Derived),
        Some("key") => return Ok(Iv::Key),
        Some("sent") => return Ok(Iv::Sent),
        Some(text) => text,
    };
    let number = u128::from_str_radix(text, 16).ok();
    match number.filter(|_| text.len() == 2 * BLOCK && !text.starts_with('+')) {
        Some(number) => Ok(Iv::Fixed(number.to_be_bytes())),
        None => Err(bad("iv", text, "derived, key, sent or 32 hexadecimal digits are wanted")),
    }
}

/// Converts bytes to a cipher block. Callers guarantee the length.
fn block(bytes: &[u8]) -> [u8; BLOCK] {
    bytes.try_into().unwrap_or_default()
}
