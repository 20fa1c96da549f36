//! A request sealed for a gateway's public key is decrypted with the private key. A search finds the settings used.
//! Invalid keys and settings get error messages.

use mgs::recipient::{self, Transport, private_key};
use mgs::search::{Captured, Found, search};
use mgs::{Sealed, Sealer, Settings, envelope};
use proptest::prelude::*;

const OPERATION: &str = "com.example.login";
const NOW: u64 = 1_662_430_824_846;

fn file(name: &str) -> String {
    let path = format!("{}/tests/keys/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).expect(&path)
}

fn settings(pairs: &[(&str, &str)]) -> Result<Settings, String> {
    let value = |name: &str| {
        pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_string())
    };
    Settings::read(value).map(|settings| settings.expect("enabled"))
}

fn sealer(pairs: &[(&str, &str)]) -> Result<Sealer, String> {
    Sealer::new(settings(pairs)?, 1)
}

fn seal(sealer: &mut Sealer, body: &[u8], now: u64) -> Sealed {
    let mut sealed = Sealed::default();
    sealer.seal(OPERATION, body, now, &mut sealed).expect("seals");
    sealed
}

fn captured(sealed: Sealed, body: &[u8], private: &str) -> Captured {
    Captured {
        operation: OPERATION.into(),
        body: body.to_vec(),
        stamp: sealed.stamp,
        sign: Some(sealed.sign),
        secrets: vec![b"wrong".to_vec(), b"s3cret".to_vec()],
        sent: Some(sealed.body),
        private_key: Some(private_key(private).expect("a key")),
        ..Captured::default()
    }
}

fn has(found: &Found, wanted: &[(&str, &str)]) -> bool {
    let is = |way: &Vec<(&str, String)>, (name, value): &(&str, &str)| {
        way.iter().any(|(known, other)| known == name && other == value)
    };
    found.encryption.iter().any(|way| wanted.iter().all(|pair| is(way, pair)))
}

/// Checks for every transport, cipher and vector that a search finds the settings from the request and the gateway's
/// private key.
#[test]
fn a_search_finds_the_settings_that_sealed() {
    let keys = [
        ("rsa", "rsa2048"),
        ("rsa-oaep-sha1", "rsa2048"),
        ("rsa-oaep-sha256", "rsa2048"),
        ("rsa", "rsa1024"),
        ("rsa-oaep-sha1", "rsa1024"),
        ("ecc", "ecc"),
        ("sm2", "sm2"),
        ("sm2-encrypted", "sm2"),
    ];
    let body = br#"[{"_requestBody":"{\"user\":\"u1\",\"amount\":12.50}"}]"#;
    for (n, (encrypt, name)) in keys.into_iter().enumerate() {
        let (public, private) = (file(&format!("{name}.pub.pem")), file(&format!("{name}.pem")));
        let cipher = ["aes-128", "aes-256", "sm4"][n % 3];
        let iv = ["zero", "key", "derived", "fresh", "0102030405060708090a0b0c0d0e0f10"][n % 5];
        let derive = ["x", "sha256", "sm3", "x963-sha256", "x963-sm3", "md5"][n % 6];
        let sign = ["md5", "sha256", "hmac-sha256", "sm3"][n % 4];
        let join = ["prefix", "suffix"][n % 2];
        let mut pairs = vec![
            ("encrypt", encrypt),
            ("public_key", &public),
            ("cipher", cipher),
            ("iv", iv),
            ("derive", derive),
            ("secret", "s3cret"),
        ];
        pairs.extend([("sign", sign), ("sign.join", join), ("tag.key", "41"), ("tag.body", "ff")]);
        let sealed = seal(&mut sealer(&pairs).expect("a sealer"), body, NOW);
        let found = search(&captured(sealed, body, &private));
        let mut wanted = vec![("cipher", cipher), ("iv", iv), ("encrypt", encrypt)];
        wanted.extend([("tag.key", "41"), ("tag.body", "ff")]);
        if matches!(encrypt, "ecc" | "sm2") {
            wanted.push(("derive", derive));
        }
        assert!(has(&found, &wanted), "{encrypt} {cipher} {iv} {derive}: {found:?}");
        assert_eq!(found.sign.len(), 1, "{sign} {join}: {found:?}");
        let [way] = &found.sign[..] else { unreachable!() };
        assert_eq!(way[0], ("sign", sign.to_string()));
        assert_eq!(way[2], ("secret", "s3cret".to_string()));
    }
}

