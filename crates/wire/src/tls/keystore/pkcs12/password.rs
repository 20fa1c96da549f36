//! The password of a PKCS#12 file: checking it, and decrypting data with it.
//!
//! Keys for older encryptions and for the check are derived by RFC 7292, appendix B; keys for PBES2 by PBKDF2 (RFC
//! 8018).

use super::{INTEGER, KeyStoreError, OID, Reader, Result, SEQUENCE, Value, rsadsi};
use aes::{Aes128, Aes192, Aes256};
use aws_lc_rs::{digest, hmac, pbkdf2};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipherDecrypt, BlockModeDecrypt, KeyInit, KeyIvInit};
use des::TdesEde3;
use rc2::Rc2;
use std::num::NonZeroU32;

const PBES2: &[u8] = &[1, 5, 13];
const PBKDF2: &[u8] = &[1, 5, 12];
const SHA1_ID: &[u8] = &[0x2B, 0x0E, 0x03, 0x02, 0x1A];
/// Object identifier prefix of NIST's algorithms, 2.16.840.1.101.3.4.
const NIST: &[u8] = &[0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04];

/// Maximum number of iterations of a key derivation, the same as in Java. This many take one or two seconds.
const ROUNDS_MOST: u32 = 5_000_000;

/// The hash function of all PKCS#12 encryptions older than PBES2.
const SHA1: &digest::Algorithm = &digest::SHA1_FOR_LEGACY_USE_ONLY;

/// Purpose byte (RFC 7292, appendix B.3) for deriving an encryption key.
const ENCRYPTION: u8 = 1;
/// Purpose byte for deriving an initialisation vector.
const VECTOR: u8 = 2;
/// Purpose byte for deriving the key of the integrity check.
const CHECK: u8 = 3;

/// A hash function, with its HMAC and its PBKDF2 variant.
struct Hash {
    plain: &'static digest::Algorithm,
    keyed: hmac::Algorithm,
    derivation: Option<pbkdf2::Algorithm>,
}

pub(super) struct Password<'a> {
    text: &'a str,
    /// Password in UTF-16 with a terminating zero, as the older derivation needs it.
    wide: Vec<u8>,
}

impl<'a> Password<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let wide = text.encode_utf16().chain([0]).flat_map(u16::to_be_bytes).collect();
        Self { text, wide }
    }

    /// Checks the password of a file against its `MacData`, an authentication code of the bytes `over`. Fails if the
    /// password is wrong.
    pub(super) fn checked(text: &'a str, mac: Value<'_>, over: &[u8]) -> Result<Self> {
        let mut mac = mac.inside()?;
        let mut digest = mac.expect(SEQUENCE)?.inside()?;
        let algorithm = digest.expect(SEQUENCE)?.inside()?.expect(OID)?.content;
        let expected = digest.octets()?;
        let salt = mac.octets()?;
        let rounds = rounds(mac.optional(INTEGER)?)?;
        let hash = hash(algorithm)?;
        let mut password = Self::new(text);
        // For an empty password, some programs omit the terminating zero too.
        for wide in [password.wide.clone(), Vec::new()] {
            let mut key = vec![0; hash.plain.output_len()];
            derive(hash.plain, &wide, &salt, CHECK, rounds, &mut key);
            let key = hmac::Key::new(hash.keyed, &key);
            let holds = hmac::verify(&key, over, &expected).is_ok();
            if holds {
                password.wide = wide;
                return Ok(password);
            }
            if !text.is_empty() {
                break;
            }
        }
        Err(KeyStoreError::Password)
    }

    /// Decrypts data with the algorithm of an `AlgorithmIdentifier`.
    pub(super) fn decrypt(&self, algorithm: Value<'_>, data: &[u8]) -> Result<Vec<u8>> {
        let mut algorithm = algorithm.inside()?;
        let kind = algorithm.expect(OID)?.content;
        let mut settings = algorithm.expect(SEQUENCE)?.inside()?;
        match rsadsi(kind) {
            Some(PBES2) => self.pbes2(settings, data),
            Some([1, 12, 1, kind @ (3 | 5 | 6)]) => {
                let salt = settings.octets()?;
                let rounds = rounds(Some(settings.expect(INTEGER)?))?;
                let key = |length| {
                    let mut key = vec![0; length];
                    derive(SHA1, &self.wide, &salt, ENCRYPTION, rounds, &mut key);
                    key
                };
                let mut vector = [0; 8];
                derive(SHA1, &self.wide, &salt, VECTOR, rounds, &mut vector);
                match kind {
                    3 => decrypt::<TdesEde3>(&key(24), &vector, data),
                    5 => decrypt::<Rc2>(&key(16), &vector, data),
                    _ => decrypt::<Rc2>(&key(5), &vector, data),
                }
            }
            _ => Err(KeyStoreError::Encryption),
        }
    }

    /// Decrypts with a key from PBKDF2 and a cipher with an initialisation vector (PBES2).
    fn pbes2(&self, mut settings: Reader<'_>, data: &[u8]) -> Result<Vec<u8>> {
        let mut derivation = settings.expect(SEQUENCE)?.inside()?;
        let mut cipher = settings.expect(SEQUENCE)?.inside()?;
        if rsadsi(derivation.expect(OID)?.content) != Some(PBKDF2) {
            return Err(KeyStoreError::Encryption);
        }
        let mut derivation = derivation.expect(SEQUENCE)?.inside()?;
        let salt = derivation.octets()?;
        let rounds = rounds(Some(derivation.expect(INTEGER)?))?;
        // The key length follows from the cipher, so the optional length in PBKDF2's parameters is ignored.
        derivation.optional(INTEGER)?;
        let function = match derivation.optional(SEQUENCE)? {
            Some(function) => hash(function.inside()?.expect(OID)?.content)?.derivation,
            None => Some(pbkdf2::PBKDF2_HMAC_SHA1),
        };
        let function = function.ok_or(KeyStoreError::Encryption)?;
        let key = |length| {
            let mut key = vec![0; length];
            pbkdf2::derive(function, rounds, &salt, self.text.as_bytes(), &mut key);
            key
        };
        let kind = cipher.expect(OID)?.content;
        let vector = cipher.octets()?;
        match (rsadsi(kind), kind.strip_prefix(NIST)) {
            (_, Some([1, 2])) => decrypt::<Aes128>(&key(16), &vector, data),
            (_, Some([1, 22])) => decrypt::<Aes192>(&key(24), &vector, data),
            (_, Some([1, 42])) => decrypt::<Aes256>(&key(32), &vector, data),
            (Some([3, 7]), _) => decrypt::<TdesEde3>(&key(24), &vector, data),
            _ => Err(KeyStoreError::Encryption),
        }
    }
}

