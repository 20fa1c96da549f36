//! Tests of each primitive as this crate uses it, against published vectors and OpenSSL's command line.

use mgs::agreed::{Derivation, Material, Vector};
use mgs::recipient::{Recipient, Transport, agreed_secret, decrypted_secret};
use mgs::sign::{Digest, Encoding, Join, Signing};
use mgs::{BlockKey, Cipher, hex};

fn bytes(digits: &str) -> Vec<u8> {
    hex::parse(digits).expect("digits")
}

fn digits(bytes: &[u8]) -> String {
    let mut text = String::new();
    hex::push(bytes, false, &mut text);
    text
}

fn sum(digest: Digest, key: &[u8], text: &[u8]) -> String {
    digits(digest.sum(key, text).as_bytes())
}

/// Vectors of RFC 1321 A.5; FIPS 180-2 B.1; RFC 4231, cases 1, 2 and 6; GB/T 32905 A.1 and A.2.
#[test]
fn digests() {
    assert_eq!(sum(Digest::Md5, b"", b"message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
    assert_eq!(
        sum(Digest::Sha256, b"", b"abc"),
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    );
    let cases: [(&[u8], &[u8], &str); 3] = [
        (
            &[0x0b; 20],
            b"Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
        ),
        (
            b"Jefe",
            b"what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        ),
        (
            &[0xaa; 131],
            b"Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
        ),
    ];
    for (key, text, wanted) in cases {
        assert_eq!(sum(Digest::HmacSha256, key, text), wanted);
    }
    assert_eq!(
        sum(Digest::Sm3, b"", b"abc"),
        "66c7f0f462eeedd9d1f2d46bdc10e4e24167c4875cf2f7a2297da02b8f4ba8e0"
    );
    assert_eq!(
        sum(Digest::Sm3, b"", &b"abcd".repeat(16)),
        "debe9ff92275b8a138604889c18e5a4d6fdb70e5387e5765293dcba39c0c5732"
    );
}

fn key(cipher: Cipher, key: &str, iv: &str) -> BlockKey {
    let mut all = [0; 32];
    let key = bytes(key);
    all[..key.len()].copy_from_slice(&key);
    BlockKey { cipher, key: all, iv: bytes(iv).try_into().expect("16 bytes") }
}

/// Vectors of NIST SP 800-38A F.2.1 and F.2.5: the first three of four blocks, because this crate's last block is
/// padding.
#[test]
fn aes_in_cbc_mode() {
    let plain = bytes(
        "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411e5fbc1191a0a52ef",
    );
    let iv = "000102030405060708090a0b0c0d0e0f";
    for (key, wanted) in [
        (
            key(Cipher::Aes128, "2b7e151628aed2a6abf7158809cf4f3c", iv),
            "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b273bed6b8e3c1743b7116e69e22229516",
        ),
        (
            key(
                Cipher::Aes256,
                "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4",
                iv,
            ),
            "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d39f23369a9d9bacfa530e26304231461",
        ),
    ] {
        let mut text = b"before".to_vec();
        text.extend_from_slice(&plain);
        key.encrypt(6, &mut text);
        assert_eq!(text.len(), 6 + 64, "a whole block of padding");
        assert_eq!(digits(&text[6..54]), wanted);
        assert_eq!(key.decrypt(&mut text[6..]), Some(48));
        assert_eq!(&text[6..54], plain);
    }
}

/// Vector of GB/T 32907 A.1: with a zero vector, the first CBC block equals the bare block. Then OpenSSL: `enc -sm4-cbc
/// -K … -iv …`.
#[test]
fn sm4_in_cbc_mode() {
    let block = "0123456789abcdeffedcba9876543210";
    let mut text = bytes(block);
    key(Cipher::Sm4, block, "00000000000000000000000000000000").encrypt(0, &mut text);
    assert_eq!(digits(&text[..16]), "681edf34d206965e86b3e94f536e4246");

    let plain = b"[{\"a\":1}] and more than one block";
    let mut text = plain.to_vec();
    let key = key(Cipher::Sm4, block, "000102030405060708090a0b0c0d0e0f");
    key.encrypt(0, &mut text);
    assert_eq!(
        digits(&text),
        "a597b6fba8c8ce6eb0c2e5ff965b08803bbc857991fb65f42d651fef19f4412959181ec6d622ea0651ee271c6382fd98"
    );
    assert_eq!(key.decrypt(&mut text), Some(plain.len()));
}

/// Vector of Wycheproof, `ecdh_secp256k1_test.json`, case 1.
#[test]
fn agreement_over_secp256k1() {
    let point = "04d8096af8a11e0b80037e1ee68246b5dcbb0aeb1cf1244fd767db80f3fa27da2b396812ea1686e7472e9692eaf3e958e50e9500d3b4c77243db1f2acd67ba9cc4";
    let private = bytes("f4b7ff7cccc98813a69fae3df222bfe3f4e28f764bf91b4a10d8096ce446b254");
    let wanted = "544dfae22af6af939042b1d85b71a1e49e9a5614123c4d6ad0c8af65baf87d65";
    let secret = agreed_secret(Transport::Ecc, &private, &bytes(point)).expect("a secret");
    assert_eq!(digits(&secret), wanted);

    let recipient = Recipient::read(Transport::Ecc, point).expect("a point");
    let mut value = Vec::new();
    let private = [&private[..], &[0; 16]].concat().try_into().expect("48 bytes");
    let material = recipient.transport(&private, 16, &mut value).expect("agrees");
    assert_eq!(digits(material.as_bytes()), wanted);
    assert_eq!(value.len(), 33);
}

/// Vector of GM/T 0003.5 C.2, encryption with the recommended curve: ephemeral key, its point, shared point, and the
/// key that the derivation computes from both coordinates.
#[test]
fn agreement_over_the_curve_of_sm2() {
    let point = "09f9df311e5421a150dd7d161e4bc5c672179fad1833fc076bb08ff356f35020ccea490ce26775a52dc6ea718cc1aa600aed05fbf35e084a6632f6072da9ad13";
    let private = bytes("59276e27d506861a16680f3ad9c02dccef3cc1fa3cdbe4ce6d54b80deac1bc21");
    let shared_x = "335e18d751e51f040e27d468138b7ab1dc86ad7f981d7d416222fd6ab3ed230d";
    let shared_y = "ab743ebcfb22d64f7b6ab791f70658f25b48fa93e54064fdbfbed3f0bd847ac9";
    let recipient = Recipient::read(Transport::Sm2, point).expect("a point without its first byte");
    let mut value = Vec::new();
    let private = [&private[..], &[0; 16]].concat().try_into().expect("48 bytes");
    let material = recipient.transport(&private, 16, &mut value).expect("agrees");
    assert_eq!(digits(material.as_bytes()), shared_x);
    assert_eq!(
        digits(&value[1..]),
        "04ebfc718e8d1798620432268e77feb6415e2ede0e073c0f4f640ecd2e149a73"
    );
    let both = bytes(&[shared_x, shared_y].concat());
    let key = Material::derive(Derivation::X963Sm3, &both, Cipher::Sm4);
    assert_eq!(digits(&key.as_bytes()[..19]), "44e60fdbf0bae81437665374bef26749046c9e");
}

/// Vector of GM/T 0003.5 C.2: the message in the order C1 C3 C2.
#[test]
fn encryption_by_sm2() {
    let private = bytes("3945208f7b2144b13f36e38ac6d39f95889393692860b51a42fb81ef4df7c5b8");
    let sealed = bytes(
        "0404ebfc718e8d1798620432268e77feb6415e2ede0e073c0f4f640ecd2e149a73e858f9d81e5430a57b36daab8f950a3c64e6ee6a63094d99283aff767e124df059983c18f809e262923c53aec295d30383b54e39d609d160afcb1908d0bd876621886ca989ca9c7d58087307ca93092d651efa",
    );
    let plain = decrypted_secret(Transport::Sm2Encrypted, &private, &sealed).expect("decrypts");
    assert_eq!(plain, b"encryption standard");
}

/// Vector of ANSI X9.63 with SHA-256 from NIST's CAVS file: 192-bit secret, 128-bit key.
#[test]
fn derivation_of_x963() {
    let secret = bytes("96c05619d56c328ab95fe84b18264b08725b85e33fd34f08");
    let material = Material::derive(Derivation::X963Sha256, &secret, Cipher::Aes128);
    assert_eq!(digits(&material.as_bytes()[..16]), "443024c3dae66b95e6f5670601558f71");
    let key = material.block_key(Cipher::Aes128, Vector::Derived);
    assert_eq!(key.iv, material.as_bytes()[16..32]);
}

/// Expected digests come from `openssl dgst` over the sign strings.
#[test]
fn sign_strings() {
    let request: (&[u8], &[u8], &str) =
        (b"com.antcloud.request.post", b"[{\"_requestBody\":\"{}\"}]", "OCGcKcE");
    let sign = |digest, join, separator: &str, encoding| {
        let (separator, secret) = (separator.into(), b"key".to_vec());
        let signing = Signing { digest, join, separator, secret, encoding };
        let mut out = String::new();
        signing.sign(request, &mut Vec::new(), &mut out);
        out
    };
    let prefix = |digest| sign(digest, Join::Prefix, "&", Encoding::Hex);
    assert_eq!(prefix(Digest::Md5), "9f60468c02b6e1141ea9780915ee164e");
    assert_eq!(
        prefix(Digest::Sha256),
        "8915b692913ee4ff2fad9854d512d3b5f4443434770796f2d04c0b58e77fd266"
    );
    assert_eq!(
        prefix(Digest::Sm3),
        "32745271c175d53e5cb04a045d67212c3ea3b79454ffd674beb7bbc5159050b6"
    );
    assert_eq!(
        prefix(Digest::HmacSha256),
        "e70a279c91bb1d18e79fa7f52a07731b68dbceffa0e5494547423dd5791fa106"
    );
    assert_eq!(
        sign(Digest::Md5, Join::Suffix, "", Encoding::Hex),
        "1af3c29fe67fcb9e147038edd8382da1"
    );
    let mut content = Vec::new();
    mgs::sign::push_content(request.0, request.1, request.2, &mut content);
    assert_eq!(
        content,
        b"Operation-Type=com.antcloud.request.post&Request-Data=W3siX3JlcXVlc3RCb2R5Ijoie30ifV0=&Ts=OCGcKcE"
    );
}
