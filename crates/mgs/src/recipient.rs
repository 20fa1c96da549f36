//! The gateway's public key, and the transport of a request's key to the gateway. The key is either encrypted with RSA
//! or SM2, or agreed on with an ephemeral elliptic curve key (secp256k1 or the curve of SM2).

use aws_lc_rs::rsa::{
    OAEP_SHA1_MGF1SHA1, OAEP_SHA256_MGF1SHA256, OaepPublicEncryptingKey, Pkcs1PublicEncryptingKey,
    PublicEncryptingKey,
};
use k256::elliptic_curve::sec1::{FromSec1Point, ModulusSize, ToSec1Point};
use k256::elliptic_curve::{
    AffinePoint, CurveArithmetic, FieldBytesSize, PublicKey, SecretKey, ecdh,
};
use k256::pkcs8::{AssociatedOid, DecodePublicKey as _};
use rsa::pkcs8::EncodePublicKey as _;
use rsa::rand_core::{TryCryptoRng, TryRng};
use rsa::traits::PublicKeyParts as _;
use rsa::{Oaep, Pkcs1v15Encrypt};

use crate::agreed::Material;
use crate::hex;
use crate::wrong_key::reason;

/// Ways to transport the key of a request to the gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    RsaPkcs1,
    RsaOaepSha1,
    RsaOaepSha256,
    /// Key transport by key agreement over secp256k1; the envelope carries the compressed ephemeral point.
    Ecc,
    /// Key transport by key agreement over the curve of SM2.
    Sm2,
    /// Key transport by SM2 encryption, in the order C1 C3 C2.
    Sm2Encrypted,
}

/// The gateway's public key, in the form that a key transport needs.
#[derive(Debug)]
pub enum Recipient {
    Rsa(Box<Rsa>, Transport),
    Ecc(k256::PublicKey),
    Sm2(sm2::PublicKey),
    Sm2Encrypted(Box<sm2::pke::EncryptingKey>),
}

/// RSA by aws-lc, which is faster than the crate `rsa`. aws-lc rejects keys below 2048 bits, which some gateways have;
/// these keys are in `Short`.
#[derive(Debug)]
pub enum Rsa {
    Pkcs1(Pkcs1PublicEncryptingKey),
    Oaep(OaepPublicEncryptingKey),
    Short(rsa::PublicKey),
}

/// Random number generator of aws-lc, for the cryptographic crates of RustCrypto.
#[derive(Debug)]
pub struct Random;

impl TryRng for Random {
    type Error = std::convert::Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        let mut bytes = [0; 4];
        fill(&mut bytes);
        Ok(u32::from_ne_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        let mut bytes = [0; 8];
        fill(&mut bytes);
        Ok(u64::from_ne_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        fill(bytes);
        Ok(())
    }
}

impl TryCryptoRng for Random {}

/// Fills bytes from aws-lc's generator. A seeded generator cannot fail; a failure would abort the process.
pub fn fill(bytes: &mut [u8]) {
    let _ = aws_lc_rs::rand::fill(bytes);
}

/// The random or given secret of a request. In a key agreement, its first 32 bytes are a private key. Otherwise it
/// begins with the cipher's key, which is encrypted for the gateway. The initialisation vector follows if the gateway
/// takes it from the secret.
pub type Secret = [u8; 48];

/// Length of an elliptic curve's private key in bytes.
const PRIVATE: usize = 32;

impl Recipient {
    /// Parses a public key: PEM (`BEGIN PUBLIC KEY`), the same in base64, or a point of the curve in hexadecimal
    /// digits.
    pub fn read(transport: Transport, text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err("the gateway's public key is missing: set throng.mgs.public_key or throng.mgs.public_key_file"
                .into());
        }
        if text.contains("PRIVATE KEY") {
            return Err("the key is a private key; give the gateway's public key".into());
        }
        match transport {
            Transport::Ecc => read_point(text, "secp256k1").map(Self::Ecc),
            Transport::Sm2 => read_point(text, "SM2").map(Self::Sm2),
            Transport::Sm2Encrypted => {
                let key: sm2::PublicKey = read_point(text, "SM2")?;
                let key = sm2::pke::EncryptingKey::from_affine(*key.as_affine());
                key.map(|key| Self::Sm2Encrypted(Box::new(key))).map_err(|error| error.to_string())
            }
            _ => Ok(Self::Rsa(Box::new(Rsa::read(transport, text)?), transport)),
        }
    }

    /// Draws a random secret for the encryption of a request.
    pub fn draw(&self) -> Secret {
        let mut secret = [0; 48];
        loop {
            fill(&mut secret);
            // Nearly all 32-byte numbers are valid private keys of these curves, so the loop rarely repeats.
            let fits = match self {
                Self::Ecc(_) => k256::SecretKey::from_slice(&secret[..PRIVATE]).is_ok(),
                Self::Sm2(_) => sm2::SecretKey::from_slice(&secret[..PRIVATE]).is_ok(),
                _ => true,
            };
            if fits {
                return secret;
            }
        }
    }

