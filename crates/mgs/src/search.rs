//! Search for the settings that produced a captured request: tries all combinations.
//!
//! To find the signature settings, the search needs the secret. For an encrypted body, it needs one of: the cipher's
//! key, the agreed secret, the client's ephemeral key, or the private key of a test gateway.

use crate::agreed::{DERIVATIONS, Derivation, Material, Vector};
use crate::block::{BLOCK, BlockKey, Cipher};
use crate::envelope::{self, Envelope};
use crate::gzip::Gzip;
use crate::recipient::{self, Transport};
use crate::sealer::{self, SessionKey};
use crate::settings::{self, PREFIX};
use crate::sign::{Digest, Encoding, Join, Signing};

/// Maximum length in bytes of a plain body that the search decompresses.
const MOST: usize = 16 << 20;

/// A captured request, with the keys that are known.
#[derive(Clone, Debug, Default)]
pub struct Captured {
    pub operation: String,
    /// Plain body of the captured request.
    pub body: Vec<u8>,
    pub stamp: String,
    pub sign: Option<String>,
    /// Signature secrets to try.
    pub secrets: Vec<Vec<u8>>,
    /// Body of the captured request as it was sent.
    pub sent: Option<Vec<u8>>,
    /// Key of the cipher, if it is known.
    pub session_key: Option<Vec<u8>>,
    /// Agreed secret, if it is known: the x coordinate of the shared point.
    pub agreed_secret: Option<Vec<u8>>,
    /// The client's private key for the captured request, if it is known.
    pub ephemeral_key: Option<Vec<u8>>,
    /// The gateway's public key as a point; used together with the ephemeral key.
    pub public_point: Option<Vec<u8>>,
    /// The private key of a test gateway: 32 bytes, or PKCS #8 of RSA.
    pub private_key: Option<Vec<u8>>,
    /// An initialisation vector to try in addition to the usual vectors.
    pub iv: Option<[u8; BLOCK]>,
}

/// Note in the result of a search that has no key for the body, or only keys that do not fit.
const NO_KEY: &str = "the key of the body is unknown: give session_key, agreed_secret, private_key, or ephemeral_key \
    with public_key";
const NO_KEY_FITS: &str = "no given key fits the key in the envelope: the private key is of another kind or belongs to \
    another gateway, or public_key is missing beside ephemeral_key";

/// One combination of settings that reproduces the captured bytes: property names, without prefix, and their values.
pub type Way = Vec<(&'static str, String)>;

/// The result of a search: settings that reproduce the captured request, one list for the signature and one for
/// encryption.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub sign: Vec<Way>,
    pub encryption: Vec<Way>,
    /// Other observations of the search, as sentences.
    pub notes: Vec<String>,
    /// Number of combinations of settings that were tried.
    pub tried: u64,
}

/// A candidate for the cipher's key: a secret, and the key transport that it implies (`None` if unknown).
struct Candidate {
    transport: Option<Transport>,
    /// True if the key must be derived from the secret; false if the secret is the key.
    derived: bool,
    secret: Vec<u8>,
}

/// Searches all combinations of settings for those that produce the captured request.
pub fn search(captured: &Captured) -> Found {
    let mut found = Found::default();
    if captured.sign.is_some() {
        search_sign(captured, &mut found);
    }
    if let Some(sent) = &captured.sent {
        match envelope::parse(sent) {
            Ok(envelope) => search_encryption(captured, &envelope, &mut found),
            Err(error) => {
                found
                    .notes
                    .push(format!("cannot parse the encrypted body as an envelope: {error}"));
            }
        }
    }
    found
}

fn search_sign(captured: &Captured, found: &mut Found) {
    let Some(wanted) = captured.sign.as_deref() else { return };
    let bodies = [Some(&captured.body), captured.sent.as_ref()];
    let (mut room, mut out) = (Vec::new(), String::new());
    for signing in signings(&captured.secrets) {
        for (n, body) in bodies.iter().enumerate().filter_map(|(n, body)| Some((n, (*body)?))) {
            out.clear();
            let signed = (captured.operation.as_bytes(), &body[..], &*captured.stamp);
            signing.sign(signed, &mut room, &mut out);
            found.tried += 1;
            if out == wanted && n == 0 {
                found.sign.push(sign_way(&signing));
            } else if out == wanted {
                let words = "was computed over the encrypted body; Throng signs the plain body and cannot reproduce it";
                found.notes.push(format!("the signature {words}"));
            }
        }
    }
    if found.sign.is_empty() {
        let words = "check the secret, and that the body is exactly the signed bytes";
        found.notes.push(format!("no combination of settings produces this signature: {words}"));
    }
}

