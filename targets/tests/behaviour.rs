//! The behaviour of all targets except the mirror.

mod raw;

use std::net::TcpStream;

use raw::{Client, End, first_answer, target};
use targets::{Config, Error, names, start};

#[test]
fn every_target_starts_by_name_with_its_defaults_written_out() {
    for info in names() {
        let given = info.options.iter().filter(|option| !option.default.is_empty());
        let options: Vec<_> = given.map(|option| (option.key, option.default)).collect();
        let running = target(info.name, &options);
        Client::new(&running).get("/").until(first_answer(info.name));
        running.stop();
    }
}

#[test]
fn what_cannot_start_says_why() {
    let why = |config: Config| start(config).unwrap_err();
    assert!(matches!(why(Config::new("fxied")), Error::UnknownTarget(..)));
    assert!(matches!(why(Config::new("fixed").option("siez", 1)), Error::UnknownOption { .. }));
    assert!(matches!(why(Config::new("fixed").option("size", "x")), Error::BadOption { .. }));
    assert!(matches!(why(Config::new("fitness").option("workers", 0)), Error::BadOption { .. }));
    assert!(matches!(why(Config::new("delay").option("kind", "x")), Error::BadOption { .. }));
    assert!(matches!(
        why(Config::new("flaky").option("reset", 0.7).option("stall", 0.7)),
        Error::BadOption { .. }
    ));
    assert!(matches!(why(Config::new("mirror").option("log", "/nowhere/at/all")), Error::Log(..)));
    let running = target("fixed", &[]);
    assert!(matches!(why(Config::new("fixed").listen(running.addr())), Error::Listen(..)));
}

#[test]
fn fixed_answers_as_configured() {
    let fixed = target(
        "fixed",
        &[("status", "201"), ("size", "30"), ("header", "A: 1"), ("header", "B: 2")],
    );
    let mut client = Client::new(&fixed);
    let head = "HTTP/1.1 201 Created\r\nA: 1\r\nB: 2\r\nContent-Length: 30\r\n\r\n";
    for _ in 0..3 {
        assert_eq!(
            client.get("/any").answer(),
            (head.to_owned(), "abcdefghijklmnopqrstuvwxyzabcd".to_owned())
        );
    }
    assert_eq!(client.send("HEAD / HTTP/1.1\r\n\r\n").until("\r\n\r\n"), head);
    assert!(matches!(client.send("GET / HTTP/1.0\r\n\r\n").rest(), End::Fin(_)));
}

