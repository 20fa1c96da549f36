//! Opens result files, pipes and standard input, and rejects other kinds of paths with a message.
//!
//! A file is opened only once: bytes that were read to detect its format are returned once more.
use std::fs::{self, File};
use std::io::{Cursor, Error, ErrorKind, IsTerminal, Read, Result};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Path with which a user names standard input instead of a file.
pub const STANDARD_INPUT: &str = "-";
/// Time limit for another program to open a named pipe for writing.
const WRITER: Duration = Duration::from_secs(10);
/// Time without a byte after which [`on_wait`]'s function is called with the cause of the wait.
const SILENCE: Duration = Duration::from_secs(3);
/// Size of the first read from a stream in bytes.
const FIRST: usize = 64 << 10;

/// Function that gets a line for the user, which says what the program is waiting for.
type OnWait = fn(&str);

static ON_WAIT: OnceLock<OnWait> = OnceLock::new();

/// Sets the function that is called if a stream sends no byte for three seconds, at most once per stream. Only the
/// first call has an effect.
pub fn on_wait(notify: OnWait) {
    let _ = ON_WAIT.set(notify);
}

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
            return Ok(Self(first_bytes("standard input", move || Ok(Box::new(input) as Stream))?));
        }
        let about = fs::metadata(path)?;
        let kind = about.file_type();
        if kind.is_file() {
            return Ok(Self(Box::new(File::open(path)?)));
        }
        if kind.is_fifo() {
            let owned = path.to_owned();
            let name = format!("the pipe {}", path.display());
            let open = move || File::open(owned).map(|file| Box::new(file) as Stream);
            return Ok(Self(first_bytes(&name, open)?));
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

type Stream = Box<dyn Read + Send>;

/// Message of the thread that opens a stream.
enum Step {
    Opened,
    /// The first bytes that were read, and a reader of the bytes after them; or the error.
    First(Result<(Vec<u8>, Stream)>),
}

/// Opens a stream and waits for its first bytes. Opening a named pipe waits for a writer.
fn first_bytes(
    name: &str,
    open: impl FnOnce() -> Result<Stream> + Send + 'static,
) -> Result<Stream> {
    let (send, receive) = mpsc::channel();
    std::thread::spawn(move || {
        let first = open().and_then(|mut stream| {
            let _ = send.send(Step::Opened);
            let mut bytes = vec![0; FIRST];
            let n = loop {
                match stream.read(&mut bytes) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    read => break read?,
                }
            };
            bytes.truncate(n);
            Ok((bytes, stream))
        });
        let _ = send.send(Step::First(first));
    });
    let (begin, mut is_notified, mut is_open) = (Instant::now(), false, false);
    loop {
        let until = match (is_notified, is_open) {
            (false, _) => SILENCE,
            (true, false) => WRITER,
            (true, true) => Duration::MAX,
        };
        match receive.recv_timeout(until.saturating_sub(begin.elapsed())) {
            Ok(Step::Opened) => is_open = true,
            Ok(Step::First(first)) => {
                let (bytes, rest) = first?;
                return Ok(Box::new(Cursor::new(bytes).chain(rest)));
            }
            Err(RecvTimeoutError::Timeout) if !is_notified => {
                is_notified = true;
                let what = if is_open { "the first bytes" } else { "a program that writes to it" };
                if let Some(notify) = ON_WAIT.get() {
                    notify(&format!("{name}: waiting for {what}"));
                }
            }
            Err(_) => {
                let why = "it is a pipe that no program writes to";
                return Err(Error::new(ErrorKind::TimedOut, why));
            }
        }
    }
}

fn refused(why: &str) -> Error {
    Error::new(ErrorKind::InvalidInput, why)
}
