//! The situations, each with the rule whose finding must come first and further rules whose findings are true.

use answers::random::Random;
use record::{Change, Mark, Record, Second, Series, Unit};
use stats::close::Close;
use stats::hist::{Bins, layout};
use stats::{CloseCause, Counter, Outcome, Phase};

use super::{Answer, MS, Places, Request, S, START, Users, Workers, about, bad, good, run, users};

pub struct Situation {
    pub name: &'static str,
    /// The rule whose finding must come first; empty if no rule may report.
    pub right: &'static str,
    /// Further rules whose findings are true.
    pub beside: &'static [&'static str],
    pub record: Record,
}

pub fn of(
    name: &'static str,
    right: &'static str,
    beside: &'static [&'static str],
    record: Record,
) -> Situation {
    Situation { name, right, beside, record }
}

/// Returns a successful response that takes about 20 ms.
fn service(_: &Request, random: &mut Random) -> Answer {
    good(about(20 * MS, random))
}

/// Returns a healthy run of one minute.
pub fn quiet() -> Record {
    run(&users(20).ramp(5).pause(80), service)
}

/// Returns a healthy run after a change to each second.
fn changed(change: impl Fn(usize, &mut Second)) -> Record {
    let mut record = quiet();
    record.seconds.iter_mut().enumerate().for_each(|(n, second)| change(n, second));
    record
}

fn limited(load: &Users, workers: usize, takes: impl Fn(&mut Random) -> u64) -> Record {
    let mut workers = Workers::new(workers);
    run(load, move |request, random| good(workers.work(request.at, takes(random))))
}

/// Adds a watched host that opens and closes connections to a backend. `ports`: its number of ports, which it reports
/// if `said`; `per_s`: connections opened per second; `accepted`: connections accepted per second.
pub fn with_host(mut record: Record, ports: f64, per_s: f64, accepted: f64, said: bool) -> Record {
    let metrics = ["time_wait", "opened", "accepted", "ports"];
    let series = |metric: &str| Series {
        host: "gateway".into(),
        metric: metric.into(),
        unit: if metric == "time_wait" { Unit::Count } else { Unit::PerSecond },
    };
    record.series = metrics[..if said { 4 } else { 3 }].iter().map(|m| series(m)).collect();
    for (n, second) in record.seconds.iter_mut().enumerate() {
        let (n, lasts) = (n as f64, (ports - 3.0) / per_s);
        let waiting = (per_s * n.min(60.0)).min(ports - 3.0) + accepted * n.min(60.0);
        // A host without a free port opens no connection.
        let opened = if n > lasts { 0.0 } else { per_s };
        second.watched = vec![(0, waiting), (1, opened), (2, accepted)];
        if said {
            second.watched.push((3, ports));
        }
    }
    record.has.targets = true;
    record
}

/// Makes the host close 400 connections per second that others opened, from second `from` on: they stay in TIME_WAIT.
fn closing_after(mut record: Record, from: usize) -> Record {
    for (n, second) in record.seconds.iter_mut().enumerate().skip(from) {
        second.watched[0].1 += 400.0 * (n - from) as f64;
        second.watched[2].1 = 400.0;
    }
    record
}

/// Adds watched hosts with one metric each, given for every second.
fn with_hosts(
    mut record: Record,
    metric: &str,
    unit: Unit,
    hosts: &[(&str, &dyn Fn(usize) -> f64)],
) -> Record {
    let series = |host: &str| Series { host: host.into(), metric: metric.into(), unit };
    record.series = hosts.iter().map(|(host, _)| series(host)).collect();
    for (n, second) in record.seconds.iter_mut().enumerate() {
        second.watched = (0u32..).zip(hosts).map(|(at, (_, value))| (at, value(n))).collect();
    }
    record.has.targets = true;
    record
}

