//! The answer to one request: a script of steps that the reactor runs on the connection.
//!
//! Bytes that the service sends before any other step are collected in `now`; they reach the socket in one write,
//! without allocation once buffers are warm. The rest is a queue of [`Step`]s. A script without [`Step::Close`],
//! [`Step::Reset`] or [`Step::Stall`] at its end leaves the connection open for the next request.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::service::Nanos;

#[derive(Debug)]
pub(crate) enum Step {
    Send(Vec<u8>),
    /// Step: repeat the pattern until this number of bytes was sent (`u64::MAX`: until the peer closes).
    Repeat(Arc<[u8]>, u64),
    /// Step: send nothing until this time.
    Until(Nanos),
    /// Step: send nothing for this long after the previous step.
    Pause(Nanos),
    /// Step: ask the service for the rest of the answer.
    Ask(u64),
    /// Step: notify the service when all earlier steps were handed to the kernel.
    Count,
    /// Step: send pending bytes, then FIN.
    Close,
    /// Step: drop the connection immediately with RST; unsent bytes are lost.
    Reset,
    /// Step: neither answer nor close until the peer closes.
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
