//! The event loop of a target: accepts connections, reads requests, calls the [`Service`], sends its answers, and keeps
//! time to the microsecond.
//!
//! One thread owns all of this state; a byte on the wake pipe ends it. Waits use `epoll_pwait2` with nanoseconds and a
//! timer slack of one nanosecond. Due timers are checked between any two events, so that a burst of requests does not
//! delay a due answer. Cost per simple request: one event, one read, one write.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustls::ServerConfig;
use slab::Slab;

use crate::accept;
use crate::answer::{Answer, Step};
use crate::connection::Connection;
use crate::request::{Found, Request};
use crate::scratch::Scratch;
use crate::service::{Nanos, Service};
use crate::situation::{Counts, Habits, habits};

const LISTENER: u64 = u64::MAX;
const WAKE: u64 = u64::MAX - 1;
/// Maximum number of connections accepted in one turn, so that many new connections do not starve the open ones.
const ACCEPTS: usize = 64;
const EVENTS: usize = 256;
/// Maximum number of bytes of a repeated pattern that are handed to the kernel at a time; a longer pattern is handed
/// over whole.
const REPEATED: usize = 1 << 18;
/// Time in which a peer must close its side after the target closed its own, in nanoseconds.
const LINGER: Nanos = 1_000_000_000;

pub(crate) struct Reactor {
    epoll: OwnedFd,
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    service: Box<dyn Service>,
    connections: Slab<Connection>,
    timers: BinaryHeap<Reverse<Timer>>,
    accepted: u64,
    answer: Answer,
    timed: bool,
    scratch: Scratch,
    start: Instant,
    habits: Option<(Habits, UnixStream)>,
    /// Time until which the target accepts no further connections; `None` if it accepts them now.
    accepts_at: Option<Nanos>,
}

/// A timer of a connection; timers are ordered by deadline. `connection` and `number` tell whether the connection still
/// waits for this timer.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Timer {
    deadline: Nanos,
    slot: usize,
    connection: u64,
    number: u32,
}

/// The result of continuing the answer of a connection.
enum Played {
    Whole,
    Waiting,
    Gone,
}

