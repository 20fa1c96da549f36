//! What went with a worker that died: known from its last report.

use stats::CloseCause;
use stats::{Counter, Counters, Recorder, Snapshot};

/// A worker that was lost while its users ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Which worker, from 0.
    pub worker: u32,
    /// Its process.
    pub pid: u32,
    /// How it went, in words.
    pub reason: String,
    /// Users that ran in it.
    pub users: u32,
    /// Connections that it held.
    pub connections: u64,
    /// End of the last second it reported, ms since 1970; 0 if it reported none. Samples after it are lost.
    pub last_ms: i64,
}

/// Connections held, by what was opened and closed.
pub(crate) fn held(counters: &Counters) -> u64 {
    let n = |counter| counters.get(counter);
    let plain = n(Counter::ConnOpened)
        .saturating_sub(n(Counter::ConnClosedByPeer) + n(Counter::ConnClosedByUs));
    let sockets = n(Counter::WsOpened).saturating_sub(n(Counter::WsClosed));
    plain.max(sockets)
}

/// The loss as a snapshot, so that it is counted among the connections that ended.
pub(crate) fn snapshot(counters: &Counters, at_ms: i64) -> Box<Snapshot> {
    let sockets = counters.get(Counter::WsOpened).saturating_sub(counters.get(Counter::WsClosed));
    let mut recorder = Recorder::new();
    for _ in 0..sockets {
        recorder.closed(CloseCause::WorkerLost, 0, 0);
    }
    recorder.add(Counter::WsClosed, sockets);
    let mut snapshot = Box::<Snapshot>::default();
    recorder.drain(&mut snapshot);
    (snapshot.at_ms, snapshot.core) = (at_ms, u32::MAX);
    snapshot
}
