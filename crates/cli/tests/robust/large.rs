//! Responses larger than the part that Throng keeps: all bytes are counted, and memory stays bounded while they
//! arrive (`bench/bounds` judges the printed metrics).

use std::io::{Read, Write};
use std::net::TcpStream;

use wire::websocket::deflate::Deflater;
use wire::websocket::{Opcode, push_head};

use crate::asked_to_end::{interrupt_twice, until};
use crate::bars::bar;
use crate::element::{element, websocket_read};
use crate::peer::{endless, open_websocket, peer, request, stall};
use crate::trial::{JTL, Row, Trial, number};

/// Number of bytes of a response that Throng keeps. The server sends `SIZE` bytes. The program may use `MEMORY`
/// bytes, which are not enough for a whole response.
const KEPT: u64 = 1 << 20;
const SIZE: u64 = 400 << 20;
const MEMORY: u64 = 150 << 20;

const LIMIT: &str = "-Jhttpsampler.max_bytes_to_store_per_request=1048576";
const ANY_LIMIT: &str = "-Jthrong.response.most_bytes=1048576";

/// Elements that read the body; the Result Saver writes the kept part to a file such as `body1`.
const READERS: &str = r#"<ResponseAssertion guiclass="AssertionGui" testclass="ResponseAssertion" testname="Body" enabled="true">
    <collectionProp name="Asserion.test_strings"><stringProp name="1">nowhere in it</stringProp></collectionProp>
    <stringProp name="Assertion.test_field">Assertion.response_data</stringProp><intProp name="Assertion.test_type">20</intProp>
  </ResponseAssertion><hashTree/>
  <ResultSaver guiclass="ResultSaverGui" testclass="ResultSaver" testname="Save" enabled="true"><stringProp name="FileSaver.filename">body</stringProp><boolProp name="FileSaver.skipsuffix">true</boolProp></ResultSaver><hashTree/>"#;

/// Writes `size` bytes to the connection. Returns false if the client closed it.
fn pour(connection: &mut TcpStream, size: u64) -> bool {
    let block = vec![b'x'; 1 << 20];
    (0..size >> 20).all(|_| connection.write_all(&block).is_ok())
}

fn is_bounded(trial: &Trial, what: &str) {
    let peak = number(&trial.summary()["generator"], "rss_peak");
    bar(what, peak >> 20, MEMORY >> 20, "MiB");
}

/// Runs the plan for one sample, asserts that `kept` bytes of its body were kept, and returns its row.
fn one(trial: &Trial, kept: u64, more: &[&str]) -> Row {
    let line = ["-n", "-t", "http.jmx", "-l", JTL, "-Jusers=1", "-Jloops=1"];
    let ended = trial.run(&[&line[..], more].concat());
    let rows = trial.rows();
    assert_eq!((ended.code, rows.len()), (0, 1), "{ended:?}");
    is_bounded(trial, &format!("{:?} {more:?}", rows[0]));
    let saved = std::fs::metadata(trial.program.path("body1")).expect("a file with what is kept");
    assert_eq!(saved.len(), kept, "{:?} {more:?}", rows[0]);
    rows[0].clone()
}

#[test]
fn http_bodies() {
    let length = peer(|connection| {
        request(connection);
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {SIZE}\r\n\r\n");
        let _ = connection.write_all(head.as_bytes());
        pour(connection, SIZE);
        stall(connection);
    });
    let chunked = peer(|connection| {
        request(connection);
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        let _ = connection.write_all(head.as_bytes());
        let chunk = [&b"100000\r\n"[..], &vec![b'x'; 1 << 20], b"\r\n"].concat();
        let _ = (0..SIZE >> 20).all(|_| connection.write_all(&chunk).is_ok());
        let _ = connection.write_all(b"0\r\n\r\n");
        stall(connection);
    });
    for (port, more) in [(length, LIMIT), (chunked, LIMIT), (length, ANY_LIMIT)] {
        let row = one(&Trial::with(READERS), KEPT, &[&format!("-Jport={port}"), more]);
        assert!(row.success && row.bytes > SIZE && row.bytes < SIZE + 10_000, "{row:?}");
    }
}

#[test]
fn bodies_that_are_small_only_on_the_wire() {
    // 400 MiB of equal bytes compress to almost nothing. The decompressed body is kept up to the limit.
    let mut packed = Vec::new();
    let mut deflater = Deflater::new(9, 15);
    let block = vec![b'x'; 16 << 20];
    for _ in 0..SIZE / (16 << 20) {
        let mut part = Vec::new();
        deflater.message(None, &block, &mut part);
        // Restores the end marker that the deflater removes from each part.
        packed.extend_from_slice(&part);
        packed.extend_from_slice(&[0, 0, 0xff, 0xff]);
    }
    let port = peer(move |connection| {
        while request(connection) {
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\nContent-Length: {}\r\n\r\n",
                packed.len()
            );
            let _ = connection.write_all(&[head.as_bytes(), &packed].concat());
        }
    });
    let row = one(&Trial::with(READERS), KEPT, &[&format!("-Jport={port}"), LIMIT]);
    assert!(row.success && row.bytes < KEPT, "{row:?}");
}

