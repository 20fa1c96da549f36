//! Error messages for a string that is not the expected public key: the messages say what the string is instead.

use k256::pkcs8::spki::SubjectPublicKeyInfoRef;

use crate::hex;

/// Algorithms and curves of public keys by object identifier.
const KINDS: [(&str, &str); 9] = [
    ("1.2.840.113549.1.1.1", "RSA"),
    ("1.3.132.0.10", "secp256k1"),
    ("1.2.156.10197.1.301", "SM2"),
    ("1.2.840.10045.3.1.7", "P-256 (prime256v1)"),
    ("1.3.132.0.34", "P-384"),
    ("1.3.132.0.35", "P-521"),
    ("1.3.101.110", "X25519"),
    ("1.3.101.112", "Ed25519"),
    ("1.2.840.10040.4.1", "DSA"),
];

/// Returns the reason why `text` is not a key of the kind `wanted`, a name in [`KINDS`]. The message contains no part
/// of `text`.
pub(crate) fn reason(text: &str, wanted: &str) -> String {
    for (mark, words) in [
        (
            "BEGIN CERTIFICATE",
            "it is a certificate; print its public key with `openssl x509 -pubkey -noout -in FILE`",
        ),
        (
            "BEGIN RSA PUBLIC KEY",
            "it is a PKCS #1 key; convert it to BEGIN PUBLIC KEY with `openssl rsa -RSAPublicKey_in -pubout -in FILE`",
        ),
        ("ssh-", "it is an SSH key"),
    ] {
        if text.contains(mark) {
            return words.into();
        }
    }
    let pem = body_of_pem(text);
    let Some(der) = hex::from_base64(pem.unwrap_or(text)).filter(|der| !der.is_empty()) else {
        return if text.contains("-----BEGIN") {
            "its PEM is truncated or damaged: expected base64 between BEGIN PUBLIC KEY and END PUBLIC KEY"
        } else {
            "expected PEM (BEGIN PUBLIC KEY), the base64 of its content, or a curve point in hexadecimal digits"
        }
        .into();
    };
    match kind(&der) {
        Some(kind) if kind == wanted && kind == "RSA" => {
            "it is damaged, or its length is not between 1024 and 8192 bits".into()
        }
        Some(kind) if kind == wanted => "it is damaged, or its point is not on the curve".into(),
        Some(kind) => format!("its type is {kind}"),
        None => "it is not a public key, or it is damaged".into(),
    }
}

/// Returns the base64 between the first and the last line of PEM.
fn body_of_pem(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("-----BEGIN ")?.1.split_once("-----")?;
    Some(rest.split_once("-----END ")?.0)
}

/// Returns the kind of a public key in DER.
fn kind(der: &[u8]) -> Option<&'static str> {
    let key = SubjectPublicKeyInfoRef::try_from(der).ok()?;
    let curve = key.algorithm.parameters_oid().ok();
    let ids = [curve, Some(key.algorithm.oid)].into_iter().flatten();
    ids.map(|id| id.to_string())
        .find_map(|id| KINDS.iter().find(|(known, _)| *known == id).map(|(_, kind)| *kind))
        .or(Some("unknown"))
}
