//! Measurements of the generator itself in a run's record: the disk, the JVM, retransmitted segments, and stops of
//! the whole process.

mod program;

use std::io::{Read, Write};
use std::process::Command;
use std::time::{Duration, Instant};

use program::{PLAN, Program, quiet};
use record::{ClassName, Record};
use rustix::net::{AddressFamily, SocketType};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

quiet! {
    rows_that_wait_for_a_slow_disk_and_the_time_in_writing_are_recorded,
    the_java_heap_and_its_collections_are_recorded_and_long_pauses_found,
    a_stop_of_the_whole_process_is_told_with_what_it_did_to_response_times,
}

const NEVER: Duration = Duration::from_secs(60);

/// A plan whose user sends requests to a port of this machine.
const ASKING: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Test Plan" enabled="true"/><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users" enabled="true">
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">${__P(loops,2)}</stringProp></elementProp>
  <stringProp name="ThreadGroup.num_threads">${__P(users,1)}</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
  <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
</ThreadGroup><hashTree>
  <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Ask" enabled="true">
    <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">${__P(port)}</stringProp>
    <stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
    <boolProp name="HTTPSampler.use_keepalive">true</boolProp>
    <stringProp name="HTTPSampler.connect_timeout">${__P(limit,)}</stringProp>
  </HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>
"#;

