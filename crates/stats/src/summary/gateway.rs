//! The summary's block on requests that were signed and encrypted for a mobile gateway: the cost, and the savings by a
//! cache.
//!
//! Costs are processor time of the generator. Absent in runs without such requests.
use lang::decimal_format::percent;
use serde::Serialize;

use crate::counter::Counter;
use crate::grouped::{count, things};
use crate::totals::Totals;

use super::digits;

/// Cost of signing and encryption over the run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gateway {
    /// Number of requests that were signed or encrypted, without those taken from the cache.
    pub sealed: u64,
    /// Mean processor time for signing and encrypting a request, in microseconds.
    pub cpu_us: f64,
    /// Share of this process's processor time that signing and encryption took.
    pub cpu_share: f64,
    /// Number of requests that were sent as they were found in the cache.
    pub cache_hits: u64,
    /// Number of requests that were not found in the cache.
    pub cache_misses: u64,
    /// Number of entries evicted from the cache for lack of space.
    pub cache_evictions: u64,
    /// Seconds of processor time that the cache saved.
    pub cache_saved_s: f64,
}

impl Gateway {
    pub fn new(totals: &Totals, cpu_s: f64) -> Option<Self> {
        let n = |counter| totals.counters.get(counter);
        let (sealed, hits) = (n(Counter::MgsSealed), n(Counter::MgsCacheHits));
        let cpu = n(Counter::MgsSealedCpu) as f64;
        (sealed + hits > 0).then(|| Self {
            sealed,
            cpu_us: cpu / 1000.0 / sealed.max(1) as f64,
            cpu_share: if cpu_s > 0.0 { (cpu / 1e9 / cpu_s).min(1.0) } else { 0.0 },
            cache_hits: hits,
            cache_misses: n(Counter::MgsCacheMisses),
            cache_evictions: n(Counter::MgsCacheEvictions),
            cache_saved_s: n(Counter::MgsCacheSavedCpu) as f64 / 1e9,
        })
    }

    pub(super) fn text(&self) -> String {
        let mut out = format!(
            "RPC gateway     {} signed or encrypted: {} µs of CPU each, {} of the generator's CPU\n",
            things(self.sealed, "request"),
            digits(self.cpu_us),
            percent(self.cpu_share, 1)
        );
        let asked = self.cache_hits + self.cache_misses;
        if asked > 0 {
            out.push_str(&format!(
                "  cache         {} hits ({}), {} misses, {} evictions; {} s of CPU saved\n",
                count(self.cache_hits),
                percent(self.cache_hits as f64 / asked as f64, 1),
                count(self.cache_misses),
                count(self.cache_evictions),
                digits(self.cache_saved_s)
            ));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_of_one_request_and_a_cache_is_shown_where_it_was_asked() {
        let mut totals = Totals::default();
        assert_eq!(Gateway::new(&totals, 1.0), None);
        totals.counters.add(Counter::MgsSealed, 1000);
        totals.counters.add(Counter::MgsSealedCpu, 50_000_000);
        let made = Gateway::new(&totals, 0.5).expect("some");
        assert_eq!((made.cpu_us, made.cpu_share), (50.0, 0.1));
        assert_eq!(made.text().lines().count(), 1);
        totals.counters.add(Counter::MgsCacheHits, 3000);
        totals.counters.add(Counter::MgsCacheMisses, 1000);
        totals.counters.add(Counter::MgsCacheSavedCpu, 150_000_000);
        let text = Gateway::new(&totals, 0.5).expect("some").text();
        let line =
            format!("{} hits (75.0%), {} misses, 0 evictions; 0.150 s", count(3000), count(1000));
        assert!(text.contains(&line), "{text}");
    }
}
