//! A plan that has run for a while allocates nothing per request. The test counts allocations of all threads of the
//! process over thousands of requests. The target answers from fixed buffers, so that only the generator is
//! counted. Under TLS a new connection allocates, within limits that this file sets.

mod plans;
mod server;

use std::alloc::System;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

use plans::{gateway_plan, handshakes_plan, http_plan, tcp_plan, transaction_plan, websocket_plan};
use server::{
    Counted, SERVED, serve, serve_lines, serve_posts, serve_silence, serve_tls, serve_websocket,
};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Returns the number of allocations per request of a warmed-up plan, without the allocations of the snapshots each
/// second.
fn measure(plan: Arc<plan::plan::Plan>, results: Vec<engine::ResultFile>) -> f64 {
    measured(plan, results, [5_000, 20_000], &[])
}

/// Measures with the given numbers of requests: for the warm-up, and for the measurement. On a busy machine, rows
/// may fill more buffers than before. That happens once, whereas allocations per request occur in each measurement.
/// Therefore the lowest result of three is used.
fn measured(
    plan: Arc<plan::plan::Plan>,
    results: Vec<engine::ResultFile>,
    requests: [u64; 2],
    properties: &[(&str, &str)],
) -> f64 {
    let mut least = f64::MAX;
    for _ in 0..3 {
        least = least.min(measured_once(Arc::clone(&plan), results.clone(), requests, properties));
        if least < NONE {
            break;
        }
    }
    least
}

fn measured_once(
    plan: Arc<plan::plan::Plan>,
    results: Vec<engine::ResultFile>,
    [until_warm, counted]: [u64; 2],
    properties: &[(&str, &str)],
) -> f64 {
    let own = properties.iter().map(|(name, value)| ((*name).into(), (*value).into()));
    let options = engine::Options {
        cores: 1,
        properties: own.collect(),
        base_dir: ".".into(),
        results,
        seed: 1,
        ..engine::Options::default()
    };
    let mut run = engine::start(plan, options).unwrap();
    let mut pass = |until: &dyn Fn() -> bool| {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !until() {
            assert!(Instant::now() < deadline, "the target was not asked often enough");
            match run.next_event(Duration::from_millis(5)) {
                engine::Event::Snapshot(snapshot) => run.recycle(snapshot),
                // The start and the end of users are logged.
                engine::Event::Log(line) => {
                    let level = engine::LogLevel::Info;
                    assert!(
                        matches!(&line, engine::Line::Log { level: of, .. } if *of == level),
                        "{line:?}"
                    );
                }
                engine::Event::Idle
                | engine::Event::BatchDone
                | engine::Event::Figures(_)
                | engine::Event::StopAsked { .. } => {}
                engine::Event::Finished => panic!("the run ended"),
            }
        }
    };
    // The plan is warm when every buffer has had its largest use, and at least two snapshots were handed over.
    let start = Instant::now();
    let warm = SERVED.load(Ordering::Relaxed) + until_warm;
    pass(&|| {
        SERVED.load(Ordering::Relaxed) > warm && start.elapsed() > Duration::from_millis(2_500)
    });
    let start = Instant::now();
    let before = (ALLOCATOR.stats(), SERVED.load(Ordering::Relaxed));
    let enough = before.1 + counted;
    pass(&|| SERVED.load(Ordering::Relaxed) > enough);
    let after = (ALLOCATOR.stats(), SERVED.load(Ordering::Relaxed));
    let took = start.elapsed();
    run.stop_now();
    while !matches!(run.next_event(Duration::from_millis(50)), engine::Event::Finished) {}
    let allocations =
        after.0.allocations + after.0.reallocations - before.0.allocations - before.0.reallocations;
    let hand_overs = HAND_OVER * (took.as_secs() as usize + 2);
    allocations.saturating_sub(hand_overs) as f64 / (after.1 - before.1) as f64
}

/// Maximum number of allocations per snapshot. Most are for randomly kept samples, with six strings each: 64 samples
/// in the first second of a run, a third of them in the third second.
const HAND_OVER: usize = 150;
/// Number of allocations per request that counts as zero: one per thousand requests, when a buffer grows.
const NONE: f64 = 0.001;
/// Number of allocations per request that counts as zero in measurements with few requests, in which one unexpected
/// snapshot has more weight.
const NONE_OF_FEW: f64 = 0.05;

/// Maximum number of bytes per waiting user. 620 to 680 bytes were measured, depending on how many requests are in work
/// at the same time; `bench/memory-per-user` has the exact bar.
const WAITING: f64 = 1000.0;

/// Maximum number of allocations per connection with one request under TLS. Most of them are made by rustls.
const RESUMED: f64 = 150.0;
const FULL: f64 = 120.0;

// A single test, because the allocator counts the allocations of the whole process.
#[test]
fn warm_plans_do_not_allocate_per_request() {
    let folder = std::env::temp_dir().join(format!("throng-no-allocation-{}", std::process::id()));
    let file = engine::ResultFile {
        path: folder.join("out.jtl"),
        columns: stats::jtl::Columns::default(),
        errors_only: false,
        successes_only: false,
    };
    users_that_wait();
    requests_of_http(&file);
    frames_and_lines(&file);
    calls_of_a_gateway(&file);
    let _ = std::fs::remove_dir_all(&folder);
    handshakes();
}