fn seconds(program: &Program) -> Vec<Value> {
    let Ok(mut folders) = std::fs::read_dir(program.path("runs")) else { return Vec::new() };
    let Some(Ok(folder)) = folders.next() else { return Vec::new() };
    let text = std::fs::read_to_string(folder.path().join("seconds.jsonl")).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn summary(program: &Program) -> Value {
    let text = std::fs::read_to_string(program.run_folder().join("summary.json"));
    serde_json::from_str(&text.expect("a summary")).expect("JSON")
}

/// Waits until a recorded second of a running test satisfies the condition.
fn wait(program: &Program, what: impl Fn(&Value) -> bool) {
    let since = Instant::now();
    while !seconds(program).iter().any(&what) {
        assert!(since.elapsed() < NEVER, "{:?}", seconds(program));
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn rows_that_wait_for_a_slow_disk_and_the_time_in_writing_are_recorded() {
    let program = Program::new();
    let pipe = program.path("rows");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    // The reader takes the first byte and then waits for a message before it reads the rest.
    let (go_on, wait_for) = std::sync::mpsc::channel::<()>();
    let reading = std::thread::spawn(move || {
        let mut rows = std::fs::File::open(pipe).expect("the pipe");
        rows.read_exact(&mut [0]).expect("a byte");
        let _ = wait_for.recv();
        let mut rest = Vec::new();
        rows.read_to_end(&mut rest).expect("the rest");
    });
    let line = "run plan.jmx --runs runs -Jusers=20 -Jloops=-1 -Jms=1 -l rows";
    let mut child = program.start(&line.split(' ').collect::<Vec<_>>());
    wait(&program, |second| {
        second["rows_waiting"].as_u64() > Some(0) && second["write_s"].as_f64() > Some(0.5)
    });
    signal(&child, Signal::INT);
    drop(go_on);
    child.wait().expect("it ends");
    reading.join().expect("all rows");
    let record = Record::read(&program.run_folder()).expect("a record");
    let slow = record
        .seconds
        .iter()
        .filter(|second| second.generator.rows_waiting > 0 && second.generator.write_s > 0.5);
    assert!(slow.count() > 0);
    let course = &summary(&program)["course"];
    assert!(course["rows_waiting_peak"].as_u64() > Some(0), "{course}");
    assert!(course["write_s"].as_f64() > Some(0.5), "{course}");
}

/// A Groovy script that creates garbage for two seconds while two thirds of the heap are in use.
const GARBAGE: &str = "def kept = (1..60).collect { new byte[1 << 20] }; def end = System.nanoTime() + 2200000000L; \
     while (System.nanoTime() &lt; end) { new byte[1 << 20] }; return kept.size() as String";

fn the_java_heap_and_its_collections_are_recorded_and_long_pauses_found() {
    let found = Program::new().run(&["jvm", "status"]);
    if found.code != 0 {
        program::skip(&found.out);
        return;
    }
    let script = format!(
        "<JSR223Sampler guiclass=\"TestBeanGUI\" testclass=\"JSR223Sampler\" testname=\"Script\"><stringProp name=\"scriptLanguage\">groovy</stringProp>\
         <stringProp name=\"cacheKey\">true</stringProp><stringProp name=\"script\">{}</stringProp></JSR223Sampler><hashTree/>",
        GARBAGE.replace("<<", "&lt;&lt;")
    );
    for (way, processes) in [("--jvm-heap=96m", 1), ("--jvm-heap=96m --workers=2 -Jusers=2", 2)] {
        let program = Program::new();
        program.write("script.jmx", &PLAN.replace("<!--more-->", &script));
        let line = format!("run script.jmx --runs runs {way}");
        let ended = program.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(ended.code, 0, "{ended:?}");
        let record = Record::read(&program.run_folder()).expect("a record");
        let generators = record.seconds.iter().map(|second| second.generator);
        let heap = generators.clone().filter_map(|one| one.heap).max().expect("a heap");
        let least = (60 << 20) * processes;
        assert!(heap.0 > least && heap.0 <= heap.1 && heap.1 <= (96 << 20) * processes, "{heap:?}");
        assert!(generators.clone().map(|one| one.collections).sum::<u64>() > 10);
        let paused: f64 = generators.map(|one| one.collection_s).sum();
        assert!(paused > 0.0);
        let summary = summary(&program);
        let java = &summary["course"]["java"];
        assert!((java["pause_ms"].as_f64().unwrap() - paused * 1000.0).abs() < 1.0, "{java}");
        assert!(seconds(&program).iter().any(|s| s["java"]["collections"].as_u64() > Some(0)));
        // The collector copies or marks two thirds of the heap repeatedly, which takes most of the time.
        let verdict = &summary["verdict"];
        let spoke =
            verdict["findings"].as_array().unwrap().iter().any(|f| f["id"] == "java_pauses");
        assert!(spoke, "{java} {verdict}");
    }
}

/// Returns a listener with a full accept queue, so that the kernel drops SYN packets of further connections.
fn full() -> (impl Sized, u16) {
    let listener = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    let any: std::net::SocketAddr = "127.0.0.1:0".parse().unwrap();
    rustix::net::bind(&listener, &any).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    let to = rustix::net::getsockname(&listener).unwrap();
    let to = std::net::SocketAddr::try_from(to).expect("an address");
    let wait = Duration::from_millis(300);
    let waiting: Vec<_> =
        (0..4).map_while(|_| std::net::TcpStream::connect_timeout(&to, wait).ok()).collect();
    ((listener, waiting), to.port())
}

#[test]
fn segments_that_open_connections_again_are_counted_by_destination() {
    let (_full, port) = full();
    let program = Program::new();
    program.write("asking.jmx", ASKING);
    let line = format!("run asking.jmx --runs runs -Jport={port} -Jlimit=2600 -Jloops=2");
    let ended = program.run(&line.split(' ').collect::<Vec<_>>());
    assert_eq!(ended.code, 0, "{ended:?}");
    let folder = program.run_folder();
    let log = std::fs::read_to_string(folder.join("throng.log")).expect("the log");
    if log.contains("the kernel gives no list of sockets") {
        program::skip("the kernel gives no list of sockets here");
        return;
    }
    let to = format!("127.0.0.1:{port}");
    let record = Record::read(&folder).expect("a record");
    let is = |name: &ClassName| matches!(name, ClassName::Address(address) if **address == *to);
    let number = record.classes.iter().position(is).expect("the address") as u32;
    let classes = record.seconds.iter().flat_map(|second| &second.classes);
    let of = classes.filter(|class| class.0 == number);
    let (syn, all, count) = of.fold((0, 0, 0), |sum, (_, class)| {
        (sum.0 + class.syn_retransmitted, sum.1 + class.retransmitted, sum.2 + class.count)
    });
    assert!(syn > 0 && all == syn && count == 2, "{syn} of {all}, {count} exchanges");
    let listed: u64 = seconds(&program)
        .iter()
        .flat_map(|second| second["retransmits"].as_array().cloned().unwrap_or_default())
        .filter(|one| one["to"] == *to)
        .map(|one| one["syn"].as_u64().unwrap())
        .sum();
    assert_eq!(listed, syn);
    assert_eq!(summary(&program)["course"]["retransmits"][0]["syn"], syn);
}

/// Starts a server that answers each request immediately and keeps connections open.
fn answering() -> u16 {
    let target = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = target.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for connection in target.incoming().flatten() {
            std::thread::spawn(move || answer(connection));
        }
    });
    port
}

fn answer(mut connection: std::net::TcpStream) -> std::io::Result<()> {
    let mut text = Vec::<u8>::new();
    let mut buffer = [0; 4096];
    loop {
        match connection.read(&mut buffer)? {
            0 => return Ok(()),
            n => text.extend(&buffer[..n]),
        }
        while let Some(end) = text.windows(4).position(|four| four == b"\r\n\r\n") {
            text.drain(..end + 4);
            std::thread::sleep(Duration::from_millis(20));
            connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")?;
        }
    }
}

fn signal(child: &std::process::Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("it runs");
}

fn a_stop_of_the_whole_process_is_told_with_what_it_did_to_response_times() {
    let port = answering();
    for more in [&[][..], &["--workers", "2"]] {
        let program = Program::new();
        program.write("asking.jmx", ASKING);
        let port = format!("-Jport={port}");
        let line = ["run", "asking.jmx", "--runs", "runs", "-Jusers=4", "-Jloops=-1", &port];
        let mut child = program.start(&[&line, more].concat());
        let requests = |least: u64| {
            wait(&program, |second| second["samples"].as_u64() >= Some(least));
        };
        requests(20);
        // With several processes, only one worker is stopped and the others keep running.
        let stopped = match more {
            [] => Pid::from_child(&child),
            _ => worker(child.id()),
        };
        kill_process(stopped, Signal::STOP).expect("it runs");
        std::thread::sleep(Duration::from_millis(2500));
        kill_process(stopped, Signal::CONT).expect("it is there");
        wait(&program, |second| second["stalled"].as_u64() > Some(0));
        let many = seconds(&program).len() + 2;
        let since = Instant::now();
        while seconds(&program).len() < many && since.elapsed() < NEVER {
            std::thread::sleep(Duration::from_millis(50));
        }
        signal(&child, Signal::INT);
        child.wait().expect("it ends");
        let record = Record::read(&program.run_folder()).expect("a record");
        let worst = record.seconds.iter().max_by_key(|second| second.generator.stall).unwrap();
        assert!(worst.generator.stall >= 2_000_000_000, "{:?}", worst.generator);
        let stalled: u64 = record.seconds.iter().map(|second| second.stalled.count).sum();
        let times: u64 = record.seconds.iter().map(|second| second.stalled.response.total()).sum();
        // Each user has one request in flight or is about to start one. The machine may add short stalls.
        let users = if more.is_empty() { 4 } else { 2 };
        assert!(stalled >= users && times == stalled, "{stalled} {times}");
        let summary = summary(&program);
        assert_eq!(summary["course"]["stalled_samples"], stalled);
        let findings = summary["verdict"]["findings"].as_array().unwrap();
        let found = findings.iter().find(|found| found["id"] == "generator_stalled");
        let found = found.unwrap_or_else(|| panic!("{findings:?}"));
        let evidence = |metric: &str| -> f64 {
            let all = found["evidence"].as_array().unwrap();
            let one = all.iter().find(|one| one["metric"] == metric).unwrap();
            one["value"].as_f64().unwrap()
        };
        assert!((evidence("stalled_samples") - stalled as f64).abs() < 0.5);
        let (with, without) = (evidence("response_mean"), evidence("response_mean_without"));
        assert!(with > without + 1.0, "{with} {without}");
        assert!(found["words"]["en"].as_str().unwrap().contains("without them"), "{found}");
    }
}

/// Returns one worker process of the program `of`.
fn worker(of: u32) -> Pid {
    let children = std::fs::read_to_string(format!("/proc/{of}/task/{of}/children"));
    let children = children.expect("the children of a process");
    let mut numbers = children.split_ascii_whitespace().filter_map(|n| n.parse::<i32>().ok());
    Pid::from_raw(numbers.next().expect("a worker")).expect("a process")
}

#[test]
fn each_user_has_a_local_address_of_its_own() {
    let target = std::net::TcpListener::bind("0.0.0.0:0").expect("a port");
    let port = format!("-Jport={}", target.local_addr().expect("an address").port());
    // The server closes each connection after one response, so each request uses a new connection.
    let closing = |(mut connection, from): (std::net::TcpStream, std::net::SocketAddr)| {
        std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            let _ = connection.read(&mut buffer);
            std::thread::sleep(Duration::from_millis(100));
            let _ = connection
                .write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
        });
        from.ip().to_string()
    };
    let program = Program::new();
    program.write("asking.jmx", ASKING);
    let line = ["run", "asking.jmx", "-Jusers=4", "-Jloops=3", &port, "--cores", "1", "--source"];
    let mut child = program.start(&[&line[..], &["127.0.0.2-127.0.0.5"]].concat());
    let mut from: Vec<String> =
        (0..12).map(|_| closing(target.accept().expect("a connection"))).collect();
    assert!(child.wait().expect("it ends").success());
    from.sort();
    let each = ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"].map(|address| [address; 3]);
    assert_eq!(from, each.concat());
}
