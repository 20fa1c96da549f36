//! Names of backends without a configured class. The headers of kept responses of one label name them.
// Each test binary uses only a part of the module `situations`.
mod situations;

use std::sync::Arc;

use answers::rules;
use record::kept::Why;
use record::{ClassName, Kept, Record};
use situations::all::quiet;
use situations::{Answer, MS, good, run, users};
use stats::{Outcome, Phases};

/// Returns a run with 60 kept responses, as if chosen at random. `of` returns label, header line, time in ms, and true
/// for a failed response.
fn with_kept(of: impl Fn(usize) -> (u32, String, u64, bool)) -> Record {
    with_more(of, |_, _| ())
}

/// Returns a run with kept responses like [`with_kept`], after a change to each kept response.
fn with_more(
    of: impl Fn(usize) -> (u32, String, u64, bool),
    change: impl Fn(usize, &mut Kept),
) -> Record {
    let mut record = quiet();
    record.labels.push(record.labels[0].clone());
    record.kept = (0..60)
        .map(|n| {
            let (label, line, ms, failed) = of(n);
            let text = |text: &str| -> Arc<str> { text.into() };
            let mut kept = Kept {
                why: Why::Random,
                label,
                cause: None,
                outcome: if failed { Outcome::Status } else { Outcome::Ok },
                start_ms: record.frame.start_ms,
                elapsed: ms * 1_000_000,
                phases: Phases::default(),
                code: text("200"),
                message: text("OK"),
                address: text("10.0.0.1:80"),
                reused: true,
                sent: 100,
                received: 100,
                trace: 0,
                request: text(""),
                response: format!("HTTP/1.1 200 OK\r\n{line}\r\n\r\n").into(),
            };
            change(n, &mut kept);
            kept
        })
        .collect();
    record
}

fn said(record: &Record) -> String {
    let verdict = rules::verdict(record);
    let found = verdict.findings.into_iter().find(|finding| finding.id == "backend_uneven");
    found.map(|finding| finding.words.en).unwrap_or_default()
}

#[test]
fn a_slow_backend_is_named_by_any_usual_header() {
    for header in ["X-Served-By: web-", "Via: 1.1 node", "Set-Cookie: JSESSIONID=***.r"] {
        let record = with_kept(|n| {
            let ill = n % 3 == 1;
            (0, format!("{header}{}", n % 3), if ill { 200 } else { 20 + n as u64 % 7 }, false)
        });
        let said = said(&record);
        let name = header.split_once(": ").map_or("", |(name, _)| name);
        assert!(said.starts_with(&format!("One of 3 backends is slow: {name}")), "{said}");
        assert!(said.contains("takes 200 ms at the median, the others 23 ms"), "{said}");
        assert!(said.contains("(20 of 60 responses kept"), "{said}");
    }
}

#[test]
fn a_failing_backend_is_named() {
    let record = with_kept(|n| (0, format!("X-Backend: b{}", n % 3), 20, n % 6 == 1));
    let said = said(&record);
    assert!(said.starts_with("One of 3 backends fails: X-Backend: b1 fails 50 %"), "{said}");
}

#[test]
fn two_services_of_a_plan_are_no_backends_of_each_other() {
    let record = with_kept(|n| {
        let slow = n % 2 == 1;
        (n as u32 % 2, format!("X-Served-By: s{}", n % 2), if slow { 300 } else { 10 }, false)
    });
    assert_eq!(said(&record), "");
}

#[test]
fn names_that_do_not_go_with_the_times_say_nothing() {
    let alike = with_kept(|n| (0, format!("X-Host: h{}", n % 2), 20 + n as u64 * 7 % 30, false));
    assert_eq!(said(&alike), "");
    // A few slow responses of one backend, and a different name for each response.
    let few = with_kept(|n| {
        (0, format!("X-Host: h{}", n % 2), if n % 10 == 1 { 300 } else { 20 }, false)
    });
    assert_eq!(said(&few), "");
    let each = with_kept(|n| (0, format!("X-Host: h{n}"), 20 + n as u64, false));
    assert_eq!(said(&each), "");
}

/// Returns a run in which every third kept response is slow. Slow responses have the header line `slow`, all others the
/// header line `fast`.
fn two_lines(slow: &str, fast: &str) -> Record {
    with_kept(|n| {
        let (line, ms) = if n % 3 == 1 { (slow, 120) } else { (fast, 10 + n as u64 % 5) };
        (0, line.to_owned(), ms, false)
    })
}

