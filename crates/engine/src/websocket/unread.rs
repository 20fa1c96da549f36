//! How much the kernel holds for us that we have not read: some sockets are asked once a second.
//!
//! Sockets are drained as they become readable, so anything found here means that this process falls behind, or that
//! reading was stopped. Asking all of them would cost a call each; a sample of them shows a backlog as well.

use stats::Counter;

use super::State;
use crate::core::Core;

/// Sockets asked per second and core.
const PROBES: u32 = 64;

impl Core<'_> {
    /// Asks the next few sockets.
    pub(crate) fn probe_unread(&mut self) {
        let all = self.websocket.sockets.all.len() as u32;
        for _ in 0..PROBES.min(all) {
            self.websocket.sockets.probe = (self.websocket.sockets.probe + 1) % all;
            let socket = &self.websocket.sockets.all[self.websocket.sockets.probe as usize];
            let (State::Open, Some(fd)) = (socket.state, socket.transport.fd.as_ref()) else {
                continue;
            };
            let Ok(bytes) = rustix::io::ioctl_fionread(fd) else { continue };
            self.cx.recorder.add(Counter::UnreadProbed, 1);
            self.cx.recorder.add(Counter::UnreadBytes, bytes);
        }
    }
}