/// Returns a run with two gateways that receive these numbers of bytes per second.
fn gateways(first: f64, second: f64) -> Record {
    let hosts: [(&str, &dyn Fn(usize) -> f64); 2] =
        [("gateway-1", &|_| first), ("gateway-2", &|_| second)];
    with_hosts(quiet(), "net_received", Unit::PerSecond, &hosts)
}

/// Returns a run with a host whose processors are busy: the share `alone` without load, 0.5 more under full load.
fn with_processors(alone: f64) -> Record {
    let record = run(&users(20).ramp(60).pause(80), service);
    let busy = move |n: usize| alone + 0.5 * (n as f64 / 60.0).min(1.0);
    with_hosts(record, "cpu", Unit::Share, &[("gateway", &busy)])
}

/// Sets a quota of half a processor, which throttles the generator in `stopped` of ten periods.
fn quota(second: &mut Second, stopped: u64) {
    let own = &mut second.generator;
    (own.quota, own.quota_periods, own.quota_stopped) = (0.5, 10, stopped);
}

/// Returns a run with a watched JVM; `pauses`: seconds of pauses in each second.
fn with_java(pauses: impl Fn(usize) -> f64) -> Record {
    let mut record = quiet();
    let series =
        |metric: &str, unit| Series { host: "service".into(), metric: metric.into(), unit };
    record.series = vec![
        series("gc_pause", Unit::Seconds),
        series("heap", Unit::Bytes),
        series("heap_max", Unit::Bytes),
    ];
    for (n, second) in record.seconds.iter_mut().enumerate() {
        second.watched = vec![(0, pauses(n)), (1, 95e6), (2, 100e6)];
    }
    record.has.targets = true;
    record
}

/// Returns a run in which most requests fail from second `from_s` on, as behind a gateway that has no free port.
fn without_ports(from_s: u64) -> Record {
    run(&users(20).ramp(5).pause(80), move |request, random| {
        if request.at > from_s * S && random.uniform() < 0.6 {
            bad(2 * MS, Outcome::Status, "500", "Internal Server Error")
        } else {
            good(about(20 * MS, random))
        }
    })
}

/// Returns a run with a gateway that opens 60 connections per second to its backend, and none in the second half of the
/// run.
fn filling_its_pool() -> Record {
    let mut record = with_host(quiet(), 28_232.0, 60.0, 0.0, true);
    for second in record.seconds.iter_mut().skip(30) {
        second.watched[1].1 = 0.0;
    }
    record
}

/// Adds a firewall with at most 12 000 sessions. `sessions` returns their number in each second, `cpu` is its CPU
/// usage.
fn with_firewall(mut record: Record, sessions: impl Fn(usize) -> f64, cpu: f64) -> Record {
    let series =
        |metric: &str, unit| Series { host: "firewall".into(), metric: metric.into(), unit };
    record.series = vec![
        series("sessions", Unit::Count),
        series("sessions_max", Unit::Count),
        series("cpu", Unit::Share),
    ];
    for (n, second) in record.seconds.iter_mut().enumerate() {
        second.watched = vec![(0, sessions(n)), (1, 12_000.0), (2, cpu)];
    }
    record.has.targets = true;
    record
}

/// Returns a function for the number of sessions in each second. Within 10 s, the sessions of 20 connections grow from
/// 0 to `of` sessions per connection. `others` sessions are there in addition.
fn grow_to(of: f64, others: f64) -> impl Fn(usize) -> f64 {
    move |n| others + 20.0 * of * (n as f64 / 10.0).min(1.0)
}

/// Marks each connection as closed by the plan after its request.
fn closing(mut record: Record) -> Record {
    for second in &mut record.seconds {
        second.counters.add(Counter::ConnOpened, second.all.count);
        second.counters.add(Counter::ConnClosedByUs, second.all.count);
    }
    record
}

/// Returns a run against a semaphore with 50 permits; users arrive over 40 of 60 s.
fn semaphore() -> Record {
    let mut places = Places::new(50);
    run(&users(100).ramp(40), move |request, random| {
        let takes = about(40 * MS, random);
        if places.take(request.at, takes) {
            good(takes)
        } else {
            bad(4 * MS, Outcome::Status, "500", "Internal Server Error")
        }
    })
}

