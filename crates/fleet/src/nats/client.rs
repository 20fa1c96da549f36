//! A connection to a NATS server that reconnects by itself: one thread, which polls a socket.
//!
//! Messages published while the connection is down are dropped, and so are unsent bytes when it breaks. Callers resend
//! messages that must arrive. Subscriptions are renewed. A connection without input for 10 s is closed.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use wire::nats::{self, Limits, ServerOperation};
use wire::tls;

use super::greeting::{Greeting, Info};
use super::server::{Login, Server};

/// Time limit for opening the connection, including TLS and authentication.
const CONNECT: Duration = Duration::from_secs(5);
/// Time without input after which the client sends a ping.
const ASK: Duration = Duration::from_secs(4);
/// Time without input after which the client closes the connection.
const GIVE_UP: Duration = Duration::from_secs(10);
/// Time limit for sending the remaining messages when the client is dropped.
const LEAVE: Duration = Duration::from_millis(500);
/// Wait before the first reconnect.
const BACK_OFF: Duration = Duration::from_millis(50);
/// Maximum wait before a reconnect.
const BACK_OFF_MOST: Duration = Duration::from_secs(2);
/// Number of unsent bytes in the connection's buffer above which further messages stay in the channel.
const HIGH: usize = 4 << 20;

/// An event of the connection to the server.
#[derive(Debug)]
pub(crate) enum Event {
    /// The connection is up. The server accepts payloads of at most `max_payload` bytes.
    Up {
        max_payload: usize,
    },
    /// The connection is down or could not be opened, with the reason; `refused` is true if the server rejected the
    /// credentials.
    Down {
        words: String,
        refused: bool,
    },
    /// The server reported an error, but the connection remains open.
    Note(String),
    Message {
        subject: String,
        payload: Vec<u8>,
        came: Instant,
    },
}

enum Command {
    Publish(String, Vec<u8>),
    Subscribe(String),
}

/// Handle of the connection. Dropping it closes the connection.
#[derive(Debug)]
pub(crate) struct Client {
    commands: Sender<Command>,
    wake: UnixStream,
    closed: Arc<AtomicBool>,
    queued: Arc<AtomicUsize>,
    thread: JoinHandle<()>,
}

impl Client {
    /// Starts the thread of a client. The thread keeps the connection open until the client is dropped, and passes all
    /// events to `say`.
    pub(crate) fn start(
        server: Server,
        login: Login,
        name: String,
        say: impl FnMut(Event) + Send + 'static,
    ) -> Result<Self, String> {
        let words =
            |error: io::Error| format!("cannot start the connection to the NATS server: {error}");
        let config = config(&login)?;
        let (commands, taken) = channel();
        let (wake, woken) = UnixStream::pair().map_err(words)?;
        for end in [&wake, &woken] {
            end.set_nonblocking(true).map_err(words)?;
        }
        let (closed, queued) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let mut thread = Thread {
            server,
            login,
            name,
            config,
            commands: taken,
            woken,
            closed: Arc::clone(&closed),
            queued: Arc::clone(&queued),
            subscriptions: BTreeMap::new(),
            say: Box::new(say),
        };
        let thread = std::thread::Builder::new().name("nats".into()).spawn(move || thread.run());
        Ok(Self { commands, wake, closed, queued, thread: thread.map_err(words)? })
    }

    /// Sends a message; drops it if the connection is down.
    pub(crate) fn publish(&self, subject: &str, payload: Vec<u8>) {
        debug_assert!(nats::is_subject(subject), "{subject}");
        self.queued.fetch_add(payload.len(), Ordering::Relaxed);
        self.command(Command::Publish(subject.to_owned(), payload));
    }

    /// Returns the number of bytes in messages that are not sent yet.
    pub(crate) fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    /// Subscribes to a subject. The subscription is renewed after a reconnect.
    pub(crate) fn subscribe(&self, subject: &str) {
        self.command(Command::Subscribe(subject.to_owned()));
    }