    /// Appends the value of the envelope's key field; returns the secret that the gateway derives from this value. In a
    /// key agreement, the secret is the x coordinate of the shared point, otherwise the first `length` bytes of
    /// `secret`.
    pub fn transport(
        &self,
        secret: &Secret,
        length: usize,
        out: &mut Vec<u8>,
    ) -> Result<Material, String> {
        match self {
            Self::Ecc(key) => agree(key, secret, out),
            Self::Sm2(key) => agree(key, secret, out),
            Self::Sm2Encrypted(key) => {
                let sealed = key.encrypt(&mut Random, &secret[..length]);
                out.extend(sealed.map_err(|_| "cannot encrypt the key with SM2")?);
                Ok(Material::of(&secret[..length]))
            }
            Self::Rsa(rsa, transport) => {
                rsa.encrypt(*transport, &secret[..length], out)?;
                Ok(Material::of(&secret[..length]))
            }
        }
    }
}

impl Rsa {
    fn read(transport: Transport, text: &str) -> Result<Self, String> {
        let key = match der(text) {
            Some(der) => rsa::PublicKey::from_public_key_der(&der),
            None => rsa::PublicKey::from_public_key_pem(text),
        };
        let wrong = |_| format!("the public key is not an RSA key: {}", reason(text, "RSA"));
        let key = key.map_err(wrong)?;
        if key.n().bit_width() < 2048 {
            return Ok(Self::Short(key));
        }
        let der = key.to_public_key_der().map_err(|error| error.to_string())?;
        let refused = |_| "the RSA public key is refused: its length must be 1024 to 8192 bits";
        let key = PublicEncryptingKey::from_der(der.as_bytes())
            .map_err(|error| format!("the RSA public key is refused: {error}"))?;
        Ok(match transport {
            Transport::RsaPkcs1 => {
                Self::Pkcs1(Pkcs1PublicEncryptingKey::new(key).map_err(refused)?)
            }
            _ => Self::Oaep(OaepPublicEncryptingKey::new(key).map_err(refused)?),
        })
    }

    fn encrypt(&self, transport: Transport, key: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let from = out.len();
        let failed = "cannot encrypt the key with RSA: the public key is too short";
        let sha256 = transport == Transport::RsaOaepSha256;
        let written = match self {
            Self::Short(public) => {
                let sealed = match transport {
                    Transport::RsaPkcs1 => public.encrypt(&mut Random, Pkcs1v15Encrypt, key),
                    _ if sha256 => public.encrypt(&mut Random, Oaep::<sha2::Sha256>::new(), key),
                    _ => public.encrypt(&mut Random, Oaep::<sha1::Sha1>::new(), key),
                };
                out.extend(sealed.map_err(|_| failed)?);
                return Ok(());
            }
            Self::Pkcs1(public) => {
                out.resize(from + public.ciphertext_size(), 0);
                public.encrypt(key, &mut out[from..]).map(|sealed| sealed.len())
            }
            Self::Oaep(public) => {
                out.resize(from + public.ciphertext_size(), 0);
                let padding = if sha256 { &OAEP_SHA256_MGF1SHA256 } else { &OAEP_SHA1_MGF1SHA1 };
                public.encrypt(padding, key, &mut out[from..], None).map(|sealed| sealed.len())
            }
        };
        out.truncate(from + written.map_err(|_| failed)?);
        Ok(())
    }
}

/// Computes the secret agreed on by a private and a public key. Appends the compressed point of the private key, for
/// the envelope.
fn agree<C>(public: &PublicKey<C>, secret: &Secret, out: &mut Vec<u8>) -> Result<Material, String>
where
    C: CurveArithmetic,
    FieldBytesSize<C>: ModulusSize,
    AffinePoint<C>: ToSec1Point<C> + FromSec1Point<C>,
{
    let key = SecretKey::<C>::from_slice(&secret[..PRIVATE])
        .map_err(|_| "the ephemeral key is not a private key of the curve")?;
    out.extend_from_slice(key.public_key().as_affine().to_compressed_point().as_ref());
    let shared = ecdh::diffie_hellman(key.to_nonzero_scalar(), public.as_affine());
    Ok(Material::of(shared.raw_secret_bytes()))
}