/// Returns a run against a pool of 8 connections; requests wait for a connection for at most 8 ms.
fn impatient_pool() -> Record {
    let mut pool = Workers::new(8);
    run(&users(60).ramp(50).pause(10), move |request, random| {
        let work = about(4 * MS, random);
        if pool.queue(request.at) > 8 * MS {
            let late = (200.0 * random.uniform()) as u64;
            bad(8 * MS + 300 + late, Outcome::Status, "500", "Internal Server Error")
        } else {
            good(pool.work(request.at, work))
        }
    })
}

fn of_firewalls() -> Vec<Situation> {
    let firewall = |sessions, cpu| with_firewall(quiet(), grow_to(sessions, 300.0), cpu);
    vec![
        of(
            "a firewall with 3.6 sessions for each connection",
            "host_sessions",
            &[],
            firewall(3.6, 0.3),
        ),
        of("the same, and it is busy", "constant_load", &["host_sessions"], firewall(3.6, 0.92)),
        of(
            "a busy firewall, whose first reading is of the whole load",
            "constant_load",
            &["host_sessions"],
            with_firewall(quiet(), |_| 330.0, 0.92),
        ),
        of("the same at rest", "", &[], with_firewall(quiet(), |_| 330.0, 0.3)),
        of("a firewall that counts both sides", "", &[], firewall(2.0, 0.3)),
        of("a firewall with many sessions of others", "", &[], firewall(1.0, 0.3)),
        of(
            "a firewall and a plan that closes its connections",
            "connection_churn",
            &[],
            closing(with_firewall(quiet(), grow_to(90.0, 300.0), 0.3)),
        ),
        of(
            "a firewall without a session left",
            "host_sessions",
            &[],
            with_firewall(quiet(), |n| (6_000.0 + 400.0 * n as f64).min(11_990.0), 0.3),
        ),
    ]
}

fn of_hosts() -> Vec<Situation> {
    let mut going = with_host(quiet(), 28_232.0, 500.0, 0.0, false);
    going.seconds.truncate(40);
    going.marks.clear();
    vec![
        of(
            "the gateway's 5000 ports run out",
            "host_ports",
            &["errors_named"],
            with_host(without_ports(13), 5_000.0, 400.0, 0.0, true),
        ),
        of("the gateway's ports will run out", "host_ports", &["host_churn"], going),
        of(
            "the same, of a gateway that closes what users open, too",
            "host_ports",
            &["errors_named"],
            closing_after(with_host(without_ports(13), 5_000.0, 400.0, 0.0, true), 13),
        ),
        of(
            "a gateway whose pool keeps connections for 30 ms",
            "host_churn",
            &[],
            with_host(quiet(), 5_000.0, 60.0, 0.0, true),
        ),
        of(
            "a gateway whose connections serve 30 requests each",
            "",
            &[],
            with_host(quiet(), 5_000.0, 6.0, 0.0, true),
        ),
        of("a gateway that fills its pool", "", &[], filling_its_pool()),
        of(
            "a gateway that opens a connection for each request",
            "host_churn",
            &[],
            with_host(quiet(), 60_000.0, 200.0, 0.5, true),
        ),
        of(
            "a gateway to which and from which no connection is kept",
            "",
            &[],
            with_host(quiet(), 60_000.0, 200.0, 200.0, true),
        ),
        of("one of two gateways gets nothing", "host_uneven", &[], gateways(1e6, 2e3)),
        of("one of two gateways gets a quarter", "", &[], gateways(1e6, 5e5)),
        of("a stray process beside a gateway", "host_busy", &[], with_processors(0.25)),
        of("a gateway that is busy with load alone", "", &[], with_processors(0.02)),
        of(
            "a service in Java collects for 80 ms of each second",
            "host_java",
            &[],
            with_java(|_| 0.08),
        ),
        of(
            "a service in Java stands still once for 0.6 s",
            "host_java",
            &[],
            with_java(|n| if n == 30 { 0.6 } else { 0.0 }),
        ),
        of("a service in Java that collects as usual", "", &[], with_java(|_| 0.02)),
        of(
            "a service that accepts and closes 400/s",
            "",
            &[],
            with_host(quiet(), 28_232.0, 0.2, 400.0, true),
        ),
    ]
}

