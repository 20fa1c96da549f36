//! The JVM as a child process: if it crashes, only that process ends, and the run ends in order.
//!
//! Messages go through the child's standard input, replies through its standard output. Each thread that carries
//! messages has a thread in the child. A frame consists of the content's length, the number of that thread, a kind, and
//! the content.

use std::collections::HashMap;
use std::fmt;
use std::fs::OpenOptions;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use engine::message::{self, FrameHead};

use crate::carrier::{Carrier, Carry};
use crate::java::Java;
use crate::workers::lock;

/// The Java class whose `main` serves the messages.
const MAIN: &str = "dev.throng.Pipe";

/// A JVM that runs in a child process.
pub(crate) struct Child {
    process: u32,
    input: Mutex<ChildStdin>,
    numbers: AtomicU32,
    shared: Arc<Shared>,
}

/// State that is shared with the thread that reads the child's replies.
#[derive(Default)]
struct Shared {
    /// For each thread that waits for a reply, by the thread's number: the channel for the reply. After the child has
    /// ended, no thread can be added.
    waiting: Mutex<HashMap<u32, Sender<Frame>>>,
    ended: OnceLock<Ended>,
}

/// The end of the child process: its description and its exit code.
#[derive(Clone, Debug)]
struct Ended {
    words: String,
    code: i32,
}

/// A frame that the child process has sent as a reply.
#[derive(Debug, PartialEq, Eq)]
struct Frame {
    thread: u32,
    kind: u8,
    content: Vec<u8>,
}

/// A file with the child's options; dropping this value deletes the file. Only its owner may read it, because options
/// may contain passwords and all users of the machine can see command lines.
struct Arguments(PathBuf);

impl Arguments {
    fn write(options: &[String]) -> io::Result<Self> {
        static FILES: AtomicU32 = AtomicU32::new(0);
        let number = FILES.fetch_add(1, Relaxed);
        let name = format!("throng-java-{}-{number}", std::process::id());
        let file = Self(std::env::temp_dir().join(name));
        // An old file of that name belongs to an earlier run and must not be overwritten in place.
        match std::fs::remove_file(&file.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut out = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file.0)?;
        out.write_all(Self::text(options).as_bytes())?;
        Ok(file)
    }

    /// Quotes options as Java's launcher reads them from a file, with a backslash before quotes and backslashes.
    fn text(options: &[String]) -> String {
        let mut out = String::new();
        for option in options {
            out.push('"');
            out.push_str(&option.replace('\\', "\\\\").replace('"', "\\\""));
            out.push_str("\"\n");
        }
        out
    }
}

impl Drop for Arguments {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

impl Child {
    pub(crate) fn start(java: &Java, class_path: &str, options: &[String]) -> Result<Self, String> {
        let program = java.home.join("bin/java");
        let failed = |error: io::Error| format!("cannot start {}: {error}", program.display());
        let options = Arguments::write(options)
            .map_err(|error| format!("cannot write the options of Java: {error}"))?;
        let mut child = Command::new(&program)
            .arg(format!("@{}", options.0.display()))
            .args(["-cp", class_path, MAIN])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C must reach the run only, which lets running samples finish. So the child gets a separate
            // process group.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        let shared = Arc::<Shared>::default();
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(io::ErrorKind::BrokenPipe.into()));
        };
        let process = child.id();
        stats::process::count_in(process);
        let to = Arc::clone(&shared);
        let read = move || {
            let mut output = BufReader::with_capacity(1 << 16, output);
            let mut options = Some(options);
            while let Ok(frame) = Frame::read(&mut output) {
                // The child has started and has read its options, so the file can be deleted.
                options = None;
                // The thread that waits for this reply may have ended.
                let _ = lock(&to.waiting).get(&frame.thread).map(|waiting| waiting.send(frame));
            }
            drop(options);
            let _ = to.ended.set(Ended::of(child.wait()));
            lock(&to.waiting).clear();
        };
        std::thread::Builder::new().name("java replies".into()).spawn(read).map_err(failed)?;
        Ok(Self { process, input: Mutex::new(input), numbers: AtomicU32::new(0), shared })
    }

    /// Sends a frame to the child, and waits for the reply.
    fn ask(&self, frame: &Frame, replies: &Receiver<Frame>) -> Result<Frame, String> {
        // If the frame cannot be sent, the child has ended, and the thread that reads replies reports that.
        let _ = self.send(frame);
        replies.recv().map_err(|_| self.shared.words())
    }

    fn send(&self, frame: &Frame) -> io::Result<()> {
        let bytes = frame.bytes();
        let mut input = lock(&self.input);
        input.write_all(&bytes)?;
        input.flush()
    }
}