/// Returns all combinations of signature settings.
fn signings(secrets: &[Vec<u8>]) -> Vec<Signing> {
    let joins = [
        (Join::Prefix, "&"),
        (Join::Prefix, ""),
        (Join::Suffix, ""),
        (Join::Suffix, "&"),
        (Join::None, ""),
    ];
    let none = vec![Vec::new()];
    let mut ways = Vec::new();
    for secret in if secrets.is_empty() { &none } else { secrets } {
        for digest in [Digest::Md5, Digest::Sha256, Digest::HmacSha256, Digest::Sm3] {
            // With HMAC the secret is the key, so its position in the string does not matter.
            let first = if digest == Digest::HmacSha256 { 4 } else { 0 };
            for (join, separator) in &joins[first..] {
                for encoding in [Encoding::Hex, Encoding::HexUpper, Encoding::Base64] {
                    let (secret, separator) = (secret.clone(), (*separator).into());
                    ways.push(Signing { digest, join: *join, separator, secret, encoding });
                }
            }
        }
    }
    ways
}

fn sign_way(signing: &Signing) -> Way {
    let mut way = vec![
        ("sign", settings::digest_word(signing.digest).into()),
        ("sign.encoding", settings::encoding_word(signing.encoding).into()),
        ("secret", String::from_utf8_lossy(&signing.secret).into()),
    ];
    if signing.digest != Digest::HmacSha256 {
        way.push(("sign.join", settings::join_word(signing.join).into()));
        let separator = if signing.separator.is_empty() { "none" } else { &signing.separator };
        way.push(("sign.separator", separator.into()));
    }
    way
}

fn search_encryption(captured: &Captured, envelope: &Envelope<'_>, found: &mut Found) {
    found.notes.push(format!(
        "envelope: tag {:02x} with {} bytes, tag {:02x} with {} bytes",
        envelope.key_tag,
        envelope.key.len(),
        envelope.body_tag,
        envelope.body.len()
    ));
    let candidates = candidates(captured, envelope);
    if candidates.is_empty() {
        let given = captured.private_key.is_some() || captured.ephemeral_key.is_some();
        found.notes.push(if given { NO_KEY_FITS } else { NO_KEY }.into());
        return;
    }
    let mut gzip = Gzip::new(6);
    for candidate in &candidates {
        for cipher in [Cipher::Aes128, Cipher::Aes256, Cipher::Sm4] {
            let derivations: &[Derivation] =
                if candidate.derived { &DERIVATIONS } else { &[Derivation::X] };
            for derivation in derivations {
                if !candidate.derived && candidate.secret.len() < cipher.key_length() {
                    continue;
                }
                let material = Material::derive(*derivation, &candidate.secret, cipher);
                let mut way: Way = Vec::new();
                if let Some(transport) = candidate.transport {
                    way.push(("encrypt", settings::transport_word(transport).into()));
                }
                way.push(("cipher", settings::cipher_word(cipher).into()));
                if candidate.derived {
                    way.push(("derive", settings::derivation_word(*derivation).into()));
                }
                try_vectors(captured, envelope, (&material, cipher), &way, &mut gzip, found);
            }
        }
    }
    if found.encryption.is_empty() {
        found.notes.push("no combination of settings decrypts the body to the plain body".into());
    }
}

