//! The event loop of the WebSocket targets: many connections on one thread, each with 80 bytes and a descriptor when
//! idle.
//!
//! The hub listens on any number of addresses. A message costs one event, one read and one write; broadcasts cost one
//! write for each receiver and turn. A sweep over all connections finds silent ones, in one millisecond for a hundred
//! thousand. One thread owns all of this state; a byte on the wake pipe, or its end, ends the thread.

use std::io::{self, ErrorKind};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event as Happened, EventData, EventFlags};
use rustls::ServerConfig;
use wire::websocket::deflate::Window;
use wire::websocket::handshake::{self, NoUpgrade, Request, RequestError};
use wire::websocket::message::{Assembler, Event, Role, Rules, Violation, inflate};
use wire::websocket::{Opcode, close, push_frame};

use super::core::{Core, token};
use super::settings::{Cut, Settings};
use super::socket::{Cause, Compression, Socket, State};
use crate::accept;

/// Lowest epoll token of a listener; lower tokens are those of connections.
const LISTENERS: u64 = 1 << 63;
const WAKE: u64 = u64::MAX;
/// Epoll token of the service's own descriptor.
pub(crate) const LINK: u64 = u64::MAX - 1;
/// Maximum number of connections accepted in one turn from one listener, so that many new connections do not starve the
/// open ones.
const ACCEPTS: usize = 256;
const EVENTS: usize = 1024;
/// Length of the read buffer in bytes: room for an incomplete head and a read.
const BUFFER: usize = 1 << 17;
const CIPHER: usize = 1 << 15;
/// Time in which a peer must close its side after this side was closed, in milliseconds.
const LINGER: u32 = 1000;
/// Close code for a peer that was silent too long.
const SILENT: u16 = 4008;

/// Behaviour of a WebSocket target: a service that handles the messages of a hub's connections.
pub(crate) trait Service: Send {
    /// Called before the hub's event loop starts.
    fn begin(&mut self, _core: &Core) -> io::Result<()> {
        Ok(())
    }

    /// Handles a message received from a client. The service sends answers with [`Core::answer`].
    fn message(&mut self, core: &mut Core, slot: usize, text: bool, payload: &[u8]);

    /// Returns the JSON for a plain GET of `/stats`. If `None`, the service answers later with [`plain_answer`].
    fn stats(&mut self, core: &mut Core, slot: usize) -> Option<String>;

    /// Called at the end of a WebSocket; `tag` is the tag that the service gave to the connection.
    fn gone(&mut self, _core: &mut Core, _tag: [u32; 2]) {}

    /// Handles an event of the service's own descriptor, which is registered with [`LINK`]. Returns false to end the
    /// hub.
    fn linked(&mut self, _core: &mut Core, _flags: EventFlags) -> bool {
        true
    }

    /// Called after all events of a turn of the loop. Returns false to end the hub.
    fn turn(&mut self, _core: &mut Core) -> bool {
        true
    }
}

pub(crate) struct Hub<S> {
    pub(crate) core: Core,
    pub(crate) service: S,
    listeners: Vec<TcpListener>,
    tls: Option<Arc<ServerConfig>>,
    generation: u32,
    buffer: Vec<u8>,
    cipher: Vec<u8>,
    swept: u32,
}

impl<S: Service> Hub<S> {
    pub(crate) fn new(
        listeners: Vec<TcpListener>,
        wake: &UnixStream,
        tls: Option<Arc<ServerConfig>>,
        settings: Settings,
        service: S,
    ) -> io::Result<Self> {
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        for (number, listener) in listeners.iter().enumerate() {
            listener.set_nonblocking(true)?;
            let data = EventData::new_u64(LISTENERS + number as u64);
            epoll::add(&epoll, listener.as_fd(), data, EventFlags::IN)?;
        }
        epoll::add(&epoll, wake.as_fd(), EventData::new_u64(WAKE), EventFlags::IN)?;
        Ok(Self {
            core: Core::new(epoll, settings),
            service,
            listeners,
            cipher: if tls.is_some() { vec![0; CIPHER] } else { Vec::new() },
            tls,
            generation: 0,
            buffer: vec![0; BUFFER],
            swept: 0,
        })
    }

