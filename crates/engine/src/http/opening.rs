//! Connections of users on their way to the first request: their opening, the TLS handshake, and the limits of both.

use plan::plan::SamplerId;

use crate::completions::Unanswered;
use crate::core::Core;
use crate::http::conn::{ConnId, Conns, Exchange, NO_CONN, Stash, State};
use crate::ids::UserId;
use crate::net::driver::{self, Ready};
use crate::net::opening::Opened;
use crate::net::outcome::Failure;
use crate::net::routes::RouteId;
use crate::time::clock::{Nanos, thread_cpu};
use crate::users::Wait;

impl Core<'_> {
    /// Opens a connection for a request that waits in `stash`.
    pub(crate) fn open(
        &mut self,
        index: UserId,
        id: SamplerId,
        route: RouteId,
        exchange: Exchange,
        stash: Box<Stash>,
    ) {
        let conn = self.http.conns.open(index, route);
        self.open_on(index, id, conn, exchange, stash);
    }

    /// Opens a connection for a request that got no answer on another, whose opening took so much of this process's time.
    pub(crate) fn open_again(&mut self, request: Unanswered) {
        let Unanswered { user, sampler, route, exchange, stash, own } = request;
        let conn = self.http.conns.open(user, route);
        self.http.conns[conn].opening.set_own(own);
        self.open_on(user, sampler, conn, exchange, stash);
    }

    fn open_on(
        &mut self,
        index: UserId,
        id: SamplerId,
        conn: ConnId,
        exchange: Exchange,
        stash: Box<Stash>,
    ) {
        self.http.conns[conn].holder = self.holder(index);
        self.http.conns[conn].end =
            exchange.start.saturating_add(self.cx.run.settings.time_to_live);
        self.http.conns[conn].exchange = exchange;
        self.http.conns[conn].stash = Some(stash);
        self.remember(index, conn);
        self.cx.users[index].wait = Wait::Exchange(id);
        if self.look_up_name(index, id, conn) {
            return;
        }
        let entry = &self.http.conns[conn];
        if !self.cx.net.resolve(&entry.opening, index, exchange.start, &mut self.cx.recorder) {
            // Limits of connecting begin with the first address.
            let user = &mut self.cx.users[index];
            (user.wait, user.limit) = (Wait::Resolve(id), Nanos::MAX);
            return;
        }
        self.keep_name(index, id, conn);
        self.connect(conn);
    }

    /// An answer of the resolver: the addresses of the route are known, or there are none.
    pub(crate) fn on_resolved(
        &mut self,
        index: UserId,
        route: RouteId,
        known: Result<(), Failure>,
    ) {
        let user = &mut self.cx.users[index];
        let Wait::Resolve(id) = user.wait else { return };
        // It may be the answer to a question of somebody who waits no more.
        if self.http.conns[user.conn].route != route {
            return;
        }
        user.wait = Wait::Exchange(id);
        let conn = user.conn;
        match known {
            Ok(()) => {
                self.keep_name(index, id, conn);
                self.connect(conn);
            }
            Err(failure) => self.fail(conn, &failure),
        }
    }

    /// Tries the connection's addresses from the one at hand on, until one does not fail at once.
    pub(crate) fn connect(&mut self, conn: ConnId) {
        let entry = &mut self.http.conns[conn];
        let (opening, transport) = (&mut entry.opening, &mut entry.transport);
        let opened = self.cx.net.connect(opening, transport, Conns::slot(conn), &self.cx.clock);
        self.on_opened(conn, opened);
    }

    /// Acts upon what came of a step of a connection's opening.
    pub(crate) fn on_opened(&mut self, conn: ConnId, opened: Opened) {
        let entry = &self.http.conns[conn];
        let index = entry.user;
        match opened {
            Opened::Resolving | Opened::Queued => self.cx.users[index].limit = Nanos::MAX,
            Opened::Connecting => match entry.exchange.connect_limit {
                0 => self.cx.users[index].limit = Nanos::MAX,
                limit => self.cx.arm(index, self.cx.clock.now() + limit),
            },
            Opened::Established => self.established(conn),
            Opened::Failed(failure) => self.fail(conn, &failure),
        }
    }

    /// A socket has something to say.
    pub(crate) fn on_ready(&mut self, conn: ConnId, ready: Ready) {
        match self.http.conns[conn].state {
            State::Connecting if ready.writable => self.on_connected(conn),
            State::Busy | State::Handshaking | State::Tunnelling => {
                if ready.writable
                    && !self.http.conns[conn].transport.all_sent()
                    && !self.flush(conn)
                {
                    return;
                }
                if ready.readable {
                    self.read(conn, ready.hangup);
                }
            }
            State::Idle if ready.readable => self.read_idle(conn),
            State::Connecting | State::Idle | State::Dead | State::Closed => {}
        }
    }

    fn on_connected(&mut self, conn: ConnId) {
        let entry = &mut self.http.conns[conn];
        let (opening, transport) = (&mut entry.opening, &mut entry.transport);
        let (slot, start) = (Conns::slot(conn), entry.exchange.start);
        let opened = self.cx.net.connected(
            opening,
            transport,
            slot,
            start,
            &self.cx.clock,
            &mut self.cx.recorder,
        );
        self.on_opened(conn, opened);
    }

    /// The TCP connection stands.
    fn established(&mut self, conn: ConnId) {
        let entry = &self.http.conns[conn];
        let route = &self.cx.net.routes[entry.route];
        if route.tunnel.as_ref().is_some_and(|tunnel| !tunnel.forwarded) {
            self.ask_for_way(conn);
        } else if route.secure {
            // It has stood at least since the kernel said so; others' turn came first.
            self.start_tls(conn, self.cx.net.woke);
        } else {
            self.connected(conn);
        }
    }

    /// The connection stands, TLS included: the waiting request goes out.
    pub(crate) fn connected(&mut self, conn: ConnId) {
        let now = self.cx.clock.now();
        // Behind a proxy, connecting ends with the connection to it.
        let tunnelled = self.cx.net.routes[self.http.conns[conn].route].tunnel.is_some();
        let entry = &mut self.http.conns[conn];
        if entry.exchange.connect == 0 || !tunnelled {
            entry.exchange.connect = now - entry.exchange.start;
        }
        entry.state = State::Busy;
        let Some(mut stash) = entry.stash.take() else { return };
        let request = std::mem::take(&mut stash.request);
        entry.stash = Some(stash);
        let generation = entry.transport.generation;
        self.transmit(conn, &request);
        // A request that failed at once is over, and the slot may be that of the user's next one by now.
        let same = self.http.conns[conn].transport.generation == generation;
        if let Some(stash) = self.http.conns[conn].stash.as_mut().filter(|_| same) {
            stash.request = request;
        } else if let Some(stash) = self.http.stashes.last_mut() {
            stash.request = request;
        }
    }

    /// Begins the TLS handshake on a connection that stands since `since`.
    pub(crate) fn start_tls(&mut self, conn: ConnId, since: Nanos) {
        let cpu = thread_cpu();
        let began = self.cx.clock.now();
        let index = self.http.conns[conn].user;
        let config = match self.cx.tls_config(self.cx.users.owner(index)) {
            Ok(config) => config,
            Err(error) => return self.fail(conn, &Failure::Tls(error)),
        };
        let entry = &mut self.http.conns[conn];
        let (opening, transport) = (&mut entry.opening, &mut entry.transport);
        if let Err(failure) = self.cx.net.start_tls(opening, transport, &config, since, began) {
            return self.fail(conn, &failure);
        }
        entry.state = State::Handshaking;
        entry.exchange.arrival = began;
        match entry.exchange.limit {
            0 => self.cx.users[index].limit = Nanos::MAX,
            limit => self.cx.arm(index, self.cx.clock.now() + limit),
        }
        self.handshake(conn, &mut [], cpu);
    }

    /// Continues a handshake with what arrived; returns how much of it is used up. `cpu` is the thread's processor time
    /// when this began.
    pub(crate) fn handshake(&mut self, conn: ConnId, incoming: &mut [u8], cpu: u64) -> usize {
        let entry = &mut self.http.conns[conn];
        let (opening, transport) = (&mut entry.opening, &mut entry.transport);
        let since = (entry.exchange.arrival, cpu);
        let (clock, recorder) = (&self.cx.clock, &mut self.cx.recorder);
        let shaken = self.cx.net.shake_hands(opening, transport, incoming, since, clock, recorder);
        let failure = match (shaken.sent, shaken.over) {
            (Err(error), _) => Failure::Socket(error),
            (Ok(_), Err(failure)) => failure,
            (Ok(_), Ok(over)) => {
                if over && self.http.conns[conn].state == State::Handshaking {
                    self.connected(conn);
                }
                return shaken.used;
            }
        };
        self.fail(conn, &failure);
        0
    }

    /// Takes what the socket of a user has whose time is over. Timers fire before sockets are polled: after a stall of
    /// this process, what came in time may lie there unread. False: there was nothing.
    pub(crate) fn takes_what_lies_there(&mut self, index: UserId, conn: ConnId) -> bool {
        match self.http.conns[conn].state {
            State::Connecting => {
                if !self.http.conns[conn].transport.fd.as_ref().is_some_and(driver::has_settled) {
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
        let user = &self.cx.users[index];
        let waits = user.alive && matches!(user.wait, Wait::Exchange(_));
        if waits && user.limit != Nanos::MAX && !user.links.armed() {
            let limit = self.http.conns[user.conn].exchange.limit;
            let until = user.limit.max(self.cx.clock.now() + limit);
            self.cx.arm(index, until);
        }
        true
    }

    /// The timer of a user with an exchange fired.
    pub(crate) fn check_limit(&mut self, index: UserId, now: Nanos) {
        let user = &self.cx.users[index];
        if user.limit == Nanos::MAX {
            return;
        }
        if now < user.limit {
            let limit = user.limit;
            return self.cx.timers.wheel.insert(index, limit, &mut self.cx.users);
        }
        let conn = user.conn;
        if conn == NO_CONN || self.takes_what_lies_there(index, conn) {
            return;
        }
        match self.http.conns[conn].state {
            State::Connecting => {
                let entry = &mut self.http.conns[conn];
                let (opening, transport) = (&mut entry.opening, &mut entry.transport);
                let slot = Conns::slot(conn);
                let opened = self.cx.net.connect_is_late(opening, transport, slot, &self.cx.clock);
                self.on_opened(conn, opened);
            }
            State::Handshaking => self.fail(conn, &Failure::TlsTimeout),
            _ => self.fail(conn, &Failure::ResponseTimeout),
        }
    }
}