    fn command(&self, command: Command) {
        let _ = self.commands.send(command);
        // If the pipe is full, the thread will wake up anyway.
        let _ = (&self.wake).write(&[0]);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        let _ = (&self.wake).write(&[0]);
        // Waits until the last messages are sent, but not for a connection that is just being opened.
        let until = Instant::now() + LEAVE;
        while !self.thread.is_finished() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn config(login: &Login) -> Result<Arc<tls::rustls::ClientConfig>, String> {
    let verify = match &login.roots[..] {
        [] => tls::Verify::SystemRoots,
        roots => tls::Verify::Roots(roots.to_vec()),
    };
    let settings = tls::Settings { verify, ..tls::Settings::default() };
    tls::client_config(&settings).map_err(|error| format!("cannot set up TLS: {error}"))
}

struct Thread {
    server: Server,
    login: Login,
    name: String,
    config: Arc<tls::rustls::ClientConfig>,
    commands: Receiver<Command>,
    woken: UnixStream,
    closed: Arc<AtomicBool>,
    queued: Arc<AtomicUsize>,
    subscriptions: BTreeMap<u64, String>,
    say: Box<dyn FnMut(Event) + Send>,
}

/// The reason why a connection ended.
struct Ended {
    words: String,
    refused: bool,
}

impl From<String> for Ended {
    fn from(words: String) -> Self {
        Self { words, refused: false }
    }
}

impl From<io::Error> for Ended {
    fn from(error: io::Error) -> Self {
        error.to_string().into()
    }
}

impl Thread {
    fn run(&mut self) {
        let mut wait = BACK_OFF;
        loop {
            let mut was_up = false;
            let ended = self.connect().and_then(|(mut line, info)| {
                was_up = true;
                (self.say)(Event::Up { max_payload: info.max_payload });
                self.carry(&mut line)
            });
            if self.closed.load(Ordering::Relaxed) {
                return;
            }
            let Ended { words, refused } =
                ended.err().unwrap_or_else(|| "the connection was closed".to_owned().into());
            let words = format!("{}:{}: {words}", self.server.host, self.server.port);
            (self.say)(Event::Down { words, refused });
            if was_up {
                wait = BACK_OFF;
            }
            self.pause(wait);
            wait = (wait * 2).min(BACK_OFF_MOST);
        }
    }

    /// Waits before a reconnect. A random time is added, so that thousands of agents do not reconnect at the same time.
    fn pause(&mut self, wait: Duration) {
        let mut random = [0];
        let _ = aws_lc_rs::rand::fill(&mut random);
        let until = Instant::now() + wait.mul_f64(1.0 + f64::from(random[0]) / 512.0);
        loop {
            self.drain_commands(None);
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || self.closed.load(Ordering::Relaxed) {
                return;
            }
            let mut wakes = [PollFd::new(&self.woken, PollFlags::IN)];
            let _ = poll(&mut wakes, Timespec::try_from(left).ok().as_ref());
            self.clear_wakes();
        }
    }

    /// Opens a connection, with TLS if required, and authenticates.
    fn connect(&self) -> Result<(Line, Info), Ended> {
        let until = Instant::now() + CONNECT;
        let Server { host, port, .. } = &self.server;
        let mut error = io::Error::other("the host name does not resolve");
        let mut socket = None;
        for address in (host.as_str(), *port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT) {
                Ok(made) => {
                    socket = Some(made);
                    break;
                }
                Err(found) => error = found,
            }
        }
        let mut line = Line::new(socket.ok_or(error)?)?;
        if self.server.tls_first {
            line.shake_hands(&self.config, host, until)?;
        }
        let info = line.info(until)?;
        if !self.server.tls_first && (info.tls_required || (self.server.tls && info.tls_available))
        {
            line.shake_hands(&self.config, host, until)?;
        }
        if line.tls.is_none() {
            let loopback = line.socket.peer_addr().is_ok_and(|peer| peer.ip().is_loopback());
            if self.server.tls || !loopback {
                let words = "the server offers no TLS, which is required except on loopback";
                return Err(Ended { words: words.into(), refused: true });
            }
        }
        let greeting = Greeting { login: &self.login, name: &self.name, tls: line.tls.is_some() };
        let mut hello = Vec::new();
        nats::push_connect(&greeting.json(&info)?, &mut hello);
        nats::push_ping(&mut hello);
        for (number, subject) in &self.subscriptions {
            nats::push_subscribe(subject, *number, &mut hello);
        }
        line.write(&hello)?;
        line.consent(until)?;
        Ok((line, info))
    }

    /// Sends and receives messages until the connection ends.
    fn carry(&mut self, line: &mut Line) -> Result<(), Ended> {
        let (mut heard, mut asked) = (Instant::now(), false);
        loop {
            self.drain_commands(Some(line));
            if self.closed.load(Ordering::Relaxed) {
                let _ = line.flush();
                return Ok(());
            }
            line.flush()?;
            if line.wait(Some(&self.woken), ASK)? {
                (heard, asked) = (Instant::now(), false);
            }
            self.clear_wakes();
            self.handle(line)?;
            let silent = heard.elapsed();
            if silent >= GIVE_UP {
                return Err(
                    format!("no message from the server for {} s", GIVE_UP.as_secs()).into()
                );
            }
            if silent >= ASK && !asked {
                asked = true;
                let mut ping = Vec::new();
                nats::push_ping(&mut ping);
                line.write(&ping)?;
            }
        }
    }

    /// Handles all received protocol operations.
    fn handle(&mut self, line: &mut Line) -> Result<(), Ended> {
        let came = Instant::now();
        let mut answer = Vec::new();
        let mut at = 0;
        while let Some((told, used)) =
            nats::next(&line.plain[at..], Limits::default()).map_err(|broken| broken.to_string())?
        {
            match told {
                ServerOperation::Message { subject, payload, .. } => {
                    let (subject, payload) = (subject.to_owned(), payload.to_vec());
                    (self.say)(Event::Message { subject, payload, came });
                }
                ServerOperation::Ping => nats::push_pong(&mut answer),
                ServerOperation::Err(words) if is_permission(words) => {
                    (self.say)(Event::Note(format!("the server reports an error: {words}")));
                }
                ServerOperation::Err(words) => return Err(refusal(words)),
                ServerOperation::Info(_) | ServerOperation::Pong | ServerOperation::Ok => {}
            }
            at += used;
        }
        line.plain.drain(..at);
        if !answer.is_empty() {
            line.write(&answer)?;
        }
        Ok(())
    }

    /// Executes the queued commands of the client's handle. Messages are dropped while there is no connection.
    fn drain_commands(&mut self, mut line: Option<&mut Line>) {
        while line.as_ref().is_none_or(|line| line.out.len() < HIGH) {
            let command = match self.commands.try_recv() {
                Ok(command) => command,
                Err(TryRecvError::Empty | TryRecvError::Disconnected) => return,
            };
            let mut bytes = Vec::new();
            match command {
                Command::Publish(subject, payload) => {
                    self.queued.fetch_sub(payload.len(), Ordering::Relaxed);
                    if line.is_some() {
                        nats::push_publish(&subject, &payload, &mut bytes);
                    }
                }
                Command::Subscribe(subject) => {
                    let number = self.subscriptions.len() as u64 + 1;
                    nats::push_subscribe(&subject, number, &mut bytes);
                    self.subscriptions.insert(number, subject);
                }
            }
            if let Some(line) = line.as_deref_mut() {
                // The next read reports a TLS failure.
                let _ = line.seal(&bytes);
            }
        }
    }

    fn clear_wakes(&self) {
        let mut buffer = [0; 256];
        while (&self.woken).read(&mut buffer).is_ok_and(|n| n == buffer.len()) {}
    }
}

/// True if an error concerns one subject only, so that the server keeps the connection.
fn is_permission(words: &str) -> bool {
    words.to_ascii_lowercase().starts_with("permissions")
}

fn refusal(words: &str) -> Ended {
    let lower = words.to_ascii_lowercase();
    let refused = lower.starts_with("authoriz") || lower.starts_with("authentic");
    Ended { words: format!("the server reports an error: {words}"), refused }
}

/// The socket of a connection, with its TLS state and buffers.
struct Line {
    socket: TcpStream,
    tls: Option<tls::Client>,
    /// Received TLS data that is not decrypted yet.
    cipher: Vec<u8>,
    /// Decrypted bytes that are not a complete protocol operation yet.
    plain: Vec<u8>,
    out: Vec<u8>,
    buffer: Vec<u8>,
}

impl Line {
    fn new(socket: TcpStream) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        let (cipher, plain, out) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { socket, tls: None, cipher, plain, out, buffer: vec![0; 64 << 10] })
    }

    fn seal(&mut self, bytes: &[u8]) -> Result<(), Ended> {
        match &mut self.tls {
            Some(tls) => tls.write(bytes, &mut self.out).map_err(|e| e.to_string().into()),
            None => {
                self.out.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Ended> {
        self.seal(bytes)?;
        self.flush().map_err(Ended::from)
    }

    /// Sends as many of the unsent bytes as the socket accepts.
    fn flush(&mut self) -> io::Result<()> {
        let mut sent = 0;
        while sent < self.out.len() {
            match self.socket.write(&self.out[sent..]) {
                Ok(n) => sent += n,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.out.drain(..sent);
        Ok(())
    }

    /// Waits until the socket is readable or writable or the thread is woken, and receives. Returns true if bytes were
    /// received.
    fn wait(&mut self, woken: Option<&UnixStream>, patience: Duration) -> Result<bool, Ended> {
        let mut flags = PollFlags::IN;
        if !self.out.is_empty() {
            flags |= PollFlags::OUT;
        }
        let mut ready = vec![PollFd::from_borrowed_fd(self.socket.as_fd(), flags)];
        ready.extend(woken.map(|woken| PollFd::new(woken, PollFlags::IN)));
        match poll(&mut ready, Timespec::try_from(patience).ok().as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(io::Error::from(error).into()),
        }
        drop(ready);
        self.read()
    }

    fn read(&mut self) -> Result<bool, Ended> {
        let mut came = false;
        // The number of reads is limited, so that received bytes are handled before more are read.
        for _ in 0..64 {
            match self.socket.read(&mut self.buffer) {
                Ok(0) => {
                    // The last bytes received may contain the reason for the close.
                    return if came {
                        Ok(true)
                    } else {
                        Err("the server closed the connection".to_owned().into())
                    };
                }
                Ok(n) if self.tls.is_some() => self.cipher.extend_from_slice(&self.buffer[..n]),
                Ok(n) => self.plain.extend_from_slice(&self.buffer[..n]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
            came = true;
            self.open()?;
        }
        Ok(came)
    }

    /// Decrypts received TLS data.
    fn open(&mut self) -> Result<(), Ended> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        let plain = &mut self.plain;
        let progress = tls
            .advance(&mut self.cipher, &mut self.out, &mut |bytes| plain.extend_from_slice(bytes));
        let progress = match progress {
            Ok(progress) => progress,
            Err(error) => {
                // The TLS alert tells the server the reason.
                let _ = self.flush();
                return Err(Ended { words: format!("TLS: {error}"), refused: false });
            }
        };
        self.cipher.drain(..progress.used);
        self.flush()?;
        Ok(())
    }

    fn shake_hands(
        &mut self,
        config: &Arc<tls::rustls::ClientConfig>,
        host: &str,
        until: Instant,
    ) -> Result<(), Ended> {
        let tls = tls::Client::new(config, host).map_err(|error| format!("TLS: {error}"))?;
        self.tls = Some(tls);
        self.open()?;
        while self.tls.as_ref().is_some_and(tls::Client::handshaking) {
            self.step(until, "TLS handshake")?;
        }
        self.open()
    }

    /// Waits until bytes are received. Fails at `until`, with a message that names `what` was expected.
    fn step(&mut self, until: Instant, what: &str) -> Result<(), Ended> {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            let seconds = CONNECT.as_secs();
            return Err(format!("no {what} from the server within {seconds} s").into());
        }
        self.flush()?;
        self.wait(None, left).map(drop)
    }

    /// Waits for the server's INFO message and returns it.
    fn info(&mut self, until: Instant) -> Result<Info, Ended> {
        loop {
            let told = nats::next(&self.plain, Limits::default()).map_err(|e| e.to_string())?;
            match told {
                Some((ServerOperation::Info(json), used)) => {
                    let info = Info::read(json)?;
                    self.plain.drain(..used);
                    // Bytes received before the TLS handshake are not authenticated, so they are dropped.
                    self.plain.clear();
                    return Ok(info);
                }
                Some(_) => {
                    return Err("this is not a NATS server: its first message is not INFO"
                        .to_owned()
                        .into());
                }
                None => self.step(until, "INFO message")?,
            }
        }
    }

    /// Waits for the reply to the first PING, which proves that the credentials are accepted.
    fn consent(&mut self, until: Instant) -> Result<(), Ended> {
        loop {
            let told = nats::next(&self.plain, Limits::default()).map_err(|e| e.to_string())?;
            let (done, used) = match told {
                Some((ServerOperation::Pong, used)) => (true, used),
                Some((ServerOperation::Err(words), _)) if !is_permission(words) => {
                    return Err(refusal(words));
                }
                // Messages of subscriptions may arrive first. They are dropped here and resent by their senders.
                Some((_, used)) => (false, used),
                None => {
                    self.step(until, "reply to the login")?;
                    continue;
                }
            };
            self.plain.drain(..used);
            if done {
                return Ok(());
            }
        }
    }
}
