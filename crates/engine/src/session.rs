//! Exchanges of protocols that are sessions: what every protocol on a connection needs, once.
//!
//! A protocol's room evaluates a call into an [`Exchange`](exchange::Exchange), says on what kind of connection it goes
//! ([`Place`](line::Place)), and starts it. From then on this room has it: it finds or opens the connection, sends, reads, keeps to
//! the time limits, and pushes [`Done::Exchange`](crate::completions::Done) when there is an answer or a failure. The protocol's room
//! then makes the result, and says what becomes of the connection. It never sees a socket, and this room no result.
//!
//! | module | holds |
//! |---|---|
//! | `exchange` | who waits for what, since when, and what has come; named by tickets with generations |
//! | `line` | connections with the session that speaks on them; which of them a user has |
//! | `open` | from a place and a route to a connection that stands |
//! | `pools` | lines that belong to no user, and who waits for one |
//! | `held` | connections that their users hold, on which the peer speaks unasked |
//! | `idle` | lines that clients of HTTP keep, and how they end |
//! | `close` | the end of lines |
//! | `drive` | from the call to the end of the exchange: its line, sending, failures |
//! | `receive` | reading, and feeding sessions |
//! | `http1`, `decode` | answers of HTTP: the parts of one that are noted and kept, while it is decoded |
//! | `lazy` | parts that only some exchanges and lines need |
//! | `limits` | time limits, interruption |
//! | `slow` | connections that are slow on purpose |

mod close;
mod decode;
pub(crate) mod drive;
pub(crate) mod exchange;
pub(crate) mod held;
pub(crate) mod http1;
pub(crate) mod idle;
mod lazy;
mod limits;
pub(crate) mod line;
pub(crate) mod open;
pub(crate) mod pools;
mod receive;
mod slow;

use plan::random::Random;
use stats::Recorder;
use wire::http1::Memo;

use crate::completions::Completions;
use crate::ids::UserId;
use crate::net::Net;
use crate::session::exchange::Exchanges;
use crate::session::held::{Bounds, Held};
use crate::session::http1::Stashes;
use crate::session::line::Lines;
use crate::session::pools::Pools;
use crate::session::slow::Slow;
use crate::time::clock::{Clock, Nanos};
use crate::users::Users;
use crate::users::timers::Timers;

/// Exchanges of a core, and the connections they go on.
#[derive(Debug)]
pub(crate) struct Sessions {
    pub(crate) exchanges: Exchanges,
    pub(crate) lines: Lines,
    pub(crate) pools: Pools,
    pub(crate) held: Held,
    pub(crate) stashes: Stashes,
    /// Slow connections, where there are some.
    pub(crate) slow: Option<Box<Slow>>,
    /// The last head of a response.
    memo: Memo,
}

impl Sessions {
    /// `cps`: characters per second of connections of HTTP, without TLS and with it; 0 is no limit.
    pub(crate) fn new(
        bounds: Bounds,
        most_of_body: [usize; 2],
        cps: (u32, u32),
        now: Nanos,
    ) -> Self {
        Self {
            exchanges: Exchanges::default(),
            lines: Lines::default(),
            pools: Pools::default(),
            held: Held::new(bounds, now),
            stashes: Stashes::new(most_of_body),
            slow: Slow::new(cps),
            memo: Memo::default(),
        }
    }
}

/// The parts of a core that sessions use.
pub(crate) struct Around<'a> {
    pub(crate) clock: &'a Clock,
    pub(crate) random: &'a mut Random,
    pub(crate) net: &'a mut Net,
    pub(crate) users: &'a mut Users,
    pub(crate) timers: &'a mut Timers,
    pub(crate) recorder: &'a mut Recorder,
    pub(crate) done: &'a mut Completions,
}

impl Around<'_> {
    /// Sets the time limit of a user's exchange, in nanoseconds from `now`; 0 is none. The timer is moved only if it would fire too late.
    #[inline]
    pub(crate) fn limit(&mut self, index: UserId, limit: Nanos, now: Nanos) {
        let user = &mut self.users[index];
        if limit == 0 {
            user.limit = Nanos::MAX;
            return;
        }
        let until = now + limit;
        user.limit = until;
        if !user.links.armed() || user.links.deadline > until {
            self.timers.wheel.insert(index, until, &mut *self.users);
        }
    }
}
