//! Opens result files, pipes and standard input, and rejects other kinds of paths with a message.
//!
//! A file is opened only once: bytes that were read to detect its format are returned once more.
use std::fs::{self, File};
use std::io::{Cursor, Error, ErrorKind, IsTerminal, Read, Result};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

/// The path that stands for standard input.
pub const STANDARD_INPUT: &str = "-";
/// Time limit for a writer to open a named pipe.
const WRITER: Duration = Duration::from_secs(10);

/// The bytes of a result file.
pub struct Source(Box<dyn Read + Send>);

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Source")
    }
}

impl Source {
    /// Opens a file, a pipe, or standard input if the path is `-`.
    pub fn open(path: &Path) -> Result<Self> {
        if path == Path::new(STANDARD_INPUT) {
            let input = std::io::stdin();
            if input.is_terminal() {
                return Err(refused("standard input is a terminal: pipe a result file into it"));
            }
            return Ok(Self(Box::new(input)));
        }
        let about = fs::metadata(path)?;
        let kind = about.file_type();
        if kind.is_file() {
            return Ok(Self(Box::new(File::open(path)?)));
        }
        if kind.is_fifo() {
            return Ok(Self(Box::new(pipe(path)?)));
        }
        Err(refused(match kind {
            _ if kind.is_dir() => "it is a folder, not a result file",
            _ if kind.is_char_device() || kind.is_block_device() => {
                "it is a device, not a result file"
            }
            _ => "it is a socket, not a result file",
        }))
    }

    /// Returns the first bytes without consuming them.
    pub fn peek(&mut self, bytes: usize) -> Result<Vec<u8>> {
        let mut head = Vec::with_capacity(bytes);
        (&mut self.0).take(bytes as u64).read_to_end(&mut head)?;
        let rest = std::mem::replace(&mut self.0, Box::new(std::io::empty()));
        self.0 = Box::new(Cursor::new(head.clone()).chain(rest));
        Ok(head)
    }
}

impl Read for Source {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        self.0.read(into)
    }
}

/// True if the path can be read only once, because it is standard input or a pipe.
pub fn is_stream(path: &Path) -> bool {
    path == Path::new(STANDARD_INPUT)
        || fs::metadata(path).is_ok_and(|about| about.file_type().is_fifo())
}

/// Opens a named pipe. Opening waits for a writer.
fn pipe(path: &Path) -> Result<File> {
    let (send, receive) = mpsc::channel();
    let owned = path.to_owned();
    std::thread::spawn(move || send.send(File::open(owned)));
    receive.recv_timeout(WRITER).unwrap_or_else(|_| {
        Err(Error::new(ErrorKind::TimedOut, "it is a pipe that no program writes to"))
    })
}

fn refused(why: &str) -> Error {
    Error::new(ErrorKind::InvalidInput, why)
}
