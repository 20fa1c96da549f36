//! The seam between a target's behaviour and the event loop that serves it.
//!
//! A service never touches a socket: it reads a [`Request`] and fills an [`Answer`], a small script of bytes, waits and endings that the
//! reactor plays on the connection. The service runs on the reactor's thread and must not block.

use crate::answer::Answer;
use crate::request::Request;

/// Nanoseconds since the reactor started, from the monotonic clock.
pub(crate) type Nanos = u64;

pub(crate) trait Service: Send {
    /// A whole request was read at `now` (with [`Service::timed`]: had arrived in the kernel at `now`); `answer` is empty.
    fn request(&mut self, request: &Request<'_>, now: Nanos, answer: &mut Answer);

    /// Whether requests are to be dated by their arrival in the kernel.
    fn timed(&self) -> bool {
        false
    }

    /// An [`Answer::ask`] step is due: the rest of the answer is formed now, not when the request came.
    fn due(&mut self, _tag: u64, _now: Nanos, _answer: &mut Answer) {}

    /// A [`Step::Count`](crate::answer::Step::Count) was reached: everything before it was handed to the kernel at `written`.
    fn answered(&mut self, _received: Nanos, _written: Nanos) {}
}
