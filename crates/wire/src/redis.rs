//! Client side of RESP2, the protocol of Redis: commands out, replies in, in the order of the commands.
//!
//! [`SessionEvent::Head`] of a reply has its type byte as status, and the rest of its first line as bytes. The rest of
//! the line is the text of a simple string (`+`) or an error (`-`), the digits of an integer (`:`), or a length (`$`,
//! `*`), `-1` for nil. The content of a bulk string follows as [`SessionEvent::Data`], in one or more pieces. The
//! content of an array consists of its elements in wire format, including nested arrays; the elements are checked.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::io::Write as _;

use memchr::memchr;

use crate::session::{BeginResult, Broken, Capacity, Session, SessionEvent, Status, Ticket};

/// Maximum nesting depth of arrays in a reply.
pub const DEPTH: usize = 8;

/// Type bytes of replies, used as the status of a reply's head.
pub mod kind {
    /// Redis reply of type simple string, such as `+OK`.
    pub const SIMPLE: u16 = b'+' as u16;
    /// Redis reply of type error, such as `-ERR unknown command`.
    pub const ERROR: u16 = b'-' as u16;
    /// Redis reply of type integer, such as `:1`.
    pub const INTEGER: u16 = b':' as u16;
    /// Redis reply of type bulk string, such as `$5` followed by five bytes; `$-1` is nil.
    pub const BULK: u16 = b'$' as u16;
    /// Redis reply of type array, such as `*2` followed by two replies; `*-1` is nil.
    pub const ARRAY: u16 = b'*' as u16;
}

/// The length `-1` in the first line of a reply, which means nil.
pub const NIL: &[u8] = b"-1";

/// Limits on a reply of Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum length of a line in a Redis reply in bytes, without its line end.
    pub line: u32,
    /// Maximum length in bytes of everything in a Redis reply after its first line.
    pub content: u64,
}

impl Default for Limits {
    fn default() -> Self {
        // The same limit on strings as in Redis (proto-max-bulk-len).
        Self { line: 1 << 16, content: 512 << 20 }
    }
}

/// Commands sent before the first request: user and password for `AUTH`, database for `SELECT`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Login<'a> {
    /// User name for `AUTH`; empty for Redis's default user.
    pub user: &'a str,
    /// Password for `AUTH`; if empty, no `AUTH` is sent.
    pub password: &'a str,
    /// Number of the Redis database; 0 needs no `SELECT`.
    pub database: u32,
}

/// Command of the greeting whose reply is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    Nothing,
    Auth { then_select: bool },
    Select,
}

/// The part of a Redis reply that is parsed next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Next is the first line of a reply or of an array element.
    Line,
    /// Next is the content of a bulk string, with this number of bytes left.
    Bulk(u64),
    /// Next is the line end after a bulk string, of which this number of bytes was read.
    BulkEnd(u8),
}

/// A connection to a Redis server.
#[derive(Debug)]
pub struct Redis {
    limits: Limits,
    /// Maximum number of exchanges in flight on the connection.
    most: u32,
    greeting: Box<[u8]>,
    awaited: Awaited,
    in_flight: VecDeque<Ticket>,
    state: State,
    /// Number of elements still to be read in each array that is being parsed, outermost first.
    open: [u64; DEPTH],
    /// Number of arrays that are being parsed, nested in each other.
    depth: usize,
    /// Number of bytes counted so far of the current Redis reply, after its first line.
    content: u64,
    /// Number of bytes of an incomplete line that were already searched for its end.
    scanned: usize,
}

/// Appends a Redis command in wire format.
pub fn push_command(arguments: &[&[u8]], out: &mut Vec<u8>) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "*{}\r\n", arguments.len());
    for argument in arguments {
        let _ = write!(out, "${}\r\n", argument.len());
        out.extend_from_slice(argument);
        out.extend_from_slice(b"\r\n");
    }
}

impl Redis {
    /// Creates a connection. After the greeting is answered, the connection carries up to `most` exchanges at the same
    /// time.
    #[must_use]
    pub fn new(login: Login<'_>, most: u32, limits: Limits) -> Self {
        let mut greeting = Vec::new();
        let password = login.password.as_bytes();
        match (login.user, login.password) {
            (_, "") => {}
            ("", _) => push_command(&[b"AUTH", password], &mut greeting),
            (user, _) => push_command(&[b"AUTH", user.as_bytes(), password], &mut greeting),
        }
        let selects = login.database != 0;
        if selects {
            let database = login.database.to_string();
            push_command(&[b"SELECT", database.as_bytes()], &mut greeting);
        }
        let awaited = match (login.password, selects) {
            ("", false) => Awaited::Nothing,
            ("", true) => Awaited::Select,
            (_, then_select) => Awaited::Auth { then_select },
        };
        Self {
            limits,
            most,
            greeting: greeting.into(),
            awaited,
            in_flight: VecDeque::new(),
            state: State::Line,
            open: [0; DEPTH],
            depth: 0,
            content: 0,
            scanned: 0,
        }
    }

