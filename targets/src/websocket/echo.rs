//! `websocket-echo`: sends every message back, as it came.
//!
//! `GET /stats` on the same port tells how many WebSockets are open (`ws`), were opened (`ws_total`), and how many messages came
//! (`ws_msgs`).

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