/// Computes the secret agreed on by a private key and a point from an envelope; for tests and captured requests.
pub fn agreed_secret(transport: Transport, private: &[u8], point: &[u8]) -> Option<[u8; 32]> {
    fn shared<C>(private: &[u8], point: &[u8]) -> Option<[u8; 32]>
    where
        C: CurveArithmetic,
        FieldBytesSize<C>: ModulusSize,
        AffinePoint<C>: ToSec1Point<C> + FromSec1Point<C>,
    {
        let key = SecretKey::<C>::from_slice(private).ok()?;
        let point = PublicKey::<C>::from_sec1_bytes(point).ok()?;
        let shared = ecdh::diffie_hellman(key.to_nonzero_scalar(), point.as_affine());
        shared.raw_secret_bytes()[..].try_into().ok()
    }
    match transport {
        Transport::Ecc => shared::<k256::Secp256k1>(private, point),
        Transport::Sm2 => shared::<sm2::Sm2>(private, point),
        _ => None,
    }
}

/// Parses a private key for captured requests: PEM (PKCS #8) of RSA, secp256k1 or SM2, or 32 bytes in hexadecimal
/// digits. Returns the 32 bytes, or an RSA key as DER.
pub fn private_key(text: &str) -> Result<Vec<u8>, String> {
    use rsa::pkcs8::{DecodePrivateKey, EncodePrivateKey};
    let text = text.trim();
    if let Some(number) = hex::parse(text).filter(|bytes| bytes.len() == 32) {
        return Ok(number);
    }
    if let Ok(key) = k256::SecretKey::from_pkcs8_pem(text) {
        return Ok(key.to_bytes().to_vec());
    }
    if let Ok(key) = sm2::SecretKey::from_pkcs8_pem(text) {
        return Ok(key.to_bytes().to_vec());
    }
    let wrong = "cannot read the private key: expected a PEM key (BEGIN PRIVATE KEY) of RSA, secp256k1 or SM2, or 64 \
        hexadecimal digits";
    let key = rsa::PrivateKey::from_pkcs8_pem(text).map_err(|_| wrong)?;
    Ok(key.to_pkcs8_der().map_err(|error| error.to_string())?.as_bytes().to_vec())
}

/// Returns the uncompressed point of a public key; for captured requests.
pub fn point_of(text: &str) -> Result<Vec<u8>, String> {
    if let Ok(key) = read_point::<k256::Secp256k1>(text, "secp256k1") {
        return Ok(key.to_sec1_bytes().to_vec());
    }
    if let Ok(key) = read_point::<sm2::Sm2>(text, "SM2") {
        return Ok(key.to_sec1_bytes().to_vec());
    }
    let why = reason(text, "secp256k1");
    Err(format!("the public key is a point of neither secp256k1 nor SM2's curve: {why}"))
}

/// Decrypts a secret with a private key; for tests and captured requests.
pub fn decrypted_secret(transport: Transport, private: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    use rsa::pkcs8::DecodePrivateKey;
    if transport == Transport::Sm2Encrypted {
        let key = sm2::SecretKey::from_slice(private).ok()?;
        return sm2::pke::DecryptingKey::new(key).decrypt(sealed).ok();
    }
    let key = rsa::PrivateKey::from_pkcs8_der(private).ok()?;
    match transport {
        Transport::RsaPkcs1 => key.decrypt(Pkcs1v15Encrypt, sealed).ok(),
        Transport::RsaOaepSha1 => key.decrypt(Oaep::<sha1::Sha1>::new(), sealed).ok(),
        Transport::RsaOaepSha256 => key.decrypt(Oaep::<sha2::Sha256>::new(), sealed).ok(),
        _ => None,
    }
}

/// Parses a public key of a curve: PEM, base64 of its DER, or a point in hexadecimal digits.
fn read_point<C>(text: &str, curve: &str) -> Result<PublicKey<C>, String>
where
    C: CurveArithmetic + AssociatedOid,
    FieldBytesSize<C>: ModulusSize,
    AffinePoint<C>: ToSec1Point<C> + FromSec1Point<C>,
{
    let what = if curve == "SM2" { "SM2's curve" } else { curve };
    let wrong = |why: &str| format!("the public key is not a point of {what}: {why}");
    if let Some(point) = hex::parse(text).filter(|bytes| matches!(bytes.len(), 33 | 64 | 65)) {
        // Some tools omit the first byte of an uncompressed curve point.
        let whole = if point.len() == 64 { [&[4], &point[..]].concat() } else { point };
        return PublicKey::from_sec1_bytes(&whole).map_err(|_| wrong("it is not on the curve"));
    }
    let read = match der(text) {
        Some(der) => PublicKey::from_public_key_der(&der).ok(),
        None => PublicKey::from_public_key_pem(text).ok(),
    };
    read.ok_or_else(|| wrong(&reason(text, curve)))
}

/// Decodes a DER key in base64 without PEM lines; `None` for PEM.
fn der(text: &str) -> Option<Vec<u8>> {
    if text.starts_with("-----") {
        return None;
    }
    hex::from_base64(text)
}
