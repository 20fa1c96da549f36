//! Cost of a signed and encrypted request, compared with the primitives alone: `cargo bench -p throng-mgs`.
//!
//! The body has 1 KiB. A `request` benchmark does the work of a core for one request. A `primitives` benchmark calls
//! the same libraries in a loop with warm buffers: random numbers, key operations, derivation, base64 and digest of the
//! sign string, compression, cipher. A request may cost at most 1.2 times its primitives.

use std::hint::black_box;

use aes::Aes128;
use aws_lc_rs::rsa::{Pkcs1PublicEncryptingKey, PublicEncryptingKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipherEncrypt, BlockModeEncrypt, KeyInit, KeyIvInit};
use criterion::{Criterion, criterion_group, criterion_main};
use flate2::{Compress, Compression, Crc, FlushCompress};
use k256::elliptic_curve::sec1::{FromSec1Point, ModulusSize, ToSec1Point};
use k256::elliptic_curve::{
    AffinePoint, CurveArithmetic, FieldBytesSize, PublicKey, SecretKey, ecdh,
};
use md5::Digest;
use mgs::{Sealed, Sealer, Settings};
use sm4::Sm4;

const OPERATION: &str = "com.example.transfer";
const NOW: u64 = 1_662_430_824_846;

fn body() -> Vec<u8> {
    // A body like the body in `examples/04-mobile-gateway`, which compresses only a little.
    let mut body = b"[{\"_requestBody\":{".to_vec();
    let mut number = 1u64;
    while body.len() < 1010 {
        number =
            number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        body.extend_from_slice(
            format!("\"field{}\":\"{}\",", number >> 58, number >> 32).as_bytes(),
        );
    }
    body.truncate(1010);
    body.extend_from_slice(b"\":0}}]");
    body
}

fn file(name: &str) -> String {
    let path = format!("{}/tests/keys/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).expect(&path)
}

fn request(pairs: &[(&str, &str)]) -> impl FnMut() {
    let value = |name: &str| {
        pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_string())
    };
    let settings = Settings::read(value).expect("settings").expect("enabled");
    let mut sealer = Sealer::new(settings, 1).expect("a sealer");
    let (body, mut sealed, mut now) = (body(), Sealed::default(), NOW);
    move || {
        now += 1;
        sealer.seal(OPERATION, black_box(&body), now, &mut sealed).expect("seals");
        black_box(&sealed);
    }
}

/// Runs base64 and MD5 over the sign string.
fn signature(body: Vec<u8>) -> impl FnMut() {
    let mut digits = vec![0; body.len().div_ceil(3) * 4];
    move || {
        let length = STANDARD.encode_slice(black_box(&body), &mut digits).expect("room");
        let mut digest = md5::Md5::new();
        digest.update(b"s3cret&Operation-Type=com.example.transfer&Request-Data=");
        digest.update(&digits[..length]);
        digest.update(b"&Ts=OCGcKcE");
        black_box(digest.finalize());
    }
}

/// Compresses and encrypts a body with the key of a request.
fn encryption<C: BlockCipherEncrypt + KeyInit>(body: Vec<u8>) -> impl FnMut(&[u8]) {
    let mut state = Compress::new(Compression::new(6), false);
    let mut text = Vec::with_capacity(2 * body.len());
    move |key| {
        state.reset();
        text.clear();
        state.compress_vec(black_box(&body), &mut text, FlushCompress::Finish).expect("compresses");
        let mut sum = Crc::new();
        sum.update(&body);
        black_box(sum.sum());
        // Length of gzip header and trailer.
        let plain = text.len() + 18;
        text.resize(plain + 16, 0);
        let cipher = cbc::Encryptor::<C>::new_from_slices(&key[..16], &[0; 16]).expect("lengths");
        black_box(cipher.encrypt_padded::<Pkcs7>(&mut text, plain).expect("room"));
    }
}

/// Draws a private key, computes its point, and returns the x coordinate of the shared point.
fn agreement<C>(public: &PublicKey<C>) -> [u8; 32]
where
    C: CurveArithmetic,
    FieldBytesSize<C>: ModulusSize,
    AffinePoint<C>: ToSec1Point<C> + FromSec1Point<C>,
{
    let mut secret = [0; 32];
    aws_lc_rs::rand::fill(&mut secret).expect("random numbers");
    let key = SecretKey::<C>::from_slice(&secret).expect("nearly every number is one");
    black_box(key.public_key().as_affine().to_compressed_point());
    let shared = ecdh::diffie_hellman(key.to_nonzero_scalar(), public.as_affine());
    shared.raw_secret_bytes()[..].try_into().expect("32 bytes")
}

fn rsa() -> impl FnMut() -> [u8; 16] {
    let text: String =
        file("rsa2048.pub.pem").lines().filter(|line| !line.starts_with('-')).collect();
    let der = STANDARD.decode(text).expect("base 64");
    let key = PublicEncryptingKey::from_der(&der).expect("a key");
    let key = Pkcs1PublicEncryptingKey::new(key).expect("a key");
    let mut room = vec![0; key.ciphertext_size()];
    move || {
        let mut secret = [0; 16];
        aws_lc_rs::rand::fill(&mut secret).expect("random numbers");
        black_box(key.encrypt(&secret, &mut room).expect("encrypts"));
        secret
    }
}

fn signed(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("signed by MD5");
    let mut whole = request(&[("secret", "s3cret")]);
    group.bench_function("request", |bench| bench.iter(&mut whole));
    let mut sign = signature(body());
    group.bench_function("primitives", |bench| bench.iter(&mut sign));
    group.finish();
}

/// Benchmarks a signature and an encryption with a fresh key, as a request and as primitives.
fn pair<C: BlockCipherEncrypt + KeyInit>(
    criterion: &mut Criterion,
    encrypt: &str,
    public_key: &str,
    mut key: impl FnMut() -> Vec<u8>,
) {
    let mut group = criterion.benchmark_group(format!("encrypted, {encrypt}"));
    let pairs = [("secret", "s3cret"), ("encrypt", encrypt), ("public_key", public_key)];
    let mut whole = request(&pairs);
    group.bench_function("request", |bench| bench.iter(&mut whole));
    let (mut sign, mut encrypt) = (signature(body()), encryption::<C>(body()));
    group.bench_function("primitives", |bench| {
        bench.iter(|| {
            sign();
            encrypt(&key());
        });
    });
    group.finish();
}

fn encrypted(criterion: &mut Criterion) {
    use k256::pkcs8::DecodePublicKey;
    let (ecc, sm2) = (file("ecc.pub.pem"), file("sm2.pub.pem"));
    let public = k256::PublicKey::from_public_key_pem(&ecc).expect("a key");
    let key = || sha2::Sha256::digest(agreement(&public)).to_vec();
    pair::<Aes128>(criterion, "ecc", &ecc, key);
    let public = sm2::PublicKey::from_public_key_pem(&sm2).expect("a key");
    pair::<Sm4>(criterion, "sm2", &sm2, || sm3::Sm3::digest(agreement(&public)).to_vec());
    let mut draw = rsa();
    pair::<Aes128>(criterion, "rsa", &file("rsa2048.pub.pem"), || draw().to_vec());
}

criterion_group!(all, signed, encrypted);
criterion_main!(all);
