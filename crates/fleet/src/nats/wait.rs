//! An agent that waits in a pool: it offers itself, is reserved, and forwards the stream to a process that does the
//! work.
//!
//! The working process is the same program. It reads orders from its standard input, like an agent that ssh has
//! started. The waiting process holds the stream and reconnects to the server. Orders need the operator's signature,
//! and a reservation order is valid once. If no message of the coordinator arrives for the patience time, the working
//! process loses its input and ends when its grant expires.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use wire::nats::is_token;

use super::client::{Client, Event};
use super::envelope::{self, Kind, OVERHEAD, Offer, Order, OrderKind, RandomId, Reply, ReplyKind};
use super::key::{Public, Secret};
use super::link::{Link, Packet};
use super::reserve::LABELS;
use super::sealed::{Half, Keys, Own, Shared, Side};
use super::server::{Login, POOL, Server, TOKEN_WORDS, read, shared, var};
use crate::frame::Whole;

/// Maximum number of bytes in a packet; fewer if the server's limit is lower.
const CHUNK: usize = 128 << 10;
/// Number of bytes queued for the working process above which further input is refused.
const HELD: usize = 16 << 20;
/// Number of bytes queued for the coordinator above which the working process's output is not read.
const QUEUED: usize = 4 << 20;
/// Interval at which the stream sends due packets.
const TICK: Duration = Duration::from_millis(50);
/// Minimum interval between two offers.
const OFFER: Duration = Duration::from_millis(100);
/// Maximum time to wait for a silent coordinator, in seconds.
const PATIENCE_MOST: u32 = 2 * 3600;
/// Maximum time to wait for the coordinator's last acknowledgement.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// The settings of an agent that waits in a pool.
#[derive(Debug)]
pub struct Waiting {
    pub server: Server,
    /// Name of the agent's pool; `None` selects the pool in the server's address, or the default pool.
    pub pool: Option<String>,
    /// Name of the agent; `None` selects the machine's name.
    pub name: Option<String>,
    pub zone: Option<String>,
    pub labels: Vec<(String, String)>,
    /// File with the operator's public key.
    pub operator: Option<String>,
    /// True if the agent ends after its first run.
    pub once: bool,
    /// Additional arguments of the working process after `agent --stdio`.
    pub arguments: Vec<String>,
}

/// Waits for runs and works for them until `stop` returns true. `note` receives messages for the user; an error is also
/// a message for the user.
pub fn wait(
    asked: &Waiting,
    stop: &dyn Fn() -> bool,
    note: &mut dyn FnMut(&str),
) -> Result<(), String> {
    let mut member = Member::new(asked)?;
    while !stop() {
        if member.step(note)? {
            return Ok(());
        }
    }
    member.leave();
    Ok(())
}

enum Input {
    Bus(Event),
    /// Output of the working process, with the number of the run among all runs of this agent.
    Output(u64, Vec<u8>),
    /// The working process of the run with this number has closed its output.
    OutputEnded(u64),
}

/// State of a waiting agent.
struct Member<'a> {
    asked: &'a Waiting,
    pool: String,
    name: String,
    operator: Option<Public>,
    key: Secret,
    /// The key pair for the key exchange of the next stream.
    own: Own,
    /// The key that the agent shares with the operator.
    shared: Option<Shared>,
    program: String,
    client: Client,
    input: Receiver<Input>,
    say: Sender<Input>,
    max_payload: usize,
    told: bool,
    nonce: RandomId,
    refusal: Option<(RandomId, String)>,
    offered: Option<Instant>,
    work: Option<Work>,
    runs: u64,
    /// Ended sessions, each with the reason of its end: the answer to a coordinator that wants to take over such a
    /// session.
    over: BTreeMap<RandomId, String>,
}

