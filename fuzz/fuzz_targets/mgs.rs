//! Fuzzes envelopes and encrypted responses of a mobile gateway: no panic, no output above the limit, and a parsed
//! envelope encodes to the same bytes.
//!
//! Input: a byte of flags, then the bytes as received.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mgs::gzip::Gzip;
use mgs::{BlockKey, Cipher, SessionKey, envelope, recipient, sealer, stamp};

fuzz_target!(|data: &[u8]| {
    let [flags, bytes @ ..] = data else { return };
    if let Ok(read) = envelope::parse(bytes) {
        let mut again = Vec::new();
        for (tag, value) in [(read.key_tag, read.key), (read.body_tag, read.body)] {
            let from = envelope::begin_field(tag, &mut again);
            again.extend_from_slice(value);
            assert!(envelope::end_field(from, &mut again));
        }
        assert_eq!(again, bytes);
        for transport in [recipient::Transport::Ecc, recipient::Transport::Sm2] {
            let _ = recipient::agreed_secret(transport, &[7; 32], read.key);
        }
    }
    let cipher = [Cipher::Aes128, Cipher::Aes256, Cipher::Sm4][usize::from(flags & 3) % 3];
    let key = BlockKey { cipher, key: [1; 32], iv: [2; 16] };
    let session = SessionKey { key, sends_vector: flags & 4 != 0, gzip: flags & 8 != 0 };
    let mut gzip = Gzip::new(1);
    let (mut text, mut out) = (bytes.to_vec(), Vec::new());
    let opened = sealer::open(&session, &mut gzip, &mut text, 300, &mut out);
    assert!(out.len() <= 300 && (opened.is_ok() || !session.gzip || out.len() <= 300));
    // Encrypts the bytes as a gateway would.
    out.clear();
    let mut sealed = Vec::new();
    if session.sends_vector {
        sealed.extend_from_slice(&key.iv);
    }
    let from = sealed.len();
    if session.gzip {
        gzip.compress(bytes, &mut sealed).expect("compresses");
    } else {
        sealed.extend_from_slice(bytes);
    }
    key.encrypt(from, &mut sealed);
    sealer::open(&session, &mut gzip, &mut sealed, bytes.len(), &mut out).expect("opens");
    assert_eq!(out, bytes);
    if session.gzip {
        out.clear();
        let _ = gzip.decompress(bytes, 300, &mut out);
        assert!(out.len() <= 300);
    }
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Some(ms) = stamp::parse(text)
    {
        let mut again = String::new();
        stamp::push(ms, &mut again);
        assert_eq!(stamp::parse(&again), Some(ms));
    }
});
