//! Digest authentication (RFC 2617) with the choices of HttpClient 4.5.14: `auth-int` if the method may have a body and
//! the server offers it, a request count per nonce, and MD5 if no algorithm is named.

use std::fmt::Write;

use super::{Challenge, Credentials, Message};

/// State of Digest authentication with a server: the latest challenge, and the number of uses of its nonce.
#[derive(Clone, Debug, Default)]
pub struct Digest {
    challenge: Challenge,
    pub(super) last_nonce: Option<String>,
    /// Number of requests that were answered with the current nonce.
    uses: u32,
    pub(super) cnonce: String,
}

/// The part of the request that a Digest answer protects (`qop`).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Protection {
    /// No `qop` in the challenge, as before RFC 2617: the answer has no request count and no client nonce.
    Old,
    Auth,
    AuthInt,
}

impl Protection {
    fn word(self) -> &'static str {
        if self == Self::AuthInt { "auth-int" } else { "auth" }
    }
}

impl Digest {
    /// Stores a new challenge. Returns true if the server says that only the nonce was stale, so the credentials may be
    /// right. Fails if the challenge has no parameters.
    pub(super) fn told(&mut self, challenge: &Challenge) -> Result<bool, ()> {
        if challenge.is_bare() {
            return Err(());
        }
        self.challenge = challenge.clone();
        Ok(challenge.get("stale").is_some_and(|stale| stale.eq_ignore_ascii_case("true")))
    }

    /// Appends the value of the Digest header. Returns false if the challenge asks for something that is not supported.
    pub(super) fn write(
        &mut self,
        credentials: &Credentials,
        message: &Message<'_>,
        out: &mut Vec<u8>,
    ) -> bool {
        let told = &self.challenge;
        let (Some(realm), Some(nonce)) = (told.get("realm"), told.get("nonce")) else {
            return false;
        };
        let Some(covers) = covers(told.get("qop"), message) else { return false };
        let algorithm = told.get("algorithm").unwrap_or("MD5");
        let session = algorithm.eq_ignore_ascii_case("MD5-sess");
        let Some(hash) = hash(if session { "MD5" } else { algorithm }) else { return false };
        if self.last_nonce.as_deref() == Some(nonce) {
            self.uses += 1;
        } else {
            (self.uses, self.last_nonce) = (1, Some(nonce.to_owned()));
            self.cnonce = hex(&message.random);
        }
        let (cnonce, count) = (&self.cnonce, format!("{:08x}", self.uses));
        let bytes = |text: &str| in_charset(text, told.get("charset"));
        let Credentials { user, password } = credentials;
        let mut secret = format!("{user}:{realm}:{password}");
        if session {
            secret = format!("{}:{nonce}:{cnonce}", hash(&bytes(&secret)));
        }
        let secret = hash(&bytes(&secret));
        let mut request = format!("{}:{}", message.method, message.uri);
        if covers == Protection::AuthInt {
            let _ = write!(request, ":{}", hash(message.body.unwrap_or_default()));
        }
        let request = hash(&bytes(&request));
        let response = if covers == Protection::Old {
            hash(format!("{secret}:{nonce}:{request}").as_bytes())
        } else {
            let word = covers.word();
            let all = format!("{secret}:{nonce}:{count}:{cnonce}:{word}:{request}");
            hash(&in_charset(&all, None))
        };
        out.extend_from_slice(b"Digest ");
        put("username", user, true, out);
        for (name, value) in
            [("realm", realm), ("nonce", nonce), ("uri", message.uri), ("response", &response)]
        {
            put(name, value, true, out);
        }
        if covers != Protection::Old {
            put("qop", covers.word(), false, out);
            put("nc", &count, false, out);
            put("cnonce", cnonce, true, out);
        }
        put("algorithm", algorithm, false, out);
        if let Some(opaque) = told.get("opaque") {
            put("opaque", opaque, true, out);
        }
        true
    }
}

/// Chooses the strongest supported `qop` that the server offers; [`Protection::Old`] if the server offers no `qop`,
/// `None` if it offers only unsupported values.
fn covers(offered: Option<&str>, message: &Message<'_>) -> Option<Protection> {
    let Some(offered) = offered else { return Some(Protection::Old) };
    let offers = |word: &str| offered.split(',').any(|one| one.trim().eq_ignore_ascii_case(word));
    if message.body.is_some() && offers("auth-int") {
        Some(Protection::AuthInt)
    } else {
        offers("auth").then_some(Protection::Auth)
    }
}

/// Appends a parameter of the Digest header. A value with a separator is quoted even if `quoted` is false.
fn put(name: &str, value: &str, quoted: bool, out: &mut Vec<u8>) {
    if !out.ends_with(b"Digest ") {
        out.extend_from_slice(b", ");
    }
    out.extend_from_slice(name.as_bytes());
    out.push(b'=');
    let separator = |c: char| " ;,:@()<>\\\"/[]?={}\t".contains(c);
    let quoted = quoted || value.contains(separator);
    if quoted {
        out.push(b'"');
    }
    for c in value.chars() {
        if matches!(c, '"' | '\\') {
            out.push(b'\\');
        }
        out.push(match c {
            ' '..='~' | '\u{a0}'..='\u{ff}' | '\t' => u8::try_from(c).unwrap_or(b'?'),
            _ => b'?',
        });
    }
    if quoted {
        out.push(b'"');
    }
}

/// Returns the function for a hash algorithm, which returns hexadecimal digits. Accepts the algorithm names that Java
/// accepts.
fn hash(algorithm: &str) -> Option<impl Fn(&[u8]) -> String> {
    use aws_lc_rs::digest as sha;
    let sha = match algorithm.to_ascii_uppercase().as_str() {
        "MD5" => None,
        "SHA" | "SHA1" | "SHA-1" => Some(&sha::SHA1_FOR_LEGACY_USE_ONLY),
        "SHA-224" | "SHA224" => Some(&sha::SHA224),
        "SHA-256" | "SHA256" => Some(&sha::SHA256),
        "SHA-384" | "SHA384" => Some(&sha::SHA384),
        "SHA-512" | "SHA512" => Some(&sha::SHA512),
        "SHA-512/256" | "SHA512/256" => Some(&sha::SHA512_256),
        "SHA3-256" => Some(&sha::SHA3_256),
        "SHA3-384" => Some(&sha::SHA3_384),
        "SHA3-512" => Some(&sha::SHA3_512),
        _ => return None,
    };
    Some(move |bytes: &[u8]| match sha {
        None => hex(&<md5::Md5 as md5::Digest>::digest(bytes)),
        Some(algorithm) => hex(sha::digest(algorithm, bytes).as_ref()),
    })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Encodes text for hashing: in ASCII by default, else in the charset that the server names, or UTF-8 if that charset
/// is unknown.
fn in_charset(text: &str, charset: Option<&str>) -> Vec<u8> {
    let plain = |limit: u32| {
        text.chars().map(|c| if u32::from(c) < limit { c as u8 } else { b'?' }).collect()
    };
    match charset.map(str::to_ascii_uppercase).as_deref() {
        None | Some("US-ASCII" | "ASCII") => plain(0x80),
        Some("ISO-8859-1" | "ISO8859_1" | "LATIN1") => plain(0x100),
        Some(_) => text.as_bytes().to_vec(),
    }
}