/// State of an agent's work for one run.
struct Work {
    session: RandomId,
    own: Own,
    keys: Keys,
    link: Link,
    /// Incomplete frames from the coordinator, and to the coordinator (`into`): the stream of a new coordinator must
    /// begin at the start of a frame.
    from: Whole,
    into: Whole,
    child: Child,
    /// Channel to the process's standard input; `None` after closing it, which makes the process end.
    to: Option<Sender<Vec<u8>>>,
    /// Number of bytes queued for the working process.
    held: Arc<AtomicUsize>,
    /// Number of bytes queued for the coordinator.
    queued: Arc<AtomicUsize>,
    /// Time of the coordinator's last message to the agent.
    heard: Instant,
    patience: Duration,
    /// Time at which the process ended, and how it ended.
    ended: Option<(Instant, String)>,
    /// True if the coordinator has released the agent, or was silent for longer than `patience`.
    closed: bool,
}

impl<'a> Member<'a> {
    fn new(asked: &'a Waiting) -> Result<Self, String> {
        let env = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let (pool, name) = names(asked)?;
        let operator = asked.operator.as_ref().map(|path| {
            let named = |words| format!("{}: {path}: {words}", var::OPERATOR);
            Public::read(&read(var::OPERATOR, path)?).map_err(named)
        });
        let operator = operator.transpose()?;
        if operator.is_none() && !asked.server.is_loopback() {
            return Err(format!(
                "the NATS server is on another machine, so orders must be signed: name the file with the operator's public \
                 key by --operator-key or {}",
                var::OPERATOR
            ));
        }
        let (login, shared) = (Login::of(&asked.server, env)?, shared(env)?);
        let program = crate::remote::program()?;
        let (say, input) = channel();
        let to = say.clone();
        let about = format!("throng agent {name}");
        let client = Client::start(asked.server.clone(), login, about, move |event| {
            let _ = to.send(Input::Bus(event));
        })?;
        client.subscribe(&envelope::call(&pool));
        client.subscribe(&envelope::to(&name));
        Ok(Self {
            asked,
            pool,
            name,
            operator,
            key: Secret::new()?,
            own: Own::new()?,
            shared,
            program,
            client,
            input,
            say,
            max_payload: 0,
            told: false,
            nonce: envelope::random_id()?,
            refusal: None,
            offered: None,
            work: None,
            runs: 0,
            over: BTreeMap::new(),
        })
    }