/// Returns the hash function of an object identifier, which may name the hash or its HMAC.
fn hash(oid: &[u8]) -> Result<Hash> {
    let (plain, keyed, derivation) = match (rsadsi(oid), oid.strip_prefix(NIST)) {
        _ if oid == SHA1_ID || rsadsi(oid) == Some(&[2, 7]) => {
            (SHA1, hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, Some(pbkdf2::PBKDF2_HMAC_SHA1))
        }
        (Some([2, 8]), _) | (_, Some([2, 4])) => (&digest::SHA224, hmac::HMAC_SHA224, None),
        (Some([2, 9]), _) | (_, Some([2, 1])) => {
            (&digest::SHA256, hmac::HMAC_SHA256, Some(pbkdf2::PBKDF2_HMAC_SHA256))
        }
        (Some([2, 10]), _) | (_, Some([2, 2])) => {
            (&digest::SHA384, hmac::HMAC_SHA384, Some(pbkdf2::PBKDF2_HMAC_SHA384))
        }
        (Some([2, 11]), _) | (_, Some([2, 3])) => {
            (&digest::SHA512, hmac::HMAC_SHA512, Some(pbkdf2::PBKDF2_HMAC_SHA512))
        }
        _ => return Err(KeyStoreError::Encryption),
    };
    Ok(Hash { plain, keyed, derivation })
}

/// Returns the number of iterations of a key derivation; 1 if the file does not name it.
fn rounds(value: Option<Value<'_>>) -> Result<NonZeroU32> {
    let rounds = value.map_or(Ok(1), |value| value.number())?;
    let rounds = NonZeroU32::new(rounds).filter(|rounds| rounds.get() <= ROUNDS_MOST);
    rounds.ok_or(KeyStoreError::Malformed)
}

fn decrypt<C: KeyInit + BlockCipherDecrypt>(
    key: &[u8],
    vector: &[u8],
    data: &[u8],
) -> Result<Vec<u8>> {
    let cipher =
        cbc::Decryptor::<C>::new_from_slices(key, vector).map_err(|_| KeyStoreError::Malformed)?;
    // With a wrong key, the padding of the last decrypted block is invalid.
    cipher.decrypt_padded_vec::<Pkcs7>(data).map_err(|_| KeyStoreError::Password)
}

/// Derives a key by RFC 7292, appendix B.2, and fills `key` with it.
fn derive(
    hash: &'static digest::Algorithm,
    password: &[u8],
    salt: &[u8],
    usage: u8,
    rounds: NonZeroU32,
    key: &mut [u8],
) {
    let block = hash.block_len;
    let mut mixed = [salt, password].map(|bytes| repeated(bytes, block)).concat();
    for part in key.chunks_mut(hash.output_len()) {
        let mut made = digest::digest(hash, &[&vec![usage; block], &*mixed].concat());
        for _ in 1..rounds.get() {
            made = digest::digest(hash, made.as_ref());
        }
        let made = made.as_ref();
        part.copy_from_slice(&made[..part.len()]);
        for number in mixed.chunks_mut(block) {
            // Computes `number + made + 1` over big-endian bytes.
            let mut carry = 1;
            for (at, byte) in number.iter_mut().enumerate().rev() {
                let sum = u16::from(*byte) + u16::from(made[at % made.len()]) + carry;
                *byte = sum as u8;
                carry = sum >> 8;
            }
        }
    }
}

/// Repeats the bytes up to a multiple of the hash's block length.
fn repeated(bytes: &[u8], block: usize) -> Vec<u8> {
    bytes.iter().copied().cycle().take(bytes.len().next_multiple_of(block)).collect()
}
