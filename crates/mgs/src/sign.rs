//! The sign string of a request and its digest.
//!
//! The string is `Operation-Type=…&Request-Data=<base64 of the body>&Ts=…`. The secret is put in front (`secret&…`, the
//! usual join) or at the end. HMAC uses the secret as its key instead.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use md5::Digest as _;

use crate::hex;

/// Digest algorithms for signatures of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digest {
    Md5,
    Sha256,
    HmacSha256,
    Sm3,
}

/// Position of the secret relative to the string to sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    Prefix,
    Suffix,
    /// The digested string does not contain the secret.
    None,
}

/// Text encoding of the signature's digest in its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Hex,
    HexUpper,
    Base64,
}

/// All settings for the signature of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signing {
    pub digest: Digest,
    pub join: Join,
    /// Separator between the secret and the sign string, such as `&`.
    pub separator: String,
    pub secret: Vec<u8>,
    pub encoding: Encoding,
}

/// A message digest of 16 or 32 bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sum {
    bytes: [u8; 32],
    len: usize,
}

impl Sum {
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn of(sum: &[u8]) -> Self {
        let mut bytes = [0; 32];
        bytes[..sum.len()].copy_from_slice(sum);
        Self { bytes, len: sum.len() }
    }
}

impl Digest {
    /// Computes the digest of a string. Only HMAC uses the key.
    pub fn sum(self, key: &[u8], text: &[u8]) -> Sum {
        match self {
            Self::Md5 => Sum::of(&md5::Md5::digest(text)),
            Self::Sha256 => Sum::of(&sha2::Sha256::digest(text)),
            Self::Sm3 => Sum::of(&sm3::Sm3::digest(text)),
            // HMAC accepts keys of any length.
            Self::HmacSha256 => match <Hmac<sha2::Sha256> as KeyInit>::new_from_slice(key) {
                Ok(mac) => Sum::of(&mac.chain_update(text).finalize().into_bytes()),
                Err(_) => Sum { bytes: [0; 32], len: 32 },
            },
        }
    }
}

impl Signing {
    /// Returns true if the signature depends on the secret.
    pub fn secret_counts(&self) -> bool {
        self.join != Join::None || self.digest == Digest::HmacSha256
    }

    /// Appends the value of the sign header. `room` is a buffer for the string to digest.
    pub fn sign(
        &self,
        (operation, body, stamp): (&[u8], &[u8], &str),
        room: &mut Vec<u8>,
        out: &mut String,
    ) {
        room.clear();
        let hmac = self.digest == Digest::HmacSha256;
        if self.join == Join::Prefix && !hmac {
            room.extend_from_slice(&self.secret);
            room.extend_from_slice(self.separator.as_bytes());
        }
        push_content(operation, body, stamp, room);
        if self.join == Join::Suffix && !hmac {
            room.extend_from_slice(self.separator.as_bytes());
            room.extend_from_slice(&self.secret);
        }
        let sum = self.digest.sum(&self.secret, room);
        match self.encoding {
            Encoding::Hex => hex::push(sum.as_bytes(), false, out),
            Encoding::HexUpper => hex::push(sum.as_bytes(), true, out),
            Encoding::Base64 => STANDARD.encode_string(sum.as_bytes(), out),
        }
    }
}

/// Appends the sign string without the secret.
pub fn push_content(operation: &[u8], body: &[u8], stamp: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b"Operation-Type=");
    out.extend_from_slice(operation);
    out.extend_from_slice(b"&Request-Data=");
    let from = out.len();
    out.resize(from + body.len().div_ceil(3) * 4, 0);
    // The buffer has the exact length of the body's padded base64.
    let written = STANDARD.encode_slice(body, &mut out[from..]).unwrap_or(0);
    out.truncate(from + written);
    out.extend_from_slice(b"&Ts=");
    out.extend_from_slice(stamp.as_bytes());
}
