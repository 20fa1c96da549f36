//! Nothing allocates per request once a plan is warm: counted by the allocator over thousands of requests, all
//! threads of the process together. The target answers from fixed buffers, so that only the generator is counted.

use std::alloc::System;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

static SERVED: AtomicU64 = AtomicU64::new(0);

const ANSWER: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nSet-Cookie: session=abcdef; Path=/\r\n\
    Content-Length: 33\r\n\r\n<p>id=4711</p><p>{\"name\":\"x\"}</p>";

/// Answers every request with the same bytes, without allocating.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut buffer = [0u8; 8192];
                let mut held = 0;
                while let Ok(n) = stream.read(&mut buffer[held..]) {
                    if n == 0 {
                        return;
                    }
                    held += n;
                    // Requests of these plans have no body, and come one at a time.
                    if buffer[..held].ends_with(b"\r\n\r\n") {
                        held = 0;
                        SERVED.fetch_add(1, Ordering::Relaxed);
                        if stream.write_all(ANSWER).is_err() {
                            return;
                        }
                    }
                }
            });
        }
    });
    address
}

/// Where it is set, [`tls_target`] serves until its input ends.
const SERVES: &str = "THRONG_TEST_SERVES_TLS";

/// A server under TLS, which allocates: in a process of its own, so that only the generator is counted.
#[test]
fn tls_target() {
    if std::env::var_os(SERVES).is_none() {
        return;
    }
    let config = targets::Config::new("fixed").tls(targets::TlsConfig::default());
    let target = targets::start(config).unwrap();
    eprintln!("{}", target.addr().port());
    let _ = std::io::stdin().read(&mut [0]);
}

/// Starts that process, and passes on what is said to it and by it, counting what is said. Gives the port.
fn serve_tls() -> (u16, std::process::Child) {
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "tls_target", "--nocapture"])
        .env(SERVES, "1")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(child.stderr.as_mut().unwrap()),
        &mut line,
    )
    .unwrap();
    let to = SocketAddr::from(([127, 0, 0, 1], line.trim().parse().unwrap()));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let client = client.unwrap();
            let server = TcpStream::connect(to).unwrap();
            client.set_nodelay(true).unwrap();
            server.set_nodelay(true).unwrap();
            let back = (server.try_clone().unwrap(), client.try_clone().unwrap());
            std::thread::spawn(move || pass(client, server, true));
            std::thread::spawn(move || pass(back.0, back.1, false));
        }
    });
    (port, child)
}

/// A request is one record here, and comes at once.
fn pass(mut from: TcpStream, mut to: TcpStream, counts: bool) {
    let mut buffer = [0u8; 8192];
    while let Ok(n @ 1..) = from.read(&mut buffer) {
        SERVED.fetch_add(u64::from(counts), Ordering::Relaxed);
        if to.write_all(&buffer[..n]).is_err() {
            return;
        }
    }
}

