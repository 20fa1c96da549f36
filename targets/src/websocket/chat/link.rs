//! The connection between processes of a chat: messages with length, kind and body over a Unix socket.
//!
//! A link never blocks: unsent data is queued. All messages are small, except texts of members.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use rustix::event::epoll::{self, EventData, EventFlags};

/// Kinds of messages from a chat process to its parent. Numbers are little-endian.
pub(super) mod up {
    /// Message: the process listens; no body.
    pub(crate) const READY: u8 = 1;
    /// Message: a connection joins a room; body: u64 token, room name.
    pub(crate) const JOIN: u8 = 2;
    /// Message: a member leaves; body: u32 room.
    pub(crate) const LEAVE: u8 = 3;
    /// Message: a member sends a string; body: u32 room, text.
    pub(crate) const SAY: u8 = 4;
    /// Message: a client requests statistics; body: u64 token.
    pub(crate) const STATS: u8 = 5;
    /// Message: the counters of the process; body: u64 each.
    pub(crate) const FIGURES: u8 = 6;
}

/// Kinds of messages from the parent to a chat process.
pub(super) mod down {
    /// Message: a connection has joined; body: u64 token, u32 room, u64 members, room name.
    pub(crate) const JOINED: u8 = 11;
    /// Message: joining failed because there are too many rooms; body: u64 token.
    pub(crate) const FULL: u8 = 12;
    /// Message: a frame for the members of a room; body: u32 room, frame.
    pub(crate) const MESSAGE: u8 = 13;
    /// Message: request for the counters of the process; no body.
    pub(crate) const FIGURES: u8 = 14;
    /// Message: statistics for a client; body: u64 token, JSON.
    pub(crate) const STATS: u8 = 15;
}

const READ: usize = 1 << 16;

pub(crate) struct Link {
    stream: UnixStream,
    input: Vec<u8>,
    output: Vec<u8>,
    written: usize,
    waits_to_write: bool,
}

impl Link {
    pub(crate) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        let (input, output) = (Vec::new(), Vec::new());
        Ok(Self { stream, input, output, written: 0, waits_to_write: false })
    }

    pub(super) fn register(&self, epoll: impl AsFd, data: u64) -> io::Result<()> {
        Ok(epoll::add(epoll, &self.stream, EventData::new_u64(data), EventFlags::IN)?)
    }

    /// Queues a message on the link; the next [`Link::flush`] sends it.
    pub(super) fn push(&mut self, kind: u8, parts: &[&[u8]]) {
        let length = parts.iter().map(|part| part.len()).sum::<usize>() as u32;
        self.output.extend_from_slice(&length.to_le_bytes());
        self.output.push(kind);
        for part in parts {
            self.output.extend_from_slice(part);
        }
    }

    /// Sends as much of the queue as possible. If a part remains, epoll will report when it can be sent.
    pub(super) fn flush(&mut self, epoll: impl AsFd, data: u64) -> io::Result<()> {
        while self.written < self.output.len() {
            match self.stream.write(&self.output[self.written..]) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        self.output.drain(..self.written);
        self.written = 0;
        let waits = !self.output.is_empty();
        if waits != self.waits_to_write {
            self.waits_to_write = waits;
            let flags = if waits { EventFlags::IN | EventFlags::OUT } else { EventFlags::IN };
            epoll::modify(epoll, &self.stream, EventData::new_u64(data), flags)?;
        }
        Ok(())
    }

    /// Reads once and passes each complete message to `each`. Returns false if the other end has closed.
    pub(super) fn receive(&mut self, mut each: impl FnMut(&mut Self, u8, &[u8])) -> bool {
        let mut input = std::mem::take(&mut self.input);
        let start = input.len();
        input.resize(start + READ, 0);
        let count = match self.stream.read(&mut input[start..]) {
            Ok(0) => return false,
            Ok(count) => count,
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                0
            }
            Err(_) => return false,
        };
        input.truncate(start + count);
        let mut at = 0;
        while let Some((head, rest)) = input[at..].split_first_chunk::<5>() {
            let [a, b, c, d, kind] = *head;
            let length = u32::from_le_bytes([a, b, c, d]) as usize;
            let Some(body) = rest.get(..length) else { break };
            each(self, kind, body);
            at += head.len() + length;
        }
        input.drain(..at);
        self.input = input;
        true
    }
}

/// Splits a 64-bit number from the start of a message's body. A body that is too short, which no process sends, yields
/// zero.
pub(super) fn number(body: &[u8]) -> (u64, &[u8]) {
    body.split_first_chunk::<8>()
        .map_or((0, &[][..]), |(number, rest)| (u64::from_le_bytes(*number), rest))
}

pub(super) fn room(body: &[u8]) -> (u32, &[u8]) {
    body.split_first_chunk::<4>()
        .map_or((0, &[][..]), |(number, rest)| (u32::from_le_bytes(*number), rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::epoll::CreateFlags;

    #[test]
    fn messages_arrive_whole_and_in_order_however_large() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (mut ours, mut theirs) = (Link::new(ours).unwrap(), Link::new(theirs).unwrap());
        let epoll = epoll::create(CreateFlags::CLOEXEC).unwrap();
        ours.register(&epoll, 1).unwrap();
        theirs.register(&epoll, 2).unwrap();
        let sizes = [0, 1, 100, 70_000, 1_000_000, 3];
        for (kind, size) in sizes.into_iter().enumerate() {
            ours.push(kind as u8, &[&7u64.to_le_bytes(), &vec![kind as u8; size]]);
        }
        let mut seen = Vec::new();
        while seen.len() < sizes.len() {
            ours.flush(&epoll, 1).unwrap();
            assert!(theirs.receive(|_, kind, body| {
                let (seven, rest) = number(body);
                assert!(seven == 7 && rest.iter().all(|&byte| byte == kind));
                seen.push(rest.len());
            }));
        }
        assert_eq!(seen, sizes);
        drop(ours);
        assert!(!theirs.receive(|_, _, _| {}));
    }
}
