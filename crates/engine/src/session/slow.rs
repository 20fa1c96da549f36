//! Speed-limited HTTP connections (`httpclient.socket.http.cps`, `httpclient.socket.https.cps`): sending and reading
//! pause as JMeter's slow sockets do.
//!
//! JMeter sleeps before each write and each read of a connection, for the time that the bytes of the call would
//! take. For a write these are the sent bytes; for a read, the size of its buffer, however few bytes arrive. Under
//! TLS, JMeter's slow socket is above the TLS layer. It counts bytes of plaintext, and keeps the rest of a record
//! that is longer than a read. Throng uses a timer of the core instead of the sleep, in whole milliseconds as in
//! JMeter. A run without these properties pays one comparison per read or write of a connection.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use wire::session::{Session, Ticket};

use crate::net::routes::Route;
use crate::session::line::{ConnectionScope, Line, LineId, LineSession, State};
use crate::session::{Around, Sessions};
use crate::time::clock::{MS, Nanos};

/// Size in bytes of the buffer with which JMeter's clients read.
const BUFFER: u64 = 8192;
/// Number of remaining content bytes up to which JMeter's clients read through their buffer. If more remain, a read
/// requests exactly the remaining bytes.
const BUFFERED: u64 = 512;

/// Speed limits of HTTP connections, and the connections that pause because of them.
#[derive(Debug)]
pub(crate) struct Slow {
    /// Limits in characters per second, without and with TLS; 0 is unlimited.
    http: u32,
    https: u32,
    /// State of each speed-limited connection, by the index of the connection.
    lines: Vec<Pace>,
    /// Tokens of paused connections, ordered by the end of the pause, earliest first.
    due: BinaryHeap<Reverse<(Nanos, u64)>>,
}

/// The state of a speed-limited connection.
#[derive(Debug, Default)]
struct Pace {
    /// Time before which nothing is read from the connection.
    until: Nanos,
    /// Maximum number of bytes of the next read.
    room: u64,
    /// True if the peer has closed the connection during the pause.
    hangup: bool,
    /// The request that waits for the end of the pause, with the ticket of its exchange.
    request: Option<(Ticket, Vec<u8>)>,
    /// Plaintext of records that has not been read yet.
    plain: Vec<u8>,
    /// True if the peer ends TLS after this plaintext.
    closed: bool,
    /// True if plaintext has been read since the last pause.
    has_read: bool,
}

/// The plaintext that one read returns.
pub(super) struct Plain {
    pub(super) bytes: Vec<u8>,
    /// True if no plaintext is left after this read.
    pub(super) is_last: bool,
    /// True if the peer ends TLS after this plaintext.
    pub(super) closed: bool,
}

impl Slow {
    /// Creates the state for these limits; `None` if neither limits the speed.
    pub(crate) fn new((http, https): (u32, u32)) -> Option<Box<Self>> {
        let new = || Self { http, https, lines: Vec::new(), due: BinaryHeap::new() };
        (http > 0 || https > 0).then(|| Box::new(new()))
    }

    /// Returns the limit of a connection in characters per second; 0 is unlimited. Java's own client applies the
    /// limit only under TLS.
    fn rate(&self, line: &Line, route: &Route) -> u32 {
        let java = matches!(line.place, ConnectionScope::Client { java: true, .. });
        match &line.speaker {
            LineSession::Http(_) if route.secure => self.https,
            LineSession::Http(_) if !java => self.http,
            _ => 0,
        }
    }

    fn pace(&mut self, id: LineId) -> &mut Pace {
        let at = id.at();
        if self.lines.len() <= at {
            self.lines.resize_with(at + 1, Pace::default);
        }
        &mut self.lines[at]
    }

    /// Returns the time at which the next pause ends.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes the token of a connection whose pause is over.
    pub(crate) fn take_due(&mut self, now: Nanos) -> Option<u64> {
        if self.next_due()? > now {
            return None;
        }
        self.due.pop().map(|Reverse((_, token))| token)
    }
}

