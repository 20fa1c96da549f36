//! `__digest`: the algorithms of Java's `MessageDigest`.

use std::fmt::Write;

use md5::Digest;

use super::{Call, Level, is_true};
use crate::env::Env;
use crate::template::Outcome;

/// Runs `__digest(algorithm, text, salt, upper case, variable)`; the value is hexadecimal.
pub(super) fn digest(call: &Call, env: &mut Env<'_>, out: &mut String) -> Outcome {
    let start = out.len();
    let (algorithm, text, salt) = (call.arg(0, env)?, call.arg(1, env)?, call.arg(2, env)?);
    let known = hash(&algorithm, [&text, &salt], out);
    if !known {
        env.shared.log(Level::Error, format!("{algorithm} MessageDigest not available"));
        out.push_str("null");
    }
    for buffer in [algorithm, text, salt] {
        env.core.give(buffer);
    }
    if !known {
        return Ok(());
    }
    let upper = call.arg(3, env)?;
    if is_true(&upper) {
        out[start..].make_ascii_uppercase();
    }
    env.core.give(upper);
    call.store(4, env, &out[start..])
}

/// Appends the hash of the parts; false if the algorithm is unknown.
fn hash(algorithm: &str, parts: [&str; 2], out: &mut String) -> bool {
    type Hash = fn([&str; 2], &mut String);
    let table: [(&str, Hash); 21] = [
        ("MD2", of::<md2::Md2>),
        ("MD5", of::<md5::Md5>),
        ("SHA", of::<sha1::Sha1>),
        ("SHA1", of::<sha1::Sha1>),
        ("SHA-1", of::<sha1::Sha1>),
        ("SHA-224", of::<sha2::Sha224>),
        ("SHA224", of::<sha2::Sha224>),
        ("SHA-256", of::<sha2::Sha256>),
        ("SHA256", of::<sha2::Sha256>),
        ("SHA-384", of::<sha2::Sha384>),
        ("SHA384", of::<sha2::Sha384>),
        ("SHA-512", of::<sha2::Sha512>),
        ("SHA512", of::<sha2::Sha512>),
        ("SHA-512/224", of::<sha2::Sha512_224>),
        ("SHA512/224", of::<sha2::Sha512_224>),
        ("SHA-512/256", of::<sha2::Sha512_256>),
        ("SHA512/256", of::<sha2::Sha512_256>),
        ("SHA3-224", of::<sha3::Sha3_224>),
        ("SHA3-256", of::<sha3::Sha3_256>),
        ("SHA3-384", of::<sha3::Sha3_384>),
        ("SHA3-512", of::<sha3::Sha3_512>),
    ];
    let found = table.iter().find(|(name, _)| name.eq_ignore_ascii_case(algorithm));
    found.inspect(|(_, hash)| hash(parts, out)).is_some()
}

fn of<D: Digest>(parts: [&str; 2], out: &mut String) {
    let mut digest = D::new();
    for part in parts {
        digest.update(part);
    }
    for byte in digest.finalize() {
        let _ = write!(out, "{byte:02x}");
    }
}
