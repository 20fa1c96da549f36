//! Opening a held connection: address, TCP, tunnel through a proxy, TLS, upgrade.

use std::sync::Arc;

use base64::Engine;
use stats::{CloseCause, Counter, Span};
use wire::tls::rustls::ClientConfig;
use wire::websocket::handshake::{self, Refusal};
use wire::websocket::session::{Event, Heartbeat, Problem};

use super::close::Ending;
use super::{Deflate, Held, Listener, POOLED, State};
use crate::completions::HeldEvent;
use crate::ids::{RouteId, UserId};
use crate::net::opening::{self, HandshakeStart, Opened};
use crate::net::outcome::Failure;
use crate::session::Around;
use crate::time::clock::{Nanos, thread_cpu};
use crate::time::milestones::Milestones;

/// The opening of a connection: its parameters and its result.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) net: opening::Opening,
    /// Start of the sample.
    pub(crate) start: Nanos,
    /// Time at which the connection, with TLS, was established.
    pub(crate) connected_at: Nanos,
    /// Times of the steps of the opening.
    pub(crate) steps: Milestones,
    /// Time at which the last bytes arrived at this host.
    pub(crate) arrival: Nanos,
    /// Time from the start until the upgrade was accepted.
    pub(crate) connect: Nanos,
    /// Time limits for connecting and for each read, in nanoseconds; 0 is unlimited.
    pub(crate) connect_limit: Nanos,
    pub(crate) read_limit: Nanos,
    pub(crate) tls: Option<Result<Arc<ClientConfig>, wire::tls::Error>>,
    /// Name and password for the proxy.
    pub(crate) credentials: Option<(String, String)>,
    pub(crate) heartbeat: Option<Arc<Heartbeat>>,
    /// `Some` if compression was offered; true if the server resets its compression window after each message.
    pub(crate) deflate: Option<bool>,
    /// The upgrade request and its response, as on the wire.
    pub(crate) request: Vec<u8>,
    pub(crate) answer: Vec<u8>,
    pub(crate) failed: Option<Failed>,
}

/// Reason why a connection could not be opened.
#[derive(Debug)]
pub(crate) enum Failed {
    Failure(Failure),
    /// The server's response to the upgrade request is not an acceptance.
    Refused(Refusal),
    /// The proxy refused the tunnel; with its status code.
    Proxy(u16),
    Ended(Ending),
}

impl Opening {
    const NEW: Self = Self {
        net: opening::Opening::NONE,
        start: 0,
        connected_at: 0,
        steps: Milestones::NONE,
        arrival: 0,
        connect: 0,
        connect_limit: 0,
        read_limit: 0,
        tls: None,
        credentials: None,
        heartbeat: None,
        deflate: None,
        request: Vec::new(),
        answer: Vec::new(),
        failed: None,
    };
}

impl Held {
    /// Returns an empty [`Opening`] from the pool.
    pub(crate) fn new_opening(&mut self) -> Box<Opening> {
        self.openings.pop().unwrap_or_else(|| Box::new(Opening::NEW))
    }

    /// Takes the [`Opening`] of a connection that is open or has failed.
    pub(crate) fn take_opening(&mut self, at: u32) -> Option<Box<Opening>> {
        self[at].rest.as_mut()?.opening.take()
    }

    /// Returns an [`Opening`] to the pool.
    pub(crate) fn give_opening(&mut self, opening: Option<Box<Opening>>) {
        let Some(mut opening) = opening else { return };
        if self.openings.len() < POOLED {
            let (mut request, mut answer) =
                (std::mem::take(&mut opening.request), std::mem::take(&mut opening.answer));
            request.clear();
            answer.clear();
            *opening = Opening { request, answer, ..Opening::NEW };
            self.openings.push(opening);
        }
    }

    /// Starts to open a connection that [`add`](Self::add) has added.
    pub(crate) fn open(&mut self, around: &mut Around<'_>, at: u32, mut opening: Box<Opening>) {
        around.recorder.add(Counter::WsStarted, 1);
        let line = &mut self.all[at as usize];
        line.listener = Listener::Opening;
        opening.net = opening::Opening::of(line.route, line.user);
        let (slot, clock) = (Self::slot(at), around.clock);
        let (user, transport) = (line.user, &mut line.transport);
        let opened =
            around.net.open(&mut opening.net, transport, slot, user, clock, around.recorder);
        if let Opened::Resolving = opened {
            line.state = State::Naming;
        }
        self.rest(at).opening = Some(opening);
        self.on_opened(around, at, opened);
    }

