//! The generator process is stopped while responses arrive. A response that arrived before the time-out passes, a later
//! response is a time-out, and the run reports the stall.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::asked_to_end::until;
use crate::element::{element, http, websocket_read};
use crate::peer::{open_websocket, peer, request, stall};
use crate::trial::{Row, Trial, number};

/// Time-out of the sampler in ms. The generator process is stopped for `STILL`. A response in time arrives after
/// `IN_TIME`.
const LIMIT: &str = "2000";
const STILL: Duration = Duration::from_millis(3500);
const IN_TIME: Duration = Duration::from_millis(100);
/// Delay of a response that arrives after the time-out but before the stall ends.
const LATE: Duration = Duration::from_millis(2700);

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("it lives");
}

/// Runs the plan of one user. Stops the generator process as soon as `asked` returns true, when the request is in
/// flight.
fn through_a_stall(body: &str, port: u16, asked: impl Fn() -> bool) -> (Trial, Vec<Row>) {
    through_a_stall_with(body, port, &["-Jthrong.processes.allowed=true"], asked)
}

fn through_a_stall_with(
    body: &str,
    port: u16,
    more: &[&str],
    asked: impl Fn() -> bool,
) -> (Trial, Vec<Row>) {
    let trial = Trial::doing(body);
    let child = trial.start(port, &[&["-Jusers=1", "-Jloops=1"], more].concat());
    until("it waits", asked);
    signal(&child, Signal::STOP);
    std::thread::sleep(STILL);
    signal(&child, Signal::CONT);
    let ended = trial.finish(child);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.out.contains("The generator stood still"), "{ended:?}");
    let rows = trial.rows();
    (trial, rows)
}

/// Starts a server that counts requests and calls `serve` after the delay `late`. Returns its port, and a function that
/// returns true once a request has arrived.
fn server(
    serve: impl Fn(&mut TcpStream) + Send + Sync + 'static,
    late: Duration,
) -> (u16, impl Fn() -> bool) {
    let asked = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&asked);
    let port = peer(move |connection| {
        let _ = connection.peek(&mut [0]);
        seen.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(late);
        serve(connection);
        stall(connection);
    });
    (port, move || asked.load(Ordering::SeqCst) > 0)
}

fn answered(connection: &mut TcpStream) {
    request(connection);
    let _ = connection.write_all(ANSWER);
}

#[test]
fn http_answers_in_time() {
    let (port, asked) = server(answered, IN_TIME);
    let (trial, rows) =
        through_a_stall(&http(&[("HTTPSampler.response_timeout", LIMIT)], ""), port, asked);
    assert!(rows.len() == 1 && rows[0].success, "{rows:?}");
    let summary = trial.summary();
    let found = &summary["verdict"]["findings"][0];
    assert_eq!(found["id"], "generator_stalled", "{summary}");
    // The stall counts as lag, the generator's part of the sample's time.
    let lag = summary["lag"]["max"].as_f64().expect("milliseconds");
    assert!(lag > 2000.0 && lag <= rows[0].elapsed as f64 + 1.0, "{lag}: {rows:?}");
    assert!(number(&summary["course"], "stall_longest_ms") > 2000, "{summary}");
}

#[test]
fn http_answers_that_come_too_late() {
    let (port, asked) = server(answered, LATE);
    let (_, rows) =
        through_a_stall(&http(&[("HTTPSampler.response_timeout", LIMIT)], ""), port, asked);
    assert!(rows.len() == 1 && rows[0].message.ends_with("Read timed out"), "{rows:?}");
}

#[test]
fn answers_that_never_come() {
    let (port, asked) = server(|_| {}, IN_TIME);
    let (_, rows) =
        through_a_stall(&http(&[("HTTPSampler.response_timeout", LIMIT)], ""), port, asked);
    assert!(rows.len() == 1 && rows[0].message.ends_with("Read timed out"), "{rows:?}");
}

#[test]
fn sample_timeouts() {
    let timeout = r#"<SampleTimeout testclass="SampleTimeout" testname="Timeout" enabled="true"><stringProp name="InterruptTimer.timeout">2000</stringProp></SampleTimeout><hashTree/>"#;
    let (port, asked) = server(answered, IN_TIME);
    let (_, rows) = through_a_stall(&http(&[], timeout), port, asked);
    assert!(rows.len() == 1 && rows[0].success, "{rows:?}");
}

#[test]
fn tls_handshakes_and_answers() {
    let config = targets::Config::new("fixed").tls(targets::TlsConfig::default());
    let target = targets::start(config).expect("a target");
    let address = target.addr();
    // Forwards bytes in both directions, the server's first bytes with a delay.
    let pass = move |connection: &mut TcpStream| {
        let Ok(mut server) = TcpStream::connect(address) else { return };
        let (Ok(mut to), Ok(mut from)) = (server.try_clone(), connection.try_clone()) else {
            return;
        };
        std::thread::spawn(move || std::io::copy(&mut from, &mut to));
        let _ = std::io::copy(&mut server, connection);
    };
    let (port, asked) = server(pass, IN_TIME);
    let secure = [("HTTPSampler.protocol", "https"), ("HTTPSampler.response_timeout", LIMIT)];
    let (_, rows) = through_a_stall(&http(&secure, ""), port, asked);
    assert!(rows.len() == 1 && rows[0].success, "{rows:?}");
}

