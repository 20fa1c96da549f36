//! Runs in several processes, with the real program: results equal those of one process, and results after a process
//! dies.

mod agents;
mod pools;
mod program;
mod whole;

use std::collections::BTreeSet;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use program::{Program, ended};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A plan whose users read lines of a shared data file, use a counter, and send requests to the target.
const SHARING: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="Test Plan" enabled="true">
  <elementProp name="TestPlan.user_defined_variables" elementType="Arguments"><collectionProp name="Arguments.arguments">
    <elementProp name="once" elementType="Argument"><stringProp name="Argument.name">once</stringProp><stringProp name="Argument.value">${__UUID()}</stringProp></elementProp>
  </collectionProp></elementProp>
</TestPlan><hashTree>
<ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="Users" enabled="true">
  <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">${__P(loops,2)}</stringProp></elementProp>
  <stringProp name="ThreadGroup.num_threads">7</stringProp><stringProp name="ThreadGroup.ramp_time">0</stringProp>
  <stringProp name="ThreadGroup.on_sample_error">${__P(onerror,continue)}</stringProp>
</ThreadGroup><hashTree>
  <CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="Lines" enabled="true">
    <stringProp name="filename">lines.csv</stringProp><stringProp name="variableNames">line</stringProp><stringProp name="delimiter">,</stringProp>
    <stringProp name="recycle">${__P(recycle,false)}</stringProp><boolProp name="stopThread">true</boolProp><stringProp name="shareMode">shareMode.all</stringProp>
  </CSVDataSet><hashTree/>
  <CounterConfig guiclass="CounterConfigGui" testclass="CounterConfig" testname="Count" enabled="true">
    <stringProp name="CounterConfig.start">100</stringProp><stringProp name="CounterConfig.incr">5</stringProp><stringProp name="CounterConfig.name">n</stringProp>
    <stringProp name="CounterConfig.end"></stringProp><stringProp name="CounterConfig.format"></stringProp><boolProp name="CounterConfig.per_user">false</boolProp>
  </CounterConfig><hashTree/>
  <HTTPSamplerProxy guiclass="HttpTestSampleGui" testclass="HTTPSamplerProxy" testname="Ask" enabled="true">
    <stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">${__P(port)}</stringProp>
    <stringProp name="HTTPSampler.path">/x/${line}/${n}/${__counter(FALSE,)}/${__threadNum}/${once}</stringProp><stringProp name="HTTPSampler.method">GET</stringProp>
    <boolProp name="HTTPSampler.use_keepalive">true</boolProp>
  </HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>
"#;

/// Requests that the target received and rows of the result file, each sorted.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    lines: Vec<String>,
    counted: Vec<String>,
    called: Vec<String>,
    threads: Vec<String>,
    rows: Vec<(String, String, String)>,
}

/// Runs the plan [`SHARING`] in `workers` processes against a new target.
fn share(workers: &str, more: &[&str]) -> Seen {
    let more: Vec<&str> = ["--workers", workers].iter().chain(more).copied().collect();
    let program = Program::new();
    share_in(&program, program.command(&["run"]), &more)
}

/// Runs the plan [`SHARING`] by the given command against a new target.
fn share_in(program: &Program, mut command: Command, more: &[&str]) -> Seen {
    let target = targets::start(targets::Config::new("mirror")).expect("a target");
    program.write("sharing.jmx", SHARING);
    program.write("lines.csv", &(1..=14).fold(String::new(), |all, n| all + &format!("line{n}\n")));
    let port = format!("-Jport={}", target.addr().port());
    command.args(["sharing.jmx", "-l", "out.jtl", &port]).args(more);
    let ended = ended(command.output().expect("the program starts"));
    assert_eq!(ended.code, 0, "{ended:?}");
    let asked = target.log();
    let part = |nth: usize| -> Vec<String> {
        let parts = asked.iter().map(|request| request.target.split('/').nth(nth));
        let mut parts: Vec<String> = parts.map(|part| part.expect("six parts").into()).collect();
        parts.sort();
        parts
    };
    let once: BTreeSet<String> = part(6).into_iter().collect();
    assert_eq!(once.len(), 1, "what is evaluated once is the same for all: {once:?}");
    let text = program.read("out.jtl");
    let column = |row: &str, nth: usize| row.split(',').nth(nth).expect("a column").to_string();
    let mut rows: Vec<_> =
        text.lines().skip(1).map(|row| (column(row, 2), column(row, 3), column(row, 5))).collect();
    rows.sort();
    assert_eq!(text.matches("timeStamp").count(), 1, "one header: {text}");
    Seen { lines: part(2), counted: part(3), called: part(4), threads: part(5), rows }
}