#[test]
fn bodies_without_an_end() {
    let port = endless(b"HTTP/1.1 200 OK\r\n\r\n", b"endless ");
    let trial = Trial::with(READERS);
    let child = trial.start(port, &[LIMIT]);
    until("some hundred megabytes", || {
        let seconds = trial.seconds();
        let sum = |second: &serde_json::Value| second["counters"]["bytes_in"].as_u64();
        seconds.iter().filter_map(sum).sum::<u64>() > SIZE
    });
    interrupt_twice(&trial, &child);
    let ended = trial.finish(child);
    assert_eq!(ended.code, 130, "{ended:?}");
    is_bounded(&trial, "endless");
}

#[test]
fn answers_of_other_samplers() {
    let port = peer(|connection| {
        let _ = connection.read(&mut [0; 1024]);
        pour(connection, SIZE);
    });
    let port = port.to_string();
    let tcp = [
        ("TCPSampler.server", "127.0.0.1"),
        ("TCPSampler.port", &port),
        ("TCPSampler.request", "x"),
    ];
    let binary = ("TCPSampler.classname", "BinaryTCPClientImpl");
    let hex = [&tcp[..2], &[("TCPSampler.request", "00"), binary]].concat();
    let raw = [("hostname", "127.0.0.1"), ("port", &*port), ("data", "x"), ("timeout", "60000")];
    let row = one(&Trial::doing(&element("TCPSampler", &tcp, READERS)), KEPT, &[ANY_LIMIT]);
    assert!(row.success && row.bytes == SIZE, "{row:?}");
    // The hexadecimal reader returns two digits per byte.
    let row = one(&Trial::doing(&element("TCPSampler", &hex, READERS)), KEPT, &[ANY_LIMIT]);
    assert!(row.success && row.bytes == 2 * SIZE, "{row:?}");
    let class = "kg.apc.jmeter.samplers.HTTPRawSampler";
    let row = one(&Trial::doing(&element(class, &raw, READERS)), KEPT, &[ANY_LIMIT]);
    assert!(row.success && row.bytes == SIZE, "{row:?}");
}

#[test]
fn a_length_before_a_message_that_never_comes() {
    let port = peer(|connection| {
        let _ = connection.read(&mut [0; 1024]);
        let _ = connection.write_all(&[0x7f, 0xff, 0xff, 0xff, 1, 2, 3]);
    });
    let prefixed = [
        ("TCPSampler.server", "127.0.0.1"),
        ("TCPSampler.port", &port.to_string()),
        ("TCPSampler.classname", "LengthPrefixedBinaryTCPClientImpl"),
        ("TCPSampler.request", "00"),
    ];
    let more = [ANY_LIMIT, "-Jtcp.binarylength.prefix.length=4"];
    let row = one(&Trial::doing(&element("TCPSampler", &prefixed, READERS)), KEPT, &more);
    assert_eq!(row.bytes, 2 * 0x7fff_ffff, "{row:?}");
}

#[test]
fn what_programs_write() {
    let program = r#"<SystemSampler guiclass="SystemSamplerGui" testclass="SystemSampler" testname="Program" enabled="true">
      <stringProp name="SystemSampler.command">sh</stringProp>
      <elementProp name="SystemSampler.arguments" elementType="Arguments">
        <collectionProp name="Arguments.arguments">
          <elementProp name="" elementType="Argument"><stringProp name="Argument.value">-c</stringProp></elementProp>
          <elementProp name="" elementType="Argument"><stringProp name="Argument.value">yes | head -c 419430400</stringProp></elementProp>
        </collectionProp>
      </elementProp>
    </SystemSampler><hashTree>READERS</hashTree>"#;
    let trial = Trial::doing(&program.replace("READERS", READERS));
    let row = one(&trial, KEPT, &[ANY_LIMIT, "-Jthrong.processes.allowed=true"]);
    assert!(row.success && row.bytes == SIZE, "{row:?}");
}

