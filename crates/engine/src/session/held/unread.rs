//! How much the kernel holds for us that we have not read: some sockets are asked once a second.
//!
//! Sockets are drained as they become readable, so anything found here means that this process falls behind, or that
//! reading was stopped. Asking all of them would cost a call each; a sample of them shows a backlog as well.

use stats::Counter;

use super::{Held, State};
use crate::session::Around;

/// Sockets asked per second and core.
const PROBES: u32 = 64;

impl Held {
    /// Asks the next few sockets.
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
