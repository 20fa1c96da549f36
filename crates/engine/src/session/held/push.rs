//! Pushes of the peer: to the listener that waits for them, otherwise into the bounded inbox. Hot.

use stats::{CloseCause, Counter};
use wire::websocket::{Head, Opcode};

use super::close::Ending;
use super::inbox::{FrameHead, Queued};
use super::{Held, Listener, POOLED};
use crate::completions::HeldEvent;
use crate::session::Around;
use crate::settings::websocket::WhenFull;
use crate::time::clock::Nanos;

/// A frame that has just arrived.
#[derive(Clone, Copy)]
pub(super) struct Arrived<'b> {
    pub(super) head: Head,
    pub(super) payload: &'b [u8],
    /// Time at which the frame arrived at this host, and time at which it was read.
    pub(super) arrival: Nanos,
    pub(super) now: Nanos,
}

/// A push for the listener; its payload is in [`Held::payloads`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Push {
    pub(crate) head: FrameHead,
    /// Time at which the push arrived at this host, and time at which it was read.
    pub(crate) arrival: Nanos,
    pub(crate) now: Nanos,
    /// True if the listener waited for a single push.
    pub(crate) only: bool,
    start: usize,
    end: usize,
}

impl Push {
    /// Returns the payload of this push from the payloads of all pushes.
    pub(crate) fn payload<'b>(&self, payloads: &'b [u8]) -> &'b [u8] {
        payloads.get(self.start..self.end).unwrap_or_default()
    }
}

impl Held {
    /// Handles a complete frame: passes it to the listener that waits for frames, otherwise puts it into the inbox.
    pub(super) fn on_frame(
        &mut self,
        around: &mut Around<'_>,
        at: u32,
        arrived: &Arrived<'_>,
        answers: Option<Nanos>,
        kept: bool,
    ) {
        let Arrived { head, payload, arrival, now } = *arrived;
        if !head.opcode.is_control() {
            around.recorder.add(Counter::MessageBytesIn, payload.len() as u64);
            if head.fin {
                around.recorder.add(Counter::MessagesIn, 1);
            }
        }
        if head.opcode == Opcode::CLOSE && !self[at].session.is_closing() {
            let code = payload.first_chunk::<2>().map_or(0, |code| u16::from_be_bytes(*code));
            self.count_close(around, at, CloseCause::PeerFrame, code, now);
        }
        if self[at].session.heartbeat().is_some() {
            self.keep_up(around, at, answers, now);
        }
        if kept {
            return;
        }
        let head = FrameHead::of(&head);
        let only = match self[at].listener {
            Listener::One => true,
            Listener::All => false,
            Listener::None | Listener::Opening | Listener::Sending => {
                return self.queue(around, at, Queued { head, arrival, payload: payload.into() });
            }
        };
        if only {
            self[at].listener = Listener::None;
        }
        let start = self.payloads.len();
        self.payloads.extend_from_slice(payload);
        let end = self.payloads.len();
        self.pushes.push_back(Push { head, arrival, now, only, start, end });
        self.notify(around, at, HeldEvent::Push);
    }

    /// Puts a push into the inbox, because its listener no longer waits for it.
    pub(crate) fn keep_push(
        &mut self,
        around: &mut Around<'_>,
        at: u32,
        push: &Push,
        payload: &[u8],
    ) {
        let frame = Queued { head: push.head, arrival: push.arrival, payload: payload.into() };
        if push.only {
            // Later pushes may already be in the inbox.
            around.recorder.add(Counter::InboxIn, frame.weight() as u64);
            self.rest(at).inbox.push_first(frame);
        } else {
            self.queue(around, at, frame);
        }
    }

    /// Puts a frame into the inbox.
    fn queue(&mut self, around: &mut Around<'_>, at: u32, frame: Queued) {
        let weight = frame.weight();
        around.recorder.add(Counter::InboxIn, weight as u64);
        let rest = self.rest(at);
        rest.inbox.push(frame);
        if rest.inbox.bytes() > self.bounds.inbox {
            self.inbox_is_full(around, at);
        }
    }

    /// Handles a full inbox: stops reading, drops frames, or ends the connection.
    pub(super) fn inbox_is_full(&mut self, around: &mut Around<'_>, at: u32) {
        match self.bounds.when_full {
            WhenFull::Stop => {
                if !std::mem::replace(&mut self[at].stopped, true) {
                    around.recorder.add(Counter::ReadingStopped, 1);
                    if !std::mem::replace(&mut self.told_stopped, true) {
                        self.notify(around, at, HeldEvent::Stopped);
                    }
                }
            }
            WhenFull::DropOldest => {
                let most = self.bounds.inbox;
                while self.rest(at).inbox.bytes() > most {
                    let Some(frame) = self.rest(at).inbox.pop() else { break };
                    around.recorder.add(Counter::InboxOut, frame.weight() as u64);
                    around.recorder.add(Counter::InboxDropped, 1);
                }
            }
            WhenFull::Fail => self.on_ended(around, at, Ending::InboxFull),
        }
    }

    /// Takes the oldest frame from the inbox. If the inbox was full and now has free space, reading resumes.
    pub(crate) fn take_from_inbox(&mut self, around: &mut Around<'_>, at: u32) -> Option<Queued> {
        let rest = self[at].rest.as_mut()?;
        let frame = rest.inbox.pop()?;
        let left = rest.inbox.bytes();
        around.recorder.add(Counter::InboxOut, frame.weight() as u64);
        if left <= self.bounds.inbox / 2 {
            self.resume_reading(around, at);
        }
        Some(frame)
    }

    /// Resumes reading if the connection is not being read.
    pub(crate) fn resume_reading(&mut self, around: &mut Around<'_>, at: u32) {
        if std::mem::take(&mut self[at].stopped) {
            around.recorder.add(Counter::ReadingResumed, 1);
            self.resumed.push(self.token(at));
        }
    }

    /// Takes the oldest push whose listener was notified.
    #[inline]
    pub(crate) fn take_push(&mut self) -> Option<Push> {
        self.pushes.pop_front()
    }

    /// Lends out the buffer with the payloads of all pushes.
    #[inline]
    pub(crate) fn lend_payloads(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.payloads)
    }

    /// Takes back the lent buffer.
    #[inline]
    pub(crate) fn return_payloads(&mut self, mut payloads: Vec<u8>) {
        if self.pushes.is_empty() {
            payloads.clear();
            payloads.shrink_to(POOLED * 1024);
        }
        self.payloads = payloads;
    }
}
