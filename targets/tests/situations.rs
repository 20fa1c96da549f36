//! The targets `service` and `limiter`: each situation as a client sees it.

mod raw;

use std::io::ErrorKind;
use std::time::{Duration, Instant};

use raw::{Client, End, target};
use serde_json::Value;
use targets::{Config, Error, Running, start};

fn stats(running: &Running) -> Value {
    serde_json::from_str(&Client::new(running).body("/stats")).unwrap()
}

fn status(client: &mut Client) -> String {
    client.get("/").answer().0[9..12].to_owned()
}

/// Waits at most one minute for an event; `happened` returns true once it has happened.
fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !happened() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Runs `work` and returns its duration in seconds. Tests check only a minimum, because durations grow on a busy
/// machine.
fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

#[test]
fn what_does_not_fit_is_named() {
    let why = |name: &str, key: &str, value: &str| {
        let error = start(Config::new(name).option(key, value)).unwrap_err();
        assert!(matches!(&error, Error::BadOption { .. }), "{error}");
    };
    for (key, value) in [
        ("ill", "2"),
        ("backends", "0"),
        ("slow_share", "1.5"),
        ("ms", "-1"),
        ("step", "NaN"),
        ("close", "maybe"),
        ("cut", "gently"),
    ] {
        why("service", key, value);
    }
    for (key, value) in [("rate", "0"), ("burst", "0.5"), ("over", "shout")] {
        why("limiter", key, value);
    }
}

#[test]
fn a_pool_bounds_what_is_done_behind_the_workers() {
    let service = target("service", &[("ms", "5"), ("pool", "1"), ("pool_ms", "40")]);
    let took = seconds(|| {
        let mut clients: Vec<_> = (0..5).map(|_| Client::new(&service)).collect();
        for client in &mut clients {
            client.get("/");
        }
        for client in &mut clients {
            client.answer();
        }
    });
    assert!(took >= 0.2, "{took}");
}

#[test]
fn workers_bound_what_is_done_at_once() {
    let service = target("service", &[("workers", "2"), ("ms", "50")]);
    let mut rounds = 0;
    // On a busy machine, the eight requests of a round may not arrive at the same time.
    until("six requests that wait, one of them for two others", || {
        rounds += 1;
        let took = seconds(|| {
            let mut clients: Vec<_> = (0..8).map(|_| Client::new(&service)).collect();
            for client in &mut clients {
                client.get("/");
            }
            for client in &mut clients {
                client.answer();
            }
        });
        assert!(took >= 0.2, "{took}");
        let stats = stats(&service);
        assert_eq!(stats["requests"], 8 * rounds);
        assert_eq!(stats["answered"], 8 * rounds);
        stats["waited"].as_u64().unwrap() >= 6
            && stats["longest_wait_ms"].as_f64().unwrap() >= 100.0
    });
}

#[test]
fn a_processor_bound_service_works_for_each_request() {
    let service = target("service", &[("ms", "0"), ("burn", "20")]);
    let took = seconds(|| {
        let mut client = Client::new(&service);
        (0..5).for_each(|_| drop(client.get("/").answer()));
    });
    assert!(took >= 0.1, "{took}");
}

#[test]
fn one_of_three_backends_is_ill() {
    let options = [("backends", "3"), ("ill", "2"), ("ms", "0"), ("ill_errors", "1")];
    let service = target("service", &options);
    let mut client = Client::new(&service);
    for number in [1, 2, 3, 1, 2, 3] {
        let (head, _) = client.get("/").answer();
        assert!(head.contains(&format!("X-Served-By: backend-{number}\r\n")), "{head}");
        assert_eq!(head.starts_with("HTTP/1.1 500 "), number == 2, "{head}");
    }
    let slow =
        target("service", &[("backends", "3"), ("ill", "1"), ("ms", "5"), ("ill_factor", "20")]);
    assert!(seconds(|| drop(Client::new(&slow).get("/").answer())) >= 0.1);
}

#[test]
fn two_modes_repeat_for_a_seed() {
    let slow = |seed| -> Vec<bool> {
        let options = [("ms", "1"), ("slow", "30"), ("slow_share", "0.5"), ("seed", seed)];
        let service = target("service", &options);
        let mut client = Client::new(&service);
        (0..12).map(|_| seconds(|| drop(client.get("/").answer())) >= 0.03).collect()
    };
    let first = slow("3");
    assert!(first.contains(&true), "{first:?}");
    // A busy machine can make a quick answer slow, but not a slow answer quick.
    let second = slow("3");
    let both = first.iter().zip(&second).filter(|(one, other)| **one && **other).count();
    assert!(both > 0, "{first:?} {second:?}");
}

#[test]
fn a_cache_says_so() {
    let service = target("service", &[("ms", "40"), ("cached", "0")]);
    let mut client = Client::new(&service);
    assert!(client.get("/a").answer().0.contains("X-Cache: MISS"));
    assert!(client.get("/a").answer().0.contains("X-Cache: HIT"));
    assert!(client.get("/b").answer().0.contains("X-Cache: MISS"));
}