    /// Handles the resolver's answer for a user's connection: connects, or fails the opening.
    pub(crate) fn on_resolved(
        &mut self,
        around: &mut Around<'_>,
        user: UserId,
        route: RouteId,
        known: Result<(), Failure>,
    ) {
        let at = around.users[user].socket;
        // The slot may have another connection by now.
        let waits = self
            .all
            .get(at as usize)
            .is_some_and(|line| line.state == State::Naming && line.route == route);
        if !waits {
            return;
        }
        self[at].state = State::Connecting;
        let now = around.clock.now();
        if let Some(opening) = self.opening(at) {
            opening.steps.dns = Milestones::micros(now - opening.start);
        }
        match known {
            Ok(()) => self.connect(around, at),
            Err(failure) => self.fail(around, at, Failed::Failure(failure)),
        }
    }

    /// Tries the route's addresses, starting with the current one, until a connection attempt does not fail at once.
    pub(crate) fn connect(&mut self, around: &mut Around<'_>, at: u32) {
        self.step(around, at, |around, opening, line, at| {
            around.net.connect(&mut opening.net, &mut line.transport, Self::slot(at), around.clock)
        });
    }

    /// After the time limit for connecting, tries the next address if there is one.
    pub(super) fn connect_is_late(&mut self, around: &mut Around<'_>, at: u32) {
        self.step(around, at, |around, opening, line, at| {
            let (slot, clock) = (Self::slot(at), around.clock);
            around.net.connect_is_late(&mut opening.net, &mut line.transport, slot, clock)
        });
    }

    /// Handles the result of a TCP connection attempt: continues the opening, or tries the next address.
    pub(super) fn on_connected(&mut self, around: &mut Around<'_>, at: u32) {
        self.step(around, at, |around, opening, line, at| {
            let (slot, start, clock) = (Self::slot(at), opening.start, around.clock);
            let (opening, transport) = (&mut opening.net, &mut line.transport);
            around.net.connected(opening, transport, slot, start, clock, around.recorder)
        });
    }

