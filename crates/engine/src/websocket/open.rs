//! Opening a WebSocket connection: address, TCP, tunnel through a proxy, TLS, upgrade.

use base64::Engine;
use plan::plan::SamplerId;
use stats::{CloseCause, Counter, Span};
use wire::websocket::handshake::{self, Refusal};
use wire::websocket::session::{Event, Problem, WebSocket};

use super::{Deflate, Ending, Sockets, State, Step, Task, WebSockets, Work};
use crate::context::Context;
use crate::ids::UserId;
use crate::net::opening::{Opened, Opening};
use crate::net::outcome::Failure;
use crate::net::routes::RouteId;
use crate::time::clock::{Nanos, thread_cpu};
use crate::users::Wait;
use crate::websocket::sample::Fault;

impl WebSockets {
    /// Opens the connection whose work is set up.
    pub(super) fn open_socket(&mut self, cx: &mut Context<'_>, at: u32, id: SamplerId) {
        let socket = &self.sockets[at];
        let (index, route) = (socket.user, socket.route);
        cx.recorder.add(Counter::WsStarted, 1);
        cx.users[index].wait = Wait::Socket(id);
        let socket = &mut self.sockets[at];
        let Task::Work(work) = &mut socket.task else { return };
        work.opening = Opening::of(route);
        let (slot, clock) = (Sockets::slot(at), &cx.clock);
        let (opening, transport) = (&mut work.opening, &mut socket.transport);
        let opened = cx.net.open(opening, transport, slot, index, clock, &mut cx.recorder);
        if let Opened::Resolving = opened {
            cx.users[index].wait = Wait::SocketResolve(id);
        }
        self.on_opened(cx, at, opened);
    }

    /// The addresses that a connection waited for are known, or are not to be had.
    pub(crate) fn on_resolved(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        route: RouteId,
        known: Result<(), Failure>,
    ) {
        let Wait::SocketResolve(id) = cx.users[index].wait else { return };
        let at = cx.users[index].socket;
        // It may be the answer to the question for another connection.
        if self.sockets[at].route != route {
            return;
        }
        cx.users[index].wait = Wait::Socket(id);
        match known {
            Ok(()) => self.connect(cx, at),
            Err(failure) => self.fault(cx, at, Fault::Failure(failure)),
        }
    }

    /// Tries the route's addresses from the one at hand on, until one does not fail at once.
    pub(crate) fn connect(&mut self, cx: &mut Context<'_>, at: u32) {
        let socket = &mut self.sockets[at];
        let Task::Work(work) = &mut socket.task else { return };
        let (opening, transport) = (&mut work.opening, &mut socket.transport);
        let opened = cx.net.connect(opening, transport, Sockets::slot(at), &cx.clock);
        self.on_opened(cx, at, opened);
    }

    /// Acts upon what came of a step of a connection's opening.
    fn on_opened(&mut self, cx: &mut Context<'_>, at: u32, opened: Opened) {
        let index = self.sockets[at].user;
        match opened {
            Opened::Resolving | Opened::Queued => cx.users[index].limit = Nanos::MAX,
            Opened::Connecting => {
                let socket = &mut self.sockets[at];
                socket.state = State::Connecting;
                let Task::Work(work) = &socket.task else { return };
                match work.connect_limit {
                    0 => cx.users[index].limit = Nanos::MAX,
                    limit => cx.arm(index, cx.clock.now() + limit),
                }
            }
            Opened::Established => {
                self.read_limit(cx, at);
                if self.proxied(cx, at) {
                    self.ask_for_tunnel(cx, at);
                } else {
                    // It has stood at least since the kernel said so; others' turn came first.
                    self.secure_or_upgrade(cx, at, cx.net.woke);
                }
            }
            Opened::Failed(failure) => self.fault(cx, at, Fault::Failure(failure)),
        }
    }

    /// The time limit for connecting is over: the next address is tried, if there is one.
    pub(super) fn connect_is_late(&mut self, cx: &mut Context<'_>, at: u32) {
        let socket = &mut self.sockets[at];
        let Task::Work(work) = &mut socket.task else { return };
        let (opening, transport) = (&mut work.opening, &mut socket.transport);
        let slot = Sockets::slot(at);
        let opened = cx.net.connect_is_late(opening, transport, slot, &cx.clock);
        self.on_opened(cx, at, opened);
    }

    /// The TCP connection stands, or could not be made.
    pub(super) fn on_connected(&mut self, cx: &mut Context<'_>, at: u32) {
        let socket = &mut self.sockets[at];
        let Task::Work(work) = &mut socket.task else { return };
        let (slot, start, clock) = (Sockets::slot(at), work.start, &cx.clock);
        let (opening, transport) = (&mut work.opening, &mut socket.transport);
        let recorder = &mut cx.recorder;
        let opened = cx.net.connected(opening, transport, slot, start, clock, recorder);
        self.on_opened(cx, at, opened);
    }

