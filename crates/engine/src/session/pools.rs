//! Pools: connections of a core that belong to no single user, and the exchanges that wait for one of them.
//!
//! A pool has a number, and a maximum number of connections. Each core has its own pools, so the run has at most this
//! maximum times the number of cores. A free connection goes to the exchange that has waited longest.

use std::collections::VecDeque;

use stats::{Counter, Span};
use wire::session::Ticket;

use crate::ids::RouteId;
use crate::session::exchange::Ending;
use crate::session::line::{ConnectionScope, LineId, State};
use crate::session::{Around, Sessions};
use crate::time::clock::Nanos;
use crate::time::milestones::Milestones;

/// The answer of a pool to an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Share {
    /// A free connection of the pool.
    Line(LineId),
    /// A new connection may be opened. The pool already counts this connection.
    New,
    /// The maximum number of connections is in use.
    None,
}

/// A pool of connections to one route, which the users of a core share.
#[derive(Debug)]
struct Pool {
    number: u32,
    route: RouteId,
    /// Number of connections, including connections that are being opened.
    lines: u32,
    free: Vec<LineId>,
    waiting: VecDeque<Ticket>,
}

/// Pools of a core.
#[derive(Debug, Default)]
pub(crate) struct Pools(Vec<Pool>);

impl Pools {
    fn of(&mut self, number: u32, route: RouteId) -> &mut Pool {
        let at = self.0.iter().position(|pool| pool.number == number).unwrap_or_else(|| {
            let (free, waiting) = (Vec::new(), VecDeque::new());
            self.0.push(Pool { number, route, lines: 0, free, waiting });
            self.0.len() - 1
        });
        &mut self.0[at]
    }

    /// Requests a connection of a pool. `most` is the maximum number of connections; 0 is unlimited. A pool has the
    /// route of its first exchange.
    fn ask(&mut self, number: u32, most: u32, route: RouteId) -> (Share, RouteId) {
        let pool = self.of(number, route);
        let share = match pool.free.pop() {
            Some(line) => Share::Line(line),
            None if most == 0 || pool.lines < most => {
                pool.lines += 1;
                Share::New
            }
            None => Share::None,
        };
        (share, pool.route)
    }

    /// Returns a free connection to the pool; `line` is `None` if it was closed. Returns the waiting exchange that
    /// takes the connection, or that may open a new one.
    fn give_back(&mut self, number: u32, line: Option<LineId>) -> Option<Ticket> {
        let pool = self.0.iter_mut().find(|pool| pool.number == number)?;
        let next = pool.waiting.pop_front();
        match (next, line) {
            (None, Some(line)) => pool.free.push(line),
            (None, None) => pool.lines -= 1,
            // The waiting exchange takes over the connection, or the right to open one.
            (Some(_), _) => {}
        }
        next
    }

    /// Removes an exchange that no longer waits.
    fn forget(&mut self, number: u32, ticket: Ticket) {
        if let Some(pool) = self.0.iter_mut().find(|pool| pool.number == number) {
            pool.waiting.retain(|waiting| *waiting != ticket);
        }
    }

    /// Returns the routes of all pools.
    pub(crate) fn routes(&self) -> impl Iterator<Item = RouteId> {
        self.0.iter().map(|pool| pool.route)
    }
}

impl Sessions {
    /// Starts an exchange on a connection of a pool, or makes it wait for one.
    pub(super) fn join(&mut self, around: &mut Around<'_>, ticket: Ticket, pool: u32) {
        let exchange = &mut self.exchanges[ticket];
        let (share, route) = self.pools.ask(pool, exchange.terms.most_lines, exchange.route);
        exchange.route = route;
        match share {
            Share::Line(id) => {
                around.recorder.span(Span::Room, 0);
                self.assign_connection(around, ticket, Some(id));
            }
            Share::New => {
                around.recorder.span(Span::Room, 0);
                self.assign_connection(around, ticket, None);
            }
            Share::None if exchange.terms.room_limit == Some(0) => {
                around.recorder.span(Span::Room, 0);
                let words = "all connections of the pool are in use";
                self.end(around, ticket, Ending::thrown(words), around.clock.now());
            }
            Share::None => {
                let (user, limit) = (exchange.user, exchange.terms.room_limit.unwrap_or(0));
                self.pools.of(pool, route).waiting.push_back(ticket);
                around.limit(user, limit, around.clock.now());
            }
        }
    }

