//! The lines of a data file: in memory or, for a large file, read piece by piece under a lock.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use lang::charset::Charset;

use super::parse;
use crate::input;

/// Size in bytes above which a file is not kept in memory.
const IN_MEMORY: u64 = 256 << 20;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// Message about a file that cannot be read; JMeter's message if JMeter has one.
pub(super) type Problem = String;

/// Format of the lines of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    /// Delimiter between values that may be quoted; `None` if values are not quoted.
    pub(super) quoted: Option<char>,
    /// True if the first line is not data.
    pub(super) skip_first: bool,
}

/// An opened data file: in memory, or read as a stream.
#[derive(Debug)]
pub(super) enum Lines {
    Memory(Text),
    Stream(Stream),
}

/// A data file in memory.
#[derive(Debug)]
pub(super) struct Text {
    content: String,
    header: Option<String>,
    /// Start offset of each data line, and the end of the last line.
    starts: Vec<u32>,
}

impl Text {
    pub(super) fn len(&self) -> u64 {
        self.starts.len().saturating_sub(1) as u64
    }

    pub(super) fn header(&self) -> Option<&str> {
        self.header.as_deref()
    }

    /// Returns the data line number `nth`, from 0, with its line break.
    pub(super) fn line(&self, nth: u64) -> &str {
        let nth = nth as usize;
        let range = self.starts.get(nth).zip(self.starts.get(nth + 1));
        range.and_then(|(from, to)| self.content.get(*from as usize..*to as usize)).unwrap_or("")
    }

    fn new(text: String, shape: Shape) -> Self {
        let mut at = 0;
        let mut header = None;
        if shape.skip_first && !text.is_empty() {
            at = parse::plain_line(&text);
            header = Some(parse::without_break(&text[..at]).to_string());
        }
        let mut starts = vec![at as u32];
        while at < text.len() {
            at += match shape.quoted {
                Some(delimiter) => parse::quoted_line(&text[at..], delimiter),
                None => parse::plain_line(&text[at..]),
            };
            starts.push(at as u32);
        }
        Self { content: text, header, starts }
    }
}

/// Opens a file. Blocks until the file is read, if it fits into memory.
pub(super) fn open(path: &Path, encoding: &str, shape: Shape) -> Result<Lines, Problem> {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    let missing = || format!("File {name} must exist and be readable");
    let mut file = input::open(path).map_err(|_| missing())?;
    let about = file.metadata().map_err(|_| missing())?;
    if !about.is_file() {
        return Err(missing());
    }
    let charset = if encoding.is_empty() { Some(Charset::Utf8) } else { Charset::named(encoding) };
    let charset = charset.ok_or_else(|| encoding.to_string())?;
    if about.len() > IN_MEMORY && charset.is_ascii_like() {
        return Stream::open(file, charset, shape).map(Lines::Stream).map_err(|_| missing());
    }
    let mut bytes = Vec::with_capacity(about.len() as usize);
    file.read_to_end(&mut bytes).map_err(|_| missing())?;
    let bytes = bytes.strip_prefix(BOM).unwrap_or(&bytes);
    Ok(Lines::Memory(Text::new(charset.decode(bytes), shape)))
}

/// A large data file that is read line by line.
#[derive(Debug)]
pub(super) struct Stream {
    reader: BufReader<File>,
    charset: Charset,
    shape: Shape,
    header: Option<String>,
    line: Vec<u8>,
}

impl Stream {
    fn open(file: File, charset: Charset, shape: Shape) -> io::Result<Self> {
        let reader = BufReader::with_capacity(1 << 20, file);
        let mut stream = Self { reader, charset, shape, header: None, line: Vec::new() };
        stream.start()?;
        Ok(stream)
    }

    pub(super) fn header(&self) -> Option<&str> {
        self.header.as_deref()
    }

    /// Moves to the first data line.
    fn start(&mut self) -> io::Result<()> {
        self.reader.seek(SeekFrom::Start(0))?;
        if self.reader.fill_buf()?.starts_with(BOM) {
            self.reader.consume(BOM.len());
        }
        if self.shape.skip_first {
            self.line.clear();
            self.reader.read_until(b'\n', &mut self.line)?;
            let line = self.charset.decode(&self.line);
            self.header = Some(parse::without_break(&line).to_string());
        }
        Ok(())
    }

    /// Appends the next line to `out`. Returns false at the end of the file or after a read error.
    pub(super) fn next(&mut self, recycle: bool, out: &mut String) -> bool {
        self.read(out).unwrap_or(false)
            || (recycle && self.start().is_ok() && self.read(out).unwrap_or(false))
    }

    fn read(&mut self, out: &mut String) -> io::Result<bool> {
        self.line.clear();
        // A line with an open quote continues on the next lines until the quote is closed.
        loop {
            if self.reader.read_until(b'\n', &mut self.line)? == 0 {
                break;
            }
            let open = self.line.iter().fold(false, |open, byte| open ^ (*byte == b'"'));
            if self.shape.quoted.is_none() || !open {
                break;
            }
        }
        out.push_str(&self.charset.decode(&self.line));
        Ok(!self.line.is_empty())
    }
}