/// Takes WebSocket connections and sends every frame back, without allocating.
fn serve_websocket() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut buffer = [0u8; 8192];
                let mut held = 0;
                while !buffer[..held].ends_with(b"\r\n\r\n") {
                    held += stream.read(&mut buffer[held..]).unwrap();
                }
                let head = std::str::from_utf8(&buffer[..held]).unwrap();
                let key = head.split_once("Sec-WebSocket-Key: ").unwrap().1;
                let accept = wire::websocket::handshake::accept(&key.as_bytes()[..24]);
                stream
                    .write_all(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ")
                    .unwrap();
                stream.write_all(&accept).unwrap();
                stream.write_all(b"\r\n\r\n").unwrap();
                loop {
                    // Frames of this plan are short and masked, and come one at a time.
                    if stream.read_exact(&mut buffer[..6]).is_err() {
                        return;
                    }
                    let length = usize::from(buffer[1] & 0x7f);
                    let key = [buffer[2], buffer[3], buffer[4], buffer[5]];
                    stream.read_exact(&mut buffer[2..2 + length]).unwrap();
                    buffer[1] = length as u8;
                    wire::websocket::apply_mask(&mut buffer[2..2 + length], key, 0);
                    SERVED.fetch_add(1, Ordering::Relaxed);
                    if stream.write_all(&buffer[..2 + length]).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// One request and its response per turn, on a connection that is opened once.
fn websocket_plan(port: u16, data: &str, inside: &str) -> Arc<plan::plan::Plan> {
    let sampler = |class: &str, more: &str, below: &str| {
        let class = format!("eu.luminis.jmeter.wssampler.{class}");
        format!(
            r#"<{class} guiclass="{class}Gui" testclass="{class}" testname="ws" enabled="true">
<boolProp name="TLS">false</boolProp><stringProp name="server">127.0.0.1</stringProp><stringProp name="port">{port}</stringProp>
<stringProp name="path">/</stringProp><stringProp name="readTimeout">6000</stringProp>{more}</{class}><hashTree>{below}</hashTree>"#
        )
    };
    let open = sampler("OpenWebSocketSampler", "", "");
    let request = sampler(
        "RequestResponseWebSocketSampler",
        &format!(
            r#"<boolProp name="createNewConnection">false</boolProp><stringProp name="payloadType">Text</stringProp><stringProp name="requestData">{data}</stringProp>"#
        ),
        inside,
    );
    compiled(&format!(
        r#"{open}<LoopController testclass="LoopController" testname="loop" enabled="true"><intProp name="LoopController.loops">-1</intProp></LoopController><hashTree>{request}</hashTree>"#
    ))
}

fn plan(port: u16, path: &str, around: &str, inside: &str) -> Arc<plan::plan::Plan> {
    compiled(&format!(
        r#"{around}
<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="get" enabled="true">
<stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp>
<stringProp name="HTTPSampler.path">{path}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
<boolProp name="HTTPSampler.follow_redirects">true</boolProp><boolProp name="HTTPSampler.use_keepalive">true</boolProp>
</HTTPSamplerProxy><hashTree>{inside}</hashTree>"#
    ))
}

/// A plan whose four users do this for ever.
fn compiled(body: &str) -> Arc<plan::plan::Plan> {
    let text = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan testclass="TestPlan" testname="plan" enabled="true"/><hashTree>
<ThreadGroup testclass="ThreadGroup" testname="users" enabled="true">
<elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><intProp name="LoopController.loops">-1</intProp></elementProp>
<stringProp name="ThreadGroup.num_threads">4</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp></ThreadGroup><hashTree>
{body}
</hashTree></hashTree></hashTree></jmeterTestPlan>"#
    );
    let (document, _) = jmx::parse("plan.jmx", text.into_bytes()).unwrap();
    let compiled = plan::compile::compile(&document, &plan::compile::Settings::default());
    Arc::new(compiled.plan.unwrap_or_else(|| panic!("{:?}", compiled.diags)))
}

/// Allocations per request while the plan is warm, without those of the seconds' hand-overs.
fn measure(plan: Arc<plan::plan::Plan>, results: Vec<engine::ResultFile>) -> f64 {
    let options = engine::Options {
        cores: 1,
        properties: std::collections::HashMap::new(),
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
                // Users that start and end are told of.
                engine::Event::Log(text) => assert!(text.starts_with("Info: "), "{text}"),
                engine::Event::Idle
                | engine::Event::BatchDone
                | engine::Event::Figures(_)
                | engine::Event::StopAsked { .. } => {}
                engine::Event::Finished => panic!("the run ended"),
            }
        }
    };
    // Warm: every buffer has met its largest use, and a second's hand-over has happened at least twice.
    let start = Instant::now();
    let warm = SERVED.load(Ordering::Relaxed) + 5_000;
    pass(&|| {
        SERVED.load(Ordering::Relaxed) > warm && start.elapsed() > Duration::from_millis(2_500)
    });
    let start = Instant::now();
    let before = (ALLOCATOR.stats(), SERVED.load(Ordering::Relaxed));
    let enough = before.1 + 20_000;
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

