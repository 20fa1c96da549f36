//! Test vectors of the project Wycheproof: edge cases of curves, invalid paddings, keys of other curves.
//!
//! Sealing uses random numbers, so its output has no expected value. Tests cover this output by decrypting it.

use mgs::recipient::{Recipient, Transport, decrypted_secret};
use mgs::{BlockKey, Cipher, hex};

struct Vector {
    kind: &'static str,
    number: &'static str,
    key: Vec<u8>,
    input: Vec<u8>,
    /// Expected output of the test vector; `None` if its input must be rejected.
    output: Option<Vec<u8>>,
}

fn vectors(kind: &str) -> Vec<Vector> {
    let bytes = |digits: &str| hex::parse(digits).expect("digits");
    let lines = include_str!("wycheproof.txt").lines().filter(|line| !line.starts_with('#'));
    let vectors = lines.map(|line| {
        let mut fields = line.split('\t');
        let mut next = || fields.next().unwrap_or_default();
        let (kind, number, key, input, output) = (next(), next(), next(), next(), next());
        let output = (output != "!").then(|| bytes(output));
        Vector { kind, number, key: bytes(key), input: bytes(input), output }
    });
    vectors.filter(|vector| vector.kind == kind).collect()
}

#[test]
fn aes_in_cbc_mode_refuses_wrong_paddings() {
    let vectors = vectors("aes");
    assert!(vectors.iter().any(|vector| vector.output.is_none()));
    for Vector { number, key, input, output, .. } in vectors {
        let (key, iv) = key.split_at(key.len() - 16);
        let cipher = if key.len() == 32 { Cipher::Aes256 } else { Cipher::Aes128 };
        let mut all = [0; 32];
        all[..key.len()].copy_from_slice(key);
        let key = BlockKey { cipher, key: all, iv: iv.try_into().expect("16 bytes") };
        let mut text = input.clone();
        let plain = key.decrypt(&mut text).map(|length| &text[..length]);
        assert_eq!(plain, output.as_deref(), "{number}");
        if let Some(mut plain) = output {
            key.encrypt(0, &mut plain);
            assert_eq!(plain, input, "{number}");
        }
    }
}

#[test]
fn agreement_over_secp256k1_refuses_points_that_are_not_on_it() {
    use base64::Engine;
    let vectors = vectors("ecdh");
    assert!(vectors.iter().any(|vector| vector.output.is_none()));
    for Vector { number, key, input, output, .. } in vectors {
        // The public key in base64 of its DER, as in the setting.
        let text = base64::engine::general_purpose::STANDARD.encode(&input);
        let agreed = Recipient::read(Transport::Ecc, &text).and_then(|recipient| {
            let private = [&key[..], &[0; 16]].concat().try_into().expect("48 bytes");
            recipient.transport(&private, 16, &mut Vec::new())
        });
        let agreed = agreed.map(|material| material.as_bytes().to_vec());
        match output {
            Some(secret) => assert_eq!(agreed, Ok(secret), "{number}"),
            None => assert!(agreed.is_err_and(|words| words.contains("not a point")), "{number}"),
        }
    }
}

#[test]
fn rsa_refuses_wrong_paddings() {
    for (kind, transport) in [
        ("rsa", Transport::RsaPkcs1),
        ("rsa-oaep-sha1", Transport::RsaOaepSha1),
        ("rsa-oaep-sha256", Transport::RsaOaepSha256),
    ] {
        let mut vectors = vectors(kind).into_iter();
        let private = vectors.next().expect("a key").key;
        let rest: Vec<_> = vectors.collect();
        assert!(rest.iter().any(|vector| vector.output.is_none()));
        for Vector { number, input, output, .. } in rest {
            let found = decrypted_secret(transport, &private, &input);
            match output {
                // For an invalid PKCS #1 padding, the library returns random bytes, so that an attacker learns nothing.
                None if kind == "rsa" => assert_ne!(found, Some(b"Test".to_vec()), "{number}"),
                output => assert_eq!(found, output, "{kind} {number}"),
            }
        }
    }
}
