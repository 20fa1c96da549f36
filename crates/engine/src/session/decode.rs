//! HTTP/1 responses on a connection: decoded and stored in the exchange. Hot.
//!
//! The decoder is called directly, not through the session trait: a closure that handles each event would have to
//! borrow the exchange at a cost in each call.

use wire::http1::{Broken, Connection, Event, Memo};

use crate::net::outcome::Failure;
use crate::session::exchange::{Call, Exchange};
use crate::session::http1::{HttpCall, Stashes};
use crate::time::clock::Nanos;
use crate::time::milestones::Milestones;

/// The result of passing bytes to a session.
pub(super) struct FeedResult {
    pub(super) used: usize,
    pub(super) done: bool,
}

/// Passes received bytes to the session of a connection.
#[inline]
pub(super) fn feed(
    connection: &mut Connection,
    exchange: &mut Exchange,
    memo: &mut Memo,
    stashes: &mut Stashes,
    bytes: &[u8],
    now: Nanos,
) -> Result<FeedResult, Broken> {
    let Exchange { call, began, latency, start, milestones, .. } = exchange;
    let Call::Http(HttpCall { facts, stash }) = call else {
        return Ok(FeedResult { used: bytes.len(), done: false });
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
            Event::NeedMore => return Ok(FeedResult { used: at, done: false }),
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
                return Ok(FeedResult { used: at, done: true });
            }
        }
    }
}

/// Returns the failure for a response that violates the protocol at the position `at` of the input.
pub(super) fn failure_of(Broken { at, error }: Broken, bytes: &[u8]) -> Failure {
    if error != wire::http1::Error::BadChunkSize {
        return Failure::Http(error);
    }
    let line = bytes[at..].split(|byte| *byte == b'\n').next().unwrap_or_default();
    Failure::ChunkSize(line.trim_ascii().iter().map(|byte| *byte as char).collect())
}