/// A Cookie Manager, and a Header Manager with a header that varies.
const AROUND: &str = r#"<CookieManager testclass="CookieManager" testname="cookies" enabled="true"><collectionProp name="CookieManager.cookies"/></CookieManager><hashTree/>
<HeaderManager testclass="HeaderManager" testname="headers" enabled="true"><collectionProp name="HeaderManager.headers">
<elementProp name="" elementType="Header"><stringProp name="Header.name">X-User</stringProp><stringProp name="Header.value">${id}-${__threadNum}</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>"#;
/// An extractor and an assertion that read the response.
const INSIDE: &str = r#"<RegexExtractor testclass="RegexExtractor" testname="id" enabled="true"><stringProp name="RegexExtractor.refname">id</stringProp>
<stringProp name="RegexExtractor.regex">id=(\d+)</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp>
<stringProp name="RegexExtractor.match_number">1</stringProp><stringProp name="RegexExtractor.default">none</stringProp></RegexExtractor><hashTree/>
<ResponseAssertion testclass="ResponseAssertion" testname="has name" enabled="true"><collectionProp name="Asserion.test_strings"><stringProp name="1">name</stringProp></collectionProp>
<stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">16</intProp></ResponseAssertion><hashTree/>"#;

/// Measures HTTP requests: constant requests, requests with result rows, with all features of samplers, and under
/// TLS.
fn requests_of_http(file: &engine::ResultFile) {
    let port = serve().port();
    let simple = measure(http_plan(port, "/", "", ""), Vec::new());
    assert!(simple < NONE, "a fixed request: {simple} allocations a request");
    let rows = measure(http_plan(port, "/", "", ""), vec![file.clone()]);
    assert!(rows < NONE, "with rows: {rows} allocations a request");
    let marks = [("throng.tag", "X-Load-Test=1"), ("throng.traceparent", "true")];
    let marked = measured(http_plan(port, "/", "", ""), Vec::new(), [5_000, 20_000], &marks);
    assert!(marked < NONE, "with marks: {marked} allocations a request");
    let rich = measure(
        http_plan(port, "/item?id=${id}&r=${__Random(1,100)}", AROUND, INSIDE),
        vec![file.clone()],
    );
    assert!(
        rich < NONE,
        "cookies, headers, extractor, assertion, rows: {rich} allocations a request"
    );
    let transactions = measure(transaction_plan(port, INSIDE), vec![file.clone()]);
    assert!(transactions < NONE, "in transactions: {transactions} allocations a request");

    let target = serve_tls("fixed", Counted::Requests);
    let secure = |around: &str| {
        let own = r#"<ConfigTestElement guiclass="HttpDefaultsGui" testclass="ConfigTestElement" testname="secure" enabled="true"><stringProp name="HTTPSampler.protocol">https</stringProp></ConfigTestElement><hashTree/>"#;
        measure(
            http_plan(target.port, "/?r=${__Random(1,100)}", &[own, around].concat(), ""),
            vec![file.clone()],
        )
    };
    let (plain, with_headers) = (secure(""), secure(AROUND));
    drop(target);
    assert!(plain < NONE, "under TLS: {plain} allocations a request");
    assert!(with_headers < NONE, "under TLS with headers: {with_headers} allocations a request");
}

/// Measures calls through a mobile gateway: signed; encrypted with a fresh key; encrypted from the cache, with the
/// response decrypted for an assertion.
fn calls_of_a_gateway(file: &engine::ResultFile) {
    const KEY: &str = "04d8096af8a11e0b80037e1ee68246b5dcbb0aeb1cf1244fd767db80f3fa27da2b396812ea1686e7472e9692eaf3e958e50e9500d3b4c77243db1f2acd67ba9cc4";
    let digits = "11".repeat(32);
    let fixed: &[_] = &[("encrypt", "ecc"), ("public_key", KEY), ("ephemeral", &digits)];
    let plain = answer(b"an answer in plain");
    let encrypted = answer(&encrypted(fixed, b"an answer in plain"));
    let cached = [fixed, &[("cache.mb", "1"), ("decrypt", "always")]].concat();
    for (what, settings, answer) in [
        ("signed", &[("secret", "x")][..], plain),
        ("from the cache, decrypted", &cached, encrypted),
        (
            "encrypted with a fresh key",
            &[("encrypt", "ecc"), ("public_key", KEY), ("decrypt", "never")],
            plain,
        ),
    ] {
        let port = serve_posts(answer).port();
        let path = file.path.with_file_name(format!("{what}.jtl"));
        let rows = engine::ResultFile { path, ..file.clone() };
        let each = measured(gateway_plan(port, settings), vec![rows.clone()], [2_000, 5_000], &[]);
        assert!(
            each < NONE_OF_FEW,
            "a call through a gateway, {what}: {each} allocations a request"
        );
        let rows = std::fs::read_to_string(&rows.path).unwrap();
        assert!(rows.contains(",true,"), "{what}");
        // The code 200 excludes samples that the end of the run has cut.
        let failed = rows.lines().find(|row| row.contains(",200,") && row.contains(",false,"));
        assert_eq!(failed, None, "{what}");
    }
}

