//! The private keys of the gateway, and the recovery of the session keys that clients send encrypted for them.
//!
//! Three keys are built in, for RSA with 2048 bits, secp256k1 and SM2, so that plans and tests can contain the public
//! keys. The private keys are public too: they protect nothing.

use k256::elliptic_curve::sec1::{FromSec1Point, ModulusSize, ToSec1Point};
use k256::elliptic_curve::{CurveArithmetic, CurveGroup, PublicKey, SecretKey};
use rsa::pkcs1::DecodeRsaPrivateKey;
use rsa::pkcs8::{DecodePrivateKey, EncodePublicKey, LineEnding};
use rsa::{Oaep, Pkcs1v15Encrypt};
use sm2::pke::{DecryptingKey, Mode};

use super::options::choice;
use crate::config::{Config, bad};
use crate::error::Error;

const RSA: &str = include_str!("keys/rsa.pem");
const ECC: &str = include_str!("keys/ecc.pem");
const SM2: &str = include_str!("keys/sm2.pem");

/// The kind of the gateway's public key by which a client transmits the key of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transport {
    Rsa,
    Ecc,
    Sm2,
}

impl Transport {
    pub(super) const ALL: [(&str, Self); 3] =
        [("rsa", Self::Rsa), ("ecc", Self::Ecc), ("sm2", Self::Sm2)];
}

#[derive(Debug, Clone, Copy)]
enum Padding {
    Pkcs1,
    OaepSha1,
    OaepSha256,
    OaepSha256Mgf1Sha1,
}

pub(super) struct Keys {
    rsa: rsa::PrivateKey,
    ecc: k256::SecretKey,
    sm2: sm2::SecretKey,
    padding: Padding,
    order: Mode,
}

/// The secret recovered from a request.
pub(super) enum Secret {
    /// The session key itself, transmitted in encrypted form.
    Key(Vec<u8>),
    /// The coordinates of a shared point, from which the session key is derived.
    Point { x: Vec<u8>, y: Vec<u8> },
}

impl Keys {
    pub(super) fn new(config: &Config) -> Result<Self, Error> {
        let paddings = [
            ("pkcs1", Padding::Pkcs1),
            ("oaep-sha1", Padding::OaepSha1),
            ("oaep-sha256", Padding::OaepSha256),
            ("oaep-sha256-mgf1-sha1", Padding::OaepSha256Mgf1Sha1),
        ];
        let orders = [("c1c3c2", Mode::C1C3C2), ("c1c2c3", Mode::C1C2C3)];
        let built_in = || bad("key", "", "a built-in key cannot be read");
        let mut keys = Self {
            rsa: rsa::PrivateKey::from_pkcs8_pem(RSA).map_err(|_| built_in())?,
            ecc: k256::SecretKey::from_pem(ECC).map_err(|_| built_in())?,
            sm2: sm2::SecretKey::from_pem(SM2).map_err(|_| built_in())?,
            padding: choice(config, "rsa", &paddings, Padding::Pkcs1)?,
            order: choice(config, "sm2", &orders, Mode::C1C3C2)?,
        };
        for file in config.all("key").filter(|file| !file.is_empty()) {
            let text = std::fs::read_to_string(file).map_err(|error| bad("key", file, error))?;
            keys.take(file, &text)?;
        }
        Ok(keys)
    }

    /// Reads a private key from PEM text; it replaces the built-in private key of the same kind.
    fn take(&mut self, file: &str, text: &str) -> Result<(), Error> {
        // Blocks before the private key are ignored, such as the curve parameters that `openssl ecparam` writes.
        let starts = text.match_indices("-----BEGIN ").map(|(at, _)| &text[at..]);
        let mut keys = starts
            .filter(|pem| pem.lines().next().is_some_and(|line| line.contains("PRIVATE KEY")));
        let Some(pem) = keys.next() else {
            return Err(bad("key", file, "has no private key in PEM form (`openssl genpkey`)"));
        };
        if pem.starts_with("-----BEGIN ENCRYPTED") || pem.contains("\nProc-Type:") {
            let why = "is encrypted; `openssl pkey -in FILE -out FILE2` takes the password off";
            return Err(bad("key", file, why));
        }
        if let Ok(key) = rsa::PrivateKey::from_pkcs8_pem(pem) {
            self.rsa = key;
        } else if let Ok(key) = rsa::PrivateKey::from_pkcs1_pem(pem) {
            self.rsa = key;
        } else if let Ok(key) = k256::SecretKey::from_pem(pem) {
            self.ecc = key;
        } else if let Ok(key) = sm2::SecretKey::from_pem(pem) {
            self.sm2 = key;
        } else {
            let why = "is no key of RSA (1024 bits or more), of secp256k1 or of SM2's curve";
            return Err(bad("key", file, why));
        }
        Ok(())
    }

