//! Redis Data Sets: each iteration reads a value from a Redis server into variables.

mod program;

use program::{Ended, Program};

/// Returns a plan whose sampler names contain the variables `a` and `b`, with a Redis Data Set of these properties.
fn plan(port: u16, props: &[(&str, &str)]) -> String {
    let port = port.to_string();
    let usual = [
        ("host", "127.0.0.1"),
        ("port", &port),
        ("redisKey", "k"),
        ("variableNames", "a,b"),
        ("delimiter", ","),
        ("recycleDataOnUse", "false"),
        ("redisDataType", "0"),
        ("maxActive", "20"),
        ("maxWait", "30000"),
        ("blockWhenExhausted", "true"),
        ("timeout", "60000"),
    ];
    let mut all: Vec<(&str, &str)> =
        usual.into_iter().filter(|(name, _)| !props.iter().any(|(own, _)| own == name)).collect();
    all.extend_from_slice(props);
    let all: String = all
        .iter()
        .map(|(name, value)| format!("<stringProp name=\"{name}\">{value}</stringProp>"))
        .fold(String::new(), |all, one| all + &one);
    let set = format!(
        "<kg.apc.jmeter.config.redis.RedisDataSet guiclass=\"TestBeanGUI\" \
         testclass=\"kg.apc.jmeter.config.redis.RedisDataSet\" testname=\"Values\" enabled=\"true\">\
         {all}</kg.apc.jmeter.config.redis.RedisDataSet><hashTree/>"
    );
    program::PLAN
        .replace("testname=\"Sleep\"", "testname=\"${a}-${b}\"")
        .replace("<!--more-->", &set)
}

fn run(program: &Program, plan: &str, users: u32, loops: i32) -> Ended {
    program.write("redis.jmx", plan);
    let (users, loops) = (format!("-Jusers={users}"), format!("-Jloops={loops}"));
    program.run(&["-n", "-t", "redis.jmx", "-l", "out.jtl", "-j", "log", &users, &loops])
}

/// Returns the labels of all samples, sorted.
fn labels(program: &Program) -> Vec<String> {
    let Ok(rows) = std::fs::read_to_string(program.path("out.jtl")) else { return Vec::new() };
    let label = |row: &str| row.split(',').nth(2).map(str::to_owned);
    let mut labels: Vec<String> = rows.lines().skip(1).filter_map(label).collect();
    labels.sort();
    labels
}

fn config(values: &[&str], key: &str) -> targets::Config {
    values.iter().fold(targets::Config::new("redis"), |config, value| {
        config.option(key, format!("k={value}"))
    })
}

/// Returns the log of a run that ended successfully.
fn log(program: &Program, ended: &Ended) -> String {
    assert_eq!(ended.code, 0, "{ended:?}");
    program.read("log")
}

#[test]
fn each_iteration_has_a_value_of_its_own_and_the_end_of_data_ends_threads() {
    let values = ["1,x", "2,y", "3,z,more", "4"];
    let target = targets::start(config(&values, "list")).expect("a target");
    let program = Program::new();
    let ended = run(&program, &plan(target.addr().port(), &[]), 3, -1);
    let log = log(&program, &ended);
    let labels = labels(&program);
    assert_eq!(labels[..3], ["1-x", "2-y", "3-z"], "{labels:?} {log}");
    // The last list entry has only one value, so the second variable keeps its earlier value, if any.
    assert!(labels.len() == 4 && labels[3].starts_with("4-"), "{labels:?} {log}");
    assert_eq!(log.matches("End of redis data detected").count(), 3, "{log}");
}

#[test]
fn a_host_is_found_by_name() {
    let target = targets::start(config(&["1,x", "2,y"], "list")).expect("a target");
    let program = Program::new();
    let ended = run(&program, &plan(target.addr().port(), &[("host", "localhost")]), 1, -1);
    assert_eq!(labels(&program), ["1-x", "2-y"], "{}", log(&program, &ended));
    let program = Program::new();
    let ended = run(&program, &plan(target.addr().port(), &[("host", "absent.invalid")]), 2, 1);
    let log = log(&program, &ended);
    assert!(labels(&program).is_empty(), "{log}");
    assert_eq!(log.matches("unknown host absent.invalid").count(), 2, "{log}");
}

#[test]
fn values_are_recycled_if_asked_to() {
    let cases = [
        ("list", "0", "false"),
        ("list", "0", "true"),
        ("set", "1", "false"),
        ("set", "1", "true"),
    ];
    for (key, kind, legacy) in cases {
        let target = targets::start(config(&["1,x", "2,y"], key)).expect("a target");
        let program = Program::new();
        let props = [
            ("recycleDataOnUse", "true"),
            ("redisDataType", kind),
            ("plugins.redis.legacy", legacy),
        ];
        let ended = run(&program, &plan(target.addr().port(), &props), 1, 6);
        let labels = labels(&program);
        let case = (key, legacy, log(&program, &ended));
        assert_eq!(labels.len(), 6, "{case:?}");
        assert!(labels.iter().all(|label| label == "1-x" || label == "2-y"), "{case:?}");
        if key == "list" {
            assert_eq!(labels[2..4], ["1-x", "2-y"], "in turn: {case:?}");
        }
    }
}

