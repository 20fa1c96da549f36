//! Connections of users on their way to the first request: their opening, the TLS handshake, and the limits of both.

use std::fmt::Write;

use plan::plan::SamplerId;
use stats::Span;

use crate::context::Context;
use crate::http::conn::{ConnId, Conns, Exchange, NO_CONN, Stash, State};
use crate::http::repeat::Unanswered;
use crate::http::requests::Requests;
use crate::ids::UserId;
use crate::net::driver::{self, Ready};
use crate::net::opening::Opened;
use crate::net::outcome::Failure;
use crate::net::routes::RouteId;
use crate::time::clock::{Nanos, thread_cpu};
use crate::time::milestones::Milestones;
use crate::users::Wait;

impl Requests {
    /// Opens a connection for a request that waits in `stash`.
    pub(crate) fn open(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        id: SamplerId,
        route: RouteId,
        exchange: Exchange,
        stash: Box<Stash>,
    ) {
        let conn = self.conns.open(index, route);
        self.open_on(cx, index, id, conn, exchange, stash);
    }

    /// Opens a connection for a request that got no answer on another, whose opening took so much of this process's time.
    pub(crate) fn open_again(&mut self, cx: &mut Context<'_>, user: UserId, request: Unanswered) {
        let Unanswered { sampler, route, exchange, stash, own, .. } = request;
        let conn = self.conns.open(user, route);
        self.conns[conn].opening.set_own(own);
        self.open_on(cx, user, sampler, conn, exchange, stash);
    }

    fn open_on(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        id: SamplerId,
        conn: ConnId,
        exchange: Exchange,
        stash: Box<Stash>,
    ) {
        self.conns[conn].holder = self.conns.holder(cx, index);
        self.conns[conn].end = exchange.start.saturating_add(cx.run.settings.http.time_to_live);
        self.conns[conn].exchange = exchange;
        self.conns[conn].stash = Some(stash);
        self.conns.remember(cx, index, conn);
        cx.users[index].wait = Wait::Exchange(id);
        if self.look_up_name(cx, index, id, conn) {
            return;
        }
        let entry = &self.conns[conn];
        if !cx.net.resolve(&entry.opening, index, exchange.start, &mut cx.recorder) {
            // Limits of connecting begin with the first address.
            let user = &mut cx.users[index];
            (user.wait, user.limit) = (Wait::Resolve(id), Nanos::MAX);
            return;
        }
        self.keep_name(cx, index, id, conn);
        self.connect(cx, conn);
    }

    /// An answer of the resolver: the addresses of the route are known, or there are none.
    pub(crate) fn on_resolved(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        route: RouteId,
        known: Result<(), Failure>,
    ) {
        let user = &mut cx.users[index];
        let Wait::Resolve(id) = user.wait else { return };
        // It may be the answer to a question of somebody who waits no more.
        if self.conns[user.conn].route != route {
            return;
        }
        user.wait = Wait::Exchange(id);
        let conn = user.conn;
        self.note_name(cx, conn);
        match known {
            Ok(()) => {
                self.keep_name(cx, index, id, conn);
                self.connect(cx, conn);
            }
            Err(failure) => self.fail(cx, conn, &failure),
        }
    }

    /// The name's addresses are known, or are not to be had.
    pub(crate) fn note_name(&mut self, cx: &Context<'_>, conn: ConnId) {
        let exchange = &mut self.conns[conn].exchange;
        exchange.milestones.dns = Milestones::micros(cx.clock.now() - exchange.start);
    }

    /// Opens a connection that was queued, unless its socket is gone.
    pub(crate) fn connect_queued(&mut self, cx: &mut Context<'_>, token: u64) {
        if let Some(conn) = self.conns.by_token(token) {
            self.connect(cx, conn);
        }
    }

    /// Tries the connection's addresses from the one at hand on, until one does not fail at once.
    pub(crate) fn connect(&mut self, cx: &mut Context<'_>, conn: ConnId) {
        let entry = &mut self.conns[conn];
        let (opening, transport) = (&mut entry.opening, &mut entry.transport);
        let opened = cx.net.connect(opening, transport, Conns::slot(conn), &cx.clock);
        self.on_opened(cx, conn, opened);
    }

    /// Acts upon what came of a step of a connection's opening.
    pub(crate) fn on_opened(&mut self, cx: &mut Context<'_>, conn: ConnId, opened: Opened) {
        let entry = &self.conns[conn];
        let index = entry.user;
        match opened {
            Opened::Resolving | Opened::Queued => cx.users[index].limit = Nanos::MAX,
            Opened::Connecting => match entry.exchange.connect_limit {
                0 => cx.users[index].limit = Nanos::MAX,
                limit => cx.arm(index, cx.clock.now() + limit),
            },
            Opened::Established => self.established(cx, conn),
            Opened::Failed(failure) => self.fail(cx, conn, &failure),
        }
    }

