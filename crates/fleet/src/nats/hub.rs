//! The coordinator's streams to its reserved agents: one thread for all streams, and a [`NatsStream`] for each stream.
//!
//! An agent is silent if its working process sends nothing; acknowledgements of the waiting process do not count. An
//! offer with another key means that the agent was restarted: the reserved agent is gone.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::client::{Client, Event};
use super::envelope::{self, Kind, OVERHEAD, Order, OrderKind, Reply, ReplyKind};
use super::key::Secret;
use super::link::Link;
use super::reserve::{ReservedAgent, ReservedAgents, StreamHandover};
use crate::frame::{self, Incoming};
use crate::remote::{AgentEvent, FromAgent, ToAgent, nanos};

/// Maximum number of bytes in a packet; fewer if the server's limit is lower.
const CHUNK: usize = 128 << 10;
/// Interval at which the streams send pending packets.
const TICK: Duration = Duration::from_millis(50);
/// Maximum length of an agent's message in bytes. A report with a hundred thousand labels is shorter.
pub(crate) const LONGEST: usize = 64 << 20;

/// An event for the hub's thread: from the NATS connection, or a command of a stream's handle.
#[derive(Debug)]
pub(crate) enum Input {
    Bus(Event),
    Send(u32, Vec<u8>),
    Close(u32),
    /// Closes all streams and ends the thread.
    End,
}

/// The state of a stream that the hub's thread shares with the stream's handle.
#[derive(Debug)]
struct State {
    /// Number of bytes in the channel to the hub's thread.
    pending: AtomicUsize,
    /// Number of bytes that the link holds and the agent has not acknowledged.
    queued: AtomicUsize,
    last: AtomicI64,
    ended: AtomicBool,
    words: Mutex<String>,
    /// True if the connection to the server is up.
    up: Arc<AtomicBool>,
}

/// Handle of the stream to one agent.
#[derive(Debug)]
pub(crate) struct NatsStream {
    number: u32,
    found: StreamHandover,
    to: Sender<Input>,
    state: Arc<State>,
    _end: Arc<End>,
}