#[test]
fn states_of_caches_and_chains_of_proxies_are_no_backends() {
    for (slow, fast) in [
        ("Server-Timing: cdn-cache; desc=MISS", "Server-Timing: cdn-cache; desc=HIT"),
        ("Server-Timing: db;desc=\"full scan\";dur=100", "Server-Timing: db;desc=index;dur=1"),
        ("Server-Timing: db;desc=\"scan 2\"", "Server-Timing: db;desc=\"scan 1\""),
        ("Via: 1.1 origin-gw, 1.1 varnish", "Via: 1.1 varnish"),
        ("X-Served-By: cache-iad-1, cache-fra-7", "X-Served-By: cache-fra-7"),
        ("X-Served-By: shield-2, cache-fra-7", "X-Served-By: cache-fra-7"),
        ("X-Host: origin-1", "X-Host: edge-1"),
        ("X-Node: node-1\r\nX-Cache: MISS", "X-Node: node-2\r\nX-Cache: HIT"),
        ("X-Node: node-1\r\nCF-Cache-Status: MISS", "X-Node: node-2\r\nCF-Cache-Status: HIT"),
        ("X-Node: node-1\r\nAge: 0", "X-Node: node-2\r\nAge: 31"),
        ("X-Host: feed", "X-Host: cafe"),
        ("X-Server: https", "X-Server: html"),
        ("X-Hostname: grpc-1", "X-Hostname: mssql-1"),
        ("X-Server: added", "X-Server: facade"),
    ] {
        assert_eq!(said(&two_lines(slow, fast)), "", "{slow}");
    }
    // First, nodes with similar names in a list. The others: a node that is slow regardless of the cache state.
    for (slow, fast) in [
        ("X-Served-By: cache-iad-1, cache-fra-7", "X-Served-By: cache-iad-2, cache-fra-7"),
        ("X-Node: node-1\r\nX-Cache: MISS", "X-Node: node-2\r\nX-Cache: MISS"),
        ("Server-Timing: host;desc=app-7", "Server-Timing: host;desc=app-8"),
        ("X-Pod: shop-7d4b9c5f8-x2k4q", "X-Pod: shop-7d4b9c5f8-bcdfg"),
        ("X-Pod: web-7d9f8c6b5-x2k4q", "X-Pod: web-6c5b9f7d8-mn7vz"),
    ] {
        assert!(said(&two_lines(slow, fast)).starts_with("One of 2 backends is slow"), "{slow}");
    }
}

#[test]
fn a_slow_value_of_a_header_is_named_without_a_claim_about_backends() {
    for (slow, fast) in [
        ("X-Backend: alpha", "X-Backend: beta"),
        ("X-Served-By: app", "X-Served-By: static"),
        ("X-Pod: feed", "X-Pod: cafe"),
        ("X-Node: grpc-1", "X-Node: mssql-1"),
    ] {
        let words = said(&two_lines(slow, fast));
        let begin = format!("Responses with {slow} are slow: they take 120 ms at the median");
        assert!(words.starts_with(&begin), "{words}");
        assert!(words.contains("those with other values 12 ms (20 of 60"), "{words}");
        assert!(!words.contains("backends"), "{words}");
    }
    let failing = with_kept(|n| {
        let name = ["alpha", "bravo", "charlie"][n % 3];
        (0, format!("X-Backend: {name}"), 20, n % 6 == 1)
    });
    let words = said(&failing);
    assert!(
        words.starts_with("Responses with X-Backend: bravo fail: 50 % of them, and 0"),
        "{words}"
    );
    // Times that do not differ, and the pages that a gateway answers by itself.
    let equal = with_kept(|n| {
        let name = ["alpha", "bravo"][n % 2];
        (0, format!("X-Backend: {name}"), 20 + n as u64 * 7 % 30, false)
    });
    assert_eq!(said(&equal), "");
}