#[test]
fn a_set_is_used_up() {
    let target = targets::start(config(&["1,x", "2,y", "3,z"], "set")).expect("a target");
    let program = Program::new();
    run(&program, &plan(target.addr().port(), &[("redisDataType", "1")]), 2, -1);
    assert_eq!(labels(&program), ["1-x", "2-y", "3-z"]);
}

#[test]
fn threads_wait_for_a_connection_of_the_pool() {
    let values: Vec<String> = (10..40).map(|n| format!("{n},x")).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let target = targets::start(config(&values, "list")).expect("a target");
    let program = Program::new();
    program.write("redis.jmx", &plan(target.addr().port(), &[("maxActive", "1")]));
    // All users run on one core and share its pool of connections.
    let line = ["run", "redis.jmx", "--cores", "1", "-l", "out.jtl", "-Jusers=10", "-Jloops=3"];
    let ended = program.run(&line);
    let expected: Vec<String> = (10..40).map(|n| format!("{n}-x")).collect();
    assert_eq!(labels(&program), expected, "{ended:?}");
    assert!(ended.out.contains("Connections     1 opened, 29 reused"), "{ended:?}");
    // Nine of the ten users request a connection while the pool's only connection is still being opened.
    let pools =
        ended.out.split("Pools           30 requests, ").nth(1).expect("figures of the pool");
    let waited: u32 = pools.split(' ').next().and_then(|n| n.parse().ok()).expect("a number");
    assert!(waited >= 9 && pools.contains("\n  wait          p50 "), "{ended:?}");
}

#[test]
fn a_password_and_a_database_are_named_first() {
    let with = |config: targets::Config| config.option("password", "secret");
    let target = targets::start(with(config(&["1,x", "2,y"], "list"))).expect("a target");
    let port = target.addr().port();
    let program = Program::new();
    let ended = run(&program, &plan(port, &[("password", "wrong")]), 2, 1);
    let said = log(&program, &ended);
    assert!(labels(&program).is_empty(), "{said}");
    assert_eq!(said.matches("Failed to retrieve data from redis key k").count(), 2, "{said}");
    assert!(said.contains("WRONGPASS"), "{said}");
    let program = Program::new();
    let ended = run(&program, &plan(port, &[("password", "secret")]), 2, 1);
    assert_eq!(labels(&program), ["1-x", "2-y"], "{}", log(&program, &ended));
    // The Redis database 1 contains no data.
    let program = Program::new();
    let ended = run(&program, &plan(port, &[("password", "secret"), ("database", "1")]), 1, 1);
    let said = log(&program, &ended);
    assert!(labels(&program).is_empty() && said.contains("End of redis data"), "{said}");
}

#[test]
fn values_come_over_tls() {
    let config = config(&["1,x", "2,y"], "list").option("tls", true).option("password", "secret");
    let target = targets::start(config).expect("a target");
    let program = Program::new();
    let props = [("ssl", "true"), ("password", "secret")];
    let ended = run(&program, &plan(target.addr().port(), &props), 1, 2);
    assert_eq!(labels(&program), ["1-x", "2-y"], "{}", log(&program, &ended));
}

#[test]
fn a_refused_connection_ends_threads() {
    let port = program::free_port();
    let program = Program::new();
    let ended = run(&program, &plan(port, &[]), 3, 5);
    let said = log(&program, &ended);
    assert!(labels(&program).is_empty(), "{said}");
    assert_eq!(said.matches("Failed to retrieve data from redis key k").count(), 3, "{said}");
}

#[test]
fn an_error_of_the_server_counts_as_the_end_of_data() {
    let target = targets::start(config(&["1,x"], "set")).expect("a target");
    let program = Program::new();
    let ended = run(&program, &plan(target.addr().port(), &[]), 1, 5);
    let said = log(&program, &ended);
    assert!(labels(&program).is_empty(), "{said}");
    let words =
        ["Failed to retrieve data from redis key k: WRONGTYPE", "End of redis data detected"];
    assert!(words.iter().all(|words| said.contains(words)), "{said}");
}