/// Guard of the hub's thread. Dropping the last stream ends the thread, and waits until the thread has released the
/// agents.
#[derive(Debug)]
struct End {
    to: Sender<Input>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for End {
    fn drop(&mut self) {
        let _ = self.to.send(Input::End);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl NatsStream {
    pub(crate) fn send(&self, message: &ToAgent) -> Result<(), String> {
        let mut bytes = Vec::new();
        frame::push(&mut bytes, message)?;
        self.state.pending.fetch_add(bytes.len(), Ordering::Relaxed);
        let _ = self.to.send(Input::Send(self.number, bytes));
        Ok(())
    }

    /// Returns the data with which another coordinator can take over this stream.
    pub(crate) fn handover(&self) -> &StreamHandover {
        &self.found
    }

    pub(crate) fn queued(&self) -> usize {
        self.state.pending.load(Ordering::Relaxed) + self.state.queued.load(Ordering::Relaxed)
    }

    pub(crate) fn last(&self) -> i64 {
        self.state.last.load(Ordering::Relaxed)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.state.ended.load(Ordering::Relaxed)
    }

    /// True if the connection to the server is up. While it is down, an agent does not count as silent.
    pub(crate) fn hears(&self) -> bool {
        self.state.up.load(Ordering::Relaxed)
    }

    pub(crate) fn cut(&self) {
        let _ = self.to.send(Input::Close(self.number));
    }

    /// Waits until the agent has acknowledged all bytes, closes the stream, and returns the reason of its end.
    pub(crate) fn end(&self, patience: Duration) -> String {
        let until = Instant::now() + patience;
        while !self.has_ended() && self.queued() > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.cut();
        let words = self.state.words.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if words.is_empty() { "the stream was closed".into() } else { words }
    }
}

/// The hub thread's state of one stream.
struct Stream {
    agent: ReservedAgent,
    link: Link,
    incoming: Incoming,
    state: Arc<State>,
    closed: bool,
}

/// Starts the hub's thread for reserved agents, and returns their streams. Messages of agents are sent to `say` with
/// the agent's number.
pub(crate) fn start(
    reserved: ReservedAgents,
    (clock, say): (Instant, Sender<(u32, AgentEvent)>),
) -> io::Result<Vec<NatsStream>> {
    let chunk = CHUNK.min(reserved.max_payload.saturating_sub(OVERHEAD));
    let up = Arc::new(AtomicBool::new(true));
    let (mut streams, mut parts) = (Vec::new(), Vec::new());
    for (number, agent) in (0..).zip(reserved.agents) {
        let state = Arc::new(State {
            pending: AtomicUsize::default(),
            queued: AtomicUsize::default(),
            last: AtomicI64::new(nanos(clock)),
            ended: AtomicBool::default(),
            words: Mutex::default(),
            up: Arc::clone(&up),
        });
        parts.push((number, agent.handover(), Arc::clone(&state)));
        let incoming = Incoming::of_at_most(LONGEST);
        streams.push(Stream { agent, link: Link::new(chunk), incoming, state, closed: false });
    }
    let (client, input, operator, to) =
        (reserved.client, reserved.input, reserved.operator, reserved.say);
    let mut hub = Hub { client, operator, streams, clock, say, up };
    let thread =
        std::thread::Builder::new().name("agents".into()).spawn(move || hub.run(&input))?;
    let end = Arc::new(End { to: to.clone(), thread: Some(thread) });
    let carried = |(number, found, state)| NatsStream {
        number,
        found,
        to: to.clone(),
        state,
        _end: Arc::clone(&end),
    };
    Ok(parts.into_iter().map(carried).collect())
}

struct Hub {
    client: Client,
    operator: Option<Secret>,
    streams: Vec<Stream>,
    clock: Instant,
    say: Sender<(u32, AgentEvent)>,
    up: Arc<AtomicBool>,
}

impl Hub {
    fn run(&mut self, input: &Receiver<Input>) {
        loop {
            let mut next = input.recv_timeout(TICK);
            // All available input is combined into as few packets as possible.
            for _ in 0..1_000 {
                match next {
                    Ok(Input::End) => return self.give_up(),
                    Ok(input) => self.take(input),
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => return,
                }
                next = input.recv_timeout(Duration::ZERO);
            }
            if let Ok(input) = next {
                if matches!(input, Input::End) {
                    return self.give_up();
                }
                self.take(input);
            }
            self.send();
        }
    }

    fn take(&mut self, input: Input) {
        match input {
            Input::Send(number, bytes) => {
                let Some(stream) = self.streams.get_mut(number as usize) else { return };
                if !stream.closed {
                    stream.link.push(&bytes);
                }
                // `queued` is updated before `pending`, so that every byte is counted at all times.
                stream.state.queued.store(stream.link.queued(), Ordering::Relaxed);
                stream.state.pending.fetch_sub(bytes.len(), Ordering::Relaxed);
            }
            Input::Close(number) => {
                self.order(number as usize, OrderKind::Close);
                if let Some(stream) = self.streams.get_mut(number as usize) {
                    stream.closed = true;
                }
            }
            Input::Bus(Event::Up { .. }) => {
                self.up.store(true, Ordering::Relaxed);
                for stream in &mut self.streams {
                    stream.link.resend();
                }
                self.note("reconnected to the NATS server".into());
            }
            Input::Bus(Event::Down { words, .. }) => {
                if self.up.swap(false, Ordering::Relaxed) {
                    self.note(format!("NATS server {words}; agents continue for their grace time"));
                }
            }
            Input::Bus(Event::Note(words)) => self.note(words),
            Input::Bus(Event::Message { subject, payload, came }) => {
                self.handle(&subject, &payload, came);
            }
            Input::End => {}
        }
    }

    fn note(&self, words: String) {
        // A note concerns all agents, but notes of lost agents are ignored, so it is sent under the number of an open
        // stream.
        let number = self.streams.iter().position(|stream| !stream.closed).unwrap_or(0);
        let _ = self.say.send((number as u32, AgentEvent::Note(words)));
    }

    fn handle(&mut self, subject: &str, payload: &[u8], came: Instant) {
        let mut tokens = subject.split('.').skip(1);
        let (kind, name) = match (tokens.next(), tokens.next(), tokens.next()) {
            (Some("from"), Some(name), None) => (Kind::Reply, name),
            (Some("offer"), Some(_), Some(name)) => (Kind::Offer, name),
            _ => return,
        };
        let Some(number) = self.streams.iter().position(|stream| stream.agent.name == name) else {
            return;
        };
        if kind == Kind::Offer {
            let stream = &self.streams[number];
            if envelope::open_offer(name, payload)
                .is_some_and(|offer| offer.key != stream.agent.key.bytes())
            {
                self.ended(number, "the agent was restarted".into());
            }
            return;
        }
        // Only messages with the agent's own signature count.
        let key = self.streams[number].agent.key;
        let Some(Reply { session, what }) = envelope::open(Some(&key), (kind, name), payload)
        else {
            return;
        };
        if session != self.streams[number].agent.session {
            return;
        }
        if self.streams[number].closed {
            return self.order(number, OrderKind::Close);
        }
        match what {
            ReplyKind::Close(words) => self.ended(number, words),
            ReplyKind::Packet(packet) => {
                let Some(packet) = self.streams[number].agent.keys.open(packet) else {
                    let words = "its messages are encrypted with other keys";
                    return self.ended(number, words.into());
                };
                let bytes = self.streams[number].link.receive(packet);
                self.feed(number, &bytes, came);
            }
        }
    }

    /// Adds received bytes to an agent's stream, and passes on the messages that are now complete.
    fn feed(&mut self, number: usize, bytes: &[u8], came: Instant) {
        let stream = &mut self.streams[number];
        if bytes.is_empty() {
            return;
        }
        let at = nanos(self.clock) - i64::try_from(came.elapsed().as_nanos()).unwrap_or(0);
        stream.state.last.store(at, Ordering::Relaxed);
        stream.incoming.add(bytes);
        loop {
            match stream.incoming.next::<FromAgent>() {
                Ok(Some(message)) => {
                    let heard = AgentEvent::Message(Box::new(message), at);
                    let _ = self.say.send((number as u32, heard));
                }
                Ok(None) => return,
                Err(words) => {
                    self.order(number, OrderKind::Close);
                    return self.ended(number, words);
                }
            }
        }
    }

    fn ended(&mut self, number: usize, words: String) {
        let stream = &mut self.streams[number];
        if std::mem::replace(&mut stream.closed, true) {
            return;
        }
        words.clone_into(&mut stream.state.words.lock().unwrap_or_else(PoisonError::into_inner));
        stream.state.ended.store(true, Ordering::Relaxed);
        let _ = self.say.send((number as u32, AgentEvent::Ended(String::new())));
    }

    /// Sends the due packets of all streams.
    fn send(&mut self) {
        if !self.up.load(Ordering::Relaxed) {
            return;
        }
        let now = self.clock.elapsed();
        for number in 0..self.streams.len() {
            if self.streams[number].closed {
                continue;
            }
            let packets = self.streams[number].link.due(now);
            for packet in packets {
                let packet = self.streams[number].agent.keys.seal(packet);
                self.order(number, OrderKind::Packet(packet));
            }
            let stream = &self.streams[number];
            stream.state.queued.store(stream.link.queued(), Ordering::Relaxed);
        }
    }

    fn order(&self, number: usize, what: OrderKind) {
        let Some(Stream { agent, .. }) = self.streams.get(number) else { return };
        let order = Order { session: agent.session, what };
        let bytes = envelope::seal(self.operator.as_ref(), (Kind::Order, &agent.name), &order);
        self.client.publish(&envelope::to(&agent.name), bytes);
    }

    fn give_up(&mut self) {
        for number in 0..self.streams.len() {
            self.order(number, OrderKind::Close);
        }
        let until = Instant::now() + Duration::from_secs(1);
        while self.client.queued() > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
