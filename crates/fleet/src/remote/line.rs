//! The connection to one agent through pipes: its ssh process, and threads that write to it and read from it.
//!
//! Sending never blocks; messages that the connection does not accept are queued in memory. All messages of agents
//! arrive on one channel, with the monotonic time of their arrival.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::ssh::Bootstrap;
use super::wire::{FromAgent, ToAgent};
use crate::frame::{self, Incoming};

/// Number of last lines of the agent's standard error that are kept, to explain the end of the connection.
const LAST_WORDS: usize = 4;
/// Maximum wait for the last lines of standard error.
const LAST_WORDS_WAIT: Duration = Duration::from_millis(500);
/// Maximum length in bytes of a kept line of standard error.
const LONGEST_LINE: u64 = 4096;

/// An event on the connection to an agent.
#[derive(Debug)]
pub(crate) enum AgentEvent {
    /// A message, with the time of its arrival on the clock of the connections.
    Message(Box<FromAgent>, i64),
    /// A message for the user.
    Note(String),
    /// The end of the stream, with the reason if it is known.
    Ended(String),
}

/// A connection to an agent through the pipes of a process.
#[derive(Debug)]
pub(crate) struct Piped {
    /// Name of the process that carries the connection, for messages.
    process: &'static str,
    child: Child,
    /// Channel to the process's standard input; `None` if this side has closed the connection.
    to: Option<Sender<Vec<u8>>>,
    queued: Arc<AtomicUsize>,
    /// Time of the last received bytes, on the clock of the connections.
    last: Arc<AtomicI64>,
    words: Arc<Mutex<VecDeque<String>>>,
    stderr: JoinHandle<()>,
}

/// The data that the threads of one connection share.
struct Threads {
    number: u32,
    clock: Instant,
    say: Sender<(u32, AgentEvent)>,
    last: Arc<AtomicI64>,
}

impl Piped {
    /// Starts a process, such as ssh, that runs an agent after the bootstrap.
    pub(crate) fn start(
        number: u32,
        command: Command,
        bootstrap: Bootstrap,
        ear: (Instant, Sender<(u32, AgentEvent)>),
    ) -> io::Result<Self> {
        Self::begin(number, ("ssh", command), Some(bootstrap), ear)
    }

    /// Starts a process that is an agent from its start, without bootstrap.
    pub(crate) fn here(
        number: u32,
        command: Command,
        ear: (Instant, Sender<(u32, AgentEvent)>),
    ) -> io::Result<Self> {
        Self::begin(number, ("the process", command), None, ear)
    }

