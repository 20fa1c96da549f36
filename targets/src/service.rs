//! The interface between a target's behaviour and the event loop that serves it.
//!
//! A service never touches a socket. It reads a [`Request`] and fills an [`Answer`], a script of bytes, waits and ends
//! that the reactor runs on the connection. The service runs on the reactor's thread and must not block.

use crate::answer::Answer;
use crate::request::Request;

/// Nanoseconds since the start of the reactor, from the monotonic clock.
pub(crate) type Nanos = u64;

pub(crate) trait Service: Send {
    /// Handles a complete request by filling `answer`, which is empty. `now` is the time at which the request was read;
    /// with [`Service::timed`], the time at which it arrived in the kernel.
    fn request(&mut self, request: &Request<'_>, now: Nanos, answer: &mut Answer);

    /// True if times of this service count from the arrival of a request in the kernel, not from its reading.
    fn timed(&self) -> bool {
        false
    }

    /// Adds the next part of an answer whose [`Answer::ask`] step is due. `tag` is the value in the step.
    fn due(&mut self, _tag: u64, _now: Nanos, _answer: &mut Answer) {}

    /// Reports that a [`Step::Count`](crate::answer::Step::Count) was reached: at `written`, all earlier steps of the
    /// answer to a request that arrived at `received` had been handed to the kernel.
    fn answered(&mut self, _received: Nanos, _written: Nanos) {}
}