    /// Assigns a connection of the pool to an exchange, or opens a new one.
    fn assign_connection(&mut self, around: &mut Around<'_>, ticket: Ticket, line: Option<LineId>) {
        let sound = |id: &LineId| {
            let line = &self.lines[*id];
            line.state == State::Open && line.tail.is_empty()
        };
        let Some(id) = line.filter(sound) else {
            if let Some(ended) = line {
                around.recorder.add(Counter::ConnClosedByPeer, 1);
                self.lines.close(ended);
            }
            return self.open(around, ticket);
        };
        let exchange = &mut self.exchanges[ticket];
        (exchange.line, exchange.reused) = (id, true);
        (self.lines[id].ticket, self.lines[id].user) = (Some(ticket), exchange.user);
        around.recorder.add(Counter::ConnReused, 1);
        self.begin(around, id, ticket);
        // The pool wait of the exchange ends now.
        if self.exchanges.has(ticket) {
            self.exchanges[ticket].sent_at = around.clock.now();
        }
    }

    /// Returns the connection of an ended exchange to its pool, or closes it. The exchange that has waited longest
    /// continues.
    pub(crate) fn leave_pool(&mut self, around: &mut Around<'_>, ticket: Ticket, kept: bool) {
        let exchange = &mut self.exchanges[ticket];
        let ConnectionScope::Named(pool) = exchange.place else { return };
        let id = std::mem::replace(&mut exchange.line, LineId::NONE);
        if id == LineId::NONE {
            // The exchange had no connection, and none was being opened for it.
            return;
        }
        if !kept {
            let counter = match self.lines[id].state {
                State::Open => Counter::ConnClosedByUs,
                State::Ended => Counter::ConnClosedByPeer,
                _ => Counter::ConnFailed,
            };
            around.recorder.add(counter, 1);
            self.lines.close(id);
        }
        let line = kept.then_some(id);
        if let Some(next) = self.pools.give_back(pool, line) {
            self.count_wait(around, next, around.clock.now());
            self.assign_connection(around, next, line);
        }
    }

    /// Fails an exchange that has waited too long for a connection of its pool.
    pub(super) fn fail_pool_wait(&mut self, around: &mut Around<'_>, ticket: Ticket) {
        let words = "no connection of the pool became free in time";
        let now = around.clock.now();
        self.count_wait(around, ticket, now);
        self.end(around, ticket, Ending::thrown(words), now);
    }

    /// Counts the time that an exchange has waited for a connection of its pool.
    fn count_wait(&mut self, around: &mut Around<'_>, ticket: Ticket, now: Nanos) {
        around.recorder.add(Counter::PoolWaits, 1);
        let waited = (now - self.exchanges[ticket].start).max(0) as u64;
        around.recorder.span(Span::Room, waited);
        self.exchanges[ticket].milestones.room = Milestones::micros(waited as i64);
    }

    /// Removes an exchange without a connection from the pool's queue.
    pub(super) fn stop_waiting(&mut self, ticket: Ticket) {
        let exchange = &self.exchanges[ticket];
        if let (ConnectionScope::Named(pool), LineId::NONE) = (exchange.place, exchange.line) {
            self.pools.forget(pool, ticket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::line::{LineId, Lines};

    fn ticket(index: u32) -> Ticket {
        Ticket::first(index)
    }

    fn line(index: u32) -> LineId {
        Lines::id(index)
    }

    #[test]
    fn a_pool_has_as_many_lines_as_it_may_and_who_waits_longest_is_next() {
        let mut pools = Pools::default();
        let ask = |pools: &mut Pools| pools.ask(7, 2, RouteId::NONE).0;
        assert_eq!((ask(&mut pools), ask(&mut pools)), (Share::New, Share::New));
        assert_eq!(ask(&mut pools), Share::None);
        pools.of(7, RouteId::NONE).waiting.extend([ticket(1), ticket(2), ticket(3)]);
        pools.forget(7, ticket(2));
        assert_eq!(pools.give_back(7, Some(line(0))), Some(ticket(1)), "the first");
        assert_eq!(pools.give_back(7, None), Some(ticket(3)), "in place of one that is gone");
        assert_eq!(ask(&mut pools), Share::None, "both are theirs");
        assert_eq!(pools.give_back(7, Some(line(1))), None);
        assert_eq!(ask(&mut pools), Share::Line(line(1)));
        assert_eq!(pools.give_back(7, None), None);
        assert_eq!(ask(&mut pools), Share::New, "one is gone");
        assert_eq!(pools.ask(8, 1, RouteId::NONE).0, Share::New, "another pool");
        assert_eq!(pools.ask(9, 0, RouteId::NONE).0, Share::New);
        assert_eq!(pools.ask(9, 0, RouteId::NONE).0, Share::New, "without bound");
    }
}