/// Runs three users on one core with one pooled connection to a server that never answers. Returns the log.
fn run_in_vain(props: &[(&str, &str)]) -> String {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("an address").port();
    let program = Program::new();
    program.write("redis.jmx", &plan(port, &[&[("maxActive", "1")], props].concat()));
    let line = ["run", "redis.jmx", "--cores", "1", "-j", "log", "-Jusers=3", "-Jloops=1"];
    let ended = program.run(&line);
    // A run without samples is undecided (exit code 6).
    assert_eq!(ended.code, 6, "{ended:?}");
    let said = program.read("log");
    assert_eq!(said.matches("Failed to retrieve data from redis key k").count(), 3, "{said}");
    said
}

#[test]
fn a_pool_that_does_not_wait_ends_threads_without_a_connection() {
    let said = run_in_vain(&[("blockWhenExhausted", "false"), ("timeout", "1000")]);
    assert_eq!(said.matches("all connections of the pool are in use").count(), 2, "{said}");
    assert_eq!(said.matches("the server sent no reply in time").count(), 1, "{said}");
}

#[test]
fn a_pool_waits_as_long_as_it_may() {
    let said = run_in_vain(&[("maxWait", "20"), ("timeout", "1000")]);
    // If this machine stalls for a second, one of the users may still get the connection in time.
    assert!(said.contains("no connection of the pool became free in time"), "{said}");
    // Without a limit on the wait, each user gets the connection in turn.
    let said = run_in_vain(&[("maxWait", "-1"), ("timeout", "50")]);
    assert_eq!(said.matches("the server sent no reply in time").count(), 3, "{said}");
}

/// A test case: properties of a Redis Data Set, and the expected labels.
type Case<'a> = (&'a [(&'a str, &'a str)], &'a [&'a str]);

/// A `redis-server` process on a free port. It is killed on drop.
struct Server(std::process::Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_real_server_answers_as_the_target_does() {
    use std::io::{Read, Write};
    let port = program::free_port();
    let folder = tempfile::tempdir().expect("a folder");
    let started = std::process::Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", ""])
        .args(["--requirepass", "secret"])
        .current_dir(folder.path())
        .stdout(std::process::Stdio::null())
        .spawn();
    let _server = match started {
        Ok(child) => Server(child),
        Err(error) => return program::skip(format!("redis-server: {error}")),
    };
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    let mut client = loop {
        match std::net::TcpStream::connect(("127.0.0.1", port)) {
            Ok(client) => break client,
            Err(error) => assert!(std::time::Instant::now() < end, "never: {error}"),
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    client
        .write_all(b"AUTH secret\r\nSELECT 3\r\nRPUSH k 1,x 2,y\r\nSADD s 3,z\r\n")
        .expect("sent");
    let mut answer = [0; 18];
    client.read_exact(&mut answer).expect("answers");
    assert_eq!(&answer, b"+OK\r\n+OK\r\n:2\r\n:1\r\n");
    let login = [("password", "secret"), ("database", "3")];
    let cases: [Case<'_>; 6] = [
        (&[("recycleDataOnUse", "true")], &["1-x", "1-x", "2-y", "2-y"]),
        (
            &[("recycleDataOnUse", "true"), ("plugins.redis.legacy", "true")],
            &["1-x", "1-x", "2-y", "2-y"],
        ),
        (&[], &["1-x", "2-y"]),
        (&[("redisKey", "s"), ("redisDataType", "1"), ("recycleDataOnUse", "true")], &["3-z"; 4]),
        (&[("redisKey", "s"), ("redisDataType", "1")], &["3-z"]),
        (&[("redisKey", "s"), ("redisDataType", "1")], &[]),
    ];
    for (props, expected) in cases {
        let program = Program::new();
        let ended = run(&program, &plan(port, &[&login, props].concat()), 1, 4);
        assert_eq!(labels(&program), expected, "{props:?} {}", log(&program, &ended));
    }
}

#[test]
fn a_run_that_is_ended_at_once_does_not_wait_for_values() {
    // The server accepts the connection and never answers. One user waits for a response, and two users wait for the
    // connection.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = silent.local_addr().expect("an address").port();
    let program = Program::new();
    let props = [("maxActive", "1"), ("maxWait", "-1"), ("timeout", "0")];
    program.write("redis.jmx", &plan(port, &props));
    let line = ["run", "redis.jmx", "--cores", "1", "-j", "log", "-Jusers=3", "-Jloops=1"];
    let mut child = program.start(&line);
    let (_held, _) = silent.accept().expect("a connection");
    let id = rustix::process::Pid::from_child(&child);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(60);
    // The first SIGINT stops the run in order, the second stops it immediately. The kernel merges signals that arrive
    // together, so the test repeats them.
    while child.try_wait().expect("a state").is_none() {
        assert!(std::time::Instant::now() < end, "never: the end of the run");
        let _ = rustix::process::kill_process(id, rustix::process::Signal::INT);
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    let ended = program::ended(child.wait_with_output().expect("its end"));
    assert_eq!(ended.code, 130, "{ended:?}");
    assert!(!program.read("log").contains("redis key"), "{ended:?}");
}
