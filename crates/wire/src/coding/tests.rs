use super::*;
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use proptest::prelude::*;
use std::io::Write;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn raw(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// The output of `brotli -q 11` for "hello hello hello hello\n".
const BROTLI: &[u8] = &[
    0xa1, 0xb8, 0x00, 0xc0, 0x6f, 0xa4, 0x74, 0xf3, 0x26, 0xaa, 0x32, 0xb4, 0x56, 0x00, 0x61, 0x7b,
    0x53, 0x8a, 0xc8, 0x13, 0x07, 0x74, 0xb5, 0x00,
];

fn decode(coding: Coding, input: &[u8]) -> (Result<(), CodingError>, Vec<u8>) {
    let mut out = b"<".to_vec();
    let result = Inflater::new().decode(coding, input, &mut out, 1 << 22);
    (result, out.split_off(1))
}

fn text() -> Vec<u8> {
    (0..20_000u32).flat_map(|i| format!("line {}\n", i % 977).into_bytes()).collect()
}

#[test]
fn names_of_codings() {
    for (header, coding) in [
        ("gzip", Some(Coding::Gzip)),
        ("X-GZIP", Some(Coding::Gzip)),
        (" deflate ", Some(Coding::Deflate)),
        ("br", Some(Coding::Brotli)),
        ("identity", Some(Coding::Identity)),
        ("", Some(Coding::Identity)),
        ("gzip;q=1", Some(Coding::Gzip)),
        ("identity, gzip,", Some(Coding::Gzip)),
        ("aws-chunked, gzip", Some(Coding::Gzip)),
        ("gzip, br", None),
        ("zstd", None),
        ("compress", None),
    ] {
        assert_eq!(Coding::parse(header.as_bytes()), coding, "{header}");
    }
}

#[test]
fn bodies_come_back() {
    let text = text();
    assert_eq!(decode(Coding::Identity, &text), (Ok(()), text.clone()));
    assert_eq!(decode(Coding::Gzip, &gzip(&text)), (Ok(()), text.clone()));
    assert_eq!(decode(Coding::Deflate, &zlib(&text)), (Ok(()), text.clone()));
    assert_eq!(decode(Coding::Deflate, &raw(&text)), (Ok(()), text.clone()));
    for encode in [gzip, zlib, raw] {
        let coding = if encode(b"")[0] == 0x1f { Coding::Gzip } else { Coding::Deflate };
        assert_eq!(decode(coding, &encode(b"")), (Ok(()), Vec::new()));
    }
}

#[test]
fn one_state_serves_many_bodies() {
    let mut inflater = Inflater::new();
    let mut out = Vec::new();
    for round in 0..5 {
        for (coding, input) in [
            (Coding::Gzip, gzip(b"a")),
            (Coding::Deflate, zlib(b"b")),
            (Coding::Gzip, b"\x1f\x8b\x08\0junk\0\0junk".to_vec()),
            (Coding::Deflate, raw(b"c")),
            (Coding::Deflate, zlib(b"never finished")[..5].to_vec()),
        ] {
            let _ = inflater.decode(coding, &input, &mut out, 1 << 20);
        }
        assert!(out.starts_with(b"ab"), "round {round}: {out:?}");
        out.clear();
    }
}

#[test]
fn gzip_members_follow_each_other_and_the_rest_is_ignored() {
    let two = [gzip(b"one "), gzip(b"two")].concat();
    assert_eq!(decode(Coding::Gzip, &two), (Ok(()), b"one two".to_vec()));
    let tail = [gzip(b"one"), b"trailing garbage that is not gzip".to_vec()].concat();
    assert_eq!(decode(Coding::Gzip, &tail), (Ok(()), b"one".to_vec()));
    let half = [gzip(b"one"), gzip(b"two")[..14].to_vec()].concat();
    assert_eq!(decode(Coding::Gzip, &half).0, Err(CodingError::Truncated));
}

#[test]
fn gzip_headers_with_everything() {
    let plain = gzip(b"x");
    let mut head = vec![0x1f, 0x8b, 8, 2 | 4 | 8 | 16, 0, 0, 0, 0, 0, 3];
    head.extend_from_slice(&[3, 0, 1, 2, 3]);
    head.extend_from_slice(b"name\0comment\0");
    let mut crc = Crc::new();
    crc.update(&head);
    let mut bad = head.clone();
    head.extend_from_slice(&(crc.sum() as u16).to_le_bytes());
    bad.extend_from_slice(&(!crc.sum() as u16).to_le_bytes());
    assert_eq!(decode(Coding::Gzip, &[&head[..], &plain[10..]].concat()), (Ok(()), b"x".to_vec()));
    assert_eq!(
        decode(Coding::Gzip, &[&bad[..], &plain[10..]].concat()).0,
        Err(CodingError::NotGzip)
    );
    for cut in 0..head.len() {
        assert_eq!(decode(Coding::Gzip, &head[..cut]).0, Err(CodingError::TruncatedFrame), "{cut}");
    }
}

#[test]
fn a_cut_body_keeps_what_was_decoded() {
    let text = text();
    for (coding, whole) in
        [(Coding::Gzip, gzip(&text)), (Coding::Deflate, zlib(&text)), (Coding::Deflate, raw(&text))]
    {
        let (result, out) = decode(coding, &whole[..whole.len() / 2]);
        assert_eq!(result, Err(CodingError::Truncated));
        assert!(out.len() > 1000 && text.starts_with(&out));
        assert!(matches!(
            decode(coding, &[]).0,
            Err(CodingError::Truncated
                | CodingError::TruncatedFrame
                | CodingError::TruncatedTrailer)
        ));
    }
    let whole = gzip(&text);
    assert_eq!(
        decode(Coding::Gzip, &whole[..whole.len() - 1]),
        (Err(CodingError::TruncatedTrailer), text)
    );
}

#[test]
fn damage_is_found() {
    assert_eq!(decode(Coding::Gzip, b"not gzip at all").0, Err(CodingError::NotGzip));
    let mut body = gzip(b"hello");
    let sum = body.len() - 8;
    body[sum] ^= 1;
    assert_eq!(decode(Coding::Gzip, &body), (Err(CodingError::BadTrailer), b"hello".to_vec()));
    let mut body = zlib(b"hello");
    *body.last_mut().unwrap() ^= 1;
    assert_eq!(decode(Coding::Deflate, &body).0, Err(CodingError::Corrupt));
    assert_eq!(decode(Coding::Deflate, &[0xff; 20]).0, Err(CodingError::Corrupt));
    assert_eq!(decode(Coding::Brotli, &[0xff; 20]).0, Err(CodingError::Corrupt));
}

#[test]
fn output_is_bounded() {
    let zeros = vec![0; 1 << 20];
    for (coding, body) in [
        (Coding::Gzip, gzip(&zeros)),
        (Coding::Deflate, zlib(&zeros)),
        (Coding::Identity, zeros.clone()),
    ] {
        for max in [0, 1, 1000, (1 << 20) - 1] {
            let mut out = vec![9];
            let result = Inflater::new().decode(coding, &body, &mut out, max);
            assert_eq!(result, Err(CodingError::TooLarge { max }), "{coding:?}");
            assert_eq!(out.len(), max + 1);
            assert!(
                out.capacity() <= 2 * (max + (1 << 18)),
                "{coding:?} {max}: {}",
                out.capacity()
            );
        }
        let mut out = Vec::new();
        assert_eq!(Inflater::new().decode(coding, &body, &mut out, 1 << 20), Ok(()));
    }
}

#[test]
fn brotli_bodies() {
    let text = b"hello hello hello hello\n".to_vec();
    assert_eq!(decode(Coding::Brotli, BROTLI), (Ok(()), text.clone()));
    for cut in 0..BROTLI.len() {
        assert_eq!(decode(Coding::Brotli, &BROTLI[..cut]).0, Err(CodingError::Truncated), "{cut}");
    }
    for max in [0, 5, text.len() - 1] {
        let mut out = Vec::new();
        let result = Inflater::new().decode(Coding::Brotli, BROTLI, &mut out, max);
        assert_eq!((result, out.as_slice()), (Err(CodingError::TooLarge { max }), &text[..max]));
    }
}

proptest! {
    #[test]
    fn any_bytes_decode_to_something_or_fail(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for coding in [Coding::Gzip, Coding::Deflate, Coding::Brotli] {
            let mut out = Vec::new();
            let _ = Inflater::new().decode(coding, &bytes, &mut out, 1000);
            prop_assert!(out.len() <= 1000);
        }
    }

    #[test]
    fn any_body_comes_back(body in proptest::collection::vec(any::<u8>(), 0..3000)) {
        prop_assert_eq!(decode(Coding::Gzip, &gzip(&body)), (Ok(()), body.clone()));
        prop_assert_eq!(decode(Coding::Deflate, &zlib(&body)), (Ok(()), body.clone()));
        prop_assert_eq!(decode(Coding::Deflate, &raw(&body)), (Ok(()), body));
    }
}