#[test]
fn files() {
    let trial = Trial::doing(&element(
        "HTTPSamplerProxy",
        &[("HTTPSampler.protocol", "file"), ("HTTPSampler.path", "${__P(path)}")],
        READERS,
    ));
    let file = std::fs::File::create(trial.program.path("large")).expect("a file");
    file.set_len(SIZE).expect("a sparse one");
    let path = format!("-Jpath={}", trial.program.path("large").display());
    let row = one(&trial, KEPT, &[&path, LIMIT]);
    assert!(row.success && row.bytes == SIZE, "{row:?}");
}

/// Starts a WebSocket server with compression. `say` writes frames to each connection.
fn websocket(say: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> u16 {
    peer(move |connection| {
        open_websocket(
            connection,
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
        );
        say(connection);
        stall(connection);
    })
}

/// Returns the head of a frame of `length` bytes.
fn head(fin: bool, compressed: bool, opcode: Opcode, length: u64) -> Vec<u8> {
    let mut head = Vec::new();
    push_head(&mut head, fin, compressed, opcode, length as usize, None);
    head
}

/// Opens a connection to the port and reads once or holds it. Returns the last row and the peak memory in bytes.
fn reads(port: u16, hold: bool, more: &[&str]) -> (Row, u64) {
    let port = format!("-Jport={port}");
    let extensions = r#"<HeaderManager testclass="HeaderManager" testname="Headers" enabled="true"><collectionProp name="HeaderManager.headers"><elementProp name="" elementType="Header"><stringProp name="Header.name">Sec-WebSocket-Extensions</stringProp><stringProp name="Header.value">permessage-deflate; server_no_context_takeover; client_no_context_takeover</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>"#;
    let sampler = websocket_read("20000");
    let holding = r#"<TestAction guiclass="TestActionGui" testclass="TestAction" testname="hold" enabled="true"><intProp name="ActionProcessor.action">1</intProp><intProp name="ActionProcessor.target">0</intProp><stringProp name="ActionProcessor.duration">60000</stringProp></TestAction><hashTree><ConfigTestElement guiclass="SimpleConfigGui" testclass="ConfigTestElement" testname="hold" enabled="true"><stringProp name="throng.websocket.hold.match"></stringProp></ConfigTestElement><hashTree/></hashTree>"#;
    let holding = if hold { holding } else { "" };
    let trial = Trial::doing(&[extensions, &sampler, holding].concat());
    let line = ["-n", "-t", "http.jmx", "-l", JTL, "-Jusers=1", "-Jloops=1", &port];
    let ended = trial.run(&[&line[..], more].concat());
    let rows = trial.rows();
    assert_eq!((ended.code, rows.len()), (0, 1 + usize::from(hold)), "{ended:?}");
    let peak = number(&trial.summary()["generator"], "rss_peak");
    (rows[rows.len() - 1].clone(), peak)
}

#[test]
fn websocket_frames() {
    // A frame header may announce up to the limit (512 MiB by default); a longer frame is a protocol error.
    for (length, limit, refused) in
        [((512 << 20) + 1, "-Jx=1", true), (KEPT + 1, ANY_LIMIT, true), (KEPT, ANY_LIMIT, false)]
    {
        let port = websocket(move |connection| {
            let _ = connection.write_all(&head(true, false, Opcode::BINARY, length));
            pour(connection, length);
        });
        let (row, peak) = reads(port, false, &[limit]);
        assert_eq!(row.message.contains("protocol error"), refused, "{length}: {row:?}");
        bar(&format!("WebSocket frame of {length} bytes"), peak >> 20, MEMORY >> 20, "MiB");
    }
}

#[test]
fn websocket_messages_that_are_compressed() {
    // Compressed messages are bounded in both forms: as many small frames, and as the decompressed message.
    let fragments = websocket(|connection| {
        let part = vec![0x5a; 256 << 10];
        let mut opcode = Opcode::BINARY;
        for _ in 0..SIZE / part.len() as u64 {
            let frame =
                [head(false, opcode == Opcode::BINARY, opcode, part.len() as u64), part.clone()];
            if connection.write_all(&frame.concat()).is_err() {
                return;
            }
            opcode = Opcode::CONTINUATION;
        }
    });
    let bomb = websocket(|connection| {
        let mut packed = Vec::new();
        Deflater::new(9, 15).message(None, &vec![b'x'; 64 << 20], &mut packed);
        let frame = [head(true, true, Opcode::BINARY, packed.len() as u64), packed];
        let _ = connection.write_all(&frame.concat());
    });
    for (port, what) in [(fragments, "fragments"), (bomb, "bomb")] {
        let (row, peak) = reads(port, what == "fragments", &[ANY_LIMIT]);
        assert!(!row.success, "{what}: {row:?}");
        bar(what, peak >> 20, MEMORY >> 20, "MiB");
        if what == "bomb" {
            assert!(row.message.contains("throng.response.most_bytes"), "{row:?}");
        }
    }
}