/// Returns the finding about two nodes, one of them slow; `request` and `address` return the request and address of
/// each response.
fn two_nodes(request: impl Fn(usize) -> String, address: impl Fn(usize) -> String) -> String {
    let line = |n: usize| format!("X-Node: node-{}", n % 3 % 2);
    let ms = |n: usize| if n % 3 == 1 { 120 } else { 10 + n as u64 % 5 };
    said(&with_more(
        |n| (0, line(n), ms(n), false),
        |n, kept| {
            kept.request = request(n).into();
            kept.address = address(n).into();
        },
    ))
}

#[test]
fn a_difference_of_requests_is_none_of_backends() {
    let get = |target: String| format!("GET {target} HTTP/1.1\r\nHost: shop\r\n\r\n");
    let port = |_| "10.0.0.1:80".to_owned();
    let big = |n: usize| if n % 3 == 1 { "big" } else { "small" };
    assert_eq!(two_nodes(|n| get(format!("/{}/{n}", big(n))), port), "");
    assert_eq!(two_nodes(|n| get(format!("/list?kind={}", big(n))), port), "");
    let service = |n: usize| format!("10.0.0.1:{}", if n % 3 == 1 { 81 } else { 80 });
    assert_eq!(two_nodes(|_| get("/".into()), service), "");
    // Both nodes get the same requests, or requests that differ only in their data.
    for said in [
        two_nodes(|n| get(format!("/item/{n}?size={}", n % 2)), port),
        two_nodes(|n| get(format!("/search?q={}", "zo".repeat(n + 1))), port),
    ] {
        assert!(said.starts_with("One of 2 backends is slow: X-Node: node-1"), "{said}");
    }
}

#[test]
fn an_instance_that_replaced_another_is_not_compared_with_it() {
    let rolling = with_more(
        |n| (0, format!("X-Served-By: v{}", 1 + n / 20), if n < 20 { 80 } else { 20 }, false),
        |n, kept| kept.start_ms += 500 * n as i64,
    );
    assert_eq!(said(&rolling), "");
}

#[test]
fn pages_of_errors_of_a_gateway_are_no_backend() {
    let with = |header: &'static str, code: &'static str, usual: &'static str| {
        let is_ill = |n: usize| n % 5 == 1;
        let line = move |n| format!("{header}: {}", if is_ill(n) { "10.0.0.9" } else { usual });
        said(&with_more(
            move |n| (0, line(n), 20, is_ill(n)),
            move |n, kept| {
                if is_ill(n) {
                    kept.code = code.into();
                }
            },
        ))
    };
    assert_eq!(with("X-Served-By", "502", "10.0.0.1"), "");
    assert_eq!(with("X-Served-By", "500", "app-1"), "");
    assert!(with("X-Served-By", "500", "10.0.0.1").starts_with("One of 2 backends fails"));
    assert!(with("X-Upstream-Addr", "502", "10.0.0.1").starts_with("One of 2 backends fails"));
}

/// Returns the finding about a run of one label with two addresses, one of them slow; `paths`: paths of the kept
/// requests to each.
fn two_addresses(addresses: [&str; 2], paths: [&str; 2]) -> String {
    let mut record = run(&users(20).pause(80), |request, _| {
        let is_slow = request.number % 2 == 1;
        let class = Some(("address", if is_slow { "1" } else { "0" }));
        Answer { class, ..good(if is_slow { 100 * MS } else { 10 * MS }) }
    });
    for class in &mut record.classes {
        let ClassName::Header { value, .. } = class else { continue };
        *class = ClassName::Address(addresses[usize::from(&**value == "1")].into());
    }
    record.served = vec![(0, 0), (1, 0)];
    let kept = with_more(
        |_| (0, "Age: 0".into(), 10, false),
        |n, kept| {
            kept.request = format!("GET {} HTTP/1.1\r\n", paths[n % 2]).into();
            kept.address = addresses[n % 2].into();
        },
    );
    record.kept = kept.kept;
    said(&record)
}

#[test]
fn addresses_of_another_port_or_path_are_no_backends() {
    let hosts = ["10.0.0.1:80", "10.0.0.2:80"];
    let words = two_addresses(hosts, ["/item/1", "/item/2"]);
    assert!(words.starts_with("One of 2 backends is slow: 10.0.0.2:80 takes 10"), "{words}");
    assert_eq!(two_addresses(hosts, ["/item/1", "/report/1"]), "");
    assert_eq!(two_addresses(["10.0.0.1:80", "10.0.0.1:81"], ["/", "/"]), "");
}
