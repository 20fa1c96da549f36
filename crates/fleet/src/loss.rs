//! Users and connections lost with a worker that died, by its last report.

use serde::{Deserialize, Serialize};
use stats::CloseCause;
use stats::open_second::LOST;
use stats::{Counter, Counters, Recorder, Snapshot};

/// A worker that was lost while its users ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Number of the worker, from 0.
    pub worker: u32,
    /// The worker's machine, if the worker is on another machine.
    pub agent: Option<String>,
    /// Process ID of the worker.
    pub pid: u32,
    /// How the worker ended, as a message.
    pub reason: String,
    /// Number of users that ran in the worker.
    pub users: u32,
    /// Number of connections that were open in the worker.
    pub connections: u64,
    /// End of the last reported second, ms since 1970; 0 without reports. Later samples are lost.
    pub last_ms: i64,
    /// Number of samples that are in no report.
    pub samples: Missed,
    /// Maximum number of missing samples, if a grant limits it.
    pub at_most: Option<u64>,
}

/// Number of samples that were measured but are in no report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Missed {
    /// The worker died, so the samples of its last second are missing. Contains the number of samples in the last
    /// reported second, as an estimate.
    About(u64),
    /// The worker ended. Contains the difference between the worker's own total of samples and the number of received
    /// samples.
    Exactly(u64),
}

/// Returns the number of connections that were open: opened connections minus closed ones.
pub(crate) fn held(counters: &Counters) -> u64 {
    let n = |counter| counters.get(counter);
    let plain = n(Counter::ConnOpened)
        .saturating_sub(n(Counter::ConnClosedByPeer) + n(Counter::ConnClosedByUs));
    let sockets = n(Counter::WsOpened).saturating_sub(n(Counter::WsClosed));
    plain.max(sockets)
}

/// Returns a snapshot that counts all open connections of a lost worker as closed.
pub(crate) fn snapshot(counters: &Counters, at_ms: i64) -> Box<Snapshot> {
    let n = |counter| counters.get(counter);
    let standing = n(Counter::WsOpened).saturating_sub(n(Counter::WsClosed));
    let opening = n(Counter::WsStarted).saturating_sub(n(Counter::WsOpened) + n(Counter::WsFailed));
    let mut recorder = Recorder::new();
    for _ in 0..standing + opening {
        recorder.closed(CloseCause::WorkerLost, 0, 0);
    }
    // Gauges that are differences of counters must return to zero.
    let left = |into, out| n(into).saturating_sub(n(out));
    recorder.add(Counter::WsClosed, standing);
    recorder.add(Counter::WsFailed, opening);
    recorder.add(Counter::InboxOut, left(Counter::InboxIn, Counter::InboxOut));
    recorder.add(Counter::ReadingResumed, left(Counter::ReadingStopped, Counter::ReadingResumed));
    let mut snapshot = Box::<Snapshot>::default();
    recorder.drain(&mut snapshot);
    (snapshot.at_ms, snapshot.core) = (at_ms, LOST);
    snapshot
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_worker_held_counts_as_lost_with_it() {
        let mut counters = Counters::default();
        for (counter, n) in [
            (Counter::ConnOpened, 12),
            (Counter::ConnClosedByPeer, 2),
            (Counter::WsStarted, 11),
            (Counter::WsOpened, 9),
            (Counter::WsFailed, 1),
            (Counter::WsClosed, 2),
            (Counter::InboxIn, 50),
        ] {
            counters.add(counter, n);
        }
        assert_eq!(held(&counters), 10);
        let lost = snapshot(&counters, 5);
        assert_eq!((lost.closes.len(), lost.closes[0].idle_ms.total()), (1, 8));
        let mut after = counters;
        after.merge(&lost.counters);
        assert_eq!((after.get(Counter::WsClosed), after.get(Counter::WsFailed)), (9, 2));
        assert_eq!(after.get(Counter::InboxOut), 50);
    }
}