fn run_seconds(program: &Program) -> Vec<Value> {
    let Ok(runs) = std::fs::read_dir(program.path("runs")) else { return Vec::new() };
    let file = runs.flatten().next().map(|run| run.path().join("seconds.jsonl"));
    let text = file.and_then(|file| std::fs::read_to_string(file).ok()).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect("complete lines")).collect()
}

fn summary(program: &Program) -> Value {
    let text = std::fs::read_to_string(program.run_folder().join("summary.json"));
    let summary = serde_json::from_str(&text.expect("a summary")).expect("JSON");
    assert_eq!(program::schema::check(&summary), Ok(()), "its published form");
    summary
}

/// Waits until the condition holds; fails the test after one minute.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < end, "never: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts a run and returns when it has recorded `seconds` seconds.
fn in_flight(program: &Program, seconds: usize, words: &str) -> Child {
    let line: Vec<&str> = words.split(' ').collect();
    let child = program.start(&line);
    until("its seconds", || run_seconds(program).len() >= seconds);
    child
}

/// Returns the worker processes that the program has started.
fn workers(child: &Child) -> Vec<Pid> {
    let id = child.id();
    let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
    let ids = children.unwrap_or_default();
    ids.split_ascii_whitespace().filter_map(|id| Pid::from_raw(id.parse().ok()?)).collect()
}

/// True if a process has ended, also if it is still a zombie.
fn is_gone(process: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.as_raw_nonzero()));
    stat.map_or(true, |stat| stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('Z')))
}

#[test]
fn several_processes_do_what_one_does() {
    let one = share("1", &[]);
    assert_eq!(one.rows.len(), 14);
    for workers in ["2", "3", "9"] {
        assert_eq!(share(workers, &[]), one, "{workers} workers");
    }
    let one = share("1", &["-Jloops=5", "-Jrecycle=true"]);
    assert_eq!(share("3", &["-Jloops=5", "-Jrecycle=true"]), one);
}

/// Rates exclude the time that worker processes take to start and end.
#[test]
fn one_rate_stands_everywhere() {
    let program = Program::new();
    let line = ["run", "plan.jmx", "--workers", "2", "-Jusers=4", "-Jloops=40", "-Jms=20"];
    let more =
        ["--k6-summary", "k6.json", "--fail", "rate > 0", "--fail", "rate > 0 for label Sleep"];
    let ended = program.run(&[&line[..], &more].concat());
    assert_eq!(ended.code, 0, "{ended:?}");
    let summary = summary(&program);
    let rate = summary["requests_per_s"].as_f64().expect("a rate");
    // The run takes at least 0.8 s, and JMeter's summary line rounds to milliseconds.
    let same = |of: f64| (of - rate).abs() < 0.01 * rate;
    let k6 = serde_json::from_str::<Value>(&program.read("k6.json")).expect("JSON");
    assert!(same(k6["metrics"]["http_reqs"]["rate"].as_f64().expect("a rate")), "{k6} {rate}");
    for judged in summary["criteria"]["judged"].as_array().expect("criteria") {
        assert!(same(judged["value"].as_f64().expect("a rate")), "{judged} {rate}");
    }
    let line = ended.out.lines().rfind(|line| line.starts_with("summary =")).expect("a line");
    let of_line =
        line.split_once("/s").and_then(|(line, _)| line.rsplit_once(' ')).expect("a rate");
    assert!(same(of_line.1.parse().expect("a number")), "{line} {rate}");
}

