//! The interface between a target's behaviour and the event loop that serves it.
//!
//! A service never touches a socket. It reads a [`Request`] and fills an [`Answer`], a script of bytes, waits and ends
//! that the reactor runs on the connection. The service runs on the reactor's thread and must not block.

use crate::answer::Answer;
use crate::request::Request;

/// Nanoseconds since the start of the reactor, from the monotonic clock.
pub(crate) type Nanos = u64;

pub(crate) trait Service: Send {
    /// Handles a complete request, read at `now` (with [`Service::timed`]: arrived in the kernel at `now`); `answer` is
    /// empty.
    fn request(&mut self, request: &Request<'_>, now: Nanos, answer: &mut Answer);

    /// True if the service counts the time of a request from its arrival in the kernel.
    fn timed(&self) -> bool {
        false
    }

    /// Adds the rest of an answer when an [`Answer::ask`] step is due.
    fn due(&mut self, _tag: u64, _now: Nanos, _answer: &mut Answer) {}

    /// Reports that a [`Step::Count`](crate::answer::Step::Count) was reached: all earlier steps were handed to the
    /// kernel at `written`.
    fn answered(&mut self, _received: Nanos, _written: Nanos) {}
}
