//! Run-wide counters: a fixed array, so that counting is one addition.
//!
//! Names are stable: they appear in the per-second file and in the summary.
use serde::{Serialize, Serializer, ser::SerializeMap};

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
    ConnFailed = "conn_failed",
    TlsFull = "tls_full",
    TlsResumed = "tls_resumed",
    TlsFailed = "tls_failed",
    BytesIn = "bytes_in",
    BytesOut = "bytes_out",
    /// A reused connection turned out closed and the request was sent once more.
    StaleRetried = "stale_retried",
    UsersStarted = "users_started",
    UsersFinished = "users_finished",
    IterationsDone = "iterations_done",
    /// Result rows that could not be written.
    RowsDropped = "rows_dropped",
    /// Samples under way when the run ended.
    CutByEnd = "cut_by_end",
    DnsLookups = "dns_lookups",
    Redirects = "redirects",
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

    pub fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }

    pub fn merge(&mut self, other: &Self) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a += b;
        }
    }

    pub fn clear(&mut self) {
        self.0 = [0; N];
    }
}

/// A map of those that are not zero.
impl Serialize for Counters {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for &counter in Counter::ALL {
            if self.get(counter) != 0 {
                map.serialize_entry(counter.name(), &self.get(counter))?;
            }
        }
        map.end()
    }
}