    /// Handles received input, and sends due packets. Returns true if the agent is to end.
    fn step(&mut self, note: &mut dyn FnMut(&str)) -> Result<bool, String> {
        let mut next = self.input.recv_timeout(TICK);
        for _ in 0..1_000 {
            match next {
                Ok(input) => self.take(input, note)?,
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(
                        "internal error: the thread of the NATS connection has ended".into()
                    );
                }
            }
            next = self.input.recv_timeout(Duration::ZERO);
        }
        if let Ok(input) = next {
            self.take(input, note)?;
        }
        self.work(note)
    }

    fn take(&mut self, input: Input, note: &mut dyn FnMut(&str)) -> Result<(), String> {
        match input {
            Input::Output(run, bytes) => {
                if let Some(work) = self.work.as_mut().filter(|_| run == self.runs) {
                    let whole = work.from.add(&bytes);
                    work.link.push(&whole);
                }
            }
            Input::OutputEnded(run) => {
                if let Some(work) = self.work.as_mut().filter(|_| run == self.runs) {
                    work.to = None;
                    let how = how(&mut work.child);
                    work.ended.get_or_insert((Instant::now(), how));
                }
            }
            Input::Bus(Event::Up { max_payload }) => {
                self.max_payload = max_payload;
                self.told = false;
                note(&format!("agent {} is waiting in pool {}", self.name, self.pool));
                if let Some(work) = &mut self.work {
                    work.link.resend();
                }
                // A coordinator that reserved an earlier agent of this name learns that it was restarted.
                self.offer();
            }
            Input::Bus(Event::Down { words, refused }) => {
                let again = if refused { "; retrying" } else { "" };
                if !std::mem::replace(&mut self.told, true) {
                    note(&format!("{words}{again}"));
                }
            }
            Input::Bus(Event::Note(words)) => note(&words),
            Input::Bus(Event::Message { subject, payload, .. }) => {
                if subject == envelope::call(&self.pool) {
                    self.offer();
                } else if subject == envelope::to(&self.name) {
                    self.order(&payload, note)?;
                }
            }
        }
        Ok(())
    }

    fn offer(&mut self) {
        if self.offered.is_some_and(|at| at.elapsed() < OFFER) {
            return;
        }
        self.offered = Some(Instant::now());
        let offer = Offer {
            nonce: self.nonce,
            key: self.key.public().bytes(),
            half: self.own.half(),
            mark: self.shared.as_ref().map(Shared::mark),
            program: self.program.clone(),
            zone: self.asked.zone.clone().unwrap_or_default(),
            labels: self.asked.labels.clone(),
            busy: self.work.is_some(),
            refusal: self.refusal.clone(),
            offered: crate::remote::offered(),
        };
        let bytes = envelope::seal(Some(&self.key), (Kind::Offer, &self.name), &offer);
        self.client.publish(&envelope::offer(&self.pool, &self.name), bytes);
    }

    fn order(&mut self, bytes: &[u8], note: &mut dyn FnMut(&str)) -> Result<(), String> {
        let about = (Kind::Order, self.name.as_str());
        let Some(order) = envelope::open::<Order>(self.operator.as_ref(), about, bytes) else {
            let meant = envelope::open::<Order>(None, about, bytes);
            if let Some(Order { session, what: OrderKind::Reserve { nonce, .. } }) = meant
                && nonce == self.nonce
            {
                let words =
                    "the order is not signed by the operator whose public key the agent has";
                note(words);
                self.refusal = Some((session, words.to_owned()));
                self.offer();
            }
            return Ok(());
        };
        let is_ours = self.work.as_ref().is_some_and(|work| work.session == order.session);
        match order.what {
            OrderKind::Reserve { nonce, patience, half } => {
                if self.work.is_none() && nonce == self.nonce {
                    if let Err(words) = self.begin(order.session, patience, &half) {
                        note(&words);
                        self.say(order.session, ReplyKind::Close(words));
                        return Ok(());
                    }
                    note("a run has started");
                } else if !is_ours {
                    return Ok(());
                }
                self.say(
                    order.session,
                    ReplyKind::Packet(Packet { number: 0, has: 0, bytes: Vec::new() }),
                );
            }
            OrderKind::Packet(packet) => match &mut self.work {
                Some(work) if is_ours => work.receive(packet),
                _ => {
                    if let Some(words) = self.over.get(&order.session).cloned() {
                        self.say(order.session, ReplyKind::Close(words));
                    }
                }
            },
            OrderKind::Close => {
                if let Some(work) = self.work.as_mut().filter(|_| is_ours) {
                    (work.to, work.closed) = (None, true);
                }
            }
            OrderKind::Take { former, patience, half } => {
                self.hand_over(order.session, (&former, patience, &half), note);
            }
        }
        Ok(())
    }

    /// Starts a stream to a coordinator that takes over the run of one of the sessions in `former`. Refuses if the
    /// agent no longer works for that run.
    fn hand_over(
        &mut self,
        session: RandomId,
        (former, patience, half): (&[RandomId], u32, &Half),
        note: &mut dyn FnMut(&str),
    ) {
        let chunk = self.chunk();
        match &mut self.work {
            // This coordinator has already taken over; only the answer was lost.
            Some(work) if work.session == session => {}
            Some(work) if former.contains(&work.session) && work.to.is_some() => {
                let before = work.session;
                let about = (session, self.name.as_str());
                let keys = match work.own.keys(Side::Agent, half, self.shared.as_ref(), about) {
                    Ok(keys) => keys,
                    Err(words) => return self.say(session, ReplyKind::Close(words)),
                };
                work.take_over((session, keys), patience, chunk);
                let words = "another coordinator has taken over the run";
                note(words);
                self.over.insert(before, words.into());
            }
            _ => {
                let words = former.iter().find_map(|session| self.over.get(session).cloned());
                let words = words.unwrap_or_else(|| "the agent is not working for this run".into());
                return self.say(session, ReplyKind::Close(words));
            }
        }
        self.say(session, ReplyKind::Packet(Packet { number: 0, has: 0, bytes: Vec::new() }));
    }

    fn chunk(&self) -> usize {
        CHUNK.min(self.max_payload.saturating_sub(OVERHEAD))
    }

    fn say(&self, session: RandomId, what: ReplyKind) {
        let bytes =
            envelope::seal(Some(&self.key), (Kind::Reply, &self.name), &Reply { session, what });
        self.client.publish(&envelope::from(&self.name), bytes);
    }

    /// Starts the working process.
    fn begin(&mut self, session: RandomId, patience: u32, half: &Half) -> Result<(), String> {
        // The random number and the key pair are used up, and earlier refusals no longer matter.
        (self.nonce, self.refusal) = (envelope::random_id()?, None);
        let own = std::mem::replace(&mut self.own, Own::new()?);
        let keys = own.keys(Side::Agent, half, self.shared.as_ref(), (session, &self.name))?;
        self.runs += 1;
        let chunk = self.chunk();
        let words = |error: std::io::Error| format!("cannot start the working process: {error}");
        let mut command = Command::new("/proc/self/exe");
        command.arg0("throng").args(["agent", "--stdio"]).args(&self.asked.arguments);
        // A separate process group, so that Ctrl-C reaches only the waiting agent.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(words)?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("the working process has no pipes".into());
        };
        let (held, queued) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let to = write(stdin, Arc::clone(&held)).map_err(words)?;
        forward(stdout, (self.runs, self.say.clone()), Arc::clone(&queued)).map_err(words)?;
        self.work = Some(Work {
            session,
            own,
            keys,
            link: Link::new(chunk),
            from: Whole::default(),
            into: Whole::default(),
            child,
            to: Some(to),
            held,
            queued,
            heard: Instant::now(),
            patience: patience_of(patience),
            ended: None,
            closed: false,
        });
        Ok(())
    }

    /// Sends due packets, and handles the end of the run. Returns true if the agent is to end.
    fn work(&mut self, note: &mut dyn FnMut(&str)) -> Result<bool, String> {
        let Some(work) = &mut self.work else { return Ok(false) };
        if work.to.is_some() && work.heard.elapsed() > work.patience {
            note(&format!(
                "no message from the coordinator for {} s: users stop when the grant expires",
                work.patience.as_secs()
            ));
            (work.to, work.closed) = (None, true);
        }
        let packets = if work.closed { Vec::new() } else { work.link.due(elapsed()) };
        work.queued.store(work.link.queued(), Ordering::Relaxed);
        let session = work.session;
        let over = work
            .ended
            .as_ref()
            .filter(|(at, _)| work.closed || work.link.queued() == 0 || at.elapsed() > LAST_WORDS);
        let over = over.map(|(_, how)| how.clone());
        for packet in packets {
            let sealed = self.work.as_ref().map(|work| work.keys.seal(packet));
            if let Some(packet) = sealed {
                self.say(session, ReplyKind::Packet(packet));
            }
        }
        let Some(how) = over else { return Ok(false) };
        self.say(session, ReplyKind::Close(how.clone()));
        self.over.insert(session, how);
        while self.over.len() > 8 {
            self.over.pop_first();
        }
        self.work = None;
        note(&format!("the run has ended; agent {} is waiting in pool {}", self.name, self.pool));
        if self.asked.once {
            self.flush();
        }
        Ok(self.asked.once)
    }

    /// Ends the run immediately: kills the working process and informs the coordinator.
    fn leave(&mut self) {
        if let Some(mut work) = self.work.take() {
            let _ = work.child.kill();
            let _ = work.child.wait();
            self.say(work.session, ReplyKind::Close("the agent was stopped".into()));
        }
        self.flush();
    }

    fn flush(&self) {
        let until = Instant::now() + Duration::from_secs(1);
        while self.client.queued() > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Work {
    /// Starts the stream to a new coordinator. The working process resends what the previous coordinator has not
    /// acknowledged.
    fn take_over(&mut self, (session, keys): (RandomId, Keys), patience: u32, chunk: usize) {
        (self.session, self.keys, self.link) = (session, keys, Link::new(chunk));
        self.into.clear();
        (self.heard, self.patience) = (Instant::now(), patience_of(patience));
    }

    fn receive(&mut self, packet: Packet) {
        let Some(packet) = self.keys.open(packet) else { return };
        self.heard = Instant::now();
        // An unaccepted packet will be resent.
        if self.held.load(Ordering::Relaxed) > HELD {
            return;
        }
        let bytes = self.into.add(&self.link.receive(packet));
        if let Some(to) = self.to.as_ref().filter(|_| !bytes.is_empty()) {
            self.held.fetch_add(bytes.len(), Ordering::Relaxed);
            let _ = to.send(bytes);
        }
    }
}

/// Returns the time to wait for a silent coordinator: the number of seconds that the coordinator requested, within
/// limits.
fn patience_of(seconds: u32) -> Duration {
    Duration::from_secs(seconds.clamp(30, PATIENCE_MOST).into())
}

/// Waits for the end of a process, and returns a description of how the process ended.
fn how(child: &mut Child) -> String {
    match child.wait() {
        Ok(status) => match (status.signal(), status.code()) {
            (Some(signal), _) => format!("the agent's process was killed by signal {signal}"),
            (None, Some(0)) => "the agent has ended".into(),
            (None, code) => format!("the agent's process exited with code {}", code.unwrap_or(-1)),
        },
        Err(error) => format!("cannot wait for the agent's process: {error}"),
    }
}

/// Starts a thread that writes queued bytes to the standard input of the working process.
fn write(mut stdin: ChildStdin, held: Arc<AtomicUsize>) -> std::io::Result<Sender<Vec<u8>>> {
    let (to, from) = channel::<Vec<u8>>();
    std::thread::Builder::new().name("agent-in".into()).spawn(move || {
        for bytes in from {
            let written = stdin.write_all(&bytes).and_then(|()| stdin.flush());
            held.fetch_sub(bytes.len(), Ordering::Relaxed);
            if written.is_err() {
                return;
            }
        }
    })?;
    Ok(to)
}

/// Starts a thread that reads the output of the working process, as fast as the stream to the coordinator accepts
/// bytes.
fn forward(
    mut stdout: ChildStdout,
    (run, say): (u64, Sender<Input>),
    queued: Arc<AtomicUsize>,
) -> std::io::Result<()> {
    std::thread::Builder::new().name("agent-out".into()).spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        loop {
            while queued.load(Ordering::Relaxed) > QUEUED {
                std::thread::sleep(Duration::from_millis(2));
            }
            let input = match stdout.read(&mut buffer) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Ok(0) | Err(_) => Input::OutputEnded(run),
                Ok(n) => Input::Output(run, buffer[..n].to_vec()),
            };
            let ended = matches!(input, Input::OutputEnded(_));
            if let Input::Output(_, bytes) = &input {
                // Counts the bytes until the stream updates the number.
                queued.fetch_add(bytes.len(), Ordering::Relaxed);
            }
            if say.send(input).is_err() || ended {
                return;
            }
        }
    })?;
    Ok(())
}

