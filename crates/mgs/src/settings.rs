//! All settings, each read from the property `throng.mgs.NAME`. [`PROPERTIES`] lists the names with their defaults.

use crate::agreed::{Derivation, Vector};
use crate::block::Cipher;
use crate::hex;
use crate::recipient::Transport;
use crate::sign::{Digest, Encoding, Join, Signing};

/// Prefix of the names of all gateway properties.
pub const PREFIX: &str = "throng.mgs.";

/// Property names and defaults. An empty default means "none", or depends on other properties.
pub const PROPERTIES: [(&str, &str); 28] = [
    ("enabled", "true"),
    ("sign", "md5"),
    ("secret", ""),
    ("sign.join", "prefix"),
    ("sign.separator", ""),
    ("sign.encoding", "hex"),
    ("sign.type", ""),
    ("header.operation", "Operation-Type"),
    ("header.time", "Ts"),
    ("header.sign", "Sign"),
    ("header.sign_type", "signType"),
    ("header.result", "Result-Status"),
    ("encrypt", "none"),
    ("encrypt.headers", "x-mgs-encryption: 1, X-Content-Encoding: mgss"),
    ("public_key", ""),
    ("public_key_file", ""),
    ("cipher", ""),
    ("derive", ""),
    ("iv", "zero"),
    ("ephemeral", "fresh"),
    ("gzip", "6"),
    ("tag.key", ""),
    ("tag.body", ""),
    ("decrypt", "auto"),
    ("result", "true"),
    ("cache.mb", "0"),
    ("cache.window_s", "60"),
    ("clock.offset_ms", "0"),
];

/// Setting that determines which responses of the gateway are decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// Responses whose header says that they are encrypted, and others that turn out to be encrypted.
    Auto,
    /// All responses with a body; a response that cannot be decrypted fails.
    Always,
    Never,
}

/// Source of a request's secret for encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ephemeral {
    /// Each request is encrypted with a new random secret.
    Fresh,
    /// All requests are encrypted with one random secret.
    Once,
    Fixed([u8; 32]),
}

/// Settings of the encryption of bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encryption {
    pub transport: Transport,
    pub public_key: String,
    pub cipher: Cipher,
    pub derivation: Derivation,
    pub vector: Vector,
    pub ephemeral: Ephemeral,
    pub key_tag: u8,
    pub body_tag: u8,
    /// Header lines to add to an encrypted request, as names and values.
    pub headers: Vec<(String, String)>,
    /// gzip level of bodies, 1 to 9; 0 disables compression.
    pub gzip: u32,
    pub answers: Answers,
}

/// Names of the gateway's headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    pub operation: String,
    pub time: String,
    pub sign: String,
    pub sign_type: String,
    pub result: String,
}

/// The settings of one gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub names: Names,
    pub signing: Option<Signing>,
    /// Value of the sign type header; if empty, the header is not sent.
    pub sign_type: String,
    pub encryption: Option<Encryption>,
    /// True if a sample fails when the gateway's result code is not [`SUCCESS`](crate::code::SUCCESS).
    pub judges: bool,
    /// Size of the cache of sealed requests in bytes; 0 disables the cache.
    pub cache_bytes: usize,
    /// Maximum age in milliseconds of a time stamp in a resent request.
    pub window_ms: u64,
    /// Milliseconds added to the clock of this machine for time stamps.
    pub clock_offset_ms: i64,
}

impl Settings {
    /// Reads the settings. `value` returns a property by its name without prefix; `None` or empty means the default.
    /// Returns `None` if `enabled` is `false`.
    pub fn read(mut value: impl FnMut(&str) -> Option<String>) -> Result<Option<Self>, String> {
        let mut get = |name: &str| {
            let default = PROPERTIES.iter().find(|(known, _)| *known == name).map(|(_, text)| text);
            let given = value(name).filter(|text| !text.trim().is_empty());
            given.unwrap_or_else(|| (*default.unwrap_or(&"")).to_string())
        };
        if !flag("enabled", &get("enabled"))? {
            return Ok(None);
        }
        let signing = signing(&mut get)?;
        let encryption = encryption(&mut get)?;
        let mut name = |name: &str| {
            let text = get(&format!("header.{name}"));
            let fits = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b':');
            if fits {
                Ok(text)
            } else {
                Err(wrong(&format!("header.{name}"), &text, "a header name"))
            }
        };
        let names = Names {
            operation: name("operation")?,
            time: name("time")?,
            sign: name("sign")?,
            sign_type: name("sign_type")?,
            result: name("result")?,
        };
        Ok(Some(Self {
            names,
            signing,
            sign_type: get("sign.type").trim().into(),
            encryption,
            judges: flag("result", &get("result"))?,
            cache_bytes: number::<usize>("cache.mb", &get("cache.mb"))?.saturating_mul(1 << 20),
            window_ms: number::<u64>("cache.window_s", &get("cache.window_s"))?
                .saturating_mul(1000),
            clock_offset_ms: number("clock.offset_ms", &get("clock.offset_ms"))?,
        }))
    }

    /// True if sealed requests are cached and resent.
    pub fn caches(&self) -> bool {
        self.cache_bytes > 0 && self.window_ms > 0
    }
}

