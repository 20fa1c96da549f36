//! Connections of users: routes, opening, TLS handshakes, keeping and closing.
//!
//! A user keeps its connections to itself, as a JMeter thread does: one that is idle to the wanted route is used
//! again; else a new one is opened. When the peer closed an idle one, the next request opens anew.

use std::net::{IpAddr, SocketAddr};

use plan::http::Source;
use plan::plan::SamplerId;
use stats::Counter;

use crate::core::Core;
use crate::ids::UserId;
use crate::net::conn::ConnId;
use crate::net::conn::NO_CONN;
use crate::net::conn::{Conn, Exchange, Route, Stash, State};
use crate::net::driver::{self, Ready};
use crate::net::outcome::Failure;
use crate::net::resolve::{self, Found, Question};
use crate::net::routes::RouteId;
use crate::net::source;
use crate::net::transport::Shaken;
use crate::tcp::stream::{Stream, Talk};
use crate::time::clock::{Nanos, thread_cpu};
use crate::users::Wait;
use crate::websocket::Sockets;

/// Connections opened in one turn of the loop, at most: 2 ms, after which answers are read again.
const CONNECTS: u32 = 64;

impl Core<'_> {
    /// The route to a peer; made at its first use.
    pub(crate) fn route(
        &mut self,
        secure: bool,
        host: &str,
        port: u16,
        source: &Source,
    ) -> RouteId {
        let same = |route: &Route| {
            route.tunnel.is_none()
                && !route.pinned
                && route.port == port
                && route.secure == secure
                && route.host == host
                && route.source == *source
        };
        if let Some(at) = self.net.routes.position(same) {
            return at;
        }
        self.net.routes.add(Route {
            secure,
            host: host.to_owned(),
            port,
            source: source.clone(),
            ..Route::default()
        })
    }

    /// An idle connection of the user to a route; Java's own client and HttpClient each have their own.
    pub(crate) fn idle_connection(
        &mut self,
        index: UserId,
        route: RouteId,
        java: bool,
        now: Nanos,
    ) -> Option<ConnId> {
        let owner = self.users.owner(index);
        let holder = self.holder(index);
        let user = &self.users[owner];
        let fits = |conns: &crate::net::conn::Conns, c: ConnId| {
            c != NO_CONN
                && conns[c].route == route
                && matches!(conns[c].state, State::Idle | State::Dead)
                && conns[c].user == owner
                && conns[c].holder == holder
                && conns[c].exchange.java == java
                && !conns[c].raw
        };
        let found = if fits(&self.net.conns, user.conn) {
            user.conn
        } else {
            let others = user.extra.as_ref().map_or(&[][..], |extra| &extra.conns);
            *others.iter().find(|c| fits(&self.net.conns, **c))?
        };
        let entry = &self.net.conns[found];
        if entry.expires <= now {
            self.drop_connection(found, Counter::ConnClosedByUs);
            return None;
        }
        let rested = now - entry.idle_since;
        if entry.state == State::Dead && (rested < 0 || rested >= self.run.settings.validate_after)
        {
            self.drop_connection(found, Counter::ConnClosedByPeer);
            return None;
        }
        if owner != index {
            self.forget(owner, found);
            self.net.conns[found].user = index;
        }
        Some(found)
    }

    /// Gives a connection that a branch used back to its user.
    pub(crate) fn give_back(&mut self, index: UserId, conn: ConnId) {
        let owner = self.users.owner(index);
        if owner == index {
            return;
        }
        self.forget(index, conn);
        self.net.conns[conn].user = owner;
        let user = &mut self.users[owner];
        if user.conn == NO_CONN {
            user.conn = conn;
        } else {
            user.extra().conns.push(conn);
        }
    }

    /// Opens a connection for a request that waits in `stash`.
    pub(crate) fn open(
        &mut self,
        index: UserId,
        id: SamplerId,
        route: RouteId,
        exchange: Exchange,
        stash: Box<Stash>,
    ) {
        let conn = self.net.conns.open(index, route);
        self.open_on(index, id, conn, exchange, stash);
    }

    /// Opens a connection for an exchange that is not HTTP's.
    pub(crate) fn open_stream(
        &mut self,
        index: UserId,
        id: SamplerId,
        route: RouteId,
        exchange: Exchange,
        (stash, stream): (Box<Stash>, Box<Stream>),
    ) {
        let conn = self.net.conns.open(index, route);
        let entry = &mut self.net.conns[conn];
        entry.raw = true;
        entry.datagram = matches!(stream.talk, Talk::Datagram(_)).then_some(id);
        entry.stream = Some(stream);
        self.open_on(index, id, conn, exchange, stash);
    }

    fn open_on(
        &mut self,
        index: UserId,
        id: SamplerId,
        conn: ConnId,
        exchange: Exchange,
        stash: Box<Stash>,
    ) {
        let route = self.net.conns[conn].route;
        self.net.conns[conn].holder = self.holder(index);
        self.net.conns[conn].end = exchange.start.saturating_add(self.run.settings.time_to_live);
        self.net.conns[conn].exchange = exchange;
        self.net.conns[conn].stash = Some(stash);
        self.remember(index, conn);
        self.users[index].wait = Wait::Exchange(id);
        if self.look_up_name(index, id, conn) {
            return;
        }
        let route_data = &mut self.net.routes[route];
        let now = exchange.start;
        if route_data.addresses.is_empty() || route_data.fresh_until < now {
            if let Some(ip) = resolve::literal(&route_data.host) {
                route_data.addresses = vec![SocketAddr::new(ip, route_data.port)];
                route_data.fresh_until = Nanos::MAX;
            } else {
                let user = &mut self.users[index];
                // Limits of connecting begin with the first address.
                (user.wait, user.limit) = (Wait::Resolve(id), Nanos::MAX);
                self.recorder.add(Counter::DnsLookups, 1);
                let question = Question {
                    host: route_data.host.clone(),
                    port: route_data.port,
                    user: index,
                    route,
                    aliases: Vec::new(),
                    reply_to: self.run.inbox(self.index),
                };
                let _ = self.run.resolver.send(question);
                return;
            }
        }
        self.keep_name(index, id, conn);
        self.connect(conn);
    }

    /// An answer of the resolver.
    pub(crate) fn on_resolved(&mut self, index: UserId, route: RouteId, host: &str, found: Found) {
        let now = self.clock.now();
        let still = found == Found::StillUnknown;
        let route_data = &mut self.net.routes[route];
        if let Found::Addresses(addresses) = found
            && route_data.host == host
        {
            route_data.addresses = addresses;
            route_data.fresh_until = now.saturating_add(self.run.settings.address_life);
        }
        let user = &mut self.users[index];
        let Wait::Resolve(id) = user.wait else { return };
        // It may be the answer to a question of somebody who waits no more.
        if self.net.conns[user.conn].route != route {
            return;
        }
        user.wait = Wait::Exchange(id);
        let conn = user.conn;
        if self.net.routes[route].addresses.is_empty() {
            self.fail(conn, &Failure::UnknownHost { still });
        } else {
            self.keep_name(index, id, conn);
            self.connect(conn);
        }
    }

    /// Tries the connection's addresses from the next one on, until one does not fail at once.
    pub(crate) fn connect(&mut self, conn: ConnId) {
        let token = self.net.conns.token(conn);
        if !self.may_connect(token, self.net.conns[conn].user) {
            self.net.conns[conn].exchange.own -= self.clock.now();
            return;
        }
        while let Err(error) = self.try_connect(conn) {
            if !self.next_source(conn, &error) && !self.next_address(conn) {
                return self.fail(conn, &Failure::Connect(error));
            }
        }
    }

    /// Whether a connection may be opened in this turn of the loop; if not, it is queued, and no time limit runs meanwhile.
    pub(crate) fn may_connect(&mut self, token: u64, index: UserId) -> bool {
        if self.net.connects > 0 {
            self.net.connects -= 1;
            return true;
        }
        self.net.to_connect.push_back(token);
        self.users[index].limit = Nanos::MAX;
        false
    }

    /// Opens connections that were queued, those that wait longest first: as many as a turn of the loop may.
    pub(crate) fn connect_queued(&mut self) {
        self.net.connects = CONNECTS;
        while self.net.connects > 0
            && let Some(token) = self.net.to_connect.pop_front()
        {
            if !Sockets::owns(token) {
                let Some(conn) = self.net.conns.by_token(token) else { continue };
                self.net.conns[conn].exchange.own += self.clock.now();
                self.connect(conn);
            } else if let Some(at) = self.websocket.sockets.by_token(token) {
                self.connect_queued_socket(at);
            }
        }
    }

    /// Tries the connection's next address. An error is one of connecting; other failures have ended the exchange.
    fn try_connect(&mut self, conn: ConnId) -> std::io::Result<()> {
        let attempt = self.net.conns[conn].attempt as usize;
        let route = &self.net.routes[self.net.conns[conn].via];
        let Some(address) = route.addresses.get(attempt).copied() else {
            let unknown = if route.pinned {
                Failure::NoAddress
            } else {
                Failure::UnknownHost { still: false }
            };
            self.fail(conn, &unknown);
            return Ok(());
        };
        if self.net.conns[conn].datagram.is_some() {
            self.connect_datagram(conn, address);
            return Ok(());
        }
        let source: Option<IpAddr> = if route.source.is_any() {
            self.net.sources.current(address)
        } else {
            match source::address(&route.source) {
                Ok(address) => Some(address),
                Err(words) => {
                    self.fail(conn, &Failure::UnknownSource(words));
                    return Ok(());
                }
            }
        };
        let token = self.net.conns.token(conn);
        self.net.conns[conn].transport.fd =
            Some(self.net.driver.connect(address, source, &mut self.net.ports, token)?);
        self.arm_connect_limit(conn);
        Ok(())
    }

    fn arm_connect_limit(&mut self, conn: ConnId) {
        let index = self.net.conns[conn].user;
        match self.net.conns[conn].exchange.connect_limit {
            0 => self.users[index].limit = Nanos::MAX,
            limit => {
                let now = self.clock.now();
                self.arm(index, now + limit);
            }
        }
    }

    fn connect_failed(&mut self, conn: ConnId, error: std::io::Error) {
        if self.next_source(conn, &error) || self.next_address(conn) {
            return self.connect(conn);
        }
        self.fail(conn, &Failure::Connect(error));
    }

    /// Goes to the next address; only HTTP tries all of a name. False: there is none left.
    fn next_address(&mut self, conn: ConnId) -> bool {
        self.net.conns[conn].attempt += 1;
        let entry = &self.net.conns[conn];
        let addresses = &self.net.routes[entry.via].addresses;
        if entry.raw || entry.attempt as usize >= addresses.len() {
            return false;
        }
        self.net.conns.drop_socket(conn);
        true
    }

    /// Goes to the next local address, if the one tried has no port left. False: there is none.
    fn next_source(&mut self, conn: ConnId, error: &std::io::Error) -> bool {
        let entry = &self.net.conns[conn];
        let route = &self.net.routes[entry.via];
        let tried = entry.sources_tried;
        if !source::is_exhausted(error)
            || !route.source.is_any()
            || usize::from(tried) + 1 >= self.net.sources.len()
        {
            return false;
        }
        let address = route.addresses.get(entry.attempt as usize).copied();
        if let Some(spent) = address.and_then(|address| self.net.sources.current(address)) {
            self.net.sources.pass_over(spent);
        }
        self.net.conns[conn].sources_tried = tried + 1;
        self.net.conns.drop_socket(conn);
        true
    }

    /// A socket has something to say.
    pub(crate) fn on_ready(&mut self, conn: ConnId, ready: Ready) {
        match self.net.conns[conn].state {
            State::Connecting if ready.writable => self.on_connected(conn),
            State::Busy | State::Handshaking | State::Tunnelling => {
                if ready.writable && !self.net.conns[conn].transport.all_sent() && !self.flush(conn)
                {
                    return;
                }
                if ready.readable {
                    self.read(conn, ready.hangup);
                }
            }
            // Datagrams wait for who asks for them.
            State::Idle if ready.readable && self.net.conns[conn].datagram.is_none() => {
                self.read_idle(conn);
            }
            State::Connecting | State::Idle | State::Dead | State::Closed => {}
        }
    }

    fn on_connected(&mut self, conn: ConnId) {
        let Some(fd) = self.net.conns[conn].transport.fd.as_ref() else { return };
        if let Err(error) = driver::connect_result(fd) {
            return self.connect_failed(conn, error);
        }
        self.recorder.add(Counter::ConnOpened, 1);
        if self.net.stalled_since < self.net.woke {
            // It may have stood since sockets were polled before.
            let exchange = &mut self.net.conns[conn].exchange;
            exchange.own += (self.net.woke - self.net.stalled_since.max(exchange.start)).max(0);
        }
        let route = &self.net.routes[self.net.conns[conn].route];
        if route.tunnel.as_ref().is_some_and(|tunnel| !tunnel.forwarded) {
            self.ask_for_way(conn);
        } else if route.secure {
            // It has stood at least since the kernel said so; others' turn came first.
            self.net.conns[conn].exchange.own += (self.clock.now() - self.net.woke).max(0);
            self.start_tls(conn);
        } else {
            self.connected(conn);
        }
    }

    /// The connection stands, TLS included: the waiting request goes out.
    pub(crate) fn connected(&mut self, conn: ConnId) {
        let now = self.clock.now();
        // Behind a proxy, connecting ends with the connection to it.
        let tunnelled = self.net.routes[self.net.conns[conn].route].tunnel.is_some();
        let entry = &mut self.net.conns[conn];
        if entry.exchange.connect == 0 || !tunnelled {
            entry.exchange.connect = now - entry.exchange.start;
        }
        entry.state = State::Busy;
        let Some(mut stash) = entry.stash.take() else { return };
        let request = std::mem::take(&mut stash.request);
        entry.stash = Some(stash);
        let generation = entry.transport.generation;
        if self.net.conns[conn].raw {
            self.start_stream(conn, &request);
        } else {
            self.transmit(conn, &request);
        }
        // A request that failed at once is over, and the slot may be that of the user's next one by now.
        let same = self.net.conns[conn].transport.generation == generation;
        if let Some(stash) = self.net.conns[conn].stash.as_mut().filter(|_| same) {
            stash.request = request;
        } else if let Some(stash) = self.net.stashes.last_mut() {
            stash.request = request;
        }
    }

    pub(crate) fn start_tls(&mut self, conn: ConnId) {
        let cpu = thread_cpu();
        let began = self.clock.now();
        let index = self.net.conns[conn].user;
        let config = match self.tls_config(self.users.owner(index)) {
            Ok(config) => config,
            Err(error) => return self.fail(conn, &Failure::Tls(error)),
        };
        let route = &self.net.routes[self.net.conns[conn].route];
        let host = route.tunnel.as_ref().map_or(&route.host, |tunnel| &tunnel.host);
        match wire::tls::Client::new(&config, host) {
            Ok(client) => {
                let entry = &mut self.net.conns[conn];
                entry.transport.start_tls(client, began);
                entry.state = State::Handshaking;
                entry.exchange.arrival = began;
                match entry.exchange.limit {
                    0 => self.users[index].limit = Nanos::MAX,
                    limit => {
                        let now = self.clock.now();
                        self.arm(index, now + limit);
                    }
                }
                self.handshake(conn, &mut [], cpu);
            }
            Err(error) => self.fail(conn, &Failure::Tls(error)),
        }
    }

    /// Continues a handshake with what arrived; returns how much of it is used up. `cpu` is the thread's processor time
    /// when this began.
    pub(crate) fn handshake(&mut self, conn: ConnId, incoming: &mut [u8], cpu: u64) -> usize {
        let entry = &mut self.net.conns[conn];
        let Some(shaken) = entry.transport.handshake(incoming, &mut self.net.out, cpu) else {
            return 0;
        };
        let Shaken { progress, sent, effort, kind } = shaken;
        if let Err(error) = sent {
            self.fail(conn, &Failure::Socket(error));
            return 0;
        }
        // All since the bytes arrived was spent here.
        entry.exchange.own += (self.clock.now() - entry.exchange.arrival).max(0);
        match progress {
            Err(error) => {
                self.count_handshake(effort, None);
                self.fail(conn, &Failure::Tls(error));
                0
            }
            Ok(progress) => {
                if !progress.handshaking && self.net.conns[conn].state == State::Handshaking {
                    self.count_handshake(effort, Some(kind));
                    self.connected(conn);
                }
                progress.used
            }
        }
    }

    /// Makes a connection one of the user's, the one used last.
    pub(crate) fn remember(&mut self, index: UserId, conn: ConnId) {
        let old = self.users[index].conn;
        if old != NO_CONN
            && old != conn
            && self.net.conns[old].user == index
            && self.net.conns[old].state != State::Closed
        {
            self.users[index].extra().conns.push(old);
        }
        let user = &mut self.users[index];
        user.conn = conn;
        if let Some(extra) = user.extra.as_mut() {
            extra.conns.retain(|c| *c != conn);
        }
    }

    /// An idle connection became readable: the peer closed it, or broke the protocol.
    fn read_idle(&mut self, conn: ConnId) {
        let mut scratch = std::mem::take(&mut self.net.scratch);
        let received = match self.net.conns[conn].transport.fd.as_ref() {
            Some(fd) => self.net.driver.receive(fd, &mut scratch),
            None => Ok(None),
        };
        let gone = match received {
            Ok(None) => false,
            Ok(Some(received)) if received.bytes > 0 && self.net.conns[conn].raw => {
                // It is for the user's next sample.
                self.net.conns[conn].tail.extend_from_slice(&scratch[..received.bytes]);
                false
            }
            Ok(Some(received))
                if received.bytes > 0 && self.net.conns[conn].transport.tls().is_some() =>
            {
                // Under TLS, session tickets arrive after the handshake or the first answer.
                !self.take_late_records(conn, &mut scratch[..received.bytes])
            }
            Ok(Some(_)) | Err(_) => true,
        };
        self.net.scratch = scratch;
        if gone {
            self.peer_gave_up(conn);
        }
    }

    /// The peer closed a connection that the user would have used again.
    pub(crate) fn peer_gave_up(&mut self, conn: ConnId) {
        if self.net.conns[conn].raw {
            self.net.conns[conn].state = State::Dead;
            return;
        }
        if self.run.settings.retry_stale {
            return self.drop_connection(conn, Counter::ConnClosedByPeer);
        }
        self.net.conns.drop_socket(conn);
        self.net.conns[conn].state = State::Dead;
    }

    fn take_late_records(&mut self, conn: ConnId, incoming: &mut [u8]) -> bool {
        let entry = &mut self.net.conns[conn];
        let Some(tls) = entry.transport.tls_mut() else { return false };
        let mut data = std::mem::take(&mut entry.tail);
        data.extend_from_slice(incoming);
        let mut surprise = false;
        self.net.out.clear();
        let progress = tls
            .client
            .advance(&mut data, &mut self.net.out, &mut |bytes| surprise |= !bytes.is_empty());
        match progress {
            Ok(progress) if !progress.peer_closed && !surprise => {
                data.drain(..progress.used);
                if !data.is_empty() {
                    entry.tail = data;
                }
                true
            }
            _ => false,
        }
    }

    /// Closes one of the user's connections and forgets it.
    pub(crate) fn drop_connection(&mut self, conn: ConnId, counter: Counter) {
        let index = self.net.conns[conn].user;
        self.recorder.add(counter, 1);
        if let Some(stash) = self.net.conns[conn].stash.take() {
            self.net.stashes.push(stash);
        }
        self.net.conns.close(conn);
        self.forget(index, conn);
    }

    /// A connection is none of the user's any more.
    fn forget(&mut self, index: UserId, conn: ConnId) {
        let user = &mut self.users[index];
        if user.conn == conn {
            user.conn = NO_CONN;
        }
        if let Some(extra) = user.extra.as_mut() {
            extra.conns.retain(|c| *c != conn);
            if user.conn == NO_CONN
                && let Some(other) = extra.conns.pop()
            {
                user.conn = other;
            }
        }
    }

    /// Closes all connections of a user; returns how many were closed from here.
    pub(crate) fn close_connections(&mut self, index: UserId) -> u64 {
        self.close_those(index, |_| true)
    }

    /// Closes a user's connections of HTTP, for its next iteration is another user's: sockets of other protocols stay, as in JMeter.
    pub(crate) fn close_http_connections(&mut self, index: UserId) -> u64 {
        self.close_those(index, |entry| !entry.raw && entry.datagram.is_none())
    }

    fn close_those(&mut self, index: UserId, which: impl Fn(&Conn) -> bool) -> u64 {
        let mut closed = 0;
        loop {
            let user = &self.users[index];
            let others = user.extra.iter().flat_map(|extra| extra.conns.iter().copied());
            let mut own = std::iter::once(user.conn).chain(others).filter(|conn| *conn != NO_CONN);
            let Some(conn) = own.find(|conn| which(&self.net.conns[*conn])) else { break };
            let entry = &mut self.net.conns[conn];
            entry.transport.say_goodbye(&mut self.net.out);
            let dead = entry.state == State::Dead;
            closed += u64::from(!dead);
            self.drop_connection(
                conn,
                if dead { Counter::ConnClosedByPeer } else { Counter::ConnClosedByUs },
            );
        }
        closed
    }

    /// Sets the time limit of the user's exchange. The timer is moved only if it would fire too late.
    pub(crate) fn arm(&mut self, index: UserId, limit: Nanos) {
        let user = &mut self.users[index];
        user.limit = limit;
        if !user.links.armed() || user.links.deadline > limit {
            self.timers.wheel.insert(index, limit, &mut self.users);
        }
    }

    /// Takes what the socket of a user has whose time is over. Timers fire before sockets are polled: after a stall of
    /// this process, what came in time may lie there unread. False: there was nothing.
    pub(crate) fn takes_what_lies_there(&mut self, index: UserId, conn: ConnId) -> bool {
        match self.net.conns[conn].state {
            State::Connecting => {
                if !self.net.conns[conn].transport.fd.as_ref().is_some_and(driver::has_settled) {
                    return false;
                }
                self.on_connected(conn);
            }
            State::Busy | State::Handshaking | State::Tunnelling => {
                if !self.read(conn, false) {
                    return false;
                }
            }
            State::Idle | State::Dead | State::Closed => return false,
        }
        // The exchange goes on, with the time that the limit gives from here; or another has begun.
        let user = &self.users[index];
        let waits = user.alive && matches!(user.wait, Wait::Exchange(_));
        if waits && user.limit != Nanos::MAX && !user.links.armed() {
            let limit = self.net.conns[user.conn].exchange.limit;
            let until = user.limit.max(self.clock.now() + limit);
            self.arm(index, until);
        }
        true
    }

    /// The timer of a user with an exchange fired.
    pub(crate) fn check_limit(&mut self, index: UserId, now: Nanos) {
        let user = &self.users[index];
        if user.limit == Nanos::MAX {
            return;
        }
        if now < user.limit {
            let limit = user.limit;
            return self.timers.wheel.insert(index, limit, &mut self.users);
        }
        let conn = user.conn;
        if conn == NO_CONN || self.takes_what_lies_there(index, conn) {
            return;
        }
        match self.net.conns[conn].state {
            State::Connecting => {
                if self.next_address(conn) {
                    self.connect(conn);
                } else {
                    self.fail(conn, &Failure::ConnectTimeout);
                }
            }
            State::Handshaking => self.fail(conn, &Failure::TlsTimeout),
            _ => self.fail(conn, &Failure::ResponseTimeout),
        }
    }
}