#[test]
fn the_end_of_a_shared_file_is_the_end_for_all() {
    let one = share("1", &["-Jloops=-1"]);
    let three = share("3", &["-Jloops=-1"]);
    let all: BTreeSet<&String> = one.lines.iter().collect();
    assert_eq!((one.lines.len(), all.len()), (14, 14), "each line once: {one:?}");
    assert_eq!(three.lines, one.lines);
}

#[test]
fn users_beyond_the_descriptors_of_a_process_get_workers() {
    let target = targets::start(targets::Config::new("delay").option("ms", 300)).expect("a target");
    let program = Program::new();
    program.write("many.jmx", &SHARING.replace(">7<", ">${__P(users)}<"));
    program.write("lines.csv", "a\nb\n");
    let ended = program.shell(&format!(
        "ulimit -n 200; exec \"$0\" run many.jmx -l out.jtl -Jusers=1000 -Jrecycle=true -Jport={}",
        target.addr().port()
    ));
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(
        ended.err.contains("1000 users need more than the 200 descriptors")
            && ended.err.contains("7 workers"),
        "{ended:?}"
    );
    let summary = summary(&program);
    assert_eq!((summary["requests"].as_u64(), summary["failed"].as_u64()), (Some(2000), Some(0)));
    let rows = program.read("out.jtl");
    let threads: BTreeSet<&str> =
        rows.lines().skip(1).filter_map(|row| row.split(',').nth(5)).collect();
    assert_eq!((rows.lines().count(), threads.len()), (2001, 1000));
    assert_eq!(summary["workers"].as_u64(), Some(7));
    // A run this short may end before all workers have reported its only second.
    let workers = run_seconds(&program)[0]["workers"].as_u64();
    assert!(workers.is_some_and(|workers| (1..=7).contains(&workers)), "{workers:?}");
}

#[test]
fn users_with_several_connections_count_as_many() {
    let program = Program::new();
    let ask = |port: &str| {
        format!(
            r#"<HTTPSamplerProxy testclass="HTTPSamplerProxy" testname="Ask"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">{port}</stringProp><stringProp name="HTTPSampler.path">/</stringProp><stringProp name="HTTPSampler.method">GET</stringProp></HTTPSamplerProxy><hashTree/>"#
        )
    };
    let both = ask("1") + &ask("2");
    program.write("two.jmx", &program::PLAN.replace("<!--more-->", &both));
    let ended = program.shell("ulimit -n 200; exec \"$0\" run two.jmx -Jusers=100 -Jms=1");
    assert_eq!(ended.code, 0, "{ended:?}");
    assert!(ended.err.contains("100 users with up to 200 connections need more"), "{ended:?}");
    assert_eq!(summary(&program)["workers"].as_u64(), Some(2));
}

#[test]
fn a_worker_that_dies_is_told_and_the_others_go_on() {
    let program = Program::new();
    let child = in_flight(
        &program,
        1,
        "run plan.jmx -l out.jtl --workers 3 -Jusers=30 -Jloops=100 -Jms=100",
    );
    kill_process(workers(&child)[0], Signal::KILL).expect("it lives");
    let ended = ended(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 7, "{ended:?}");
    assert!(ended.err.contains("is lost: killed by signal 9; lost with it: 10 users"), "{ended:?}");
    assert!(ended.out.contains("Workers lost    1 of 3: 10 users"), "{ended:?}");
    let summary = summary(&program);
    let lost = summary["workers_lost"].as_array().expect("a list");
    assert_eq!((lost.len(), lost[0]["users"].as_u64()), (1, Some(10)));
    assert_eq!(summary["accounted"].as_bool(), Some(false));
    let missing = &summary["missing"][0];
    assert_eq!(
        (&missing["worker"], &missing["from_ms"]),
        (&lost[0]["worker"], &lost[0]["last_report_ms"])
    );
    assert!(missing["samples_about"].as_u64().is_some_and(|about| about <= 200), "{missing}");
    let requests = summary["requests"].as_u64().expect("a number");
    assert!((2000..3000).contains(&requests), "the others did all, that one did not: {requests}");
    let rows = program.read("out.jtl");
    assert!(rows.ends_with('\n') && rows.lines().all(|row| row.split(',').count() == 17), "{rows}");
    // A worker sends rows and reports of a second separately, so a killed worker may have sent only one of them.
    let rows = rows.lines().count() as u64 - 1;
    assert!(rows.abs_diff(requests) <= 110, "{rows} rows, {requests} requests");
}

