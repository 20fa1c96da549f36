//! gzip with reusable state: allocating a new state costs more than compressing a small body.

use flate2::{Compress, Compression, Crc, Decompress, FlushCompress, FlushDecompress, Status};

/// Header of a gzip member without name, time or system, as Java writes it.
const HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0];

/// A gzip compressor and decompressor.
#[derive(Debug)]
pub struct Gzip {
    compress: Option<Compress>,
    level: u32,
    decompress: Option<Decompress>,
}

impl Gzip {
    /// Creates a gzip codec. `level` is from 1 (fast) to 9 (small).
    pub fn new(level: u32) -> Self {
        Self { compress: None, level: level.clamp(1, 9), decompress: None }
    }

    /// Compresses bytes by gzip and appends the result.
    pub fn compress(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let level = Compression::new(self.level);
        let state = self.compress.get_or_insert_with(|| Compress::new(level, false));
        state.reset();
        out.extend_from_slice(&HEAD);
        loop {
            let taken = state.total_in() as usize;
            out.reserve((bytes.len() - taken) / 2 + 64);
            match state.compress_vec(&bytes[taken..], out, FlushCompress::Finish) {
                Ok(Status::StreamEnd) => break,
                Ok(_) => {}
                Err(error) => return Err(format!("cannot compress the body: {error}")),
            }
        }
        let mut sum = Crc::new();
        sum.update(bytes);
        out.extend_from_slice(&sum.sum().to_le_bytes());
        out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        Ok(())
    }

    /// Decompresses one gzip member and appends its content; fails above `most` bytes.
    pub fn decompress(
        &mut self,
        bytes: &[u8],
        most: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        let deflated = after_head(bytes).ok_or("it is not in gzip format")?;
        let state = self.decompress.get_or_insert_with(|| Decompress::new(false));
        state.reset(false);
        let from = out.len();
        loop {
            let taken = state.total_in() as usize;
            // Space for one byte above the maximum detects a body that is too long.
            let room = (most + 1).saturating_sub(out.len() - from).min(1 << 16);
            let (before, held) = (out.len(), taken);
            if room == 0 {
                out.truncate(from + most);
                return Err(format!("it has more than {most} bytes"));
            }
            out.reserve(room.min((deflated.len() - taken) * 4 + 64));
            match state.decompress_vec(&deflated[taken..], out, FlushDecompress::Finish) {
                Ok(Status::StreamEnd) => break,
                Ok(_) if out.len() == before && state.total_in() as usize == held => {
                    return Err("its gzip stream is truncated".into());
                }
                Ok(_) => {}
                Err(_) => return Err("its gzip stream is invalid".into()),
            }
        }
        if out.len() - from > most {
            out.truncate(from + most);
            return Err(format!("it has more than {most} bytes"));
        }
        let mut sum = Crc::new();
        sum.update(&out[from..]);
        let trailer = &deflated[state.total_in() as usize..];
        let length = ((out.len() - from) as u32).to_le_bytes();
        let fits = trailer.split_at_checked(4) == Some((&sum.sum().to_le_bytes(), &length));
        if fits { Ok(()) } else { Err("its gzip checksum is wrong".into()) }
    }
}

/// Returns the bytes after the header of a gzip member.
fn after_head(bytes: &[u8]) -> Option<&[u8]> {
    let ([0x1f, 0x8b, 8, flags, ..], mut rest) = bytes.split_first_chunk::<10>()? else {
        return None;
    };
    if flags & 4 != 0 {
        let (length, after) = rest.split_first_chunk::<2>()?;
        rest = after.get(usize::from(u16::from_le_bytes(*length))..)?;
    }
    // Skips an optional name and an optional comment, each terminated by a zero byte.
    for _ in 0..(flags >> 3 & 1) + (flags >> 4 & 1) {
        let end = rest.iter().position(|byte| *byte == 0)?;
        rest = &rest[end + 1..];
    }
    if flags & 2 != 0 { rest.get(2..) } else { Some(rest) }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn others_read_it_and_it_reads_others() {
        let mut gzip = Gzip::new(6);
        for text in [&b""[..], b"[{}]", &b"abc".repeat(100_000)] {
            let mut packed = b"x".to_vec();
            gzip.compress(text, &mut packed).expect("compresses");
            let mut back = Vec::new();
            flate2::read::GzDecoder::new(&packed[1..]).read_to_end(&mut back).expect("is gzip");
            assert_eq!(back, text);
            let mut writer = flate2::GzBuilder::new().filename("a").comment("b").extra(vec![1, 2]);
            writer = writer.mtime(7);
            let mut writer = writer.write(Vec::new(), Compression::default());
            writer.write_all(text).expect("writes");
            let packed = writer.finish().expect("ends");
            let mut back = b"x".to_vec();
            gzip.decompress(&packed, text.len(), &mut back).expect("reads");
            assert_eq!(&back[1..], text);
        }
    }

    #[test]
    fn broken_streams_are_refused() {
        let mut gzip = Gzip::new(6);
        let mut packed = Vec::new();
        gzip.compress(&b"some text ".repeat(1000), &mut packed).expect("compresses");
        let mut out = Vec::new();
        assert!(gzip.decompress(&packed, 9999, &mut out).is_err(), "one byte too many");
        assert!(out.len() <= 9999);
        for end in 0..packed.len() {
            out.clear();
            assert!(gzip.decompress(&packed[..end], 10_000, &mut out).is_err(), "{end}");
        }
        let last = packed.len() - 1;
        packed[last] ^= 1;
        out.clear();
        assert_eq!(
            gzip.decompress(&packed, 10_000, &mut out),
            Err("its gzip checksum is wrong".into())
        );
    }
}
