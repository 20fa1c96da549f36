//! Run-wide counters: a fixed array, so that counting is one addition.
//!
//! Names are stable: they appear in the per-second file and in the summary.
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! counters {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Counter { $($(#[$doc])* $variant,)* }

        impl Counter {
            pub const ALL: &'static [Counter] = &[$(Counter::$variant,)*];

            /// The name in files.
            pub const fn name(self) -> &'static str {
                match self { $(Counter::$variant => $name,)* }
            }
        }
    };
}

counters! {
    ConnOpened = "conn_opened",
    ConnReused = "conn_reused",
    ConnClosedByPeer = "conn_closed_by_peer",
    ConnClosedByUs = "conn_closed_by_us",
    /// Of those closed by us: a new iteration was a new user.
    ConnClosedForNewUser = "conn_closed_for_new_user",
    /// Of all closed: the request had said that its connection ends with it.
    ConnClosedByPlan = "conn_closed_by_plan",
    /// Requests that went out on a connection which the peer was known to have closed, as JMeter's do.
    ConnStale = "conn_stale",
    ConnFailed = "conn_failed",
    TlsFull = "tls_full",
    TlsResumed = "tls_resumed",
    TlsFailed = "tls_failed",
    /// Processor time that this process spent in handshakes, nanoseconds, by how they ended.
    TlsFullCpu = "tls_full_cpu_ns",
    TlsResumedCpu = "tls_resumed_cpu_ns",
    TlsFailedCpu = "tls_failed_cpu_ns",
    /// Time from the end of the TCP handshake to that of the TLS handshake, nanoseconds, of those that succeeded.
    TlsTime = "tls_time_ns",
    BytesIn = "bytes_in",
    BytesOut = "bytes_out",
    /// A reused connection turned out closed and the request was sent once more.
    StaleRetried = "stale_retried",
    UsersStarted = "users_started",
    UsersFinished = "users_finished",
    /// Users that a failed sample ended, as their group or an element of the plan says; and failed samples that ended the run.
    UsersStoppedByError = "users_stopped_by_error",
    RunStoppedByError = "run_stopped_by_error",
    /// Samplers that a user had next and did not begin, for it was told to end.
    SamplersNotBegun = "samplers_not_begun",
    IterationsDone = "iterations_done",
    /// Result rows that could not be written.
    RowsDropped = "rows_dropped",
    /// Requests of setUp and tearDown groups.
    RequestsAside = "requests_aside",
    /// Samples in flight when the run ended.
    CutByEnd = "cut_by_end",
    DnsLookups = "dns_lookups",
    Redirects = "redirects",
    /// Openings of a WebSocket that were begun; each ends as opened or failed.
    WsStarted = "ws_started",
    /// Upgrades done: connections opened. Held now: opened minus closed.
    WsOpened = "ws_opened",
    /// Connections that were opened and have ended.
    WsClosed = "ws_closed",
    /// Openings that failed, whether in TCP, TLS or the upgrade.
    WsFailed = "ws_failed",
    MessagesIn = "messages_in",
    MessagesOut = "messages_out",
    MessageBytesIn = "message_bytes_in",
    MessageBytesOut = "message_bytes_out",
    HeartbeatsSent = "heartbeats_sent",
    HeartbeatsAnswered = "heartbeats_answered",
    /// Heartbeats given up waiting for.
    HeartbeatsMissed = "heartbeats_missed",
    /// Bytes of messages queued for users that were not reading, and taken out again. Queued now:
    /// in less out.
    InboxIn = "inbox_in",
    InboxOut = "inbox_out",
    /// Messages dropped because an inbox was full.
    InboxDropped = "inbox_dropped",
    /// Times a socket was no longer read because its inbox was full, and was read again.
    ReadingStopped = "reading_stopped",
    ReadingResumed = "reading_resumed",
    /// Sockets asked how many bytes lie unread in the kernel, and the bytes found.
    UnreadProbed = "unread_probed",
    UnreadBytes = "unread_bytes",
    /// Times a core polled no socket for long because the process stood still or was busy, and how long, nanoseconds.
    Stalls = "stalls",
    StallTime = "stall_time_ns",
    /// Requests that found no connection of their pool free, and waited for one.
    PoolWaits = "pool_waits",
    /// Further addresses, remote or local, that were tried for a connection.
    ConnectRetries = "connect_retries",
    /// Starts that a rate of arrivals asked for, and of those the ones that were not made: as many users as may be were busy.
    StartsDue = "starts_due",
    StartsMissed = "starts_missed",
    /// Requests that were signed or encrypted for a mobile gateway, and the processor time of that, nanoseconds.
    MgsSealed = "mgs_sealed",
    MgsSealedCpu = "mgs_sealed_cpu_ns",
    /// Such requests that were sent again from a cache, those that were not there, entries that left it for want of room, and
    /// processor time that the first had cost when they were made, nanoseconds.
    MgsCacheHits = "mgs_cache_hits",
    MgsCacheMisses = "mgs_cache_misses",
    MgsCacheEvictions = "mgs_cache_evictions",
    MgsCacheSavedCpu = "mgs_cache_saved_cpu_ns",
}

const N: usize = Counter::ALL.len();

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters([u64; N]);

impl Default for Counters {
    fn default() -> Self {
        Self([0; N])
    }
}

impl Counters {
    #[inline]
    pub fn add(&mut self, counter: Counter, n: u64) {
        self.0[counter as usize] += n;
    }

    /// For a counter of which the sum over parts says nothing.
    pub fn set(&mut self, counter: Counter, n: u64) {
        self.0[counter as usize] = n;
    }

    pub fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }

    pub fn merge(&mut self, other: &Self) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a = a.saturating_add(b);
        }
    }

    pub fn clear(&mut self) {
        self.0 = [0; N];
    }
}

/// A map of those that are not zero.
impl Serialize for Counters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let length = self.0.iter().filter(|n| **n != 0).count();
        let mut map = serializer.serialize_map(Some(length))?;
        for &counter in Counter::ALL {
            if self.get(counter) != 0 {
                map.serialize_entry(counter.name(), &self.get(counter))?;
            }
        }
        map.end()
    }
}

/// From such a map; names that are not known here are passed over.
impl<'de> Deserialize<'de> for Counters {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Named;
        impl<'de> Visitor<'de> for Named {
            type Value = Counters;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map from names of counters to numbers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Counters, A::Error> {
                let mut counters = Counters::default();
                while let Some((name, n)) = map.next_entry::<String, u64>()? {
                    if let Some(counter) = Counter::ALL.iter().find(|c| c.name() == name) {
                        counters.0[*counter as usize] = n;
                    }
                }
                Ok(counters)
            }
        }
        deserializer.deserialize_map(Named)
    }
}