    /// A socket has something to say, unless it is gone.
    pub(crate) fn on_event(&mut self, cx: &mut Context<'_>, ready: Ready) {
        if let Some(conn) = self.conns.by_token(ready.token) {
            self.on_ready(cx, conn, ready);
        }
    }

    fn on_ready(&mut self, cx: &mut Context<'_>, conn: ConnId, ready: Ready) {
        match self.conns[conn].state {
            State::Connecting if ready.writable => self.on_connected(cx, conn),
            State::Busy | State::Handshaking | State::Tunnelling => {
                if ready.writable && !self.conns[conn].transport.all_sent() && !self.flush(cx, conn)
                {
                    return;
                }
                self.note_sent(cx, conn, ready);
                if ready.readable {
                    self.read(cx, conn, ready.hangup);
                }
            }
            State::Idle if ready.readable => self.conns.read_idle(cx, conn),
            State::Connecting | State::Idle | State::Dead | State::Closed => {}
        }
    }

    /// A request that did not fit the socket's buffer at once is sent whole by now, if it is.
    fn note_sent(&mut self, cx: &Context<'_>, conn: ConnId, ready: Ready) {
        let entry = &mut self.conns[conn];
        let unanswered = entry.state == State::Busy && !entry.exchange.head_seen;
        if ready.writable && unanswered && !entry.exchange.all_sent && entry.transport.all_sent() {
            (entry.exchange.sent_at, entry.exchange.all_sent) = (cx.clock.now(), true);
        }
    }

    fn on_connected(&mut self, cx: &mut Context<'_>, conn: ConnId) {
        let entry = &mut self.conns[conn];
        let (opening, transport) = (&mut entry.opening, &mut entry.transport);
        let (slot, start) = (Conns::slot(conn), entry.exchange.start);
        let opened = cx.net.connected(opening, transport, slot, start, &cx.clock, &mut cx.recorder);
        self.on_opened(cx, conn, opened);
    }

    /// Gives a connection the class of the address that it goes to.
    pub(crate) fn classify(&mut self, cx: &mut Context<'_>, conn: ConnId) {
        let entry = &mut self.conns[conn];
        let Ok(address) = cx.net.address(&entry.opening) else { return };
        let mut text = cx.texts.take();
        let _ = write!(text, "{address}");
        entry.class = cx.recorder.class("", &text);
        cx.texts.give(text);
    }

    /// The TCP connection stands.
    fn established(&mut self, cx: &mut Context<'_>, conn: ConnId) {
        self.classify(cx, conn);
        let entry = &self.conns[conn];
        cx.recorder.opened(entry.class);
        let named = Nanos::from(entry.exchange.milestones.dns) * 1000;
        let took = (cx.clock.now() - entry.exchange.start - named).max(0);
        cx.recorder.span(Span::Tcp, took as u64);
        let entry = &self.conns[conn];
        let route = &cx.net.routes[entry.route];
        if route.tunnel.as_ref().is_some_and(|tunnel| !tunnel.forwarded) {
            self.ask_for_way(cx, conn);
        } else if route.secure {
            // It has stood at least since the kernel said so; others' turn came first.
            self.start_tls(cx, conn, cx.net.woke);
        } else {
            self.connected(cx, conn);
        }
    }

    /// The connection stands, TLS included: the waiting request goes out.
    pub(crate) fn connected(&mut self, cx: &mut Context<'_>, conn: ConnId) {
        let now = cx.clock.now();
        // Behind a proxy, connecting ends with the connection to it.
        let tunnelled = cx.net.routes[self.conns[conn].route].tunnel.is_some();
        let entry = &mut self.conns[conn];
        if entry.exchange.connect == 0 || !tunnelled {
            entry.exchange.connect = now - entry.exchange.start;
        }
        if entry.exchange.milestones.tcp > 0 {
            let steps = &mut entry.exchange.milestones;
            steps.tls = Milestones::micros(now - entry.exchange.start).saturating_sub(steps.tcp);
        }
        entry.state = State::Busy;
        let Some(mut stash) = entry.stash.take() else { return };
        let request = std::mem::take(&mut stash.request);
        entry.stash = Some(stash);
        let generation = entry.transport.generation;
        self.transmit(cx, conn, &request);
        // A request that failed at once is over, and the slot may be that of the user's next one by now.
        let same = self.conns[conn].transport.generation == generation;
        if let Some(stash) = self.conns[conn].stash.as_mut().filter(|_| same) {
            stash.request = request;
        } else if let Some(stash) = self.conns.stashes.last_mut() {
            stash.request = request;
        }
    }

