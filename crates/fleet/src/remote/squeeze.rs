//! Encoding of file pieces for transfer: compressed if that is shorter.
//!
//! The first byte is the encoding: 0 for uncompressed, 1 for raw deflate. A piece unpacks to at most [`PIECE`] bytes,
//! whatever was sent. Compression takes 5 to 20 ms per MiB of text.

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::wire::PIECE;

const PLAIN: u8 = 0;
const DEFLATED: u8 = 1;

/// Encodes a piece of a file. An empty piece, which marks the end of a file, stays empty.
pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    if bytes.is_empty() {
        return Vec::new();
    }
    let mut out = Vec::with_capacity(bytes.len() + 1);
    out.push(DEFLATED);
    // The output is limited to the length of the piece. If that does not suffice, the piece is sent uncompressed.
    let ended = Compress::new(Compression::fast(), false)
        .compress_vec(bytes, &mut out, FlushCompress::Finish)
        .is_ok_and(|status| status == Status::StreamEnd);
    if !ended {
        out.clear();
        out.push(PLAIN);
        out.extend_from_slice(bytes);
    }
    out
}

/// Decodes a received piece of a file.
pub(crate) fn unpack(came: &[u8]) -> Result<Vec<u8>, String> {
    match came.split_first() {
        None => Ok(Vec::new()),
        Some((&PLAIN, bytes)) if (1..=PIECE).contains(&bytes.len()) => Ok(bytes.to_vec()),
        Some((&DEFLATED, bytes)) => {
            // The vector's capacity is the limit: a longer piece does not reach its end.
            let mut out = Vec::with_capacity(PIECE);
            let status =
                Decompress::new(false).decompress_vec(bytes, &mut out, FlushDecompress::Finish);
            match status {
                Ok(Status::StreamEnd) if !out.is_empty() => Ok(out),
                _ => Err("a piece of a file is damaged or too large".into()),
            }
        }
        Some(_) => Err("a piece of a file has an unknown encoding".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_come_back_as_they_were() {
        let mut noise: Vec<u8> =
            (0..PIECE as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for bytes in [vec![], vec![b'\n'; PIECE], b"a".to_vec(), noise.clone()] {
            let packed = pack(&bytes);
            assert!(packed.len() <= bytes.len() + 1, "{} of {}", packed.len(), bytes.len());
            assert_eq!(unpack(&packed).as_ref(), Ok(&bytes));
        }
        assert!(pack(&vec![b'\n'; PIECE]).len() < PIECE / 100);
        noise.truncate(9);
        assert_eq!(unpack(&pack(&noise)), Ok(noise));
    }

    #[test]
    fn no_piece_is_larger_than_pieces_are() {
        let mut bomb = vec![DEFLATED];
        bomb.reserve(1 << 20);
        let zeros = vec![0; 64 * PIECE];
        let status = Compress::new(Compression::best(), false).compress_vec(
            &zeros,
            &mut bomb,
            FlushCompress::Finish,
        );
        assert_eq!(status.ok(), Some(Status::StreamEnd));
        assert!(bomb.len() < PIECE, "{} bytes of {}", bomb.len(), zeros.len());
        assert!(unpack(&bomb).is_err());
        assert!(
            unpack(&[DEFLATED, 1, 2]).is_err()
                && unpack(&[7, 1]).is_err()
                && unpack(&[PLAIN]).is_err()
        );
        assert!(unpack(&[&[PLAIN][..], &vec![0; PIECE + 1]].concat()).is_err());
        assert!(unpack(&[DEFLATED]).is_err());
    }
}
