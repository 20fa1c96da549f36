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

const DEFAULTS: [(u32, &str, &str); 8] = [
    (
        2,
        "2 are the I/O threads of Undertow on two processors, the workers of nginx (worker_processes auto) there, or the event loops of Netty on one",
        "2 是 Undertow 在双处理器上的 I/O 线程数、nginx（worker_processes auto）的工作进程数，或 Netty 在单处理器上的事件循环数",
    ),
    (
        8,
        "8 is the default of a Jedis or DBCP pool (maxTotal)",
        "8 是 Jedis 或 DBCP 连接池的默认值（maxTotal）",
    ),
    (
        10,
        "10 is the default of a HikariCP pool (maximumPoolSize), and of Hystrix (coreSize, maxConcurrentRequests)",
        "10 是 HikariCP 连接池（maximumPoolSize）以及 Hystrix（coreSize、maxConcurrentRequests）的默认值",
    ),
    (
        100,
        "100 is the default of the Hystrix semaphore in Zuul (zuul.semaphore.max-semaphores), and of max_connections of PostgreSQL",
        "100 是 Zuul 中 Hystrix 信号量（zuul.semaphore.max-semaphores）以及 PostgreSQL max_connections 的默认值",
    ),
    (
        151,
        "151 is the default of max_connections of MySQL",
        "151 是 MySQL max_connections 的默认值",
    ),
    (
        200,
        "200 is the default of Tomcat's threads (server.tomcat.threads.max)",
        "200 是 Tomcat 线程数的默认值（server.tomcat.threads.max）",
    ),
    (
        512,
        "512 is the default of worker_connections of nginx, those to its upstreams included",
        "512 是 nginx worker_connections 的默认值，其中包括到上游的连接",
    ),
    (
        28_232,
        "28 232 are the local ports of Linux by default (net.ipv4.ip_local_port_range)",
        "28 232 是 Linux 默认的本地端口数（net.ipv4.ip_local_port_range）",
    ),
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
    let Some((_, en, zh)) = row else { return advice };
    let Words { en: said, zh: said_zh } = advice;
    words!("{said} {en}.", "{said_zh}{zh}。")
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
        let words = |n| beside(words!("Look.", "看。"), n).en;
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
