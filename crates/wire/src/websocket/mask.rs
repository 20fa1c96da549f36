//! Masking (RFC 6455, section 5.3): XOR of each byte of a client's payload with one of the four bytes of a key.
//!
//! The code works on lanes of eight bytes, which the compiler turns into vector instructions. Masking twice restores
//! the payload.

/// Masks or unmasks `bytes`, which begin at offset `from` of the payload.
#[inline]
pub fn apply_mask(bytes: &mut [u8], key: [u8; 4], from: usize) {
    let key = turned(key, from);
    let lane = lane(key);
    let (lanes, rest) = bytes.as_chunks_mut::<8>();
    for bytes in lanes {
        *bytes = (u64::from_ne_bytes(*bytes) ^ lane).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(key.iter().cycle()) {
        *byte ^= key;
    }
}

/// Appends `payload` masked, in one pass over its bytes.
#[inline]
pub(super) fn push_masked(out: &mut Vec<u8>, payload: &[u8], key: [u8; 4]) {
    const BLOCK: usize = 64;
    let lane = lane(key);
    out.reserve(payload.len());
    let (blocks, rest) = payload.as_chunks::<BLOCK>();
    for block in blocks {
        let mut masked = *block;
        for bytes in masked.as_chunks_mut::<8>().0 {
            *bytes = (u64::from_ne_bytes(*bytes) ^ lane).to_ne_bytes();
        }
        out.extend_from_slice(&masked);
    }
    let start = out.len();
    out.extend_from_slice(rest);
    apply_mask(&mut out[start..], key, 0);
}

/// Returns the key rotated for offset `from` of the payload.
fn turned(mut key: [u8; 4], from: usize) -> [u8; 4] {
    key.rotate_left(from % 4);
    key
}

fn lane([a, b, c, d]: [u8; 4]) -> u64 {
    u64::from_ne_bytes([a, b, c, d, a, b, c, d])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_byte_meets_its_own_byte_of_the_key(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            key in any::<[u8; 4]>(),
            from in 0usize..9,
        ) {
            let mut masked = bytes.clone();
            apply_mask(&mut masked, key, from);
            for (at, (masked, plain)) in masked.iter().zip(&bytes).enumerate() {
                prop_assert_eq!(masked ^ plain, key[(from + at) % 4]);
            }
        }

        #[test]
        fn masking_while_copying_is_masking_afterwards(
            bytes in proptest::collection::vec(any::<u8>(), 0..300),
            key in any::<[u8; 4]>(),
        ) {
            let mut copied = b"before".to_vec();
            push_masked(&mut copied, &bytes, key);
            let mut masked = bytes;
            apply_mask(&mut masked, key, 0);
            prop_assert_eq!(&copied[6..], &masked[..]);
        }

        #[test]
        fn pieces_are_masked_as_the_whole(
            bytes in proptest::collection::vec(any::<u8>(), 1..100),
            key in any::<[u8; 4]>(),
            cut in any::<proptest::sample::Index>(),
        ) {
            let cut = cut.index(bytes.len());
            let mut whole = bytes.clone();
            apply_mask(&mut whole, key, 0);
            let mut pieces = bytes;
            apply_mask(&mut pieces[..cut], key, 0);
            apply_mask(&mut pieces[cut..], key, cut);
            prop_assert_eq!(whole, pieces);
        }
    }
}