    /// Whether the connection goes through a proxy.
    fn proxied(&self, cx: &Context<'_>, at: u32) -> bool {
        cx.net.routes[self.sockets[at].route].tunnel.is_some()
    }

    fn ask_for_tunnel(&mut self, cx: &mut Context<'_>, at: u32) {
        self.sockets[at].state = State::Tunnelling;
        let Some(tunnel) = &cx.net.routes[self.sockets[at].route].tunnel else {
            return;
        };
        let mut request =
            format!("CONNECT {0}:{1} HTTP/1.1\r\nHost: {0}\r\n", tunnel.host, tunnel.port);
        if let Some((user, password)) = &cx.run.settings.proxy.credentials {
            let secret =
                base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
            request.push_str("Proxy-Authorization: Basic ");
            request.push_str(&secret);
            request.push_str("\r\n");
        }
        request.push_str("\r\n");
        let _ = self.send_bytes(cx, at, request.as_bytes());
    }

    /// The way to the server is free since `since`.
    fn secure_or_upgrade(&mut self, cx: &mut Context<'_>, at: u32, since: Nanos) {
        let route = &cx.net.routes[self.sockets[at].route];
        if route.secure {
            self.start_socket_tls(cx, at, since);
        } else {
            self.ask_for_upgrade(cx, at);
        }
    }

    fn start_socket_tls(&mut self, cx: &mut Context<'_>, at: u32, since: Nanos) {
        let cpu = thread_cpu();
        let began = cx.clock.now();
        let index = self.sockets[at].user;
        let config = match cx.tls_config(index) {
            Ok(config) => config,
            Err(error) => return self.fault(cx, at, Fault::Failure(Failure::Tls(error))),
        };
        let socket = &mut self.sockets[at];
        let Task::Work(work) = &mut socket.task else { return };
        let (opening, transport) = (&mut work.opening, &mut socket.transport);
        if let Err(failure) = cx.net.start_tls(opening, transport, &config, since, began) {
            return self.fault(cx, at, Fault::Failure(failure));
        }
        socket.state = State::Handshaking;
        self.shake_hands(cx, at, &mut [], (began, cpu));
    }

    /// Continues a handshake with what arrived; returns how much of it is used up. `since` is when that was, and the thread's
    /// processor time when this began.
    pub(super) fn shake_hands(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        incoming: &mut [u8],
        since: (Nanos, u64),
    ) -> usize {
        let socket = &mut self.sockets[at];
        let Task::Work(work) = &mut socket.task else { return 0 };
        let (opening, transport) = (&mut work.opening, &mut socket.transport);
        let (clock, recorder) = (&cx.clock, &mut cx.recorder);
        let shaken = cx.net.shake_hands(opening, transport, incoming, since, clock, recorder);
        if self.note_sent(cx, at, shaken.sent).is_err() {
            return 0;
        }
        match shaken.over {
            Err(failure) => {
                self.fault(cx, at, Fault::Failure(failure));
                0
            }
            Ok(over) => {
                if over && self.sockets[at].state == State::Handshaking {
                    self.ask_for_upgrade(cx, at);
                }
                shaken.used
            }
        }
    }

    /// The peer can be talked to: the upgrade is asked for.
    fn ask_for_upgrade(&mut self, cx: &mut Context<'_>, at: u32) {
        let now = cx.clock.now();
        self.sockets[at].state = State::Upgrading;
        let Task::Work(work) = &mut self.sockets[at].task else { return };
        work.connected_at = now;
        let request = std::mem::take(&mut work.request);
        cx.recorder.span(Span::Connect, (now - work.start).max(0) as u64);
        let mut out = std::mem::take(&mut cx.net.out);
        out.clear();
        self.sockets[at].session.ask(&request, &mut out);
        let sent = self.send_bytes(cx, at, &out);
        cx.net.out = out;
        if let Task::Work(work) = &mut self.sockets[at].task {
            work.request = request;
        }
        if sent.is_ok() {
            self.read_limit(cx, at);
        }
    }

    /// The proxy's answer, as far as it has come. Returns how much of it is used up.
    pub(super) fn on_tunnel_answer(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        bytes: &[u8],
    ) -> usize {
        match handshake::proxy_answer(bytes) {
            Ok(None) => 0,
            Ok(Some(size)) => {
                self.read_limit(cx, at);
                self.secure_or_upgrade(cx, at, cx.clock.now());
                size
            }
            Err(Refusal::Status { status, .. }) => {
                self.fault(cx, at, Fault::ProxyRefused(status));
                0
            }
            Err(refusal) => {
                self.fault(cx, at, Fault::Refused(refusal));
                0
            }
        }
    }

