//! Reads keys and certificates from files: PKCS#12, Java's JKS, PEM.
//!
//! The format is recognised by the content, as in Java. Keys are in the order in which Java enumerates them. Files are
//! read once, before a run.

mod ber;
mod jks;
mod pem;
mod pkcs12;

#[cfg(test)]
mod tests;

use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::fmt;

/// The content of a key store file.
#[derive(Debug, Default)]
pub struct KeyStore {
    pub keys: Vec<KeyEntry>,
    /// Certificates without a key, which are trusted.
    pub trusted: Vec<CertificateDer<'static>>,
}

/// A private key with its certificate chain, the key's own certificate first.
#[derive(Debug)]
pub struct KeyEntry {
    pub alias: String,
    pub key: PrivateKeyDer<'static>,
    pub chain: Vec<CertificateDer<'static>>,
}

/// Parses the bytes of a key store file. Without a password, the integrity of a JKS file is not checked and its keys
/// cannot be read.
pub fn read(bytes: &[u8], password: Option<&str>) -> Result<KeyStore, KeyStoreError> {
    match bytes {
        [0xFE, 0xED, 0xFE, 0xED, ..] => jks::read(bytes, password),
        [0xCE, 0xCE, 0xCE, 0xCE, ..] => Err(KeyStoreError::Jceks),
        [0x30, ..] => pkcs12::read(bytes, password.unwrap_or_default()),
        _ if bytes.windows(10).any(|window| window == b"-----BEGIN") => pem::read(bytes),
        _ => Err(KeyStoreError::UnknownFormat),
    }
}

/// The reason why a key store cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyStoreError {
    /// The key store file is neither PKCS#12, JKS nor PEM.
    UnknownFormat,
    /// The key store file is in Java's JCEKS format, which is not supported.
    Jceks,
    /// The key store file is truncated, or its structure is invalid.
    Malformed,
    /// The password is wrong, or the key store file was modified.
    Password,
    /// A key in the file has an encryption that is not supported.
    Encryption,
}

impl fmt::Display for KeyStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownFormat => "unknown format; expected PKCS#12, JKS or PEM",
            Self::Jceks => {
                "JCEKS keystores are not supported; convert it with keytool -importkeystore -deststoretype pkcs12"
            }
            Self::Malformed => "the keystore is damaged",
            Self::Password => "the password is wrong, or the file is damaged",
            Self::Encryption => "the encryption of a key in the keystore is not supported",
        })
    }
}

impl std::error::Error for KeyStoreError {}
