//! Exchanges of session protocols: code that every protocol on a connection shares.
//!
//! A protocol's module evaluates a call into an [`Exchange`](exchange::Exchange), chooses the kind of connection
//! ([`ConnectionScope`](line::ConnectionScope)), and starts the exchange. Then this module takes over: it finds or
//! opens the connection, sends, reads, and enforces the time limits. It pushes
//! [`Done::Exchange`](crate::completions::Done) when the response or a failure has arrived. The protocol's module
//! then builds the result and decides whether the connection is kept. That module never sees a socket, and this
//! module never sees a result. In the code, a connection of a session is a *line*.
//!
//! | module | holds |
//! |---|---|
//! | `exchange` | the user, the times, the request and the response of each exchange, identified by tickets with generations |
//! | `line` | connections with their session; which of them a user has |
//! | `open` | opening a connection to a route |
//! | `pools` | connections that users share, and the exchanges that wait for one |
//! | `held` | connections that users hold, on which the peer sends without a request |
//! | `idle` | idle connections of HTTP clients, and how they end |
//! | `close` | closing connections |
//! | `drive` | an exchange from the call to its end: choice of a connection, sending, failures |
//! | `receive` | reading connections, and passing the input to sessions |
//! | `http1`, `decode` | decoding HTTP responses, and keeping the parts that are needed |
//! | `lazy` | parts that only some exchanges and connections need |
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

/// Exchanges of a core, and their connections.
#[derive(Debug)]
pub(crate) struct Sessions {
    pub(crate) exchanges: Exchanges,
    pub(crate) lines: Lines,
    pub(crate) pools: Pools,
    pub(crate) held: Held,
    pub(crate) stashes: Stashes,
    /// Speed-limited connections, if the run limits the speed.
    pub(crate) slow: Option<Box<Slow>>,
    /// The last head of a response, for comparison with the head of the next response.
    memo: Memo,
}

impl Sessions {
    /// Creates the state of a core. `cps` is the maximum speed of HTTP connections in characters per second,
    /// without and with TLS; 0 is unlimited.
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
    /// Sets the time limit of a user's exchange, in nanoseconds from `now`; 0 is unlimited. Moves the timer only if it
    /// would fire too late.
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