#[test]
fn connections_that_stand_in_time() {
    // Fills the listener's accept queue. The kernel resends the SYN after one second and then accepts it if the queue
    // has room.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let mut queue = Vec::new();
    while let Ok(one) = TcpStream::connect_timeout(&address, Duration::from_millis(300)) {
        queue.push(one);
        assert!(queue.len() < 10_000, "the queue has no end");
    }
    // Connections of this test in the state SYN_SENT (02); one more means that the sampler is connecting.
    let connecting = move || {
        let sockets = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default();
        let to = format!(":{:04X} 02 ", address.port());
        sockets.lines().filter(|line| line.contains(&to)).count()
    };
    let before = connecting();
    let begun = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&begun);
    let waits = move || {
        let more = connecting() > before;
        begun.fetch_max(usize::from(more), Ordering::SeqCst);
        more
    };
    let serve = std::thread::spawn(move || {
        until("it connects", || seen.load(Ordering::SeqCst) > 0);
        std::thread::sleep(IN_TIME);
        for mut connection in listener.incoming().flatten() {
            std::thread::spawn(move || {
                while request(&mut connection) && connection.write_all(ANSWER).is_ok() {}
            });
        }
    });
    let limits =
        [("HTTPSampler.connect_timeout", "2900"), ("HTTPSampler.response_timeout", "20000")];
    let (_, rows) = through_a_stall(&http(&limits, ""), address.port(), waits);
    assert!(rows.len() == 1 && rows[0].success, "{rows:?}");
    drop((serve, queue));
}

#[test]
fn tcp_samplers_and_raw_requests() {
    let tcp = [
        ("TCPSampler.server", "127.0.0.1"),
        ("TCPSampler.port", "${__P(port)}"),
        ("TCPSampler.timeout", LIMIT),
        ("TCPSampler.EolByte", "10"),
        ("TCPSampler.request", "x"),
    ];
    let raw =
        [("hostname", "127.0.0.1"), ("port", "${__P(port)}"), ("data", "x"), ("timeout", LIMIT)];
    for body in [
        element("TCPSampler", &tcp, ""),
        element("kg.apc.jmeter.samplers.HTTPRawSampler", &raw, ""),
    ] {
        let said = |connection: &mut TcpStream| {
            let _ = connection.read(&mut [0; 64]);
            let _ = connection.write_all(b"line\n");
            let _ = connection.shutdown(std::net::Shutdown::Write);
        };
        let (port, asked) = server(said, IN_TIME);
        let (_, rows) = through_a_stall(&body, port, asked);
        assert!(rows.len() == 1 && rows[0].success, "{rows:?}");
    }
}

#[test]
fn websocket_openings_and_reads() {
    let sampler = websocket_read(LIMIT);
    let open = |connection: &mut TcpStream| open_websocket(connection, "");
    // The upgrade response and the frame both arrive during the stall.
    let both = move |connection: &mut TcpStream| {
        open(connection);
        let _ = connection.write_all(b"\x81\x02ok");
    };
    let (port, asked) = server(both, IN_TIME);
    let (_, rows) = through_a_stall(&sampler, port, asked);
    assert!(rows.len() == 1 && rows[0].success, "{rows:?}");
    // The connection is already open, and only the frame arrives during the stall: in time, or too late.
    for (late, passes) in [(IN_TIME, true), (LATE, false)] {
        let opened = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&opened);
        let port = peer(move |connection| {
            open(connection);
            // After one second the client has received the upgrade response and waits for the frame.
            std::thread::sleep(Duration::from_secs(1));
            seen.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(late);
            let _ = connection.write_all(b"\x81\x02ok");
            stall(connection);
        });
        let (_, rows) = through_a_stall(&sampler, port, move || opened.load(Ordering::SeqCst) > 0);
        assert!(rows.len() == 1 && rows[0].success == passes, "{passes}: {rows:?}");
    }
}