/// Returns the time in nanoseconds that JMeter sleeps for this number of bytes.
fn pause(bytes: u64, rate: u32) -> Nanos {
    let ms = bytes.saturating_mul(1000) / u64::from(rate.max(1));
    i64::try_from(ms).map_or(Nanos::MAX / 4, |ms| ms.saturating_mul(MS).min(Nanos::MAX / 4))
}

/// Returns the maximum size of the next read, given `left` remaining bytes of content.
fn room(left: u64) -> u64 {
    if left > BUFFERED { left.min(BUFFER) } else { BUFFER }
}

impl Sessions {
    /// Delays a request for the time that its bytes take. Returns false if the connection is not speed-limited.
    pub(super) fn hold_back(
        &mut self,
        around: &mut Around<'_>,
        id: LineId,
        ticket: Ticket,
        bytes: &[u8],
    ) -> bool {
        let (line, now) = (&self.lines[id], around.clock.now());
        let Some(slow) = &mut self.slow else { return false };
        let rate = slow.rate(line, &around.net.routes[line.route]);
        if rate == 0 {
            return false;
        }
        let at = now + pause(bytes.len() as u64, rate);
        let pace = slow.pace(id);
        let mut kept = pace.request.take().map_or_else(Vec::new, |(_, kept)| kept);
        kept.clear();
        kept.extend_from_slice(bytes);
        *pace = Pace { request: Some((ticket, kept)), ..Pace::default() };
        slow.due.push(Reverse((at, self.lines.token(id))));
        // Time limits apply only to responses and to the opening of connections.
        around.limit(self.exchanges[ticket].user, 0, now);
        true
    }

    /// Takes the delayed request of a connection. If there is no such request, `Err` tells whether the peer has closed
    /// the connection meanwhile.
    pub(super) fn take_held_back(&mut self, id: LineId) -> Result<(Ticket, Vec<u8>), bool> {
        let pace = self.slow.as_mut().map(|slow| slow.pace(id));
        let Some(pace) = pace else { return Err(false) };
        pace.request.take().ok_or(pace.hangup)
    }

    /// Delays the first read after a request, for the time that one buffer of the reader takes.
    pub(super) fn after_sending(&mut self, around: &mut Around<'_>, id: LineId) {
        self.pause_reading(around, id, BUFFER);
    }

    /// Returns true if a connection must not be read yet.
    pub(super) fn is_paused(&mut self, around: &Around<'_>, id: LineId, hangup: bool) -> bool {
        let line = &self.lines[id];
        let Some(slow) = &mut self.slow else { return false };
        if line.ticket.is_none() || line.state != State::Open {
            return false;
        }
        if slow.rate(line, &around.net.routes[line.route]) == 0 {
            return false;
        }
        let pace = slow.pace(id);
        let waits = pace.request.is_some() || around.clock.now() < pace.until;
        pace.hangup |= waits && hangup;
        waits
    }

    /// Returns the maximum number of bytes to receive for the next read; `None` if the connection is not speed-limited.
    /// TLS records are received whole.
    pub(super) fn slow_room(&mut self, around: &Around<'_>, id: LineId) -> Option<usize> {
        let line = &self.lines[id];
        let slow = self.slow.as_mut()?;
        let is_slow = line.state == State::Open
            && line.ticket.is_some()
            && slow.rate(line, &around.net.routes[line.route]) > 0;
        let is_sealed = line.transport.tls().is_some();
        is_slow.then(|| if is_sealed { usize::MAX } else { slow.pace(id).room.max(1) as usize })
    }

    /// Keeps plaintext of a speed-limited connection for later reads.
    pub(super) fn keep_plain(&mut self, id: LineId, bytes: &[u8], closed: bool) {
        if let Some(slow) = &mut self.slow {
            let pace = slow.pace(id);
            pace.plain.extend_from_slice(bytes);
            pace.closed |= closed;
        }
    }

    /// Takes the plaintext of the next read of a speed-limited connection, if there is any.
    pub(super) fn take_plain(&mut self, id: LineId) -> Option<Plain> {
        let pace = self.slow.as_mut()?.pace(id);
        if pace.plain.is_empty() {
            return None;
        }
        let taken = pace.plain.len().min(pace.room.max(1) as usize);
        let bytes = pace.plain.drain(..taken).collect();
        pace.has_read = true;
        let is_last = pace.plain.is_empty();
        Some(Plain { bytes, is_last, closed: is_last && std::mem::take(&mut pace.closed) })
    }