    /// Begins an exchange with a command in wire format ([`push_command`]).
    pub fn begin_rendered(&mut self, to: Ticket, command: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(command);
        self.in_flight.push_back(to);
    }

    /// Returns the first line of the input without its line end, and its length including the line end; `None` if the
    /// line is incomplete.
    fn line<'b>(&mut self, input: &'b [u8]) -> Result<Option<(&'b [u8], usize)>, Broken> {
        let limit = self.limits.line as usize;
        let from = self.scanned.min(input.len());
        let Some(end) = memchr(b'\n', &input[from..]).map(|at| from + at) else {
            // The last byte may be the CR of a line end that is incomplete.
            if input.len() > limit + 1 {
                return Err(too_long(limit));
            }
            self.scanned = input.len();
            return Ok(None);
        };
        self.scanned = 0;
        if end > limit + 1 {
            return Err(too_long(limit));
        }
        match input[..end].split_last() {
            Some((b'\r', line)) => Ok(Some((line, end + 1))),
            _ => Err(broken("the reply has a line that does not end in CR LF")),
        }
    }

    /// Parses the first line of a reply or of an array element. Returns true if the line is the complete reply or
    /// element.
    fn enter(&mut self, kind: u8, rest: &[u8]) -> Result<bool, Broken> {
        match u16::from(kind) {
            kind::SIMPLE | kind::ERROR => Ok(true),
            kind::INTEGER => match number(rest) {
                Some(_) => Ok(true),
                None => Err(not_a(rest, "an integer")),
            },
            kind::BULK => match length(rest)? {
                None => Ok(true),
                Some(length) => {
                    self.count(length)?;
                    self.state = if length == 0 { State::BulkEnd(0) } else { State::Bulk(length) };
                    Ok(false)
                }
            },
            kind::ARRAY => match length(rest)? {
                None | Some(0) => Ok(true),
                Some(_) if self.depth == DEPTH => {
                    Err(broken(&format!("arrays are nested more than {DEPTH} deep")))
                }
                Some(elements) => {
                    // An array element in wire format has at least three bytes.
                    if elements > self.limits.content / 3 {
                        return Err(self.too_large());
                    }
                    self.open[self.depth] = elements;
                    self.depth += 1;
                    Ok(false)
                }
            },
            _ => Err(broken(&format!(
                "the reply begins with '{}', which is not a RESP2 type",
                kind.escape_ascii()
            ))),
        }
    }

    /// Adds content bytes of a reply, received or announced, to the count; fails above the limit.
    fn count(&mut self, bytes: u64) -> Result<(), Broken> {
        self.content = self.content.saturating_add(bytes);
        if self.content > self.limits.content { Err(self.too_large()) } else { Ok(()) }
    }

    fn too_large(&self) -> Broken {
        broken(&format!("the reply has more than {} bytes", self.limits.content))
    }

    /// Counts a complete element in its array. With its last element, the array is complete, too, and counts as an
    /// element of the enclosing array. Returns true if the whole reply is complete.
    fn close(&mut self) -> bool {
        self.state = State::Line;
        while let Some(at) = self.depth.checked_sub(1) {
            self.open[at] -= 1;
            if self.open[at] > 0 {
                return false;
            }
            self.depth = at;
        }
        true
    }

    /// Parses a line and reports it as an event if it belongs to an exchange. Returns true if the line completes a
    /// reply or an element.
    fn take_line(
        &mut self,
        line: &[u8],
        whole: &[u8],
        emit: &mut impl FnMut(SessionEvent<'_>),
    ) -> Result<bool, Broken> {
        let Some((kind, rest)) = line.split_first() else {
            return Err(broken("the reply begins with an empty line"));
        };
        if self.awaited != Awaited::Nothing {
            return self.greeted(*kind, rest, emit).map(|()| false);
        }
        let Some(to) = self.in_flight.front().copied() else {
            return Err(match u16::from(*kind) {
                kind::ERROR => broken(&String::from_utf8_lossy(rest)),
                _ => broken("the server sent a reply without a request"),
            });
        };
        if self.depth > 0 {
            self.count(whole.len() as u64)?;
            let ended = self.enter(*kind, rest)?;
            emit(SessionEvent::Data { to, bytes: whole });
            return Ok(ended);
        }
        self.content = 0;
        let ended = self.enter(*kind, rest)?;
        emit(SessionEvent::Head { to, head: Status { status: u16::from(*kind), bytes: rest } });
        Ok(ended)
    }

    /// Handles a Redis reply to a command of the greeting.
    fn greeted(
        &mut self,
        kind: u8,
        rest: &[u8],
        emit: &mut impl FnMut(SessionEvent<'_>),
    ) -> Result<(), Broken> {
        match u16::from(kind) {
            kind::SIMPLE => {}
            kind::ERROR => return Err(broken(&String::from_utf8_lossy(rest))),
            _ => return Err(broken("the reply to the greeting is not a simple string")),
        }
        self.awaited = match self.awaited {
            Awaited::Auth { then_select: true } => Awaited::Select,
            _ => Awaited::Nothing,
        };
        if self.awaited == Awaited::Nothing {
            emit(SessionEvent::Ready);
        }
        Ok(())
    }

    fn done(&mut self, emit: &mut impl FnMut(SessionEvent<'_>)) {
        if let Some(to) = self.in_flight.pop_front() {
            emit(SessionEvent::Done { to, kept: true });
        }
    }

    /// Reports a part of a bulk string; returns its length in bytes. `left` is the number of bytes that were still
    /// missing.
    fn bulk(&mut self, left: u64, input: &[u8], emit: &mut impl FnMut(SessionEvent<'_>)) -> usize {
        let part = &input[..input.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
        if let Some(to) = self.in_flight.front().copied() {
            emit(SessionEvent::Data { to, bytes: part });
        }
        let left = left - part.len() as u64;
        self.state = if left == 0 { State::BulkEnd(0) } else { State::Bulk(left) };
        part.len()
    }

    /// Checks one byte of the line end (CR LF) after a bulk string; `seen` is the number of its bytes already read.
    fn bulk_end(
        &mut self,
        seen: u8,
        input: &[u8],
        emit: &mut impl FnMut(SessionEvent<'_>),
    ) -> Result<(), Broken> {
        let end = b"\r\n";
        if input[0] != end[usize::from(seen)] {
            return Err(broken(
                "the reply has a bulk string that is longer than its announced length",
            ));
        }
        if self.depth > 0 {
            self.count(1)?;
            if let Some(to) = self.in_flight.front().copied() {
                emit(SessionEvent::Data { to, bytes: &input[..1] });
            }
        }
        self.state = State::BulkEnd(1);
        if seen == 1 && self.close() {
            self.done(emit);
        }
        Ok(())
    }
}

impl Session for Redis {
    /// A Redis command: its name, followed by its arguments.
    type Call<'a> = &'a [&'a [u8]];
    type Head<'b> = Status<'b>;
    type Shared = ();
    type Broken = Broken;

    fn greet(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&std::mem::take(&mut self.greeting));
    }

    fn room(&self) -> Capacity {
        let in_flight = u32::try_from(self.in_flight.len()).unwrap_or(u32::MAX);
        match self.most.saturating_sub(in_flight) {
            _ if self.awaited != Awaited::Nothing => Capacity::Greeting,
            0 => Capacity::Full,
            more => Capacity::Free(more),
        }
    }

    fn begin(&mut self, to: Ticket, call: &[&[u8]], out: &mut Vec<u8>) -> BeginResult {
        if call.is_empty() {
            return BeginResult::Refused("a command needs a name".to_owned());
        }
        push_command(call, out);
        self.in_flight.push_back(to);
        BeginResult::Sent
    }

    fn feed(
        &mut self,
        input: &[u8],
        (): &mut (),
        _out: &mut Vec<u8>,
        emit: &mut impl FnMut(SessionEvent<'_>),
    ) -> Result<usize, Broken> {
        let mut used = 0;
        while used < input.len() {
            let rest = &input[used..];
            match self.state {
                State::Line => {
                    let Some((line, length)) = self.line(rest)? else { break };
                    used += length;
                    if self.take_line(line, &rest[..length], emit)? && self.close() {
                        self.done(emit);
                    }
                }
                State::Bulk(left) => used += self.bulk(left, rest, emit),
                State::BulkEnd(seen) => {
                    self.bulk_end(seen, rest, emit)?;
                    used += 1;
                }
            }
        }
        Ok(used)
    }

    fn end(&mut self, rest: &[u8], _tell: &mut impl FnMut(SessionEvent<'_>)) -> Result<(), Broken> {
        let whole = rest.is_empty() && self.state == State::Line && self.depth == 0;
        match self.awaited {
            Awaited::Nothing if whole => Ok(()),
            Awaited::Nothing => Err(broken("connection closed within a reply")),
            _ => Err(broken("connection closed before the reply to the greeting")),
        }
    }
}

fn broken(why: &str) -> Broken {
    Broken(why.to_owned())
}

fn too_long(limit: usize) -> Broken {
    broken(&format!("the reply has a line of more than {limit} bytes"))
}

fn not_a(text: &[u8], what: &str) -> Broken {
    let begin = &text[..text.len().min(40)];
    broken(&format!("'{}' is not {what}", begin.escape_ascii()))
}

/// Parses a signed 64-bit integer of a Redis reply.
fn number(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Parses the length of a bulk string or an array in a Redis reply; `None` is nil.
fn length(text: &[u8]) -> Result<Option<u64>, Broken> {
    if text == NIL {
        return Ok(None);
    }
    match number(text).map(u64::try_from) {
        Some(Ok(length)) => Ok(Some(length)),
        _ => Err(not_a(text, "a length")),
    }
}
