//! The number of received bytes that the kernel holds and this process has not read. A sample of the sockets is
//! checked once a second.
//!
//! Sockets are read as soon as they are readable. So unread bytes mean that this process is too slow, or that
//! reading was stopped. Checking all sockets would cost a system call each, and a sample of them also shows a
//! backlog.

use stats::Counter;

use super::{Held, State};
use crate::session::Around;

/// Number of sockets checked per second and core.
const PROBES: u32 = 64;

impl Held {
    /// Adds the unread bytes of the next [`PROBES`] sockets to the counters.
    pub(crate) fn probe_unread(&mut self, around: &mut Around<'_>) {
        let all = self.all.len() as u32;
        for _ in 0..PROBES.min(all) {
            self.probe = (self.probe + 1) % all;
            let socket = &self[self.probe];
            let (State::Open, Some(fd)) = (socket.state, socket.transport.fd.as_ref()) else {
                continue;
            };
            let Ok(bytes) = rustix::io::ioctl_fionread(fd) else { continue };
            around.recorder.add(Counter::UnreadProbed, 1);
            around.recorder.add(Counter::UnreadBytes, bytes);
        }
    }
}