pub fn all() -> Vec<Situation> {
    let mut list = of_capacity();
    list.extend(super::silent::all());
    list.extend(of_hosts());
    list.extend(of_firewalls());
    list.extend(of_errors());
    list.extend(of_connections());
    list.extend(of_time());
    list.extend(of_generator());
    list
}

fn of_capacity() -> Vec<Situation> {
    let mut refill = (20.0, 0);
    let refusing = |code: &'static str, message: &'static str| {
        run(&users(10).ramp(5).pause(20), move |request, random| {
            let tokens: f64 = refill.0 + (request.at - refill.1) as f64 / 1e6 * 100.0;
            refill = (tokens.min(20.0), request.at);
            if refill.0 < 1.0 {
                return bad(2 * MS, Outcome::Status, code, message);
            }
            refill.0 -= 1.0;
            good(about(5 * MS, random))
        })
    };
    let limiter = refusing("429", "Too Many Requests");
    let by_code = refusing("1002", "rate limited (result code of the gateway)");
    let mut next = 0;
    let delayed = run(&users(50).ramp(30).pause(100).seconds(90), move |request, random| {
        next = request.at.max(next + 10 * MS);
        good(next - request.at + about(MS, random))
    });
    let mut line = Workers::new(1);
    let bandwidth = run(&users(20).ramp(2).pause(1), move |request, _| {
        let moving = line.work(request.at, 10 * MS);
        Answer { receive: moving, bytes: 117_500, ..good(moving + MS) }
    });
    let mut late = users(300).ramp(60).seconds(90);
    late.at_once = 50;
    vec![
        of("quiet", "", &[], quiet()),
        of("quiet, 100 users over a ramp", "", &[], run(&users(100).ramp(30).pause(50), service)),
        of(
            "4 workers of 20 ms, from one user on",
            "concurrency_limit",
            &[],
            limited(&users(50).ramp(20), 4, |random| about(20 * MS, random)),
        ),
        of(
            "2 workers of 100 to 1500 ms, 300 users",
            "concurrency_limit",
            &["too_few_samples"],
            limited(&users(300).ramp(10).seconds(330), 2, |random| {
                100 * MS + random.below(1400) as u64 * MS
            }),
        ),
        of(
            "8 workers, never a light load",
            "plateau",
            &[],
            limited(&late, 8, |random| about(20 * MS, random)),
        ),
        of("a token bucket of 100/s that refuses", "rate_limit", &["errors_named"], limiter),
        of("the same of a mobile gateway", "rate_limit", &["errors_named"], by_code),
        of("a token bucket of 100/s that delays", "rate_limit", &[], delayed),
        of("a full line of 100 Mbit/s", "bandwidth", &[], bandwidth),
    ]
}