#[test]
fn a_worker_that_dies_stops_the_run_if_asked_to() {
    let program = Program::new();
    let child = in_flight(
        &program,
        1,
        "run plan.jmx --workers 2 --on-worker-lost stop -Jusers=4 -Jloops=-1 -Jms=20",
    );
    kill_process(workers(&child)[1], Signal::KILL).expect("it lives");
    let ended = ended(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 7, "{ended:?}");
    assert!(ended.out.contains("Workers lost    1 of 2: 2 users"), "{ended:?}");
}

#[test]
fn workers_end_when_the_coordinator_is_killed_and_their_rows_are_whole() {
    let program = Program::new();
    let line = "run plan.jmx -l out.jtl --workers 3 -Jusers=6 -Jloops=-1 -Jms=20";
    let mut child = in_flight(&program, 4, line);
    let workers = workers(&child);
    assert_eq!(workers.len(), 3);
    child.kill().unwrap();
    child.wait().unwrap();
    until("the end of the workers", || workers.iter().all(|worker| is_gone(*worker)));
    let rows = program.read("out.jtl");
    assert!(rows.ends_with('\n') && rows.lines().all(|row| row.split(',').count() == 17), "{rows}");
    let last = rows.lines().last().expect("rows");
    assert!(last.contains(",6,6,"), "users of all workers are counted: {last}");
    let seconds = run_seconds(&program);
    let told: u64 = seconds.iter().filter_map(|second| second["samples"].as_u64()).sum();
    assert!(rows.lines().count() as u64 > told, "all that was told is there: {told}");
}

#[test]
fn ctrl_c_ends_all_workers_with_whole_results() {
    let program = Program::new();
    let child =
        in_flight(&program, 1, "run plan.jmx -l out.jtl --workers 3 -Jusers=6 -Jloops=-1 -Jms=50");
    kill_process(Pid::from_child(&child), Signal::INT).expect("it lives");
    let ended = ended(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 130, "{ended:?}");
    let rows = program.read("out.jtl");
    assert!(rows.lines().skip(1).all(|row| row.contains(",true,")), "{rows}");
    let summary = summary(&program);
    assert_eq!(summary["requests"].as_u64(), Some(rows.lines().count() as u64 - 1));
    assert_eq!(
        (summary["workers"].as_u64(), &summary["workers_lost"]),
        (Some(3), &Value::Array(vec![]))
    );
    assert_eq!(
        (summary["accounted"].as_bool(), &summary["missing"]),
        (Some(true), &Value::Array(vec![]))
    );
    assert!(ended.out.contains("every sample is accounted for"), "{ended:?}");
}

#[test]
fn a_user_that_stops_the_test_stops_all_workers() {
    let target =
        targets::start(targets::Config::new("fixed").option("status", 500)).expect("a target");
    let program = Program::new();
    program.write("sharing.jmx", SHARING);
    program.write("lines.csv", "a\n");
    let port = format!("-Jport={}", target.addr().port());
    let line = ["run", "sharing.jmx", "--workers", "3", "-Jloops=-1", "-Jrecycle=true", &port];
    let on_error = SHARING.replace("${__P(onerror,continue)}", "stoptest");
    program.write("sharing.jmx", &on_error);
    let ended = program.run(&line);
    // The run is undecided (6) if the stop cut samples or found active users.
    assert!(matches!(ended.code, 0 | 6), "{ended:?}");
}