/// Returns the time since the first call of this function in this process: the clock of all streams.
fn elapsed() -> Duration {
    static BEGIN: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed()
}

/// Returns the pool and the agent's name. Fails if a name, zone or label has invalid characters.
fn names(asked: &Waiting) -> Result<(String, String), String> {
    let pool = asked.pool.clone().or_else(|| asked.server.pool.clone());
    let pool = pool.unwrap_or_else(|| POOL.to_owned());
    let name = asked.name.clone().map_or_else(machine, Ok)?;
    let zone = asked.zone.iter().filter(|zone| !zone.is_empty());
    let named =
        [("pool", &pool), ("agent", &name)].into_iter().chain(zone.map(|zone| ("zone", zone)));
    let labels = asked.labels.iter().flat_map(|(key, value)| [("label", key), ("label", value)]);
    for (what, text) in named.chain(labels) {
        if !is_token(text) {
            return Err(format!("invalid {what} {text:?}; use {TOKEN_WORDS}"));
        }
    }
    if asked.labels.len() > LABELS {
        return Err(format!("an agent can have at most {LABELS} labels"));
    }
    Ok((pool, name))
}

/// Returns this machine's name with invalid characters replaced.
fn machine() -> Result<String, String> {
    let name = rustix::system::uname();
    let name = name.nodename().to_string_lossy();
    let name: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(64).collect();
    if is_token(&name) {
        Ok(name)
    } else {
        Err("the host name of this machine is not usable: name the agent with --name".into())
    }
}
