//! The options of `mgs`, as `throng target` lists them.

use crate::catalogue::{OptionInfo, option};
use crate::config::{Config, bad};
use crate::error::Error;

pub(crate) const OPTIONS: &[OptionInfo] = &[
    option("path", "/mgw.htm", "path of the gateway; others get 404"),
    option("app", "", "the one AppId that there is; empty: any"),
    option("workspace", "", "the one WorkspaceId that there is; empty: any"),
    option("operations", "", "the Operation-Types that there are, with commas; empty: any"),
    option("session", "", "header or cookie without which a user is not logged in; empty: none"),
    option("header", "", "another name of a header, `Sign=X-Sign`; may be given several times"),
    // Options of the gateway's signature.
    option(
        "digest",
        "md5",
        "of the signature: md5, sha256, hmac-sha256, sm3, or none to check none",
    ),
    option("secret", "secret", "what client and gateway share"),
    option("join", "prefix", "where the secret stands: prefix, suffix or none (nowhere)"),
    option("encoding", "hex", "of the signature in its header: hex, hex-upper or base64"),
    option(
        "between",
        "",
        "between secret and content; as a rule & after a prefix, nothing before a suffix",
    ),
    option("signed", "plain", "the bytes that are signed: plain, or sent (as they are encrypted)"),
    option("sign_type", "", "the signType that requests must have; empty: any"),
    option("window", "10", "minutes by which a time stamp may differ; 0: any"),
    option(
        "clock",
        "0",
        "time of the gateway's clock, milliseconds since 1970, for recorded requests; 0: now",
    ),
    // Options of the gateway's encryption.
    option("encryption", "optional", "of requests: optional, required or never"),
    option("answers", "same", "to encrypted requests: same (encrypted) or plain"),
    option(
        "key",
        "",
        "private key as PEM (RSA, secp256k1 or SM2) in place of the built-in one of its kind; may be given several times",
    ),
    option("rsa", "pkcs1", "padding: pkcs1, oaep-sha1, oaep-sha256 or oaep-sha256-mgf1-sha1"),
    option("sm2", "c1c3c2", "order in an SM2 ciphertext: c1c3c2 or c1c2c3"),
    option(
        "kdf",
        "",
        "key of a shared point: x, md5, sha256, sm3, x963-sha256, x963-sm3 or hkdf-sha256; as a rule sha256, with SM2 sm3",
    ),
    option("shared", "x", "what of the shared point the key is derived from: x or xy"),
    option("aes", "128", "bits of an AES key: 128 or 256"),
    option(
        "iv",
        "00000000000000000000000000000000",
        "32 hexadecimal digits, derived (behind the key), key (its first bytes) or sent (before the ciphertext)",
    ),
    option("gzip", "true", "plain text is compressed before it is encrypted"),
    option("tag_rsa", "01", "first byte of the envelope: the key is RSA's"),
    option("tag_ecc", "02", "… a point of secp256k1"),
    option("tag_sm2", "03", "… a point of SM2's curve, or a key that SM2 encrypted"),
    option("tag_aes", "0f", "byte before the ciphertext: AES in CBC mode"),
    option("tag_sm4", "0d", "… SM4 in CBC mode"),
    option("limit", "1048576", "bytes of a request, at most"),
    option("inflated", "8388608", "bytes of a body once decompressed, at most"),
    // Options of the gateway's limits and faults.
    option("users", "0", "requests at once, above which they get 1002; 0: none"),
    option("rate", "0", "requests a second, above which they get 1002; 0: none"),
    option("burst", "20", "requests at once after a pause, where there is a rate"),
    option(
        "workers",
        "0",
        "requests that are verified and decrypted at once; the rest wait; 0: all",
    ),
    option("burn", "0", "milliseconds of processor time that each costs beyond cryptography"),
    option("connections", "10000", "further connections are reset"),
    option(
        "fail",
        "",
        "`CODE:SHARE` of requests that get this result code; may be given several times",
    ),
    option("seed", "1", "start of the random sequence"),
    // Options of the gateway's backends.
    option("upstream", "", "backends, HOST:PORT with commas; empty: the gateway answers itself"),
    option("backends", "1", "backends that it then stands for; X-Served-By names the one"),
    option(
        "pin",
        "turn",
        "backend of a request: turn, ip (by the client's address) or ip_hash (as nginx: by its first three bytes)",
    ),
    option("forwarded", "false", "the client's address is the first of X-Forwarded-For"),
    option(
        "keepalive",
        "8",
        "idle connections kept to each backend; 0: a new one for each request",
    ),
    option("patience", "3000", "milliseconds for a backend's answer; then 4001"),
    option("ms", "0", "milliseconds for which a backend of its own works"),
    option("size", "20", "bytes of data in its answer"),
    option("body", "json", "its answer: json, or echo (the request's plain body)"),
];

/// Reads an option of the gateway whose value is one of several words.
pub(super) fn choice<T: Copy>(
    config: &Config,
    key: &str,
    words: &[(&str, T)],
    default: T,
) -> Result<T, Error> {
    let Some(text) = config.text(key) else { return Ok(default) };
    let found = words.iter().find(|(word, _)| *word == text);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        bad(key, text, format!("there are {}", known.join(", ")))
    })
}

/// Reads an option that is a byte in two hexadecimal digits.
pub(super) fn byte(config: &Config, key: &str, default: u8) -> Result<u8, Error> {
    let Some(text) = config.text(key) else { return Ok(default) };
    let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u8::from_str_radix(text, 16).ok().filter(|_| digits);
    number.ok_or_else(|| bad(key, text, "two hexadecimal digits are wanted"))
}

/// Returns an option of the gateway that is set and not empty.
pub(super) fn filled<'a>(config: &'a Config, key: &str) -> Option<&'a str> {
    config.text(key).filter(|text| !text.is_empty())
}

/// Returns the comma-separated words of all values of an option.
pub(super) fn list(config: &Config, key: &str) -> Vec<String> {
    let words = config.all(key).flat_map(|text| text.split(','));
    words.map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}