    /// Delays the next read after a read, for the time that its buffer takes. Under TLS only plaintext counts as a
    /// read; an incomplete record or a session ticket does not.
    pub(super) fn after_reading(&mut self, around: &mut Around<'_>, id: LineId) -> bool {
        let line = &self.lines[id];
        let (Some(_), LineSession::Http(connection)) = (line.ticket, &line.speaker) else {
            return false;
        };
        let (next, is_sealed) = (room(connection.droppable()), line.transport.tls().is_some());
        let Some(slow) = &mut self.slow else { return false };
        let has_read = std::mem::take(&mut slow.pace(id).has_read) || !is_sealed;
        has_read && self.pause_reading(around, id, next)
    }

    fn pause_reading(&mut self, around: &mut Around<'_>, id: LineId, room: u64) -> bool {
        let line = &self.lines[id];
        let Some(slow) = &mut self.slow else { return false };
        let rate = slow.rate(line, &around.net.routes[line.route]);
        if rate == 0 {
            return false;
        }
        let (pause, now) = (pause(room, rate), around.clock.now());
        let pace = slow.pace(id);
        (pace.until, pace.room) = (now + pause, room);
        slow.due.push(Reverse((now + pause, self.lines.token(id))));
        // Java starts the time limit of a socket when a read starts.
        if let Some(ticket) = line.ticket {
            let user = &mut around.users[self.exchanges[ticket].user];
            user.limit = user.limit.saturating_add(pause);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{RouteId, UserId};
    use crate::net::opening::Opening;
    use crate::session::line::Lines;
    use wire::http1::Connection;
    use wire::stream::Stream;

    #[test]
    fn pauses_are_those_of_jmeter() {
        // CPSPauser: bytes * 1000 / characters per second, in whole milliseconds.
        for (bytes, rate, ms) in
            [(8192, 8192, 1000), (8192, 100_000, 81), (1, 1001, 0), (150, 1000, 150), (0, 5, 0)]
        {
            assert_eq!(pause(bytes, rate), ms * MS, "{bytes} bytes at {rate}/s");
        }
        assert!(pause(u64::MAX, 1) > 0);
        // The expected size is the size of the buffer, unless the remaining content has more than 512 bytes and
        // fits the buffer.
        assert_eq!([0, 512, 513, 8000, 90_000].map(room), [8192, 8192, 513, 8000, 8192]);
    }

    #[test]
    fn java_is_slow_under_tls_only_and_other_protocols_never() {
        let slow = Slow::new((100, 200)).expect("a limit");
        let mut lines = Lines::default();
        let mut rate = |java: bool, secure: bool, http: bool| {
            let speaker = if http {
                LineSession::Http(Connection::default())
            } else {
                LineSession::Stream(Stream::default())
            };
            let place = ConnectionScope::Client { java, owner: 0 };
            let (user, route) = (UserId::from(0), RouteId(0));
            let id = lines.open(user, route, place, Opening::of(route, user), speaker);
            slow.rate(&lines[id], &Route { secure, ..Route::default() })
        };
        assert_eq!([rate(false, false, true), rate(false, true, true)], [100, 200]);
        assert_eq!([rate(true, false, true), rate(true, true, true)], [0, 200]);
        assert_eq!([rate(false, false, false), rate(false, true, false)], [0, 0]);
        assert!(Slow::new((0, 0)).is_none());
    }

    #[test]
    fn lines_go_on_in_the_order_of_their_times() {
        let mut slow = Slow::new((1, 0)).expect("a limit");
        for (at, token) in [(30, 3), (10, 1), (20, 2)] {
            slow.due.push(Reverse((at, token)));
        }
        assert_eq!(slow.next_due(), Some(10));
        assert_eq!(
            [slow.take_due(9), slow.take_due(20), slow.take_due(20)],
            [None, Some(1), Some(2)]
        );
        assert_eq!([slow.take_due(20), slow.take_due(30)], [None, Some(3)]);
    }
}
