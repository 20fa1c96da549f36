//! Key stores made by Java and OpenSSL (`tests/keystores/make`), and broken ones.

use super::*;
use crate::tls::Identity;

macro_rules! file {
    ($name:literal) => {
        include_bytes!(concat!("../../../tests/keystores/", $name)).as_slice()
    };
}

/// The names in a file as Java lists them, in its order.
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
    ] {
        let store = read(bytes, Some("secret")).unwrap();
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
    for bytes in [file!("many.jks"), file!("many.p12"), file!("modern.p12"), file!("legacy.p12")] {
        assert_eq!(read(bytes, Some("Secret")).unwrap_err(), KeyStoreError::Password);
    }
    assert_eq!(read(file!("many.jks"), None).unwrap_err(), KeyStoreError::Password);
}

#[test]
fn broken_files_are_errors() {
    for bytes in [file!("many.jks"), file!("trust.jks"), file!("many.p12"), file!("plain.pem")] {
        for length in (0..bytes.len()).step_by(7) {
            assert!(read(&bytes[..length], Some("secret")).is_err());
            // Without a password nothing says that it was changed.
            let _ = read(&bytes[..length], None);
        }
    }
    assert_eq!(read(b"nothing", None).unwrap_err(), KeyStoreError::UnknownFormat);
    assert_eq!(read(&[0xCE; 40], None).unwrap_err(), KeyStoreError::Jceks);
    let encrypted =
        b"-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    assert_eq!(read(encrypted, None).unwrap_err(), KeyStoreError::Encryption);
}
