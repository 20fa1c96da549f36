//! Backend Listeners of a run on several machines: the listener's server receives the metrics of one run, not one set
//! per machine.

use std::io::Read;
use std::net::TcpListener;
use std::process::Command;

use super::super::program::{PLAN, Program, ended};
use super::Machines;

/// A Backend Listener that sends the sums over all requests each second in Graphite's text format.
const LISTENER: &str = r#"<BackendListener testclass="BackendListener" testname="Away" enabled="true">
<elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">
<elementProp name="a" elementType="Argument"><stringProp name="Argument.name">graphiteMetricsSender</stringProp>
<stringProp name="Argument.value">org.apache.jmeter.visualizers.backend.graphite.TextGraphiteMetricsSender</stringProp></elementProp>
<elementProp name="b" elementType="Argument"><stringProp name="Argument.name">graphiteHost</stringProp><stringProp name="Argument.value">127.0.0.1</stringProp></elementProp>
<elementProp name="c" elementType="Argument"><stringProp name="Argument.name">graphitePort</stringProp><stringProp name="Argument.value">GRAPHITE</stringProp></elementProp>
<elementProp name="d" elementType="Argument"><stringProp name="Argument.name">rootMetricsPrefix</stringProp><stringProp name="Argument.value">one.</stringProp></elementProp>
<elementProp name="e" elementType="Argument"><stringProp name="Argument.name">summaryOnly</stringProp><stringProp name="Argument.value">true</stringProp></elementProp>
</collectionProp></elementProp>
<stringProp name="classname">org.apache.jmeter.visualizers.backend.graphite.GraphiteBackendListenerClient</stringProp></BackendListener><hashTree/>"#;

/// Runs the plan and returns what the Graphite server received: number of connections, sum of the request counts, and
/// the number of started users at the end.
fn heard(program: &Program, command: &mut Command) -> (usize, u64, u64) {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = server.local_addr().expect("an address").port();
    let listener = LISTENER.replace("GRAPHITE", &port.to_string());
    program.write("plan.jmx", &PLAN.replace("<!--more-->", &listener));
    let listens = std::thread::spawn(move || {
        let (mut connections, mut text) = (0, String::new());
        loop {
            let (mut stream, _) = server.accept().expect("a connection");
            let before = text.len();
            stream.read_to_string(&mut text).expect("text");
            if &text[before..] == "end" {
                return (connections, text);
            }
            connections += 1;
        }
    });
    command.args(["plan.jmx", "-Jusers=6", "-Jloops=20"]);
    let ended = ended(command.output().expect("the program starts"));
    assert_eq!(ended.code, 0, "{ended:?}");
    let mut last = std::net::TcpStream::connect(("127.0.0.1", port)).expect("it listens");
    std::io::Write::write_all(&mut last, b"end").expect("it hears");
    drop(last);
    let (connections, text) = listens.join().expect("its text");
    let of = |name: &str| -> Vec<u64> {
        let values = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let numbers = values.filter_map(|rest| rest.split(' ').next()?.parse().ok());
        numbers.collect()
    };
    let samples = of("one.all.a.count").iter().sum();
    let started = of("one.test.startedT").last().copied().unwrap_or(0);
    (connections, samples, started)
}

#[test]
fn a_listeners_server_hears_of_one_run() {
    let program = Program::new();
    let one = heard(&program, &mut program.command(&["run"]));
    assert_eq!((one.1, one.2), (120, 6), "six users with twenty samples each");
    for fleet in
        [&["--fleet", "ssh:a", "--workers", "1"][..], &["--fleet", "ssh:a,b,c", "--workers", "2"]]
    {
        let machines = Machines::new(true);
        let mut command = machines.command(&["run"]);
        assert_eq!(heard(&machines.program, command.args(fleet)), one, "{fleet:?}");
    }
    let relays = Machines::new(true);
    let mut command = relays.command(&["run"]);
    command.args(["--fleet", "ssh:a,b", "--workers", "1", "--relays", "1"]);
    assert_eq!(heard(&relays.program, &mut command), one, "by a relay");
}