fn of_errors() -> Vec<Situation> {
    let failing = |share: f64| {
        move |_: &Request, random: &mut Random| {
            if random.uniform() < share {
                bad(20 * MS, Outcome::Status, "500", "Internal Server Error")
            } else {
                good(about(20 * MS, random))
            }
        }
    };
    let load = || users(20).ramp(5).pause(80);
    let breaker = run(&load(), |request, random| {
        let open = request.at / S % 10 < 3 && request.at > 10 * S;
        if open {
            bad(2 * MS, Outcome::Status, "503", "Service Unavailable")
        } else {
            good(about(20 * MS, random))
        }
    });
    let resets = run(&users(100).ramp(50).pause(50), |request, random| {
        // User n starts half a second after user n-1: from the 60th user on, connections are reset.
        if request.user >= 60 && random.uniform() < 0.3 {
            bad(5 * MS, Outcome::Reset, "Non HTTP response code", "Connection reset")
        } else {
            good(about(20 * MS, random))
        }
    });
    let hang = |limit: u64, outcome, code, message| {
        run(&users(40).ramp(5).pause(80).seconds(90), move |_, random| {
            if random.uniform() < 0.02 {
                bad(limit, outcome, code, message)
            } else {
                good(about(20 * MS, random))
            }
        })
    };
    let mut at_end = run(&load(), |request, random| {
        if request.at > 58_900 * MS {
            bad(20 * MS, Outcome::Reset, "Non HTTP response code", "Socket closed")
        } else {
            good(about(20 * MS, random))
        }
    });
    at_end.marks = vec![Mark { at_ms: START + 58_900, change: Change::Stop { at_once: true } }];
    let mut cut = limited(&users(20).ramp(2).pause(500), 40, |random| about(100 * MS, random));
    cut.seconds[59].all.cut = 9;
    vec![
        of("5 % of the answers are errors", "errors_named", &[], run(&load(), failing(0.05))),
        of("every answer is an error", "plan_fault", &["errors_named"], run(&load(), failing(1.0))),
        of("a circuit breaker, 3 s of 10", "circuit_breaker", &["errors_named"], breaker),
        of("resets from 60 users on", "reset_under_load", &["errors_named"], resets),
        of(
            "a proxy gives up after 5 s",
            "fixed_timeout",
            &["errors_named"],
            hang(5 * S, Outcome::Status, "504", "Gateway Timeout"),
        ),
        of(
            "the plan gives up after 2 s",
            "fixed_timeout",
            &["errors_named"],
            hang(
                2 * S,
                Outcome::Timeout(Phase::Response),
                "Non HTTP response code",
                "Read timed out",
            ),
        ),
        of("a semaphore of 50", "fails_above", &["errors_named", "concurrency_limit"], semaphore()),
        of(
            "a pool that waits for 8 ms",
            "fixed_timeout",
            &["errors_named", "concurrency_limit", "plateau"],
            impatient_pool(),
        ),
        of("errors only after the stop", "cut_by_end", &["errors_named"], at_end),
        of("9 requests cut by the end", "cut_by_end", &[], cut),
    ]
}

fn of_connections() -> Vec<Situation> {
    let load = || users(20).ramp(5).pause(80);
    let closing = |random: &mut Random| Answer { closes: true, ..good(about(20 * MS, random)) };
    let churn = run(&load(), move |_, random| closing(random));
    let tls = run(&load(), move |_, random| Answer { tls: 15 * MS, ..closing(random) });
    let queue = run(&load(), move |_, random| {
        let late = random.uniform() < 0.03;
        Answer { connect: if late { 1_010 * MS } else { 200 }, ..closing(random) }
    });
    let backends = |slow: u64, failing: f64| {
        run(&load(), move |request, random| {
            let values = ["a", "b", "c"];
            let value = values[(request.number % 3) as usize];
            let ill = value == "b";
            let mut answer = good(about(if ill { slow } else { 20 * MS }, random));
            if ill && random.uniform() < failing {
                answer = bad(20 * MS, Outcome::Status, "500", "Internal Server Error");
            }
            Answer { class: Some(("X-Served-By", value)), ..answer }
        })
    };
    let mut idle = quiet();
    let at = layout::index_of(180_004);
    idle.seconds[50].closes = vec![Close {
        cause: CloseCause::PeerFin,
        code: 0,
        idle_ms: Bins::try_from(vec![(at, 100)]).unwrap(),
    }];
    vec![
        of("the server closes after each answer", "connection_churn", &[], churn),
        of("a TLS handshake for each request", "tls_cost", &["connection_churn"], tls),
        of("a full accept queue", "accept_queue", &["connection_churn"], queue),
        of("one of three backends is slow", "backend_uneven", &[], backends(200 * MS, 0.0)),
        of(
            "one of three backends fails half",
            "backend_uneven",
            &["errors_named"],
            backends(20 * MS, 0.5),
        ),
        of("silent connections are cut after 180 s", "fixed_timeout", &[], idle),
    ]
}