    fn begin(
        number: u32,
        (process, mut command): (&'static str, Command),
        bootstrap: Option<Bootstrap>,
        (clock, say): (Instant, Sender<(u32, AgentEvent)>),
    ) -> io::Result<Self> {
        // A separate process group, so that Ctrl-C reaches only the coordinator.
        command.process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("the process has no pipes"));
        };
        let (to, from) = channel();
        let (queued, last) = (Arc::default(), Arc::new(AtomicI64::new(nanos(clock))));
        let words: Arc<Mutex<VecDeque<String>>> = Arc::default();
        let threads = Threads { number, clock, say, last: Arc::clone(&last) };
        let (kept, taken) = (Arc::clone(&words), Arc::clone(&queued));
        let reader = std::thread::Builder::new().name("agent-err".into());
        let stderr = reader.spawn(move || keep(stderr, &kept))?;
        std::thread::Builder::new().name("agent".into()).spawn(move || {
            let ended = threads.follow(stdout, stdin, (from, taken), bootstrap.as_ref());
            let words = ended.err().map_or_else(String::new, |error| error.to_string());
            let _ = threads.say.send((threads.number, AgentEvent::Ended(words)));
        })?;
        Ok(Self { process, child, to: Some(to), queued, last, words, stderr })
    }

    pub(crate) fn send(&self, message: &ToAgent) -> Result<(), String> {
        let mut bytes = Vec::new();
        frame::push(&mut bytes, message)?;
        self.queued.fetch_add(bytes.len(), Ordering::Relaxed);
        if let Some(to) = &self.to {
            // The reading thread detects that the agent is gone.
            let _ = to.send(bytes);
        }
        Ok(())
    }

    /// Returns the number of bytes that are queued for the process.
    pub(crate) fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    /// Returns the time of the last received bytes, on the clock of the connections.
    pub(crate) fn last(&self) -> i64 {
        self.last.load(Ordering::Relaxed)
    }

    /// Closes this side of the connection. An agent ends when its input ends.
    pub(crate) fn close(&mut self) {
        self.to = None;
    }

    /// True if the process that carries the connection has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Kills the process that carries the connection.
    pub(crate) fn cut(&mut self) {
        self.close();
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Ends the process that carries the connection. Returns how it ended, with its last lines of standard error.
    pub(crate) fn end(&mut self, patience: Duration) -> String {
        self.close();
        let until = Instant::now() + patience;
        while !self.has_ended() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
        let by_itself = self.has_ended();
        if !by_itself {
            let _ = self.child.kill();
        }
        let process = self.process;
        let how = match self.child.wait() {
            _ if !by_itself => "the connection was closed".to_owned(),
            Ok(status) => match (status.signal(), status.code()) {
                (Some(signal), _) => format!("{process} was killed by signal {signal}"),
                (None, Some(code)) => format!("{process} exited with code {code}"),
                (None, None) => format!("{process} ended"),
            },
            Err(error) => format!("cannot wait for {process}: {error}"),
        };
        // The last lines may not have arrived yet; other processes may hold standard error open.
        let until = Instant::now() + LAST_WORDS_WAIT;
        while !self.stderr.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        if words.is_empty() { how } else { format!("{how}: {}", words.join("; ")) }
    }
}

/// Returns the time of the connections' clock in nanoseconds.
pub(crate) fn nanos(clock: Instant) -> i64 {
    i64::try_from(clock.elapsed().as_nanos()).unwrap_or(i64::MAX)
}

impl Threads {
    /// Reads messages until the stream ends. The error is the reason of the end.
    fn follow(
        &self,
        stdout: ChildStdout,
        mut stdin: ChildStdin,
        (from, queued): (Receiver<Vec<u8>>, Arc<AtomicUsize>),
        bootstrap: Option<&Bootstrap>,
    ) -> io::Result<()> {
        let mut stdout = BufReader::with_capacity(64 << 10, stdout);
        let note = |words| drop(self.say.send((self.number, AgentEvent::Note(words))));
        let alive = || self.last.store(nanos(self.clock), Ordering::Relaxed);
        if let Some(bootstrap) = bootstrap {
            bootstrap.follow(&mut stdout, &mut stdin, &note, &alive)?;
        }
        std::thread::Builder::new().name("agent-out".into()).spawn(move || {
            for bytes in from {
                let sent = stdin.write_all(&bytes).and_then(|()| stdin.flush());
                queued.fetch_sub(bytes.len(), Ordering::Relaxed);
                if sent.is_err() {
                    return;
                }
            }
        })?;
        let mut incoming = Incoming::default();
        loop {
            let bytes = match stdout.fill_buf() {
                Ok([]) => return Ok(()),
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let (came, length) = (nanos(self.clock), bytes.len());
            incoming.add(bytes);
            stdout.consume(length);
            self.last.store(came, Ordering::Relaxed);
            while let Some(message) = incoming.next().map_err(io::Error::other)? {
                let heard = AgentEvent::Message(Box::new(message), came);
                if self.say.send((self.number, heard)).is_err() {
                    return Ok(());
                }
            }
        }
    }
}

/// Keeps the last lines of standard error.
fn keep(stderr: ChildStderr, words: &Mutex<VecDeque<String>>) {
    let mut stderr = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        match stderr.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => return,
        }
        let line = String::from_utf8_lossy(&line).trim().to_owned();
        if line.is_empty() {
            continue;
        }
        let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
        if words.len() == LAST_WORDS {
            words.pop_front();
        }
        words.push_back(line);
    }
}
