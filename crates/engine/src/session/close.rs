//! Closing connections, with or without a TLS close notification.

use stats::Counter;

use crate::session::line::{LineId, State};
use crate::session::{Around, Sessions};

impl Sessions {
    /// Closes a connection with a TLS close notification, and ends its exchange. Returns false if the peer had
    /// closed it before.
    pub(super) fn close_line(&mut self, around: &mut Around<'_>, id: LineId) -> bool {
        let line = &mut self.lines[id];
        line.transport.send_close_notify(&mut around.net.out);
        let by_peer = matches!(line.state, State::Ended | State::Dead);
        if let Some(ticket) = line.ticket {
            self.exchanges.end(ticket);
        }
        let counter = if by_peer { Counter::ConnClosedByPeer } else { Counter::ConnClosedByUs };
        around.recorder.add(counter, 1);
        self.lines.close(id);
        !by_peer
    }

    /// Closes a connection on which no exchange is in flight, and counts its end under `counter`.
    pub(crate) fn drop_line(&mut self, around: &mut Around<'_>, id: LineId, counter: Counter) {
        around.recorder.add(counter, 1);
        self.lines.close(id);
    }
}