#[test]
fn fitness_serves_in_order_of_arrival_with_the_sleeps_of_the_case() {
    let fitness = target("fitness", &[("workers", "1"), ("scale", "0.01"), ("seed", "7")]);
    let mut clients: Vec<_> = (0..8).map(|_| Client::new(&fitness)).collect();
    for client in &mut clients {
        client.send("POST /setup HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
    }
    let mut distinct = std::collections::BTreeSet::new();
    for client in &mut clients {
        let (head, body) = client.answer();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"));
        let json: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(json["retcode"], "0");
        assert!(json["retmsg"].as_str().unwrap().starts_with("load average "));
        distinct.insert(json["retdata"].as_u64().unwrap());
    }
    assert!(distinct.len() > 1 && distinct.iter().all(|slept| (100..=1500).contains(slept)));
    assert!(clients[0].get("/other").answer().0.starts_with("HTTP/1.1 404 "));
}

#[test]
fn one_worker_is_held_for_every_sleep() {
    // Each sleep takes at least 100 ms, so eight sleeps take at least 0.8 s in sequence, and at least 0.2 s four at a
    // time.
    for (workers, least) in [("1", 0.8), ("4", 0.2)] {
        let fitness = target("fitness", &[("workers", workers), ("seed", "1")]);
        let start = std::time::Instant::now();
        let mut clients: Vec<_> = (0..8).map(|_| Client::new(&fitness)).collect();
        for client in &mut clients {
            client.get("/setup");
        }
        for client in &mut clients {
            client.answer();
        }
        assert!(start.elapsed().as_secs_f64() >= least);
    }
}

#[test]
fn delay_applies_its_distribution_and_tells_the_truth() {
    type Options = [(&'static str, &'static str)];
    let kinds: [(&Options, f64); 4] = [
        (&[("kind", "constant"), ("ms", "3")], 3.0),
        (&[("kind", "uniform"), ("min", "2"), ("max", "4")], 2.0),
        (&[("kind", "lognormal"), ("median", "2"), ("sigma", "0.1")], 1.0),
        (&[("kind", "bimodal"), ("ms", "1"), ("slow", "5"), ("share", "0.5")], 1.0),
    ];
    for (options, least) in kinds {
        let delay = target("delay", options);
        let mut client = Client::new(&delay);
        assert_eq!(client.body("/stats"), r#"{"count":0}"#);
        for _ in 0..50 {
            assert_eq!(client.body("/"), "abcdefghijklmnopqrst");
        }
        let stats: serde_json::Value = serde_json::from_str(&client.body("/stats")).unwrap();
        let of = |key: &str| stats[key].as_f64().unwrap();
        assert_eq!(stats["count"], 50);
        // An answer is never early; the machine decides how late it is.
        assert!(of("min") >= least, "{stats}");
        assert!(of("p1") <= of("p50") && of("p50") <= of("p99.9") && of("p99.9") == of("max"));
        client.get("/stats/reset").answer();
        assert_eq!(client.body("/stats"), r#"{"count":0}"#);
        let closed = client.send("GET / HTTP/1.1\r\nConnection: close\r\n\r\n").rest();
        assert!(matches!(closed, End::Fin(_)));
        assert!(Client::new(&delay).body("/stats").starts_with(r#"{"count":1,"#));
    }
}

/// Returns the options of `flaky` that make this fault certain and exclude the others.
fn only(fault: &str) -> Vec<(&str, &'static str)> {
    let faults = ["reset", "close", "truncate", "stall", "garbage", "error"];
    let others = faults.into_iter().filter(|name| *name != fault).map(|name| (name, "0"));
    others.chain((fault != "none").then_some((fault, "1"))).collect()
}

#[test]
fn flaky_fails_in_every_way_it_is_told_to() {
    let end = |fault: &str| Client::new(&target("flaky", &only(fault))).get("/").rest();
    assert_eq!(end("reset"), End::Reset(String::new()));
    assert_eq!(end("close"), End::Fin(String::new()));
    assert!(matches!(end("truncate"), End::Fin(text) if text.ends_with("\r\n\r\nabcdefghij")));
    assert!(matches!(end("garbage"), End::Fin(text) if !text.contains("HTTP")));
    let error = target("flaky", &only("error"));
    assert!(Client::new(&error).get("/").answer().0.starts_with("HTTP/1.1 500 "));
    let good = target("flaky", &only("none"));
    assert_eq!(Client::new(&good).body("/"), "abcdefghijklmnopqrst");
}

#[test]
fn flaky_repeats_itself_for_the_same_seed() {
    let outcomes = |seed: &str| -> Vec<bool> {
        let mut options = only("none");
        options.retain(|(key, _)| *key != "error");
        options.extend([("error", "0.5"), ("seed", seed)]);
        let flaky = target("flaky", &options);
        let mut client = Client::new(&flaky);
        (0..64).map(|_| client.get("/").answer().0.contains("500")).collect()
    };
    assert_eq!(outcomes("3"), outcomes("3"));
    assert_ne!(outcomes("3"), outcomes("4"));
}

#[test]
fn dying_goes_away_and_comes_back_on_its_port() {
    let dying = target("dying", &[("up", "1500"), ("down", "300"), ("times", "1")]);
    let mut client = Client::new(&dying);
    client.get("/").answer();
    // The connection ends with the first life; after that, the port refuses connections.
    assert_eq!(client.rest(), End::Fin(String::new()));
    let mut refused = 0;
    let socket = loop {
        match TcpStream::connect(dying.addr()) {
            Ok(socket) => break socket,
            Err(_) => refused += 1,
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    assert!(refused > 0);
    assert_eq!(Client(socket).body("/"), "abcdefghijklmnopqrst");
    dying.stop();
}
