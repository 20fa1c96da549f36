//! Converts the bytes of a result file to UTF-8 text: unpacks gzip, decodes UTF-16 and declared encodings, strips the
//! byte-order mark, and rejects files that clearly have another format.
//!
//! Only the first bytes are examined, so that pipes can be read like files.
use std::cell::Cell;
use std::io::{BufReader, Cursor, ErrorKind, Read, Result};
use std::rc::Rc;

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use flate2::read::MultiGzDecoder;

use super::foreign;
use super::read::ReadError;

/// Number of bytes at the beginning of a file that are examined.
const HEAD: usize = 4096;
/// The first bytes of a gzip file.
const GZIP: &[u8] = &[0x1f, 0x8b];
/// Number of bytes per read.
const BLOCK: usize = 64 << 10;

/// The decoded text of a file.
pub(super) struct Text<'r> {
    pub(super) read: Box<dyn Read + 'r>,
    pub(super) is_xml: bool,
    /// True if a compressed file is damaged or truncated.
    pub(super) damaged: Rc<Cell<bool>>,
}

/// Detects compression, encoding and format, and returns the decoded text.
pub(super) fn text<'r>(from: impl Read + 'r) -> std::result::Result<Text<'r>, ReadError> {
    let damaged = Rc::new(Cell::new(false));
    let (mut head, mut read) = peek(Box::new(from)).map_err(ReadError::Io)?;
    // A file may be compressed twice.
    for _ in 0..2 {
        if head.starts_with(GZIP) {
            let unpacked = MultiGzDecoder::new(BufReader::with_capacity(BLOCK, read));
            let unpacked = Unpacked { from: unpacked, damaged: Rc::clone(&damaged) };
            (head, read) = peek(Box::new(unpacked)).map_err(ReadError::Io)?;
        }
    }
    let encoding = encoding(&head);
    if encoding.is_none()
        && let Some(kind) = foreign::packed(&head)
    {
        return Err(ReadError::Foreign(kind.into()));
    }
    if let Some(encoding) = encoding {
        (head, read) = peek(Box::new(Decoded::new(read, encoding))).map_err(ReadError::Io)?;
    }
    if let Some(kind) = foreign::text(&head) {
        return Err(ReadError::Foreign(kind.into()));
    }
    let is_xml = head.trim_ascii_start().starts_with(b"<");
    if head.contains(&b'\r') && !head.contains(&b'\n') {
        read = Box::new(CarriageReturns(read));
    }
    Ok(Text { read, is_xml, damaged })
}

/// Reads the first bytes. Returns them, and a reader that returns them once more.
fn peek<'r>(mut from: Box<dyn Read + 'r>) -> Result<(Vec<u8>, Box<dyn Read + 'r>)> {
    let mut head = Vec::with_capacity(HEAD);
    (&mut from).take(HEAD as u64).read_to_end(&mut head)?;
    Ok((head.clone(), Box::new(Cursor::new(head).chain(from))))
}

/// Returns the encoding to decode from; `None` for UTF-8 without a byte-order mark, and if no other encoding is
/// recognized.
fn encoding(head: &[u8]) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(head) {
        return Some(encoding);
    }
    match head {
        [first, 0, second, 0, ..] if *first > 0 && *second > 0 => Some(UTF_16LE),
        [0, first, 0, second, ..] if *first > 0 && *second > 0 => Some(UTF_16BE),
        _ if head.starts_with(b"<?xml") => declared(head).filter(|named| *named != UTF_8),
        _ => None,
    }
}

/// Returns the encoding that an XML declaration names.
fn declared(head: &[u8]) -> Option<&'static Encoding> {
    let line = &head[..memchr::memchr(b'>', head)?];
    let at = memchr::memmem::find(line, b"encoding=")? + "encoding=".len();
    let quote = *line.get(at).filter(|byte| matches!(byte, b'"' | b'\''))?;
    let name = &line[at + 1..];
    Encoding::for_label(&name[..memchr::memchr(quote, name)?])
}

/// Reader of decompressed bytes, which ends where decompression fails.
struct Unpacked<R> {
    from: MultiGzDecoder<R>,
    damaged: Rc<Cell<bool>>,
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        if self.damaged.get() {
            return Ok(0);
        }
        self.from.read(into).or_else(|error| match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::InvalidData | ErrorKind::InvalidInput => {
                self.damaged.set(true);
                Ok(0)
            }
            _ => Err(error),
        })
    }
}

/// Reader that decodes to UTF-8. Undecodable bytes become a replacement character.
struct Decoded<R> {
    from: R,
    decoder: Decoder,
    bytes: Vec<u8>,
    /// Decoded text, including bytes that were returned already.
    text: Vec<u8>,
    /// Number of decoded bytes that were returned already.
    given: usize,
    finished: bool,
}

impl<R: Read> Decoded<R> {
    fn new(from: R, encoding: &'static Encoding) -> Self {
        let (decoder, bytes) = (encoding.new_decoder(), vec![0; BLOCK]);
        Self { from, decoder, bytes, text: Vec::new(), given: 0, finished: false }
    }

    /// Reads and decodes the next block of bytes.
    fn decode(&mut self) -> Result<()> {
        let n = self.from.read(&mut self.bytes)?;
        self.finished = n == 0;
        let most = self.decoder.max_utf8_buffer_length(n).unwrap_or(4 * n);
        self.text.resize(most, 0);
        let (_, _, length, _) =
            self.decoder.decode_to_utf8(&self.bytes[..n], &mut self.text, self.finished);
        self.text.truncate(length);
        self.given = 0;
        Ok(())
    }
}

impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        while self.given == self.text.len() && !self.finished {
            self.decode()?;
        }
        let n = (&self.text[self.given..]).read(into)?;
        self.given += n;
        Ok(n)
    }
}

/// Reader that converts line ends of a single carriage return to line feeds.
struct CarriageReturns<R>(R);

impl<R: Read> Read for CarriageReturns<R> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        let n = self.0.read(into)?;
        into[..n].iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
        Ok(n)
    }
}
