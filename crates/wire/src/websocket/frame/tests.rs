use super::super::mask::apply_mask;
use super::*;
use proptest::prelude::*;

const KEY: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

#[test]
fn the_examples_of_the_rfc() {
    // Example frames of RFC 6455, section 5.7.
    let mut out = Vec::new();
    push_frame(&mut out, Opcode::TEXT, b"Hello", None);
    assert_eq!(out, [0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f]);
    out.clear();
    push_frame(&mut out, Opcode::TEXT, b"Hello", Some(KEY));
    assert_eq!(out, [0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58]);
    assert_eq!(
        head(&[0x01, 0x03, 0x48, 0x65, 0x6c]),
        Ok(Some(Head { fin: false, rsv: 0, opcode: Opcode::TEXT, mask: None, length: 3, size: 2 }))
    );
    assert_eq!(
        head(&[0x8a, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f]),
        Ok(Some(Head {
            fin: true,
            rsv: 0,
            opcode: Opcode::PONG,
            mask: Some(KEY),
            length: 5,
            size: 6
        }))
    );
    assert_eq!(head(&[0x82, 0x7e, 1, 0]).unwrap().unwrap().length, 256);
    assert_eq!(head(&[0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0]).unwrap().unwrap().length, 65536);
}

#[test]
fn lengths_are_written_as_short_as_they_can_be() {
    for (length, size) in
        [(0, 2), (125, 2), (126, 4), (127, 4), (65535, 4), (65536, 10), (1 << 40, 10)]
    {
        for mask in [None, Some(KEY)] {
            let mut out = Vec::new();
            push_head(&mut out, false, true, Opcode::BINARY, length, mask);
            let found = head(&out).unwrap().unwrap();
            let size = size + if mask.is_some() { 4 } else { 0 };
            assert_eq!(
                found,
                Head {
                    fin: false,
                    rsv: 4,
                    opcode: Opcode::BINARY,
                    mask,
                    length: length as u64,
                    size
                }
            );
            assert!(found.is_minimal());
            assert_eq!(out.len(), size);
            assert_eq!(super::size(length, mask.is_some()), size + length);
            for end in 0..out.len() {
                assert_eq!(head(&out[..end]), Ok(None), "{end} of {length}");
            }
        }
    }
}

#[test]
fn lengths_longer_than_needed_are_read() {
    let found = head(&[0x81, 126, 0, 5]).unwrap().unwrap();
    assert_eq!((found.length, found.size, found.is_minimal()), (5, 4, false));
    let found = head(&[0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 126, 1, 2, 3, 4]).unwrap().unwrap();
    assert_eq!((found.length, found.size, found.is_minimal()), (126, 14, false));
}

#[test]
fn a_length_with_the_top_bit_is_refused_at_its_first_byte() {
    assert_eq!(head(&[0x82, 127]), Ok(None));
    assert_eq!(head(&[0x82, 127, 0x80]), Err(Error::Length));
    assert_eq!(head(&[0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]), Err(Error::Length));
    let most = head(&[0x82, 127, 0x7f, 255, 255, 255, 255, 255, 255, 255]).unwrap().unwrap();
    assert_eq!(most.length, u64::MAX >> 1);
}

#[test]
fn every_first_byte_is_told_apart() {
    for first in 0..=255u8 {
        let found = head(&[first, 0]).unwrap().unwrap();
        let again = u8::from(found.fin) << 7 | found.rsv << 4 | found.opcode.0;
        assert_eq!(again, first);
        assert_eq!(found.opcode.is_control(), first & 8 != 0);
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        opcode in 0u8..16,
        payload in proptest::collection::vec(any::<u8>(), 0..400),
        mask in any::<Option<[u8; 4]>>(),
        before in proptest::collection::vec(any::<u8>(), 0..9),
    ) {
        let mut out = before.clone();
        push_frame(&mut out, Opcode(opcode), &payload, mask);
        prop_assert_eq!(&out[..before.len()], &before[..]);
        let frame = &mut out[before.len()..];
        let found = head(frame).unwrap().unwrap();
        prop_assert_eq!(found.opcode, Opcode(opcode));
        prop_assert!(found.fin && found.rsv == 0 && found.is_minimal());
        prop_assert_eq!(found.mask, mask);
        let body = &mut frame[found.size..];
        prop_assert_eq!(body.len() as u64, found.length);
        if let Some(key) = mask {
            apply_mask(body, key, 0);
        }
        prop_assert_eq!(&*body, &payload[..]);
    }
}