    /// Begins the TLS handshake on a connection that stands since `since`.
    pub(crate) fn start_tls(&mut self, cx: &mut Context<'_>, conn: ConnId, since: Nanos) {
        let cpu = thread_cpu();
        let began = cx.clock.now();
        let index = self.conns[conn].user;
        let config = match cx.tls_config(cx.users.owner(index)) {
            Ok(config) => config,
            Err(error) => return self.fail(cx, conn, &Failure::Tls(error)),
        };
        let entry = &mut self.conns[conn];
        let (opening, transport) = (&mut entry.opening, &mut entry.transport);
        if let Err(failure) = cx.net.start_tls(opening, transport, &config, since, began) {
            return self.fail(cx, conn, &failure);
        }
        entry.state = State::Handshaking;
        entry.exchange.arrival = began;
        entry.exchange.milestones.tcp = Milestones::micros(began - entry.exchange.start);
        match entry.exchange.limit {
            0 => cx.users[index].limit = Nanos::MAX,
            limit => cx.arm(index, cx.clock.now() + limit),
        }
        self.handshake(cx, conn, &mut [], cpu);
    }

    /// Continues a handshake with what arrived; returns how much of it is used up. `cpu` is the thread's processor time
    /// when this began.
    pub(crate) fn handshake(
        &mut self,
        cx: &mut Context<'_>,
        conn: ConnId,
        incoming: &mut [u8],
        cpu: u64,
    ) -> usize {
        let entry = &mut self.conns[conn];
        let (opening, transport) = (&mut entry.opening, &mut entry.transport);
        let since = (entry.exchange.arrival, cpu);
        let (clock, recorder) = (&cx.clock, &mut cx.recorder);
        let shaken = cx.net.shake_hands(opening, transport, incoming, since, clock, recorder);
        let failure = match (shaken.sent, shaken.over) {
            (Err(error), _) => Failure::Socket(error),
            (Ok(_), Err(failure)) => failure,
            (Ok(_), Ok(over)) => {
                if over && self.conns[conn].state == State::Handshaking {
                    self.connected(cx, conn);
                }
                return shaken.used;
            }
        };
        self.fail(cx, conn, &failure);
        0
    }

    /// Takes what the socket of a user has whose time is over. Timers fire before sockets are polled: after a stall of
    /// this process, what came in time may lie there unread. False: there was nothing.
    pub(crate) fn takes_what_lies_there(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        conn: ConnId,
    ) -> bool {
        match self.conns[conn].state {
            State::Connecting => {
                if !self.conns[conn].transport.fd.as_ref().is_some_and(driver::has_settled) {
                    return false;
                }
                self.on_connected(cx, conn);
            }
            State::Busy | State::Handshaking | State::Tunnelling => {
                if !self.read(cx, conn, false) {
                    return false;
                }
            }
            State::Idle | State::Dead | State::Closed => return false,
        }
        // The exchange goes on, with the time that the limit gives from here; or another has begun.
        let user = &cx.users[index];
        let waits = user.alive && matches!(user.wait, Wait::Exchange(_));
        if waits && user.limit != Nanos::MAX && !user.links.armed() {
            let limit = self.conns[user.conn].exchange.limit;
            let until = user.limit.max(cx.clock.now() + limit);
            cx.arm(index, until);
        }
        true
    }

    /// The timer of a user with an exchange fired.
    pub(crate) fn check_limit(&mut self, cx: &mut Context<'_>, index: UserId, now: Nanos) {
        let user = &cx.users[index];
        if user.limit == Nanos::MAX {
            return;
        }
        if now < user.limit {
            let limit = user.limit;
            return cx.timers.wheel.insert(index, limit, &mut cx.users);
        }
        let conn = user.conn;
        if conn == NO_CONN || self.takes_what_lies_there(cx, index, conn) {
            return;
        }
        match self.conns[conn].state {
            State::Connecting => {
                let entry = &mut self.conns[conn];
                let (opening, transport) = (&mut entry.opening, &mut entry.transport);
                let slot = Conns::slot(conn);
                let opened = cx.net.connect_is_late(opening, transport, slot, &cx.clock);
                self.on_opened(cx, conn, opened);
            }
            State::Handshaking => self.fail(cx, conn, &Failure::TlsTimeout),
            _ => self.fail(cx, conn, &Failure::ResponseTimeout),
        }
    }
}
