//! Settings of heartbeats, evaluated at their first use.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use plan::websocket::{HeartbeatId, HeartbeatSettings};
use wire::websocket::session::Heartbeat;

use super::WebSockets;
use crate::context::Context;
use crate::ids::UserId;
use crate::time::clock::{MS, Nanos};

impl WebSockets {
    /// Returns the settings of a heartbeat, evaluated if this is its first use.
    pub(super) fn heartbeat(
        &mut self,
        cx: &mut Context<'_>,
        index: UserId,
        id: HeartbeatId,
    ) -> Arc<Heartbeat> {
        let known = &mut self.heartbeats[id.0 as usize];
        let heartbeat = known.get_or_insert_with(|| {
            let settings = cx.plan.heartbeats[id.0 as usize].settings(&mut cx.env(index, ""));
            let settings = settings.unwrap_or_else(|problem| {
                cx.log(problem);
                HeartbeatSettings {
                    interval_ms: 0,
                    jitter_ms: 0,
                    payload: None,
                    missed: 0,
                    reply_to_ping: true,
                }
            });
            Arc::new(Heartbeat {
                interval: Nanos::from(settings.interval_ms) * MS,
                jitter: Nanos::from(settings.jitter_ms) * MS,
                payload: settings.payload,
                missed: settings.missed,
                reply_to_ping: settings.reply_to_ping,
                seed: AtomicU64::new(cx.random.bits()),
            })
        });
        Arc::clone(heartbeat)
    }
}