/// Returns a gateway's response with this body. The response's memory is never freed.
fn answer(body: &[u8]) -> &'static [u8] {
    let length = body.len();
    let mut bytes = format!("HTTP/1.1 200 OK\r\nResult-Status: 1000\r\nx-mgs-encryption: 1\r\nContent-Length: {length}\r\n\r\n").into_bytes();
    bytes.extend_from_slice(body);
    bytes.leak()
}

/// Encrypts a body as the gateway does, for requests that all have the same key.
fn encrypted(settings: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let value = |name: &str| {
        settings.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_string())
    };
    let settings = mgs::Settings::read(value).unwrap().unwrap();
    let mut sealed = mgs::Sealed::default();
    mgs::Sealer::new(settings, 1).unwrap().seal("a", b"[]", 1, &mut sealed).unwrap();
    let mut out = Vec::new();
    mgs::gzip::Gzip::new(6).compress(body, &mut out).unwrap();
    sealed.key.unwrap().key.encrypt(0, &mut out);
    out
}

/// Measures WebSocket frames, and lines of a TCP Sampler.
fn frames_and_lines(file: &engine::ResultFile) {
    let port = serve_websocket().port();
    let frames = measure(websocket_plan(port, false, "hello", ""), Vec::new());
    assert!(frames < NONE, "a fixed frame and its answer: {frames} allocations a request");
    let assertion = r#"<ResponseAssertion testclass="ResponseAssertion" testname="number" enabled="true"><collectionProp name="Asserion.test_strings"><stringProp name="1">hello \d+</stringProp></collectionProp>
<stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">2</intProp></ResponseAssertion><hashTree/>"#;
    let varying = "hello ${__Random(1,100)}";
    let rich_frames = measure(websocket_plan(port, false, varying, assertion), vec![file.clone()]);
    let target = serve_tls("websocket-echo", Counted::Requests);
    let secure_frames =
        measure(websocket_plan(target.port, true, varying, assertion), vec![file.clone()]);
    drop(target);
    let port = serve_lines();
    let lines = measure(tcp_plan(port, "hello ${__Random(1,100)}", INSIDE), vec![file.clone()]);
    assert!(secure_frames < NONE, "frames under TLS: {secure_frames} allocations a request");
    assert!(lines < NONE, "lines of a TCP Sampler: {lines} allocations a request");
    assert!(
        rich_frames < NONE,
        "frames that vary, with assertion and rows: {rich_frames} allocations a request"
    );
}

/// Measures the memory in bytes of a user that waits for the response to a constant request: the user, its
/// connection and its exchange.
fn users_that_wait() {
    let port = serve_silence().port();
    // Tables grow by doubling. With these numbers of users they are full.
    let (few, many) = (64, 256);
    // A snapshot in progress, or a thread of the server, adds bytes to some measurements. Memory that the previous
    // run frees late is missing in others. The median is the memory that users hold.
    let usual = |users| {
        let mut all: Vec<usize> = (0..7).map(|_| held_by(port, users)).collect();
        all.sort_unstable();
        all[3]
    };
    let bytes = usual(many) - usual(few);
    let each = bytes as f64 / (many - few) as f64;
    println!("{each} bytes a user that waits");
    assert!(each < WAITING, "a user that waits: {each} bytes");
}

/// Returns the bytes that a run holds while all its users wait.
fn held_by(port: u16, users: u64) -> usize {
    let held = || {
        let stats = ALLOCATOR.stats();
        stats.bytes_allocated - stats.bytes_deallocated
    };
    let (before, asked) = (held(), SERVED.load(Ordering::Relaxed));
    let options = engine::Options {
        cores: 1,
        properties: [("users".to_owned(), users.to_string())].into(),
        base_dir: ".".into(),
        seed: 1,
        ..engine::Options::default()
    };
    let mut run = engine::start(http_plan(port, "/", "", ""), options).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while SERVED.load(Ordering::Relaxed) < asked + users {
        assert!(Instant::now() < deadline, "not all users have come");
        if let engine::Event::Snapshot(snapshot) = run.next_event(Duration::from_millis(5)) {
            run.recycle(snapshot);
        }
    }
    // A user has its exchange before its connection is established, and the request that follows adds nothing.
    let all = held() - before;
    run.stop_now();
    while !matches!(run.next_event(Duration::from_millis(50)), engine::Event::Finished) {}
    all
}

/// Checks that TLS handshakes allocate no more than rustls does.
fn handshakes() {
    for (target, most, what) in
        [("fixed", RESUMED, "resumed"), ("fixed tickets=false", FULL, "full")]
    {
        let target = serve_tls(target, Counted::Connections);
        let handshake = measured(handshakes_plan(target.port), Vec::new(), [500, 500], &[]);
        println!("{handshake} allocations a connection with a {what} handshake");
        assert!(handshake < most, "{what}: {handshake} allocations a connection");
    }
}
