//! `--out`: metrics of a running test reach other systems, and a system that refuses them does not disturb the run.
//!
//! A test server replaces InfluxDB 2 and OpenTelemetry's collector and accepts what their documentation specifies.
//! `tests/tools/exports` tests with real InfluxDB 1 and Prometheus servers.

mod program;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use program::{Program, free_port};
use serde_json::Value;

/// A received HTTP message: head and body.
type Message = (String, Vec<u8>);

/// Starts a server that keeps every message and answers message number `n` with the status `status(n)`.
fn server(status: fn(usize) -> &'static str) -> (u16, Arc<Mutex<Vec<Message>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let messages: Arc<Mutex<Vec<Message>>> = Arc::default();
    let kept = Arc::clone(&messages);
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let kept = Arc::clone(&kept);
            std::thread::spawn(move || while take(&socket, &kept, status).is_some() {});
        }
    });
    (port, messages)
}

fn take(
    mut socket: &TcpStream,
    kept: &Mutex<Vec<Message>>,
    status: fn(usize) -> &'static str,
) -> Option<()> {
    let mut reader = BufReader::new(socket);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        (reader.read_line(&mut head).ok()? > 0).then_some(())?;
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("content-length").then(|| value.parse().ok())?
    });
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let mut kept = kept.lock().expect("no panic");
    let answer = format!("HTTP/1.1 {}\r\nContent-Length: 0\r\n\r\n", status(kept.len()));
    kept.push((head, body));
    drop(kept);
    socket.write_all(answer.as_bytes()).ok()
}

#[test]
fn influxdb_2_gets_lines_with_its_token() {
    // The server refuses the first message, so Throng must resend it.
    let (port, messages) = server(|n| if n == 0 { "503 Busy" } else { "204 No Content" });
    let program = Program::new();
    let target = format!(
        "influxdb=http://127.0.0.1:{port}/api/v2/write?org=o&bucket=b,interval=1s,application=my shop"
    );
    let ended = program
        .command(&["run", "plan.jmx", "-Jms=100", "-Jloops=25", "--out", &target])
        .env("THRONG_INFLUXDB_TOKEN", "hidden-token")
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&ended.stdout).into_owned()
        + &String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert!(!said.contains("hidden-token") && !said.contains("not delivered"), "{said}");
    assert!(said.contains("HTTP status 503") && said.contains("retrying"), "{said}");
    let messages = messages.lock().expect("no panic");
    let (head, _) = &messages[0];
    assert!(head.starts_with("POST /api/v2/write?org=o&bucket=b HTTP/1.1\r\n"), "{head}");
    assert!(head.to_lowercase().contains("authorization: token hidden-token\r\n"), "{head}");
    let text: String = messages[1..].iter().map(|one| String::from_utf8_lossy(&one.1)).collect();
    let counts = text.lines().filter_map(|line| {
        let fields =
            line.strip_prefix("jmeter,application=my\\ shop,transaction=Sleep,statut=all ")?;
        fields.strip_prefix("count=")?.split(',').next()?.parse::<u64>().ok()
    });
    assert_eq!(counts.sum::<u64>(), 25, "every sample is told once: {text}");
    for words in ["plan started", "plan ended", "transaction=internal minAT="] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
}

