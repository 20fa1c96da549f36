//! Key stores from Java, OpenSSL and Bouncy Castle (`tests/keystores/make`), and malformed ones.

use super::*;
use crate::tls::Identity;

macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("../../../tests/keystores/", $name)).as_slice()
    };
}

/// Returns the key names of a key store file, in the order in which Java enumerates them.
fn order(file: &str) -> Vec<&'static str> {
    let all = include_str!("../../../tests/keystores/order.txt");
    let line = all.lines().find_map(|line| line.strip_prefix(file)).unwrap();
    line.split_whitespace().collect()
}

fn aliases(store: &KeyStore) -> Vec<&str> {
    store.keys.iter().map(|entry| &*entry.alias).collect()
}

#[test]
fn keys_stand_in_the_order_of_java() {
    for (name, bytes) in [
        ("many.jks", file!("many.jks")),
        ("many.p12", file!("many.p12")),
        ("modern.p12", file!("modern.p12")),
        ("legacy.p12", file!("legacy.p12")),
        ("old.p12", file!("old.p12")),
        ("bouncy.p12", file!("bouncy.p12")),
    ] {
        let store = read(bytes, Some("secret")).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(aliases(&store), order(name), "{name}");
        for entry in &store.keys {
            assert_eq!(entry.chain.len(), 1);
            Identity::new(entry).unwrap();
        }
    }
}

