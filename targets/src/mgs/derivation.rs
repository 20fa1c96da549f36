//! Derives the key of a body from a point that client and gateway share.
//!
//! No public source says which derivation a gateway uses, so the common ones are offered: the coordinate itself, its
//! digest, the function of ANSI X9.63 (SEC 1, 3.6.1; with SM3 as in GB/T 32918.4), and HKDF without salt and
//! information (RFC 5869).

use hmac::{Hmac, KeyInit, Mac};
use md5::Digest;
use sha2::Sha256;
use sm3::Sm3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Derivation {
    Itself,
    Md5,
    Sha256,
    Sm3,
    X963Sha256,
    X963Sm3,
    HkdfSha256,
}

impl Derivation {
    pub(super) const WORDS: [(&str, Self); 7] = [
        ("x", Self::Itself),
        ("md5", Self::Md5),
        ("sha256", Self::Sha256),
        ("sm3", Self::Sm3),
        ("x963-sha256", Self::X963Sha256),
        ("x963-sm3", Self::X963Sm3),
        ("hkdf-sha256", Self::HkdfSha256),
    ];

    /// Returns the maximum number of key bytes that this derivation yields from `shared` input bytes.
    pub(super) fn most(self, shared: usize) -> usize {
        match self {
            Self::Itself => shared,
            Self::Md5 => 16,
            Self::Sha256 | Self::Sm3 => 32,
            Self::X963Sha256 | Self::X963Sm3 | Self::HkdfSha256 => 255 * 32,
        }
    }

    /// Derives a key of `length` bytes; a shorter one if the derivation yields fewer bytes.
    pub(super) fn derive(self, shared: &[u8], length: usize) -> Vec<u8> {
        let mut key = match self {
            Self::Itself => shared.to_vec(),
            Self::Md5 => md5::Md5::digest(shared).to_vec(),
            Self::Sha256 => Sha256::digest(shared).to_vec(),
            Self::Sm3 => Sm3::digest(shared).to_vec(),
            Self::X963Sha256 => x963::<Sha256>(shared, length),
            Self::X963Sm3 => x963::<Sm3>(shared, length),
            Self::HkdfSha256 => hkdf(shared, &[], &[], length),
        };
        key.truncate(length);
        key
    }
}

fn x963<D: Digest>(shared: &[u8], length: usize) -> Vec<u8> {
    let mut key = Vec::new();
    for counter in 1u32.. {
        if key.len() >= length {
            break;
        }
        key.extend_from_slice(
            &D::new().chain_update(shared).chain_update(counter.to_be_bytes()).finalize(),
        );
    }
    key
}

fn hkdf(shared: &[u8], salt: &[u8], information: &[u8], length: usize) -> Vec<u8> {
    let mac = |key: &[u8], parts: [&[u8]; 3]| {
        // HMAC accepts keys of any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return Vec::new() };
        for part in parts {
            mac.update(part);
        }
        mac.finalize().into_bytes().to_vec()
    };
    let extracted = mac(salt, [shared, &[], &[]]);
    let mut key = Vec::new();
    let mut block = Vec::new();
    for counter in 1..=255u8 {
        if key.len() >= length {
            break;
        }
        block = mac(&extracted, [&block, information, &[counter]]);
        key.extend_from_slice(&block);
    }
    key
}

#[cfg(test)]
mod tests {
    use super::super::bytes;
    use super::super::signature::hex;
    use super::*;

    #[test]
    fn hkdf_gives_the_first_example_of_rfc_5869() {
        let salt: Vec<u8> = (0..=0x0c).collect();
        let information: Vec<u8> = (0xf0..=0xf9).collect();
        let mut key = hkdf(&[0x0b; 22], &salt, &information, 42);
        key.truncate(42);
        assert_eq!(
            hex(&key),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
        );
    }

    #[test]
    fn x963_gives_an_example_of_nist() {
        // CAVP vector of ANSI X9.63-2001 with SHA-256: 192-bit shared secret, no shared information.
        let shared = bytes("96c05619d56c328ab95fe84b18264b08725b85e33fd34f08");
        assert_eq!(
            hex(&Derivation::X963Sha256.derive(&shared, 16)),
            "443024c3dae66b95e6f5670601558f71"
        );
    }

    #[test]
    fn sm3_derives_the_key_of_the_example_in_gb_t_32918() {
        // GB/T 32918.5, encryption on the recommended curve: coordinates x2 and y2, the plain text, and its ciphertext
        // C2.
        let shared = bytes(concat!(
            "335e18d751e51f040e27d468138b7ab1dc86ad7f981d7d416222fd6ab3ed230d",
            "ab743ebcfb22d64f7b6ab791f70658f25b48fa93e54064fdbfbed3f0bd847ac9"
        ));
        let key = Derivation::X963Sm3.derive(&shared, 19);
        let both = key.iter().zip(b"encryption standard");
        let ciphertext: Vec<u8> = both.map(|(key, plain)| key ^ plain).collect();
        assert_eq!(hex(&ciphertext), "21886ca989ca9c7d58087307ca93092d651efa");
    }
}