/// Allocations that the hand-over of a second may take.
const HAND_OVER: usize = 60;
/// Allocations a request that are none: one in a thousand, where a buffer meets a larger use than before.
const NONE: f64 = 0.001;

// One test, because the allocator counts for the whole process.
#[test]
fn warm_plans_do_not_allocate_per_request() {
    let port = serve().port();

    let simple = measure(plan(port, "/", "", ""), Vec::new());
    assert!(simple < NONE, "a fixed request: {simple} allocations a request");

    let folder = std::env::temp_dir().join(format!("throng-no-allocation-{}", std::process::id()));
    let file = engine::ResultFile {
        path: folder.join("out.jtl"),
        columns: stats::jtl::Columns::default(),
        errors_only: false,
        successes_only: false,
    };
    let rows = measure(plan(port, "/", "", ""), vec![file.clone()]);
    assert!(rows < NONE, "with rows: {rows} allocations a request");

    let around = r#"<CookieManager testclass="CookieManager" testname="cookies" enabled="true"><collectionProp name="CookieManager.cookies"/></CookieManager><hashTree/>
<HeaderManager testclass="HeaderManager" testname="headers" enabled="true"><collectionProp name="HeaderManager.headers">
<elementProp name="" elementType="Header"><stringProp name="Header.name">X-User</stringProp><stringProp name="Header.value">${id}-${__threadNum}</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>"#;
    let inside = r#"<RegexExtractor testclass="RegexExtractor" testname="id" enabled="true"><stringProp name="RegexExtractor.refname">id</stringProp>
<stringProp name="RegexExtractor.regex">id=(\d+)</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp>
<stringProp name="RegexExtractor.match_number">1</stringProp><stringProp name="RegexExtractor.default">none</stringProp></RegexExtractor><hashTree/>
<ResponseAssertion testclass="ResponseAssertion" testname="has name" enabled="true"><collectionProp name="Asserion.test_strings"><stringProp name="1">name</stringProp></collectionProp>
<stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">16</intProp></ResponseAssertion><hashTree/>"#;
    let rich = measure(
        plan(port, "/item?id=${id}&r=${__Random(1,100)}", around, inside),
        vec![file.clone()],
    );
    assert!(
        rich < NONE,
        "cookies, headers, extractor, assertion, rows: {rich} allocations a request"
    );

    let (port, mut child) = serve_tls();
    let secure = |around: &str| {
        let own = r#"<ConfigTestElement guiclass="HttpDefaultsGui" testclass="ConfigTestElement" testname="secure" enabled="true"><stringProp name="HTTPSampler.protocol">https</stringProp></ConfigTestElement><hashTree/>"#;
        measure(
            plan(port, "/?r=${__Random(1,100)}", &[own, around].concat(), ""),
            vec![file.clone()],
        )
    };
    let (plain, with_headers) = (secure(""), secure(around));
    drop(child.stdin.take());
    let _ = child.wait();
    assert!(plain < NONE, "under TLS: {plain} allocations a request");
    assert!(with_headers < NONE, "under TLS with headers: {with_headers} allocations a request");

    let port = serve_websocket().port();
    let frames = measure(websocket_plan(port, "hello", ""), Vec::new());
    assert!(frames < NONE, "a fixed frame and its answer: {frames} allocations a request");
    let assertion = r#"<ResponseAssertion testclass="ResponseAssertion" testname="number" enabled="true"><collectionProp name="Asserion.test_strings"><stringProp name="1">hello \d+</stringProp></collectionProp>
<stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">2</intProp></ResponseAssertion><hashTree/>"#;
    let rich_frames =
        measure(websocket_plan(port, "hello ${__Random(1,100)}", assertion), vec![file]);
    let _ = std::fs::remove_dir_all(&folder);
    assert!(
        rich_frames < NONE,
        "frames that vary, with assertion and rows: {rich_frames} allocations a request"
    );
}
