//! Default limits of well-known software, as hints for a number that a rule has found. The number alone proves
//! nothing, so the sentence says "is also the default of".
//!
//! Sources: nginx, ngx_core_module (`worker_connections` 512, `worker_processes auto`); Undertow, `Undertow.Builder`
//! (`ioThreads` = processors, 2 at least; `workerThreads` = 8 times that); Netty, `MultithreadEventLoopGroup` (2 times
//! the processors); Jedis, `GenericObjectPoolConfig.DEFAULT_MAX_TOTAL` of Commons Pool 2 (8); HikariCP, README
//! (`maximumPoolSize` 10); Hystrix, wiki "Configuration" (`coreSize` and `maxConcurrentRequests` 10); Spring Cloud
//! Netflix, `ZuulProperties.HystrixSemaphore` (100); PostgreSQL, `max_connections` (100); MySQL, `max_connections`
//! (151); Tomcat, HTTP connector (`maxThreads` 200); Linux, ip-sysctl (`ip_local_port_range` 32768 to 60999: 28 232).

use super::say::words;
use crate::verdict::Words;

/// Largest ratio of an interval's ends for which a default within it is meaningful.
const NARROW: f64 = 1.3;

const DEFAULTS: [(u32, fn() -> Words); 8] = [
    (2, || words!(default_of_undertow)),
    (8, || words!(default_of_jedis)),
    (10, || words!(default_of_hikari)),
    (100, || words!(default_of_hystrix)),
    (151, || words!(default_of_mysql)),
    (200, || words!(default_of_tomcat)),
    (512, || words!(default_of_nginx)),
    (28_232, || words!(default_of_linux_ports)),
];

/// Returns the only default within an interval, if the interval is narrow.
pub(super) fn between(low: f64, high: f64) -> Option<u32> {
    if high > NARROW * low {
        return None;
    }
    let mut within =
        DEFAULTS.iter().map(|row| row.0).filter(|n| (low..=high).contains(&f64::from(*n)));
    within.next().filter(|_| within.next().is_none())
}

/// Appends to the advice a sentence about a number that is a default.
pub(super) fn beside(advice: Words, number: f64) -> Words {
    let row = DEFAULTS.iter().find(|row| f64::from(row.0).to_bits() == number.to_bits());
    let Some((_, default)) = row else { return advice };
    let default = default();
    words!(advice_with_default(advice, default))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_is_named_where_it_is_the_only_one() {
        assert_eq!(between(95.0, 102.0), Some(100));
        assert_eq!(between(8.0, 10.0), None, "two of them");
        assert_eq!(between(50.0, 150.0), None, "a wide interval");
        assert_eq!(between(11.0, 13.0), None);
        let words = |n| beside(Words { en: "Look.".into(), zh: "看。".into() }, n).en;
        assert!(words(200.0).starts_with("Look. 200 is the default of Tomcat's threads"));
        assert_eq!(words(201.0), "Look.");
    }

    #[test]
    fn the_page_has_the_same_numbers() {
        let page = include_str!("../../../../docs/verdict.md");
        for (n, ..) in DEFAULTS {
            let row = format!("\n| {} |", stats::grouped::count(n.into()));
            assert!(page.contains(&row.replace(['\u{202f}', '\u{a0}'], " ")), "{row}");
        }
    }
}
