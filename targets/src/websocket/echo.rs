//! `websocket-echo`: sends every message back unchanged.
//!
//! `GET /stats` on the same port returns the number of open WebSockets (`ws`), of WebSockets opened so far
//! (`ws_total`), and of messages received (`ws_msgs`).

use serde_json::json;

use super::core::Core;
use super::hub::Service;

pub(crate) struct Echo;

impl Service for Echo {
    fn message(&mut self, core: &mut Core, slot: usize, text: bool, payload: &[u8]) {
        core.answer(slot, text, payload);
    }

    fn stats(&mut self, core: &mut Core, _slot: usize) -> Option<String> {
        let figures = &core.figures;
        let closed: serde_json::Map<_, _> = super::socket::CAUSES
            .iter()
            .zip(figures.closed)
            .map(|(name, count)| ((*name).to_owned(), json!(count)))
            .collect();
        let body = json!({
            "ws": figures.open,
            "ws_total": figures.opened,
            "ws_msgs": figures.messages_in,
            "closed": closed,
            "unsent": core.unsent(),
        });
        Some(body.to_string())
    }
}
