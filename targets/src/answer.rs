//! The answer to one request: a script of steps that the reactor runs on the connection.
//!
//! Bytes sent before the first other step go to `now` and reach the socket in one write without any allocation once warm; everything else
//! is a queue of [`Step`]s. A script that ends without [`Step::Close`], [`Step::Reset`] or [`Step::Stall`] leaves the connection open for
//! the next request.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::service::Nanos;

#[derive(Debug)]
pub(crate) enum Step {
    Send(Vec<u8>),
    /// The bytes again and again, this many in all (`u64::MAX`: until the peer goes away).
    Repeat(Arc<[u8]>, u64),
    /// Nothing until this time.
    Until(Nanos),
    /// Nothing for this long after the previous step.
    Pause(Nanos),
    /// Ask the service for the rest of the answer.
    Ask(u64),
    /// Tell the service when all that comes before was handed to the kernel.
    Count,
    /// Send what is pending, then FIN.
    Close,
    /// Drop the connection at once with RST; what is unsent is lost.
    Reset,
    /// Neither answer nor close, until the peer goes away.
    Stall,
}

#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) now: Vec<u8>,
    pub(crate) then: VecDeque<Step>,
}

impl Answer {
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        match self.then.back_mut() {
            None => self.now.extend_from_slice(bytes),
            Some(Step::Send(last)) => last.extend_from_slice(bytes),
            Some(_) => self.then.push_back(Step::Send(bytes.to_vec())),
        }
    }

    pub(crate) fn repeat(&mut self, pattern: Arc<[u8]>, total: u64) {
        self.then.push_back(Step::Repeat(pattern, total));
    }

    pub(crate) fn until(&mut self, time: Nanos) {
        self.then.push_back(Step::Until(time));
    }

    pub(crate) fn pause(&mut self, nanos: Nanos) {
        self.then.push_back(Step::Pause(nanos));
    }

    pub(crate) fn ask(&mut self, tag: u64) {
        self.then.push_back(Step::Ask(tag));
    }

    pub(crate) fn count(&mut self) {
        self.then.push_back(Step::Count);
    }

    pub(crate) fn close(&mut self) {
        self.then.push_back(Step::Close);
    }

    pub(crate) fn reset(&mut self) {
        self.then.push_back(Step::Reset);
    }

    pub(crate) fn stall(&mut self) {
        self.then.push_back(Step::Stall);
    }
}