#[test]
fn over_https_a_certificate_must_be_believed() {
    let program = Program::new();
    let root = program.path("root.pem").display().to_string();
    let start = |names: &str| {
        let certificate = root.clone();
        let tls = targets::TlsConfig { names: names.to_owned(), certificate, ..Default::default() };
        targets::start(targets::Config::new("fixed").tls(tls)).expect("a target")
    };
    let run = |port: u16, options: &str| {
        let target = format!("influxdb=https://127.0.0.1:{port}/write?db=b,interval=1s{options}");
        let ended = program.run(&["run", "plan.jmx", "-Jms=10", "--out", &target]);
        (ended.code, ended.out + &ended.err)
    };
    let target = start("127.0.0.1");
    let (code, said) = run(target.addr().port(), ",ca=root.pem");
    assert_eq!(code, 0, "{said}");
    assert!(!said.contains("certificate") && !said.contains("not delivered"), "{said}");
    // Without `ca`, the machine's root certificates do not include the issuer.
    let (code, said) = run(target.addr().port(), "");
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("the issuer of the server's certificate is unknown")
            && said.contains(",ca=FILE"),
        "{said}"
    );
    assert!(said.contains("not delivered"), "{said}");
    // The server's certificate names another host, so Throng refuses the connection.
    let other = start("other.example");
    let (code, said) = run(other.addr().port(), ",ca=root.pem");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("certificate is rejected") && said.contains("127.0.0.1"), "{said}");
    for (file, words) in
        [("nowhere.pem", "ca=nowhere.pem"), ("plan.jmx", "no certificate in PEM format")]
    {
        let (code, said) = run(1, &format!(",ca={file}"));
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_collector_of_opentelemetry_gets_sums_and_histograms() {
    let (port, messages) = server(|_| "200 OK");
    let program = Program::new();
    let target = format!("otlp=http://127.0.0.1:{port},interval=1s");
    let ended = program
        .command(&["run", "plan.jmx", "-Jms=100", "-Jloops=15", "--out", &target])
        .env("OTEL_EXPORTER_OTLP_HEADERS", "api-key=a%20key")
        .output()
        .expect("it runs");
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    let messages = messages.lock().expect("no panic");
    let (head, body) = messages.last().expect("messages");
    assert!(head.starts_with("POST /v1/metrics HTTP/1.1\r\n"), "{head}");
    let small = head.to_lowercase();
    assert!(small.contains("content-type: application/json\r\n"), "{head}");
    assert!(small.contains("api-key: a key\r\n"), "{head}");
    let json: Value = serde_json::from_slice(body).expect("JSON");
    let metrics = &json["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
    let named = |name: &str| {
        let metrics = metrics.as_array().expect("metrics");
        metrics
            .iter()
            .find(|metric| metric["name"] == name)
            .unwrap_or_else(|| panic!("{name}: {json}"))
    };
    let points = &named("throng.samples")["sum"]["dataPoints"];
    let ok = points.as_array().expect("points").iter().map(|point| point["asDouble"].as_f64());
    assert_eq!(ok.map(Option::unwrap_or_default).sum::<f64>(), 15.0);
    assert_eq!(named("throng.sample_elapsed")["histogram"]["dataPoints"][0]["count"], "15");
}

#[test]
fn a_target_that_is_down_costs_the_run_nothing() {
    let port = free_port();
    let program = Program::new();
    let (influx, otlp) = (
        format!("influxdb=http://u:hidden@127.0.0.1:{port}/db"),
        format!("otlp=http://127.0.0.1:{port}"),
    );
    let start = Instant::now();
    let ended = program.run(&["run", "plan.jmx", "-Jloops=5", "--out", &influx, "--out", &otlp]);
    assert!(start.elapsed() < Duration::from_secs(60), "the end waits 5 s");
    assert_eq!(ended.code, 0, "{ended:?}");
    let said = ended.out + &ended.err;
    for kind in ["influxdb", "otlp"] {
        let lost = format!("warning: {kind} at http://127.0.0.1:{port}");
        assert!(said.contains(&lost), "{said}");
    }
    assert_eq!(said.matches("not delivered").count(), 2, "{said}");
    assert!(said.contains("no program listens") && !said.contains("hidden"), "{said}");
}

#[test]
fn the_endpoint_answers_while_the_run_lasts() {
    let port = free_port();
    let program = Program::new();
    let target = format!("prometheus=:{port}");
    let mut child = program
        .command(&["run", "plan.jmx", "-Jms=100", "-Jloops=600", "--out", &target])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    let start = Instant::now();
    let mut text = String::new();
    while !text.contains("throng_samples_total{label=\"Sleep\",kind=\"request\",result=\"ok\"}") {
        assert!(start.elapsed() < Duration::from_secs(50), "figures are there: {text}");
        std::thread::sleep(Duration::from_millis(50));
        text.clear();
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { continue };
        let _ = stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let _ = stream.read_to_string(&mut text);
    }
    let _ = child.kill();
    let _ = child.wait();
    assert!(
        text.starts_with("HTTP/1.1 200 OK\r\n") && text.contains("\nthrong_users 1\n"),
        "{text}"
    );
}

#[test]
fn mistakes_end_the_run_before_it_starts() {
    let program = Program::new();
    for (out, words) in [
        ("influx=http://u:hidden@h/db", "unknown kind influx"),
        ("influxdb=http://u:hidden@h", "append the name of the database"),
        ("prometheus=nowhere:1", "for example :9464"),
    ] {
        let ended = program.run(&["run", "plan.jmx", "--out", out]);
        let said = ended.out + &ended.err;
        assert!(
            ended.code == 2 && said.contains(words) && !said.contains("hidden"),
            "{out}: {said}"
        );
    }
    program.write("throng.toml", "out = [\"prometheus=1\", \"otlp=ftp://h\"]\n");
    let ended = program.run(&["run", "plan.jmx"]);
    let said = ended.out + &ended.err;
    assert!(
        ended.code == 2 && said.contains("line 1: --out otlp: expected an http or https URL"),
        "{said}"
    );
}