impl Carrier for Child {
    fn serve(&self, name: &str, work: &mut dyn FnMut(i32, &mut Carry<'_>)) -> Result<(), String> {
        let number = self.numbers.fetch_add(1, Relaxed);
        let frame = |kind: message::Frame, content: &[u8]| Frame {
            thread: number,
            kind: kind as u8,
            content: content.into(),
        };
        let (to, replies) = channel();
        {
            let mut waiting = lock(&self.shared.waiting);
            if self.shared.ended.get().is_some() {
                return Err(self.shared.words());
            }
            waiting.insert(number, to);
        }
        let begun = self.ask(&frame(message::Frame::Begin, name.as_bytes()), &replies)?;
        let thread = begun.content.first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes));
        work(i32::try_from(thread).unwrap_or(0), &mut |message| {
            let reply = self.ask(&frame(message::Frame::Call, message), &replies)?;
            if reply.kind == message::Frame::None as u8 {
                return Err(String::from_utf8_lossy(&reply.content).into_owned());
            }
            Ok(reply.content)
        });
        lock(&self.shared.waiting).remove(&number);
        let _ = self.send(&frame(message::Frame::Leave, &[]));
        Ok(())
    }

    fn ended(&self) -> Option<String> {
        self.shared.ended.get().map(|ended| ended.words.clone())
    }

    fn exit(&self, patience: Duration, least: u8) {
        const LOOK: Duration = Duration::from_millis(10);
        for _ in 0..=patience.div_duration_f64(LOOK) as u32 {
            if let Some(ended) = self.shared.ended.get() {
                std::process::exit(if ended.code == 0 { least.into() } else { ended.code });
            }
            std::thread::sleep(LOOK);
        }
    }
}

impl Shared {
    /// Returns the reason why no reply will come from the child.
    fn words(&self) -> String {
        let ended = self.ended.get().map(|ended| ended.words.clone());
        ended.unwrap_or_else(|| "the Java process sent no reply".into())
    }
}

impl Ended {
    fn of(status: io::Result<ExitStatus>) -> Self {
        let (words, code) = match status {
            Ok(status) => match (status.code(), status.signal()) {
                (Some(code), _) => (format!("the Java process ended with exit code {code}"), code),
                // The exit code is 128 plus the signal's number, as in a shell.
                (None, signal) => {
                    let signal = signal.unwrap_or(0);
                    (format!("the Java process crashed with signal {signal}"), 128 + signal)
                }
            },
            Err(error) => (format!("cannot wait for the Java process: {error}"), 1),
        };
        Self { words, code }
    }
}

impl Frame {
    fn bytes(&self) -> Vec<u8> {
        let length = self.content.len();
        let mut bytes = Vec::with_capacity(FrameHead::SIZE + length);
        let head = FrameHead { length: length as u32, thread: self.thread, kind: self.kind };
        bytes.extend(head.to_bytes());
        bytes.extend(&self.content);
        bytes
    }

    fn read(from: &mut impl Read) -> io::Result<Self> {
        let mut head = [0; FrameHead::SIZE];
        from.read_exact(&mut head)?;
        let FrameHead { length, thread, kind } = FrameHead::from_bytes(head);
        let mut content = Vec::new();
        // If the child ends within a frame, fewer bytes arrive than announced.
        let read = from.take(length.into()).read_to_end(&mut content)?;
        if read < length as usize {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Self { thread, kind, content })
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Child").field("process", &self.process).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_quoted_and_gone_with_their_file() {
        let options = ["-Da=b c".to_owned(), "-Dd=\"e\\".to_owned()];
        let file = Arguments::write(&options).unwrap();
        let path = file.0.clone();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "\"-Da=b c\"\n\"-Dd=\\\"e\\\\\"\n");
        drop(file);
        assert!(!path.exists());
    }

    #[test]
    fn frames_come_as_they_went_and_never_in_part() {
        let frame = Frame { thread: 7, kind: message::Frame::None as u8, content: b"words".into() };
        let bytes = frame.bytes();
        assert_eq!(Frame::read(&mut bytes.as_slice()).ok(), Some(frame));
        for end in 0..bytes.len() {
            assert!(Frame::read(&mut &bytes[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn how_it_ended_is_told_as_a_shell_does() {
        let code = |raw| Ended::of(Ok(ExitStatus::from_raw(raw)));
        assert_eq!(code(3 << 8).code, 3);
        let crashed = code(6);
        assert_eq!(crashed.code, 134);
        assert!(crashed.words.contains("signal 6"), "{crashed:?}");
    }
}
