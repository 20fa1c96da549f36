//! Opening a WebSocket connection: address, TCP, tunnel through a proxy, TLS, upgrade.

use std::net::{IpAddr, SocketAddr};

use base64::Engine;
use plan::plan::SamplerId;
use stats::{CloseCause, Counter, Span};
use wire::websocket::handshake::{self, Refusal};

use super::{Deflate, Ending, State, Step, Task, Work};
use crate::core::Core;
use crate::ids::UserId;
use crate::net::driver;
use crate::net::outcome::Failure;
use crate::net::resolve::{self, Found, Question};
use crate::net::routes::RouteId;
use crate::net::source;
use crate::net::transport::Shaken;
use crate::time::clock::{Nanos, thread_cpu};
use crate::users::Wait;
use crate::websocket::sample::Fault;

impl Core<'_> {
    /// Opens the connection whose work is set up.
    pub(super) fn open_socket(&mut self, at: u32, id: SamplerId) {
        let socket = &self.websocket.sockets[at];
        let (index, route) = (socket.user, socket.route);
        let entry = &mut self.net.routes[route];
        let now = self.clock.now();
        self.recorder.add(Counter::WsStarted, 1);
        self.users[index].wait = Wait::Socket(id);
        if entry.addresses.is_empty() || entry.fresh_until < now {
            if let Some(ip) = resolve::literal(&entry.host) {
                entry.addresses = vec![SocketAddr::new(ip, entry.port)];
                entry.fresh_until = Nanos::MAX;
            } else {
                self.users[index].wait = Wait::SocketResolve(id);
                self.recorder.add(Counter::DnsLookups, 1);
                let question = Question {
                    host: entry.host.clone(),
                    port: entry.port,
                    user: index,
                    route,
                    aliases: Vec::new(),
                    reply_to: self.run.inbox(self.index),
                };
                let _ = self.run.resolver.send(question);
                return;
            }
        }
        self.connect_socket(at);
    }

    /// The address that a connection waited for is known, or is not to be had.
    pub(crate) fn on_socket_resolved(&mut self, index: UserId, found: &Found) {
        let Wait::SocketResolve(id) = self.users[index].wait else { return };
        let at = self.users[index].socket;
        let route = &mut self.net.routes[self.websocket.sockets[at].route];
        if let Found::Addresses(addresses) = found {
            route.addresses.clone_from(addresses);
            route.fresh_until = self.clock.now().saturating_add(self.run.settings.address_life);
        }
        self.users[index].wait = Wait::Socket(id);
        if self.net.routes[self.websocket.sockets[at].route].addresses.is_empty() {
            let still = *found == Found::StillUnknown;
            self.fault(at, Fault::Failure(Failure::UnknownHost { still }));
        } else {
            self.connect_socket(at);
        }
    }

    /// Tries the route's addresses from the next one on, until one does not fail at once.
    fn connect_socket(&mut self, at: u32) {
        let token = self.websocket.sockets.token(at);
        if !self.may_connect(token, self.websocket.sockets[at].user) {
            if let Task::Work(work) = &mut self.websocket.sockets[at].task {
                work.queued_at = self.clock.now();
            }
            return;
        }
        while let Err((error, from)) = self.try_connect_socket(at) {
            if !self.next_attempt(at, &error, from) {
                return self.fault(at, Fault::Failure(Failure::Connect(error)));
            }
        }
    }

    /// The turn of a connection that was queued has come.
    pub(crate) fn connect_queued_socket(&mut self, at: u32) {
        let now = self.clock.now();
        if let Task::Work(work) = &mut self.websocket.sockets[at].task {
            work.own += now - work.queued_at;
        }
        self.connect_socket(at);
    }

    /// Tries the route's next address from the next local one, which is given with an error.
    fn try_connect_socket(&mut self, at: u32) -> Result<(), (std::io::Error, Option<IpAddr>)> {
        let Task::Work(work) = &self.websocket.sockets[at].task else { return Ok(()) };
        let (attempt, limit) = (work.attempt as usize, work.connect_limit);
        let route = &self.net.routes[self.websocket.sockets[at].route];
        let Some(address) = route.addresses.get(attempt).copied() else {
            self.fault(at, Fault::Failure(Failure::UnknownHost { still: false }));
            return Ok(());
        };
        let from = self.net.sources.current(address);
        let token = self.websocket.sockets.token(at);
        let fd = self
            .net
            .driver
            .connect(address, from, &mut self.net.ports, token)
            .map_err(|error| (error, from))?;
        self.websocket.sockets[at].transport.fd = Some(fd);
        self.websocket.sockets[at].state = State::Connecting;
        let (index, now) = (self.websocket.sockets[at].user, self.clock.now());
        match limit {
            0 => self.users[index].limit = Nanos::MAX,
            limit => self.arm(index, now + limit),
        }
        Ok(())
    }

    /// Goes to the next local address if this one has no port left, or else to the next address. False: there is none.
    fn next_attempt(&mut self, at: u32, error: &std::io::Error, from: Option<IpAddr>) -> bool {
        let sources = self.net.sources.len() as u32;
        let addresses = self.net.routes[self.websocket.sockets[at].route].addresses.len() as u32;
        let Task::Work(work) = &mut self.websocket.sockets[at].task else { return false };
        if source::is_exhausted(error) && work.sources_tried + 1 < sources {
            work.sources_tried += 1;
            if let Some(from) = from {
                self.net.sources.pass_over(from);
            }
        } else {
            work.attempt += 1;
            work.sources_tried = 0;
            if work.attempt >= addresses {
                return false;
            }
        }
        self.websocket.sockets.drop_socket(at);
        true
    }

    /// The time limit for connecting is over: the next address is tried, if there is one.
    pub(super) fn socket_connect_late(&mut self, at: u32) {
        let addresses = self.net.routes[self.websocket.sockets[at].route].addresses.len() as u32;
        let Task::Work(work) = &mut self.websocket.sockets[at].task else { return };
        work.attempt += 1;
        if work.attempt < addresses {
            self.websocket.sockets.drop_socket(at);
            return self.connect_socket(at);
        }
        self.fault(at, Fault::Failure(Failure::ConnectTimeout));
    }

    /// The TCP connection stands, or could not be made.
    pub(super) fn socket_connected(&mut self, at: u32) {
        let Some(fd) = self.websocket.sockets[at].transport.fd.as_ref() else { return };
        if let Err(error) = driver::connect_result(fd) {
            if self.next_attempt(at, &error, None) {
                return self.connect_socket(at);
            }
            return self.fault(at, Fault::Failure(Failure::Connect(error)));
        }
        self.recorder.add(Counter::ConnOpened, 1);
        self.read_limit(at);
        if self.proxied(at) {
            self.ask_for_tunnel(at);
        } else {
            self.secure_or_upgrade(at);
        }
    }

    /// Whether the connection goes through a proxy.
    fn proxied(&self, at: u32) -> bool {
        self.net.routes[self.websocket.sockets[at].route].tunnel.is_some()
    }

    fn ask_for_tunnel(&mut self, at: u32) {
        self.websocket.sockets[at].state = State::Tunnelling;
        let Some(tunnel) = &self.net.routes[self.websocket.sockets[at].route].tunnel else {
            return;
        };
        let mut request =
            format!("CONNECT {0}:{1} HTTP/1.1\r\nHost: {0}\r\n", tunnel.host, tunnel.port);
        if let Some((user, password)) = &self.run.settings.proxy_credentials {
            let secret =
                base64::engine::general_purpose::STANDARD.encode(format!("{user}:{password}"));
            request.push_str("Proxy-Authorization: Basic ");
            request.push_str(&secret);
            request.push_str("\r\n");
        }
        request.push_str("\r\n");
        let _ = self.send_bytes(at, request.as_bytes());
    }

    fn secure_or_upgrade(&mut self, at: u32) {
        let route = &self.net.routes[self.websocket.sockets[at].route];
        if route.secure { self.start_socket_tls(at) } else { self.ask_for_upgrade(at) }
    }

    fn start_socket_tls(&mut self, at: u32) {
        let cpu = thread_cpu();
        let began = self.clock.now();
        let index = self.websocket.sockets[at].user;
        let config = match self.tls_config(index) {
            Ok(config) => config,
            Err(error) => return self.fault(at, Fault::Failure(Failure::Tls(error))),
        };
        let route = &self.net.routes[self.websocket.sockets[at].route];
        let host = route.tunnel.as_ref().map_or(&*route.host, |tunnel| &*tunnel.host);
        match wire::tls::Client::new(&config, host) {
            Ok(client) => {
                let socket = &mut self.websocket.sockets[at];
                socket.transport.start_tls(client, began);
                socket.state = State::Handshaking;
                self.shake_hands(at, &mut [], cpu);
            }
            Err(error) => self.fault(at, Fault::Failure(Failure::Tls(error))),
        }
    }

    /// Continues a handshake with what arrived; returns how much of it is used up. `cpu` is the thread's processor time
    /// when this began.
    pub(super) fn shake_hands(&mut self, at: u32, incoming: &mut [u8], cpu: u64) -> usize {
        let transport = &mut self.websocket.sockets[at].transport;
        let Some(shaken) = transport.handshake(incoming, &mut self.net.out, cpu) else { return 0 };
        let Shaken { progress, sent, effort, kind } = shaken;
        if self.note_sent(at, sent).is_err() {
            return 0;
        }
        match progress {
            Err(error) => {
                self.count_handshake(effort, None);
                self.fault(at, Fault::Failure(Failure::Tls(error)));
                0
            }
            Ok(progress) => {
                if !progress.handshaking && self.websocket.sockets[at].state == State::Handshaking {
                    self.count_handshake(effort, Some(kind));
                    self.ask_for_upgrade(at);
                }
                progress.used
            }
        }
    }

    /// The peer can be talked to: the upgrade is asked for.
    fn ask_for_upgrade(&mut self, at: u32) {
        let now = self.clock.now();
        self.websocket.sockets[at].state = State::Upgrading;
        let Task::Work(work) = &mut self.websocket.sockets[at].task else { return };
        work.connected_at = now;
        let request = std::mem::take(&mut work.request);
        self.recorder.span(Span::Connect, (now - work.start).max(0) as u64);
        let sent = self.send_bytes(at, &request);
        if let Task::Work(work) = &mut self.websocket.sockets[at].task {
            work.request = request;
        }
        if sent.is_ok() {
            self.read_limit(at);
        }
    }

    /// The proxy's answer, as far as it has come. Returns how much of it is used up.
    pub(super) fn on_tunnel_answer(&mut self, at: u32, bytes: &[u8]) -> usize {
        match handshake::proxy_answer(bytes) {
            Ok(None) => 0,
            Ok(Some(size)) => {
                self.read_limit(at);
                self.secure_or_upgrade(at);
                size
            }
            Err(Refusal::Status { status, .. }) => {
                self.fault(at, Fault::ProxyRefused(status));
                0
            }
            Err(refusal) => {
                self.fault(at, Fault::Refused(refusal));
                0
            }
        }
    }

    /// The answer to the upgrade, as far as it has come. Returns how much of it is used up.
    pub(super) fn on_upgrade_answer(&mut self, at: u32, bytes: &[u8], now: Nanos) -> usize {
        let Task::Work(work) = &mut self.websocket.sockets[at].task else { return 0 };
        match handshake::answer(bytes, &work.key) {
            Ok(None) => 0,
            Ok(Some(answer)) => {
                work.sizes.opened(work.request.len() as u64, answer.size as u64);
                work.connect = now - work.start;
                work.opened = true;
                if work.observed {
                    work.answer.extend_from_slice(&bytes[..answer.size]);
                }
                let upgrade = (now - work.connected_at).max(0) as u64;
                let (heartbeat, offer) = (work.heartbeat, work.deflate);
                let index = self.websocket.sockets[at].user;
                self.recorder.span(Span::Upgrade, upgrade);
                self.recorder.add(Counter::WsOpened, 1);
                self.users[index].setbacks = 0;
                let socket = &mut self.websocket.sockets[at];
                socket.state = State::Open;
                socket.last_io = now;
                socket.heartbeat = heartbeat;
                if let Some(offer) = offer {
                    let window = (!offer.server_no_context_takeover).then(Default::default);
                    self.websocket.sockets.rest(at).deflate =
                        Some(Deflate { window, parts: Vec::new() });
                }
                self.start_heartbeat(at, now);
                self.talk_opened(at);
                self.perform(at);
                answer.size
            }
            Err(refusal) => {
                self.recorder.closed(CloseCause::Refused, status_of(&refusal), 0);
                self.websocket.sockets[at].counted = true;
                self.fault(at, Fault::Refused(refusal));
                0
            }
        }
    }

    /// The connection ended before the upgrade was accepted. As the plug-in's reader has it, the end of the stream ends
    /// the head as well.
    pub(super) fn opening_ended(&mut self, at: u32, ending: Ending) {
        let Task::Work(work) = &self.websocket.sockets[at].task else { return };
        let (asked, key) = (work.connected_at > 0, work.key);
        let secure = self.net.routes[self.websocket.sockets[at].route].secure;
        if ending != Ending::Fin {
            return self.fault(at, Fault::Ended(ending));
        }
        if !asked {
            let fault =
                if secure { Fault::Failure(Failure::TlsClosed) } else { Fault::Ended(ending) };
            return self.fault(at, fault);
        }
        let rest = self.websocket.sockets[at].rest.as_mut();
        let head = rest
            .map(|rest| std::mem::take(if secure { &mut rest.plain } else { &mut rest.tail }))
            .unwrap_or_default();
        let fault = handshake::answer_at_end(&head, &key).err().map(Fault::Refused);
        self.fault(at, fault.unwrap_or(Fault::Ended(ending)));
    }

    /// The limit for reading starts anew.
    pub(super) fn read_limit(&mut self, at: u32) {
        let Task::Work(work) = &self.websocket.sockets[at].task else { return };
        let (limit, index) = (work.read_limit, self.websocket.sockets[at].user);
        match limit {
            0 => self.users[index].limit = Nanos::MAX,
            limit => {
                let now = self.clock.now();
                self.arm(index, now + limit);
            }
        }
    }

    /// Puts the upgrade request together: the plan's header lines, then those that make it an upgrade.
    pub(super) fn write_upgrade(
        &mut self,
        work: &mut Work,
        call: &plan::websocket::Call,
        cookie: &str,
        route: RouteId,
    ) {
        let proxied = self.net.routes[route].tunnel.is_some();
        let mut random = [0; 16];
        for half in random.chunks_exact_mut(8) {
            half.copy_from_slice(&self.random.bits().to_ne_bytes());
        }
        work.key = handshake::key(random);
        work.request.clear();
        call.write_request(&work.key, cookie, proxied, &mut work.request);
        work.step = Step::Opening;
    }
}

/// The status that an upgrade was refused with; 0 if there was none.
fn status_of(refusal: &Refusal) -> u16 {
    match refusal {
        Refusal::Status { status, .. } => *status,
        _ => 0,
    }
}