    /// The answer to the upgrade, as far as it has come. Returns how much of it is used up.
    pub(super) fn on_upgrade_answer(
        &mut self,
        cx: &mut Context<'_>,
        at: u32,
        bytes: &[u8],
        now: Nanos,
    ) -> usize {
        let socket = &mut self.sockets[at];
        let Task::Work(work) = &mut socket.task else { return 0 };
        match socket.session.next(bytes, 0, &mut cx.net.out) {
            Ok((size, Event::Opened(head))) => {
                work.sizes.opened(work.request.len() as u64, size as u64);
                work.connect = now - work.start;
                work.opened = true;
                if work.observed {
                    work.answer.extend_from_slice(head);
                }
                let upgrade = (now - work.connected_at).max(0) as u64;
                let (heartbeat, offer) = (work.heartbeat, work.deflate);
                let index = self.sockets[at].user;
                cx.recorder.span(Span::Upgrade, upgrade);
                cx.recorder.add(Counter::WsOpened, 1);
                cx.users[index].setbacks = 0;
                let socket = &mut self.sockets[at];
                socket.state = State::Open;
                socket.last_io = now;
                if let Some(offer) = offer {
                    let window = (!offer.server_no_context_takeover).then(Default::default);
                    self.sockets.rest(at).deflate = Some(Deflate { window, parts: Vec::new() });
                }
                if let Some(heartbeat) = heartbeat {
                    self.start_heartbeat(cx, at, heartbeat, now);
                }
                self.talk_opened(at);
                self.perform(cx, at);
                size
            }
            Ok(_) => 0,
            Err(Problem::Refused(refusal)) => {
                cx.recorder.closed(CloseCause::Refused, status_of(&refusal), 0);
                self.sockets[at].counted = true;
                self.fault(cx, at, Fault::Refused(refusal));
                0
            }
            Err(Problem::Frame | Problem::Cut(_)) => 0,
        }
    }

    /// The connection ended before the upgrade was accepted. As the plug-in's reader has it, the end of the stream ends
    /// the head as well.
    pub(super) fn opening_ended(&mut self, cx: &mut Context<'_>, at: u32, ending: Ending) {
        let Task::Work(work) = &self.sockets[at].task else { return };
        let asked = work.connected_at > 0;
        let secure = cx.net.routes[self.sockets[at].route].secure;
        if ending != Ending::Fin {
            return self.fault(cx, at, Fault::Ended(ending));
        }
        if !asked {
            let fault =
                if secure { Fault::Failure(Failure::TlsClosed) } else { Fault::Ended(ending) };
            return self.fault(cx, at, fault);
        }
        let rest = self.sockets[at].rest.as_mut();
        let head = rest
            .map(|rest| std::mem::take(if secure { &mut rest.plain } else { &mut rest.tail }))
            .unwrap_or_default();
        let fault = self.sockets[at].session.refused_at_end(&head).map(Fault::Refused);
        self.fault(cx, at, fault.unwrap_or(Fault::Ended(ending)));
    }

    /// The limit for reading starts anew.
    pub(super) fn read_limit(&mut self, cx: &mut Context<'_>, at: u32) {
        let Task::Work(work) = &self.sockets[at].task else { return };
        let (limit, index) = (work.read_limit, self.sockets[at].user);
        match limit {
            0 => cx.users[index].limit = Nanos::MAX,
            limit => {
                let now = cx.clock.now();
                cx.arm(index, now + limit);
            }
        }
    }
}

/// Puts the upgrade request together: the plan's header lines, then those that make it an upgrade.
pub(super) fn write_upgrade(
    cx: &mut Context<'_>,
    work: &mut Work,
    call: &plan::websocket::Call,
    cookie: &str,
    route: RouteId,
) -> WebSocket {
    let proxied = cx.net.routes[route].tunnel.is_some();
    let mut random = [0; 16];
    for half in random.chunks_exact_mut(8) {
        half.copy_from_slice(&cx.random.bits().to_ne_bytes());
    }
    work.request.clear();
    call.write_request(&handshake::key(random), cookie, proxied, &mut work.request);
    work.step = Step::Opening;
    WebSocket::new(random)
}

/// The status that an upgrade was refused with; 0 if there was none.
fn status_of(refusal: &Refusal) -> u16 {
    match refusal {
        Refusal::Status { status, .. } => *status,
        _ => 0,
    }
}