#[test]
fn a_search_says_what_it_lacks() {
    let public = file("ecc.pub.pem");
    let pairs = [("encrypt", "ecc"), ("public_key", &*public), ("secret", "s3cret")];
    let sealed = seal(&mut sealer(&pairs).expect("a sealer"), b"[{}]", NOW);
    let without =
        Captured { private_key: None, ..captured(sealed.clone(), b"[{}]", &file("ecc.pem")) };
    let found = search(&without);
    assert!(
        found.encryption.is_empty() && found.notes.iter().any(|note| note.contains("private_key"))
    );
    let of_rsa = captured(sealed.clone(), b"[{}]", &file("rsa2048.pem"));
    let fits = |note: &String| note.contains("no given key fits");
    assert!(search(&of_rsa).notes.iter().any(fits), "a key of another kind");
    let other = Captured { body: b"[{ }]".to_vec(), ..captured(sealed, b"[{}]", &file("ecc.pem")) };
    let found = search(&other);
    assert!(found.sign.is_empty() && found.encryption.is_empty() && found.notes.len() >= 3);
}

#[test]
fn what_was_sealed_is_sent_again_within_its_window() {
    let public = file("ecc.pub.pem");
    let pairs =
        [("encrypt", "ecc"), ("public_key", &*public), ("cache.mb", "1"), ("cache.window_s", "10")];
    let mut sealer = sealer(&pairs).expect("a sealer");
    let first = seal(&mut sealer, b"[{}]", NOW);
    assert_eq!(seal(&mut sealer, b"[{}]", NOW + 9_999), first);
    assert_ne!(seal(&mut sealer, b"[{1}]", NOW).body, first.body);
    let later = seal(&mut sealer, b"[{}]", NOW + 10_000);
    assert_ne!(later.stamp, first.stamp);
    assert_ne!(later.body, first.body, "a fresh key");
    let counts = sealer.counts();
    assert_eq!((counts.hits, counts.misses, counts.evictions, counts.sealed), (1, 3, 0, 3));
    assert!(counts.saved_ns > 0 && counts.spent_ns > counts.saved_ns);
}

#[test]
fn a_cache_keeps_to_its_bytes_and_drops_what_was_not_used_longest() {
    let mut sealer = sealer(&[("cache.mb", "1")]).expect("a sealer");
    let body = |n: usize| format!("[{{{n}}}]{}", "x".repeat(10_000));
    for n in 0..200 {
        seal(&mut sealer, body(n).as_bytes(), NOW);
        // The first request is used all the time, so it is never evicted.
        seal(&mut sealer, body(0).as_bytes(), NOW);
    }
    let counts = sealer.counts();
    assert_eq!((counts.hits, counts.misses), (200, 200));
    let kept = 200 - counts.evictions;
    assert!((95..105).contains(&kept), "{kept} entries of ten thousand bytes in a MiB");
    seal(&mut sealer, body(199).as_bytes(), NOW);
    assert_eq!(sealer.counts().hits, 201);
    seal(&mut sealer, body(50).as_bytes(), NOW);
    assert_eq!(sealer.counts().misses, 201);
}

#[test]
fn off_is_off() {
    for pairs in [
        [("cache.mb", "0"), ("cache.window_s", "60")],
        [("cache.mb", "9"), ("cache.window_s", "0")],
    ] {
        let mut sealer = sealer(&pairs).expect("a sealer");
        assert!(!sealer.settings().caches());
        seal(&mut sealer, b"[{}]", NOW);
        assert_ne!(seal(&mut sealer, b"[{}]", NOW + 1).stamp, "");
        assert_eq!((sealer.counts().hits, sealer.counts().misses), (0, 0));
    }
    let mut sealer = sealer(&[("sign", "none")]).expect("a sealer");
    assert_eq!(seal(&mut sealer, b"[{}]", NOW).sign, "");
}

