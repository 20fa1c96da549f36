//! Key and initialisation vector (IV), derived from the secret that two elliptic curve keys agree on. The gateway's
//! derivation is not public; these are the usual derivations.

use crate::block::{BLOCK, BlockKey, Cipher};
use crate::sign::Digest;

/// Derivations of key material from an agreed secret (the x coordinate of the shared point).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivation {
    /// Uses the x coordinate itself as key material.
    X,
    Md5,
    Sha256,
    Sm3,
    /// Derivation by ANSI X9.63 with SHA-256; yields as many bytes as key and IV need.
    X963Sha256,
    /// Derivation by ANSI X9.63 with SM3, as in SM2.
    X963Sm3,
}

/// The initialisation vector (IV) of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vector {
    Zero,
    /// Initialisation vector: the first 16 bytes of the key.
    Key,
    /// Initialisation vector: the last 16 bytes of the key material.
    Derived,
    Fixed([u8; BLOCK]),
    /// A random IV for each body, sent in front of the body.
    Fresh,
}

/// All derivations, in the order in which a search tries them.
pub const DERIVATIONS: [Derivation; 6] = [
    Derivation::Sha256,
    Derivation::X,
    Derivation::Sm3,
    Derivation::Md5,
    Derivation::X963Sha256,
    Derivation::X963Sm3,
];

/// Key material for a cipher, up to 64 bytes.
#[derive(Clone, Copy)]
pub struct Material {
    bytes: [u8; 64],
    len: usize,
}

impl std::fmt::Debug for Material {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Material").field("len", &self.len).finish_non_exhaustive()
    }
}

impl Material {
    /// Uses the bytes as key material without derivation.
    pub fn of(bytes: &[u8]) -> Self {
        let mut material = Self { bytes: [0; 64], len: bytes.len().min(64) };
        material.bytes[..material.len].copy_from_slice(&bytes[..material.len]);
        material
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    /// Derives key material from a secret. An MD5 digest is too short for a 32-byte key, so its hexadecimal digits are
    /// used.
    pub fn derive(derivation: Derivation, secret: &[u8], cipher: Cipher) -> Self {
        let wanted = cipher.key_length() + BLOCK;
        match derivation {
            Derivation::X => Self::of(secret),
            Derivation::Md5 if cipher.key_length() == 32 => {
                let mut digits = String::new();
                crate::hex::push(Digest::Md5.sum(b"", secret).as_bytes(), false, &mut digits);
                Self::of(digits.as_bytes())
            }
            Derivation::Md5 => Self::of(Digest::Md5.sum(b"", secret).as_bytes()),
            Derivation::Sha256 => Self::of(Digest::Sha256.sum(b"", secret).as_bytes()),
            Derivation::Sm3 => Self::of(Digest::Sm3.sum(b"", secret).as_bytes()),
            Derivation::X963Sha256 => Self::x963(Digest::Sha256, secret, wanted),
            Derivation::X963Sm3 => Self::x963(Digest::Sm3, secret, wanted),
        }
    }

    /// Derives key material by ANSI X9.63: concatenates digests of the secret and a counter.
    fn x963(digest: Digest, secret: &[u8], wanted: usize) -> Self {
        let mut input = [0; 68];
        let length = secret.len().min(64);
        input[..length].copy_from_slice(&secret[..length]);
        let mut material = Self { bytes: [0; 64], len: wanted.min(64) };
        for (n, part) in material.bytes.chunks_mut(32).enumerate() {
            input[length..length + 4].copy_from_slice(&(n as u32 + 1).to_be_bytes());
            part.copy_from_slice(digest.sum(b"", &input[..length + 4]).as_bytes());
        }
        material
    }

    /// Returns key and IV for a cipher. For [`Vector::Fresh`] the IV is zero; the caller draws an IV for each body.
    pub fn block_key(&self, cipher: Cipher, vector: Vector) -> BlockKey {
        let mut key = [0; 32];
        let length = cipher.key_length().min(self.len);
        key[..length].copy_from_slice(&self.bytes[..length]);
        let mut iv = [0; BLOCK];
        match vector {
            Vector::Zero | Vector::Fresh => {}
            Vector::Key => iv.copy_from_slice(&key[..BLOCK]),
            Vector::Derived => {
                iv.copy_from_slice(&self.bytes[self.len.saturating_sub(BLOCK)..][..BLOCK]);
            }
            Vector::Fixed(fixed) => iv = fixed,
        }
        BlockKey { cipher, key, iv }
    }
}
