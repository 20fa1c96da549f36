//! The cost of signing and encrypting the requests of a run for a mobile gateway, and the use of the cache for such
//! requests.

use record::Second;
use stats::Counter;

use crate::captions::{digits, grouped, share, time};

use super::{Words, words};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gateway {
    /// Number of requests that were signed or encrypted.
    pub sealed: u64,
    /// Mean processor time for signing or encrypting one request, µs.
    pub cpu_us: f64,
    /// Number of requests whose signed or encrypted form was reused from the cache.
    pub hits: u64,
    /// Number of requests whose signed or encrypted form was not in the cache.
    pub misses: u64,
    /// Number of entries that were evicted from the full cache.
    pub evictions: u64,
    /// Processor time that the cache saved, s.
    pub saved_s: f64,
}

impl Gateway {
    /// Sums the gateway metrics of the seconds of a run; `None` if no request was sent to a gateway.
    pub fn new(seconds: &[Second]) -> Option<Self> {
        let sum = |counter| seconds.iter().map(|second| second.counters.get(counter)).sum::<u64>();
        let (sealed, hits) = (sum(Counter::MgsSealed), sum(Counter::MgsCacheHits));
        (sealed + hits > 0).then(|| Self {
            sealed,
            cpu_us: sum(Counter::MgsSealedCpu) as f64 / 1000.0 / sealed.max(1) as f64,
            hits,
            misses: sum(Counter::MgsCacheMisses),
            evictions: sum(Counter::MgsCacheEvictions),
            saved_s: sum(Counter::MgsCacheSavedCpu) as f64 / 1e9,
        })
    }

    /// Returns name, value and note of each metric.
    pub fn figures(&self) -> Vec<(Words, String, Words)> {
        let each = time(self.cpu_us);
        let mut found = vec![(
            words("Signed or encrypted", "已签名或加密"),
            grouped(self.sealed as f64),
            words(format!("{each} of CPU each"), format!("每个耗 CPU {each}")),
        )];
        let asked = self.hits + self.misses;
        if asked > 0 {
            let [misses, evictions] = [self.misses, self.evictions].map(|n| grouped(n as f64));
            let saved = digits(self.saved_s);
            found.push((
                words("Taken from the cache of these", "取自其缓存"),
                share(self.hits as f64 / asked as f64),
                words(
                    format!("{misses} misses, {evictions} evictions; {saved} s of CPU saved"),
                    format!("未命中 {misses} 次，淘汰 {evictions} 次；节省 CPU {saved} 秒"),
                ),
            ));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_summed_and_a_cache_is_shown_where_it_was_asked() {
        assert_eq!(Gateway::new(&[Second::default()]), None);
        let mut second = Second::default();
        second.counters.add(Counter::MgsSealed, 500);
        second.counters.add(Counter::MgsSealedCpu, 42_500_000);
        let mut seconds = vec![second.clone(), second];
        let found = Gateway::new(&seconds).expect("a gateway");
        let [(_, value, note)] = &found.figures()[..] else { panic!("one figure: {found:?}") };
        assert_eq!((&*grouped(1000.0), &*note.en), (&**value, "85 µs of CPU each"));
        for (counter, n) in [
            (Counter::MgsCacheHits, 4000),
            (Counter::MgsCacheMisses, 1000),
            (Counter::MgsCacheEvictions, 7),
            (Counter::MgsCacheSavedCpu, 340_000_000),
        ] {
            seconds[1].counters.add(counter, n);
        }
        let figures = Gateway::new(&seconds).expect("a gateway").figures();
        let (_, value, note) = figures.last().expect("the cache");
        assert_eq!(value, "80 %");
        let misses = grouped(1000.0);
        assert_eq!(note.en, format!("{misses} misses, 7 evictions; 0.34 s of CPU saved"));
    }
}
