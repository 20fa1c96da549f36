//! Counters of the whole run, stored in a fixed array, so that counting is one addition.
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

            /// Returns the name of the counter in files.
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
    /// Number of connections closed by us because a new iteration simulated a new user.
    ConnClosedForNewUser = "conn_closed_for_new_user",
    /// Number of connections whose request had asked to close the connection (`Connection: close`).
    ConnClosedByPlan = "conn_closed_by_plan",
    /// Number of requests sent on a connection although the peer was known to have closed it, as JMeter does.
    ConnStale = "conn_stale",
    ConnFailed = "conn_failed",
    TlsFull = "tls_full",
    TlsResumed = "tls_resumed",
    TlsFailed = "tls_failed",
    /// Processor time of this process for full TLS handshakes, in nanoseconds.
    TlsFullCpu = "tls_full_cpu_ns",
    /// Processor time of this process for resumed TLS handshakes, in nanoseconds.
    TlsResumedCpu = "tls_resumed_cpu_ns",
    /// Processor time of this process for failed TLS handshakes, in nanoseconds.
    TlsFailedCpu = "tls_failed_cpu_ns",
    /// Time from the end of the TCP handshake to the end of the TLS handshake in nanoseconds, for successful
    /// handshakes.
    TlsTime = "tls_time_ns",
    BytesIn = "bytes_in",
    BytesOut = "bytes_out",
    /// Number of requests that were resent because a reused connection turned out to be closed.
    StaleRetried = "stale_retried",
    UsersStarted = "users_started",
    UsersFinished = "users_finished",
    /// Number of users that a failed sample ended, as their group or an element of the plan specifies.
    UsersStoppedByError = "users_stopped_by_error",
    /// Number of failed samples that ended the run.
    RunStoppedByError = "run_stopped_by_error",
    /// Number of samplers that were next for a user but were not started, because the user had to end.
    SamplersNotBegun = "samplers_not_begun",
    IterationsDone = "iterations_done",
    /// Number of result rows that could not be written.
    RowsDropped = "rows_dropped",
    /// Number of requests of setUp and tearDown thread groups.
    RequestsAside = "requests_aside",
    /// Number of samples in flight when the run ended.
    CutByEnd = "cut_by_end",
    DnsLookups = "dns_lookups",
    Redirects = "redirects",
    /// Number of WebSocket connection attempts; each ends as opened or failed.
    WsStarted = "ws_started",
    /// Number of completed WebSocket upgrades, so of connections opened. `WsOpened` minus `WsClosed` is the number open
    /// now.
    WsOpened = "ws_opened",
    /// Number of opened WebSocket connections that have ended.
    WsClosed = "ws_closed",
    /// Number of WebSocket connection attempts that failed in TCP, TLS or the upgrade.
    WsFailed = "ws_failed",
    MessagesIn = "messages_in",
    MessagesOut = "messages_out",
    MessageBytesIn = "message_bytes_in",
    MessageBytesOut = "message_bytes_out",
    HeartbeatsSent = "heartbeats_sent",
    HeartbeatsAnswered = "heartbeats_answered",
    /// Number of heartbeats that were not answered in time.
    HeartbeatsMissed = "heartbeats_missed",
    /// Bytes of messages that were queued for users that were not reading. `InboxIn` minus `InboxOut` is the number of
    /// bytes queued now.
    InboxIn = "inbox_in",
    /// Bytes of messages that were removed from the queues of users.
    InboxOut = "inbox_out",
    /// Number of messages dropped because an inbox was full.
    InboxDropped = "inbox_dropped",
    /// Number of times that reading of a socket stopped because its inbox was full.
    ReadingStopped = "reading_stopped",
    /// Number of times that reading of a socket resumed after its inbox had been full.
    ReadingResumed = "reading_resumed",
    /// Number of sockets whose unread bytes in the kernel were queried.
    UnreadProbed = "unread_probed",
    /// Number of unread bytes in the kernel that queries of sockets found.
    UnreadBytes = "unread_bytes",
    /// Number of stalls, in which a core polled no socket for long because the process was stopped or busy.
    Stalls = "stalls",
    /// Duration of stalls in nanoseconds.
    StallTime = "stall_time_ns",
    /// Number of requests that waited because no connection of their pool was idle.
    PoolWaits = "pool_waits",
    /// Number of additional addresses, remote or local, that were tried for connections.
    ConnectRetries = "connect_retries",
    /// Number of users that an arrival rate required to start.
    StartsDue = "starts_due",
    /// Number of users that were required but not started, because the maximum number of users was busy.
    StartsMissed = "starts_missed",
    /// Number of requests that were signed or encrypted for a mobile gateway.
    MgsSealed = "mgs_sealed",
    /// Processor time for signing and encrypting requests for a mobile gateway, in nanoseconds.
    MgsSealedCpu = "mgs_sealed_cpu_ns",
    /// Number of gateway requests whose signed or encrypted form was in the cache.
    MgsCacheHits = "mgs_cache_hits",
    /// Number of gateway requests whose signed or encrypted form was not in the cache.
    MgsCacheMisses = "mgs_cache_misses",
    /// Number of entries evicted from the cache of gateway requests for lack of space.
    MgsCacheEvictions = "mgs_cache_evictions",
    /// Processor time in nanoseconds that requests found in the cache had cost when they were built.
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

    /// Sets a counter to `n`, for a value that is not the sum of its parts.
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

/// Serializes the counters that are not zero as a map.
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

/// Deserializes counters from a map of names and values. Unknown names are ignored.
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