#[test]
fn programs_that_end_in_time() {
    let trial = tempfile::tempdir().expect("a folder");
    let mark = trial.path().join("runs");
    let program = format!(
        r#"<SystemSampler guiclass="SystemSamplerGui" testclass="SystemSampler" testname="Program" enabled="true">
      <stringProp name="SystemSampler.command">sh</stringProp>
      <elementProp name="SystemSampler.arguments" elementType="Arguments">
        <collectionProp name="Arguments.arguments">
          <elementProp name="" elementType="Argument"><stringProp name="Argument.value">-c</stringProp></elementProp>
          <elementProp name="" elementType="Argument"><stringProp name="Argument.value">touch {}; sleep 0.3</stringProp></elementProp>
        </collectionProp>
      </elementProp>
      <longProp name="SystemSampler.timeout">2000</longProp>
    </SystemSampler><hashTree/>"#,
        mark.display()
    );
    let (_, rows) = through_a_stall(&program, 9, move || mark.exists());
    assert!(rows.len() == 1 && rows[0].success, "{rows:?}");
}

#[test]
fn heartbeats_of_websockets() {
    let beats = r#"<ConfigTestElement guiclass="SimpleConfigGui" testclass="ConfigTestElement" testname="Heartbeat" enabled="true">
      <stringProp name="throng.websocket.heartbeat.interval_ms">1000</stringProp>
      <stringProp name="throng.websocket.heartbeat.missed">1</stringProp>
    </ConfigTestElement><hashTree/>"#;
    // Pongs arrive during the stall, or never. A message arrives after the stall.
    for answers in [true, false] {
        let asked = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&asked);
        let port = peer(move |connection| {
            open_websocket(connection, "");
            let mut frame = [0; 6];
            let mut begun = None;
            while connection.read_exact(&mut frame).is_ok() && frame[0] == 0x89 {
                seen.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(IN_TIME);
                if answers && connection.write_all(b"\x8a\x00").is_err() {
                    return;
                }
                let begun = begun.get_or_insert_with(std::time::Instant::now);
                if begun.elapsed() > STILL && connection.write_all(b"\x81\x02ok").is_err() {
                    return;
                }
            }
            stall(connection);
        });
        let body = [beats, &websocket_read("60000")].concat();
        let (trial, rows) = through_a_stall(&body, port, || asked.load(Ordering::SeqCst) > 0);
        assert!(rows.len() == 1 && rows[0].success == answers, "{answers}: {rows:?}");
        let missed = trial.summary()["counters"]["heartbeats_missed"].as_u64().unwrap_or(0);
        assert_eq!(missed > 0, !answers, "{}", trial.summary());
    }
}

#[test]
fn datagrams_that_come_in_time() {
    for (late, passes) in [(IN_TIME, true), (LATE, false)] {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
        let port = socket.local_addr().expect("an address").port();
        let asked = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            let mut buffer = [0; 64];
            while let Ok((_, from)) = socket.recv_from(&mut buffer) {
                seen.fetch_add(1, Ordering::SeqCst);
                std::thread::sleep(late);
                let _ = socket.send_to(b"answer", from);
            }
        });
        let udp = [
            ("hostname", "127.0.0.1"),
            ("port", "${__P(port)}"),
            ("data", "78"),
            ("waitresponse", "true"),
            ("timeout", LIMIT),
        ];
        let body = element("kg.apc.jmeter.samplers.UDPSampler", &udp, "");
        let (_, rows) = through_a_stall(&body, port, move || asked.load(Ordering::SeqCst) > 0);
        assert!(rows.len() == 1 && rows[0].success == passes, "{passes}: {rows:?}");
    }
}

#[test]
fn answers_of_name_servers() {
    let names = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let names_port = names.local_addr().expect("an address").port();
    let asked = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&asked);
    std::thread::spawn(move || {
        let mut question = [0; 512];
        while let Ok((length, from)) = names.recv_from(&mut question) {
            seen.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(IN_TIME);
            // The DNS response repeats the question and adds one record: the address 127.0.0.1.
            let mut answer = question[..length].to_vec();
            answer[2..4].copy_from_slice(&[0x81, 0x80]);
            answer[7] = 1;
            answer.extend_from_slice(&[192, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 1]);
            let _ = names.send_to(&answer, from);
        }
    });
    let manager = r#"<DNSCacheManager testclass="DNSCacheManager" testname="Names" enabled="true"><boolProp name="DNSCacheManager.isCustomResolver">true</boolProp><collectionProp name="DNSCacheManager.servers"><stringProp name="1">127.0.0.1</stringProp></collectionProp></DNSCacheManager><hashTree/>"#;
    let port =
        peer(|connection| while request(connection) && connection.write_all(ANSWER).is_ok() {});
    let request = [("HTTPSampler.domain", "www.test"), ("HTTPSampler.connect_timeout", LIMIT)];
    let body = [http(&request, ""), manager.to_owned()].concat();
    let more =
        [format!("-Jthrong.dns.port={names_port}"), format!("-Jthrong.dns.timeout_ms={LIMIT}")];
    let waits = || asked.load(Ordering::SeqCst) > 0;
    let (_, rows) = through_a_stall_with(&body, port, &more.each_ref().map(|flag| &**flag), waits);
    assert!(rows.len() == 1 && rows[0].success, "{rows:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 1, "what was answered in time is not asked again");
}