#[test]
fn errors_begin_at_their_time() {
    // Errors begin two seconds after the first request, so the first request never fails.
    let options = [("ms", "0"), ("errors", "1"), ("errors_at", "2000"), ("status", "503")];
    let service = target("service", &options);
    let mut client = Client::new(&service);
    assert_eq!(status(&mut client), "200");
    until("an error", || status(&mut client) == "503");
    assert_eq!(status(&mut client), "503");
}

#[test]
fn a_limiter_refuses_or_delays() {
    let refusing = target("limiter", &[("rate", "1"), ("burst", "2"), ("ms", "0")]);
    let mut client = Client::new(&refusing);
    let begin = Instant::now();
    let answers: Vec<String> = (0..4).map(|_| client.get("/").answer().0).collect();
    let given = answers.iter().filter(|head| head.starts_with("HTTP/1.1 200 ")).count();
    assert!(given == 2 || begin.elapsed() > Duration::from_secs(1), "{answers:?}");
    assert!(answers.iter().filter(|head| head.contains("Retry-After: 1\r\n")).count() == 4 - given);
    assert_eq!(stats(&refusing)["refused"], 4 - given);
    let delaying =
        target("limiter", &[("rate", "50"), ("burst", "1"), ("ms", "0"), ("over", "delay")]);
    let mut client = Client::new(&delaying);
    // The first request gets its token at once. Each further one waits 20 ms, less if the client sends it later.
    assert!(seconds(|| (0..6).for_each(|_| drop(client.get("/").answer()))) >= 0.1);
    assert_eq!(stats(&delaying)["refused"], 0);
}

#[test]
fn connections_end_behind_answers() {
    let rest =
        |close| Client::new(&target("service", &[("ms", "0"), ("close", close)])).get("/").rest();
    assert!(matches!(rest("said"), End::Fin(text) if text.contains("Connection: close\r\n")));
    assert!(matches!(rest("unsaid"), End::Fin(text) if !text.contains("Connection")));
}

#[test]
fn idle_connections_are_cut() {
    for (cut, reset) in [("fin", false), ("rst", true)] {
        let service = target("service", &[("ms", "0"), ("idle", "100"), ("cut", cut)]);
        let mut client = Client::new(&service);
        let begin = Instant::now();
        client.get("/").answer();
        let end = client.rest();
        assert_eq!(end, if reset { End::Reset(String::new()) } else { End::Fin(String::new()) });
        assert!(begin.elapsed() >= Duration::from_millis(100));
        // A connection that never sends a request is cut too.
        assert_eq!(Client::new(&service).rest(), end);
        assert_eq!(stats(&service)["idle_cut"], 2);
    }
}

#[test]
fn a_request_that_takes_longer_than_the_idle_time_is_answered() {
    let service = target("service", &[("ms", "150"), ("idle", "50")]);
    let mut client = Client::new(&service);
    assert_eq!(status(&mut client), "200");
}

#[test]
fn connections_beyond_the_limit_are_reset() {
    let service = target("service", &[("ms", "0"), ("connections", "2")]);
    let mut kept: Vec<_> = (0..2).map(|_| Client::new(&service)).collect();
    assert!(kept.iter_mut().all(|client| status(client) == "200"));
    let mut third = Client::new(&service);
    let error = std::io::Read::read(&mut third.0, &mut [0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let stats: Value = serde_json::from_str(&kept[0].body("/stats")).unwrap();
    assert_eq!((&stats["reset"], &stats["open"]), (&1.into(), &2.into()));
}

#[test]
fn accepts_keep_their_distance() {
    let service = target("service", &[("ms", "0"), ("accept_every", "50"), ("backlog", "16")]);
    let took = seconds(|| {
        let mut clients: Vec<_> = (0..4).map(|_| Client::new(&service)).collect();
        assert!(clients.iter_mut().all(|client| status(client) == "200"));
    });
    assert!(took >= 0.15, "{took}");
}

#[test]
fn everything_stands_still_during_a_stall() {
    let options = [("ms", "0"), ("stall", "300"), ("stall_at", "100"), ("stall_every", "600")];
    let service = target("service", &options);
    let mut clients: Vec<_> = (0..3).map(|_| Client::new(&service)).collect();
    until("an answer that waits for most of a stall", || {
        clients.iter_mut().any(|client| seconds(|| drop(client.get("/").answer())) >= 0.2)
    });
    assert!(stats(&service)["stalls"].as_u64() >= Some(1));
    // A target can be stopped during a stall.
    let frozen = target("service", &[("stall", "1000000")]);
    let mut client = Client::new(&frozen);
    client.get("/");
    std::thread::sleep(Duration::from_millis(50));
    let (stopped, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        frozen.stop();
        let _ = stopped.send(());
    });
    ended.recv_timeout(Duration::from_secs(60)).expect("it stops");
}

#[test]
fn answers_share_the_bandwidth() {
    let service = target("service", &[("ms", "0"), ("size", "10000"), ("bandwidth", "100000")]);
    let mut clients: Vec<_> = (0..2).map(|_| Client::new(&service)).collect();
    let took = seconds(|| {
        for client in &mut clients {
            client.get("/");
        }
        assert!(clients.iter_mut().all(|client| client.answer().1.len() == 10_000));
    });
    assert!(took >= 0.19, "{took}");
}
