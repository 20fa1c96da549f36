//! Closes connections of users that end, or of a run that ends, and creates the messages about closed connections.

use stats::CloseCause;
use wire::websocket::Opcode;
use wire::websocket::session::{self, Cut};

use super::sample::Fault;
use super::{On, Task, WebSockets};
use crate::ids::{NO_SOCKET, UserId};
use crate::session::held::close::Ending;
use crate::session::held::{Held, State};
use crate::settings::websocket::AtUserEnd;

impl WebSockets {
    /// Closes the connection of an ending user, with a close frame if the plan's properties say so.
    pub(crate) fn end_user(&mut self, on: &mut On<'_, '_>, index: UserId) {
        let at = on.cx.users[index].socket;
        if at == NO_SOCKET {
            return;
        }
        if self.has_conversation(at) && on.held[at].state == State::Open {
            let goodbye = plan::websocket::GOODBYE;
            let _ = on.held.send_frame(&mut on.cx.around(), at, Opcode::CLOSE, goodbye);
        }
        let polite = on.cx.run.settings.websocket.at_user_end == AtUserEnd::CloseFrame;
        if polite && on.held[at].state == State::Open && !on.held[at].session.is_closing() {
            let mut payload = [0; 64];
            let text = b"test thread finished";
            payload[..2].copy_from_slice(&1000u16.to_be_bytes());
            payload[2..2 + text.len()].copy_from_slice(text);
            let payload = &payload[..2 + text.len()];
            let _ = on.held.send_frame(&mut on.cx.around(), at, Opcode::CLOSE, payload);
        }
        let cause = if on.cx.stop.asked { CloseCause::Stopped } else { CloseCause::UserEnded };
        on.held.close(&mut on.cx.around(), at, cause);
        self.conversations.get_mut(at as usize).map(Option::take);
        if let Task::Work(work) = std::mem::take(&mut self.tasks[at as usize]) {
            self.give_work(work);
        }
    }

    /// Fails a user's WebSocket sample because the run stops immediately. Returns false if the user has no such sample.
    pub(crate) fn cut(&mut self, on: &mut On<'_, '_>, index: UserId) -> bool {
        let at = on.cx.users[index].socket;
        if at == NO_SOCKET {
            return false;
        }
        match &self.tasks[at as usize] {
            Task::Work(_) => self.fault(on, at, Fault::Cut),
            Task::Hold(_) => self.finish_hold(on, at),
            Task::None => return false,
        }
        true
    }
}

/// Returns the message of the WebSocket Samplers plug-in for a reading sampler whose connection has ended.
pub(super) fn ending_text(held: &Held, at: u32, ending: Ending) -> String {
    match ending {
        Ending::Fin => end_of_stream(held.unused(at)),
        Ending::Reset => "Connection reset".into(),
        Ending::Silence => "Connection timed out".into(),
        Ending::Protocol => "protocol error".into(),
        Ending::MissedHeartbeat => "heartbeats were not answered".into(),
        Ending::InboxFull => "the inbox is full".into(),
        Ending::CloseFrame => "the server closed the connection".into(),
    }
}

/// Returns the message for a stream that the peer has ended: one text between frames, another within a frame.
fn end_of_stream(unused: &[u8]) -> String {
    match session::cut(unused) {
        Cut::Payload { expected, got } => format!(
            "WebSocket protocol error: expected payload of length {expected}, but can only read {got} bytes"
        ),
        // The plug-in reads a length of eight bytes in one piece, shorter lengths byte by byte.
        Cut::Length { got } => format!(
            "WebSocket protocol error: expected 8 length bytes, but can only read {got} bytes"
        ),
        Cut::Between => "end of stream".into(),
    }
}