impl Reactor {
    pub(crate) fn new(
        listener: TcpListener,
        wake: &UnixStream,
        tls: Option<Arc<ServerConfig>>,
        service: Box<dyn Service>,
    ) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let epoll = epoll::create(CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, listener.as_fd(), EventData::new_u64(LISTENER), EventFlags::IN)?;
        epoll::add(&epoll, wake.as_fd(), EventData::new_u64(WAKE), EventFlags::IN)?;
        Ok(Self {
            epoll,
            listener,
            tls,
            timed: service.timed(),
            scratch: Scratch::new(service.timed()),
            service,
            connections: Slab::new(),
            timers: BinaryHeap::new(),
            accepted: 0,
            answer: Answer::default(),
            start: Instant::now(),
            habits: None,
            accepts_at: None,
        })
    }

    /// Sets the faults of the event loop. During a stall the loop only reads `wake`.
    pub(crate) fn habits(&mut self, habits: Habits, wake: &UnixStream) -> io::Result<()> {
        self.habits = Some((habits, wake.try_clone()?));
        Ok(())
    }

    /// Serves until the wake pipe delivers a byte or closes.
    pub(crate) fn run(&mut self) -> io::Result<()> {
        // The default timer slack of 50 µs would extend every wait. If it cannot be set, waits are less exact.
        let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS);
        loop {
            let timeout = self.next_timeout();
            events.clear();
            match epoll::wait(
                &self.epoll,
                rustix::buffer::spare_capacity(&mut events),
                timeout.as_ref(),
            ) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if self.stands_still() {
                return Ok(());
            }
            self.fire_due();
            for event in &events {
                match event.data.u64() {
                    WAKE => return Ok(()),
                    LISTENER => self.accept(),
                    token => self.happened(token, event.flags),
                }
                self.fire_due();
            }
        }
    }

    fn now(&self) -> Nanos {
        self.start.elapsed().as_nanos() as Nanos
    }

    fn next_timeout(&self) -> Option<Timespec> {
        let timer = self.timers.peek().map(|Reverse(timer)| timer.deadline);
        let deadline = timer.into_iter().chain(self.accepts_at).min()?;
        let left = Duration::from_nanos(deadline.saturating_sub(self.now()));
        Some(Timespec { tv_sec: left.as_secs() as i64, tv_nsec: i64::from(left.subsec_nanos()) })
    }

    /// Waits, without handling events, for the end of a stall if there is one; returns true if the target was stopped
    /// meanwhile.
    fn stands_still(&mut self) -> bool {
        let now = self.now();
        let Some((habits, wake)) = &mut self.habits else { return false };
        habits.open(self.connections.len());
        habits.stall(now).is_some_and(|left| habits::stand_still(wake, left))
    }

    fn fire_due(&mut self) {
        if self.accepts_at.is_some_and(|time| time <= self.now()) {
            self.accepts_at = None;
            self.listen(EventFlags::IN);
        }
        while let Some(Reverse(timer)) = self.timers.peek() {
            if timer.deadline > self.now() {
                return;
            }
            let Some(Reverse(timer)) = self.timers.pop() else { return };
            let Some(connection) = self.connections.get_mut(timer.slot) else { continue };
            if connection.number != timer.connection || connection.timer != timer.number {
                continue;
            }
            if connection.closing {
                self.connections.remove(timer.slot);
            } else if connection.cut_at == Some(timer.deadline) && connection.rests() {
                self.cut(timer.slot);
            } else {
                self.serve(timer.slot);
            }
        }
    }

    fn accept(&mut self) {
        let pause = self.habits.as_ref().map_or(0, |(habits, _)| habits.accept_every);
        if pause > 0 {
            if self.accepts_at.is_none()
                && let Some(socket) = accept::next(&self.listener)
            {
                self.admit(socket);
                self.accepts_at = Some(self.now() + pause);
                self.listen(EventFlags::empty());
            }
            return;
        }
        for _ in 0..ACCEPTS {
            let Some(socket) = accept::next(&self.listener) else { return };
            self.admit(socket);
        }
    }

    /// Sets the events of the listener that wake the event loop: none, or connections that wait to be accepted.
    fn listen(&self, flags: EventFlags) {
        // Changing the registration fails only if the listener is closed. Then nobody can connect, which clients
        // notice.
        let _ = epoll::modify(&self.epoll, &self.listener, EventData::new_u64(LISTENER), flags);
    }

    /// Cuts a connection that was idle for too long, with FIN or RST.
    fn cut(&mut self, slot: usize) {
        let Some((habits, _)) = &self.habits else { return };
        Counts::add(&habits.counts.idle_cut);
        let connection = &mut self.connections[slot];
        if habits.cut_resets {
            connection.abort();
            self.connections.remove(slot);
        } else if connection.finish().is_ok() {
            self.wait_until(slot, self.now() + LINGER);
        } else {
            self.connections.remove(slot);
        }
    }

    /// Starts the timer that cuts a connection if it stays idle.
    fn watch_idle(&mut self, slot: usize) {
        let idle = self.habits.as_ref().map_or(0, |(habits, _)| habits.idle);
        if idle > 0 && self.connections.get(slot).is_some_and(Connection::rests) {
            let deadline = self.now() + idle;
            self.wait_until(slot, deadline);
            self.connections[slot].waits_until = None;
            self.connections[slot].cut_at = Some(deadline);
        }
    }

    fn admit(&mut self, socket: TcpStream) {
        let now = self.now();
        if let Some((habits, _)) = &mut self.habits
            && !habits.admits(&socket, self.connections.len(), now)
        {
            return;
        }
        let Ok(tls) = accept::tls(self.tls.as_ref()) else { return };
        self.scratch.prepare(&socket);
        self.accepted += 1;
        let entry = self.connections.vacant_entry();
        let token = token(entry.key(), self.accepted);
        if epoll::add(&self.epoll, &socket, EventData::new_u64(token), EventFlags::IN).is_ok() {
            let slot = entry.key();
            entry.insert(Connection::new(socket, tls, self.accepted));
            self.watch_idle(slot);
        }
    }

    fn happened(&mut self, token: u64, flags: EventFlags) {
        let slot = (token & u64::from(u32::MAX)) as usize;
        let Some(connection) = self.connections.get_mut(slot) else { return };
        if self::token(slot, connection.number) != token {
            return;
        }
        let gone = flags.intersects(EventFlags::ERR | EventFlags::HUP);
        let read = gone
            || !flags.contains(EventFlags::IN)
            || connection.receive(&mut self.scratch).is_ok();
        if self.timed && flags.contains(EventFlags::IN) {
            let age = self.scratch.age.as_nanos() as Nanos;
            connection.arrived = (self.start.elapsed().as_nanos() as Nanos).saturating_sub(age);
        }
        let over = connection.ended && (connection.closing || connection.stalled);
        if gone || !read || over {
            self.connections.remove(slot);
        } else if !connection.closing {
            self.serve(slot);
        }
    }

    /// Continues the connection's current answer, then answers its queued requests, until one must wait.
    fn serve(&mut self, slot: usize) {
        loop {
            if self.connections[slot].busy {
                match self.play(slot) {
                    Played::Whole => {
                        self.connections[slot].busy = false;
                        self.watch_idle(slot);
                    }
                    Played::Waiting => break,
                    Played::Gone => {
                        self.connections.remove(slot);
                        return;
                    }
                }
            }
            if !self.begin(slot) {
                break;
            }
        }
        let connection = &mut self.connections[slot];
        if connection.ended && (!connection.busy || connection.closing || connection.stalled) {
            self.connections.remove(slot);
            return;
        }
        let wanted = connection.wanted();
        if wanted != connection.interest {
            connection.interest = wanted;
            let data = EventData::new_u64(token(slot, connection.number));
            if epoll::modify(&self.epoll, &connection.socket, data, wanted).is_err() {
                self.connections.remove(slot);
            }
        }
    }

    /// Parses the connection's next request and starts its answer; returns false if no complete request is there.
    fn begin(&mut self, slot: usize) -> bool {
        let read = self.now();
        let Self { connections, service, answer, timed, .. } = self;
        let connection = &mut connections[slot];
        let now = if *timed { connection.arrived } else { read };
        if connection.input.is_empty() {
            return false;
        }
        answer.now.clear();
        answer.then.clear();
        let length = match Request::find(&connection.input) {
            Found::Whole(mut request, length) => {
                connection.order += 1;
                request.connection = connection.number;
                request.order = connection.order;
                request.tls = connection.is_tls();
                service.request(&request, now, answer);
                length
            }
            Found::Part { expects } => {
                if expects && !connection.continued {
                    connection.continued = true;
                    // If the peer has closed, the next read reports it.
                    let _ = connection.send(b"HTTP/1.1 100 Continue\r\n\r\n");
                }
                return false;
            }
            Found::Bad => {
                answer.send(
                    b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
                );
                answer.close();
                connection.input.len()
            }
        };
        connection.input.drain(..length);
        if connection.input.is_empty() {
            connection.input.shrink_to(1 << 16);
        }
        connection.continued = false;
        connection.busy = true;
        connection.received = now;
        connection.script.append(&mut answer.then);
        if connection.send(&answer.now).is_err() {
            connection.script.clear();
            connection.script.push_back(Step::Reset);
        }
        true
    }

    fn play(&mut self, slot: usize) -> Played {
        match self.try_play(slot) {
            Ok(played) => played,
            Err(_) => Played::Gone,
        }
    }

    fn try_play(&mut self, slot: usize) -> io::Result<Played> {
        loop {
            let now = self.start.elapsed().as_nanos() as Nanos;
            let connection = &mut self.connections[slot];
            if !connection.flush()? || connection.closing || connection.stalled {
                return Ok(Played::Waiting);
            }
            if connection.waits_until.is_some_and(|time| time > now) {
                return Ok(Played::Waiting);
            }
            connection.waits_until = None;
            let Some(step) = connection.script.pop_front() else {
                return Ok(Played::Whole);
            };
            match step {
                Step::Send(bytes) => connection.send(&bytes)?,
                Step::Repeat(pattern, total) => {
                    let count =
                        total.min((REPEATED - REPEATED % pattern.len()).max(pattern.len()) as u64);
                    let (whole, part) =
                        (count as usize / pattern.len(), count as usize % pattern.len());
                    let mut bytes = pattern.repeat(whole);
                    bytes.extend_from_slice(&pattern[..part]);
                    if count < total {
                        let left = if total == u64::MAX { total } else { total - count };
                        connection.script.push_front(Step::Repeat(pattern, left));
                    }
                    connection.send(&bytes)?;
                }
                Step::Until(time) => self.wait_until(slot, time),
                Step::Pause(nanos) => self.wait_until(slot, now + nanos),
                Step::Ask(tag) => {
                    self.answer.now.clear();
                    self.answer.then.clear();
                    self.service.due(tag, now, &mut self.answer);
                    let connection = &mut self.connections[slot];
                    self.answer.then.append(&mut connection.script);
                    connection.script.append(&mut self.answer.then);
                    connection.send(&self.answer.now)?;
                }
                Step::Count => self.service.answered(connection.received, now),
                Step::Close => {
                    connection.finish()?;
                    self.wait_until(slot, now + LINGER);
                }
                Step::Reset => {
                    connection.abort();
                    return Ok(Played::Gone);
                }
                Step::Stall => connection.stalled = true,
            }
        }
    }

    fn wait_until(&mut self, slot: usize, deadline: Nanos) {
        let connection = &mut self.connections[slot];
        connection.timer = connection.timer.wrapping_add(1);
        connection.waits_until = Some(deadline);
        let (connection, number) = (connection.number, connection.timer);
        self.timers.push(Reverse(Timer { deadline, slot, connection, number }));
    }
}

/// The epoll token of a connection: its slot, and enough bits of its number to recognise events of an earlier
/// connection in the slot.
fn token(slot: usize, connection: u64) -> u64 {
    (connection << 32) | slot as u64
}