fn signing(get: &mut impl FnMut(&str) -> String) -> Result<Option<Signing>, String> {
    let Some(digest) = word("sign", &get("sign"), DIGESTS)? else { return Ok(None) };
    let join = word("sign.join", &get("sign.join"), JOINS)?;
    let separator = get("sign.separator");
    let separator = match join {
        Join::Prefix if separator.is_empty() => "&".into(),
        _ if separator == "none" => String::new(),
        _ => separator,
    };
    Ok(Some(Signing {
        digest,
        join,
        separator,
        secret: get("secret").into_bytes(),
        encoding: word("sign.encoding", &get("sign.encoding"), ENCODINGS)?,
    }))
}

fn encryption(get: &mut impl FnMut(&str) -> String) -> Result<Option<Encryption>, String> {
    let Some(transport) = word("encrypt", &get("encrypt"), TRANSPORTS)? else { return Ok(None) };
    let sm2 = matches!(transport, Transport::Sm2 | Transport::Sm2Encrypted);
    let cipher = word("cipher", &get("cipher"), CIPHERS)?;
    let derivation = word("derive", &get("derive"), DERIVATIONS)?;
    let cipher = cipher.unwrap_or(if sm2 { Cipher::Sm4 } else { Cipher::Aes128 });
    // The key tags of the two public captures; the tag for RSA is a guess.
    let key_tag = match transport {
        Transport::Ecc => 2,
        Transport::Sm2 | Transport::Sm2Encrypted => 3,
        _ => 1,
    };
    let body_tag = if cipher == Cipher::Sm4 { 0x0d } else { 0x0f };
    Ok(Some(Encryption {
        transport,
        public_key: get("public_key"),
        cipher,
        derivation: derivation.unwrap_or(if sm2 { Derivation::Sm3 } else { Derivation::Sha256 }),
        vector: vector(&get("iv"))?,
        ephemeral: ephemeral(&get("ephemeral"))?,
        key_tag: tag("tag.key", &get("tag.key"), key_tag)?,
        body_tag: tag("tag.body", &get("tag.body"), body_tag)?,
        headers: headers(&get("encrypt.headers"))?,
        gzip: match get("gzip").trim() {
            "true" => 6,
            "false" => 0,
            text => number::<u32>("gzip", text)?.min(9),
        },
        answers: word("decrypt", &get("decrypt"), ANSWERS)?,
    }))
}

type Words<T> = &'static [(&'static str, T)];

const DIGESTS: Words<Option<Digest>> = &[
    ("none", None),
    ("md5", Some(Digest::Md5)),
    ("sha256", Some(Digest::Sha256)),
    ("hmac-sha256", Some(Digest::HmacSha256)),
    ("sm3", Some(Digest::Sm3)),
];
const JOINS: Words<Join> =
    &[("prefix", Join::Prefix), ("suffix", Join::Suffix), ("none", Join::None)];
const ENCODINGS: Words<Encoding> =
    &[("hex", Encoding::Hex), ("hex-upper", Encoding::HexUpper), ("base64", Encoding::Base64)];
const TRANSPORTS: Words<Option<Transport>> = &[
    ("none", None),
    ("rsa", Some(Transport::RsaPkcs1)),
    ("rsa-oaep-sha1", Some(Transport::RsaOaepSha1)),
    ("rsa-oaep-sha256", Some(Transport::RsaOaepSha256)),
    ("ecc", Some(Transport::Ecc)),
    ("sm2", Some(Transport::Sm2)),
    ("sm2-encrypted", Some(Transport::Sm2Encrypted)),
];
const CIPHERS: Words<Option<Cipher>> = &[
    ("", None),
    ("aes-128", Some(Cipher::Aes128)),
    ("aes-256", Some(Cipher::Aes256)),
    ("sm4", Some(Cipher::Sm4)),
];
const DERIVATIONS: Words<Option<Derivation>> = &[
    ("", None),
    ("x", Some(Derivation::X)),
    ("md5", Some(Derivation::Md5)),
    ("sha256", Some(Derivation::Sha256)),
    ("sm3", Some(Derivation::Sm3)),
    ("x963-sha256", Some(Derivation::X963Sha256)),
    ("x963-sm3", Some(Derivation::X963Sm3)),
];
const ANSWERS: Words<Answers> =
    &[("auto", Answers::Auto), ("always", Answers::Always), ("never", Answers::Never)];

