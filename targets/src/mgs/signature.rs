//! The signature of a request over the API's name, the body in base64 and the time stamp, with a shared secret.
//!
//! The text is `Operation-Type=` API `&Request-Data=` body `&Ts=` time stamp. The signature is a digest of the text
//! with the secret before or after it, or an HMAC with the secret as key. By default it is in lower-case hexadecimal
//! digits.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use md5::Digest;

use super::options::choice;
use crate::config::Config;
use crate::error::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hash {
    Md5,
    Sha256,
    HmacSha256,
    Sm3,
}

#[derive(Debug)]
pub(super) struct Rule {
    hash: Hash,
    secret: Vec<u8>,
    join: Join,
    between: Vec<u8>,
    encoding: Encoding,
}

/// Position of the secret relative to the signed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Join {
    Prefix,
    Suffix,
    Nowhere,
}

/// Text encoding of the signature's digest in the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Lower,
    Upper,
    Base64,
}

impl Rule {
    /// Reads the options for signatures; `None` if signatures are not checked.
    pub(super) fn new(config: &Config) -> Result<Option<Self>, Error> {
        let hashes = [
            ("md5", Some(Hash::Md5)),
            ("sha256", Some(Hash::Sha256)),
            ("hmac-sha256", Some(Hash::HmacSha256)),
            ("sm3", Some(Hash::Sm3)),
            ("none", None),
        ];
        let joins = [("prefix", Join::Prefix), ("suffix", Join::Suffix), ("none", Join::Nowhere)];
        let join = choice(config, "join", &joins, Join::Prefix)?;
        let usual = if join == Join::Prefix { "&" } else { "" };
        let encodings = [
            ("hex", Encoding::Lower),
            ("hex-upper", Encoding::Upper),
            ("base64", Encoding::Base64),
        ];
        let encoding = choice(config, "encoding", &encodings, Encoding::Lower)?;
        let hash = choice(config, "digest", &hashes, Some(Hash::Md5))?;
        Ok(hash.map(|hash| Self {
            hash,
            secret: config.text("secret").unwrap_or("secret").as_bytes().to_vec(),
            join,
            between: config.text("between").unwrap_or(usual).as_bytes().to_vec(),
            encoding,
        }))
    }

    pub(super) fn sign(&self, operation: &[u8], body: &[u8], time: &[u8]) -> String {
        let content = [
            b"Operation-Type=",
            operation,
            b"&Request-Data=",
            STANDARD.encode(body).as_bytes(),
            b"&Ts=",
            time,
        ]
        .concat();
        if self.hash == Hash::HmacSha256 {
            // HMAC accepts keys of any length.
            let Ok(mut mac) = Hmac::<sha2::Sha256>::new_from_slice(&self.secret) else {
                return String::new();
            };
            mac.update(&content);
            return self.encoding.text(&mac.finalize().into_bytes());
        }
        let parts: [&[u8]; 3] = match self.join {
            Join::Prefix => [&self.secret, &self.between, &content],
            Join::Suffix => [&content, &self.between, &self.secret],
            Join::Nowhere => [b"", b"", &content],
        };
        self.encoding.text(&match self.hash {
            Hash::Md5 => digest::<md5::Md5>(parts),
            Hash::Sm3 => digest::<sm3::Sm3>(parts),
            Hash::Sha256 | Hash::HmacSha256 => digest::<sha2::Sha256>(parts),
        })
    }
}

impl Encoding {
    fn text(self, sum: &[u8]) -> String {
        match self {
            Self::Lower => hex(sum),
            Self::Upper => hex(sum).to_ascii_uppercase(),
            Self::Base64 => STANDARD.encode(sum),
        }
    }
}

fn digest<D: Digest>(parts: [&[u8]; 3]) -> Vec<u8> {
    let mut digest = D::new();
    for part in parts {
        digest.update(part);
    }
    digest.finalize().to_vec()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value & 15)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

/// Decodes a time stamp to milliseconds since 1970: a big-endian base-64 number with the digits `0-9A-Za-z+/`.
pub(super) fn milliseconds(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |number, digit| {
        let value = match digit {
            b'0'..=b'9' => digit - b'0',
            b'A'..=b'Z' => digit - b'A' + 10,
            b'a'..=b'z' => digit - b'a' + 36,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        number.checked_mul(64)?.checked_add(u64::from(value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_stamps_are_numbers_of_base_64() {
        // A time stamp from a captured request: 2022-09-06 02:20:24.846 UTC.
        assert_eq!(milliseconds(b"OCGcKcE"), Some(1_662_430_824_846));
        assert_eq!(milliseconds(b"10"), Some(64));
        assert_eq!(milliseconds(b"/"), Some(63));
        assert_eq!(milliseconds(b""), None);
        assert_eq!(milliseconds(b"1662430824846-"), None);
        assert_eq!(milliseconds(b"zzzzzzzzzzzz"), None, "more than 64 bits");
    }
}