#[test]
fn bad_keys_and_settings_get_words() {
    let (ecc, rsa) = (file("ecc.pub.pem"), file("rsa2048.pub.pem"));
    let private = file("ecc.pem");
    let p256 = file("p256.pub.pem");
    for (pairs, words) in [
        (vec![("encrypt", "ecc")], "throng.mgs.public_key_file"),
        (vec![("encrypt", "ecc"), ("public_key", &*rsa)], "not a point of secp256k1"),
        (vec![("encrypt", "ecc"), ("public_key", &*p256)], "not a point of secp256k1"),
        (vec![("encrypt", "sm2"), ("public_key", &*ecc)], "not a point of SM2"),
        (vec![("encrypt", "rsa"), ("public_key", &*ecc)], "not an RSA key"),
        (vec![("encrypt", "ecc"), ("public_key", &*private)], "private"),
        (vec![("encrypt", "ecc"), ("public_key", "abc")], "not a point"),
        (vec![("encrypt", "ecc"), ("public_key", &*ecc), ("ephemeral", "00")], "ephemeral"),
        (vec![("sign", "md4")], "one of none, md5"),
        (vec![("encrypt", "ecc"), ("iv", "12")], "32 hexadecimal digits"),
        (vec![("cache.mb", "-1")], "a whole number"),
        (vec![("header.sign", "a b")], "a header name"),
    ] {
        let problem = sealer(&pairs).err().unwrap_or_default();
        assert!(problem.contains(words), "{pairs:?}: {problem}");
    }
    let zero = "00".repeat(32);
    let pairs = [("encrypt", "ecc"), ("public_key", &*ecc), ("ephemeral", &*zero)];
    assert!(sealer(&pairs).is_err_and(|words| words.contains("not a private key of the curve")));
}

#[test]
fn a_fixed_ephemeral_key_makes_the_same_bytes() {
    let public = file("sm2.pub.pem");
    let digits = "11".repeat(32);
    let pairs = [("encrypt", "sm2"), ("public_key", &*public), ("ephemeral", &*digits)];
    let one = seal(&mut sealer(&pairs).expect("a sealer"), b"[{}]", NOW);
    assert_eq!(seal(&mut sealer(&pairs).expect("a sealer"), b"[{}]", NOW), one);
    let parsed = envelope::parse(&one.body).expect("an envelope");
    assert_eq!((parsed.key_tag, parsed.key.len(), parsed.body_tag), (3, 33, 0x0d));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Does the gateway's part step by step: parses the envelope, computes the agreed secret, decrypts the body, and
    /// encrypts the response.
    #[test]
    fn bodies_come_back(body in proptest::collection::vec(any::<u8>(), 1..3000), zips: bool, fresh: bool) {
        let public = file("ecc.pub.pem");
        let private = private_key(&file("ecc.pem")).expect("a key");
        let pairs = [
            ("encrypt", "ecc"),
            ("public_key", &*public),
            ("gzip", if zips { "6" } else { "0" }),
            ("iv", if fresh { "fresh" } else { "derived" }),
        ];
        let mut sealer = sealer(&pairs).expect("a sealer");
        let sealed = seal(&mut sealer, &body, NOW);
        let parsed = envelope::parse(&sealed.body).expect("an envelope");
        let secret = recipient::agreed_secret(Transport::Ecc, &private, parsed.key).expect("a point");
        let derived = mgs::agreed::Material::derive(mgs::agreed::Derivation::Sha256, &secret, mgs::Cipher::Aes128);
        let key = sealed.key.expect("a key");
        prop_assert_eq!(&key.key.key[..16], &derived.as_bytes()[..16]);
        let (mut text, mut out) = (parsed.body.to_vec(), Vec::new());
        sealer.open(&key, &mut text, body.len(), &mut out).expect("opens");
        prop_assert_eq!(&out, &body);
    }

    /// Checks that hostile responses cause an error message: no panic, and no output above the limit.
    #[test]
    fn hostile_answers_are_refused(mut body in proptest::collection::vec(any::<u8>(), 0..200), flip: usize) {
        let public = file("ecc.pub.pem");
        let pairs = [("encrypt", "ecc"), ("public_key", &*public), ("ephemeral", "once")];
        let mut sealer = sealer(&pairs).expect("a sealer");
        let sealed = seal(&mut sealer, &b"[{}]".repeat(50), NOW);
        let key = sealed.key.expect("a key");
        let mut out = Vec::new();
        let _ = sealer.open(&key, &mut body, 100, &mut out);
        prop_assert!(out.len() <= 100);
        let mut sent = sealed.body;
        let at = flip % sent.len();
        sent[at] ^= 0x40;
        if let Ok(parsed) = envelope::parse(&sent) {
            let mut text = parsed.body.to_vec();
            out.clear();
            let opened = sealer.open(&key, &mut text, 1000, &mut out);
            let fits = opened.is_err() || out == b"[{}]".repeat(50);
            prop_assert!(fits);
        }
    }
}