    /// Serves until the wake pipe delivers a byte or closes, or until the service ends the hub.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        let mut events: Vec<Happened> = Vec::with_capacity(EVENTS);
        let pause = self.pause();
        loop {
            let next = (self.swept + pause).saturating_sub(self.core.now);
            let left = Duration::from_millis(u64::from(next));
            let timeout =
                Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) };
            events.clear();
            let room = rustix::buffer::spare_capacity(&mut events);
            match epoll::wait(&self.core.epoll, room, Some(&timeout)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            self.core.now = self.core.start.elapsed().as_millis() as u32;
            for event in &events {
                let happened = event.data.u64();
                let goes_on = match happened {
                    WAKE => false,
                    LINK => self.service.linked(&mut self.core, event.flags),
                    LISTENERS.. => {
                        self.accept((happened - LISTENERS) as usize);
                        true
                    }
                    _ => {
                        self.happened(happened, event.flags);
                        true
                    }
                };
                if !goes_on {
                    return Ok(());
                }
                // Failed connections are removed before the next event, which may reuse their slots.
                self.bury();
            }
            if !self.service.turn(&mut self.core) {
                return Ok(());
            }
            self.bury();
            if self.core.now >= self.swept + pause {
                self.swept = self.core.now;
                self.sweep();
            }
        }
    }

    /// Returns the milliseconds between two sweeps for silent connections: a tenth of the idle limit, within bounds.
    fn pause(&self) -> u32 {
        match self.core.settings.idle_ms {
            0 => LINGER,
            idle => (idle / 10).clamp(5, LINGER),
        }
    }

    fn accept(&mut self, number: usize) {
        for _ in 0..ACCEPTS {
            let Some(stream) = accept::next(&self.listeners[number]) else { return };
            self.admit(stream);
        }
    }

    fn admit(&mut self, stream: TcpStream) {
        let Ok(tls) = accept::tls(self.tls.as_ref()) else { return };
        self.generation = self.generation.wrapping_add(1) & 0x3fff_ffff;
        let rules = Rules { role: Role::Server, deflate: false, limit: self.core.settings.limit };
        let assembler = Assembler::new(rules);
        let entry = self.core.sockets.vacant_entry();
        let data = EventData::new_u64(token(entry.key(), self.generation));
        if epoll::add(&self.core.epoll, &stream, data, EventFlags::IN).is_ok() {
            entry.insert(Socket::new(stream, tls, assembler, self.core.now, self.generation));
        }
    }

    fn happened(&mut self, token: u64, flags: EventFlags) {
        let slot = (token & u64::from(u32::MAX)) as usize;
        let Some(socket) = self.core.sockets.get_mut(slot) else { return };
        if self::token(slot, socket.generation) != token {
            return;
        }
        if flags.contains(EventFlags::OUT) {
            if socket.flush().is_err() {
                return self.remove(slot, Cause::PeerReset);
            }
            self.core.watch(slot);
        }
        if flags.intersects(EventFlags::IN | EventFlags::HUP | EventFlags::ERR)
            && let Err(cause) = self.readable(slot)
        {
            self.remove(slot, cause);
        }
    }

    /// Reads available data from a connection and handles them. An error means that the connection must be removed.
    fn readable(&mut self, slot: usize) -> Result<(), Cause> {
        let socket = &mut self.core.sockets[slot];
        let kept = socket.take_input(&mut self.buffer);
        let read = socket.read(&mut self.buffer[kept..], &mut self.cipher);
        let count = match read {
            Ok(0) => return Err(Cause::PeerFin),
            Ok(count) => count,
            Err(error) if is_for_later(&error) => {
                socket.keep_input(&self.buffer[..kept]);
                self.core.watch(slot);
                return Ok(());
            }
            Err(error) if error.kind() == ErrorKind::InvalidData => return Err(Cause::Protocol),
            Err(_) => return Err(Cause::PeerReset),
        };
        if socket.state == State::Closing {
            return Ok(());
        }
        socket.heard = self.core.now;
        let mut buffer = std::mem::take(&mut self.buffer);
        let used = self.consume(slot, &mut buffer[..kept + count]);
        if let (Ok(used), Some(socket)) = (used, self.core.sockets.get_mut(slot)) {
            socket.keep_input(&buffer[used..kept + count]);
        }
        self.buffer = buffer;
        used.map(|_| ())
    }

    /// Handles the upgrade request or the complete frames in a connection's input; returns the number of bytes
    /// consumed.
    fn consume(&mut self, slot: usize, input: &mut [u8]) -> Result<usize, Cause> {
        let mut used = 0;
        if self.core.sockets[slot].state == State::Asking {
            used = match handshake::request(input) {
                Ok(None) => return Ok(0),
                Ok(Some(request)) => {
                    self.asked(slot, &request);
                    request.size
                }
                Err(error) => {
                    let status = match error {
                        RequestError::RequestLine => "400 Bad Request",
                        RequestError::TooLarge => "431 Request Header Fields Too Large",
                    };
                    self.refuse(slot, status, "");
                    input.len()
                }
            };
        }
        if self.core.sockets[slot].state != State::Open {
            return Ok(input.len());
        }
        // The message assembler is taken out of the slab while its events are handled.
        let rules = Rules { role: Role::Server, deflate: false, limit: 0 };
        let mut assembler =
            std::mem::replace(&mut self.core.sockets[slot].assembler, Assembler::new(rules));
        let result = loop {
            match assembler.next(&mut input[used..]) {
                Ok((count, Event::NeedMore)) => {
                    used += count;
                    break Ok(Flow::GoesOn);
                }
                Ok((count, event)) => {
                    used += count;
                    match self.event(slot, &event) {
                        Ok(Flow::GoesOn) => {}
                        other => break other,
                    }
                }
                Err(violation) => break Err(violation),
            }
        };
        self.core.sockets[slot].assembler = assembler;
        let (cause, code, reason) = match result {
            Ok(Flow::GoesOn) => {
                self.core.flush_answers(slot);
                return Ok(used);
            }
            Ok(Flow::Closes(code)) => (Cause::PeerClose, code, String::new()),
            Err(violation) => (Cause::Protocol, Some(violation.code()), violation.to_string()),
        };
        match code {
            Some(code) => close::push(&mut self.core.out, code, &reason, None),
            None => push_frame(&mut self.core.out, Opcode::CLOSE, &[], None),
        }
        self.core.flush_answers(slot);
        self.finish(slot, cause);
        Ok(input.len())
    }

    fn event(&mut self, slot: usize, event: &Event<'_>) -> Result<Flow, Violation> {
        let Self { core, service, .. } = self;
        match *event {
            Event::NeedMore | Event::Pong(_) => {}
            Event::Ping(payload) => push_frame(&mut core.out, Opcode::PONG, payload, None),
            Event::Close { code, .. } => return Ok(Flow::Closes(code)),
            Event::Message { text, compressed: false, payload } => {
                core.figures.messages_in += 1;
                service.message(core, slot, text, payload);
            }
            Event::Message { text, payload, .. } => {
                core.figures.messages_in += 1;
                let limit = core.settings.limit as usize;
                let compression = core.sockets[slot].compression.as_deref_mut();
                let window = compression.and_then(|compression| {
                    let forgets = compression.terms.client_no_context_takeover;
                    (!forgets).then_some(&mut compression.received)
                });
                let mut plain = Vec::new();
                inflate(&mut core.inflater, window, text, payload, &mut plain, limit)?;
                service.message(core, slot, text, &plain);
            }
        }
        Ok(Flow::GoesOn)
    }

    fn asked(&mut self, slot: usize, request: &Request<'_>) {
        let key = match request.upgrade() {
            Ok(key) => key,
            Err(NoUpgrade::Ordinary) if request.target == b"/stats" => {
                self.core.sockets[slot].state = State::Answering;
                if let Some(body) = self.service.stats(&mut self.core, slot) {
                    plain_answer(&mut self.core, slot, &body);
                }
                return;
            }
            Err(NoUpgrade::Ordinary) => {
                return self.refuse(slot, "426 Upgrade Required", "Upgrade: websocket\r\n");
            }
            Err(NoUpgrade::Version) => {
                let version = "Sec-WebSocket-Version: 13\r\n";
                return self.refuse(slot, "426 Upgrade Required", version);
            }
            Err(NoUpgrade::Key) => return self.refuse(slot, "400 Bad Request", ""),
        };
        let settings = &self.core.settings;
        let spoken = |name: &&[u8]| {
            settings.protocols.is_empty()
                || settings.protocols.iter().any(|own| own.as_bytes() == *name)
        };
        let protocol = request.protocols().find(spoken);
        // zlib cannot compress with an 8-bit window.
        let terms = request
            .deflate()
            .filter(|terms| settings.compression && terms.server_max_window_bits > 8);
        handshake::push_answer(&mut self.core.out, key, terms.as_ref(), protocol);
        let rules = Rules { role: Role::Server, deflate: terms.is_some(), limit: settings.limit };
        let socket = &mut self.core.sockets[slot];
        socket.assembler = Assembler::new(rules);
        socket.compression = terms.map(|terms| {
            Box::new(Compression { terms, received: Window::default(), sent: Window::default() })
        });
        socket.state = State::Open;
        self.core.figures.open += 1;
        self.core.figures.opened += 1;
    }

    fn refuse(&mut self, slot: usize, status: &str, header: &str) {
        let answer =
            format!("HTTP/1.1 {status}\r\n{header}Connection: close\r\nContent-Length: 0\r\n\r\n");
        self.core.send(slot, answer.as_bytes());
        self.finish(slot, Cause::Protocol);
    }

    /// Closes this side of the connection properly, and counts the cause; the peer has one second to close its own
    /// side.
    fn finish(&mut self, slot: usize, cause: Cause) {
        let Some(socket) = self.core.sockets.get_mut(slot) else { return };
        let was_open = socket.state == State::Open;
        if socket.state != State::Closing {
            socket.finish();
            socket.state = State::Closing;
            socket.heard = self.core.now;
        }
        let tag = socket.tag;
        if was_open {
            self.count(cause, tag);
        }
    }

    fn remove(&mut self, slot: usize, cause: Cause) {
        let Some(socket) = self.core.sockets.try_remove(slot) else { return };
        if cause == Cause::Slow {
            socket.abort();
        }
        let was_open = socket.state == State::Open;
        let tag = socket.tag;
        drop(socket);
        if was_open {
            self.count(cause, tag);
        }
    }

    fn count(&mut self, cause: Cause, tag: [u32; 2]) {
        self.core.figures.open -= 1;
        self.core.figures.closed[cause as usize] += 1;
        self.service.gone(&mut self.core, tag);
    }

    /// Closes and removes the connections that were marked as failed.
    fn bury(&mut self) {
        while let Some((slot, cause)) = self.core.doomed.pop() {
            self.remove(slot, cause);
        }
    }

    /// Finds and closes connections that were silent for too long.
    fn sweep(&mut self) {
        let (now, idle) = (self.core.now, self.core.settings.idle_ms);
        let silent: Vec<(usize, State)> = self
            .core
            .sockets
            .iter()
            .filter(|(_, socket)| {
                let age = now.saturating_sub(socket.heard);
                match socket.state {
                    State::Closing => age >= LINGER,
                    State::Asking | State::Open => idle > 0 && age >= idle,
                    State::Answering => false,
                }
            })
            .map(|(slot, socket)| (slot, socket.state))
            .collect();
        for (slot, state) in silent {
            match (state, self.core.settings.cut) {
                (State::Open, Cut::Close) => {
                    let mut frame = Vec::new();
                    close::push(&mut frame, SILENT, "nothing was heard", None);
                    self.core.send(slot, &frame);
                    self.finish(slot, Cause::Silent);
                }
                (State::Open, Cut::Fin) => self.finish(slot, Cause::Silent),
                (State::Open, Cut::Reset) => {
                    if let Some(socket) = self.core.sockets.get(slot) {
                        socket.abort();
                    }
                    self.remove(slot, Cause::Silent);
                }
                _ => self.remove(slot, Cause::Silent),
            }
        }
        self.bury();
    }
}

/// The loop's next action on a connection after a message: continue, or close.
enum Flow {
    GoesOn,
    /// The peer sent a close frame, with this close code.
    Closes(Option<u16>),
}

fn is_for_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// Answers a plain HTTP request with JSON and closes the connection.
pub(crate) fn plain_answer(core: &mut Core, slot: usize, body: &str) {
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    core.send(slot, answer.as_bytes());
    if let Some(socket) = core.sockets.get_mut(slot) {
        socket.finish();
        socket.state = State::Closing;
        socket.heard = core.now;
    }
}
