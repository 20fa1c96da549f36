use flate2::Decompress;

use super::*;
use proptest::prelude::*;

/// Decompresses the examples in section 7.2.3 of RFC 7692: compressed forms of "Hello".
#[test]
fn the_examples_of_the_rfc() {
    let mut inflater = Inflater::new();
    for payload in [
        &[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00][..],
        // "Hello" in an uncompressed block.
        &[0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00],
        // "Hello" with a final block.
        &[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00],
        // "Hello" in two blocks.
        &[0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00],
    ] {
        let mut out = b"before".to_vec();
        assert_eq!(inflater.message(None, payload, &mut out, 5), Ok(()));
        assert_eq!(out, b"beforeHello", "{payload:x?}");
    }
    // The same message compressed twice, with and without the window.
    let mut window = Window::default();
    for payload in [
        &[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00][..],
        &[0xf2, 0x00, 0x11, 0x00, 0x00],
        // Data before a final block is in the compression window too.
        &[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00],
        &[0xf2, 0x00, 0x11, 0x00, 0x00],
    ] {
        let mut out = Vec::new();
        assert_eq!(inflater.message(Some(&mut window), payload, &mut out, 100), Ok(()));
        assert_eq!(out, b"Hello");
    }
    let again = [0xf2, 0x00, 0x11, 0x00, 0x00];
    assert_eq!(inflater.message(None, &again, &mut Vec::new(), 100), Err(Error::Invalid));
}

#[test]
fn an_empty_message_is_one_byte() {
    let mut out = Vec::new();
    assert_eq!(Inflater::new().message(None, &[0], &mut out, 0), Ok(()));
    assert!(out.is_empty());
    let mut deflater = Deflater::new(6, 15);
    deflater.message(None, b"", &mut out);
    let mut back = Vec::new();
    assert_eq!(Inflater::new().message(None, &out, &mut back, 0), Ok(()));
    assert!(back.is_empty());
}

#[test]
fn output_is_bounded() {
    let mut bomb = Vec::new();
    Deflater::new(9, 15).message(None, &vec![0; 1 << 24], &mut bomb);
    assert!(bomb.len() < 20_000);
    let mut window = Window::default();
    let mut inflater = Inflater::new();
    for max in [0, 1, STEP - 1, STEP, STEP + 1, (1 << 24) - 1] {
        let mut out = Vec::new();
        let verdict = inflater.message(Some(&mut window), &bomb, &mut out, max);
        assert_eq!((verdict, out.len()), (Err(Error::TooLarge { max }), max));
        assert!(out.capacity() <= 2 * (max + STEP), "{max}: {}", out.capacity());
    }
    assert_eq!(window.heap(), 0);
    let mut out = Vec::new();
    assert_eq!(inflater.message(Some(&mut window), &bomb, &mut out, 1 << 24), Ok(()));
    assert!(out.len() == 1 << 24 && window.heap() <= Window::SIZE);
}

#[test]
fn rubbish_is_an_error_and_forgotten() {
    let mut inflater = Inflater::new();
    let mut window = Window::default();
    let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
    inflater.message(Some(&mut window), &hello, &mut Vec::new(), 9).unwrap();
    for payload in [&[0xff; 5][..], &[0x06], &[0x01, 1, 0, 0, 0]] {
        let mut out = Vec::new();
        let verdict = inflater.message(Some(&mut window), payload, &mut out, 100);
        assert_eq!(verdict, Err(Error::Invalid), "{payload:x?}");
    }
    let mut out = Vec::new();
    inflater.message(Some(&mut window), &[0xf2, 0x00, 0x11, 0x00, 0x00], &mut out, 9).unwrap();
    assert_eq!(out, b"Hello");
    // Invalid deflate data after a part that was decompressed.
    let mut out = Vec::new();
    let late = [0x60, 0x85, 0x85, 0x85, 0x85, 0x0c];
    assert!(inflater.message(None, &late, &mut out, 1).is_err());
    assert!(out.len() <= 1);
    // A final deflate block costs two bytes, and the number of such blocks is limited.
    let finals = [3, 0].repeat(1 << 16);
    assert_eq!(inflater.message(None, &finals, &mut Vec::new(), 9), Err(Error::Invalid));
}

fn messages() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let random = proptest::collection::vec(any::<u8>(), 0..300);
    let same = (any::<u8>(), 0..40_000usize).prop_map(|(byte, times)| vec![byte; times]);
    let words = proptest::collection::vec(
        prop_oneof!["throng", " ", "[a-z]{1,9}", "websocket message "],
        0..2000,
    )
    .prop_map(|words| words.concat().into_bytes());
    proptest::collection::vec(prop_oneof![random, same, words], 1..8)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_compressed_comes_back(
        messages in messages(),
        bits in 9u8..=15,
        level in 0u32..=9,
        takeover in any::<bool>(),
    ) {
        let (mut sent, mut received) = (Window::default(), Window::default());
        let mut deflater = Deflater::new(level, bits);
        let mut inflater = Inflater::new();
        for message in messages {
            let mut payload = Vec::new();
            deflater.message(takeover.then_some(&mut sent), &message, &mut payload);
            let mut out = Vec::new();
            let window = takeover.then_some(&mut received);
            prop_assert_eq!(inflater.message(window, &payload, &mut out, message.len()), Ok(()));
            prop_assert_eq!(out, message);
            prop_assert!(received.bytes.len() <= Window::SIZE);
        }
    }

    /// Compares compression per message with one zlib stream over all messages of a connection: each side can
    /// decompress the other's output.
    #[test]
    fn one_stream_for_all_messages_is_understood(messages in messages(), bits in 9u8..=15) {
        let mut stream = Compress::new_with_window_bits(Compression::new(6), false, bits);
        let mut window = Window::default();
        let mut inflater = Inflater::new();
        let mut back = Decompress::new(false);
        let mut sent = Window::default();
        let mut deflater = Deflater::new(6, bits);
        for message in messages {
            let mut payload = Vec::with_capacity(message.len() + 1000);
            stream.compress_vec(&message, &mut payload, FlushCompress::Sync).unwrap();
            if payload.is_empty() {
                // A second flush without data writes nothing in zlib, but a message has at least one byte.
                payload.extend_from_slice(&[0]);
                payload.extend_from_slice(&TAIL);
            }
            prop_assert!(payload.ends_with(&TAIL));
            payload.truncate(payload.len() - 4);
            let mut out = Vec::new();
            let verdict = inflater.message(Some(&mut window), &payload, &mut out, message.len());
            prop_assert_eq!(verdict, Ok(()));
            prop_assert_eq!(&out, &message);

            payload.clear();
            deflater.message(Some(&mut sent), &message, &mut payload);
            payload.extend_from_slice(&TAIL);
            let mut out = Vec::with_capacity(message.len() + 1000);
            back.decompress_vec(&payload, &mut out, FlushDecompress::Sync).unwrap();
            prop_assert_eq!(&out, &message);
        }
    }

    #[test]
    fn any_bytes_end(payload in proptest::collection::vec(any::<u8>(), 0..200)) {
        let mut out = Vec::new();
        let _ = Inflater::new().message(None, &payload, &mut out, 1000);
        prop_assert!(out.len() <= 1000);
    }
}
