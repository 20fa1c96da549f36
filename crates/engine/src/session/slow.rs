//! Slow connections of HTTP (`httpclient.socket.http.cps`, `httpclient.socket.https.cps`): sending and reading wait as
//! JMeter's slow sockets do.
//!
//! JMeter sleeps before each write and each read of a connection, for as long as the bytes of the call would take: of a
//! write those that are sent, of a read the room of its buffer, however few bytes come. Under TLS its slow socket is above
//! the records: bytes are those of the plaintext, and of a record that has more than a read takes the rest is kept for the
//! next read. Here a timer of the core takes the place of the sleep, in whole milliseconds as there. A run without the properties has no such part: it costs one
//! comparison where a line is read or written.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use wire::session::{Session, Ticket};

use crate::net::routes::Route;
use crate::session::line::{Line, LineId, Place, Speaker, State};
use crate::session::{Around, Sessions};
use crate::time::clock::{MS, Nanos};

/// Room of the buffer with which JMeter's clients read, bytes.
const BUFFER: u64 = 8192;
/// The rest of some content up to which they read by that buffer, bytes; more is read without it, as much as is left.
const BUFFERED: u64 = 512;

/// Lines that wait, by the characters per second that they may move.
#[derive(Debug)]
pub(crate) struct Slow {
    /// 0 is no limit.
    http: u32,
    https: u32,
    /// By the place of the line.
    lines: Vec<Pace>,
    /// Tokens of lines, the earliest first.
    due: BinaryHeap<Reverse<(Nanos, u64)>>,
}

/// The pace of a line.
#[derive(Debug, Default)]
struct Pace {
    /// Nothing is read before this.
    until: Nanos,
    /// Bytes that the next read may take.
    room: u64,
    /// The peer has closed the connection meanwhile.
    hangup: bool,
    /// The request that is yet to be sent.
    request: Option<(Ticket, Vec<u8>)>,
    /// Plaintext of records that is yet to be read.
    plain: Vec<u8>,
    /// The peer has ended TLS behind it.
    closed: bool,
    /// Plaintext has been read since the last pause.
    has_read: bool,
}

/// Plaintext that a read takes.
pub(super) struct Plain {
    pub(super) bytes: Vec<u8>,
    /// Nothing is left behind it.
    pub(super) is_last: bool,
    /// The peer has ended TLS behind it.
    pub(super) closed: bool,
}

impl Slow {
    /// `None`: no connection is slow.
    pub(crate) fn new((http, https): (u32, u32)) -> Option<Box<Self>> {
        let new = || Self { http, https, lines: Vec::new(), due: BinaryHeap::new() };
        (http > 0 || https > 0).then(|| Box::new(new()))
    }

    /// Characters per second of a line; 0 is no limit. Java's client has slow sockets under TLS only.
    fn rate(&self, line: &Line, route: &Route) -> u32 {
        let java = matches!(line.place, Place::Client { java: true, .. });
        match &line.speaker {
            Speaker::Http(_) if route.secure => self.https,
            Speaker::Http(_) if !java => self.http,
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

    /// The time at which the first line goes on.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    /// The token of a line that goes on now.
    pub(crate) fn take_due(&mut self, now: Nanos) -> Option<u64> {
        if self.next_due()? > now {
            return None;
        }
        self.due.pop().map(|Reverse((_, token))| token)
    }
}

/// The time that JMeter sleeps before it moves so many bytes.
fn pause(bytes: u64, rate: u32) -> Nanos {
    let ms = bytes.saturating_mul(1000) / u64::from(rate.max(1));
    i64::try_from(ms).map_or(Nanos::MAX / 4, |ms| ms.saturating_mul(MS).min(Nanos::MAX / 4))
}

/// The room of the next read, where so many bytes of the content are to come.
fn room(left: u64) -> u64 {
    if left > BUFFERED { left.min(BUFFER) } else { BUFFER }
}

impl Sessions {
    /// Holds a request back for as long as its bytes take. False: the line is not slow.
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
        // Limits are for answers, and for what is done to get them.
        around.limit(self.exchanges[ticket].user, 0, now);
        true
    }

    /// Takes the request that a line has held back; the error is whether its peer has closed it meanwhile.
    pub(super) fn take_held_back(&mut self, id: LineId) -> Result<(Ticket, Vec<u8>), bool> {
        let pace = self.slow.as_mut().map(|slow| slow.pace(id));
        let Some(pace) = pace else { return Err(false) };
        pace.request.take().ok_or(pace.hangup)
    }

    /// A request has been sent: its answer is read when the room of the reader's buffer has passed.
    pub(super) fn after_sending(&mut self, around: &mut Around<'_>, id: LineId) {
        self.pause_reading(around, id, BUFFER);
    }

    /// Whether a line is not to be read yet.
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

    /// The bytes that may be received for the next read of a line; `None`: the line is not slow. Records of TLS are received
    /// whole.
    pub(super) fn slow_room(&mut self, around: &Around<'_>, id: LineId) -> Option<usize> {
        let line = &self.lines[id];
        let slow = self.slow.as_mut()?;
        let is_slow = line.state == State::Open
            && line.ticket.is_some()
            && slow.rate(line, &around.net.routes[line.route]) > 0;
        let is_sealed = line.transport.tls().is_some();
        is_slow.then(|| if is_sealed { usize::MAX } else { slow.pace(id).room.max(1) as usize })
    }

    /// Keeps plaintext of a slow line for its reads.
    pub(super) fn keep_plain(&mut self, id: LineId, bytes: &[u8], closed: bool) {
        if let Some(slow) = &mut self.slow {
            let pace = slow.pace(id);
            pace.plain.extend_from_slice(bytes);
            pace.closed |= closed;
        }
    }

    /// The plaintext of a slow line that its next read takes, if there is some.
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

    /// A line has been read: nothing more is read until the room of the next read has passed. Under TLS that is so where
    /// plaintext has been read, and not where there was a part of a record, or a ticket.
    pub(super) fn after_reading(&mut self, around: &mut Around<'_>, id: LineId) -> bool {
        let line = &self.lines[id];
        let (Some(_), Speaker::Http(connection)) = (line.ticket, &line.speaker) else {
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
        // A time limit of Java's sockets begins when reading does.
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
        // CPSPauser: bytes * 1000 / characters per second, whole milliseconds.
        for (bytes, rate, ms) in
            [(8192, 8192, 1000), (8192, 100_000, 81), (1, 1001, 0), (150, 1000, 150), (0, 5, 0)]
        {
            assert_eq!(pause(bytes, rate), ms * MS, "{bytes} bytes at {rate}/s");
        }
        assert!(pause(u64::MAX, 1) > 0);
        // By the buffer, unless more than 512 bytes of the content are left, and fewer than it has room for.
        assert_eq!([0, 512, 513, 8000, 90_000].map(room), [8192, 8192, 513, 8000, 8192]);
    }

    #[test]
    fn java_is_slow_under_tls_only_and_other_protocols_never() {
        let slow = Slow::new((100, 200)).expect("a limit");
        let mut lines = Lines::default();
        let mut rate = |java: bool, secure: bool, http: bool| {
            let speaker = if http {
                Speaker::Http(Connection::default())
            } else {
                Speaker::Stream(Stream::default())
            };
            let place = Place::Client { java, owner: 0 };
            let (user, route) = (UserId::from(0), RouteId(0));
            let id = lines.open((user, route, place), Opening::of(route, user), speaker);
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