#[test]
fn pem_holds_keys_and_what_is_trusted() {
    let store = read(file!("plain.pem"), None).unwrap();
    assert_eq!(aliases(&store), ["1"]);
    Identity::new(&store.keys[0]).unwrap();
    let store = read(file!("anna.pem"), None).unwrap();
    assert!(store.keys.is_empty());
    assert_eq!(store.trusted.len(), 1);
    let twice = [file!("plain.pem"), file!("plain.pem"), file!("anna.pem")].concat();
    let store = read(&twice, None).unwrap();
    assert_eq!(store.keys.iter().map(|entry| entry.chain.len()).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn trusted_certificates_are_the_same_in_every_format() {
    let trusted = |bytes, password| read(bytes, password).unwrap().trusted;
    let anna = trusted(file!("anna.pem"), None);
    assert_eq!(trusted(file!("trust.jks"), Some("secret")), anna);
    assert_eq!(trusted(file!("trust.jks"), None), anna);
    assert_eq!(trusted(file!("trust.p12"), Some("secret")), anna);
}

#[test]
fn a_wrong_password_is_named() {
    for bytes in [
        file!("many.jks"),
        file!("many.p12"),
        file!("modern.p12"),
        file!("legacy.p12"),
        file!("old.p12"),
        file!("bouncy.p12"),
        file!("empty.p12"),
    ] {
        assert_eq!(read(bytes, Some("Secret")).unwrap_err(), KeyStoreError::Password);
    }
    assert_eq!(read(file!("many.jks"), None).unwrap_err(), KeyStoreError::Password);
}

/// Reads files from OpenSSL that contain the same key and certificate in different encryptions.
#[test]
fn encryptions_hide_the_same() {
    let plain = read(file!("plain.pem"), None).unwrap();
    for (bytes, password) in [
        (file!("modern.p12"), Some("secret")),
        (file!("legacy.p12"), Some("secret")),
        (file!("old.p12"), Some("secret")),
        (file!("open.p12"), Some("anything")),
        (file!("empty.p12"), Some("")),
        (file!("empty.p12"), None),
    ] {
        let store = read(bytes, password).unwrap();
        assert_eq!(store.keys[0].key, plain.keys[0].key);
        assert_eq!(store.keys[0].chain, plain.keys[0].chain);
    }
}

/// Reads files whose BER values have indefinite lengths and segmented octet strings. The key stores must be the same.
#[test]
fn a_file_is_the_same_in_other_rules() {
    let plain = read(file!("plain.pem"), None).unwrap();
    for bytes in [file!("modern.p12"), file!("legacy.p12"), file!("old.p12")] {
        let store = read(&in_pieces(bytes), Some("secret")).unwrap();
        assert_eq!(store.keys[0].key, plain.keys[0].key);
        assert_eq!(store.keys[0].chain, plain.keys[0].chain);
    }
}

/// Encodes BER values anew: with indefinite lengths, and with octet strings in segments of 100 octets.
fn in_pieces(bytes: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    for value in ber::Reader::new(bytes) {
        let value = value.unwrap();
        if value.tag & 0x20 != 0 {
            all.extend([value.tag, 0x80]);
            all.extend(in_pieces(value.content));
            all.extend([0, 0]);
        } else if value.tag == ber::OCTETS || value.tag == 0x80 {
            all.extend([value.tag | 0x20, 0x80]);
            for piece in value.content.chunks(100) {
                all.extend([ber::OCTETS, u8::try_from(piece.len()).unwrap()]);
                all.extend(piece);
            }
            all.extend([0, 0]);
        } else {
            all.extend(value.whole);
        }
    }
    all
}

/// Checks that the issuer of a certificate is found by its name even if the string types of the names differ.
#[test]
fn a_chain_is_followed_by_names() {
    let key = || rcgen::KeyPair::generate().unwrap();
    let named = |text: rcgen::DnValue| {
        let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(rcgen::DnType::CommonName, text);
        params
    };
    let root = named(rcgen::DnValue::Utf8String("Root".into()));
    let root_key = key();
    let root_cert = root.self_signed(&root_key).unwrap();
    // The same issuer name of a certificate in another string type.
    let printable = rcgen::DnValue::PrintableString("ROOT".try_into().unwrap());
    let issuer = rcgen::Issuer::new(named(printable), root_key);
    let leaf_key = key();
    let leaf = named(rcgen::DnValue::Utf8String("leaf".into()));
    let leaf_cert = leaf.signed_by(&leaf_key, &issuer).unwrap();
    let file = open_file(&leaf_key.serialize_der(), &[root_cert.der(), leaf_cert.der()]);
    let store = read(&file, None).unwrap();
    assert_eq!(store.keys[0].chain, [leaf_cert.der().clone(), root_cert.der().clone()]);
    assert_eq!(store.keys[0].alias, "ab");
}

/// Builds a PKCS#12 file without encryption, with a key that belongs to the last certificate.
fn open_file(key: &[u8], certs: &[&[u8]]) -> Vec<u8> {
    fn value(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
        let content = parts.concat();
        [&[tag, 0x82], &u16::try_from(content.len()).unwrap().to_be_bytes()[..], &content].concat()
    }
    fn oid(parts: &[u8]) -> Vec<u8> {
        value(6, &[&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D], parts])
    }
    let id = value(0x30, &[&oid(&[1, 9, 21]), &value(0x31, &[&value(4, &[&[1]])])]);
    let name =
        value(0x30, &[&oid(&[1, 9, 20]), &value(0x31, &[&value(0x1E, &[&[0, b'A', 0, b'b']])])]);
    let mut bags =
        value(0x30, &[&oid(&[1, 12, 10, 1, 1]), &value(0xA0, &[key]), &value(0x31, &[&name, &id])]);
    for (at, cert) in certs.iter().enumerate() {
        let held = value(0x30, &[&oid(&[1, 9, 22, 1]), &value(0xA0, &[&value(4, &[cert])])]);
        let own = at + 1 == certs.len();
        let marks = if own { value(0x31, &[&id]) } else { Vec::new() };
        let bag = value(0x30, &[&oid(&[1, 12, 10, 1, 3]), &value(0xA0, &[&held]), &marks]);
        bags.extend(bag);
    }
    let data =
        |content: &[u8]| value(0x30, &[&oid(&[1, 7, 1]), &value(0xA0, &[&value(4, &[content])])]);
    let safe = data(&value(0x30, &[&bags]));
    value(0x30, &[&[2, 1, 3], &data(&value(0x30, &[&safe]))])
}

#[test]
fn too_many_rounds_are_refused() {
    // The last integer of a PKCS#12 file with a `MacData` is its number of rounds: 2048.
    let mut bytes = file!("modern.p12").to_vec();
    let at = bytes.len() - 4;
    assert_eq!(bytes[at..], [2, 2, 8, 0]);
    bytes[at + 2..].copy_from_slice(&[0, 0]);
    assert_eq!(read(&bytes, Some("secret")).unwrap_err(), KeyStoreError::Malformed);
}

#[test]
fn changed_files_never_panic() {
    // A PKCS#12 file without `MacData`, because a `MacData` would reject nearly all of these changes.
    let mut bytes = file!("open.p12").to_vec();
    for at in 0..bytes.len() {
        for change in [0x01, 0x20, 0x80, 0xFF] {
            bytes[at] ^= change;
            let _ = read(&bytes, Some("secret"));
            bytes[at] ^= change;
        }
    }
}

#[test]
fn broken_files_are_errors() {
    for bytes in [
        file!("many.jks"),
        file!("trust.jks"),
        file!("many.p12"),
        file!("open.p12"),
        file!("bouncy.p12"),
        file!("plain.pem"),
    ] {
        for length in (0..bytes.len()).step_by(7) {
            assert!(read(&bytes[..length], Some("secret")).is_err());
            // Without a password, changes of a key store file are not detected.
            let _ = read(&bytes[..length], None);
        }
    }
    assert_eq!(read(b"nothing", None).unwrap_err(), KeyStoreError::UnknownFormat);
    assert_eq!(read(&[0xCE; 40], None).unwrap_err(), KeyStoreError::Jceks);
    let encrypted =
        b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    assert_eq!(read(encrypted, None).unwrap_err(), KeyStoreError::Encryption);
}