    /// Returns the gateway's public key for clients, as PEM.
    pub(super) fn public(&self, transport: Transport) -> String {
        let pem = match transport {
            Transport::Rsa => self.rsa.to_public_key().to_public_key_pem(LineEnding::LF),
            Transport::Ecc => self.ecc.public_key().to_public_key_pem(LineEnding::LF),
            Transport::Sm2 => self.sm2.public_key().to_public_key_pem(LineEnding::LF),
        };
        pem.unwrap_or_default()
    }

    /// Recovers the shared secret from the key field of an envelope, by decryption or key agreement.
    pub(super) fn receive(&self, transport: Transport, value: &[u8]) -> Result<Secret, String> {
        match transport {
            Transport::Rsa => self.decrypt_rsa(value).map(Secret::Key),
            Transport::Ecc => shared(&self.ecc, value)
                .ok_or_else(|| format!("{} bytes are no point of secp256k1", value.len())),
            // A value with the length of a point is a key agreement; an SM2 ciphertext is longer.
            Transport::Sm2 if matches!(value.len(), 33 | 65) => shared(&self.sm2, value)
                .ok_or_else(|| "the key's value is no point of SM2's curve".to_owned()),
            Transport::Sm2 => self.decrypt_sm2(value).map(Secret::Key),
        }
    }

    fn decrypt_rsa(&self, value: &[u8]) -> Result<Vec<u8>, String> {
        let key = &self.rsa;
        let decrypted = match self.padding {
            Padding::Pkcs1 => key.decrypt(Pkcs1v15Encrypt, value),
            Padding::OaepSha1 => key.decrypt(Oaep::<sha1::Sha1>::new(), value),
            Padding::OaepSha256 => key.decrypt(Oaep::<sha2::Sha256>::new(), value),
            Padding::OaepSha256Mgf1Sha1 => {
                key.decrypt(Oaep::<sha2::Sha256, sha1::Sha1>::new_with_mgf_hash(), value)
            }
        };
        decrypted.map_err(|error| format!("RSA does not decrypt the key: {error}"))
    }

    fn decrypt_sm2(&self, value: &[u8]) -> Result<Vec<u8>, String> {
        let key = DecryptingKey::new_with_mode(self.sm2.to_nonzero_scalar(), self.order);
        let decrypted = match value.first() {
            // An ASN.1 SEQUENCE, as OpenSSL writes an SM2 ciphertext.
            Some(0x30) => key.decrypt_der(value),
            Some(2..=4) => key.decrypt(value),
            _ => return Err("the key's value is no ciphertext of SM2".to_owned()),
        };
        decrypted.map_err(|_| "SM2 does not decrypt the key".to_owned())
    }
}

/// Computes the shared point from a client's point and the gateway's private key.
fn shared<C>(secret: &SecretKey<C>, point: &[u8]) -> Option<Secret>
where
    C: CurveArithmetic,
    C::FieldBytesSize: ModulusSize,
    C::AffinePoint: FromSec1Point<C> + ToSec1Point<C>,
{
    let client = PublicKey::<C>::from_sec1_bytes(point).ok()?;
    let product = client.to_projective() * *secret.to_nonzero_scalar().as_ref();
    let product = product.to_affine().to_sec1_point(false);
    Some(Secret::Point { x: product.x()?.to_vec(), y: product.y()?.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sm2_decrypts_the_example_of_gb_t_32918() {
        let digits = "3945208f7b2144b13f36e38ac6d39f95889393692860b51a42fb81ef4df7c5b8";
        let ciphertext = concat!(
            "04",
            "04ebfc718e8d1798620432268e77feb6415e2ede0e073c0f4f640ecd2e149a73",
            "e858f9d81e5430a57b36daab8f950a3c64e6ee6a63094d99283aff767e124df0",
            "59983c18f809e262923c53aec295d30383b54e39d609d160afcb1908d0bd8766",
            "21886ca989ca9c7d58087307ca93092d651efa"
        );
        let mut keys = Keys::new(&Config::new("mgs")).unwrap();
        keys.sm2 = sm2::SecretKey::from_slice(&super::super::bytes(digits)).unwrap();
        let secret = keys.receive(Transport::Sm2, &super::super::bytes(ciphertext)).unwrap();
        assert!(matches!(secret, Secret::Key(key) if key == b"encryption standard"));
    }
}
