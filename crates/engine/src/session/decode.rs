//! Answers of HTTP/1 on a line: decoded, and noted in the exchange. Hot.
//!
//! The decoder is driven directly, not through the trait of sessions: a closure that is told of each event costs what the
//! borrows between it and the exchange take.

use wire::http1::{Broken, Connection, Event, Memo};

use crate::net::outcome::Failure;
use crate::session::exchange::{Call, Exchange};
use crate::session::http1::{HttpCall, Stashes};
use crate::time::clock::Nanos;
use crate::time::milestones::Milestones;

/// The outcome of feeding bytes to a session.
pub(super) struct Fed {
    pub(super) used: usize,
    pub(super) done: bool,
}

/// Feeds the session of a line with what came.
#[inline]
pub(super) fn feed(
    connection: &mut Connection,
    exchange: &mut Exchange,
    (memo, stashes): (&mut Memo, &mut Stashes),
    bytes: &[u8],
    now: Nanos,
) -> Result<Fed, Broken> {
    let Exchange { call, began, latency, start, milestones, .. } = exchange;
    let Call::Http(HttpCall { facts, stash }) = call else {
        return Ok(Fed { used: bytes.len(), done: false });
    };
    let mut at = 0;
    let counts_content = facts.counts_content();
    loop {
        let next = connection.decoder.next_with(&bytes[at..], memo);
        let (used, event) = next.map_err(|error| Broken { at, error })?;
        at += used;
        facts.received += match &event {
            _ if !counts_content => used as u64,
            Event::Body(piece) => facts.counted(piece.len() as u64, *latency == 0),
            Event::NeedMore | Event::End if *began => 0,
            _ => used as u64,
        };
        match event {
            Event::NeedMore => return Ok(Fed { used: at, done: false }),
            Event::Head(head) => {
                connection.note_head(head.status, head.keep_alive);
                *began = true;
                milestones.first = Milestones::micros(now - *start);
                if facts.take_head(&head) {
                    stash.get_or_insert_with(|| stashes.take()).keep_head(&head);
                }
            }
            Event::Body(piece) => {
                if *latency == 0 {
                    *latency = now - *start;
                }
                if facts.keep_body
                    && let Some(stash) = stash
                {
                    stash.keep_body(piece, stashes.most_of_body[usize::from(facts.digest)]);
                }
            }
            Event::End => {
                connection.note_end();
                return Ok(Fed { used: at, done: true });
            }
        }
    }
}

/// An answer that breaks the protocol at a place in the input.
pub(super) fn failure_of(Broken { at, error }: Broken, bytes: &[u8]) -> Failure {
    if error != wire::http1::Error::BadChunkSize {
        return Failure::Http(error);
    }
    let line = bytes[at..].split(|byte| *byte == b'\n').next().unwrap_or_default();
    Failure::ChunkSize(line.trim_ascii().iter().map(|byte| *byte as char).collect())
}