/// Tries all kinds of initialisation vectors with a key. If none of them fits, computes a fixed vector from the first
/// block.
fn try_vectors(
    captured: &Captured,
    envelope: &Envelope<'_>,
    (material, cipher): (&Material, Cipher),
    way: &Way,
    gzip: &mut Gzip,
    found: &mut Found,
) {
    let vectors = [Vector::Zero, Vector::Key, Vector::Derived, Vector::Fresh];
    let mut fits = Vec::new();
    for vector in vectors.into_iter().chain(captured.iv.map(Vector::Fixed)) {
        let key = material.block_key(cipher, vector);
        for (zipped, level) in [(true, "6"), (false, "0")] {
            found.tried += 1;
            let session = SessionKey { key, sends_vector: vector == Vector::Fresh, gzip: zipped };
            let (mut body, mut out) = (envelope.body.to_vec(), Vec::new());
            let opened = sealer::open(&session, gzip, &mut body, MOST, &mut out);
            if opened.is_ok() && out == captured.body {
                fits.push((vector_word(vector), level));
            }
        }
    }
    if fits.is_empty() {
        let key = material.block_key(cipher, Vector::Zero);
        fits.extend(fixed_vector(&key, envelope.body, &captured.body));
    }
    for (vector, level) in fits {
        let mut way = way.clone();
        way.extend([("iv", vector), ("gzip", level.into())]);
        way.push(("tag.key", format!("{:02x}", envelope.key_tag)));
        way.push(("tag.body", format!("{:02x}", envelope.body_tag)));
        found.encryption.push(way);
    }
}

fn vector_word(vector: Vector) -> String {
    match vector {
        Vector::Zero => "zero".into(),
        Vector::Key => "key".into(),
        Vector::Derived => "derived".into(),
        Vector::Fresh => "fresh".into(),
        Vector::Fixed(iv) => digits(&iv),
    }
}

fn digits(bytes: &[u8]) -> String {
    let mut text = String::new();
    crate::hex::push(bytes, false, &mut text);
    text
}

/// Computes the initialisation vector from the first block, if all other blocks decrypt correctly. CBC uses it only for
/// the first block.
fn fixed_vector(key: &BlockKey, sent: &[u8], body: &[u8]) -> Option<(String, &'static str)> {
    let mut text = sent.to_vec();
    let length = key.decrypt(&mut text)?;
    let plain = &text[..length];
    if length <= BLOCK {
        return None;
    }
    let of = |wanted: &[u8]| {
        let first = plain[..BLOCK].iter().zip(wanted).map(|(a, b)| a ^ b);
        (wanted.len() == length && wanted[BLOCK..] == plain[BLOCK..])
            .then(|| digits(&first.collect::<Vec<_>>()))
    };
    if let Some(iv) = of(body) {
        return Some((iv, "0"));
    }
    const LEVELS: [&str; 9] = ["6", "1", "2", "3", "4", "5", "7", "8", "9"];
    LEVELS.into_iter().find_map(|level| {
        let mut packed = Vec::new();
        Gzip::new(level.parse().ok()?).compress(body, &mut packed).ok()?;
        Some((of(&packed)?, level))
    })
}

/// Returns all candidates for the key of the captured body.
fn candidates(captured: &Captured, envelope: &Envelope<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    if let Some(key) = &captured.session_key {
        found.push(Candidate { transport: None, derived: false, secret: key.clone() });
    }
    if let Some(secret) = &captured.agreed_secret {
        found.push(Candidate { transport: None, derived: true, secret: secret.clone() });
    }
    for transport in [Transport::Ecc, Transport::Sm2] {
        let pairs = [
            (&captured.ephemeral_key, captured.public_point.as_deref()),
            (&captured.private_key, Some(envelope.key)),
        ];
        for (private, point) in pairs {
            if let (Some(private), Some(point)) = (private, point)
                && let Some(secret) = recipient::agreed_secret(transport, private, point)
            {
                let (transport, secret) = (Some(transport), secret.to_vec());
                found.push(Candidate { transport, derived: true, secret });
            }
        }
    }
    if let Some(private) = &captured.private_key {
        for transport in [
            Transport::RsaPkcs1,
            Transport::RsaOaepSha1,
            Transport::RsaOaepSha256,
            Transport::Sm2Encrypted,
        ] {
            if let Some(secret) = recipient::decrypted_secret(transport, private, envelope.key) {
                found.push(Candidate { transport: Some(transport), derived: false, secret });
            }
        }
    }
    found
}

/// Formats found settings as lines of a properties file.
pub fn lines(way: &Way) -> String {
    let mut text = String::new();
    for (name, value) in way {
        text.extend([PREFIX, name, "=", value, "\n"]);
    }
    text
}