/// Returns the word by which a property names a value.
fn word_of<T: PartialEq>(value: &T, words: Words<T>) -> &'static str {
    words.iter().find(|(_, known)| known == value).map_or("", |(word, _)| word)
}

/// Returns the word by which a property names a digest.
pub fn digest_word(digest: Digest) -> &'static str {
    word_of(&Some(digest), DIGESTS)
}

/// Returns the word by which a property names the position of the secret.
pub fn join_word(join: Join) -> &'static str {
    word_of(&join, JOINS)
}

/// Returns the word by which a property names the encoding of the sign.
pub fn encoding_word(encoding: Encoding) -> &'static str {
    word_of(&encoding, ENCODINGS)
}

/// Returns the word by which a property names a key transport.
pub fn transport_word(transport: Transport) -> &'static str {
    word_of(&Some(transport), TRANSPORTS)
}

/// Returns the word by which a property names a cipher.
pub fn cipher_word(cipher: Cipher) -> &'static str {
    word_of(&Some(cipher), CIPHERS)
}

/// Returns the word by which a property names a key derivation.
pub fn derivation_word(derivation: Derivation) -> &'static str {
    word_of(&Some(derivation), DERIVATIONS)
}

fn wrong(name: &str, text: &str, wanted: &str) -> String {
    format!("{PREFIX}{name} is `{text}`; it must be {wanted}")
}

fn word<T: Clone>(name: &str, text: &str, words: Words<T>) -> Result<T, String> {
    let found = words.iter().find(|(word, _)| word.eq_ignore_ascii_case(text.trim()));
    found.map(|(_, value)| value.clone()).ok_or_else(|| {
        let words: Vec<_> =
            words.iter().map(|(word, _)| *word).filter(|word| !word.is_empty()).collect();
        wrong(name, text, &format!("one of {}", words.join(", ")))
    })
}

fn flag(name: &str, text: &str) -> Result<bool, String> {
    text.trim().to_ascii_lowercase().parse().map_err(|_| wrong(name, text, "true or false"))
}

fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| wrong(name, text, "a whole number"))
}

fn tag(name: &str, text: &str, default: u8) -> Result<u8, String> {
    match hex::parse(text).as_deref() {
        Some([]) => Ok(default),
        Some([tag]) => Ok(*tag),
        _ => Err(wrong(name, text, "two hexadecimal digits")),
    }
}

fn vector(text: &str) -> Result<Vector, String> {
    match text.trim() {
        "zero" => Ok(Vector::Zero),
        "key" => Ok(Vector::Key),
        "derived" => Ok(Vector::Derived),
        "fresh" => Ok(Vector::Fresh),
        digits => {
            let bytes = hex::parse(digits).and_then(|bytes| bytes.try_into().ok());
            let words = "one of zero, key, derived, fresh, or 32 hexadecimal digits";
            bytes.map(Vector::Fixed).ok_or_else(|| wrong("iv", text, words))
        }
    }
}

fn ephemeral(text: &str) -> Result<Ephemeral, String> {
    match text.trim() {
        "fresh" => Ok(Ephemeral::Fresh),
        "once" => Ok(Ephemeral::Once),
        digits => {
            let bytes = hex::parse(digits).and_then(|bytes| bytes.try_into().ok());
            // The error message does not show the ephemeral secret.
            let words = format!("{PREFIX}ephemeral must be fresh, once, or 64 hexadecimal digits");
            bytes.map(Ephemeral::Fixed).ok_or(words)
        }
    }
}

fn headers(text: &str) -> Result<Vec<(String, String)>, String> {
    let lines = text.split(',').map(str::trim).filter(|line| !line.is_empty() && *line != "none");
    let fits = |text: &str| text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let line = |line: &str| match line.split_once(':') {
        Some((name, value)) if fits(line) => Ok((name.trim().into(), value.trim().into())),
        _ => Err(wrong("encrypt.headers", text, "comma-separated `Name: value` pairs, or none")),
    };
    lines.map(line).collect()
}