/// Delays a request that overlaps a pause of the target: it continues after the pause.
fn frozen(at: u64, from: u64, length: u64, takes: u64) -> u64 {
    if at + takes > from && at < from + length {
        from + length - at + takes.min(20 * MS)
    } else {
        takes
    }
}

fn of_time() -> Vec<Situation> {
    let load = |s| users(20).ramp(5).pause(80).seconds(s);
    let stalls = run(&load(60), |request, random| {
        let takes = about(20 * MS, random);
        let from = (request.at + takes) / (5 * S) * (5 * S);
        good(if from == 0 { takes } else { frozen(request.at, from, 500 * MS, takes) })
    });
    let rate = |n, ramp| Users { rate: Some(500.0), ..users(n).ramp(ramp) };
    let frozen_rate = run(&rate(50, 1), |request, random| {
        good(frozen(request.at, 20 * S, 2 * S, about(20 * MS, random)))
    });
    let few = run(&rate(20, 1), |_, random| good(about(200 * MS, random)));
    let step = run(&load(90), |request, random| {
        good(about(if request.at > 45 * S { 80 * MS } else { 20 * MS }, random))
    });
    let leak = run(&load(180), |request, random| good(about(20 * MS + request.at / 8000, random)));
    let cache = run(&load(120), |request, random| {
        let hit = random.uniform() < request.at as f64 / (40.0 * 1e6);
        let class = Some(("X-Cache", if hit { "HIT" } else { "MISS" }));
        Answer { class, ..good(about(if hit { 3 * MS } else { 100 * MS }, random)) }
    });
    let two = run(&load(60), |_, random| {
        good(about(if random.uniform() < 0.3 { 200 * MS } else { 10 * MS }, random))
    });
    let warm = run(&load(150), |request, random| {
        good(about(20 * MS + (150 * S - request.at.min(150 * S)) / 1500, random))
    });
    vec![
        of("stops of 500 ms every 5 s", "stalls", &[], stalls),
        of("a freeze of 2 s under 500/s", "late_starts", &["stalls"], frozen_rate),
        of("too few users for 500/s", "late_starts", &[], few),
        of("four times slower from 45 s on", "step_change", &[], step),
        of("a leak", "drift", &[], leak),
        of("a cache that fills", "test_realism", &[], cache),
        of("two kinds of answers", "bimodal", &[], two),
        of("a warm-up that never ends", "warmup_unfinished", &[], warm),
        of(
            "a run of 300 requests",
            "too_few_samples",
            &[],
            run(&users(5).pause(600).seconds(40), service),
        ),
    ]
}

/// Returns a run against a name with three addresses, in which all requests go to one address.
fn one_of_three() -> Record {
    let mut record = quiet();
    record.frame.settings.push(("dns_pinned".into(), "true".into()));
    let address = |n: u32| record::ClassName::Address(format!("10.0.0.{n}:80").into());
    record.classes = (1..4).map(address).collect();
    record.has.classes = true;
    for second in &mut record.seconds {
        let class = |count| record::Class { count, ..record::Class::default() };
        second.classes = vec![(0, class(second.all.count)), (1, class(0)), (2, class(0))];
    }
    record
}

/// Sets the metrics of the JVM in a second: number of collections, and seconds in them.
fn java(second: &mut Second, collections: u64, collection_s: f64) {
    let generator = &mut second.generator;
    generator.heap = Some((300 << 20, 1 << 30));
    (generator.collections, generator.collection_s) = (collections, collection_s);
}

