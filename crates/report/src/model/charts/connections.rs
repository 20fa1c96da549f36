//! The charts of connections, TLS and WebSockets.

use stats::{Counter, Counters};

use super::draft::draft;
use super::source::Source;
use crate::model::timeline::Timeline;

pub(super) fn connections(source: &Source<'_>, timeline: &mut Timeline) {
    let held = |opened: Counter, closed: Counter| {
        let mut now = 0i64;
        let at = |counters: &Counters| counters.get(opened) as i64 - counters.get(closed) as i64;
        let values = source.instants.iter().map(|instant| {
            now += source.seconds(instant).iter().map(|second| at(&second.counters)).sum::<i64>();
            Some(now as f64)
        });
        values.collect::<Vec<_>>()
    };
    draft("opened", "connections", "Connections", "连接")
        .with("conn_opened", "Opened", "新建", "/s", &source.counter(Counter::ConnOpened))
        .with("conn_reused", "Reused", "复用", "/s", &source.counter(Counter::ConnReused))
        .maybe(
            "conn_peer",
            "Closed by the target",
            "对端关闭",
            "/s",
            &source.counter(Counter::ConnClosedByPeer),
        )
        .maybe("conn_failed", "Failed", "失败", "/s", &source.counter(Counter::ConnFailed))
        .into(timeline);
    draft("connect", "connections", "Time to connect", "建立连接耗时")
        .with(
            "connect_p50",
            "p50",
            "p50",
            "us",
            &source.quantile(0.5, |second, hist| hist.add(&second.connect)),
        )
        .with(
            "connect_p99",
            "p99",
            "p99",
            "us",
            &source.quantile(0.99, |second, hist| hist.add(&second.connect)),
        )
        .log()
        .into(timeline);
    let handshakes = draft("tls", "connections", "TLS handshakes", "TLS 握手")
        .maybe("tls_full", "Full", "完整", "/s", &source.counter(Counter::TlsFull))
        .maybe("tls_resumed", "Resumed", "恢复", "/s", &source.counter(Counter::TlsResumed))
        .maybe("tls_failed", "Failed", "失败", "/s", &source.counter(Counter::TlsFailed));
    if !handshakes.columns.is_empty() {
        let p95 = source.quantile(0.95, |second, hist| hist.add(&second.tls));
        handshakes.with("tls_p95", "Time, p95", "耗时 p95", "us", &p95).into(timeline);
    }
    draft("websockets", "connections", "WebSocket connections", "WebSocket 连接")
        .maybe("ws_held", "Held", "保持", "count", &held(Counter::WsOpened, Counter::WsClosed))
        .maybe("ws_opened", "Opened", "新建", "/s", &source.counter(Counter::WsOpened))
        .maybe("ws_failed", "Failed", "失败", "/s", &source.counter(Counter::WsFailed))
        .into(timeline);
    draft("messages", "connections", "WebSocket messages", "WebSocket 消息")
        .maybe("messages_in", "Received", "接收", "/s", &source.counter(Counter::MessagesIn))
        .maybe("messages_out", "Sent", "发送", "/s", &source.counter(Counter::MessagesOut))
        .into(timeline);
}