    /// Runs a step of a connection's opening.
    fn step(
        &mut self,
        around: &mut Around<'_>,
        at: u32,
        step: impl FnOnce(&mut Around<'_>, &mut Opening, &mut super::HeldLine, u32) -> Opened,
    ) {
        let Some(mut opening) = self.take_opening(at) else { return };
        let opened = step(around, &mut opening, &mut self.all[at as usize], at);
        self.rest(at).opening = Some(opening);
        self.on_opened(around, at, opened);
    }

    /// Acts on the result of a step of a connection's opening: sets the time limit, starts the next step, or fails the
    /// opening.
    fn on_opened(&mut self, around: &mut Around<'_>, at: u32, opened: Opened) {
        let index = self[at].user;
        match opened {
            Opened::Resolving | Opened::Queued => around.users[index].limit = Nanos::MAX,
            Opened::Connecting => {
                self[at].state = State::Connecting;
                let limit = self.opening(at).map_or(0, |opening| opening.connect_limit);
                around.limit(index, limit, around.clock.now());
            }
            Opened::Established => {
                let stands = around.net.woke;
                if let Some(opening) = self.opening(at) {
                    opening.steps.tcp = Milestones::micros(stands - opening.start);
                }
                self.classify(around, at);
                around.recorder.opened(around.net.routes[self[at].route].class);
                self.read_limit(around, at);
                if around.net.routes[self[at].route].tunnel.is_some() {
                    self.ask_for_tunnel(around, at);
                } else {
                    // The TCP connection was established at the last poll at the latest. Other users have run
                    // since then.
                    self.secure_or_upgrade(around, at, around.net.woke);
                }
            }
            Opened::Failed(failure) => self.fail(around, at, Failed::Failure(failure)),
        }
    }

    /// Sets the class of a connection's route: the class under which the statistics count the server address to which
    /// the connection was opened.
    pub(crate) fn classify(&mut self, around: &mut Around<'_>, at: u32) {
        let route = self[at].route;
        let Some(opening) = self.opening(at) else { return };
        let Ok(address) = around.net.address(&opening.net) else { return };
        let class = around.recorder.class_of(address);
        around.net.routes[route].class = class;
    }

    fn opening(&mut self, at: u32) -> Option<&mut Opening> {
        self[at].rest.as_mut()?.opening.as_deref_mut()
    }

    /// Notifies the listener that the connection cannot be opened.
    fn fail(&mut self, around: &mut Around<'_>, at: u32, failed: Failed) {
        if let Some(opening) = self.opening(at) {
            opening.failed = Some(failed);
        }
        self.notify_over(around, at);
    }

    fn ask_for_tunnel(&mut self, around: &mut Around<'_>, at: u32) {
        self[at].state = State::Tunnelling;
        let Some(tunnel) = &around.net.routes[self[at].route].tunnel else {
            return;
        };
        let mut request =
            format!("CONNECT {0}:{1} HTTP/1.1\r\nHost: {0}\r\n", tunnel.host, tunnel.port);
        if let Some((user, password)) = self.opening(at).and_then(|one| one.credentials.as_ref()) {
            let secret =
                base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
            request.push_str("Proxy-Authorization: Basic ");
            request.push_str(&secret);
            request.push_str("\r\n");
        }
        request.push_str("\r\n");
        let _ = self.send_bytes(around, at, request.as_bytes());
    }

    /// Continues with TLS or the upgrade. The connection to the server has been established since `since`.
    fn secure_or_upgrade(&mut self, around: &mut Around<'_>, at: u32, since: Nanos) {
        if around.net.routes[self[at].route].secure {
            self.start_tls(around, at, since);
        } else {
            self.ask_for_upgrade(around, at);
        }
    }

    fn start_tls(&mut self, around: &mut Around<'_>, at: u32, since: Nanos) {
        let cpu = thread_cpu();
        let began = around.clock.now();
        let Some(mut opening) = self.take_opening(at) else { return };
        let started = match opening.tls.take() {
            Some(Ok(config)) => {
                let transport = &mut self[at].transport;
                around.net.start_tls(&mut opening.net, transport, &config, since, began)
            }
            Some(Err(error)) => Err(Failure::Tls(error)),
            None => Ok(()),
        };
        self.rest(at).opening = Some(opening);
        match started {
            Ok(()) => {
                self[at].state = State::Handshaking;
                self.shake_hands(around, at, &mut [], HandshakeStart { arrival: began, cpu });
            }
            Err(failure) => self.fail(around, at, Failed::Failure(failure)),
        }
    }

    /// Continues a handshake with received bytes; returns how many were used.
    pub(super) fn shake_hands(
        &mut self,
        around: &mut Around<'_>,
        at: u32,
        incoming: &mut [u8],
        since: HandshakeStart,
    ) -> usize {
        let Some(mut opening) = self.take_opening(at) else { return 0 };
        let (clock, recorder) = (around.clock, &mut *around.recorder);
        let transport = &mut self[at].transport;
        let shaken =
            around.net.shake_hands(&mut opening.net, transport, incoming, since, clock, recorder);
        self.rest(at).opening = Some(opening);
        if self.note_sent(around, at, shaken.sent).is_err() {
            return 0;
        }
        match shaken.over {
            Err(failure) => {
                self.fail(around, at, Failed::Failure(failure));
                0
            }
            Ok(over) => {
                if over && self[at].state == State::Handshaking {
                    self.ask_for_upgrade(around, at);
                }
                shaken.used
            }
        }
    }

    /// Requests the upgrade on an established connection.
    fn ask_for_upgrade(&mut self, around: &mut Around<'_>, at: u32) {
        let now = around.clock.now();
        self[at].state = State::Upgrading;
        let Some(mut opening) = self.take_opening(at) else { return };
        opening.connected_at = now;
        let ready = Milestones::micros(now - opening.start);
        if around.net.routes[self[at].route].secure {
            opening.steps.tls = ready.saturating_sub(opening.steps.tcp);
        } else {
            opening.steps.tcp = ready;
        }
        around.recorder.span(Span::Connect, (now - opening.start).max(0) as u64);
        let mut out = std::mem::take(&mut around.net.out);
        out.clear();
        self[at].session.ask(&opening.request, &mut out);
        self.rest(at).opening = Some(opening);
        let sent = self.send_bytes(around, at, &out);
        around.net.out = out;
        if sent.is_ok() {
            self.read_limit(around, at);
        }
    }

    /// Handles the part of the proxy's response that has arrived: continues with TLS or the upgrade when the response
    /// is complete. Returns the number of used bytes.
    pub(super) fn on_tunnel_answer(
        &mut self,
        around: &mut Around<'_>,
        at: u32,
        bytes: &[u8],
    ) -> usize {
        let failed = match handshake::proxy_answer(bytes) {
            Ok(None) => return 0,
            Ok(Some(size)) => {
                self.read_limit(around, at);
                self.secure_or_upgrade(around, at, around.clock.now());
                return size;
            }
            Err(Refusal::Status { status, .. }) => Failed::Proxy(status),
            Err(refusal) => Failed::Refused(refusal),
        };
        self.fail(around, at, failed);
        0
    }

    /// Handles the part of the upgrade response that has arrived: completes the opening when the response is complete.
    /// Returns the number of used bytes.
    pub(super) fn on_upgrade_answer(
        &mut self,
        around: &mut Around<'_>,
        at: u32,
        bytes: &[u8],
        arrival: Nanos,
        now: Nanos,
    ) -> usize {
        let Some(mut opening) = self.take_opening(at) else { return 0 };
        opening.arrival = arrival;
        let line = &mut self.all[at as usize];
        let mut used = 0;
        let mut refused = None;
        match line.session.next(bytes, 0, &mut around.net.out) {
            Ok((size, Event::Opened(head))) => {
                used = size;
                opening.connect = now - opening.start;
                opening.answer.extend_from_slice(head);
                let upgrade = (now - opening.connected_at).max(0) as u64;
                around.recorder.span(Span::Upgrade, upgrade);
                around.recorder.add(Counter::WsOpened, 1);
                around.users[line.user].setbacks = 0;
                (line.state, line.last_io) = (State::Open, now);
                if let Some(heartbeat) = opening.heartbeat.take() {
                    line.session.keep_alive(heartbeat, now);
                }
            }
            Err(Problem::Refused(refusal)) => refused = Some(refusal),
            Ok(_) | Err(Problem::Frame | Problem::Cut(_)) => {}
        }
        let forgets = opening.deflate;
        let rest = self.rest(at);
        rest.opening = Some(opening);
        if used > 0 {
            rest.deflate = forgets.map(|forgets| {
                let window = (!forgets).then(Default::default);
                Deflate { window, parts: Vec::new() }
            });
            self.arm_heartbeat(at);
            self[at].listener = Listener::None;
            self.notify(around, at, HeldEvent::Opened);
        }
        if let Some(refusal) = refused {
            around.recorder.closed(CloseCause::Refused, status_of(&refusal), 0);
            self[at].counted = true;
            self.fail(around, at, Failed::Refused(refusal));
        }
        used
    }

    /// Handles the end of a connection before the upgrade was accepted. As in the plug-in, the end of the stream
    /// also ends the response head.
    pub(super) fn opening_ended(&mut self, around: &mut Around<'_>, at: u32, ending: Ending) {
        let asked = self.opening(at).is_some_and(|opening| opening.connected_at > 0);
        let secure = around.net.routes[self[at].route].secure;
        let failed = match ending {
            Ending::Fin if asked => {
                let refusal = self[at].session.refused_at_end(self.unused(at));
                refusal.map_or(Failed::Ended(ending), Failed::Refused)
            }
            Ending::Fin if secure => Failed::Failure(Failure::TlsClosed),
            _ => Failed::Ended(ending),
        };
        self.fail(around, at, failed);
    }

    /// Restarts the time limit for reading.
    fn read_limit(&mut self, around: &mut Around<'_>, at: u32) {
        let limit = self.opening(at).map_or(0, |opening| opening.read_limit);
        around.limit(self[at].user, limit, around.clock.now());
    }

    /// Restarts the time limit for reading, because handshake bytes had arrived in time and this process handled
    /// them late.
    pub(super) fn restart_read_limit(&mut self, around: &mut Around<'_>, at: u32) {
        self.read_limit(around, at);
    }
}

/// Returns the HTTP status of a refused upgrade; 0 if there was none.
fn status_of(refusal: &Refusal) -> u16 {
    match refusal {
        Refusal::Status { status, .. } => *status,
        _ => 0,
    }
}