fn of_generator() -> Vec<Situation> {
    let mut lagging = quiet();
    for second in &mut lagging.seconds {
        let count = second.all.count;
        second.all.phases.lag = second.all.elapsed / 2;
        second.lag = Bins::try_from(vec![(layout::index_of(12 * MS), count.max(1))]).unwrap();
    }
    let failing = |outcome, message| {
        run(&users(20).ramp(5).pause(80), move |request, random| {
            if request.at > 40 * S && random.uniform() < 0.3 {
                bad(100, outcome, "Non HTTP response code", message)
            } else {
                good(about(20 * MS, random))
            }
        })
    };
    let mut lost = quiet();
    lost.marks.insert(0, Mark { at_ms: START + 30_000, change: Change::Lost("worker 2".into()) });
    let mut going = changed(|n, s| s.generator.ports_left = Some(28_000 - 400 * n as u64));
    going.seconds.truncate(50);
    going.marks.clear();
    (going.frame.load.length_ms, going.frame.length_ms) = (Some(120_000), 50_000);
    let mut full_beside = limited(&users(50).ramp(20), 4, |random| about(20 * MS, random));
    full_beside.seconds.iter_mut().for_each(|s| s.generator.cpu_s = 3.95);
    vec![
        of(
            "a generator with full processors",
            "generator_limit",
            &[],
            changed(|_, s| s.generator.cpu_s = 3.9),
        ),
        of("the same, before a limit of 4", "generator_limit", &[], full_beside),
        of("a CPU quota stops the generator", "cpu_quota", &[], changed(|_, s| quota(s, 7))),
        of(
            "a CPU quota that is met at the start only",
            "",
            &[],
            changed(|n, s| quota(s, if n == 0 { 9 } else { 0 })),
        ),
        of("answers wait in the generator", "generator_limit", &[], lagging),
        of(
            "the generator was stopped for 2 s",
            "generator_stalled",
            &[],
            changed(|n, s| s.generator.stall = if n == 30 { 2_000_000_000 } else { 0 }),
        ),
        of(
            "Java collects its garbage for 80 ms of each second",
            "java_pauses",
            &[],
            changed(|_, s| java(s, 8, 0.08)),
        ),
        of(
            "Java stands still once for 0.6 s",
            "java_pauses",
            &[],
            changed(|n, s| java(s, u64::from(n == 30), if n == 30 { 0.6 } else { 0.0 })),
        ),
        of("one of a name's three addresses is used", "test_realism", &[], one_of_three()),
        of("Java that collects as usual", "", &[], changed(|_, s| java(s, 5, 0.02))),
        of(
            "no port is free",
            "ports",
            &["errors_named"],
            failing(Outcome::PortsExhausted, "Cannot assign requested address"),
        ),
        of("ports that run out in a minute", "ports", &[], going),
        of(
            "no descriptor is free",
            "files_exhausted",
            &["errors_named"],
            failing(Outcome::FilesExhausted, "Too many open files"),
        ),
        of("a worker process was lost", "workers_lost", &[], lost),
        of(
            "full inboxes",
            "reading_stopped",
            &[],
            changed(|n, s| s.counters.add(Counter::ReadingStopped, u64::from(n == 9))),
        ),
        of(
            "dropped messages",
            "messages_dropped",
            &[],
            changed(|n, s| s.counters.add(Counter::InboxDropped, u64::from(n == 9))),
        ),
        of(
            "unread data piles up",
            "unread_growing",
            &[],
            changed(|n, s| {
                s.counters.add(Counter::UnreadProbed, 10);
                s.counters.add(Counter::UnreadBytes, 10 * 5000 * n as u64);
            }),
        ),
        of(
            "closed windows",
            "zero_windows",
            &[],
            changed(|_, s| {
                s.counters.add(Counter::BytesIn, 100 << 20);
                s.machine.as_mut().unwrap().zero_windows_offered = 100;
            }),
        ),
        of(
            "no memory left",
            "generator_memory",
            &[],
            changed(|_, s| s.machine.as_mut().unwrap().memory_available = 100 << 20),
        ),
        of(
            "a line that loses segments",
            "network_loss",
            &[],
            changed(|_, s| s.machine.as_mut().unwrap().retransmitted = 40),
        ),
    ]
}
